"""Folders at the terminal: import, what a repeat does, export, and the way back in."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from nsstore.cli.importing import ENCODINGS, KEPT
from nsstore.errors import SystemFailure
from nsstore.exchange import decoding
from nsstore.store import Draft, Leaf, Prepare, publish
from nsstore.writers import memory
from tests.cli.conftest import Person


def vault(person: Person, **files: str | bytes) -> Path:
    """A folder of Markdown files."""
    folder = person.place / "vault"
    folder.mkdir(exist_ok=True)
    for name, raw in files.items():
        (folder / f"{name}.md").write_bytes(raw.encode() if isinstance(raw, str) else raw)
    return folder


def test_a_folder_becomes_records(person: Person) -> None:
    """Each file is found by search; a repeat adds nothing, and a changed file waits for --update."""
    folder = vault(person, trains="---\ntags: [rail]\n---\nTrains leave on Thursdays.", notes="Notes.")
    (folder / "picture.png").write_bytes(b"x")
    done = person("import", str(folder))
    assert (done.exit_code, done.stdout) == (0, "2 read: 2 imported, 0 there already, 0 refused\n")
    assert "1 name passed over: its name does not say Markdown" in done.stderr
    (hit,) = person.json("search", "trains")["hits"]
    assert (hit["title"], hit["provenance"]["imported_from"]["item"]) == ("trains", "vault/trains.md")
    assert person.ok("import", str(folder)).startswith("2 read: 0 imported, 2 there already")
    vault(person, notes="Other notes.")
    done = person("import", str(folder))
    assert done.exit_code == 1
    assert "notes.md\tchanged\tit changed since it was imported: --update" in done.stdout
    updated = person.ok("import", str(folder), "--update")
    assert updated == "2 read: 1 imported, 1 there already, 0 refused, 1 of them as a next version\n"
    assert person.json("list")["total"] == 2


def test_a_file_is_one_of_its_folder(person: Person) -> None:
    """A single file of Markdown is the same file when its folder is imported later."""
    folder = vault(person, a="alpha", b="beta")
    assert person.ok("import", str(folder / "a.md")).startswith("1 read: 1 imported")
    assert person.ok("import", str(folder)).startswith("2 read: 1 imported, 1 there already")
    assert person.json("import", str(folder / "a.md"), "--source", "other")["written"] == 1


def test_what_stands_for_a_refusal(person: Person) -> None:
    """Each refusal names its file and rule; with --json all of the report is there."""
    folder = vault(person, latin="Käse".encode("latin-1"), big=b"x" * 300_000, good="good")
    (folder / "link.md").symlink_to("good.md")
    done = person("import", str(folder))
    assert done.exit_code == 1
    assert done.stdout.startswith("4 read: 1 imported, 0 there already, 3 refused\n")
    assert "latin.md\tinvalid\tit is not UTF-8: say what it is with --encoding" in done.stdout
    assert "link.md\tescape\tit is a link" in done.stdout
    found = person.json("import", str(folder), "--encoding", "latin-1")
    assert (found["source"], found["written"], found["repeated"]) == ("vault", 1, 1)
    assert [one["item"] for one in found["refused"]] == ["big.md", "link.md"]


def test_what_is_not_taken_is_a_note(person: Person) -> None:
    """It is told by file and field, refuses nothing, is cut for a person and whole in JSON."""
    folder = vault(person, a="---\ntags: [release, null]\n---\nalpha", b="beta")
    done = person("import", str(folder), "--dry-run")
    assert (done.exit_code, done.stdout) == (0, "2 read: 2 would be imported, 0 there already, 0 refused\n")
    assert "note: a.md: tags not taken: they are no list of plain texts\n" in done.stderr
    assert f"note: {KEPT}\n" in done.stderr
    vault(person, **{f"{number:02}": f"---\ntitle: {'x' * 201}\n---\n{number}" for number in range(60)})
    done = person("import", str(folder), "--dry-run")
    assert done.stderr.count(": title not taken: ") == 50
    assert "11 more that are not taken" in done.stderr
    found = person.json("import", str(folder))
    assert found["written"] == 62
    assert found["not_taken"][-1] == {
        "item": "a.md", "field": "tags", "reason": "they are no list of plain texts"
    }  # fmt: skip


def test_a_dry_run_writes_nothing(person: Person) -> None:
    """--dry-run says what would be, and leaves no record."""
    folder = vault(person, a="alpha")
    assert "1 would be imported" in person.ok("import", str(folder), "--dry-run")
    assert not (person.store / "memory").exists()


def test_what_stops_it_is_told(person: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    """A full disk in the middle ends with its code and says how far it came; a repeat goes on there."""
    folder = vault(person, **{f"{number:03}": f"number {number}" for number in range(300)})
    calls = iter(range(2))

    def fail(leaf: Leaf, prepare: Prepare, meanwhile: Callable[[], None]) -> Sequence[Draft]:
        if next(calls) == 1:
            raise SystemFailure("writing", OSError(28, ""))
        return publish(leaf, prepare, meanwhile)

    monkeypatch.setattr(memory, "publish", fail)
    done = person("import", str(folder))
    assert done.exit_code == 9
    assert "256 files are in" in done.stderr
    monkeypatch.undo()
    found = person.json("import", str(folder))
    assert (found["written"], found["repeated"]) == (44, 256)


def test_a_store_is_not_imported_into_itself(person: Person) -> None:
    """The store, what is in it or around it, and the trust home are refused as folders to import."""
    person.remember("x")
    (person.store / "a.md").write_text("x")
    for place in (person.place, person.store, person.store / "memory", person.trust, person.store / "a.md"):
        done = person("import", str(place))
        assert done.exit_code == 3
        assert "apart from the store" in done.stderr


@pytest.mark.parametrize("flags", [("--update",), ("--encoding", "latin-1")])
def test_flags_of_a_folder_go_with_one(person: Person, flags: tuple[str, ...]) -> None:
    """--update and --encoding are refused where they would say nothing."""
    (person.place / "x.jsonl").write_text('{"text": "a"}\n')
    assert person("import", str(person.place / "x.jsonl"), *flags).exit_code == 3


def test_every_encoding_is_offered() -> None:
    """What --encoding takes is what the reader knows."""
    assert ENCODINGS == decoding.ENCODINGS


@pytest.mark.parametrize("name", ["out", "out.jsonl"])
def test_there_and_back(person: Person, name: str) -> None:
    """What is exported from one session is imported into another of another user, and says the same."""
    ids = [person.remember("Trains.", "--title", "T", "--tag", "rail"), person.remember("Notes.")]
    out = str(person.place / name)
    word = "JSON lines" if name.endswith("jsonl") else "a bundle of the Open Knowledge Format 0.2"
    assert person.ok("export", out, "--dry-run") == f"2 records would be exported as {word}\n"
    assert not Path(out).exists()
    assert person.ok("export", out) == f"2 records exported as {word}\n"
    assert person("export", out).exit_code == 3
    person.env["NSSTORE_USER"] = "bob"
    assert person.json("import", out)["written"] == 2
    (hit,) = person.json("search", "trains")["hits"]
    assert (hit["title"], hit["tags"]) == ("T", ["rail"])
    assert hit["provenance"]["imported_from"]["record_id"] == ids[0]
    assert hit["provenance"]["scope"]["user_id"] == "bob"


def test_lines_go_down_a_pipe(person: Person) -> None:
    """`export -` prints lines alone, which `import -` takes."""
    person.remember("a")
    out = person.ok("export", "-")
    assert json.loads(out)["text"] == "a"
    person.env["NSSTORE_SESSION"] = "tuesday"
    assert person.ok("import", "-", "--source", "pipe", given=out).startswith("1 read: 1 imported")
    assert person("export", "-", "--format", "okf").exit_code == 3
    assert person("export", "-", "--json").exit_code == 3


def test_an_export_lies_outside_the_store(person: Person) -> None:
    """Neither the store nor the trust home takes an export."""
    person.remember("a")
    (home,) = person.trust.iterdir()
    for place in (person.store / "out", home / "out.jsonl"):
        assert person("export", str(place)).exit_code == 3
        assert not place.exists()


@pytest.mark.parametrize("name", ["out", "out.jsonl"])
def test_no_link_leads_an_export_into_the_store(person: Person, name: str) -> None:
    """A link to an empty directory of the store, or a name behind one, is refused: nothing gets in."""
    gone = person.remember("b", NSSTORE_SESSION="s-3")
    inside = person.file_of(gone).parent
    person.ok("forget", gone, NSSTORE_SESSION="s-3")
    person.remember("a")
    link = person.place / "link"
    link.symlink_to(inside)
    for place in (link, link / name, inside / name):
        for flags in ((), ("--dry-run",), ("--format", "jsonl"), ("--format", "okf")):
            assert person("export", str(place), *flags).exit_code == 3
    assert list(inside.iterdir()) == []
    assert person("check").exit_code == 0


def test_an_export_goes_through_no_link(person: Person) -> None:
    """A link is no place for an export, wherever it leads; the directory that it leads to is one."""
    person.remember("a")
    (person.place / "real").mkdir()
    (person.place / "link").symlink_to(person.place / "real")
    (person.place / "dead").symlink_to(person.place / "nowhere")
    for place in ("link", "dead"):
        done = person("export", str(person.place / place))
        assert done.exit_code == 3
        assert "not a link" in done.stderr
    assert not (person.place / "nowhere").exists()
    assert person("export", str(person.place / "real")).exit_code == 0


def test_an_export_of_nothing_is_one(person: Person) -> None:
    """Where nothing is readable the bundle holds an index alone."""
    out = person.place / "out"
    assert person.json("export", str(out))["records"] == 0
    assert [path.name for path in out.iterdir()] == ["index.md"]
