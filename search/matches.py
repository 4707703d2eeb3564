"""Which terms of a question a record holds, and in which of its fields."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Final

from nsstore.record import Record
from nsstore.search.view import FIELDS, analysed
from nsstore.store.proven import Proven

_TEXT: Final = FIELDS[:1]
Matched = tuple[tuple[str, ...], tuple[str, ...]]


def terms_of(record: Record) -> list[str]:
    """All terms of a record, repeats included, as a view counts them."""
    return [term for found in _by_field(record) for term in found]


def matched(proven: Proven, wanted: Sequence[str]) -> Matched:
    """Which of the wanted terms a record holds, in the order asked, and the fields that hold one.

    What a text spells is worked out once for the bytes that were proven.
    """
    if proven.spelled is None:
        spell(proven)
    assert proven.spelled is not None
    text, title, tags = spelled = proven.spelled
    if not title and not tags:
        found = tuple([term for term in wanted if term in text])
        return found, _TEXT if found else ()
    found = tuple([term for term in wanted if term in text or term in title or term in tags])
    fields = zip(FIELDS, spelled, strict=True)
    return found, tuple(name for name, field in fields if not field.isdisjoint(wanted))


def spell(proven: Proven) -> tuple[list[str], ...]:
    """The terms of each field, repeats included; which there are is kept with the bytes that were proven."""
    found = _by_field(proven.record)
    if proven.spelled is None:
        # Interned: records of one store share most of their words.
        proven.spelled = tuple([frozenset(map(sys.intern, one)) for one in found])
    return found


def _by_field(record: Record) -> tuple[list[str], ...]:
    header = record.header
    return analysed(record.text, header.title or "", header.tags or ())
