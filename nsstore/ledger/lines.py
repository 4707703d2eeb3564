"""One ledger line: an event of a namespace, chained by its MAC to the one before.

``{"seq":…,"event":…,…,"prev":"<64 hex>","mac":"1:<key id>:<64 hex>"}`` and a newline. The MAC covers
the chain's name and the line's bytes before ``,"mac"`` (``docs/format.md``, "Ledger").
"""

from __future__ import annotations

from typing import Annotated, Final, Literal

import msgspec

from nsstore import digests
from nsstore.trust import BadLine, Chain, Framer, Keys, unframe

ZERO: Final = "0" * 64
Hex64 = Annotated[str, msgspec.Meta(pattern=r"\A[0-9a-f]{64}\Z")]
Hex32 = Annotated[str, msgspec.Meta(pattern=r"\A[0-9a-f]{32}\Z")]
RecordId = Annotated[
    str,
    msgspec.Meta(pattern=r"\A[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}\Z"),
]
Seq = Annotated[int, msgspec.Meta(ge=0, le=2**62)]
SealText = Annotated[str, msgspec.Meta(pattern=r"\A1:[0-9a-f]{8}:[0-9a-f]{64}\Z")]

MAX_TOGETHER: Final = 1000
"""Records of one ``forgotten`` line: what is read in pieces of a mebibyte holds it many times over."""

_EVENT: Final = b',"event":"'


class _Event(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    seq: Seq


class Genesis(_Event, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The first event: it holds the ids of the namespace whole, and a nonce no other has."""

    event: Literal["genesis"] = "genesis"
    area: Literal["memory", "state"]
    ids: tuple[tuple[str, str], ...]
    nonce: Hex32
    prev: Hex64


class Written(_Event, frozen=True, kw_only=True, forbid_unknown_fields=True, gc=False):
    """A record joined the namespace: a pure function of the record, so that it can be written again."""

    event: Literal["written"] = "written"
    record: RecordId
    seal: SealText
    idem: Hex64 | None
    prev: Hex64


class Recovered(_Event, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The lines ``first`` to ``last`` were written again from their sealed records."""

    event: Literal["recovered"] = "recovered"
    first: Seq
    last: Seq
    prev: Hex64


class Void(_Event, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A write failed after its name appeared and could not be undone: that record never joins."""

    event: Literal["void"] = "void"
    records: tuple[RecordId, ...]
    prev: Hex64


class Forgotten(_Event, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """These members are members no more and never again; their files are erased next.

    ``spent`` are keyed digests by which a retry of a forgotten write is known: see ``docs/format.md``,
    "Idempotency".
    """

    event: Literal["forgotten"] = "forgotten"
    records: Annotated[tuple[RecordId, ...], msgspec.Meta(min_length=1, max_length=MAX_TOGETHER)]
    spent: Annotated[tuple[Hex64, ...], msgspec.Meta(max_length=MAX_TOGETHER)]
    prev: Hex64


class Erased(_Event, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What was forgotten from line ``first`` on is gone from the disk, and from every view."""

    event: Literal["erased"] = "erased"
    first: Seq
    prev: Hex64


class Resumed(_Event, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The owner gave up what is missing, by a statement: the chain goes on behind what it gives up.

    ``gives_up`` and ``head`` are the newest event that was known to have been, lost or not; ``prev`` is
    the newest one that is still there. The ``nonce`` keeps anything older from continuing this chain.
    """

    event: Literal["resumed"] = "resumed"
    statement: Seq
    gives_up: Seq
    head: Hex64
    nonce: Hex32
    prev: Hex64


Event = Genesis | Written | Recovered | Void | Forgotten | Erased | Resumed
_TYPES: Final[dict[bytes, type[Event]]] = {
    b"genesis": Genesis,
    b"written": Written,
    b"recovered": Recovered,
    b"void": Void,
    b"forgotten": Forgotten,
    b"erased": Erased,
    b"resumed": Resumed,
}


class Line(msgspec.Struct, frozen=True):
    """An event, the key id it is MACed under, its MAC, and its bytes with the newline."""

    event: Event
    key_id: str
    mac: bytes
    raw: bytes


def make_line(keys: Keys, chain: Chain, event: Event, key_id: str) -> Line:
    """Write an event as a line under ``key_id``. Raises :class:`BadLine` if that key is not here."""
    return line_under(framer_of(keys, chain, key_id), event)


def framer_of(keys: Keys, chain: Chain, key_id: str) -> Framer:
    """What frames the lines of a ledger under ``key_id``. Raises :class:`BadLine` if that key is not here."""
    return Framer(keys, chain, digests.LEDGER, key_id)


def line_under(framer: Framer, event: Event) -> Line:
    """Write an event as a line of the ledger that the framer is of."""
    raw, mac = framer.frame(msgspec.json.encode(event))
    return Line(event, framer.key_id, mac, raw)


def read_line(keys: Keys, chain: Chain, raw: bytes) -> Line:
    """Read one line, newline included, and verify it. Raises :class:`BadLine`."""
    body, key_id, mac = unframe(keys, chain, digests.LEDGER, raw)
    start = body.find(_EVENT) + len(_EVENT)
    kind = _TYPES.get(body[start : body.find(b'"', start)])
    if kind is None:
        raise BadLine("an unknown event")
    try:
        event = msgspec.json.decode(body, type=kind)
    except msgspec.MsgspecError:
        raise BadLine("an event that lacks or adds something") from None
    if msgspec.json.encode(event) != body:
        raise BadLine("an event in another spelling")
    if isinstance(event, Written) and event.seal[2:10] != key_id:
        raise BadLine("a line under another key than its record")
    return Line(event, key_id, mac, raw)
