"""The manifest of a kept view: what its files are, byte for byte, and of which records it was made."""

from __future__ import annotations

from typing import Annotated, Final, Literal

import msgspec

from nsstore import digests
from nsstore.policy import ReadClass
from nsstore.search.analyser import VERSION
from nsstore.trust import BadLine, Chain, Keys, frame, unframe

HEADER: Final = 900  # bytes of the shortest header, about
MAX_BYTES: Final = 16 * 1024 * 1024
Hex64 = Annotated[str, msgspec.Meta(pattern=r"\A[0-9a-f]{64}\Z")]
# Exactly the names tantivy gives: no path, no lock file, nothing that starts with another dot.
Name = Annotated[
    str, msgspec.Meta(pattern=r"\A(?:meta\.json|\.managed\.json|[0-9a-f]{32}(?:\.[0-9]+)?\.[a-z]+)\Z")
]
Generation = Annotated[str, msgspec.Meta(pattern=r"\Ag-[0-9a-f]{16}\Z")]


class Kept(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One file of an index: its name, its size in bytes, and the digest of its bytes."""

    name: Name
    size: Annotated[int, msgspec.Meta(ge=0)]
    digest: Hex64


class Manifest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A view as it was folded: up to which event of the ledger, of which classes, by which analyser.

    ``tokens`` counts the terms of all its records, repeats included; ``gone`` are records of it that
    weigh no longer, ``ends`` says when those end that do, and ``text`` counts
    the characters of all texts.
    """

    format: Literal[1] = 1
    analyser: str
    seq: Annotated[int, msgspec.Meta(ge=0)]
    head: Hex64
    classes: tuple[ReadClass, ...]
    generation: Generation
    files: tuple[Kept, ...]
    records: Annotated[int, msgspec.Meta(ge=0)]
    tokens: Annotated[int, msgspec.Meta(ge=0)]
    gone: tuple[str, ...]
    ends: dict[str, str]
    text: Annotated[int, msgspec.Meta(ge=0)]

    @property
    def size(self) -> int:
        """The bytes of all files."""
        return sum(kept.size for kept in self.files)

    @property
    def weight(self) -> int:
        """The bytes that the records hold at least, headers included."""
        return self.text + HEADER * self.records


class Unfit(Exception):
    """A manifest, or a file it names, is not what this store folded; says which rule it breaks."""


def encode(keys: Keys, chain: Chain, manifest: Manifest) -> bytes:
    """The manifest as one line, MACed under the active key of the namespace's tenant."""
    return frame(keys, chain, digests.MANIFEST, msgspec.json.encode(manifest), keys.active)[0]


def decode(keys: Keys, chain: Chain, raw: bytes) -> Manifest:
    """The manifest that these bytes are. Raises :class:`Unfit` for a forged, foreign or torn one."""
    try:
        body, _, _ = unframe(keys, chain, digests.MANIFEST, raw)
        return msgspec.json.decode(body, type=Manifest)
    except (BadLine, msgspec.MsgspecError, ValueError):
        raise Unfit("a manifest that this store did not make") from None


def spoken(manifest: Manifest) -> bool:
    """Whether this version's analyser made the terms of a view; another one's is no damage."""
    return manifest.analyser == VERSION


def spell(readable: frozenset[ReadClass]) -> tuple[ReadClass, ...]:
    """A set of classes in its one order."""
    return tuple(sorted(readable, key=msgspec.json.encode))


def name_of(keys: Keys, chain: Chain, readable: frozenset[ReadClass]) -> str:
    """The name of a view's directory: it tells nobody of whom it is."""
    key = keys.tenant(min(keys.masters), chain.tenant)
    assert key is not None
    return digests.mac(key, digests.MANIFEST, chain.prefix, msgspec.json.encode(spell(readable))).hex()[:32]


def place_of(keys: Keys, chain: Chain) -> str:
    """The name of the directory that holds the views of one namespace."""
    key = keys.tenant(min(keys.masters), chain.tenant)
    assert key is not None
    return digests.mac(key, digests.MANIFEST, chain.prefix).hex()[:32]
