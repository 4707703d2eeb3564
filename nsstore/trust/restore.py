"""Restoring a backup of the keys: what is missing is added, nothing that is there is touched."""

from __future__ import annotations

import os
from secrets import token_hex

import msgspec

from nsstore.errors import InvalidInput, Refused
from nsstore.root import FileLock, Root
from nsstore.trust.backup import unseal
from nsstore.trust.cells import CELL
from nsstore.trust.home import BINDING, Binding, base, refuse_overlap
from nsstore.trust.keyring import add_missing
from nsstore.trust.keys import Keys, load_keys
from nsstore.trust.stock import ANCHORS_LIMIT, AnchorFile

ELSEWHERE = "is bound to another directory: put the store back where it was, on its own file system"


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
    keys = Keys.from_bytes(stock.keys)
    _require_bound(stock.binding, store_id, root, "that backup")
    where = base(trust_home)
    refuse_overlap(where, root.path)
    with Root.make(os.path.join(where, store_id.hex())) as home:
        bound = home.read(BINDING, ANCHORS_LIMIT)
        if bound is not None and _is_binding(bound):
            _require_bound(bound, store_id, root, "the trust home")
        elif bound is not None:
            home.replace(f"{BINDING}.damaged-{token_hex(4)}", bound)
            bound = None
        added = add_missing(home, keys)
        cells = sum(_add_cells(home, one) for one in stock.anchors)
        if bound is None:
            home.replace(BINDING, stock.binding)
        held = tuple(sorted(load_keys(home).masters))
        return Restored(keys=added, anchors=cells, binding=bound is None, held=held)


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
            end = len(raw) // CELL * CELL  # a half-written cell at the end is written over
            present = {cell_name for cell_name, _ in AnchorFile(path=given.path, cells=raw[:end]).by_name()}
            missing = [cell for cell_name, cell in given.by_name() if cell_name not in present]
            if missing:
                lock.file.write_at(end, b"".join(missing))
            lock.file.flush()
        where.flush()
    return len(missing)
