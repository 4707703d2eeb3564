"""The twins, separators and device names of the published bug reports, on a disk that folds case."""

from __future__ import annotations

from itertools import combinations

import pytest
from pyfakefs.fake_filesystem import FakeFilesystem
from pyfakefs.fake_os import FakeOsModule

from nsstore.errors import InvalidInput
from nsstore.layout import decode, encode

TWINS = {
    "BR-01": ["acme", "acme-corp", "1", "10", "app", "app2", "s", "s.", "s-", "s_"],
    "BR-03": ["john_doe", "john-doe", "john%doe", "john%5fdoe"],
    "BR-04": ["my_project", "my-project", "my.project", "my project", "my%20project"],
    "BR-04 in other scripts": ["新聞", "暫存", "strasse", "straße", "STRASSE", "é", "É", "e"],
    "BR-04 separators": ["a/b", "a-b", "a\\b", "a|b", "a_b", "a%2fb", "a\u2215b", "a\u2044b", "a b"],
    "BR-05": ["aa:b", "aa", "b", "aa|b", "aa&b", "aa=b", "aa.b", "aa,b"],
    "BR-31": ["..%c0%af", "\uff0e\uff0e\uff0fx", "\u2025/x", "\u2025x", "..x"],
    "BR-32": ["alice", "alice.", "alice..", ".alice", "Alice", "ALICE", "alice%2e"],
    "BR-32 devices": [
        *("con", "CON", "Con", "con.", "con.txt", "CON.txt", "63on", "nul", "nul.txt", "aux", "com1", "lpt9"),
        *("com\u00b9", "COM\u00b9", "conin$", "CONIN$", "com10", "com", "console"),
    ],
    "case": ["Acme", "acme", "ACME", "aCme", "+acme", "a+c", "aC", "a+C"],
    "turkish and greek": ["i", "\u0131", "\u0130", "I", "\u03c3", "\u03c2", "\u03a3", "\u017f", "s", "S"],
    "compatibility": ["fi", "\ufb01", "1", "\u00b9", "\u2460", "\uff11", "K", "k", "\uff4b"],
    "long": [
        *("x" * 199, "x" * 200, "X" * 100, "X" * 101, "x" * 146 + "Y" * 50, "x" * 146 + "y" * 54),
        *("x" * 146 + "Y" * 49 + "Z", "\u00e9" * 128, "\u00e9" * 127 + "\u00c9", "\U0001d504" * 200),
    ],
}
CASES = [pytest.param(twins, id=case) for case, twins in TWINS.items()]


def disk() -> FakeOsModule:
    """An empty disk that folds case."""
    fs = FakeFilesystem()
    fs.is_case_sensitive = False
    fake = FakeOsModule(fs)
    fake.mkdir("/t")
    return fake


def test_the_disk_folds_case() -> None:
    """On this disk two spellings of one name are one directory: the tests below could fail."""
    fake = disk()
    fake.mkdir("/t/Acme")
    with pytest.raises(FileExistsError):
        fake.mkdir("/t/acme")


@pytest.mark.parametrize("twins", CASES)
def test_twins_get_directories_of_their_own(twins: list[str]) -> None:
    """Made one after the other on a case-folding disk, no twin finds its directory already there."""
    fake = disk()
    for twin in twins:
        fake.mkdir(f"/t/{encode('user', twin)}")
        fake.mkdir(f"/t/{encode('user', twin)}/only {twins.index(twin)}")
    listed = fake.listdir("/t")
    assert sorted(listed) == sorted(encode("user", twin) for twin in twins)
    for place, twin in enumerate(twins):
        assert fake.listdir(f"/t/{encode('user', twin)}") == [f"only {place}"]


@pytest.mark.parametrize("twins", CASES)
@pytest.mark.parametrize(
    "dimension", ["tenant", "group", "user", "project", "session", "conversation", "workspace"]
)
def test_twins_differ_in_every_dimension(dimension: str, twins: list[str]) -> None:
    """In each dimension of a path every pair of twins has two components, apart from case and final dots."""
    for one, other in combinations(twins, 2):
        assert encode(dimension, one).casefold().rstrip(". ") != encode(dimension, other).casefold().rstrip(
            ". "
        )


@pytest.mark.parametrize(("dimension", "other"), [("tenant", "group"), ("session", "conversation")])
@pytest.mark.parametrize("twins", CASES)
def test_the_two_of_a_pair_never_meet(dimension: str, other: str, twins: list[str]) -> None:
    """Tenant and group share a level, so do session and conversation; one name makes two directories."""
    fake = disk()
    for twin in twins:
        fake.mkdir(f"/t/{encode(dimension, twin)}")
        fake.mkdir(f"/t/{encode(other, twin)}")
    assert len(fake.listdir("/t")) == 2 * len(twins)


@pytest.mark.parametrize(
    ("id_", "component"),
    [
        ("..%c0%af", "%2e.%25c0%25af"),
        ("\uff0e\uff0e\uff0fx", "%ef%bc%8e%ef%bc%8e%ef%bc%8fx"),
        ("\u2025x", "%e2%80%a5x"),
        ("a\u2215b", "a%e2%88%95b"),
        ("a\u2044b", "a%e2%81%84b"),
    ],
)
def test_other_spellings_of_a_path_stay_literal(id_: str, component: str) -> None:
    """What would become a path after one more decoding is stored byte for byte, never decoded (BR-31)."""
    assert encode("user", id_) == component
    assert decode("user", component) == ("user", id_)


@pytest.mark.parametrize("raw", ["%2e%2e%2f", "%252e%252e%252f", "..\\x", "../x", "/etc/passwd", "%2e%2e"])
def test_a_path_is_no_directory_name(raw: str) -> None:
    """A path is refused as an id, and no name on the disk decodes to one (BR-29, BR-30, BR-31)."""
    with pytest.raises(InvalidInput):
        encode("user", raw)
    with pytest.raises(InvalidInput):
        decode("user", raw)
