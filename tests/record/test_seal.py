"""What a seal covers: every byte of the file but its own 64 digits, the store and the area."""

from collections.abc import Callable
from hashlib import blake2b

import pytest

from nsstore.digests import RECORD, mac
from nsstore.record import (
    Header,
    Malformed,
    blank_seal,
    decode,
    encode,
    seal_chunks,
    seal_of,
    seal_parts,
    seal_text,
    with_seal,
)

Make = Callable[..., Header]

STORE = bytes(range(16))
KEY = bytes(range(32))


def sealed(raw: bytes) -> bytes:
    """The record sealed under the test's key."""
    return with_seal(raw, seal_text("0123abcd", mac(KEY, RECORD, *seal_chunks(STORE, "memory", raw))))


def test_seal_is_the_formats_mac(make: Make) -> None:
    """The seal is blake2b-256, person nss1/record, over LP("1") LP(store id) LP(area) and the zeroed file."""
    blank = encode(make(seal=blank_seal("0123abcd")), "text")
    assert b'seal: "1:0123abcd:' + b"0" * 64 + b'"\n---\ntext' in blank
    covered = b"\0\0\0\x011" + b"\0\0\0\x10" + STORE + b"\0\0\0\x06memory" + blank
    expected = blake2b(covered, key=KEY, person=b"nss1/record", digest_size=32).hexdigest()
    assert sealed(blank) == blank.replace(b"0" * 64 + b'"\n---', expected.encode() + b'"\n---')
    assert decode(sealed(blank)).header.seal == f"1:0123abcd:{expected}"


def test_seal_is_found_read_and_replaced(make: Make) -> None:
    """A record's seal is read from its bytes without decoding, and replacing it changes nothing else."""
    raw = encode(make(), 'seal: "1:89abcdef:' + "1" * 64 + '"\n---\n')
    assert seal_of(raw) == make().seal
    assert seal_parts(make().seal) == ("0123abcd", b"\x5e" * 32)
    other = "1:89abcdef:" + "c4" * 32
    assert with_seal(raw, other) == encode(make(seal=other), decode(raw).text)


def test_chunks_do_not_depend_on_the_digits(make: Make) -> None:
    """Sealed and unsealed bytes give the same chunks, so one computation seals and checks."""
    raw = encode(make(), "text")
    other = with_seal(raw, "1:0123abcd:" + "77" * 32)
    assert other != raw
    assert seal_chunks(STORE, "memory", other) == seal_chunks(STORE, "memory", raw)


def test_every_other_byte_is_covered(make: Make) -> None:
    """Changing any byte but the 64 digits changes what is sealed, or leaves nothing to seal."""
    raw = encode(make(title="x"), "text")
    chunks = b"".join(seal_chunks(STORE, "memory", raw))
    digits = range(raw.index(b"5e5e5e"), raw.index(b"5e5e5e") + 64)
    for place in range(len(raw)):
        changed = bytearray(raw)
        changed[place] ^= 1
        try:
            same = b"".join(seal_chunks(STORE, "memory", bytes(changed))) == chunks
        except Malformed:
            same = False
        assert same == (place in digits)


def test_store_and_area_are_covered(make: Make) -> None:
    """The same bytes in another store or area have another seal."""
    raw = encode(make(), "text")
    assert seal_chunks(bytes(16), "memory", raw) != seal_chunks(STORE, "memory", raw)
    assert seal_chunks(STORE, "state", raw) != seal_chunks(STORE, "memory", raw)


@pytest.mark.parametrize(
    "damage",
    [
        (b"seal: ", b"sea1: "),
        (b'"1:0123abcd:', b'"2:0123abcd:'),
        (b"1:0123abcd:", b"1:0123ABCD:"),
        (b"5e5e", b"5E5E"),
        (b"5e5e", b"5e5"),
        (b'5e"\n---', b'5e" \n---'),
        (b'5e"\n---', b"5e\n---"),
        (b'5e"\n---', b'5e"\nseal2: null\n---'),
        (b"\n---\ntext", b"\n--\ntext"),
    ],
)
def test_no_seal_is_found_where_none_ends_the_header(make: Make, damage: tuple[bytes, bytes]) -> None:
    """Bytes whose header does not end in a well-formed seal have none, even if their text does."""
    raw = encode(make(), "text")
    hurt = raw.replace(*damage, 1)
    assert hurt != raw
    for other in (hurt, b"", b"---\n", b"---\n---\n"):
        with pytest.raises(Malformed):
            seal_of(other)
        with pytest.raises(Malformed):
            with_seal(other, make().seal)
        with pytest.raises(Malformed):
            seal_chunks(STORE, "memory", other)


def test_a_seal_in_the_text_is_only_text(make: Make) -> None:
    """A damaged header is not sealed by a line of the text that looks like a seal."""
    line = f'x\nseal: "{make().seal}"\n---\n'
    hurt = encode(make(), line).replace(b'5e"\n---\nx', b'5e" \n---\nx')
    assert hurt.endswith(line.encode())
    with pytest.raises(Malformed):
        seal_of(hurt)
