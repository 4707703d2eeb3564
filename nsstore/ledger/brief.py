"""A verified ledger in brief: what it came to, without its lines, for a process that reads it again."""

from __future__ import annotations

import msgspec


class Member(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True, gc=False):
    """What is asked of a record that joined: by which event, and under which seal."""

    seq: int
    seal: str


class Brief(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True, kw_only=True):
    """A :class:`Ledger` as far as its event ``seq``; the fields are the ledger's own.

    ``parts`` are the sizes and digests of the bytes it was read from, one behind the other. ``macs``
    holds 32 bytes an event; those in ``lost`` were given up, and have none. Whoever takes it over has
    to know that it was told by this store, of this very chain: nothing in it proves itself.
    """

    seq: int
    head: bytes
    parts: tuple[tuple[int, bytes], ...]
    macs: bytes
    lost: tuple[int, ...]
    members: dict[str, Member]
    void: tuple[str, ...]
    idempotent: dict[str, tuple[str, ...]]
    forgotten: dict[str, int]
    unfinished: tuple[str, ...]
    spent: tuple[str, ...]
    given_up: dict[int, bytes]
    newest: str
