"""Out of one scope and into another: a bundle that others accept, lines, and a round trip that is equal."""

import importlib
import io
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import msgspec
import pytest

from bench.world import Who
from nsstore import Found, Session
from nsstore.errors import InvalidInput, SystemFailure
from nsstore.exchange import concept as concepts
from nsstore.exchange.export import Export
from nsstore.exchange.front_matter import split
from nsstore.exchange.import_lines import ImportLines, Report
from nsstore.record import FIELDS
from nsstore.root.named_folder import NewFolder
from nsstore.scope import Sensitivity
from tests.exchange.conftest import Place

OTHER = Who(tenant="globex", user="bob", project="other", session="s-9", branch="dev", agent="codex",
            clearance=Sensitivity.RESTRICTED)  # fmt: skip
BM = shutil.which("bm")
yaml: Any = importlib.import_module("yaml")


def quiet(_done: int, _total: int) -> None:
    """Nobody waits."""


def bundle(at: Place, session: Session, name: str = "bundle") -> Path:
    """An export of the session as a bundle."""
    with NewFolder(str(at.place / name), "the export") as folder:
        Export(session, "okf", dry_run=False).into(folder, quiet)
    return at.place / name


def lines(session: Session) -> bytes:
    """An export of the session as lines."""
    out = bytearray()
    Export(session, "jsonl", dry_run=False).lines(out.extend, quiet)
    return bytes(out)


def taken(at: Place, session: Session, name: str, raw: bytes) -> Report:
    """An import of lines into the session."""
    source = io.BytesIO(raw)
    return ImportLines(at.store, session, name, dry_run=False).run(source.read, lambda _: None)


def said(one: Found) -> tuple[object, ...]:
    """Everything about a record that is its own and not its place's."""
    return (one.text, one.title, one.kind, one.tags, one.sensitivity, one.expires_at, one.ext)


def everything(session: Session) -> list[tuple[object, ...]]:
    """What the session holds, oldest first."""
    return [said(one) for one in reversed(session.list(limit=1000).items)]


@pytest.fixture
def full(at: Place) -> Session:
    """A session with records of every kind of trouble."""
    session = Who(clearance=Sensitivity.RESTRICTED).bind(at.store)
    session.remember("plain")
    session.remember(
        "---\ntitle: not mine\n---\r\nline\u2028sep \x00 nul \x85\n\n---\n", title="a: [b] \"c\" #'d' <x> *y*"
    )
    session.remember("tags", tags=["z", "a b", "#c", "no"], kind="lesson", sensitivity="restricted")
    session.remember("ext", ext={"deep": {"list": [1, None, "x\x7f\u2029"]}}, retention_class="short")
    session.remember("\ufeff marked", title="007")
    session.remember("x" * 262_144, title="]( \\")
    old = session.remember("old")
    session.remember("new", supersedes=[old.record_id], expires_at="2099-01-01T00:00:00Z")
    at.put("a.md", "---\r\ntitle: T\r\ntags:\r\n- a\r\nmood: {x: [1]}\r\n---\r\nimported")
    at.take(session)
    return session


def test_a_bundle_round_trip_is_equal(at: Place, full: Session) -> None:
    """Exported and imported into another scope each record says the same, and so once more from there."""
    second, third = OTHER.bind(at.store), msgspec.structs.replace(OTHER, session="s-10").bind(at.store)
    report = at.take(second, folder=bundle(at, full), name="bundle")
    assert (report.written, report.refused) == (8, [])
    assert everything(second) == everything(full)
    at.take(third, folder=bundle(at, second, "again"), name="again")
    assert everything(third) == everything(full)
    assert at.take(second, folder=at.place / "bundle", name="bundle").repeated == 8


def test_a_round_trip_of_lines_is_equal(at: Place, full: Session) -> None:
    """The same by JSON lines, and a repeat adds nothing."""
    second, raw = OTHER.bind(at.store), lines(full)
    for expected in (8, 0):
        report = taken(at, second, "export.jsonl", raw)
        assert (report.written, report.refused) == (expected, [])
    assert everything(second) == everything(full)


def test_where_it_was_is_a_claim(at: Place, full: Session) -> None:
    """Scope, id and time of the first record are claims of the second, which has its own."""
    second = OTHER.bind(at.store)
    at.take(second, folder=bundle(at, full), name="bundle")
    first, copy = full.list().items[-1], second.list().items[-1]
    origin = copy.provenance.imported_from
    assert origin is not None
    assert origin.scope is not None
    assert (origin.record_id, origin.created_at) == (first.record_id, first.created_at)
    assert (origin.scope["tenant_id"], copy.provenance.scope["tenant_id"]) == ("acme", "globex")
    assert {one.privacy for one in second.list().items} == {"project_only"}
    assert {one.retention_class for one in second.list().items} == {"standard"}
    assert copy.record_id != first.record_id


def test_the_first_sources_claims_go_along(at: Place) -> None:
    """Out of a third store a record still names when its first source wrote it, and by lines where."""
    first = Who().bind(at.store)
    at.put("a.md", "---\ncreated: 2025-03-01\n---\nalpha")
    at.take(first)
    second, third = OTHER.bind(at.store), msgspec.structs.replace(OTHER, session="s-10").bind(at.store)
    at.take(second, folder=bundle(at, first), name="bundle")
    (copy,) = second.list().items
    origin = copy.provenance.imported_from
    assert origin is not None
    assert (origin.created_at, origin.record_id) == ("2025-03-01", first.list().items[0].record_id)
    for number, (session, into) in enumerate(((first, third), (third, first))):
        taken(at, into, f"lines-{number}", lines(session))
        origin = into.list().items[0].provenance.imported_from
        assert origin is not None
        assert (origin.created_at, origin.item) == ("2025-03-01", "vault/a.md")


def test_what_begins_anew_is_told(at: Place) -> None:
    """A retention class that a bundle names is not taken over, and the report says so by file."""
    session = Who().bind(at.store)
    kept = session.remember("held", retention_class="legal_hold")
    session.remember("plain")
    report = at.take(OTHER.bind(at.store), folder=bundle(at, session), name="bundle")
    (told,) = report.not_taken
    assert (told.item, told.field) == (f"{kept.record_id}.md", "retention_class")
    assert report.written == 2


def test_an_export_tells_nothing_of_others(at: Place) -> None:
    """What another agent writes into the same session changes no byte of an export."""
    mine, others = Who().bind(at.store), Who(agent="codex").bind(at.store)
    kept = mine.remember("mine")
    before = lines(mine), (bundle(at, mine, "one") / f"{kept.record_id}.md").read_bytes()
    others.remember("theirs", kind="secret_kind")
    after = lines(mine), (bundle(at, mine, "two") / f"{kept.record_id}.md").read_bytes()
    assert before == after
    assert sorted(path.name for path in (at.place / "two").iterdir()) == [f"{kept.record_id}.md", "index.md"]
    for name in ("seq", "prev", "salt", "seal", "idempotency"):
        assert f"\n{name}:".encode() not in after[1]
        assert f'"{name}"'.encode() not in after[0]


def test_each_concept_is_plain_yaml(at: Place, full: Session) -> None:
    """Every concept has front matter that a YAML reader takes, type first, the values those of the record."""
    folder = bundle(at, full)
    for one in full.list().items:
        front, body = split((folder / f"{one.record_id}.md").read_bytes().decode())
        assert front is not None
        assert front.startswith('type: "memory"\n')
        found = yaml.safe_load(front)
        assert set(found) <= set(FIELDS) - concepts.BOUND
        assert (found.get("title"), found.get("tags"), found.get("ext")) == (
            one.title,
            list(one.tags) or None,
            one.ext,
        )
        assert body == one.text


def test_the_index_names_each_record(at: Place, full: Session) -> None:
    """The index declares its version and has one link a record, whatever its title holds."""
    index = (bundle(at, full) / "index.md").read_text()
    assert index.startswith('---\nokf_version: "0.2"\n---\n\n# Records\n\n* [')
    for one in full.list().items:
        assert index.count(f"]({one.record_id}.md)\n") == 1


@pytest.mark.skipif(BM is None, reason="bm, of the package basic-memory, is not installed")
def test_another_program_accepts_the_bundle(at: Place, full: Session) -> None:
    """`bm okf check` finds nothing wrong, and counts as many concepts as there are records."""
    assert BM is not None
    home = at.place / "home"
    home.mkdir()
    folder = bundle(at, full)
    env = {"HOME": str(home), "PATH": os.environ["PATH"], "BASIC_MEMORY_NO_PROMOS": "1"}
    for path, concepts_there in ((folder, 8), (bundle(at, OTHER.bind(at.store), "empty"), 0)):
        done = subprocess.run(
            [BM, "okf", "check", str(path), "--json"], capture_output=True, text=True, check=False, env=env
        )
        assert done.returncode == 0, done.stdout + done.stderr
        assert f'"concepts":{concepts_there}' in done.stdout


def test_a_record_file_itself_is_taken_too(at: Place, full: Session) -> None:
    """A copy of the store's own files reads as a bundle does, though nothing about them is believed."""
    root = at.store.root.path
    (at.place / "copy").mkdir()
    for file in Path(root, "memory").rglob("*.md"):
        shutil.copy(file, at.place / "copy")
    second = OTHER.bind(at.store)
    report = at.take(second, folder=at.place / "copy", name="copy")
    assert report.refused == []
    assert {one[:4] for one in everything(full)} < {one[:4] for one in everything(second)}


@pytest.mark.parametrize(
    "changed",
    [
        ('type: "memory"', 'type: "state"'),
        ('sensitivity: "internal"', "sensitivity: 7"),
        ("schema_version: 1", "schema_version: 2"),
        ('title: "T"', 'title: "T"\ntitle: "U"'),
        ('title: "T"', 'title: "T"\nmine: 1'),
        ('title: "T"', "title: T"),
    ],
)
def test_a_header_that_was_changed_is_foreign(at: Place, changed: tuple[str, str]) -> None:
    """A concept that is no longer as it was written is anybody's Markdown: kept whole, obeyed in nothing."""
    session = Who().bind(at.store)
    kept = session.remember("text", title="T")
    raw = (bundle(at, session) / f"{kept.record_id}.md").read_text()
    assert changed[0] in raw
    at.put("x.md", raw.replace(*changed))
    second = OTHER.bind(at.store)
    assert at.take(second).written == 1
    (one,) = second.list().items
    assert one.ext is not None
    assert changed[1] in str(one.ext["original"])
    assert (one.text, one.sensitivity) == ("text", "internal")


def test_what_is_current_goes_out_oldest_first(at: Place) -> None:
    """Older versions, and records of another branch, are left out; the latter are counted."""
    session = Who().bind(at.store)
    first = session.remember("one")
    session.remember("two")
    session.remember("one again", supersedes=[first.record_id])
    dev = Who(branch="dev").bind(at.store)
    dev.remember("dev")
    both = at.store.bind(
        tenant_id="acme", user_id="alice", project_id="shop", session_id="s-1", agent_id="claude",
        workspace_id="w-1", branch="main", baseline="v1", source_tool="t", purpose="recall",
        allowed_branches=["main", "dev"],
    )  # fmt: skip
    export = Export(both, "jsonl", dry_run=False)
    out: list[bytes] = []
    report = export.lines(out.append, quiet)
    assert [msgspec.json.decode(line)["text"] for line in out] == ["two", "one again"]
    assert (report.records, report.left_out) == (2, 1)
    assert Export(both, "okf", dry_run=True).report.records == 2


def test_what_is_forgotten_meanwhile_does_not_go_out(at: Place) -> None:
    """A record that goes between the list and the file is left out, and the rest is whole."""
    session = Who().bind(at.store)
    gone = session.remember("gone")
    session.remember("stays")
    export = Export(session, "jsonl", dry_run=False)
    session.forget(gone.record_id)
    out: list[bytes] = []
    assert export.lines(out.append, quiet).records == 1
    assert b"gone" not in b"".join(out)


def test_nothing_is_overwritten(at: Place) -> None:
    """A directory with anything in it, a file and a link are refused and left as they were."""
    session = Who().bind(at.store)
    session.remember("x")
    at.put("a.txt", "mine")
    (at.place / "file").write_text("mine")
    (at.place / "link").symlink_to(at.vault)
    for name in ("vault", "file", "link"):
        with pytest.raises(InvalidInput):
            bundle(at, session, name)
    assert [path.name for path in at.vault.iterdir()] == ["a.txt"]
    (at.place / "empty").mkdir()
    assert len(list(bundle(at, session, "empty").iterdir())) == 2


def test_files_are_private(at: Place) -> None:
    """A new directory has mode 0700 and its files 0600."""
    session = Who().bind(at.store)
    session.remember("x")
    folder = bundle(at, session)
    assert folder.stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o777 for path in folder.iterdir()} == {0o600}


def test_an_export_that_fails_leaves_nothing(at: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """At whichever step the disk is full, what was written is taken back and the directory too."""
    session = Who().bind(at.store)
    session.remember("x")
    session.remember("y")
    stop = 0
    for stop in range(1, 100):
        left = stop

        def fail(_name: str) -> None:
            nonlocal left
            left -= 1
            if left == 0:
                raise OSError(28, "")

        monkeypatch.setattr("nsstore.root.named_folder.step", fail)
        try:
            bundle(at, session, "out")
        except SystemFailure:
            assert not (at.place / "out").exists()
        else:
            break
    assert stop == 1 + 3 * 2 + 2  # a directory, three files and a flush failed, and then nothing did
    assert len(list((at.place / "out").iterdir())) == 3
