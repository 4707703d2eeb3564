"""A fingerprint is of this very code, engines, Python and kind of file system, and is told fast."""

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from nsstore.errors import SystemFailure
from nsstore.gate import fingerprint as fingerprints
from nsstore.gate.fingerprint import fingerprint_of, process
from nsstore.gate.testing import tested_here
from nsstore.root import Root, WalkOpener
from nsstore.root.code import folder_of
from tests.gate.conftest import Code, Place, start_afresh


def in_place(file: Path, text: str) -> None:
    """Change a file without making a new one, and give it its old times back."""
    before = file.stat()
    with file.open("r+") as out:
        out.write(text)
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))


CHANGES: dict[str, Callable[[Code], object]] = {
    "a byte": lambda code: in_place(code.place / "nsstore/__init__.py", "one = 2\n"),
    "a line": lambda code: code.write("nsstore/store/store.py", "two = 2\nthree = 3\n"),
    "another file": lambda code: code.write("nsstore/store/more.py", ""),
    "an extension before a module": lambda code: code.write("nsstore/store/store.abi3.so", "x"),
    "a file less": lambda code: (code.place / "nsstore/store/store.py").unlink(),
    "another name": lambda code: (code.place / "nsstore/store").rename(code.place / "nsstore/shop"),
    "another tantivy": lambda code: in_place(code.place / "tantivy/tantivy.abi3.so", "ENGINE"),
    "another msgspec": lambda code: in_place(code.place / "msgspec/_core.so", "CODEC"),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
def test_whatever_is_changed_is_another_one(
    place: Place, code: Code, change: Callable[[Code], object]
) -> None:
    """A line of the code, a file more or less, an engine: the build is unknown, and is tested again."""
    first = place.fingerprint()
    assert place.gate().green
    change(code)
    assert place.fingerprint() != first
    assert place.gate().green
    assert place.tries.count == 2


def test_the_same_is_the_same_one(place: Place, code: Code) -> None:
    """Files that were copied, touched or compiled are the same build, and are not tested again."""
    first = place.fingerprint()
    assert place.gate().green
    file = code.place / "nsstore/__init__.py"
    text = file.read_text()
    file.unlink()
    file.write_text(text)
    (code.place / "nsstore/__pycache__").mkdir()
    code.write("nsstore/__pycache__/store.cpython-311.pyc", "compiled")
    assert place.fingerprint() == first
    assert place.gate().green
    assert place.tries.count == 1


def test_another_file_system_is_another_one(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another kind of file system, and another way to open or write files on it, is tested again."""
    build = process.here(lambda: ()).build
    with Root.open(place.root) as root:
        usual = fingerprint_of(build, root)
        for name, value in (
            ("filesystem", "nfs"),
            ("opener", WalkOpener()),
            ("unnamed_files", not root.unnamed_files),
            ("exact_times", not root.exact_times),
        ):
            with monkeypatch.context() as patch:
                patch.setattr(root, name, value)
                assert fingerprint_of(build, root) != usual, name


def test_another_python_is_another_one(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another interpreter is another build, although every file looks as it did."""
    settle()
    first = place.fingerprint()
    monkeypatch.setattr(sys, "version", "9.9.9 (main)")
    assert place.fingerprint().python.split()[1].startswith("9.9.9")
    assert place.fingerprint() != first


def test_another_suite_is_another_one(place: Place, code: Code) -> None:
    """What the suite holds is a part of its own, told apart from the rest of the code."""
    first = place.fingerprint()
    code.write("nsstore/store/store.py", "two = 3\n")
    second = place.fingerprint()
    code.write("nsstore/harness/cases.py", "case = 1\n")
    third = place.fingerprint()
    assert first.suite == second.suite != third.suite
    assert len({first.code, second.code, third.code}) == 3


def test_files_that_look_as_they_did_are_not_read(
    place: Place, code: Code, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next process only looks at the files; where one looks otherwise they are read."""
    settle()
    first = place.fingerprint()

    def read(*_: object) -> str:
        raise AssertionError("the code was read")

    with monkeypatch.context() as patch:
        patch.setattr(fingerprints, "digest_of", read)
        assert place.fingerprint() == first
        code.write("nsstore/store/store.py", "two = 3\n")
        with pytest.raises(AssertionError, match="read"):
            place.fingerprint()


def test_an_opening_looks_at_no_file(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """The files are looked at when the code is imported: an opening after that asks nothing of them."""
    settle()
    assert place.gate().green
    start_afresh()

    def look(*_: object) -> str:
        raise AssertionError("the files were looked at")

    monkeypatch.setattr(fingerprints, "files_of", look)
    monkeypatch.setattr(fingerprints, "folder_of", look)
    for _ in range(2):
        assert place.again().green
    assert place.tries.count == 1


def test_a_file_that_just_changed_is_not_remembered(place: Place, code: Code) -> None:
    """What changes twice in one tick of the clock looks the same, so it is read by the next process too."""
    code.write("nsstore/store/store.py", "two = 3\n")
    place.fingerprint()
    assert process.here(lambda: ()).look is None


def test_code_that_changed_since_it_was_imported_is_not_told(place: Place, code: Code) -> None:
    """A process that imported one build and finds another on the disk is neither: closed, and told why."""
    start_afresh()
    code.write("nsstore/store/store.py", "two = 3\n")
    gate = place.again()
    assert not gate.green
    assert "start it again" in gate.why
    assert place.tries.count == 0
    assert place.gate().green


def test_a_known_build_goes_on_after_an_upgrade(place: Place, code: Code) -> None:
    """A process whose build is known keeps it; what it does not know it cannot test any more."""
    settle()
    assert place.gate().green
    start_afresh()
    code.write("nsstore/store/store.py", "two = 3\n")
    assert place.again().green
    os.unlink(place.results)
    tested_here.clear()
    assert "start it again" in place.again().why
    assert place.tries.count == 1


def test_code_that_changes_during_a_test_is_not_proven(place: Place, code: Code) -> None:
    """A line that is changed while the suite runs makes its result one about nothing."""
    place.tries.meanwhile = lambda _: code.write("nsstore/store/store.py", "two = 3\n")
    assert "start it again" in place.gate().why
    place.tries.meanwhile = str
    assert place.gate().green
    assert place.tries.count == 2


def test_code_that_is_no_files_is_not_told(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program in an archive, or one that lost a package, has no fingerprint: closed, and said."""

    def nowhere(package: str) -> str:
        return folder_of(f"{package}_not_there")

    monkeypatch.setattr(fingerprints, "folder_of", nowhere)
    start_afresh()
    with pytest.raises(SystemFailure, match="not installed as files"):
        process.here(lambda: ())
    gate = place.gate()
    assert not gate.green
    assert "not installed as files" in gate.why
    assert place.tries.count == 0


def test_the_real_program_is_told_once() -> None:
    """Of this very program a second look costs next to nothing, in this process, and little in another."""
    start_afresh()
    real = [folder_of(package) for package in ("nsstore", "nsstore.harness", "tantivy", "msgspec")]
    assert all(os.path.isdir(folder) for folder in real)
    here = process.here(lambda: ())
    assert here.read
    assert len(here.build.code) == 64
    assert here.build.tantivy.split()[0][0].isdigit()
    began = time.perf_counter()
    assert process.here(lambda: ()).build == here.build
    assert time.perf_counter() - began < 0.01


def settle() -> None:
    """Wait until the files of a program have not changed for a moment."""
    time.sleep(0.05)
