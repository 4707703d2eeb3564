"""The owner's commands in words: which flag is missing, what helps when pasted, what is still open."""

import json
import re
import shlex

import pytest

from tests.cli.conftest import Person, unattended
from tests.cli.test_owner_verbs import GRANT
from tests.cli.test_terminal import COLUMNS, ESCAPE, at_terminal

pytestmark = pytest.mark.usefixtures("quick_keys")
TO = GRANT[3:-4]
ENDS = ("--days", "40", "--why", "a test")
ABSENT = "01934f2e-8b7a-7c3d-9e21-0123456789ab"


def pasted(person: Person, shown: str) -> tuple[str, ...]:
    """The one command that an answer suggests, as a shell would read it."""
    found = re.search(r"^\s*nsstore (owner grant .*?[^\\])$", ESCAPE.sub("", shown), re.DOTALL | re.MULTILINE)
    assert found, shown
    return (*shlex.split(found[1].replace("\\\n", " ")), *unattended(person))


@pytest.mark.parametrize(
    ("kinds", "given", "words"),
    [
        (("cross_session",), (), "--open-session ID, --open-conversation ID or --every-session"),
        (("cross_workspace",), (), "--open-workspace ID or --every-workspace"),
        (("cross_agent",), (), "--open-agent ID, --open-tool-context ID or --open-task ID"),
        (("group_share",), (), "--open-user ID"),
        (("cross_session",), ("--every-session", "--open-agent", "x"), "--open-agent goes with cross_agent"),
        (("lineage",), ("--every-session",), "--every-session goes with cross_session"),
        (("personal",), ("--every-session",), "personal opens every own session and workspace"),
    ],
)
def test_a_grant_says_which_flag_it_lacks(
    owner: Person, kinds: tuple[str, ...], given: tuple[str, ...], words: str
) -> None:
    """A kind without its values, and values without their kind, are told by flag before anybody is asked."""
    done = owner("owner", "grant", *kinds, *TO, *given, *ENDS)
    assert done.exit_code == 3
    assert words in done.stderr


def test_a_missing_choice_is_one_clean_line(owner: Person) -> None:
    """A missing option that is a choice is told with its values, and nothing in it is an escape."""
    done = owner("owner", "grant", "cross_agent", "--days", "2", "--why", "x")
    assert done.exit_code == 2
    assert "\\n" not in done.stderr
    assert "\\t" not in done.stderr
    assert "Choose from: recall, report, summarize, handoff, maintain" in done.stderr


def test_what_explain_suggests_opens_the_record(owner: Person) -> None:
    """The command that is shown for a record is whole: pasted, it opens that record."""
    place = ("--session", "next week", "--agent", "codex", "--workspace", "w-2")
    theirs = owner.remember("theirs", *place)
    shown = at_terminal(owner, "owner", "explain", theirs, *unattended(owner))
    assert "denied: " in shown
    owner.ok(*pasted(owner, shown))
    assert owner.ok("show", theirs, "--text") == "theirs"
    assert "\nallowed\n" in owner.ok("owner", "explain", theirs, *unattended(owner))


def test_what_explain_suggests_for_a_share(owner: Person) -> None:
    """For another user's record one grant names everything that is not equal, since each stands alone."""
    theirs = owner.remember("of bob", "--user", "bob", "--agent", "codex", "--branch", "x")
    asked = (theirs, *unattended(owner))
    rows = {row["dimension"]: row for row in owner.json("owner", "explain", *asked)["rows"]}
    assert "--open-user bob" in rows["user"]["command"]
    owner.ok(*pasted(owner, owner.ok("owner", "explain", *asked)))
    assert owner.ok("show", theirs, "--text") == "of bob"


def test_bare_explain_shows_whole_commands(owner: Person) -> None:
    """About the own rights each row's command has every value that is known; what nothing opens has none."""
    rows = {row["dimension"]: row for row in owner.json("owner", "explain")["rows"]}
    assert rows["agent"]["command"] == (
        "nsstore owner grant cross_agent --tenant acme --user ada --project atlas --agent human"
        " --purpose recall --open-agent ID --days 90 --why TEXT"
    )
    assert (rows["tenant"]["command"], rows["tenant"]["reason"]) == (None, "nothing opens this")
    assert rows["agent"]["reason"] is None
    shown = ESCAPE.sub("", at_terminal(owner, "owner", "explain"))
    assert all(len(line) <= COLUMNS for line in shown.splitlines())
    assert pasted(owner, shown)[:3] == ("owner", "grant", "cross_session")


def test_an_id_is_checked_before_the_passphrase(owner: Person) -> None:
    """What is no record id is told before anybody is asked for the passphrase."""
    for verb in ("explain", "who-can-read"):
        done = owner("owner", verb, "hello")
        assert done.exit_code == 3
        assert "RECORD_ID" in done.stderr


def test_a_revocation_says_what_is_still_open(owner: Person) -> None:
    """If another live grant opens the same, or a part of it, the revocation names it."""
    sure = unattended(owner)
    for more in ((), (), ("--open-agent", "other")):
        owner.ok(*GRANT, *more, "--days", "40", *sure)
    done = owner("owner", "revoke", "3", "--why", "x", *sure)
    assert "still open in part by statements 1, 2" in done.stderr
    done = owner("owner", "revoke", "1", "--why", "x", *sure)
    assert "still open by statement 2" in done.stderr
    done = owner("owner", "revoke", "2", "--why", "x", "--json", *sure)
    assert json.loads(done.stdout) == {"number": 6, "revoked": 2, "still_open_by": []}
    owner.ok(*GRANT, "--days", "40", *sure)
    elsewhere = ("cross_session", "--every-session", *TO, *ENDS)
    owner.ok("owner", "grant", *elsewhere, *sure)
    assert "still open" not in owner("owner", "revoke", "7", "--why", "x", *sure).stderr


def test_a_policy_covers_a_grant(owner: Person) -> None:
    """A policy that opens every session and the same agents covers a grant; one to another user does not."""
    sure = unattended(owner)
    owner.ok(*GRANT, "--days", "40", *sure)
    to = (
        "--tenant",
        "acme",
        "--every-project",
        "--agent",
        "human",
        "--agent",
        "codex",
        "--purpose",
        "recall",
    )
    owner.ok("owner", "grant", "personal", "--user", "bob", *to, *ENDS, *sure)
    share = ("--open-user", "bob", "--open-agent", "codex")
    owner.ok("owner", "grant", "group_share", "cross_agent", *share, *TO, *ENDS, *sure)
    assert "still open" not in owner("owner", "revoke", "1", "--why", "x", *sure).stderr
    owner.ok(*GRANT, "--days", "40", *sure)
    owner.ok("owner", "grant", "personal", "--user", "ada", *to, *ENDS, *sure)
    assert "still open by statement 6" in owner("owner", "revoke", "5", "--why", "x", *sure).stderr
    owner.ok(*GRANT, "--days", "40", *sure)
    assert "still open in part by statement 8" in owner("owner", "revoke", "6", "--why", "x", *sure).stderr


def test_a_revocation_is_told_as_one(owner: Person) -> None:
    """A revoked statement says when and by which; so does a second revocation; a revocation has its label."""
    sure = unattended(owner)
    owner.ok(*GRANT, "--days", "40", *sure)
    owner.ok("owner", "revoke", "1", "--why", "done", *sure)
    assert re.search(r"revoked: 2\d{3}-\S+Z by statement 2\n", owner.ok("owner", "show", "1"))
    assert "ends: statement 1\n" in owner.ok("owner", "show", "2")
    assert owner.json("owner", "show", "1")["revoked_by"] == 2
    assert owner.json("owner", "show", "0")["revoked_by"] is None
    again = owner("owner", "revoke", "1", "--why", "again", *sure)
    assert again.exit_code == 3
    assert re.search(r"statement 1 was revoked by statement 2, at 2\d{3}-", again.stderr)
    assert "cannot be revoked" in owner("owner", "revoke", "0", "--why", "x", *sure).stderr


def test_the_list_is_stacked(owner: Person) -> None:
    """However wide the terminal, each statement is a block: what it is, to whom, what it opens."""
    sure = unattended(owner)
    owner.ok(*GRANT, "--days", "40", *sure)
    owner.ok("owner", "revoke", "1", "--why", "done", *sure)
    for columns in (COLUMNS, 200):
        shown = ESCAPE.sub("", at_terminal(owner, "owner", "list", columns=columns))
        lines = shown.splitlines()
        assert any(line.startswith("1  revoked  cross_agent  until ") for line in lines), shown
        assert "  opens agents: codex" in lines
        assert "  ends statement 1" in lines
        assert all(len(line) <= columns for line in lines)


def test_without_an_owner_the_way_is_named(person: Person) -> None:
    """A list that there is none of says how one begins."""
    assert "nsstore owner init" in person.ok("owner", "list")


def test_a_release_of_what_is_not_there(owner: Person) -> None:
    """A record that is let go of, but is not here or forgotten already, is told so."""
    sure = unattended(owner)
    set_ = ("owner", "retention", "set", "--tenant", "acme", "--why", "x")
    gone, held = owner.remember("x"), owner.remember("y", "--retention-class", "legal_hold")
    owner.ok("forget", gone)
    done = owner(*set_, "--release", gone, "--release", ABSENT, "--release", held, *sure)
    assert done.exit_code == 0
    assert f"{gone} is forgotten already" in done.stderr
    assert f"no record of tenant=acme has the id {ABSENT}" in done.stderr
    assert held not in done.stderr


def test_the_audit_names_who_acted(owner: Person) -> None:
    """An act of the owner, and one of whoever holds the keys where no scope asks, has an actor."""
    sure = unattended(owner)
    theirs = owner.remember("x", "--agent", "codex")
    owner.ok(*GRANT, "--days", "40", *sure)
    owner.ok("owner", "who-can-read", theirs, *sure)
    owner.ok("backup", str(owner.place / "all.backup"), *sure)
    owner.ok("forget", "--whole", "project", "--unattended")
    rows = [row.split("\t") for row in owner.ok("audit").splitlines()]
    by = {(row[1], row[2]): row[3] for row in rows}
    assert by["granted", "owner"] == "owner"
    assert by["read", "who_can_read"] == "owner"
    assert by["read", "backup"] == "keys holder"
    assert by["forgotten", "forget"] == "keys holder"
    assert by["written", "remember"] == "ada atlas monday codex"
    shown = " ".join(ESCAPE.sub("", at_terminal(owner, "audit")).split())
    assert "granted by owner, statement 1" in shown
    assert "read who_can_read by owner, 1 record" in shown
    assert "read backup by keys holder" in shown
