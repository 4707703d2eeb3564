"""Restoring a backup of the keys: what is missing is added, nothing that is there is touched."""

from __future__ import annotations

import os
from collections.abc import Callable

import msgspec

from nsstore.errors import InvalidInput, Refused
from nsstore.root import LIMIT_SECONDS as WAIT
from nsstore.root import FileLock, FolderLock, Root, holds
from nsstore.trust.backup import unseal
from nsstore.trust.cells import ANCHORS_LIMIT, CELL, require_room
from nsstore.trust.home import (
    BINDING,
    WHAT,
    Binding,
    base,
    bind_root,
    is_at,
    open_home,
    read_binding,
    refuse_overlap,
)
from nsstore.trust.keyring import add_missing
from nsstore.trust.keys import Keys, load_keys
from nsstore.trust.owner import KEY_FILE as OWNER_KEY
from nsstore.trust.owner import OWNER_FILE, OWNER_LIMIT
from nsstore.trust.stock import AnchorFile, Stock

ELSEWHERE = "is bound to another directory: put the store back where it was, on its own file system"
STANDS = (
    "the store still stands where it is bound, and a restored one does not take its place: move or remove"
    " what is left of it first"
)


class Restored(msgspec.Struct, frozen=True, kw_only=True):
    """What a restore added: keys, anchor cells, and whether the binding was missing.

    ``held`` are the ids of all keys that are there now.
    """

    keys: int
    anchors: int
    binding: bool
    held: tuple[str, ...]


def restore(
    raw: bytes,
    passphrase: str,
    *,
    root: Root,
    store_id: bytes,
    trust_home: str | os.PathLike[str] | None = None,
) -> Restored:
    """Put back into a store's trust home what a backup has and the trust home lacks.

    An anchor that is there stays as it is, so that an old backup takes nothing back; a damaged
    binding is kept beside the one that is put in its place. Everything is
    checked before anything is written, and the binding comes last: cut short, the store stays
    closed and the restore can be repeated. Raises :class:`InvalidInput` for a file that is not this
    store's backup, :class:`Refused` for a wrong passphrase or a root that the backup is not bound to.
    """
    stock = unseal(raw, passphrase, store_id)
    Keys.from_bytes(stock.keys)  # checked, like all of it, before anything is written
    _require_bound(stock.binding, store_id, root, "that backup")
    where = base(trust_home)
    refuse_overlap(where, root.path)
    with Root.make(os.path.join(where, store_id.hex()), what=WHAT) as home:
        bound = home.read(BINDING, ANCHORS_LIMIT)
        if bound is not None and _is_binding(bound):
            _require_bound(bound, store_id, root, "the trust home")
        elif bound is not None:
            home.replace(f"{BINDING}.damaged-{os.urandom(4).hex()}", bound)
            bound = None
        done = _add(home, stock)
        if bound is None:
            home.replace(BINDING, stock.binding)
        return msgspec.structs.replace(done, binding=bound is None)


def require_free(store_id: bytes, trust_home: str | os.PathLike[str] | None, claim: str) -> str | None:
    """Require that no store stands where this machine has the store id bound; the place, if it has one.

    A directory without a ``claim`` is no store. Raises :class:`Refused`.
    """
    try:
        with open_home(base(trust_home), store_id) as home:
            bound = read_binding(home)
    except Refused:
        return None
    if bound is not None and is_at(bound) and holds(bound.path, claim):
        raise Refused(STANDS, reason="binding")
    return None if bound is None else bound.path


def restore_elsewhere(
    stock: Stock,
    *,
    root: Root,
    store_id: bytes,
    trust_home: str | os.PathLike[str] | None = None,
    claim: tuple[str, Callable[[], None]],
) -> Restored:
    """Add to a store's trust home what it lacks, bind the store to a new place, and claim that last.

    For a root whose files are all there. ``claim`` is the name of the claim, and what makes it; until it is
    made no other place is bound. Raises as :func:`require_free`.
    """
    where, (name, make) = base(trust_home), claim
    refuse_overlap(where, root.path)
    with Root.make(os.path.join(where, store_id.hex()), what=WHAT) as home, FolderLock(home, patience=WAIT):
        require_free(store_id, trust_home, name)
        done = _add(home, stock)
        bind_root(home, store_id, root)
        make()
        return done


def _add(home: Root, stock: Stock) -> Restored:
    """Add keys, the owner's files and anchor cells that are not there."""
    added = add_missing(home, Keys.from_bytes(stock.keys))
    for name, owners in ((OWNER_FILE, stock.owner), (OWNER_KEY, stock.owner_key)):
        if owners and home.read(name, OWNER_LIMIT) is None:
            home.replace(name, owners)
    cells = sum(_add_cells(home, one) for one in stock.anchors)
    held = tuple(sorted(load_keys(home).masters))
    return Restored(keys=added, anchors=cells, binding=True, held=held)


def _require_bound(raw: bytes, store_id: bytes, root: Root, what: str) -> None:
    try:
        bound = msgspec.json.decode(raw, type=Binding)
    except msgspec.MsgspecError:
        raise InvalidInput(f"the binding in {what} is damaged") from None
    if (bound.store_id, bound.path, bound.inode) != (store_id.hex(), root.path, root.inode):
        raise Refused(f"{what} {ELSEWHERE}", reason="binding")


def _is_binding(raw: bytes) -> bool:
    try:
        msgspec.json.decode(raw, type=Binding)
    except msgspec.MsgspecError:
        return False
    return True


def _add_cells(home: Root, given: AnchorFile) -> int:
    """Append the cells of chains that the anchor file has none of, durably, under its own lock."""
    folder, _, name = given.path.rpartition("/")
    with home.make_dir(folder, flush=True) as where:
        with FileLock(where, name) as lock:
            raw = lock.file.read(ANCHORS_LIMIT)
            require_room(len(raw))  # behind what was read there may be cells
            end = len(raw) // CELL * CELL  # a half-written cell at the end is written over
            present = {cell_name for cell_name, _ in AnchorFile(path=given.path, cells=raw[:end]).by_name()}
            missing = [cell for cell_name, cell in given.by_name() if cell_name not in present]
            require_room(end + CELL * len(missing))
            if missing:
                lock.file.write_at(end, b"".join(missing))
            lock.file.flush()
        where.flush()
    return len(missing)
