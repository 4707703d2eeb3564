"""Import at the terminal: what is taken, what is refused, and what a repeat does."""

import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from nsstore.errors import SystemFailure
from nsstore.store import Draft, Leaf, Prepare, publish
from nsstore.writers import memory
from tests.cli.conftest import Person


def write(person: Person, *lines: object, name: str = "notes.jsonl") -> str:
    """A file of these lines; what is no bytes is written as JSON."""
    file = person.place / name
    file.write_bytes(
        b"".join((one if isinstance(one, bytes) else json.dumps(one).encode()) + b"\n" for one in lines)
    )
    return str(file)


def report(person: Person, *args: str, **env: str | None) -> dict[str, Any]:
    """The report of an import, refusals by line."""
    found = person.json("import", *args, **env)
    found["refused"] = {one["line"]: one["reason"] for one in found["refused"]}
    return found


def test_lines_become_records_of_this_scope(person: Person) -> None:
    """Each line is a record of the caller's own scope, found by search, its origin kept as a claim."""
    file = write(
        person, {"text": "Trains leave on Thursdays.", "title": "T", "source": {"created_at": "2025-03-01"}}
    )
    assert person.ok("import", file) == "1 read: 1 imported, 0 there already, 0 refused\n"
    (hit,) = person.json("search", "trains")["hits"]
    assert hit["title"] == "T"
    assert hit["provenance"]["scope"]["session_id"] == "monday"
    raw = person.file_of(hit["record_id"]).read_text()
    assert '"format":"jsonl","item":"notes.jsonl"' in raw
    assert '"created_at":"2025-03-01"' in raw


def test_a_claimed_scope_is_never_obeyed(person: Person) -> None:
    """Lines that carry scope, id, path, time or order are refused by number; the others are in."""
    file = write(
        person,
        {"text": "good"},
        {"text": "bad", "tenant_id": "globex"},
        {"text": "bad", "record_id": "x"},
        {"text": "bad", "path": "../x"},
        {"text": "bad", "created_at": "2020"},
        {"text": "bad", "seq": 1},
        b"",
        {"text": "good too"},
    )
    done = person("import", file)
    assert done.exit_code == 1
    assert done.stdout.startswith("8 read: 2 imported, 0 there already, 5 refused, 1 blank\n")
    assert "3\tinvalid\ta line must not carry record_id" in done.stdout
    assert person.json("list")["total"] == 2
    assert person.json("list", NSSTORE_TENANT="globex")["total"] == 0
    again = report(person, file)
    assert (again["written"], again["repeated"], list(again["refused"])) == (0, 2, [2, 3, 4, 5, 6])


def test_a_refusal_is_audited(person: Person) -> None:
    """That lines were refused stands in the audit, once for the run, with their number."""
    person("import", write(person, {"text": "x", "user_id": "eve"}, {"text": "y", "user_id": "eve"}))
    events = [json.loads(line) for line in person.ok("audit", "--json").splitlines()]
    assert [(one["event"], one["verb"], one["count"]) for one in events] == [("refused", "import", 2)]


def test_a_repeat_adds_only_what_is_new(person: Person) -> None:
    """The same file again adds nothing, equal lines stay two, and new lines anywhere are added."""
    yes = {"text": "Yes!"}
    assert report(person, write(person, yes, {"text": "a"}, yes))["written"] == 3
    again = report(person, write(person, yes, {"text": "a"}, yes))
    assert (again["written"], again["repeated"]) == (0, 3)
    more = report(person, write(person, {"text": "new"}, yes, yes, {"text": "a"}, yes))
    assert (more["written"], more["repeated"]) == (2, 3)
    assert person.json("list")["total"] == 5
    other = report(person, write(person, yes, name="other.jsonl"))
    assert other["written"] == 1
    named = report(person, write(person, yes, name="third.jsonl"), "--source", "other.jsonl")
    assert named["repeated"] == 1


def test_an_import_goes_on_after_a_key_rotation(person: Person) -> None:
    """A repeat finds what was imported under the key before."""
    file = write(person, {"text": "a"})
    person.ok("import", file)
    person.ok("keys", "rotate")
    assert report(person, file)["repeated"] == 1


def test_an_import_goes_on_at_another_commit(person: Person) -> None:
    """A repeat finds what was imported before the code moved on; the records keep their first commit."""
    file = write(person, {"text": "a"})
    person.ok("import", file, "--commit", "a" * 40)
    assert report(person, file, "--commit", "b" * 40)["repeated"] == 1
    (one,) = person.json("list")["items"]
    assert one["commit"] == "a" * 40


def test_one_refused_note_does_not_take_its_batch(person: Person) -> None:
    """What the library refuses is refused by line, and its neighbours of the same batch are in."""
    lines: list[object] = [{"text": f"number {number}"} for number in range(300)]
    lines[5] = {"text": "open to all", "privacy": "team"}
    lines[7] = {"text": "above", "sensitivity": "restricted"}
    lines[9] = {"text": "odd", "kind": "Not A Kind"}
    lines[11] = {"text": ""}
    lines[13] = {"text": "ext", "ext": {"tenant_id": "globex"}}
    lines[15] = {"text": "\ud800"}
    found = report(person, write(person, *lines))
    assert list(found["refused"]) == [6, 8, 10, 12, 14, 16]
    assert found["written"] == 294
    kinds = {one["line"]: one["kind"] for one in person.json("import", write(person, *lines))["refused"]}
    assert kinds == {6: "refused", 8: "refused", 10: "invalid", 12: "invalid", 14: "invalid", 16: "invalid"}


def test_an_idempotency_key_of_a_line_holds(person: Person) -> None:
    """The same key and content is there already; other content under it is refused, in one file or two."""
    one = {"text": "a", "idempotency_key": "k"}
    found = report(person, write(person, one, one, {"text": "b", "idempotency_key": "k"}))
    assert (found["written"], found["repeated"], list(found["refused"])) == (1, 1, [3])


def test_what_would_be_held_for_good_waits_for_a_word(person: Person) -> None:
    """A held class in a line is refused, in a rehearsal as well, and --with-held takes the very same line."""
    file = write(person, {"text": "held", "retention_class": "legal_hold"}, {"text": "free"})
    for flags in (("--dry-run",), ()):
        found = report(person, file, *flags)
        assert (found["written"], list(found["refused"])) == (1, [1])
        assert "--with-held" in found["refused"][1]
    assert "held" not in {one["text"] for one in person.json("list")["items"]}
    found = report(person, file, "--with-held")
    assert (found["written"], found["repeated"]) == (1, 1)
    classes = {one["text"]: one["retention_class"] for one in person.json("list")["items"]}
    assert classes == {"held": "legal_hold", "free": "standard"}
    assert person("import", str(person.place), "--with-held").exit_code == 3


def test_a_dry_run_writes_nothing(person: Person) -> None:
    """--dry-run reports what an import would, and leaves no record, ledger or anchor."""
    lines: list[object] = [
        {"text": "a", "idempotency_key": "k"},
        {"text": "a", "idempotency_key": "k"},
        {"text": "b", "idempotency_key": "k"},
        {"text": "c", "user_id": "eve"},
        {"text": "d", "privacy": "team"},
    ]
    file = write(person, *lines)
    dry = report(person, file, "--dry-run")
    assert dry["dry_run"] is True
    assert not (person.store / "memory").exists()
    assert not (person.store / "ledger").exists()
    real = report(person, file)
    assert (dry["written"], dry["repeated"], list(dry["refused"])) == (1, 1, [3, 4, 5])
    assert (real["written"], real["repeated"], list(real["refused"])) == (1, 1, [3, 4, 5])
    assert "would be imported" in person.ok("import", write(person, {"text": "x"}), "--dry-run")


def test_a_dry_run_audits_refusals_alone(person: Person) -> None:
    """What the scope may not write is audited in a rehearsal too; a line that is no note is only reported."""
    lines: list[object] = [{"text": ""}, {"text": "x", "kind": "Not A Word"}, {"nothing": 1}]
    assert len(report(person, write(person, *lines), "--dry-run")["refused"]) == 3
    assert person.ok("audit", "--json") == ""
    report(person, write(person, {"text": "x", "privacy": "team"}), "--dry-run")
    events = [json.loads(line)["event"] for line in person.ok("audit", "--json").splitlines()]
    assert set(events) == {"denied"}


def test_a_byte_order_mark_is_no_part_of_a_line(person: Person) -> None:
    """A mark in front of the file is passed over, so that the same lines without it are there already."""
    file = person.place / "notes.jsonl"
    line = json.dumps({"text": "a"}).encode() + b"\n"
    file.write_bytes(b"\xef\xbb\xbf" + line)
    assert report(person, str(file))["written"] == 1
    file.write_bytes(line)
    assert report(person, str(file))["repeated"] == 1
    file.write_bytes(line + b"\xef\xbb\xbf" + line)
    assert list(report(person, str(file))["refused"]) == [2]


def test_what_cannot_be_opened_is_named(person: Person) -> None:
    """The error says which file it was, as it was given, without the way there."""
    for args in (("import", "nofile.jsonl"), ("keys", "restore", "nofile.jsonl")):
        done = person(*args)
        assert done.exit_code == 9
        assert "opening nofile.jsonl (the " in done.stderr


def test_standard_input_needs_a_name(person: Person) -> None:
    """`-` reads standard input, and only under a name, or a repeat would add everything again."""
    assert person("import", "-", given='{"text": "a"}').exit_code == 3
    for expected in ("1 imported", "1 there already"):
        done = person("import", "-", "--source", "pipe", given='{"text": "a"}')
        assert expected in done.stdout


@pytest.mark.parametrize("name", ["nowhere.jsonl", ".", "tty"])
def test_what_cannot_be_read_is_refused(person: Person, name: str) -> None:
    """A file that is not there, a directory and a device are refused before anything is written."""
    file = "/dev/null" if name == "tty" else str(person.place / name)
    assert person("import", file).exit_code in {3, 9}
    assert not (person.store / "memory").exists()


def test_a_link_and_a_pipe_are_files_too(person: Person) -> None:
    """A file is read through a link of the person's own, and from a descriptor a shell opened."""
    file = Path(write(person, {"text": "a"}))
    link = person.place / "link.jsonl"
    link.symlink_to(file)
    assert report(person, str(link))["written"] == 1
    reader, writer = os.pipe()
    os.write(writer, b'{"text": "b"}\n')
    os.close(writer)
    try:
        assert report(person, f"/dev/fd/{reader}", "--source", "pipe")["written"] == 1
    finally:
        os.close(reader)


def test_a_long_line_is_refused_by_number(person: Person) -> None:
    """A line of more than 2 MiB is refused, and the one behind it is in."""
    found = report(person, write(person, b"x" * (2 * 1024 * 1024 + 1), {"text": "a"}))
    assert "2097152" in found["refused"][1]
    assert found["written"] == 1


def test_what_stops_it_is_told(person: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    """A full disk in the middle ends with its code and says how far it came; a repeat goes on there."""
    lines = [{"text": f"number {number}"} for number in range(600)]
    file = write(person, *lines)
    calls = 0

    def fail(leaf: Leaf, prepare: Prepare, meanwhile: Callable[[], None]) -> Sequence[Draft]:
        nonlocal calls
        calls += 1
        if calls == 2:
            raise SystemFailure("writing", OSError(28, ""))
        return publish(leaf, prepare, meanwhile)

    monkeypatch.setattr(memory, "publish", fail)
    done = person("import", file)
    assert done.exit_code == 9
    assert "256 lines are in" in done.stderr
    monkeypatch.undo()
    found = report(person, file)
    assert (found["written"], found["repeated"]) == (344, 256)


def test_many_refusals_are_cut_but_counted(person: Person) -> None:
    """A person sees the first fifty refusals and how many more there are; JSON has all."""
    file = write(person, *({"text": "x", "tenant_id": str(number)} for number in range(60)))
    done = person("import", file)
    assert len(done.stdout.splitlines()) == 51
    assert "10 more refusals" in done.stderr
    assert len(report(person, file)["refused"]) == 60
