"""The golden store's key, one memory namespace of it, and its eight golden events."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from nsstore.ledger import (
    Erased,
    Event,
    Forgotten,
    Genesis,
    Ledger,
    Line,
    Recovered,
    Resumed,
    Void,
    Written,
    make_line,
)
from nsstore.trust import Chain, Keys

GOLDEN = Path(__file__).parents[1] / "golden" / "ledger_lines.jsonl"
STORE = bytes(range(16))
KEY_ID = "0123abcd"
IDS = (("tenant", "acme"), ("user", "Zoë Müller"), ("project", "github.com/acme/shop"), ("session", "s-1"))
A, B, C = (f"01934f2e-8b7a-7c3d-9e21-0123456789a{last}" for last in "bcd")

Follow = Callable[..., Line]


@pytest.fixture(scope="session")
def keys() -> Keys:
    """The golden store's one key."""
    return Keys(KEY_ID, {KEY_ID: b"\xff" * 32})


@pytest.fixture(scope="session")
def chain() -> Chain:
    """A memory namespace of the golden store."""
    return Chain(STORE, "memory", IDS)


def events() -> list[Callable[[int, str], Event]]:
    """The golden events, each made from its seq and the MAC before it."""
    return [
        lambda seq, prev: Genesis(seq=seq, area="memory", ids=IDS, nonce="0f" * 16, prev=prev),
        lambda seq, prev: Written(seq=seq, record=A, seal=f"1:{KEY_ID}:" + "5e" * 32, idem=None, prev=prev),
        lambda seq, prev: Written(
            seq=seq, record=B, seal=f"1:{KEY_ID}:" + "5f" * 32, idem="1d" * 32, prev=prev
        ),
        lambda seq, prev: Recovered(seq=seq, first=1, last=2, prev=prev),
        lambda seq, prev: Void(seq=seq, records=(C,), prev=prev),
        lambda seq, prev: Forgotten(seq=seq, records=(B,), spent=("2e" * 32,), prev=prev),
        lambda seq, prev: Erased(seq=seq, first=5, prev=prev),
        lambda _, prev: Resumed(seq=10, statement=3, gives_up=9, head="3c" * 32, nonce="0e" * 16, prev=prev),
    ]


@pytest.fixture
def follow(keys: Keys) -> Follow:
    """Makes the line that continues a ledger with an event, and takes it unless told not to."""

    def make(ledger: Ledger, event: Callable[[int, str], Event], *, take: bool = True) -> Line:
        prev = ledger.head.hex() if ledger.seq >= 0 else "0" * 64
        line = make_line(keys, ledger.chain, event(ledger.seq + 1, prev), keys.active)
        if take:
            ledger.apply(line)
        return line

    return make


@pytest.fixture
def lines(chain: Chain, follow: Follow) -> list[Line]:
    """The golden chain, made now."""
    ledger = Ledger(chain)
    return [follow(ledger, event) for event in events()]
