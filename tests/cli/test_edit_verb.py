"""Edit, as a person at their own editor sees it."""

import os
import shlex
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

import nsstore
from bench.owning import Hand, asker
from bench.world import Who
from nsstore import NA
from nsstore.policy import Kind, Opens
from tests.cli.conftest import Person

HOUSE = Path(__file__).parents[2]
Editor = Callable[[str], None]


@pytest.fixture
def editor(person: Person, monkeypatch: pytest.MonkeyPatch) -> Editor:
    """Makes a Python program the editor; it finds the file's path in ``path``."""
    room = person.place / "temporary"
    room.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(room))
    person.env |= {"XDG_RUNTIME_DIR": None, "VISUAL": None}

    def make(code: str) -> None:
        program = person.place / "editor.py"
        program.write_text(f"import os, sys\nfrom pathlib import Path\npath = Path(sys.argv[1])\n{code}\n")
        person.env["EDITOR"] = shlex.join([sys.executable, str(program)])

    return make


def nothing_left(person: Person) -> bool:
    """Whether the place for temporary files is empty."""
    return list((person.place / "temporary").iterdir()) == []


def test_edit_writes_a_new_version(person: Person, editor: Editor) -> None:
    """The edited text takes the old one's place, with all that was said of it; nothing stays outside."""
    old = person.remember("one quartz\n", "--title", "T", "--tag", "blue", "--kind", "lesson", "--ttl", "90d")
    seen = person.place / "seen"
    editor(
        "modes = [oct(one.stat().st_mode) for one in (path, path.parent)]\n"
        f"Path({str(seen)!r}).write_text(' '.join(modes))\n"
        "path.with_name('record.md~').write_text(path.read_text())\n"
        "path.write_text(path.read_text().replace('one', 'two'))"
    )
    new = person.ok("edit", old).strip()
    found, before = person.json("show", new), person.json("show", old)
    assert (found["text"], found["supersedes"]) == ("two quartz\n", [old])
    for field in ("title", "tags", "kind", "expires_at", "sensitivity", "retention_class", "privacy"):
        assert found[field] == before[field]
    assert [one["record_id"] for one in person.json("list")["items"]] == [new]
    assert seen.read_text() == "0o100600 0o40700"
    assert nothing_left(person)


@pytest.mark.parametrize("code", ["", "path.write_text(path.read_text() + '\\n')"])
def test_an_unchanged_text_writes_nothing(person: Person, editor: Editor, code: str) -> None:
    """Nothing is written if nothing changed, nor if the editor only ended the last line."""
    old = person.remember("one")
    editor(code)
    done = person("edit", old)
    assert (done.exit_code, done.stdout) == (0, "")
    assert "nothing is written" in done.stderr
    assert len(person.json("list")["items"]) == 1
    assert nothing_left(person)


@pytest.mark.parametrize(
    ("code", "exit_code"),
    [
        ("sys.exit(1)", 5), ("os.kill(os.getpid(), 9)", 5), ("path.unlink()", 3), ("path.write_text('')", 3),
        ("path.with_name('record.md~').write_text('one'); sys.exit(1)", 5),
        ("path.unlink(); path.symlink_to('/etc/passwd'); sys.exit(1)", 5),
        ("path.unlink(); os.mkfifo(path); sys.exit(1)", 5),
    ],
)  # fmt: skip
def test_an_editor_that_fails_writes_nothing(
    person: Person, editor: Editor, code: str, exit_code: int
) -> None:
    """Whatever goes wrong, no version is written, and where nothing was typed nothing stays outside."""
    old = person.remember("one")
    editor(code)
    assert person("edit", old).exit_code == exit_code
    assert [one["record_id"] for one in person.json("list")["items"]] == [old]
    assert nothing_left(person)


@pytest.mark.parametrize(
    ("code", "exit_code", "typed"),
    [
        ("path.write_text('x'); sys.exit(1)", 5, b"x"),
        ("path.write_text('x'); os.kill(os.getpid(), 9)", 5, b"x"),
        ("path.write_bytes(b'\\xff')", 3, b"\xff"),
        ("path.write_text('x' * 262_145)", 3, b"x" * 262_145),
        ("path.write_text('x' * 300_000)", 3, b"x" * 300_000),
        ("new = path.with_name('new'); new.write_text('x'); os.rename(new, path); sys.exit(1)", 5, b"x"),
    ],
)  # fmt: skip
def test_what_was_typed_is_kept(
    person: Person, editor: Editor, code: str, exit_code: int, typed: bytes
) -> None:
    """What somebody saved and cannot be written stays, alone and private, where the message says."""
    old = person.remember("one")
    editor(f"path.with_name('record.md~').write_text('one')\npath.with_name('more').mkdir()\n{code}")
    done = person("edit", old)
    assert done.exit_code == exit_code
    assert [one["record_id"] for one in person.json("list")["items"]] == [old]
    kept = kept_in(person)
    assert str(kept) in "".join(line.strip() for line in done.stderr.splitlines())
    assert kept.read_bytes() == typed
    assert [stat.S_IMODE(one.stat().st_mode) for one in (kept, kept.parent)] == [0o600, 0o700]


def kept_in(person: Person) -> Path:
    """The one file in the place for temporary files."""
    (folder,) = (person.place / "temporary").iterdir()
    (kept,) = folder.iterdir()
    return kept


def test_an_editor_that_is_none(person: Person, editor: Editor) -> None:
    """A command that is not there, or is no command, is named by its variables."""
    old = person.remember("one")
    editor("")
    for command in ("/nowhere/editor", "unbalanced 'quote"):
        done = person("edit", old, EDITOR=command)
        assert done.exit_code == 3
        assert "EDITOR" in done.stderr
    assert nothing_left(person)


def test_edit_where_the_temporary_files_are_the_store(person: Person) -> None:
    """The text is never written to a place inside the store or its trust home."""
    old = person.remember("one")
    for inside in (person.store, *person.trust.iterdir()):
        done = person("edit", old, XDG_RUNTIME_DIR=str(inside), EDITOR="true")
        assert done.exit_code == 3
        assert "outside the store" in done.stderr


def test_edit_of_what_is_not_current(person: Person, editor: Editor) -> None:
    """What is superseded is not edited, if only while the editor is open, nor what is denied."""
    old = person.remember("one")
    person.remember("two", "--supersedes", old)
    editor("path.write_text('three')")
    assert person("edit", old).exit_code == 5
    other = person.remember("other")
    own = {name: value for name, value in person.env.items() if value is not None}
    remember = [sys.executable, "-m", "nsstore", "remember", "meanwhile", "--supersedes", other]
    editor(
        "import subprocess\n"
        f"subprocess.run({remember!r}, env={dict(os.environ) | own!r}, cwd={str(HOUSE)!r}, check=True)\n"
        "path.write_text('three')"
    )
    assert nothing_left(person)
    assert person("edit", other).exit_code == 5
    assert kept_in(person).read_text() == "three"
    assert "three" not in [one["text"] for one in person.json("list")["items"]]
    assert person("edit", other, NSSTORE_AGENT="codex").exit_code == 4


def test_edit_of_what_a_grant_opens(person: Person, editor: Editor) -> None:
    """A record of another user or branch is refused before the editor opens; another session's is edited."""
    with nsstore.open(person.store, trust_home=person.trust) as store:
        who = Who(
            user="ada", project="atlas", session="other", agent="human", workspace=NA, branch=NA, baseline=NA
        )
        to, hand = asker(who), Hand.of(store)
        hand.grant(store, Kind.CROSS_SESSION, opens=Opens(sessions=(("session", "other"),)), to=to)
        hand.grant(store, Kind.GROUP_SHARE, Kind.CROSS_SESSION, to=to, opens=Opens(
            users=("bob",), sessions=(("session", "other"),)))  # fmt: skip
        whose = {
            "another session": who,
            "another user": msgspec.structs.replace(who, user="bob"),
            "another branch": msgspec.structs.replace(who, session="monday", branch="b"),
        }
        ids = {words: one.bind(store).remember("theirs").record_id for words, one in whose.items()}
    opened = person.place / "opened"
    editor(f"Path({str(opened)!r}).touch(); path.write_text('an hour of work')")
    for words in ("another user", "another branch"):
        done = person("edit", ids[words], "--allowed-branch", "b")
        assert done.exit_code == 5
        assert words in done.stderr
    assert not opened.exists()
    assert nothing_left(person)
    assert person("edit", ids["another session"]).exit_code == 0
    assert opened.exists()
    assert [one["text"] for one in person.json("list", "--every-session")["items"]] == ["an hour of work"]


@pytest.mark.parametrize("typed", ["", "path.write_text('typed')\n"])
def test_edit_that_is_told_to_end(person: Person, editor: Editor, typed: str) -> None:
    """Told to end while the editor is open, it writes nothing, and keeps nothing but what was saved."""
    old = person.remember("one")
    editor(f"import time\n{typed}Path('started').touch()\ntime.sleep(60)")
    own = {name: value for name, value in person.env.items() if value is not None}
    running = subprocess.Popen(
        [sys.executable, "-m", "nsstore", "edit", old],
        env={**os.environ, **own, "TMPDIR": str(person.place / "temporary"), "PYTHONPATH": str(HOUSE)},
        cwd=person.place,
        stderr=subprocess.DEVNULL,
    )
    until = time.monotonic() + 30
    while not (person.place / "started").exists() and time.monotonic() < until:
        time.sleep(0.01)
    assert not nothing_left(person)
    running.send_signal(signal.SIGTERM)
    assert running.wait(30) == 128 + signal.SIGTERM
    if typed:
        assert kept_in(person).read_text() == "typed"
    else:
        assert nothing_left(person)
    assert len(person.json("list")["items"]) == 1


def test_the_file_of_an_edit_is_private_under_any_umask(person: Person, editor: Editor) -> None:
    """Other users can neither read the file nor list its directory, whatever the umask."""
    old = person.remember("one")
    modes = person.place / "modes"
    editor(f"Path({str(modes)!r}).write_text(f'{{path.stat().st_mode}} {{path.parent.stat().st_mode}}')")
    before = os.umask(0)
    try:
        person("edit", old)
    finally:
        os.umask(before)
    assert all(stat.S_IMODE(int(mode)) & 0o077 == 0 for mode in modes.read_text().split())
