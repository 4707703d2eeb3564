"""Whatever is done to the bytes of a ledger, no event but the written ones is ever taken."""

from __future__ import annotations

import contextlib
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from nsstore.ledger import BadLine, Ledger, extend, read_line
from nsstore.trust import Chain, Keys

GOLDEN = (
    (Path(__file__).parents[1] / "golden" / "ledger_lines.jsonl").read_bytes().splitlines(keepends=True)[:7]
)
KEYS = Keys("0123abcd", {"0123abcd": b"\xff" * 32})
CHAIN = Chain(
    bytes(range(16)),
    "memory",
    (("tenant", "acme"), ("user", "Zoë Müller"), ("project", "github.com/acme/shop"), ("session", "s-1")),
)
MACS = [read_line(KEYS, CHAIN, raw).mac for raw in GOLDEN]
WHOLE = b"".join(GOLDEN)


def test_every_single_bit_counts() -> None:
    """Any one bit flipped in any byte of any line, its newline too, and the line is refused."""
    flipped = 0
    for raw in GOLDEN:
        for position in range(len(raw)):
            for bit in range(8):
                changed = bytearray(raw)
                changed[position] ^= 1 << bit
                try:
                    read_line(KEYS, CHAIN, bytes(changed))
                except BadLine:
                    flipped += 1
    assert flipped == 8 * len(WHOLE)


def is_prefix(raw: bytes) -> bool:
    """Whether reading ``raw`` takes only what was written, in the order it was written."""
    ledger = Ledger(CHAIN)
    with contextlib.suppress(BadLine):
        extend(KEYS, ledger, raw)
    return ledger.macs == MACS[: len(ledger.macs)] and WHOLE.startswith(raw[: ledger.size])


@given(
    at=st.integers(0, len(WHOLE)),
    taken=st.integers(0, 400),
    put=st.one_of(st.binary(max_size=40), st.sampled_from([*GOLDEN, b"\n", b"\n\n", b'"}\n', b",", b"{}\n"])),
)
def test_bytes_put_in_or_taken_out(at: int, taken: int, put: bytes) -> None:
    """Any bytes replaced, put in or taken out anywhere leave a prefix of the chain, and nothing else."""
    assert is_prefix(WHOLE[:at] + put + WHOLE[at + taken :])


@given(st.lists(st.integers(0, 7), max_size=8), st.binary(max_size=20))
def test_lines_in_any_order(order: list[int], rest: bytes) -> None:
    """Lines in any order, any number of times, with any rest, leave a prefix of the chain."""
    assert is_prefix(b"".join((*GOLDEN, rest)[number] for number in order))


@given(st.binary(max_size=600))
def test_any_bytes_at_all(raw: bytes) -> None:
    """Any bytes are refused or wait for their newline; nothing else is raised and nothing is taken."""
    ledger = Ledger(CHAIN)
    try:
        torn = extend(KEYS, ledger, raw)
    except BadLine:
        torn = 0
    assert ledger.seq == -1
    assert torn <= len(raw)
