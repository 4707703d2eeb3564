"""A folder of Markdown into one scope: nothing lost, every refusal explained, nothing twice."""

import os
import socket
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec
import pytest

from bench.world import Who
from nsstore.audit import EventKind, read_events
from nsstore.errors import InvalidInput, SystemFailure
from nsstore.exchange.foreign import NO_TAGS, NO_TITLE
from nsstore.exchange.import_folder import CHANGED, EMPTY, HIDDEN, NOT_MARKDOWN, OF_THE_BUNDLE
from nsstore.record import MAX_TEXT
from nsstore.root import KernelOpener, Opener, WalkOpener, steps
from nsstore.root.named_folder import MAX_DEPTH, NamedFolder
from nsstore.scope import Sensitivity
from tests.exchange.conftest import Place


def test_each_file_is_a_record_of_this_scope(at: Place) -> None:
    """Files at any depth are records of the session alone, with what their front matter may say."""
    at.put("a.md", "---\ntitle: A\ntags: [x]\ntenant_id: globex\nuser_id: eve\n---\nalpha\r\n")
    at.put("deep/er/b.MARKDOWN", "beta")
    report = at.take()
    assert (report.files, report.written, report.repeated, report.refused) == (2, 2, 0, [])
    assert at.texts() == ["alpha\r\n", "beta"]
    second, first = at.session.list().items
    assert (first.title, first.tags, second.title) == ("A", ("x",), "b")
    assert first.ext == {"original": "title: A\ntags: [x]\ntenant_id: globex\nuser_id: eve\n"}
    assert first.provenance.scope["tenant_id"] == "acme"
    origin = first.provenance.imported_from
    assert origin is not None
    assert (origin.item, origin.scope) == ("vault/a.md", {"tenant_id": "globex", "user_id": "eve"})
    assert at.texts(Who(tenant="globex").bind(at.store)) == []
    assert at.texts(Who(user="eve").bind(at.store)) == []


def test_what_is_not_taken_is_told_by_file(at: Place) -> None:
    """Files that are in are told with each field that their record lacks, and only by the run that wrote."""
    at.put("b.md", f"---\ntitle: {'x' * 300}\ntags: [a, null]\n---\nbeta")
    at.put("a.md", "---\ntitle: T\n---\nalpha")
    at.put("c.md", "---\ntags: [null]\n---\n\0")
    for dry_run in (True, False):
        report = at.take(dry_run=dry_run)
        told = [(one.item, one.field, one.reason) for one in report.not_taken]
        assert told == [("b.md", "title", NO_TITLE), ("b.md", "tags", NO_TAGS)]
        assert (report.written, len(report.refused)) == (2, 1)
    beta = at.session.list().items[0]
    assert (beta.title, beta.tags) == ("b", ())
    assert at.take().not_taken == []


def test_a_repeat_adds_nothing(at: Place) -> None:
    """The same files again are there already, wherever the folder lies by now; new ones are added."""
    for number in range(300):
        at.put(f"{number % 7}/{number}.md", f"number {number % 3}")
    assert at.take().written == 300
    at.vault.rename(at.place / "moved")
    report = at.take(folder=at.place / "moved")
    assert (report.written, report.repeated) == (0, 300)
    at.vault.mkdir()
    at.put("0/0.md", "number 0")
    at.put("new.md", "new")
    report = at.take()
    assert (report.written, report.repeated) == (1, 1)
    assert len(at.texts()) == 301


def test_a_repeat_from_another_commit_adds_nothing(at: Place) -> None:
    """What was imported at one commit is there already at the next."""
    at.put("a.md", "alpha")

    def at_commit(digit: str) -> int:
        session = at.store.bind(
            tenant_id="acme", user_id="alice", project_id="shop", session_id="s-1", agent_id="claude",
            workspace_id="w-1", branch="main", baseline="v1", source_tool="world", purpose="recall",
            commit=digit * 40,
        )  # fmt: skip
        return at.take(session).written

    assert [at_commit("a"), at_commit("b")] == [1, 0]


def test_a_changed_file_waits_for_a_word(at: Place) -> None:
    """A changed file is told and left; --update makes it the next version, once, and back again."""
    at.put("a.md", "one")
    at.take()
    at.put("a.md", "two")
    report = at.take()
    assert [(one.item, one.kind, one.reason) for one in report.refused] == [("a.md", "changed", CHANGED)]
    assert at.texts() == ["one"]
    report = at.take(update=True)
    assert (report.written, report.updated) == (1, 1)
    assert at.texts() == ["two"]
    assert at.take(update=True).repeated == 1
    at.put("a.md", "one")
    assert at.take(update=True).updated == 1
    assert at.texts() == ["one"]
    (current,) = at.session.list().items
    assert [one.text for one in at.session.history(current.record_id)] == ["one", "two", "one"]


def test_an_update_takes_the_place_of_what_a_person_made_of_it(at: Place) -> None:
    """Where a person edited what was imported, the next version of the file comes after the edited one."""
    at.put("a.md", "one")
    at.take()
    (imported,) = at.session.list().items
    at.session.remember("edited", supersedes=[imported.record_id])
    assert at.take().repeated == 1
    at.put("a.md", "two")
    assert at.take(update=True).updated == 1
    assert at.texts() == ["two"]


def test_what_was_forgotten_stays_so(at: Place) -> None:
    """A file whose record was forgotten is not brought back by a repeat, and the report says so."""
    at.put("a.md", "one")
    at.take()
    at.session.forget(at.session.list().items[0].record_id)
    (refused,) = at.take().refused
    assert (refused.kind, "forgotten" in refused.reason) == ("refused", True)
    assert at.texts() == []


def test_two_sources_do_not_meet(at: Place) -> None:
    """A file of the same path in another source is another file, changed or not."""
    at.put("a.md", "one")
    at.take(name="first")
    assert at.take(name="second").written == 1
    at.put("a.md", "two")
    assert at.take(name="second", update=True).updated == 1
    assert sorted(at.texts()) == ["one", "two"]


def test_links_are_not_followed(at: Place) -> None:
    """A link to a file, a folder, outside or to itself is refused by name, and nothing of it is read."""
    outside = at.place / "secret.md"
    outside.write_text("secret")
    (at.place / "others").mkdir()
    (at.place / "others" / "b.md").write_text("secret too")
    (at.vault / "file.md").symlink_to(outside)
    (at.vault / "folder").symlink_to(at.place / "others")
    (at.vault / "loop").symlink_to(".")
    (at.vault / "nowhere.md").symlink_to("nowhere")
    report = at.take()
    assert [(one.item, one.kind) for one in report.refused] == [
        *(("file.md", "escape"), ("folder", "escape"), ("loop", "escape"), ("nowhere.md", "escape")),
    ]
    assert all("link" in one.reason for one in report.refused)
    assert at.texts() == []


def test_a_hard_link_is_no_way_to_a_record_of_elsewhere(at: Place) -> None:
    """A second name of another project's record is refused with the way out, and a copy is taken."""
    kept = Who(project="other").bind(at.store).remember("told to another project alone")
    (file,) = Path(at.store.root.path).rglob(f"{kept.record_id}.md")
    os.link(file, at.vault / "notes.md")
    at.put("mine.md", "mine")
    os.link(at.vault / "mine.md", at.vault / "twin.md")
    report = at.take()
    assert [(one.item, one.kind) for one in report.refused] == [
        *(("mine.md", "escape"), ("notes.md", "escape"), ("twin.md", "escape")),
    ]
    assert all("import a copy" in one.reason for one in report.refused)
    assert at.texts() == []
    (at.vault / "notes.md").unlink()
    (at.vault / "twin.md").unlink()
    assert at.take().written == 1


def test_special_files_are_not_opened(at: Place) -> None:
    """A pipe, which would block, and a socket are refused by name without being opened."""
    os.mkfifo(at.vault / "pipe.md")
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(at.vault / "socket.md"))
        report = at.take()
    assert [(one.item, one.kind) for one in report.refused] == [
        ("pipe.md", "escape"),
        ("socket.md", "escape"),
    ]


def test_a_swap_after_the_look_is_refused(at: Place) -> None:
    """A file that became a pipe, and a folder that became a link, between look and read are not read."""
    at.put("a.md", "x")
    at.put("sub/b.md", "x")
    with NamedFolder(str(at.vault), "the folder") as folder:
        (at.vault / "a.md").unlink()
        os.mkfifo(at.vault / "a.md")
        (at.vault / "sub").rename(at.place / "sub")
        (at.vault / "sub").symlink_to(at.place / "sub")
        for path in ("a.md", "sub/b.md"):
            with pytest.raises(InvalidInput):
                folder.read(path, 10)


def test_what_is_no_note_is_passed_over_and_told(at: Place) -> None:
    """Other files, hidden ones and empty ones are named with their reason, and are no refusals."""
    at.put("a.png", b"\x89PNG")
    at.put(".obsidian/plugin/README.md", "x")
    at.put(".hidden.md", "x")
    at.put("empty.md", " \n")
    report = at.take()
    assert {one.item: one.reason for one in report.passed_over} == {
        "a.png": NOT_MARKDOWN, ".obsidian": HIDDEN, ".hidden.md": HIDDEN, "empty.md": EMPTY,
    }  # fmt: skip
    assert (report.files, report.written, report.refused) == (0, 0, [])


def test_an_index_is_a_note_unless_it_is_a_bundles(at: Place) -> None:
    """index.md and log.md are notes, but in a folder that says that it is a bundle."""
    at.put("index.md", "# Mine")
    at.put("log.md", "# Log")
    assert at.take().written == 2
    at.put("index.md", '---\nokf_version: "0.2"\n---\n# Concepts\n')
    at.put("sub/index.md", "# Sub")
    at.put("sub/c.md", "---\ntype: Metric\n---\nc")
    report = at.take(name="bundle")
    assert report.written == 1
    assert {one.item for one in report.passed_over if one.reason == OF_THE_BUNDLE} == {
        *("index.md", "log.md", "sub/index.md"),
    }


def test_one_refusal_does_not_take_its_neighbours(at: Place) -> None:
    """Each file that breaks a rule is told with the rule, and those beside it are in."""
    at.put("big.md", b"x" * (MAX_TEXT + 1))
    at.put("huge.md", b"x" * 3_000_000)
    at.put("latin.md", "Käse".encode("latin-1"))
    at.put("nul.md", b"a\0b")
    at.put("good.md", "good")
    at.put("gone.md", "x").chmod(0)
    report = at.take()
    told = {one.item: one.reason for one in report.refused}
    assert set(told) - {"gone.md"} == {"big.md", "huge.md", "latin.md", "nul.md"}
    assert "262144" in told["big.md"]
    assert report.files == 6
    assert report.written + len(report.refused) == 6
    assert "good" in at.texts()
    assert at.take(encoding="latin-1").written == 1


def test_odd_names_are_kept_apart(at: Place) -> None:
    """Equal names in other folders, names that differ in spelling alone, and names that are no text."""
    names = ["a/x.md", "b/x.md", "A/x.md", "e\u0301.md", "\xe9.md", "new\nline.md", " .md", "x" * 250 + ".md"]
    for name in names:
        at.put(name, "same")
    Path(os.fsdecode(os.fsencode(at.vault) + b"/caf\xe9.md")).write_text("same")
    report = at.take()
    assert (report.written, report.refused) == (len(names) + 1, [])
    assert at.take().repeated == len(names) + 1
    Path(os.fsdecode(os.fsencode(at.vault) + b"/caf\xe9.md")).write_bytes(b"\xff")
    assert [one.item for one in at.take().refused] == ["caf\\xe9.md"]
    assert b"caf" in msgspec.json.encode(at.take())


def test_two_imports_at_once_add_each_file_once(at: Place) -> None:
    """Of runs over one folder at the same time one brings a file in, and the others find it there."""
    for number in range(40):
        at.put(f"{number}.md", f"number {number}")
    sessions = [Who().bind(at.store) for _ in range(4)]
    with ThreadPoolExecutor() as pool:
        reports = list(pool.map(at.take, sessions))
    assert sum(one.written for one in reports) == 40
    assert all(one.written + one.repeated == 40 and one.refused == [] for one in reports)
    assert len(at.texts()) == 40


@pytest.mark.parametrize("opener", [KernelOpener(), WalkOpener()], ids=["openat2", "walk"])
def test_no_way_to_open_follows_a_link(at: Place, monkeypatch: pytest.MonkeyPatch, opener: Opener) -> None:
    """With the kernel's way and with the walk, files at any depth are read, and never through a link."""
    at.put("a/b/c.md", "x")
    (at.vault / "link").symlink_to("a")
    with NamedFolder(str(at.vault), "the folder") as folder:
        monkeypatch.setattr(folder, "_open", opener)
        found = {one.path: one.what for one in folder.entries(10, lambda _: True)}
        assert found == {"a/b/c.md": "file", "link": "link"}
        assert folder.read("a/b/c.md", 10) == b"x"
        for path in ("link/b/c.md", "../store.json", "/etc/hostname", "a/../a/b/c.md", "", "a\0b"):
            with pytest.raises((InvalidInput, SystemFailure)):
                folder.read(path, 10)


def test_a_deep_folder_ends(at: Place) -> None:
    """What lies deeper than the limit is refused by the name of its folder; above it all is read."""
    fd = os.open(at.vault, os.O_RDONLY)
    for _ in range(MAX_DEPTH + 10):
        os.mkdir("d", dir_fd=fd)
        with open(os.open("x.md", os.O_WRONLY | os.O_CREAT, dir_fd=fd), "w") as file:
            file.write("deep")
        below = os.open("d", os.O_RDONLY, dir_fd=fd)
        os.close(fd)
        fd = below
    os.close(fd)
    report = at.take()
    assert report.written == MAX_DEPTH
    assert [one.item.count("/") for one in report.refused] == [MAX_DEPTH, MAX_DEPTH]
    assert all("deeper than 64" in one.reason for one in report.refused)


def test_a_folder_with_too_many_names_is_refused(at: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """Above the limit nothing is imported, and the message says what to do."""
    monkeypatch.setattr("nsstore.exchange.import_folder.MAX_NAMES", 5)
    for number in range(6):
        at.put(f"{number}.md", "x")
    with pytest.raises(InvalidInput, match="one by one"):
        at.take()
    assert at.texts() == []


def test_another_file_system_is_not_entered(at: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """A directory or file of another device is refused by name."""
    at.put("a.md", "x")
    with NamedFolder(str(at.vault), "the folder") as folder:
        monkeypatch.setattr(folder, "_device", -1)
        assert [(one.path, one.what) for one in folder.entries(10, lambda _: True)] == [("a.md", "elsewhere")]


def test_a_directory_that_does_not_open_is_told(at: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder that this user may not list is refused by name, and the rest is in."""
    at.put("shut/a.md", "x")
    at.put("b.md", "b")
    denied = iter([PermissionError(13, "")])

    def deny_first(call: str) -> None:
        for error in denied if call == "open" else ():
            raise error

    monkeypatch.setattr(steps, "hook", deny_first)
    report = at.take()
    assert ([(one.item, one.kind) for one in report.refused], at.texts()) == ([("shut", "os")], ["b"])


def test_a_dry_run_says_the_same_and_writes_nothing(at: Place) -> None:
    """A rehearsal reports what the import then does, and leaves no record."""
    at.put("a.md", "a")
    at.put("b.md", b"\0")
    at.put("c.md", "c")
    dry = at.take(dry_run=True)
    assert at.texts() == []
    real = at.take()
    assert dry.dry_run
    assert msgspec.structs.replace(dry, dry_run=False) == real
    at.put("a.md", "other")
    assert at.take(dry_run=True, update=True).updated == 1
    assert at.texts() == ["a", "c"]


def test_a_refusal_is_audited(at: Place) -> None:
    """That files were refused stands in the audit, once for the run, with their number."""
    at.put("a.md", b"\0")
    at.put("b.md", b"\0")
    at.take()
    events = read_events(at.store.audit, at.session.envelope.scope.tenant)
    refused = [(one.verb, one.count) for one in events if one.event == EventKind.REFUSED]
    assert refused == [("import", 2)]


def test_no_update_lowers_a_records_guard(at: Place) -> None:
    """A record that a person made more sensitive is not replaced by a less sensitive version."""
    session = Who(clearance=Sensitivity.RESTRICTED).bind(at.store)
    at.put("a.md", "one")
    at.take(session)
    (imported,) = session.list().items
    session.remember("guarded", supersedes=[imported.record_id], sensitivity="restricted")
    at.put("a.md", "two")
    (refused,) = at.take(session, update=True).refused
    assert "less sensitive" in refused.reason
    assert at.texts(session) == ["guarded"]
