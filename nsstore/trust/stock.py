"""What a trust home holds of a store, as one value: what a backup keeps and a restore puts back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import msgspec

from nsstore import layout
from nsstore.errors import InvalidInput
from nsstore.root import Dir, Root
from nsstore.trust.cells import ANCHORS_LIMIT, CELL, SLOT, name_in_slot, require_room
from nsstore.trust.home import BINDING
from nsstore.trust.keys import KEYS_FILE, load_keys
from nsstore.trust.owner import KEY_FILE as OWNER_KEY
from nsstore.trust.owner import OWNER_FILE, OWNER_LIMIT

SUFFIX: Final = ".anchors"
LEVELS: Final = {
    "memory": ("tenant", "user", "project"),
    "state": ("tenant", "project"),
    "audit": ("tenant",),
    "rights": ("tenant",),
}
"""The dimensions of an anchor file's path, by its area; the last one names the file.

The rights of a store are no tenant's: their file is named ``statements``.
"""


class AnchorFile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One anchor file: its path within the trust home, and its whole cells.

    Raises ``ValueError`` for a path that no anchor file has.
    """

    path: str
    cells: bytes

    def __post_init__(self) -> None:
        if not _is_anchor_path(self.path):
            raise ValueError("a path that no anchor file has")
        if len(self.cells) % CELL:
            raise ValueError("an anchor file with half a cell")

    def by_name(self) -> Iterator[tuple[bytes, bytes]]:
        """Each cell with the digest of its chain; a cell that names none is left out."""
        for start in range(0, len(self.cells), CELL):
            cell = self.cells[start : start + CELL]
            name = name_of(cell)
            if name is not None:
                yield name, cell


class Stock(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The key file, the binding and the owner's files byte for byte, and every anchor file.

    ``owner_key`` is sealed under the owner's own passphrase; both are empty where there is no owner, or
    the key is elsewhere.
    """

    keys: bytes
    binding: bytes
    anchors: tuple[AnchorFile, ...]
    owner: bytes = b""
    owner_key: bytes = b""


def _is_anchor_path(path: str) -> bool:
    top, area, *components = *path.removesuffix(SUFFIX).split("/"), "", ""
    levels = LEVELS.get(area)
    if top != "anchors" or not path.endswith(SUFFIX) or not levels or len(components) != len(levels) + 2:
        return False
    try:
        for dimension, component in zip(levels, components, strict=False):
            layout.decode(dimension, component)
    except InvalidInput:
        return False
    return True


def name_of(cell: bytes) -> bytes | None:
    """The digest of the chain a cell is of, from whichever of its slots was written."""
    names = {name_in_slot(cell[:SLOT]), name_in_slot(cell[SLOT:])} - {bytes(32), b""}
    return names.pop() if len(names) == 1 else None


def take_stock(home: Root) -> Stock:
    """Read a trust home whole. Raises :class:`Refused` if its keys are not there or damaged, or its anchors
    are too many.
    """
    load_keys(home)
    keys, binding = home.read(KEYS_FILE, ANCHORS_LIMIT), home.read(BINDING, ANCHORS_LIMIT)
    return Stock(
        keys=keys or b"",
        binding=binding or b"",
        anchors=tuple(anchor_files(home)),
        owner=home.read(OWNER_FILE, OWNER_LIMIT) or b"",
        owner_key=home.read(OWNER_KEY, OWNER_LIMIT) or b"",
    )


def anchor_files(home: Root) -> Iterator[AnchorFile]:
    """Every anchor file of a trust home, in order of area and path; a half-written last cell is left out.

    Raises :class:`Refused` for one that is longer than any that was written.
    """
    for area, levels in LEVELS.items():
        folder = home.dir(f"anchors/{area}")
        if folder is not None:
            yield from _files(folder, f"anchors/{area}", len(levels) - 1)


def _files(folder: Dir, path: str, depth: int) -> Iterator[AnchorFile]:
    with folder:
        if depth:
            for name in folder.folders():
                below = folder.sub(name)
                if below is not None:
                    yield from _files(below, f"{path}/{name}", depth - 1)
            return
        for name in sorted(set(folder.names()) - set(folder.folders())):
            if not _is_anchor_path(f"{path}/{name}"):
                continue  # somebody's own file
            raw = folder.read(name, ANCHORS_LIMIT) or b""
            require_room(len(raw))
            yield AnchorFile(path=f"{path}/{name}", cells=raw[: len(raw) // CELL * CELL])
