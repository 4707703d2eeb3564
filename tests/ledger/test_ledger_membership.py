"""A ledger takes only the event that continues its head; each record joins once, and void ones never."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from nsstore.ledger import (
    BadLine,
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
    extend,
    make_line,
)
from nsstore.trust import Chain, Keys

Follow = Callable[..., Line]
RECORDS = [f"01934f2e-8b7a-7c3d-9e21-{number:012x}" for number in range(10)]


def genesis(chain: Chain) -> Callable[[int, str], Event]:
    """The genesis of a chain."""
    return lambda seq, prev: Genesis(
        seq=seq,
        area="memory" if chain.area == "memory" else "state",
        ids=chain.dimensions,
        nonce="0f" * 16,
        prev=prev,
    )


def genesis_of_state(chain: Chain) -> Callable[[int, str], Event]:
    """A genesis with a chain's ids and another area."""
    return lambda seq, prev: Genesis(seq=seq, area="state", ids=chain.dimensions, nonce="0f" * 16, prev=prev)


def misplaced(chain: Chain) -> Callable[[int, str], Event]:
    """A genesis that follows something."""
    return lambda seq, _: genesis(chain)(seq, "ab" * 32)


def written(number: int, idem: str | None = None) -> Callable[[int, str], Event]:
    """A record joins."""
    return lambda seq, prev: Written(
        seq=seq, record=RECORDS[number], seal="1:0123abcd:" + "5e" * 32, idem=idem, prev=prev
    )


def void(*numbers: int) -> Callable[[int, str], Event]:
    """Records never join."""
    return lambda seq, prev: Void(seq=seq, records=tuple(RECORDS[one] for one in numbers), prev=prev)


def forgotten(*numbers: int, spent: tuple[str, ...] = ()) -> Callable[[int, str], Event]:
    """Members are forgotten."""
    return lambda seq, prev: Forgotten(
        seq=seq, records=tuple(RECORDS[one] for one in numbers), spent=spent, prev=prev
    )


def erased(first: int) -> Callable[[int, str], Event]:
    """What was forgotten from a line on is gone."""
    return lambda seq, prev: Erased(seq=seq, first=first, prev=prev)


def recovered(first: int, last: int) -> Callable[[int, str], Event]:
    """Lines were written again."""
    return lambda seq, prev: Recovered(seq=seq, first=first, last=last, prev=prev)


def state(ledger: Ledger) -> object:
    """Everything a ledger knows."""
    return (
        list(ledger.macs), dict(ledger.members), list(ledger.order), set(ledger.void),
        dict(ledger.idempotent), ledger.size, ledger.seq, ledger.head, dict(ledger.forgotten),
        ledger.unfinished, set(ledger.spent), ledger.newest, dict(ledger.given_up),
    )  # fmt: skip


@pytest.fixture
def ledger(chain: Chain, follow: Follow) -> Ledger:
    """A ledger with two members and a void."""
    made = Ledger(chain)
    for event in (genesis(chain), written(0), written(1, "1d" * 32), void(2)):
        follow(made, event)
    return made


def test_what_a_ledger_knows(ledger: Ledger) -> None:
    """Members and their order, void ids, idempotency digests, size and head come from the lines."""
    assert list(ledger.members) == ledger.order == RECORDS[:2]
    assert ledger.void == {RECORDS[2]}
    assert ledger.idempotent == {"1d" * 32: (RECORDS[1],)}
    assert ledger.seq == 3
    assert ledger.head == ledger.macs[-1]


def test_an_empty_ledger(chain: Chain) -> None:
    """A ledger without a genesis knows nothing and has no head."""
    empty = Ledger(chain)
    assert (empty.seq, empty.head, empty.size, empty.order) == (-1, bytes(32), 0, [])


REFUSED: dict[str, Callable[[Chain], Callable[[int, str], Event]]] = {
    "genesis twice": genesis,
    "genesis twice, as the first": lambda chain: lambda _, prev: genesis(chain)(0, prev),
    "record twice": lambda _: written(0),
    "void, then written": lambda _: written(2),
    "written, then void": lambda _: void(3, 1),
    "void twice": lambda _: void(2),
    "void twice in one": lambda _: void(4, 4),
    "void of nothing": lambda _: void(),
    "forgotten, of nothing": lambda _: forgotten(),
    "forgotten, of no member": lambda _: forgotten(3),
    "forgotten, of what is void": lambda _: forgotten(0, 2),
    "forgotten twice in one": lambda _: forgotten(0, 0),
    "erased, and nothing was forgotten": lambda _: erased(1),
    "recovered what comes": lambda _: recovered(2, 4),
    "recovered and something after": lambda _: recovered(1, 2),
    "recovered backwards": lambda _: recovered(3, 2),
    "recovered the genesis": lambda _: recovered(0, 3),
    "a seq skipped": lambda _: lambda seq, prev: written(3)(seq + 1, prev),
    "a seq again": lambda _: lambda seq, prev: written(3)(seq - 1, prev),
    "another prev": lambda _: lambda seq, _prev: written(3)(seq, "ab" * 32),
    "no prev": lambda _: lambda seq, _prev: written(3)(seq, "0" * 64),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_does_not_continue_is_refused(
    keys: Keys, chain: Chain, ledger: Ledger, follow: Follow, name: str
) -> None:
    """An event out of order, or that contradicts an earlier one, is refused though its MAC is right."""
    before = state(ledger)
    line = follow(ledger, REFUSED[name](chain), take=False)
    with pytest.raises(BadLine):
        ledger.apply(line)
    assert state(ledger) == before, "a refused line left something behind"
    with pytest.raises(BadLine):
        extend(keys, ledger, line.raw)
    follow(ledger, written(9))
    assert ledger.order[-1] == RECORDS[9]


def test_recovered_is_taken(ledger: Ledger, follow: Follow) -> None:
    """A recovered event right after the lines it names is taken."""
    follow(ledger, written(4))
    follow(ledger, recovered(4, 4))
    assert ledger.seq == 5


@pytest.mark.parametrize(
    "other",
    [
        Chain(
            bytes(range(16)),
            "memory",
            (("tenant", "acme"), ("user", "x"), ("project", "p"), ("session", "s")),
        ),
        Chain(bytes(range(16)), "state", (("tenant", "acme"), ("project", "p"), ("workspace", "-"))),
    ],
)
def test_the_genesis_of_another_namespace(keys: Keys, chain: Chain, follow: Follow, other: Chain) -> None:
    """A genesis that names another namespace is refused, even with a MAC of this chain."""
    for event in (genesis(other), genesis_of_state(chain)):
        fresh = Ledger(chain)
        line = follow(fresh, event, take=False)
        with pytest.raises(BadLine, match="another namespace"):
            extend(keys, fresh, line.raw)
        assert fresh.seq == -1


def test_a_chain_begins_with_its_genesis(chain: Chain, follow: Follow) -> None:
    """No other event can be the first, and a genesis has no event before it."""
    for event in (written(0), void(1), recovered(1, 1)):
        with pytest.raises(BadLine, match="genesis"):
            follow(Ledger(chain), event)
    with pytest.raises(BadLine):
        follow(Ledger(chain), misplaced(chain))


def test_a_copy_is_carried_on_alone(ledger: Ledger, follow: Follow) -> None:
    """What is taken into a copy does not show in the ledger it was made of, nor the other way round."""
    before, copied = state(ledger), ledger.copy()
    assert state(copied) == before
    follow(copied, written(5, "2d" * 32))
    follow(copied, void(6))
    assert state(ledger) == before
    follow(ledger, written(7))
    assert RECORDS[7] not in copied.members


def whole_and_torn(chain: Chain, follow: Follow) -> tuple[bytes, list[Line]]:
    """A ledger's bytes, and its lines."""
    made = Ledger(chain)
    lines = [follow(made, event) for event in (genesis(chain), written(0), written(1), void(2))]
    return b"".join(line.raw for line in lines), lines


def test_every_torn_tail(keys: Keys, chain: Chain, follow: Follow) -> None:
    """A ledger cut anywhere has its whole lines and the size of the rest, and is gone on with from there."""
    raw, lines = whole_and_torn(chain, follow)
    ends = [0]
    for line in lines:
        ends.append(ends[-1] + len(line.raw))
    for cut in range(len(raw) + 1):
        ledger = Ledger(chain)
        torn = extend(keys, ledger, raw[:cut])
        whole = max(end for end in ends if end <= cut)
        assert (ledger.size, torn) == (whole, cut - whole)
        assert ledger.seq == ends.index(whole) - 1
        if cut % 37 == 0:
            assert extend(keys, ledger, raw[ledger.size :]) == 0
            assert ledger.macs == [line.mac for line in lines]


def test_read_in_pieces_is_read_at_once(keys: Keys, chain: Chain, follow: Follow) -> None:
    """A ledger followed line by line is the one that is read at once, and knows its bytes."""
    raw, lines = whole_and_torn(chain, follow)
    once, step = Ledger(chain), Ledger(chain)
    extend(keys, once, raw)
    for line in lines:
        assert extend(keys, step, line.raw) == 0
    assert state(once) == state(step)
    assert once.is_spelled(raw)
    assert not once.is_spelled(raw[:-1])
    assert not once.is_spelled(raw.replace(b"5e", b"5f", 1))
    assert step.copy().is_spelled(raw)


def test_lines_swapped_dropped_or_repeated(keys: Keys, chain: Chain, follow: Follow) -> None:
    """No order of a chain's own lines but the one it was written in is taken."""
    _, lines = whole_and_torn(chain, follow)
    raws = [line.raw for line in lines]
    for left in range(len(raws)):
        orders = [raws[:left] + raws[left + 1 :], [*raws[: left + 1], *raws[left:]]]
        orders += [
            [*raws[:left], raws[right], *raws[left:right], *raws[right + 1 :]] for right in range(left + 1, 4)
        ]
        for order in orders:
            ledger = Ledger(chain)
            if order == raws[:-1]:
                continue  # the last line cut off: what the anchor is for
            with pytest.raises(BadLine):
                extend(keys, ledger, b"".join(order))
            assert ledger.macs == [line.mac for line in lines][: len(ledger.macs)]


def test_make_line_without_the_key(keys: Keys, chain: Chain) -> None:
    """A line cannot be made under a key that is not here."""
    with pytest.raises(BadLine):
        make_line(keys, chain, genesis(chain)(0, "0" * 64), "ffffffff")


def test_a_forgotten_record_is_none(ledger: Ledger, follow: Follow) -> None:
    """What is forgotten is in no list of members, moves nothing else in their order, and is known as such."""
    follow(ledger, written(4))
    follow(ledger, forgotten(1, spent=("2e" * 32,)))
    assert list(ledger.members) == ledger.order == [RECORDS[0], RECORDS[4]]
    assert ledger.forgotten == {RECORDS[1]: 5}
    assert ledger.unfinished == (RECORDS[1],)
    assert ledger.spent == {"2e" * 32}
    assert ledger.idempotent == {"1d" * 32: (RECORDS[1],)}
    assert ledger.newest == RECORDS[4]
    assert not ledger.begins_with(3, RECORDS[4])
    follow(ledger, erased(5))
    assert not [*ledger.unfinished]
    assert ledger.forgotten == {RECORDS[1]: 5}


def test_who_goes_through_the_order_sees_no_gap(ledger: Ledger, follow: Follow) -> None:
    """Whoever goes through the members while one is forgotten meets each of the others once."""
    seen: list[str] = []
    for record in ledger.order:
        seen.append(record)
        if len(seen) == 1:
            follow(ledger, forgotten(0))
    assert seen == RECORDS[:2]


def test_forgetting_is_for_ever(ledger: Ledger, follow: Follow) -> None:
    """A forgotten record neither joins again, nor is void, nor forgotten again, erased by then or not."""
    follow(ledger, forgotten(1))
    for _ in range(2):
        for event in (written(1), void(1), forgotten(1), forgotten(0, 1)):
            before = state(ledger)
            with pytest.raises(BadLine):
                follow(ledger, event)
            assert state(ledger) == before
        if ledger.unfinished:
            follow(ledger, erased(4))


def test_an_erasing_names_its_first_line(ledger: Ledger, follow: Follow) -> None:
    """It finishes all that was forgotten since the last one, from the very first line on, and once."""
    follow(ledger, forgotten(0))
    follow(ledger, forgotten(1))
    for first in (3, 5, 6):
        with pytest.raises(BadLine, match="erasing"):
            follow(ledger, erased(first))
    assert ledger.unfinished == (RECORDS[0], RECORDS[1])
    follow(ledger, erased(4))
    assert not [*ledger.unfinished]
    with pytest.raises(BadLine, match="erasing"):
        follow(ledger, erased(4))


def test_a_copy_keeps_what_is_forgotten(ledger: Ledger, follow: Follow) -> None:
    """A copy knows what is forgotten and unfinished, and goes on alone."""
    follow(ledger, forgotten(1, spent=("2e" * 32,)))
    before, copied = state(ledger), ledger.copy()
    assert state(copied) == before
    follow(copied, erased(4))
    follow(copied, forgotten(0))
    assert state(ledger) == before


def resumed(gives_up: int, head: str = "3c" * 32) -> Callable[[int, str], Event]:
    """The owner gave up what is lost."""
    return lambda _, prev: Resumed(
        seq=gives_up + 1, statement=1, gives_up=gives_up, head=head, nonce="0e" * 16, prev=prev
    )


def test_a_chain_goes_on_behind_what_it_gives_up(ledger: Ledger, follow: Follow) -> None:
    """Its numbers go on there; of what is given up the last event is known, and only as that."""
    line = follow(ledger, resumed(7))
    assert (ledger.seq, ledger.head, ledger.given_up) == (8, line.mac, {7: b"\x3c" * 32})
    assert ledger.macs[4:] == [b"", b"", b"", b"", line.mac]
    assert list(ledger.members) == RECORDS[:2]
    follow(ledger, written(3))
    assert ledger.members[RECORDS[3]].seq == 9
    copied = ledger.copy()
    follow(copied, resumed(11))
    assert ledger.given_up == {7: b"\x3c" * 32}
    assert copied.given_up.keys() == {7, 11}


def test_a_chain_that_gives_up_no_event(ledger: Ledger, follow: Follow) -> None:
    """Where only records are lost it is the next event, and gives up none."""
    follow(ledger, resumed(ledger.seq, ledger.head.hex()))
    assert (ledger.seq, ledger.given_up) == (4, {})
    assert all(ledger.macs)


def test_nothing_is_given_up_behind_the_head(ledger: Ledger, follow: Follow, chain: Chain) -> None:
    """What is there cannot be given up, nor a chain go on before its genesis; a refusal changes nothing."""
    before = state(ledger)
    for gives_up in (0, 2):
        with pytest.raises(BadLine, match="gives up"):
            follow(ledger, resumed(gives_up))
    assert state(ledger) == before
    with pytest.raises(BadLine):
        follow(Ledger(chain), resumed(3))
