"""The files of a scratch store: what lies there, and what somebody who can write there puts among them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Final

from nsstore.errors import StoreError
from nsstore.harness.demo import flip
from nsstore.harness.provider import Planted
from nsstore.layout import record_dir
from nsstore.record import new_record_id
from nsstore.root import Dir, Root
from nsstore.scope import Namespace

LIMIT: Final = 1024 * 1024
RECORD: Final = ".md"


def every_file(root: Root) -> Iterator[tuple[str, bytes]]:
    """Every file beneath a root with its bytes; one that goes meanwhile is left out."""
    yield from _below(root.top(), "")


def plant(root: Root, ns: Namespace, text: str, kind: Planted, kept: bytes | None) -> None:
    """Put something in the directory of a namespace, as a hand that is not the store's would.

    ``kept`` are the bytes of a record that is not there: made with other keys, or forgotten.
    """
    if kind is Planted.ALTERED:
        flip(root, f"{record_dir(ns)}/{_holding(root, record_dir(ns), text)[0]}")
        return
    name = new_record_id() + RECORD
    raw = text.encode()
    if kind is Planted.FOREIGN:
        name, raw = _holding(root, "memory", text)
    elif kind is not Planted.UNTAGGED:
        assert kept is not None, "nothing was kept that said so"
        name, raw = name_of(kept), kept
    with root.make_dir(record_dir(ns)) as folder:
        folder.publish(name.rpartition("/")[2], raw).close()


def name_of(raw: bytes) -> str:
    """The name that a record's own bytes ask for."""
    mark = b'\nrecord_id: "'
    start = raw.index(mark) + len(mark)
    return raw[start : raw.index(b'"', start)].decode() + RECORD


def holding(root: Root, text: str) -> bytes:
    """The bytes of the record that says this."""
    return _holding(root, "memory", text)[1]


def _holding(root: Root, path: str, text: str) -> tuple[str, bytes]:
    folder = root.dir(path)
    assert folder is not None, "nothing was ever written there"
    return next((name, raw) for name, raw in _below(folder, "") if text.encode() in raw)


def _below(folder: Dir, path: str) -> Iterator[tuple[str, bytes]]:
    with folder:
        folders = folder.folders()
        for name in sorted(folder.names()):
            below = folder.sub(name) if name in folders else None
            if below is not None:
                yield from _below(below, f"{path}{name}/")
                continue
            with suppress(StoreError):
                raw = folder.read(name, LIMIT)
                if raw is not None:
                    yield path + name, raw
