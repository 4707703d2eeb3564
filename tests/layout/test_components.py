"""Id to component and back, over all of Unicode and on every kind of disk."""

from __future__ import annotations

import re
import unicodedata
from base64 import b32encode
from collections.abc import Callable
from hashlib import blake2b
from urllib.parse import unquote_to_bytes

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nsstore.errors import InvalidInput
from nsstore.layout import decode, encode
from nsstore.scope import check_id
from nsstore.scope.codepoints import RANGES

LEVEL = {"tenant": "tenant", "group": "tenant", "user": "user", "project": "project"} | {
    "session": "session",
    "conversation": "session",
    "workspace": "workspace",
}
MARKER = {"group": "%g.", "conversation": "%c."}
DEVICES = ["con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(10))]
ALL_VISIBLE = "".join(chr(code) for first, last in RANGES for code in range(first, last + 1))


def windows(name: str) -> str:
    """The name as Windows keeps it: case folded, trailing dots and spaces lost, a device by its stem."""
    kept = name.casefold().rstrip(". ")
    stem = kept.partition(".")[0].rstrip(" ")
    return f"device {stem}" if stem in {*DEVICES, "conin$", "conout$"} else kept


DISKS: dict[str, Callable[[str], str]] = {
    "exact": lambda name: name,
    "lower": str.lower,
    "upper": str.upper,
    "casefold": str.casefold,
    "nfc": lambda name: unicodedata.normalize("NFC", name),
    "nfd": lambda name: unicodedata.normalize("NFD", name),
    "nfkc": lambda name: unicodedata.normalize("NFKC", name),
    "nfd and casefold": lambda name: unicodedata.normalize("NFD", name).casefold(),
    "windows": windows,
}


def is_id(text: str) -> bool:
    """Whether the text is an id."""
    try:
        check_id("id", text)
    except InvalidInput:
        return False
    return True


def near(filler: str, count: int, end: str) -> str:
    """A text whose component is about as long as a component may be."""
    return (filler * count)[: 200 - len(end)] + end


def beside(device: str, end: str) -> str:
    """A device name, or a name that begins like one."""
    return device + end


character = st.one_of(
    st.sampled_from("abzABZ019-_.+%~ :|&=,/\\@#'\"()$!"),
    st.sampled_from("ßẞſıİŉéÉﬁ\uff21\uff0e\u2025\u2044\u2215\u0301\u0345\u1e9e\u01c5\u03c2\u03a3\u00b9"),
    st.sampled_from(ALL_VISIBLE),
)
FILLERS = ["a", "A", "é", "新", "\U0001d504", "a.", "a ", "+", "Aé", "..a"]
near_the_limit = st.builds(
    near, st.sampled_from(FILLERS), st.integers(40, 200), st.text(character, max_size=4)
)
spellings = st.sampled_from([name for device in DEVICES for name in (device, device.upper(), device.title())])
endings = st.sampled_from(["", ".", ".txt", "..", "x", " x", "\u00b9", "$"])
device_like = st.builds(beside, spellings, endings)
dotted = st.text(".aA ", min_size=1, max_size=8)
ids = (
    st.one_of(st.text(character, min_size=1, max_size=200), near_the_limit, device_like, dotted)
    .map(lambda text: unicodedata.normalize("NFC", text).strip())
    .filter(is_id)
)
dimensions = st.sampled_from(sorted(LEVEL))

# What a careless store, an editor or a disk makes of an id: the twins that must not meet it.
TWINS: list[Callable[[str], str]] = [
    str.swapcase,
    str.lower,
    str.upper,
    str.casefold,
    str.title,
    lambda id_: unicodedata.normalize("NFKC", id_),
    lambda id_: unicodedata.normalize("NFC", unicodedata.normalize("NFKD", id_).casefold()),
    lambda id_: re.sub(r"[^0-9A-Za-z]", "-", id_),
    lambda id_: id_.replace(" ", "_"),
    lambda id_: id_.replace("/", "%2f"),
    lambda id_: id_.replace("/", "\\"),
    lambda id_: id_ + ".",
    lambda id_: "." + id_,
    lambda id_: id_.strip("."),
    lambda id_: id_[:-1],
    lambda id_: id_[:-1] + "x",
    lambda id_: id_ + "0",
    lambda id_: id_ + "-corp",
    lambda id_: encode("user", id_),
    lambda id_: encode("user", id_).replace("%", "").replace("+", ""),
]


def expected_digest(dimension: str, id_: str) -> str:
    """The 52 characters of a digest component, by docs/format.md and the standard library alone."""
    parts = [dimension.encode(), id_.encode()]
    fed = b"".join(len(part).to_bytes(4, "big") + part for part in parts)
    raw = blake2b(fed, digest_size=32, person=b"nss1/path").digest()
    return b32encode(raw).decode().lower().rstrip("=")


@given(dimensions, ids)
def test_component_leads_back_to_its_id(dimension: str, id_: str) -> None:
    """A plain component decodes to exactly its dimension and id, a digest component to neither."""
    component = encode(dimension, id_)
    back = decode(LEVEL[dimension], component)
    assert back == (None if "%~" in component else (dimension, id_))


@given(dimensions, ids)
def test_component_says_its_id_in_bytes(dimension: str, id_: str) -> None:
    """Undone by a plain percent decoder, the component is its marker and the id's own bytes."""
    component = encode(dimension, id_)
    marker = MARKER.get(dimension, "")
    assert component.startswith(marker)
    head, cut, tail = component.removeprefix(marker).partition("%~")
    raw = unquote_to_bytes(re.sub(r"\+([a-z])", lambda match: match[1].upper(), head))
    if cut:
        assert id_.encode().startswith(raw)
        assert tail == expected_digest(dimension, id_)
        assert 198 <= len(component) <= 200
    else:
        assert raw == id_.encode()


@given(dimensions, ids)
def test_component_is_a_plain_name(dimension: str, id_: str) -> None:
    """Every component is small ASCII of at most 200 bytes, no dot entry, no device, with no dot at an end."""
    component = encode(dimension, id_)
    assert re.fullmatch(r"[a-z0-9_.+%~-]{1,200}", component)
    assert component[0] != "."
    assert component[-1] != "."
    assert component.partition(".")[0] not in DEVICES


@pytest.mark.parametrize("disk", list(DISKS))
@given(dimension=dimensions, id_=ids, twin=st.sampled_from(TWINS))
def test_twins_never_meet(disk: str, dimension: str, id_: str, twin: Callable[[str], str]) -> None:
    """An id and what is like it have different components, whatever the disk does to names."""
    other = twin(id_)
    if other == id_ or not is_id(other):
        return
    fold = DISKS[disk]
    assert fold(encode(dimension, id_)) != fold(encode(dimension, other))


@pytest.mark.parametrize("disk", list(DISKS))
@given(population=st.lists(st.tuples(dimensions, ids), max_size=30, unique=True))
def test_population_never_meets(disk: str, population: list[tuple[str, str]]) -> None:
    """Any ids in the dimensions of one level have as many components as there are ids."""
    fold = DISKS[disk]
    for level in set(LEVEL.values()):
        here = [(dimension, id_) for dimension, id_ in population if LEVEL[dimension] == level]
        assert len({fold(encode(dimension, id_)) for dimension, id_ in here}) == len(here)


def test_every_character_has_its_own_component() -> None:
    """Over all visible code points, one by one: as many components as ids, also with case folded."""
    single = [text for text in (f"x{character}" for character in ALL_VISIBLE) if is_id(text)]
    assert len(single) > 142_000
    components = {encode("user", text).casefold() for text in single}
    assert len(components) == len(single)


@given(st.sampled_from(sorted(set(LEVEL.values()))), st.text("ab1.-_+%~gcnAé \n/", max_size=12) | st.text())
def test_any_name_is_canonical_or_refused(level: str, name: str) -> None:
    """A name found on a disk decodes only if encoding the answer gives the name again."""
    try:
        back = decode(level, name)
    except InvalidInput:
        return
    assert back is not None
    assert encode(*back) == name
    assert LEVEL[back[0]] == level


@given(dimensions, ids, st.data())
def test_altered_component_is_another_or_refused(dimension: str, id_: str, data: st.DataObject) -> None:
    """One character changed, put in or taken out gives another id's component, or none."""
    component = encode(dimension, id_)
    at = data.draw(st.integers(0, len(component) - 1))
    letter = data.draw(st.sampled_from("ab0f2.-_+%~gcnA/ "))
    kept = data.draw(st.sampled_from([0, 1]))
    altered = component[:at] + letter + component[at + 1 - kept :]
    if altered == component:
        return
    try:
        back = decode(LEVEL[dimension], altered)
    except InvalidInput:
        return
    if back is not None:
        assert back != (dimension, id_)
        assert encode(*back) == altered


LONG_HEAD = "a" * 146
DIGEST = expected_digest("user", "a" * 201)


@pytest.mark.parametrize(
    ("level", "name"),
    [
        ("user", ""),
        ("user", "."),
        ("user", ".."),
        ("user", ".a"),
        ("user", "a."),
        ("user", "A"),
        ("user", "é"),
        ("user", "a b"),
        ("user", "a/b"),
        ("user", "a\n"),
        ("user", "a\x00"),
        ("user", "\udcff"),
        ("user", "%61"),  # a, which is kept
        ("user", "%41"),  # A, which is +a
        ("user", "%2E"),  # capital hex
        ("user", "a%2eb"),  # an inner dot, which is kept
        ("user", "+"),
        ("user", "+1"),
        ("user", "%"),
        ("user", "%2"),
        ("user", "%zz"),
        ("user", "%ff"),  # no UTF-8
        ("user", "%c0%af"),  # an overlong slash
        ("user", "%ed%a0%80"),  # a surrogate
        ("user", "a%00"),
        ("user", "e%cc%81"),  # not NFC
        ("user", "a%e2%80%8b"),  # zero-width space
        ("user", "%20a"),
        ("user", "con"),
        ("user", "com1.txt"),
        ("user", "%63on%2ex"),
        ("user", "%63ontract"),
        ("user", "-"),
        ("user", "%2a"),
        ("user", "%2e%2e"),
        ("user", "%2e%2e%2fx"),
        ("user", "null"),
        ("user", "%g.acme"),
        ("user", "%c.s1"),
        ("user", "%n."),
        ("tenant", "%c.acme"),
        ("tenant", "%n."),
        ("tenant", "%g."),
        ("tenant", "%g.%g.acme"),
        ("tenant", "%G.acme"),
        ("tenant", "%g.con"),
        ("session", "%g.s1"),
        ("session", "%n."),
        ("workspace", "%n.w"),
        ("workspace", "%n"),
        ("workspace", "-"),
        ("project", "%c.p"),
        ("user", "a%~" + DIGEST),  # a head that need not be cut
        ("user", "a" * 143 + "%~" + DIGEST),  # room for one unit more
        ("user", "a" * 147 + "%~" + DIGEST),  # too long
        ("user", "%~" + DIGEST),
        ("user", LONG_HEAD + "%~" + DIGEST[:-1]),
        ("user", LONG_HEAD + "%~" + DIGEST[:-1] + "b"),  # bits that no digest has
        ("user", LONG_HEAD + "%~" + DIGEST.upper()),
        ("user", LONG_HEAD + "%~" + DIGEST[:-2] + "1a"),
        ("user", "%61" + "a" * 143 + "%~" + DIGEST),  # a head that is not canonical
        ("user", "." + "a" * 145 + "%~" + DIGEST),
        ("user", "a" * 143 + "%2e" + "%~" + DIGEST),
        ("user", "con." + "a" * 142 + "%~" + DIGEST),
        ("user", "%g." + "a" * 143 + "%~" + DIGEST),
        ("user", "a" * 201),
        ("nobody", "a"),
        ("group", "%g.acme"),
        ("group", "acme"),
    ],
)
def test_name_that_is_never_written_is_refused(level: str, name: str) -> None:
    """Each other spelling, misplaced marker and impossible digest is refused without repeating the name."""
    with pytest.raises(InvalidInput) as refusal:
        decode(level, name)
    assert str(refusal.value) == f"{level} component is not the canonical spelling of an id"
    assert refusal.value.__suppress_context__ or refusal.value.__context__ is None


@pytest.mark.parametrize("name", [LONG_HEAD, "a" * 144, "a" * 145, "a" * 145 + ".", "%63on." + "a" * 140])
def test_well_formed_digest_component_names_no_id(name: str) -> None:
    """A digest component decodes to ``None``: only the genesis line can say whose it is."""
    assert decode("user", f"{name}%~{DIGEST}") is None


@pytest.mark.parametrize("dimension", ["", "agent", "branch", "Tenant", "tenants", "-"])
def test_other_dimension_has_no_component(dimension: str) -> None:
    """Only the dimensions of a path have components."""
    with pytest.raises(InvalidInput, match="dimension must be one of"):
        encode(dimension, "acme")


def test_not_applicable_is_a_workspace_of_its_own() -> None:
    """The workspace that is not applicable has a component that no id has, and no other dimension has one."""
    assert encode("workspace", "-") == "%n."
    assert decode("workspace", "%n.") == ("workspace", "-")
    for dimension in set(LEVEL) - {"workspace"}:
        with pytest.raises(InvalidInput, match="not applicable"):
            encode(dimension, "-")


class Subclass(str):
    """Equal to an id, spelled otherwise."""

    __slots__ = ()


@pytest.mark.parametrize("value", ["", "..", "a/../b", "*", "\ud800", "e\u0301", Subclass("acme")])
def test_only_ids_are_encoded(value: str) -> None:
    """Encoding checks again, also when the equal good id was encoded just before."""
    assert encode("user", "acme") == "acme"
    with pytest.raises(InvalidInput, match="user_id"):
        encode("user", value)
    with pytest.raises(InvalidInput):
        decode("user", Subclass("acme"))
