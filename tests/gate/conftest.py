"""A small program instead of this one, a suite that a test writes, and a process that knows nothing yet."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from bench.world import World
from nsstore import opening
from nsstore.gate import Fingerprint, Mode, Proof, fingerprint, known_here, testing
from nsstore.gate.kept import NOTHING, Home
from nsstore.gate.testing import VARIABLE, gate_of
from nsstore.gate.verdict import Gate
from nsstore.root import Root

GREEN: Final = Proof(green=True, passed=3, failed=())
RED: Final = Proof(green=False, passed=2, failed=("AC05 Another tenant is denied",))


class Tries:
    """A suite that comes to what a test says, and counts how often it is run."""

    def __init__(self) -> None:
        self.proof = GREEN
        self.folders: list[Path] = []
        self.meanwhile: Callable[[Path], object] = str

    @property
    def count(self) -> int:
        return len(self.folders)

    def __call__(self, folder: str) -> Proof:
        self.folders.append(Path(folder))
        self.meanwhile(Path(folder))
        return self.proof


class Code:
    """The files of a program and its engines, which a test may change."""

    def __init__(self, place: Path) -> None:
        self.place = place
        for name in ("nsstore", "nsstore/store", "nsstore/harness", "tantivy", "msgspec"):
            (place / name).mkdir(parents=True)
        self.write("nsstore/__init__.py", "one = 1\n")
        self.write("nsstore/store/store.py", "two = 2\n")
        self.write("tantivy/tantivy.abi3.so", "engine")
        self.write("msgspec/_core.so", "codec")
        (place / "tantivy-0.27.0.dist-info").mkdir()

    def write(self, name: str, text: str) -> Path:
        file = self.place / name
        file.write_text(text)
        return file

    def folder_of(self, package: str) -> str:
        found = {"nsstore.search": "nsstore/search", "nsstore.writers": "nsstore/writers"}
        return str(self.place / found.get(package, package.replace(".", "/")))


class Place:
    """A store's root and the base of its trust home, with what a process knows when it starts."""

    def __init__(self, place: Path, tries: Tries) -> None:
        self.base = place / "trust"
        self.root = place / "root"
        self.tries = tries
        Root.make(self.root).close()

    def gate(self, mode: Mode | None = None) -> Gate:
        """The gate that a process finds which starts now."""
        start_afresh()
        return self.again(mode)

    def again(self, mode: Mode | None = None) -> Gate:
        """The gate that this very process finds."""
        with Root.open(self.root) as root:
            return gate_of(root, str(self.base), mode or Mode(tests=True), self.tries)

    def fingerprint(self) -> Fingerprint:
        """What the next self-test is about."""
        start_afresh()
        with Root.open(self.root) as root:
            return known_here(root, Home(str(self.base)), NOTHING)[0]

    @property
    def results(self) -> Path:
        return self.base / "selftest" / "results"


def start_afresh() -> None:
    """Forget what this process found out, as another one would not know it."""
    fingerprint.process.start()
    testing.tested_here.clear()


@pytest.fixture(autouse=True)
def process(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that knows nothing, and to which nobody named a result."""
    for name in ("_seen", "_here"):
        monkeypatch.setattr(fingerprint.process, name, None)
    monkeypatch.setattr(testing, "tested_here", {})
    monkeypatch.delenv(VARIABLE, raising=False)


@pytest.fixture
def code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Code:
    """The program that is run, as far as a fingerprint is concerned."""
    made = Code(tmp_path / "code")
    monkeypatch.setattr(fingerprint, "folder_of", made.folder_of)
    return made


@pytest.fixture
def tries() -> Tries:
    """A suite that is green until a test says otherwise."""
    return Tries()


@pytest.fixture
def place(tmp_path: Path, code: Code, tries: Tries) -> Place:  # noqa: ARG001 - that program is run
    """A root, and beside it an empty trust home."""
    return Place(tmp_path, tries)


@pytest.fixture
def world(
    tmp_path: Path,
    code: Code,  # noqa: ARG001 - that program is run
    tries: Tries,
    monkeypatch: pytest.MonkeyPatch,
) -> World:
    """Where a store can be made whose gate asks that suite."""
    monkeypatch.setattr(opening, "prove", tries)
    monkeypatch.setenv("NSSTORE_CACHE_HOME", str(tmp_path / "cache"))
    return World(place=tmp_path)
