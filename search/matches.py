"""What a record's text, title and tags spell: for its score, and for what of a question it holds."""

from __future__ import annotations

from collections import Counter
from itertools import chain
from typing import Final

from nsstore.record import Record
from nsstore.search.scoring import Scoring, step_of
from nsstore.search.view import FIELDS, analysed
from nsstore.store.proven import Proven, Spelled

_TEXT: Final = FIELDS[:1]
Matched = tuple[tuple[str, ...], tuple[str, ...]]


def terms_of(record: Record) -> list[str]:
    """All terms of a record, repeats included, as a view counts them."""
    return [term for found in _by_field(record) for term in found]


def weighed(proven: Proven, scoring: Scoring) -> tuple[float, Matched]:
    """A record's score, which of the wanted terms it holds, in the order asked, and in which fields."""
    spelled = proven.spelled
    if spelled is None:
        spell(proven)
        spelled = proven.spelled
        assert spelled is not None
    counts, step, fields = spelled
    score, held = scoring.weigh(counts.get, step)
    if fields is None:
        return score, (held, _TEXT if held else ())
    named = zip(FIELDS, fields, strict=True)
    return score, (held, tuple(name for name, field in named if not field.isdisjoint(held)))


def placed(proven: Proven, held: tuple[str, ...]) -> Matched:
    """The terms that a record holds, with the fields that hold one: worked out where there are several."""
    header = proven.record.header
    if not header.title and not header.tags:
        return held, _TEXT if held else ()
    return weighed(proven, Scoring(dict.fromkeys(held, 1.0), 1.0))[1]


def spell(proven: Proven) -> tuple[list[str], ...]:
    """The terms of each field, repeats included; what they come to is kept with the proven bytes."""
    found = _by_field(proven.record)
    text, *others = found
    every = [*chain.from_iterable(found)] if any(others) else text
    fields = tuple([frozenset(one) for one in found]) if any(others) else None
    proven.spelled = Spelled(Counter(every), step_of(len(every)), fields)
    return found


def _by_field(record: Record) -> tuple[list[str], ...]:
    header = record.header
    return analysed(record.text, header.title or "", header.tags or ())
