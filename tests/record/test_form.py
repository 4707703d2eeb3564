"""A form makes exactly the bytes that encoding the filled-in header would."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from nsstore.digests import lp
from nsstore.record import MAX_HEADER, MAX_SEQ, ZEROS, Form, Header, decode, encode, seal_chunks

Make = Callable[..., Header]
STORE = bytes(range(16))
LATER = "0190a0a0-0000-7000-8000-0000000000ff"
TIME = "2027-01-01T00:00:00.000001Z"
SALT = "cd" * 16


def test_form_fills_in_what_encoding_writes(make: Make) -> None:
    """Bytes filled into a form are those of the header with these values, whatever the other lines hold."""
    header = make(seq=MAX_SEQ, title="seq: 7 %d %b 100%", ext={"a": "\nseq: 1\nsalt: 2\nseal: 3", "b": "%"})
    text = '\nseq: 7\nsalt: "x"\nseal: "y"\n---\n%'
    before, after = Form(header).around_seal((LATER, TIME, 8, "ab" * 32, SALT), "89abcdef", text.encode())
    filled = replace(
        header,
        record_id=LATER,
        created_at=TIME,
        seq=8,
        prev="ab" * 32,
        salt=SALT,
        seal="1:89abcdef:" + "c4" * 32,
    )
    assert before + b"c4" * 32 + after == encode(filled, text)
    assert decode(before + ZEROS + after).text == text


def test_form_gives_the_chunks_a_reader_macs(make: Make) -> None:
    """What a writer MACs around the zeroed digits is what a reader finds in the finished bytes."""
    before, after = Form(make()).around_seal((LATER, TIME, 1, "ab" * 32, SALT), "89abcdef", b"t")
    covered = b"".join(seal_chunks(STORE, "memory", before + b"c4" * 32 + after))
    assert covered == lp("1", STORE, "memory") + before + ZEROS + after


def test_what_fits_at_the_widest_place_fits_at_every_one(make: Make) -> None:
    """A header of the longest kind that was checked for the last seq is read at the first one too."""
    tags = tuple(f"{number:02}" + "漢" * 198 for number in range(16))
    spare = MAX_HEADER - len(encode(make(tags=tags, seq=MAX_SEQ, ext={"a": ""}), "t")) + 1
    form = Form(make(tags=tags, seq=MAX_SEQ, ext={"a": "x" * spare}))
    for seq in (1, MAX_SEQ):
        before, after = form.around_seal((LATER, TIME, seq, "ab" * 32, SALT), "89abcdef", b"t")
        assert decode(before + ZEROS + after).header.seq == seq
