"""The documents say what the code says, in both directions."""

import re
from pathlib import Path
from typing import get_args

import pytest

from nsstore import digests, errors
from nsstore.audit import AuditLine, EventKind
from nsstore.incident import IncidentKind
from nsstore.ledger import Event
from nsstore.policy import Reason
from nsstore.record import Header

HOUSE = Path(__file__).parents[2]
DOCS = HOUSE / "docs"
PAGES = sorted([*HOUSE.glob("*.md"), *DOCS.rglob("*.md")])


def section(page: Path, heading: str) -> str:
    """The text of one section of a page, up to the next heading of its level."""
    text = page.read_text()
    found = re.search(rf"^{re.escape(heading)}$(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    assert found, f"{page.name} has no section {heading!r}"
    return found[1]


def first_cells(text: str) -> list[str]:
    """The names that stand alone, as code, in the first cell of each row of the tables in a text."""
    return re.findall(r"^\| `([^`|]+)` \|", text, re.MULTILINE)


def test_every_error_kind_is_documented() -> None:
    """The table of kinds is the table of the code, class by class."""
    table = section(DOCS / "design.md", "## 10. Errors and reasons").partition("The reasons")[0]
    rows = re.findall(r"^\| `(\w+)` \| `(\w+)` \|", table, re.MULTILINE)
    assert sorted(rows) == sorted((kind.kind, kind.__name__) for kind in errors.KINDS)


def test_the_kinds_are_closed() -> None:
    """Every error of the library is one of the kinds, and no two share a name."""

    def below(kind: type[errors.StoreError]) -> set[type[errors.StoreError]]:
        return {kind}.union(*(below(one) for one in kind.__subclasses__()))

    own = {one for one in below(errors.StoreError) if one.__module__.startswith("nsstore.")}
    assert own - {errors.StoreError} == set(errors.KINDS)
    assert len({kind.kind for kind in errors.KINDS}) == len(errors.KINDS)


def test_every_reason_is_documented() -> None:
    """The table of reasons is the enum, in both directions."""
    table = section(DOCS / "design.md", "## 10. Errors and reasons").partition("The reasons")[2]
    assert sorted(first_cells(table.partition("The kinds")[0])) == sorted(Reason)


def test_every_kind_of_incident_is_documented() -> None:
    """The table of incidents is the enum, in both directions."""
    table = section(DOCS / "design.md", "## 10. Errors and reasons").partition("The kinds")[2]
    assert sorted(first_cells(table)) == sorted(IncidentKind)


def test_the_header_is_documented() -> None:
    """The format names the header's keys in the header's order."""
    keys = section(DOCS / "format.md", "## Record").split("```")[1].split()
    assert tuple(keys) == Header.__struct_fields__


def test_every_ledger_event_is_documented() -> None:
    """The format names each event of a ledger and its keys in their order, and no other."""
    rows = re.findall(
        r"^\| `(\w+)` \| ((?:`\w+` ?)+) \|",
        section(DOCS / "format.md", "## Ledger, lock, anchor"),
        re.MULTILINE,
    )
    documented = {name: ("seq", "event", *re.findall(r"\w+", keys), "prev") for name, keys in rows}
    kinds: tuple[type[Event], ...] = get_args(Event)
    assert documented == {kind.__name__.lower(): kind.__struct_fields__ for kind in kinds}


def test_the_audit_is_documented() -> None:
    """The format names the keys of an audit line in their order, and every event, routine or not."""
    text = section(DOCS / "format.md", "## Audit")
    assert tuple(text.split("```")[1].split()) == AuditLine.__struct_fields__
    routine, _, security = text.split("```")[2].partition(";")
    for group, is_security in ((routine, False), (security, True)):
        named = set(re.findall(r"`(\w+)`", group))
        assert named == {kind for kind in EventKind if kind.security is is_security}


def test_every_purpose_of_a_digest_is_documented() -> None:
    """The format names each `person` of the one table, and no other."""
    text = " ".join((DOCS / "format.md").read_text().split())
    found = re.search(r"`nss1/([a-z ]+)`", text)
    assert found
    table = {value for value in vars(digests).values() if isinstance(value, bytes)}
    assert {f"nss1/{name}".encode() for name in found[1].split()} == table


def prose(page: Path) -> str:
    """A page without its fences."""
    return re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)


def anchors(page: Path) -> set[str]:
    """The names by which the headings of a page are linked."""
    headings = re.findall(r"^#+ (.+)$", prose(page), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    """Every link of a page to a file of the project finds it, and the heading in it that it names."""
    for target, anchor in re.findall(r"\]\((?!https?:)([^)#\s]*)#?([^)\s]*)\)", prose(page)):
        there = page.parent / target if target else page
        assert there.exists(), target
        assert not anchor or anchor in anchors(there), (target, anchor)
