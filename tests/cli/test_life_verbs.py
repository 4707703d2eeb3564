"""Forget, update and expire, as a person or a program sees them."""

import time

import pytest

from nsstore.cli import printing
from tests.cli.conftest import Person, unattended


def test_forget_a_record(person: Person) -> None:
    """Its id and those it took the place of are printed; afterwards it is not there, in no file."""
    old = person.remember("quartz one")
    new = person.remember("quartz two", "--supersedes", old)
    assert person.ok("forget", new, "--dry-run").split() == [old, new]
    assert person.json("forget", new)["count"] == 2
    assert person("forget", new).exit_code == person("show", new).exit_code == 4
    assert not [path for path in person.store.rglob("*") if path.is_file() and b"quartz" in path.read_bytes()]
    assert person.ok("check").endswith("nothing is wrong\n")


def test_forget_only_this(person: Person) -> None:
    """The older version stays, and is current again."""
    old = person.remember("one")
    new = person.remember("two", "--supersedes", old)
    assert person.ok("forget", new, "--only-this").split() == [new]
    assert [one["record_id"] for one in person.json("list")["items"]] == [old]


def test_forget_of_another_session(owner: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    """What an own agent wrote in another session is forgotten by whoever says so; nobody else's is."""
    codex = {"NSSTORE_AGENT": "codex", "NSSTORE_SESSION": "x-1", "NSSTORE_BRANCH": "main"}
    theirs, other = (owner.remember(text, **codex) for text in ("quartz of codex", "another"))
    held = owner.remember("held", "--retention-class", "legal_hold", **codex)
    bobs = owner.remember("of bob", NSSTORE_USER="bob")
    assert owner("forget", theirs).exit_code == 4
    owner.ok(
        *("owner", "grant", "cross_session", "cross_agent", "--every-session", "--open-agent", "codex"),
        *(
            "--tenant",
            "acme",
            "--user",
            "ada",
            "--project",
            "atlas",
            "--agent",
            "human",
            "--purpose",
            "recall",
        ),
        *("--open-branch", "main", "--days", "2", "--why", "mine", *unattended(owner)),
    )
    done = owner("forget", theirs)
    assert done.exit_code == 5
    assert "of session x-1 · agent codex" in done.stderr
    assert "--unattended" in done.stderr
    assert owner.ok("forget", theirs, "--dry-run").split() == [theirs]
    monkeypatch.setattr(printing, "somebody_answers", lambda: True)
    assert owner("forget", theirs, given="n\n").exit_code == 130
    assert owner.json("show", theirs)["text"] == "quartz of codex"
    done = owner("forget", theirs, given="y\n")
    assert "It is of session x-1 · agent codex. Forget it for good?" in done.stderr
    assert owner("show", theirs).exit_code == 4
    assert owner.ok("forget", other, "--unattended").split() == [other]
    assert not [path for path in owner.store.rglob("*.md") if b"quartz" in path.read_bytes()]
    assert owner("forget", held, "--unattended").exit_code == 5
    assert owner("forget", bobs, "--unattended").exit_code == owner("forget", theirs).exit_code == 4


def test_forget_a_document(person: Person) -> None:
    """Every version of a key goes."""
    ids = [person.ok("state", "put", "plan", text).strip() for text in ("one", "two")]
    assert person.ok("state", "forget", "plan", "--dry-run").split() == ids
    assert person.json("state", "forget", "plan")["records"] == ids
    assert person("state", "get", "plan").exit_code == 4


@pytest.mark.parametrize(
    ("whole", "left"),
    [
        (("--whole", "session"), {"tuesday", "other", "bob", "evil", "bob's atlas"}),
        (("--whole", "project"), {"other", "bob", "evil", "bob's atlas"}),
        (("--whole", "project", "--every-user"), {"other", "bob", "evil"}),
        (("--whole", "user"), {"bob", "evil", "bob's atlas"}),
    ],
)
def test_forget_a_whole_scope(person: Person, whole: tuple[str, ...], left: set[str]) -> None:
    """Exactly what is named goes, whichever agent wrote it; a second time there is nothing."""
    scopes: dict[str, dict[str, str | None]] = {
        "monday": {}, "codex": {"NSSTORE_AGENT": "codex"}, "tuesday": {"NSSTORE_SESSION": "tuesday"},
        "other": {"NSSTORE_PROJECT": "other"}, "bob": {"NSSTORE_USER": "bob", "NSSTORE_PROJECT": "bobs"},
        "bob's atlas": {"NSSTORE_USER": "bob"}, "evil": {"NSSTORE_TENANT": "evil"},
    }  # fmt: skip
    for text, env in scopes.items():
        person.remember(text, **env)
    going = len(scopes) - len(left)
    assert person.json("forget", *whole, "--dry-run")["records"] == going
    done = person.json("forget", *whole, "--unattended")
    assert (done["records"], done["dry_run"]) == (going, False)
    assert person.json("forget", *whole, "--unattended")["records"] == 0
    there = {one["text"] for env in scopes.values() for one in person.json("list", **env)["items"]}
    assert there == left


def test_forget_asks_before_a_whole_scope(person: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    """At a terminal it is asked for with the number; without one it ends at once and names the flag."""
    person.remember("one")
    done = person("forget", "--whole", "user")
    assert done.exit_code == 5
    assert "--unattended" in done.stderr
    monkeypatch.setattr(printing, "somebody_answers", lambda: True)
    refused = person("forget", "--whole", "user", given="n\n")
    assert refused.exit_code == 130
    assert refused.stderr.endswith("nsstore: note: nothing is changed\n")
    assert "Forget 1 record of tenant acme, user ada for good?" in refused.stderr
    assert len(person.json("list")["items"]) == 1
    assert person("forget", "--whole", "user", given="y\n").exit_code == 0
    assert person.json("list")["items"] == []


@pytest.mark.parametrize(
    "args",
    [
        (), ("019a2b3c-4d5e-7f60-8123-456789abcdef", "--whole", "user"), ("--whole", "user", "--only-this"),
        ("019a2b3c-4d5e-7f60-8123-456789abcdef", "--leave-held"), ("--whole", "user", "--every-user"),
        ("no-id",),
    ],
)  # fmt: skip
def test_forget_something_unclear(person: Person, args: tuple[str, ...]) -> None:
    """What is not clear is refused, and nothing goes."""
    person.remember("one")
    assert person("forget", *args).exit_code == 3
    assert len(person.json("list")["items"]) == 1


def test_forget_a_scope_that_is_not_given(person: Person) -> None:
    """BR-09: a missing dimension never means every one."""
    person.remember("one")
    for missing in ("NSSTORE_TENANT", "NSSTORE_USER", "NSSTORE_PROJECT", "NSSTORE_SESSION"):
        env: dict[str, str | None] = {missing: None}
        assert person("forget", "--whole", "session", "--unattended", **env).exit_code == 3
    assert len(person.json("list")["items"]) == 1


def test_what_is_held(person: Person) -> None:
    """It refuses a whole scope, unless the others are to go without it."""
    held = person.remember("held", "--retention-class", "legal_hold")
    person.remember("other")
    assert person("forget", held).exit_code == 5
    assert person("forget", "--whole", "user", "--unattended").exit_code == 5
    assert len(person.json("list")["items"]) == 2
    assert person.json("forget", "--whole", "user", "--unattended", "--leave-held")["records"] == 1
    assert [one["record_id"] for one in person.json("list")["items"]] == [held]


def test_expire(person: Person) -> None:
    """What has expired is not listed, and goes from the disk when it is told to."""
    ends = person.remember("quartz ends", "--ttl", "1s")
    person.remember("stays", "--expires-at", "2099-01-01T00:00:00Z")
    time.sleep(1.1)
    assert [one["text"] for one in person.json("list")["items"]] == ["stays"]
    assert person.file_of(ends).exists()
    assert person.json("expire", "--dry-run")["records"] == 1
    assert person.json("expire")["records"] == 1
    assert person.json("expire")["records"] == 0
    assert not list(person.store.rglob(f"{ends}.md"))
    assert "1 record forgotten for good" not in person("expire").stderr


@pytest.mark.parametrize(
    "ttl", ["", "5", "d", "-1d", "1.5h", "5y", "\N{ARABIC-INDIC DIGIT FIVE}d", "0s", "999999w"]
)
def test_a_length_that_is_none(person: Person, ttl: str) -> None:
    """A number and a unit, above nothing and within a hundred years, or it is refused."""
    assert person("remember", "x", f"--ttl={ttl}").exit_code == 3
    assert person.json("list")["items"] == []


def test_a_dry_run_promises_what_the_run_does(person: Person) -> None:
    """Held records end a whole scope's dry run as they end the run, in words that name the flag."""
    person.remember("held", "--retention-class", "legal_hold")
    person.remember("plain")
    dry = person("forget", "--whole", "session", "--dry-run")
    real = person("forget", "--whole", "session", "--unattended")
    assert (dry.exit_code, real.exit_code) == (5, 5)
    assert dry.stderr == real.stderr
    assert "1 record is held" in dry.stderr
    assert "--leave-held" in dry.stderr
    assert "leave_held" not in dry.stderr
    seen = person.json("forget", "--whole", "session", "--dry-run", "--leave-held")
    assert (seen["records"], seen["dry_run"]) == (1, True)
    assert person.json("forget", "--whole", "session", "--unattended", "--leave-held")["records"] == 1


def test_update_writes_a_new_version(person: Person) -> None:
    """A new text takes the old one's place, with all that was said of it; the old one is in the history."""
    old = person.json("remember", "old", "--kind", "lesson", "--tag", "a", "--title", "T")["record_id"]
    new = person.json("update", old, "new")["record_id"]
    found = person.json("show", new)
    assert (found["text"], found["kind"], found["title"], found["tags"]) == ("new", "lesson", "T", ["a"])
    assert [one["record_id"] for one in person.json("list")["items"]] == [new]
    done = person("update", old, "newer still")
    assert done.exit_code == 5
    assert "newer version" in done.stderr
