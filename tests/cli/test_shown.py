"""What a person is shown of records: whose they are, what is newer, and texts that get the width."""

import json

import pytest

from nsstore import Found, Receipt
from tests.cli.conftest import Person, unattended
from tests.cli.test_terminal import COLUMNS, ESCAPE, at_terminal

pytestmark = pytest.mark.usefixtures("quick_keys")
TO = (
    "--tenant", "acme", "--user", "ada", "--project", "atlas", "--agent", "human", "--purpose", "recall",
    "--days", "40", "--why", "a test",
)  # fmt: skip
LONG = "The release train leaves on Thursdays, from the third platform, at ten past four"


@pytest.fixture
def owner(owner: Person) -> Person:
    """A person who is the owner of the store, and to whom sessions and an agent are open."""
    opened = ("--every-session", "--open-agent", "codex", *TO, *unattended(owner))
    owner.ok("owner", "grant", "cross_session", "cross_agent", "state_across_sessions", *opened)
    return owner


def test_a_hit_says_whose_it_is(owner: Person) -> None:
    """A hit of another session or agent names it, on a terminal and in a pipe; an own one has nothing."""
    own = owner.remember("the release of monday")
    theirs = owner.remember("the release of wed", "--session", "wed", "--agent", "codex")
    shown = ESCAPE.sub("", at_terminal(owner, "search", "release"))
    assert shown.count("session wed · agent codex") == 1
    assert "session monday" not in shown
    rows = {row.split("\t")[1]: row.split("\t") for row in owner.ok("search", "release").splitlines()}
    assert (rows[own][6], rows[theirs][6]) == ("", "session wed · agent codex")
    assert rows[own][5] == "the release of monday"


def test_a_share_says_so_and_is_ranked_apart(owner: Person) -> None:
    """A hit of another user names user and session, and that its score stands apart is told once."""
    owner.remember("the release of ada")
    assert "apart" not in owner("search", "release").stderr
    owner.remember("the release of bob", "--user", "bob", "--session", "x")
    share = ("--open-user", "bob", "--open-session", "x")
    owner.ok("owner", "grant", "group_share", "cross_session", *share, *TO, *unattended(owner))
    done = owner("search", "release")
    assert "user bob · session x" in done.stdout
    assert done.stderr.count("ranked apart") == 1


def test_a_list_says_whose_a_document_is(owner: Person) -> None:
    """Records and documents of others are marked in each list; the own ones are not."""
    owner.ok("state", "put", "plan", "mine")
    owner.ok("state", "put", "plan", "theirs", "--agent", "codex", "--session", "wed")
    owner.remember("of codex", "--agent", "codex")
    for args, mark in ((("state", "list"), "session wed · agent codex"), (("list",), "agent codex")):
        shown = ESCAPE.sub("", at_terminal(owner, *args))
        assert shown.count(mark) == 1, shown
        assert [row.split("\t")[3] for row in owner.ok(*args).splitlines()].count(mark) == 1


def test_texts_get_the_width(person: Person) -> None:
    """Lists stack id and text, so that what is compared stands below each other and is not cut at a line."""
    old = person.remember(f"{LONG}.", "--title", "Trains")
    person.remember(f"{LONG}, not before.", "--title", "Trains", "--supersedes", old)
    person.ok("state", "put", "plan", LONG)
    for args, words in (
        (("history", old), ("not before.", "Trains: The release")),
        (("list", "--all"), ("Trains",)),
        (("state", "list"), ("plan: The release", "at ten\n  past four")),
        (("state", "history", "plan"), ("  The release", "at ten past\n  four")),
    ):
        shown = ESCAPE.sub("", at_terminal(person, *args))
        assert all(one in shown for one in words), shown
        assert "…" not in shown
        assert all(len(line) <= COLUMNS for line in shown.splitlines())


def test_a_hit_is_indented_under_its_number(person: Person) -> None:
    """Whatever of a hit needs a second line stands under its first word, with one digit or two."""
    for number in range(10):
        person.remember(f"{LONG}, and {LONG} {number}", *(("--title", f"{LONG} {LONG}") if number else ()))
    lines = ESCAPE.sub("", at_terminal(person, "search", "release")).splitlines()
    lines = [line for line in lines if not line.startswith("nsstore: note: ")]
    starts = [line for line in lines if not line.startswith(" ")]
    assert [line.partition(".")[0] for line in starts] == [str(number) for number in range(1, 11)]
    last = lines[lines.index(starts[-1]) + 1 :]
    assert last
    assert all(line.startswith("    ") and line[4] != " " for line in last)


def test_wide_characters_stay_indented(person: Person) -> None:
    """A text of characters that take two columns is broken by what it takes, and no line leaves its place."""
    from rich.cells import cell_len

    person.remember("release " + "漢字 " * 60)
    person.remember("release " + "漢字" * 60)
    lines = ESCAPE.sub("", at_terminal(person, "search", "release")).splitlines()
    assert sum("漢" in line for line in lines) > 4
    assert all(cell_len(line) <= COLUMNS for line in lines)
    assert all(line.startswith(("   ", "1. ", "2. ", "nsstore: ")) for line in lines)


def test_the_notes_of_a_search_are_short(person: Person) -> None:
    """Each note of a search fits on one line of a terminal."""
    person.remember("one two")
    lines = ESCAPE.sub("", at_terminal(person, "search", "two", err=True)).splitlines()
    assert lines
    assert all(line.startswith("nsstore: note: ") and len(line) <= COLUMNS for line in lines)


def test_a_query_without_a_word(person: Person) -> None:
    """A query of which no word can be searched is told so, and not that nothing was found."""
    person.remember("the train")
    done = person("search", "the")
    assert "holds only words as common as" in done.stderr
    assert "nothing found" not in done.stderr
    assert "as common as" not in person("search", "absent").stderr


def test_a_superseded_record_says_so(person: Person) -> None:
    """`get` of what a newer version took the place of names the newest one, beside the text and in JSON."""
    old = person.remember("old")
    middle = person.remember("middle", "--supersedes", old)
    assert person.json("show", middle)["superseded_by"] == []
    new = person.remember("new", "--supersedes", middle)
    done = person("show", old)
    assert done.stderr == f"nsstore: note: superseded: the newest version is {new}\n"
    found = person.json("show", old)
    assert tuple(found) == (*Found.__struct_fields__, "superseded_by")
    assert found["superseded_by"] == [new]
    assert person("show", new).stderr == ""
    assert person.ok("show", old, "--text") == "old"


def test_a_fork_is_told(person: Person) -> None:
    """What takes the place of a record that had a newer version stands beside that one, and it is told."""
    old = person.remember("old")
    plain = person.json("remember", "one", "--supersedes", old)
    assert tuple(plain) == (*Receipt.__struct_fields__, "beside")
    assert plain["beside"] == []
    forked = person("remember", "other", "--supersedes", old)
    assert plain["record_id"] in forked.stderr
    assert "both are current" in forked.stderr
    again = person.json("remember", "third", "--supersedes", old)
    assert again["beside"] == [forked.stdout.strip(), plain["record_id"]]
    joined = [again["record_id"], *again["beside"]]
    merge = person.json("remember", "all", *(part for one in joined for part in ("--supersedes", one)))
    assert merge["beside"] == []


def test_wider_privacy_is_told_as_what_it_is(person: Person) -> None:
    """No kind of grant opens a record to other projects, and the refusal and the help say so."""
    for privacy in ("team", "linked_projects"):
        done = person("remember", "x", "--privacy", privacy)
        assert done.exit_code == 5
        assert "no kind of grant opens" in done.stderr
        assert "--privacy" in done.stderr
    assert "no kind of grant opens" in " ".join(person.ok("remember", "--help").split())


def test_one_is_singular(person: Person) -> None:
    """A number agrees with its noun and verb."""
    for number in range(3):
        person.remember(f"number {number}")
    assert "1 of 3 records is older" in person("list", "--limit", "2").stderr
    assert "2 of 3 records are older" in person("list", "--limit", "1").stderr
    assert "1 record" in ESCAPE.sub("", at_terminal(person, "audit"))


def test_the_json_of_a_hit_is_as_it_was(owner: Person) -> None:
    """Whose a record is stands in its provenance, so JSON needs no words for it."""
    owner.remember("the release", "--session", "wed")
    (hit,) = json.loads(owner.ok("search", "release", "--json"))["hits"]
    assert hit["provenance"]["scope"]["session_id"] == "wed"
    assert "whose" not in hit
