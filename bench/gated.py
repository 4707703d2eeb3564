"""A gate that is green for one run: tests and benchmarks try a store, and not its self-test once for each."""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final
from unittest.mock import patch

from msgspec.structs import asdict

from nsstore.clock import utc_now
from nsstore.errors import SystemFailure
from nsstore.gate import Build, Fingerprint, Kept, Result, fingerprint_of, process, spelled
from nsstore.gate.testing import VARIABLE
from nsstore.root import Root

KINDS: Final = ("ext4", "xfs", "btrfs", "tmpfs", "overlayfs")
"""The file systems that tests and trials make for themselves, beside the one that they run on."""
WAYS: Final = (("openat2", "walk"), ("unnamed", "named"), ("exact", "coarse"))
"""How a system may let a root be worked on: tests play the poorer ones."""


@contextmanager
def green() -> Generator[None]:
    """A run, and processes that it starts, whose stores are not tested: ``NSSTORE_GATE`` says green."""
    with TemporaryDirectory(prefix="nsstore-gate-") as folder:
        Path(folder).chmod(0o755)  # some tests go on as another user
        file = str(green_file(Path(folder)))
        with patch.dict(os.environ, {VARIABLE: file}):
            yield


def green_file(folder: Path) -> Path:
    """A file that says of this build, on the file systems that tests use, that it is green.

    Whether it is green is for the suite's own tests to say.
    """
    try:
        here = process.here(lambda: ())
    except SystemFailure:  # somebody saved a file while the tests were being collected
        process.start()
        here = process.here(lambda: ())
    results: list[Result] = []
    for kind in sorted({_kind(folder, here.build), *KINDS}):
        for ways in product(*WAYS):
            whole = Fingerprint(**asdict(here.build), filesystem=" ".join((kind, *ways)))
            results.append(Result(fingerprint=whole, at=utc_now(), green=True, passed=0, failed=()))
    file = folder / "green"
    file.write_bytes(spelled(Kept(results=tuple(results)).plus(None, here.look)))
    file.chmod(0o644)
    return file


def _kind(place: Path, build: Build) -> str:
    """The file system that a directory is on."""
    with TemporaryDirectory(dir=place, prefix="nsstore-gate-") as probe, Root.open(probe) as root:
        return fingerprint_of(build, root).filesystem.split()[0]
