"""Remember, search, get, list and history, as a person or a program sees them."""

import json
import re

import pytest

from nsstore import Answer, Found, Listing, Receipt
from nsstore.cli import printing
from nsstore.cli.memory import PRIVACIES
from nsstore.scope import Privacy
from tests.cli.conftest import Person

BIDI = "\u202etxt\u2069"


def test_a_remembered_text_is_found_again(person: Person) -> None:
    """What one command remembers, the next finds, lists and gets, with its provenance."""
    record_id = person.remember(
        "The release train leaves on Thursdays.", "--title", "Trains", "--tag", "release"
    )
    found = person.ok("search", "when", "does", "the", "release", "leave")
    assert record_id in found
    assert "Thursdays" in found
    assert record_id in person.ok("list")
    shown = person.ok("show", record_id)
    assert "title: Trains" in shown
    assert f"path: memory/acme/ada/atlas/monday/{record_id}.md" in shown
    assert shown.endswith("\nThe release train leaves on Thursdays.\n")


def test_json_is_the_librarys_own(person: Person) -> None:
    """Each answer in JSON has the fields of the library's type, and last what the command itself found."""
    receipt = person.json("remember", "one two three", "--ext", '{"n": 1}')
    assert tuple(receipt) == (*Receipt.__struct_fields__, "beside")
    assert tuple(person.json("search", "two")) == Answer.__struct_fields__
    assert tuple(person.json("list")) == Listing.__struct_fields__
    found = person.json("show", receipt["record_id"])
    assert tuple(found) == (*Found.__struct_fields__, "superseded_by")
    assert found["ext"] == {"n": 1}
    assert [one["record_id"] for one in person.json("history", receipt["record_id"])["versions"]] == [
        receipt["record_id"]
    ]
    assert person("show", receipt["record_id"], "--json").stderr == ""


def test_standard_input_is_taken_byte_for_byte(person: Person) -> None:
    """A piped text keeps every byte, line ends and all, and `get --text` gives them back."""
    text = "--- \nkey: value\r\n\tünïcödé \x1b[31m\n\n"
    for args in (("remember", "-"), ("remember",)):
        record_id = person.ok(*args, given=text.encode()).strip()
        assert person("show", record_id, "--text").stdout_bytes == text.encode()
        assert person.json("show", record_id)["text"] == text


def test_what_is_no_text_is_refused(person: Person) -> None:
    """Bytes that are no UTF-8, an empty text and one that is too long are refused, and nothing is written."""
    for given in (b"\xff\xfe", b"", b"x" * (256 * 1024 + 1)):
        assert person("remember", "-", given=given).exit_code == 3
    assert person.json("list")["total"] == 0


def test_a_record_cannot_move_the_cursor(person: Person) -> None:
    """Control and direction characters of a record come out as escapes in every view for a person."""
    evil = f"a\x1b]0;title\x07\x1b[2Jb\x9b31m{BIDI}"
    record_id = person.remember(evil)
    for args in (("show", record_id), ("list",), ("search", "title"), ("history", record_id)):
        shown = person.ok(*args)
        assert not {"\x1b", "\x07", "\x9b", "\u202e", "\u2069"} & set(shown), args
    assert "\\x1b[2Jb" in person.ok("show", record_id)


def test_rows_are_whole_in_a_pipe(person: Person) -> None:
    """Piped rows are apart by tabs, one record a line, without headings, nothing cut and no colour."""
    person.remember("first line\nsecond\tline " + "long " * 100)
    (row,) = person.ok("list").splitlines()
    assert row.split("\t")[2] == "first line\\nsecond\\tline " + "long " * 100
    assert "\x1b" not in row


def test_a_repeat_gives_the_first_receipt(person: Person) -> None:
    """The same idempotency key and content give the same id; other content is refused."""
    first = person.json("remember", "once", "--idempotency-key", "k")
    again = person.json("remember", "once", "--idempotency-key", "k")
    assert (again["record_id"], again["replayed"]) == (first["record_id"], True)
    assert person("remember", "twice", "--idempotency-key", "k").exit_code == 3


def test_history_follows_what_supersedes(person: Person) -> None:
    """A superseded record leaves the list, and history shows both, newest first."""
    old = person.remember("old")
    new = person.remember("new", "--supersedes", old)
    assert [one["record_id"] for one in person.json("list")["items"]] == [new]
    assert [one["record_id"] for one in person.json("list", "--all")["items"]] == [new, old]
    assert [one["record_id"] for one in person.json("history", old)["versions"]] == [new, old]


def test_a_cut_list_says_so(person: Person) -> None:
    """A list that is cut says how many there are, and how it goes on to the last one."""
    ids = [person.remember(f"number {number}") for number in range(3)]
    done = person("list", "--limit", "2")
    assert len(done.stdout.splitlines()) == 2
    assert "1 of 3" in done.stderr
    assert f"--before {ids[1]}" in done.stderr
    rest = person("list", "--limit", "2", "--before", ids[1])
    assert ([row.split("\t")[0] for row in rest.stdout.splitlines()], rest.stderr) == ([ids[0]], "")
    other = person.remember("other's", NSSTORE_SESSION="tuesday")
    assert person("list", "--before", other).exit_code == 4
    assert person("list", "--before", "x").exit_code == 3
    assert "from 1 to 1000" in person.ok("list", "--help")
    assert "from 1 to 1000" in person.ok("search", "--help")


def test_nothing_is_nothing_in_a_pipe(person: Person) -> None:
    """An empty list prints not one byte where a program reads it."""
    for args in (("list",), ("state", "list")):
        done = person(*args)
        assert (done.stdout, done.stderr) == ("", "")


def test_what_a_record_was_given_is_shown(person: Person) -> None:
    """Retention class, commit, ext and what an import claimed stand in `get`, as far as they were given."""
    plain = person.ok("show", person.remember("plain"))
    assert not any(name in plain for name in ("retention class:", "privacy:", "commit:", "ext:", "imported"))
    commit = "a" * 40
    given = person.remember("x", "--retention-class", "evidence", "--ext", '{"n": 1}', "--commit", commit)
    shown = person.ok("show", given)
    assert "retention class: evidence" in shown
    assert f"commit: {commit}" in shown
    assert 'ext: {"n":1}' in shown
    file = person.place / "notes.jsonl"
    source = {"created_at": "2025-03-01", "record_id": "old-17", "scope": {"user_id": "bob"}}
    file.write_text(json.dumps({"text": "imported", "source": source}))
    person.ok("import", str(file))
    (found,) = person.json("search", "imported")["hits"]
    for one in (found, person.json("show", found["record_id"]), person.json("list")["items"][0]):
        claimed = one["provenance"]["imported_from"]
        assert {name: claimed[name] for name in source} == source
    assert "imported from: item=notes.jsonl  record=old-17  created=2025-03-01  user_id=bob" in person.ok(
        "show", found["record_id"]
    )


def test_above_the_own_clearance(person: Person) -> None:
    """The refusal names the flags that help, since there is no binding at a terminal."""
    done = person("remember", "x", "--sensitivity", "restricted")
    assert done.exit_code == 5
    assert "--clearance" in done.stderr
    assert "--sensitivity" in done.stderr
    assert "bind" not in done.stderr


def test_metadata_cannot_name_a_scope(person: Person) -> None:
    """--ext that names a header field, is no object, or holds a key twice is refused."""
    for ext in ('{"tenant_id": "globex"}', "[]", '{"a": 1, "a": 2}', "{", '{"x": NaN}'):
        assert person("remember", "x", "--ext", ext).exit_code == 3, ext
    assert person.json("list")["total"] == 0


def test_nothing_found_is_said(person: Person) -> None:
    """A search without a hit succeeds, prints no row and says so beside the answer."""
    done = person("search", "nothing")
    assert done.exit_code == 0
    assert "nothing found in this scope" in done.stderr
    assert person.json("search", "nothing")["hits"] == []


def test_what_was_not_searched_is_said(person: Person) -> None:
    """An empty answer says what was left out, there or not; what is allowed is not left out."""
    beside = "not searched: other branches (--allowed-branch), other baselines (--allowed-baseline)"
    assert beside in person("search", "nothing").stderr
    person("remember", "quartz on another branch", "--branch", "feature/x")
    assert beside in person("search", "quartz").stderr
    done = person("search", "quartz", "--allowed-branch", "feature/x")
    assert "quartz on another branch" in done.stdout
    assert "not searched: other baselines (--allowed-baseline)" in done.stderr


def test_advice_stands_beside_the_answer(person: Person) -> None:
    """Notices and the advisory go to standard error once, so that a pipe holds hits alone."""
    person.remember("one two")
    done = person("search", "two")
    assert done.stderr.count("advisory") == 1
    assert "advisory" not in done.stdout
    assert json.loads(person("search", "two", "--json").stdout)["advisory"].startswith("Memory is advisory")


def test_the_privacies_are_the_librarys() -> None:
    """The words of --privacy are the enum's, in their order."""
    assert tuple(Privacy) == PRIVACIES


def test_too_many_tags_are_told_in_words(person: Person) -> None:
    """More than 32 tags are refused in words that fit a command line."""
    done = person("remember", "x", *(word for number in range(33) for word in ("--tag", f"t{number:02}")))
    assert (done.exit_code, done.stderr) == (
        3,
        "nsstore: invalid: tags must be 1 to 32 in number, or left out\n",
    )


def test_the_help_says_how_words_are_spelled(person: Person) -> None:
    """--help of a writer says what a kind and a retention class are made of; --help names the trust home."""
    assert " ".join(person.ok("remember", "--help").split()).count("a letter first") == 2
    assert "NSSTORE_TRUST_HOME" in person.ok("--help")


def on_branches(person: Person) -> dict[str, str]:
    """One record on each of three branches, by branch."""
    return {
        branch: person.remember(f"the release of {branch}", NSSTORE_BRANCH=branch)
        for branch in ("-", "main", "feature/a, b")
    }


def test_stale_hits_stand_apart(person: Person) -> None:
    """What is of an allowed other branch is a list of its own, with its place in each row."""
    ids = on_branches(person)
    allowed = ("--branch", "main", "--allowed-branch", "-", "--allowed-branch", "feature/a, b")
    current, *rows = person.ok("search", "release", *allowed).splitlines()
    assert current.split("\t")[1:4:2] == [ids["main"], ""]
    assert {tuple(row.split("\t")[1:4:2]) for row in rows} == {
        (ids["-"], "branch=-  baseline=-"),
        (ids["feature/a, b"], "branch=feature/a, b  baseline=-"),
    }
    found = person.json("search", "release", *allowed)
    assert [one["record_id"] for one in found["hits"]] == [ids["main"]]
    assert {one["record_id"] for one in found["stale"]} == {ids["-"], ids["feature/a, b"]}


def test_stale_alone_is_not_nothing(person: Person) -> None:
    """A search that finds only what is stale says so, with the advisory; a list marks it too."""
    on_branches(person)
    allowed = ("--branch", "other", "--allowed-branch", "main")
    done = person("search", "release", *allowed)
    assert "nothing current found" in done.stderr
    assert "advisory" in done.stderr
    assert "\tbranch=main  baseline=-\t" in done.stdout
    assert "\t(stale) the release of main" in person.ok("list", *allowed)
    assert "Stale, " not in person.ok("search", "release")


def test_json_holds_nothing_a_terminal_obeys(person: Person) -> None:
    """JSON has escapes for controls, DEL and directions, an error too, and is read as the same text."""
    text = f"train \x9b31m\x7f\x85\u2028{BIDI}\u061c 👩‍🚀 é"
    record_id = person.remember(text)
    for args in (("show", record_id), ("list",), ("search", "train"), ("history", record_id)):
        shown = person.ok(*args, "--json")
        assert not {"\x9b", "\x7f", "\x85", "\u2028", "\u202e", "\u2069", "\u061c"} & set(shown), args
        assert "\\u009b31m\\u007f" in shown
        assert "👩‍🚀 é" in shown
    assert person.json("show", record_id)["text"] == text
    done = person("list", "--json", "x\x7f\x9b")
    assert "\\u007f\\u009b" in done.stdout
    assert json.loads(done.stdout)["error"]["kind"] == "usage"


def test_an_astral_character_is_escaped_as_a_pair(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A character above U+FFFF is two escapes in JSON, as every reader of JSON expects."""
    monkeypatch.setattr(printing, "_UNPRINTABLE", re.compile("[\U000e0001]"))
    printing.emit({"a": "x\U000e0001"})
    shown = capsys.readouterr().out
    assert shown == '{"a":"x\\udb40\\udc01"}\n'
    assert json.loads(shown) == {"a": "x\U000e0001"}
