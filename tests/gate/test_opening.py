"""Opening a store: when it is tested, which results count, and which settings are refused."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import nsstore
from bench.world import Who, World
from nsstore import InvalidInput, OpenStore, Refused
from nsstore.gate import Home, Kept, Result, fingerprint
from nsstore.gate.kept import NOTHING, spelled
from nsstore.gate.testing import VARIABLE
from tests.gate.conftest import RED, Code, Place, Tries, start_afresh

ME = Who()
NOBODY = 65534


@pytest.fixture
def store(world: World) -> World:
    """A store that was made by a process that is gone, which tested what it ran."""
    world.make().close()
    start_afresh()
    return world


@pytest.fixture
def named(tmp_path: Path, store: World, tries: Tries) -> Path:
    """A file with a green result of this build on this file system, made by hand."""
    place = Place.__new__(Place)
    place.base, place.root, place.tries = store.trust, store.root, tries
    folder = tmp_path / "etc"
    folder.mkdir(mode=0o700)
    return write(folder / "gate", place, green=True)


def write(file: Path, place: Place, *, green: bool, at: str = "2026-01-01T00:00:00.000000Z") -> Path:
    """A file with one result."""
    result = Result(
        fingerprint=place.fingerprint(), at=at, green=green, passed=3, failed=() if green else RED.failed
    )
    file.write_bytes(spelled(Kept(results=(result,))))
    file.chmod(0o644)
    start_afresh()
    return file


def open_with(world: World, gate: str | Path | None = None) -> OpenStore:
    """The store as a process opens it that starts now."""
    start_afresh()
    return nsstore.open(world.root, trust_home=world.trust, gate=gate)


def is_green(world: World, gate: str | Path | None = None) -> bool:
    """Whether search is open to whoever opens the store now."""
    with open_with(world, gate) as store:
        return store.gate.green


def unknown(world: World) -> None:
    """Let nothing be known of this build."""
    for file in (world.trust / "selftest").iterdir():
        file.unlink()
    start_afresh()


def test_a_store_is_tested_when_it_is_made(world: World, tries: Tries) -> None:
    """The first opening tests the build in a scratch folder of the store's, and leaves nothing there."""
    tries.meanwhile = lambda folder: (folder / "left").write_text("behind")
    with world.make() as store:
        assert store.gate.green
    (folder,) = tries.folders
    assert folder.parent == world.root / "tmp"
    assert list((world.root / "tmp").iterdir()) == []
    assert is_green(world)
    assert tries.count == 1


def test_stores_share_a_result(world: World, tries: Tries) -> None:
    """Another store whose keys lie beside these is not tested: a result is about a build."""
    world.make().close()
    with nsstore.open(world.place / "second", create=True, trust_home=world.trust) as second:
        assert second.gate.green
    assert tries.count == 1


def test_one_process_tests_once(tmp_path: Path, world: World, tries: Tries) -> None:
    """Many stores with trust homes of their own, as a test suite makes them, are tested once in a process."""
    for number in range(3):
        place = World(place=tmp_path / str(number))
        place.place.mkdir()
        place.make().close()
    world.make().close()
    assert tries.count == 1


def test_require_tests_nothing(store: World, tries: Tries) -> None:
    """With ``require`` a known result counts, and without one search is closed, which nothing is run for."""
    assert is_green(store, "require")
    unknown(store)
    with open_with(store, "require") as opened:
        assert not opened.gate.green
        with pytest.raises(Refused, match="gate=require"):
            ME.bind(opened).search("train")
        ME.bind(opened).remember("still open")
    assert tries.count == 1
    assert is_green(store, "auto")
    assert tries.count == 2


def test_a_red_build_is_closed_and_still_opens(store: World, tries: Tries) -> None:
    """Red closes search in every process to come, and no store refuses to be opened because of it."""
    unknown(store)
    tries.proof = RED
    for _ in range(2):
        with open_with(store) as opened, pytest.raises(Refused, match="AC05"):
            ME.bind(opened).search("train")
    assert tries.count == 2


def test_a_named_result_counts(store: World, tries: Tries, named: Path) -> None:
    """A file that the host names is enough: nothing is tested, and nothing is kept for it."""
    unknown(store)
    assert is_green(store, named)
    assert is_green(store, os.fspath(named))
    assert tries.count == 1
    assert Home(str(store.trust)).read().results == ()


def test_the_variable_names_it_too(
    store: World, tries: Tries, named: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """``NSSTORE_GATE`` says the same where no argument does, and an argument wins."""
    unknown(store)
    monkeypatch.setenv(VARIABLE, str(named))
    assert is_green(store)
    assert not is_green(store, "require")
    monkeypatch.setenv(VARIABLE, "require")
    assert not is_green(store)
    assert is_green(store, named)
    assert tries.count == 1


def test_a_named_result_of_another_build_is_none(store: World, tries: Tries, named: Path, code: Code) -> None:
    """After an upgrade the file is about something else: the build is tested as if nothing were named."""
    code.write("nsstore/__init__.py", "one = 11\n")
    assert is_green(store, named)
    assert tries.count == 2


def test_a_named_red_result_closes(store: World, tries: Tries, named: Path, place: Place) -> None:
    """The newest word about a build counts, wherever it is kept: green in a file, red in the trust home."""
    write(named, place, green=False, at="2999-01-01T00:00:00.000000Z")
    assert not is_green(store, named)
    write(named, place, green=True)
    unknown(store)
    tries.proof = RED
    assert not is_green(store)
    assert not is_green(store, named)


BAD = {
    "empty": ("", "gate"),
    "relative": ("gate", "absolute"),
    "a word": ("open", "absolute"),
    "missing": ("/nonexistent/gate", "no result"),
    "with a NUL": ("/etc/\0gate", "NUL"),
}


@pytest.mark.parametrize(("value", "words"), [one for one in BAD.values() if "\0" not in one[0]])
def test_a_bad_variable_is_refused(
    store: World, monkeypatch: pytest.MonkeyPatch, value: str, words: str
) -> None:
    """A variable that is empty, relative, or names nothing is a mistake that is told, never a default."""
    monkeypatch.setenv(VARIABLE, value)
    with pytest.raises(InvalidInput, match=words.replace("gate", "absolute") if not value else words):
        open_with(store)


def test_a_bad_argument_is_refused(store: World) -> None:
    """So is an argument; what was opened by then is closed again."""
    for value, words in (BAD["missing"], BAD["with a NUL"], ("", "empty")):
        before = len(os.listdir("/proc/self/fd"))
        with pytest.raises(InvalidInput, match=words):
            open_with(store, value)
        assert len(os.listdir("/proc/self/fd")) == before


def in_checkout(file: Path, _: World) -> Path:
    """In a git checkout."""
    (file.parent / ".git").mkdir()
    return file


def through_checkout(file: Path, _: World) -> Path:
    """Outside, by a link that a checkout brings along."""
    checkout = file.parent.parent / "checkout"
    (checkout / ".git").mkdir(parents=True)
    (checkout / "gate").symlink_to(file)
    return checkout / "gate"


def into_checkout(file: Path, _: World) -> Path:
    """In a checkout, by a link outside it."""
    checkout = file.parent.parent / "checkout"
    (checkout / ".git").mkdir(parents=True)
    file.rename(checkout / "gate")
    file.symlink_to(checkout / "gate")
    return file


def by_folder(file: Path, _: World) -> Path:
    """In a checkout, by a link to its folder and back out."""
    checkout = file.parent.parent / "checkout"
    (checkout / ".git").mkdir(parents=True)
    (file.parent / "way").symlink_to(checkout)
    return file.parent / "way" / ".." / "etc" / "gate"


def in_store(file: Path, world: World) -> Path:
    """In the root, which proves nothing of itself."""
    return file.rename(world.root / "gate")


def writable(file: Path, _: World) -> Path:
    """Open to others."""
    file.chmod(0o666)
    return file


def in_open_folder(file: Path, _: World) -> Path:
    """Where others can put another one in its place."""
    file.parent.chmod(0o777)
    return file


def anothers(file: Path, _: World) -> Path:
    """Another user's."""
    if os.geteuid() != 0:
        pytest.skip("only root gives a file away")
    os.chown(file, NOBODY, NOBODY)
    return file


def edited(file: Path, _: World) -> Path:
    """Changed since it was made."""
    file.write_bytes(file.read_bytes().replace(b'"passed":3', b'"passed":4'))
    return file


def a_pipe(file: Path, _: World) -> Path:
    """No file."""
    file.unlink()
    os.mkfifo(file, 0o600)
    return file


@pytest.mark.parametrize(
    "spoil",
    [
        in_checkout, through_checkout, into_checkout, by_folder, in_store, writable, in_open_folder,
        anothers, edited, a_pipe,
    ],
)  # fmt: skip
def test_a_file_that_somebody_brought_is_refused(
    store: World, tries: Tries, named: Path, spoil: Callable[[Path, World], Path]
) -> None:
    """A named file counts only where nobody but its owner could have put it; the path is not told."""
    file = spoil(named, store)
    with pytest.raises((InvalidInput, Refused)) as caught:
        open_with(store, file)
    assert str(store.place) not in str(caught.value)
    assert tries.count == 1


def test_a_result_copied_into_a_file_is_none(store: World, named: Path) -> None:
    """What the trust home keeps is no file to be named, and a named file is nothing that it keeps."""
    kept = store.trust / "selftest" / "results"
    named.write_bytes(kept.read_bytes())
    with pytest.raises(InvalidInput, match="no result"):
        open_with(store, named)


def test_a_named_file_put_in_the_trust_home_is_none(store: World, tries: Tries, named: Path) -> None:
    """A file that anybody can make opens nothing from where only a key proves it."""
    (store.trust / "selftest" / "results").write_bytes(named.read_bytes())
    tries.proof = RED
    assert not is_green(store)


def test_a_named_file_without_results_is_none(store: World, tries: Tries, named: Path) -> None:
    """An empty list of results proves nothing: the build is tested."""
    unknown(store)
    named.write_bytes(spelled(NOTHING))
    assert is_green(store, named)
    assert tries.count == 2


def test_code_that_is_not_told_is_closed(
    store: World, tries: Tries, named: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where nobody can tell which code this is, not even a named result opens anything."""

    def lost(*_: object) -> str:
        raise nsstore.SystemFailure("reading", OSError(5, ""))

    monkeypatch.setattr(fingerprint, "folder_of", lost)
    assert not is_green(store, named)
    assert tries.count == 1


def test_green_needs_no_suite(tmp_path: Path) -> None:
    """The real program tests itself once, green; the next process imports nothing of the suite."""
    code = (
        "import sys, nsstore\n"
        f"with nsstore.open({str(tmp_path / 'root')!r}, create=True, trust_home={str(tmp_path / 'trust')!r})"
        " as store:\n"
        "    print(store.gate.green, store.gate.why)\n"
        "print(sum(name.startswith('nsstore.harness') for name in sys.modules))\n"
    )
    said: list[list[str]] = []
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", code],
            capture_output=True,
            text=True,
            check=True,
            cwd=tmp_path,
        )
        said.append(done.stdout.splitlines())
    assert said[0][0] == said[1][0] == "True its self-test is green here"
    assert int(said[0][1]) > 10
    assert said[1][1] == "0"
    assert list((tmp_path / "root" / "tmp").iterdir()) == []
