"""Opening a store for a program: with the gate, and with the suite that the gate asks of.

This is the one place where store, gate and suite meet. The suite is imported when a self-test is run, and not
where the result of one is known.
"""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

import msgspec

from nsstore.errors import StoreError
from nsstore.gate import (
    NOTHING,
    CouldNotRun,
    Home,
    Mode,
    Proof,
    Result,
    gate_of,
    known_here,
    process,
    spelled,
    test_now,
)
from nsstore.root import Root, is_free
from nsstore.root.named import require_new, require_outside, write_new
from nsstore.root.scratch import scratch
from nsstore.session import OpenStore
from nsstore.session import open_store as open_untested
from nsstore.store import open_root
from nsstore.trust import base

if TYPE_CHECKING:
    from nsstore.harness.case import Report

OUT: Final = "--out"
READABLE: Final = 0o644
"""Whoever runs the program in an image may be another user than who made it; there is no secret in it."""


def open_store(
    path: str | os.PathLike[str],
    *,
    create: bool = False,
    trust_home: str | os.PathLike[str] | None = None,
    gate: str | os.PathLike[str] | None = None,
) -> OpenStore:
    """Open the store at ``path``; with ``create``, make it first where the directory is absent or empty.

    Opening makes nothing in the store. The trust home is ``trust_home``, else ``NSSTORE_TRUST_HOME``, else
    the user's state directory. Where no self-test of this very build on such a file system is known, it is
    run now, in a scratch folder of the store's (about two seconds, once): ``gate`` is ``"auto"`` for that,
    ``"require"`` to run none, or the path of a file that ``nsstore selftest --out`` made; left out, it is
    ``NSSTORE_GATE``, else ``"auto"``. Unless it is green, search is closed, and the rest is not.

    Raises :class:`InvalidInput` if there is no store, or for a setting that is wrong, :class:`Refused` if its
    keys are not here, it is bound to another place, or ``create`` would put an empty store in the place of
    one that was written to and is gone.
    """
    mode = Mode.of(gate)
    store = open_untested(path, create=create, trust_home=trust_home)
    try:
        store.gate = gate_of(store.root, base(trust_home), mode, prove)
    except BaseException:
        store.close()
        raise
    return store


class Tested(msgspec.Struct, frozen=True, kw_only=True):
    """A self-test that was run: what came of it, and why that could not be kept, if it could not."""

    result: Result
    unkept: str | None = None


def selftest(
    path: str | None, *, trust_home: str | os.PathLike[str] | None = None, out: str | None = None
) -> Tested:
    """Test this build where the store at ``path`` is, or would be, whatever is known of it, and keep that.

    It is kept in the trust home, or in ``out``, a new file that anybody may read and a host can name.
    Without a path it is tested where temporary files are. Raises :class:`InvalidInput`, :class:`Refused` as
    opening the store does, and :class:`StoreError` if the test could not be run.
    """
    home = None if out is not None else Home(base(trust_home))
    with _place(path, trust_home) as root:
        if out is not None:
            require_new(out, OUT)
            require_outside(out, OUT, root.path)
        try:
            fingerprint, _ = known_here(root, home, NOTHING)
            result = test_now(root, fingerprint, prove)
        except CouldNotRun as why:
            raise why.told() from None
    if out is not None:
        look = process.here(NOTHING.looked).look
        write_new(out, spelled(NOTHING.plus(result, look)), OUT, mode=READABLE)
    elif home is not None:
        try:
            home.keep(result, None)
        except StoreError as err:
            return Tested(result=result, unkept=str(err))
    return Tested(result=result)


@contextmanager
def _place(path: str | None, trust_home: str | os.PathLike[str] | None) -> Generator[Root]:
    """The root of a store, or, where none is yet, a folder that is gone afterwards."""
    if path is not None and not is_free(path):
        root, trust = open_root(path, trust_home)
        trust.close()
        with root:
            yield root
    else:
        with scratch("selftest", above=path) as folder, Root.open(folder) as root:
            yield root


def prove(folder: str) -> Proof:
    """Run the quick suite against stores that are made in a folder."""
    from nsstore.harness.own import makes  # noqa: PLC0415 - where the result is known it is not needed
    from nsstore.harness.running import run  # noqa: PLC0415 - as above

    return proof_of(run(makes(folder)))


def proof_of(report: Report) -> Proof:
    """What the gate takes from a report."""
    failed = report.failed()
    return Proof(
        green=report.green,
        passed=report.passed,
        failed=tuple(f"{one.case.id} {one.case.title}" for one in failed),
    )
