"""The gate of a store: a result that is known already, or else a self-test, one at a time."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from typing import Final

import msgspec

from nsstore.clock import utc_now
from nsstore.errors import InvalidInput, Refused, StoreError
from nsstore.gate.fingerprint import Fingerprint, fingerprint_of, process
from nsstore.gate.kept import NOTHING, Home, Kept, Result, read_named
from nsstore.gate.verdict import Gate
from nsstore.root import Root, check_path
from nsstore.root.scratch import require_able, scratch_in

VARIABLE: Final = "NSSTORE_GATE"
AUTO: Final = "auto"
REQUIRE: Final = "require"
MOST_NAMED: Final = 3
GREEN: Final = "its self-test is green here"
RED: Final = "the self-test of this build failed here at {}"
COULD_NOT: Final = "the self-test of this build could not run here ({})"
NONE_KEPT: Final = "no green self-test of this build is kept here, and this store is opened with gate=require"
NO_CASE: Final = "no case of its own: not all that has to be proven was tried"


class Proof(msgspec.Struct, frozen=True, kw_only=True):
    """What a run of the suite came to: green or not, how many cases passed, and each that failed.

    A case is told by its id and title.
    """

    green: bool
    passed: int
    failed: tuple[str, ...]


class CouldNotRun(Exception):
    """A self-test that says nothing about the build: the machine, or the suite itself, failed."""

    def told(self) -> StoreError:
        """The same as an error for whoever asked for the test."""
        cause = self.__cause__
        if isinstance(cause, StoreError):
            return cause
        return Refused(f"{COULD_NOT.format(self)}: it proves nothing", reason="self_test")


Prove = Callable[[str], Proof]
"""Runs the suite in a folder whose path it is given."""


class Mode(msgspec.Struct, frozen=True, kw_only=True):
    """How a store is opened: whether an unknown build is tested, and which file counts first."""

    tests: bool
    named: str | None = None

    @classmethod
    def of(cls, given: str | os.PathLike[str] | None) -> Mode:
        """``auto``, ``require`` or a path, as given, else as ``NSSTORE_GATE`` says, else ``auto``.

        Raises :class:`InvalidInput` for what is none of these.
        """
        chosen = os.environ.get(VARIABLE, AUTO) if given is None else given
        if chosen in (AUTO, REQUIRE):
            return cls(tests=chosen == AUTO)
        if given is None and not os.path.isabs(chosen):
            raise InvalidInput(f"{VARIABLE} must be {AUTO}, {REQUIRE} or an absolute path")
        return cls(tests=True, named=check_path(chosen, "gate"))


tested_here: Final[dict[Fingerprint, Result]] = {}
"""What this process tested itself: it holds for every store of it, wherever their results can be kept."""


def gate_of(root: Root, base: str, mode: Mode, prove: Prove) -> Gate:
    """The gate of the store at ``root`` whose trust home lies in ``base``.

    A result counts for the very fingerprint it is of, and the newest one does: of the file that the host
    named, of the trust home, and of this process. Without one the build is tested, unless the mode says that
    nothing is.
    Raises :class:`InvalidInput` and :class:`Refused` for a named file that is not to be believed, and nothing
    else: whatever is not proven is closed.
    """
    named = NOTHING if mode.named is None else read_named(mode.named, root.path)
    home = Home(base)
    try:
        fingerprint, kept = known_here(root, home, named)
        result = _newest(fingerprint, named, kept)
        if result is None and mode.tests:
            result = _tested_alone(root, home, fingerprint, prove)
    except CouldNotRun as why:
        return Gate(green=False, why=COULD_NOT.format(why))
    return Gate(green=False, why=NONE_KEPT) if result is None else _gate(result)


def known_here(root: Root, home: Home | None, named: Kept) -> tuple[Fingerprint, Kept]:
    """The fingerprint of this build at a root, and what the trust home keeps, where there is one to ask.

    Raises :class:`CouldNotRun` where it cannot be told which build this is.
    """
    kept = NOTHING if home is None else home.read()
    try:
        here = process.here(lambda: (*named.looked(), *kept.looked()))
        if here.read and here.look is not None and home is not None:
            with suppress(StoreError):  # then the next process reads the code as well
                home.keep(None, here.look)
        return fingerprint_of(here.build, root), kept
    except (StoreError, OSError) as err:
        raise CouldNotRun(_words(err)) from err


def _newest(fingerprint: Fingerprint, *kept: Kept) -> Result | None:
    """The newest word about a fingerprint, this process's own among them: a red one is not outlived."""
    found = [*(one.of(fingerprint) for one in kept), tested_here.get(fingerprint)]
    return max((one for one in found if one is not None), key=lambda one: one.at, default=None)


def test_now(root: Root, fingerprint: Fingerprint, prove: Prove) -> Result:
    """Test this build in a scratch folder at a root, whatever is known of it.

    Raises :class:`CouldNotRun` if that says nothing about the build: it is no result.
    """
    try:
        process.require_unchanged()
        with scratch_in(root) as folder:
            proof = prove(folder)
            process.require_unchanged()
            if not proof.green:
                require_able(folder)
    except Exception as err:
        raise CouldNotRun(_words(err)) from err
    result = Result(fingerprint=fingerprint, at=utc_now(), **msgspec.structs.asdict(proof))
    tested_here[fingerprint] = result
    return result


def _tested_alone(root: Root, home: Home, fingerprint: Fingerprint, prove: Prove) -> Result:
    """Test this build while nobody else does, unless somebody has just done so."""
    with home.alone():
        result = _newest(fingerprint, home.read())
        if result is None:
            result = test_now(root, fingerprint, prove)
            with suppress(StoreError):  # then it holds for this process
                home.keep(result, None)
        return result


def _gate(result: Result) -> Gate:
    if result.green:
        return Gate(green=True, why=GREEN)
    failed = "; ".join(result.failed[:MOST_NAMED]) or NO_CASE
    more = len(result.failed) - MOST_NAMED
    return Gate(green=False, why=RED.format(failed + (f"; and {more} more" if more > 0 else "")))


def _words(err: BaseException) -> str:
    """What is told of an error: ours say nothing of the host, of any other only its kind is told."""
    return str(err) if isinstance(err, StoreError) else type(err).__name__
