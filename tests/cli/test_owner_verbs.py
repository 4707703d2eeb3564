"""The owner at the command line: a key, grants, revocations, and why somebody may or may not read."""

import json
import shutil
from pathlib import Path

import pytest

from nsstore.layout import RIGHTS_LIST
from nsstore.trust.owner import KEY_FILE, OWNER_FILE
from tests.cli.conftest import Person, unattended

pytestmark = pytest.mark.usefixtures("quick_keys")
GRANT = (
    "owner", "grant", "cross_agent", "--tenant", "acme", "--user", "ada", "--project", "atlas",
    "--agent", "human", "--purpose", "recall", "--open-agent", "codex", "--why", "they work together",
)  # fmt: skip


def test_a_grant_from_beginning_to_end(owner: Person) -> None:
    """What is granted is read, listed, shown and revoked, and then closed."""
    theirs = owner.remember("of codex", "--agent", "codex")
    assert owner("show", theirs).exit_code == 4
    made = owner.json(*GRANT, "--days", "20", *unattended(owner))
    assert made["number"] == 1
    assert owner.ok("show", theirs, "--text") == "of codex"
    listed = json.loads(owner.ok("owner", "list", "--json"))
    assert [(one["number"], one["state"], one["what"]) for one in listed] == [
        (0, "stands", "owner"),
        (1, "live", "cross_agent"),
    ]
    assert "statement 1 expires" in owner("owner", "list").stderr
    shown = owner.json("owner", "show", "1")
    assert (shown["why"], shown["by"], shown["assurance"]) == ("they work together", "Ada", "file")
    assert shown["opens"]["agents"] == ["codex"]
    assert "opens: agents: codex" in owner.ok("owner", "show", "1")
    revoked = owner.json("owner", "revoke", "1", "--why", "done", "--assurance", "ci", *unattended(owner))
    assert revoked == {"number": 2, "revoked": 1, "still_open_by": []}
    assert owner("show", theirs).exit_code == 4
    assert owner("owner", "revoke", "1", "--why", "again", *unattended(owner)).exit_code == 3
    assert owner("owner", "show", "7").exit_code == 3


def test_explain_says_why(owner: Person) -> None:
    """Bare, it tells of the asker's own rights; of a record, the owner's look says each dimension."""
    theirs = owner.remember("of codex", "--agent", "codex")
    rows = {row["dimension"]: row for row in owner.json("owner", "explain")["rows"]}
    assert rows["agent"]["how"] == "equal"
    assert "cross_agent" in rows["agent"]["command"]
    assert rows["tenant"]["reason"] == "nothing opens this"
    closed = owner.json("owner", "explain", theirs, *unattended(owner))
    assert closed["decision"] == {"allowed": False, "reason": "other_agent", "stale": False}
    owner.ok(*GRANT, "--days", "200", *unattended(owner))
    rows = {row["dimension"]: row for row in owner.json("owner", "explain")["rows"]}
    assert rows["agent"]["opened"] == [[1, "codex"]]
    opened = owner.json("owner", "explain", theirs, *unattended(owner))
    assert opened["decision"]["allowed"]
    assert {row["dimension"]: row["how"] for row in opened["rows"]}["agent"] == "granted"
    assert "1: codex" in owner.ok("owner", "explain", theirs, *unattended(owner))
    readers = json.loads(owner.ok("owner", "who-can-read", theirs, "--json", *unattended(owner)))
    assert [(one["number"], one["user"], one["agents"]) for one in readers] == [
        (None, "ada", ["codex"]),
        (1, "ada", ["human"]),
    ]
    assert "statement 1" in owner.ok("owner", "who-can-read", theirs, *unattended(owner))


def test_the_owners_look_is_the_owners(owner: Person) -> None:
    """Without the passphrase nobody is told of a record, absent or there; with it, it is audited."""
    theirs = owner.remember("of bob", "--user", "bob")
    absent = "01934f2e-8b7a-7c3d-9e21-0123456789ab"
    for record_id in (theirs, absent):
        for verb in ("explain", "who-can-read"):
            assert owner("owner", verb, record_id).exit_code == 5
            wrong = owner("owner", verb, record_id, *unattended(owner, "another passphrase"))
            assert wrong.exit_code == 5
            assert "bob" not in wrong.stderr + wrong.stdout
    assert owner("owner", "who-can-read", absent, *unattended(owner)).exit_code == 4
    owner.ok("owner", "who-can-read", theirs, *unattended(owner))
    events = [json.loads(line) for line in owner.ok("audit", "--json").splitlines()]
    assert [one["records"] for one in events if one["verb"] == "who_can_read"] == [[theirs]]


def test_one_owner_until_it_is_given_up(owner: Person) -> None:
    """A second owner is refused; `--anew` closes everything, and keeps the old key and list as evidence."""
    theirs = owner.remember("of codex", "--agent", "codex")
    owner.ok(*GRANT, "--days", "2", *unattended(owner))
    again = owner("owner", "init", "--name", "Eve", *unattended(owner))
    assert again.exit_code == 5
    assert owner.ok("show", theirs, "--text") == "of codex"
    made = owner.json("owner", "init", "--name", "Eve", "--anew", *unattended(owner, "a new passphrase"))
    assert made["name"] == "Eve"
    assert owner("show", theirs).exit_code == 4
    assert len(list(owner.trust.rglob("owner.key.before-*"))) == 1
    assert owner(*GRANT, "--days", "2", *unattended(owner)).exit_code == 5
    assert owner.json(*GRANT, "--days", "2", *unattended(owner, "a new passphrase"))["number"] == 3
    assert owner.ok("show", theirs, "--text") == "of codex"


def test_a_key_of_ones_own_place(person: Person) -> None:
    """The sealed key may lie elsewhere; then every statement names it, and the trust home has none."""
    key = str(person.place / "keys" / "owner.key")
    Path(key).parent.mkdir()
    person.ok("owner", "init", "--name", "Ada", "--key", key, *unattended(person))
    assert not list(person.trust.rglob(KEY_FILE))
    assert Path(key).stat().st_mode & 0o777 == 0o600
    missing = person(*GRANT, "--days", "2", *unattended(person))
    assert missing.exit_code == 5
    assert "--key" in missing.stderr
    person.ok(*GRANT, "--days", "2", "--key", key, *unattended(person))
    inside = str(person.store / "owner.key")
    refused = person("owner", "init", "--name", "Ada", "--anew", "--key", inside, *unattended(person))
    assert refused.exit_code == 3


WRONG: dict[str, tuple[str, ...]] = {
    "no kind": ("--days", "2"),
    "no project": ("cross_agent", "--tenant", "acme", "--user", "ada", "--agent", "human"),
    "no agent": ("cross_agent", "--tenant", "acme", "--user", "ada", "--project", "atlas"),
    "no user": ("cross_agent", "--tenant", "acme", "--project", "atlas", "--agent", "human"),
    "no tenant": ("cross_agent", "--user", "ada", "--project", "atlas", "--agent", "human"),
    "a pattern": (*GRANT[2:-4], "--open-agent", "*"),
    "every session and one": (
        "cross_session", *GRANT[3:-4], "--every-session", "--open-session", "s",
    ),
    "what is not named": ("cross_session", *GRANT[3:-2]),
    "the allowlist and more": ("allowlist", *GRANT[3:-2]),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_a_grant_that_is_not_whole(owner: Person, name: str) -> None:
    """Nothing of a grant is made up, from a variable or otherwise, and nothing is signed."""
    before = (owner.store / RIGHTS_LIST).read_bytes()
    flags = ("--purpose", "recall", "--why", "a test", "--days", "2")
    done = owner("owner", "grant", *WRONG[name], *flags, *unattended(owner))
    assert done.exit_code in (2, 3)
    assert (owner.store / RIGHTS_LIST).read_bytes() == before


@pytest.mark.parametrize("days", ["0", "366", "-1"])
def test_a_grant_is_for_a_year_at_most(owner: Person, days: str) -> None:
    """No more than 365 days can be asked for."""
    assert owner(*GRANT, "--days", days, *unattended(owner)).exit_code == 2


def test_policies_and_the_allowlist(owner: Person) -> None:
    """Personal, lineage, state and the search allowlist are granted and listed by their names."""
    to = ("--tenant", "acme", "--user", "ada", "--agent", "human", "--agent", "codex", "--purpose", "recall")
    ends = ("--days", "40", "--why", "mine", *unattended(owner))
    owner.ok("owner", "grant", "personal", "--every-project", *to, *ends)
    owner.ok("owner", "grant", "lineage", "state_across_sessions", "--project", "atlas", *to, *ends)
    owner.ok("owner", "grant", "allowlist", "--project", "atlas", *to, *ends)
    share = ("--open-user", "bob", "--every-session", "--open-workspace", "-")
    owner.ok(
        "owner", "grant", "group_share", "cross_session", "cross_workspace", *share, "--project", "atlas",
        *to, *ends,
    )  # fmt: skip
    listed = json.loads(owner.ok("owner", "list", "--json"))
    assert [one["what"] for one in listed] == [
        "owner",
        "personal",
        "lineage, state_across_sessions",
        "allowlist",
        "cross_session, cross_workspace, group_share",
    ]
    assert "expires" not in owner("owner", "list").stderr
    theirs = owner.remember("of codex in another workspace", "--agent", "codex", "--workspace", "w-2")
    assert owner.ok("show", theirs, "--text") == "of codex in another workspace"


def test_check_tells_of_the_owner(owner: Person) -> None:
    """It says who the owner is, what is in force and how surely, and that a damaged list opens nothing."""
    owner.remember("mine")
    owner.ok(*GRANT, "--days", "20", *unattended(owner))
    enforced = owner.json("check")["enforced"]["owner"]
    assert enforced == "Ada, 1 grant in force, 1 within 30 days of its end (file)"
    file = owner.store / RIGHTS_LIST
    whole = file.read_bytes()
    file.write_bytes(whole.replace(b"codex", b"rogue"))
    told = owner.json("check")
    assert [(one["path"], one["kind"]) for one in told["findings"]] == [(RIGHTS_LIST, "chain_broken")]
    assert told["findings"][0]["incident"]
    assert "no grant opens anything" in told["enforced"]["owner"]
    for verb in (("owner", "list"), ("owner", "show", "1"), (*GRANT, "--days", "2", *unattended(owner))):
        assert owner(*verb).exit_code == 5
    assert "no grant opens anything" in owner("owner", "explain").stderr
    file.write_bytes(whole)
    assert owner("check").exit_code == 0


def test_without_an_owner(person: Person) -> None:
    """There is nothing to list, and nothing can be granted before there is an owner."""
    assert "no owner" in person.ok("owner", "list")
    assert person.json("check")["enforced"]["owner"].startswith("none")
    assert json.loads(person.ok("owner", "list", "--json")) == []
    for verb in (("owner", "show", "1"), (*GRANT, "--days", "2", *unattended(person))):
        done = person(*verb)
        assert done.exit_code == 5
        assert "nsstore owner init" in done.stderr
    assert person("owner", "init", "--name", "Ada").exit_code == 5
    assert person("owner", "init", "--name", "Ada", *unattended(person, "short")).exit_code == 3
    assert person("owner", "init", "--name", "Ada", "--assurance", "ci").exit_code == 3


def test_a_backup_of_the_keys_holds_the_owner(owner: Person) -> None:
    """After the loss of the trust home a restore brings back the owner, the key, and what was granted."""
    theirs = owner.remember("of codex", "--agent", "codex")
    owner.remember("mine")
    owner.ok(*GRANT, "--days", "20", *unattended(owner))
    file = str(owner.place / "keys.backup")
    owner.ok("keys", "backup", file, *unattended(owner))
    shutil.rmtree(owner.trust)
    owner.ok("keys", "restore", file, *unattended(owner))
    assert list(owner.trust.rglob(OWNER_FILE))
    assert owner.ok("show", theirs, "--text") == "of codex"
    assert owner.json("owner", "revoke", "1", "--why", "done", *unattended(owner))["revoked"] == 1
    assert owner("show", theirs).exit_code == 4
