"""A ledger told in brief is the ledger that was read, wherever it is told and however often."""

from __future__ import annotations

import itertools

import msgspec
import pytest

from nsstore.ledger import Brief, Ledger, Line, extend
from nsstore.trust import Chain, Keys


def knows(ledger: Ledger) -> object:
    """Everything a ledger is asked for."""
    return (
        list(ledger.macs),
        [(one, event.seq, event.seal) for one, event in ledger.members.items()],
        (ledger.order, ledger.void, ledger.idempotent, ledger.forgotten, ledger.unfinished, ledger.spent),
        (ledger.newest, ledger.given_up, ledger.size, ledger.seq, ledger.head),
    )


def retold(ledger: Ledger) -> Ledger:
    """The ledger that another process takes over."""
    told = msgspec.msgpack.decode(msgspec.msgpack.encode(ledger.brief()), type=Brief)
    return Ledger.of(ledger.chain, told)


def test_told_anywhere_it_goes_on_the_same(keys: Keys, chain: Chain, lines: list[Line]) -> None:
    """Behind whichever events it is told, twice as well, what follows makes it the ledger that was read."""
    raw = b"".join(line.raw for line in lines)
    whole = Ledger(chain)
    extend(keys, whole, raw)
    for first, second in itertools.combinations_with_replacement(range(len(lines) + 1), 2):
        read, told = Ledger(chain), Ledger(chain)
        for at, line in enumerate([*lines, None]):
            if at in (first, second):
                told = retold(told)
                assert knows(told) == knows(read)
                assert told.is_spelled(raw[: told.size])
                assert knows(told.copy()) == knows(read)
            if line is not None:
                read.apply(line)
                told.apply(line)
        assert knows(told) == knows(whole)
        assert told.is_spelled(raw)


@pytest.mark.parametrize("told_at", [3, 5])
def test_told_it_knows_its_bytes(keys: Keys, chain: Chain, lines: list[Line], told_at: int) -> None:
    """A ledger told in brief is spelled by no other bytes than the ones that were read, before or behind."""
    raw = b"".join(line.raw for line in lines)
    ledger = Ledger(chain)
    extend(keys, ledger, b"".join(line.raw for line in lines[:told_at]))
    told = retold(ledger)
    extend(keys, told, raw[told.size :])
    for at in range(0, len(raw), 7):
        changed = bytearray(raw)
        changed[at] ^= 1
        assert not told.is_spelled(bytes(changed))
    assert not told.is_spelled(raw[:-1])
    assert told.copy().is_spelled(raw)


def test_what_is_told_stays_as_it_was(ledger_of_all: Ledger, chain: Chain) -> None:
    """What a ledger takes after it was told changes nothing in what was told."""
    told = ledger_of_all.brief()
    before = msgspec.msgpack.encode(told)
    ledger_of_all.forgotten["another"] = 1
    ledger_of_all.idempotent["another"] = ("one",)
    ledger_of_all.given_up[99] = b"head"
    assert msgspec.msgpack.encode(told) == before
    assert Ledger.of(chain, told).seq == ledger_of_all.seq


@pytest.fixture
def ledger_of_all(chain: Chain, keys: Keys, lines: list[Line]) -> Ledger:
    """A ledger of every kind of event."""
    made = Ledger(chain)
    extend(keys, made, b"".join(line.raw for line in lines))
    return made
