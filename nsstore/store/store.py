"""A store: one root, its trust home, its audit, and the namespaces this process has looked at."""

from __future__ import annotations

import os
import re
import threading
import weakref
from collections import OrderedDict
from types import TracebackType
from typing import Final, Self

import msgspec

from nsstore.audit import AuditLog
from nsstore.errors import InvalidInput, Refused
from nsstore.root import (
    Root,
    flusher,
    holds,
    is_free,
    is_there,
    lies_in_one_that_holds,
    remove_empty,
)
from nsstore.scope import Namespace
from nsstore.store.leaf import Leaf
from nsstore.store.survey import Place
from nsstore.store.witness import Witness
from nsstore.trust import Trust, create_trust, open_trust, rebind

STORE_FILE: Final = "store.json"
NO_STORE: Final = "there is no store here: `nsstore init`, or open(path, create=True) in Python, makes one"
MAX_MEMBERS: Final = 200_000
MAX_LEAVES: Final = 2_000
MAX_WRITTEN: Final = 8
_ID: Final = re.compile(r"[0-9a-f]{32}")


class _Claim(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What ``store.json`` says: a claim only, which the trust home has to bear out."""

    format: int
    store_id: str


class Store:
    """An open store. Close it, or use it as a context manager: closing makes everything durable.

    One that is dropped gives its descriptors back as well, and its routine appends are durable within
    a second: nothing that belongs to a store refers back to it but weakly.
    """

    def __init__(self, root: Root, trust: Trust) -> None:
        self.root = root
        self.trust = trust
        self.audit = AuditLog(root, trust)
        self.witness = Witness(self.audit, trust.keys)
        self._leaves: OrderedDict[Namespace, Leaf] = OrderedDict()
        self._written: OrderedDict[Namespace, Leaf] = OrderedDict()
        self._lock = threading.RLock()
        self.last_written: Leaf | None = None
        self._last: Leaf | None = None
        self._pid = os.getpid()

    @property
    def store_id(self) -> str:
        return self.trust.store_id.hex()

    def leaf(self, ns: Namespace) -> Leaf:
        """The one state this process has of a namespace; the least recently used ones are let go."""
        if self._pid != os.getpid():
            self._start_afresh()
        if self.root.fd < 0:
            raise InvalidInput("this store is closed: open it again")
        last = self._last
        if last is not None and last.place.ns == ns:
            return last
        with self._lock:
            leaf = self._leaves.get(ns)
            if leaf is None:
                leaf = self._leaves[ns] = Leaf(weakref.proxy(self), Place.of(self.trust.store_id, ns))
                self._let_go()
            self._leaves.move_to_end(ns)
            self._last = leaf
            return leaf

    def _let_go(self) -> None:
        members = sum(len(leaf.tags) for leaf in self._leaves.values())
        while len(self._leaves) > 1 and (len(self._leaves) > MAX_LEAVES or members > MAX_MEMBERS):
            _, oldest = self._leaves.popitem(last=False)
            members -= len(oldest.tags)
            oldest.let_go(wait=False)

    def lately_written(self, leaf: Leaf) -> None:
        """Note that a namespace keeps descriptors; only the last few written to do."""
        self.last_written = leaf
        with self._lock:
            self._written[leaf.place.ns] = leaf
            self._written.move_to_end(leaf.place.ns)
            oldest = self._written.popitem(last=False)[1] if len(self._written) > MAX_WRITTEN else None
        if oldest is not None:
            oldest.let_go(wait=False)

    def _start_afresh(self) -> None:
        """A forked child has no thread that could release a lock of the parent's."""
        inherited = [leaf.entry for leaf in self._written.values() if leaf.entry is not None]
        self._pid, self._lock = os.getpid(), threading.RLock()
        self._leaves, self._written = OrderedDict(), OrderedDict()
        self._last = self.last_written = None
        for entry in inherited:
            entry.close()

    def close(self) -> None:
        """Make every acknowledged byte durable and let go of the descriptors."""
        if self.root.fd < 0:
            return
        try:
            for leaf in list(self._written.values()):
                leaf.let_go(wait=True)
            self.audit.close()
            flusher.flush(self.root, self.trust.home)
        finally:
            self.trust.close()
            self.root.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def create_root(
    path: str | os.PathLike[str], trust_home: str | os.PathLike[str] | None = None
) -> tuple[Root, Trust]:
    """Make a store in an absent or empty directory: id, keys and binding, in one call.

    The claim comes last and replaces nothing: of two processes that make a store at once, one makes
    it and both open it. Raises :class:`InvalidInput` if something else is there already,
    :class:`Refused` if a store that was written to was here and is gone.
    """
    if not is_free(path):
        raise InvalidInput("a store is made in an absent or empty directory, and this one is neither")
    if lies_in_one_that_holds(path, STORE_FILE):
        raise InvalidInput("a store is not made inside another one")
    fresh = not is_there(path)
    root = Root.make(path)
    try:
        trust = create_trust(root, trust_home)
    except BaseException as err:
        root.close()
        if isinstance(err, Refused) and holds(path, STORE_FILE):
            return open_root(path, trust_home)  # it is not gone: another process made it meanwhile
        if fresh:
            remove_empty(path)
        raise
    try:
        claim = _Claim(format=1, store_id=trust.store_id.hex())
        with root.top() as top, top.publish(STORE_FILE, msgspec.json.encode(claim) + b"\n") as file:
            top.flush_name(file)
    except BaseException as err:
        trust.close()
        root.close()
        if isinstance(err, FileExistsError):
            return open_root(path, trust_home)
        raise
    return root, trust


def open_root(
    path: str | os.PathLike[str], trust_home: str | os.PathLike[str] | None = None
) -> tuple[Root, Trust]:
    """Open the root and trust home of an existing store; makes nothing, not even a directory.

    Raises :class:`InvalidInput` if there is no store, :class:`Refused` if its keys are not here or
    it is bound to another place.
    """
    root = _existing(path)
    try:
        return root, open_trust(root, read_claim(root), trust_home)
    except BaseException:
        root.close()
        raise


def move(
    path: str | os.PathLike[str], trust_home: str | os.PathLike[str] | None = None
) -> tuple[str | None, str]:
    """Bind a store that was moved, or put back from a copy of its files, to where it is now.

    Returns the place it was bound to, if that is known, and the one it is bound to now. What it
    lost on the way shows when it is read: the anchors stay as they were. Raises
    :class:`InvalidInput`, :class:`Refused`.
    """
    with _existing(path) as root:
        return rebind(root, read_claim(root), trust_home), root.path


def _existing(path: str | os.PathLike[str]) -> Root:
    """The root at a path that holds a store. Raises :class:`InvalidInput` for any other."""
    if not holds(path, STORE_FILE):
        raise InvalidInput(NO_STORE)
    try:
        return Root.open(path)
    except FileNotFoundError:
        raise InvalidInput(NO_STORE) from None


def read_claim(root: Root) -> bytes:
    """The store id that ``store.json`` claims. Raises :class:`InvalidInput`, :class:`Refused`."""
    raw = root.read(STORE_FILE, 4096)
    if raw is None:
        raise InvalidInput(NO_STORE)
    try:
        claim = msgspec.json.decode(raw, type=_Claim)
    except msgspec.MsgspecError:
        raise Refused("store.json is damaged: put it back from a copy", reason="store_file") from None
    if claim.format != 1:
        raise Refused("this store has a format this version does not know", reason="format")
    if not _ID.fullmatch(claim.store_id):
        raise Refused("store.json is damaged: put it back from a copy", reason="store_file")
    return bytes.fromhex(claim.store_id)
