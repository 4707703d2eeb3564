"""The namespaces that the trust home knows and of which the disk shows nothing at all: counted, not named."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final

import msgspec

from nsstore import layout
from nsstore.errors import InvalidInput
from nsstore.scope import Namespace
from nsstore.store.survey import Place
from nsstore.trust import NoValidSlot
from nsstore.trust.stock import SUFFIX, anchor_files

if TYPE_CHECKING:
    from nsstore.store.store import Store

NOT_KNOWN: Final = (
    "the trust home never knew a namespace {}: `nsstore owner accept --dry-run` says below which paths"
    " something is gone, and the id is for you to know, since the trust home keeps no names"
)


class Gone(msgspec.Struct, frozen=True, kw_only=True):
    """How many namespaces below one path are gone whole. Which, only whoever knows their ids can say.

    An anchor has the digest of its namespace and no name. ``below`` is as the path of their records.
    """

    below: str
    namespaces: int

    @property
    def leaf(self) -> str:
        """What the last part of such a namespace's path is."""
        return "session" if self.below.startswith("memory/") else "workspace"


def gone(store: Store, shown: Iterable[Namespace]) -> tuple[Gone, ...]:
    """What the trust home knows beside the namespaces that are shown, or named."""
    names = {Place.of(store.trust.store_id, ns).chain.name for ns in shown}
    return tuple(_gone(store, names))


def _gone(store: Store, names: set[bytes]) -> Iterator[Gone]:
    for file in anchor_files(store.trust.home):
        below = file.path.removeprefix("anchors/").removesuffix(SUFFIX)
        missing = sum(name not in names for name, _ in file.by_name())
        if missing and below.startswith(("memory/", "state/")):
            yield Gone(below=below, namespaces=missing)


def require_known(store: Store, named: Iterable[Namespace]) -> None:
    """Require that the trust home knows each of these. Raises :class:`InvalidInput`, with the way on."""
    for ns in named:
        place = Place.of(store.trust.store_id, ns)
        try:
            known = store.trust.anchors.read(place.anchors, place.chain) is not None
        except NoValidSlot:
            known = True
        if not known:
            raise InvalidInput(NOT_KNOWN.format(layout.record_dir(ns)))
