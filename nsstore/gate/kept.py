"""What came of self-tests, as it is kept: in the trust home under a key, or in a file that a host names."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager, suppress
from hmac import compare_digest
from typing import Final, Literal

import msgspec

from nsstore import digests
from nsstore.errors import EscapeError, InvalidInput, StoreError
from nsstore.gate.fingerprint import Fingerprint, Looked
from nsstore.root import Dir, File, FileLock, Root, overlap, real_path, system
from nsstore.root.owned import read_trusted
from nsstore.root.places import carried

WHAT: Final = "the trust home"
FOLDER: Final = "selftest"
KEY: Final = "key"
RESULTS: Final = "results"
LOCK: Final = "lock"
TESTING: Final = "testing.lock"
MOST_RESULTS: Final = 64
MOST_LOOKS: Final = 4
LIMIT: Final = 1024 * 1024
NAMED: Final = "the gate's file"
NOT_ONE: Final = f"{NAMED} is no result of a self-test, or was changed: `nsstore selftest --out` makes one"
INSIDE: Final = f"{NAMED} must lie outside the store, and outside of every git checkout, which could bring it"


class Result(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What came of one self-test: of which fingerprint, when, green or not, and what passed and failed."""

    fingerprint: Fingerprint
    at: str
    green: bool
    passed: int
    failed: tuple[str, ...]


class Kept(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Results, newest first, each fingerprint once; and how the code looked that they are about."""

    format: Literal[1] = 1
    results: tuple[Result, ...] = ()
    looks: msgspec.Raw = msgspec.Raw(b"[]")

    def of(self, fingerprint: Fingerprint) -> Result | None:
        """The result of a fingerprint, if there is one."""
        return next((one for one in self.results if one.fingerprint == fingerprint), None)

    def looked(self) -> tuple[Looked, ...]:
        """How the code looked, newest first."""
        try:
            return msgspec.json.decode(self.looks, type=tuple[Looked, ...])
        except msgspec.MsgspecError:
            return ()

    def plus(self, result: Result | None, look: Looked | None) -> Kept:
        """The same with one more of each, in the place of the one that it is newer than."""
        results, looks = list(self.results), list(self.looked())
        if result is not None:
            results = [result, *(one for one in results if one.fingerprint != result.fingerprint)]
        if look is not None:
            looks = [look, *(one for one in looks if one.folders != look.folders)]
        raw = msgspec.json.encode(looks[:MOST_LOOKS])
        return Kept(results=tuple(results[:MOST_RESULTS]), looks=msgspec.Raw(raw))


NOTHING: Final = Kept()


class Home:
    """Where the trust home keeps results: in one folder for every store whose keys lie beside it.

    A result is about a build and a kind of file system, and not about a store, so stores share it. It is
    MACed under a key of that folder together with the inode and the birth of the very file it was written
    to: edited, copied from anywhere or put back from a copy, it is none.
    """

    def __init__(self, base: str) -> None:
        self._base = base

    def read(self) -> Kept:
        """What is kept and believed; nothing where there is none, or it is not as it was written."""
        try:
            with Root.open(self._path(), writes=False, what=WHAT) as home, home.top() as top:
                return _read(top, _key(top))
        except (StoreError, OSError):
            return NOTHING

    def keep(self, result: Result | None, look: Looked | None) -> None:
        """Keep a result, a look at the code, or both, durably. Raises :class:`StoreError`."""
        with Root.make(self._path(), what=WHAT) as home, home.top() as top, FileLock(top, LOCK):
            key = _key(top)
            if key is None:
                key = os.urandom(digests.SIZE)
                top.replace(KEY, key)
            _write(top, key, _read(top, key).plus(result, look))

    @contextmanager
    def alone(self) -> Generator[None]:
        """Keep other processes and threads from testing meanwhile, as far as that can be done."""
        with ExitStack() as held:
            with suppress(StoreError), Root.make(self._path(), what=WHAT) as home, home.top() as top:
                held.enter_context(FileLock(top, TESTING))
            yield

    def _path(self) -> str:
        """The folder, which is no link to another one. Raises :class:`EscapeError`."""
        path = os.path.join(real_path(self._base), FOLDER)
        if real_path(path) != path:
            raise EscapeError(f"a link stands where a directory of {WHAT} belongs")
        return path


def read_named(path: str, root: str) -> Kept:
    """What a file holds that the host names: believed because of who owns it, and where it lies.

    Raises :class:`InvalidInput` for one that is missing, damaged, inside ``root`` or in a checkout,
    :class:`Refused` for one that others may write.
    """
    if overlap(path, root) or carried(path):
        raise InvalidInput(INSIDE)
    raw = read_trusted(path, LIMIT, NAMED)
    kept = None if raw is None else _decoded(raw, lambda body: digests.digest(digests.SELFTEST, body))
    if kept is None:
        raise InvalidInput(NOT_ONE)
    return kept


def spelled(kept: Kept) -> bytes:
    """The file that a host can name."""
    body = msgspec.json.encode(kept)
    return _framed(body, digests.digest(digests.SELFTEST, body))


def _key(top: Dir) -> bytes | None:
    """The key of a folder, if it has one that only its owner can have written."""
    with suppress(StoreError):
        key = top.read(KEY, digests.SIZE)
        if key is not None and len(key) == digests.SIZE:
            return key
    return None


def _read(top: Dir, key: bytes | None) -> Kept:
    """The results of a folder, if they are those that were written into this very file."""
    with suppress(StoreError):
        file = top.open(RESULTS) if key is not None else None
        if file is not None and key is not None:
            with file:
                raw, place = file.read(LIMIT), _place(file)
            return _decoded(raw, lambda body: digests.mac(key, digests.SELFTEST, place, body)) or NOTHING
    return NOTHING


def _write(top: Dir, key: bytes, kept: Kept) -> None:
    """Put a new file in the place of the one before; a reader who finds none in between tests once more."""
    body, draft = msgspec.json.encode(kept), f"{RESULTS}.{os.urandom(8).hex()}"
    for left in top.names():
        if left.startswith(f"{RESULTS}."):  # of somebody who was killed, since the lock is held
            top.unlink(left, flush=False)
    try:
        with top.publish(draft, b"") as file:
            file.write_at(0, _framed(body, digests.mac(key, digests.SELFTEST, _place(file), body)))
            file.flush()
        top.unlink(RESULTS, flush=False)
        top.move(draft, top, RESULTS)
    except BaseException:
        with suppress(StoreError):
            top.unlink(draft, flush=False)
        raise


def _place(file: File) -> bytes:
    """Which file it is: a copy of it, and one that is put back from a copy, is another one."""
    return digests.lp(str(file.stat().st_ino), str(system.birth(file.fd)))


def _framed(body: bytes, proof: bytes) -> bytes:
    return b"%b\n%b\n" % (body, proof.hex().encode())


def _decoded(raw: bytes, prove: Callable[[bytes], bytes]) -> Kept | None:
    """What a body and its proof hold; ``None`` for anything else."""
    body, _, rest = raw.partition(b"\n")
    if not compare_digest(rest, prove(body).hex().encode() + b"\n"):
        return None
    try:
        return msgspec.json.decode(body, type=Kept)
    except msgspec.MsgspecError:
        return None
