"""The same answer in a few lines of text, for a client that shows no structured results."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from nsstore.mcp.results import (
    Forgotten,
    FoundEvidence,
    FoundMemory,
    ListedMemory,
    Memory,
    OneMemory,
    Written,
)
from nsstore.session.plain import one_line

EXCERPT: Final = 240
NOTHING: Final = (
    "nothing found that this scope may read; other branches, baselines and projects are not searched"
)


def tell_found(found: FoundMemory) -> str:
    """A line for each record, best first."""
    return "\n".join(_found(found.advisory, found.memory, found.stale, found.left_out, found.notices))


def tell_evidence(found: FoundEvidence) -> str:
    """What the sources of truth said, and beneath it what was remembered."""
    said = list[str]()
    for truth in found.truth:
        source = _flat(truth.source)
        if truth.silent:
            said.append(f"- {source} gave no answer")
        said += [f"- {source}, {_flat(one.about)}: {_flat(one.text)}" for one in truth.statements]
    begin = ["So it is now:"] if said else ["No source of truth said anything about this."]
    lines = [found.note, *begin, *said, "So it was remembered:"]
    lines += _found(found.advisory, found.memory, found.stale, found.left_out, found.notices)
    return "\n".join(lines)


def tell_listed(listed: ListedMemory) -> str:
    """A line for each record, newest first."""
    lines = [listed.advisory, *_rows(listed.memory)] if listed.memory else ["no records in this session"]
    if listed.before is not None:
        lines.append(f"{listed.older} of {listed.total} are older: before={listed.before} goes on")
    return "\n".join(lines)


def tell_one(one: OneMemory) -> str:
    """Where the record is from, and its text as it stands."""
    lines = [
        one.advisory,
        " ".join(filter(None, (one.record_id, one.created_at, one.kind, "stale" if one.stale else None))),
        *((one.title,) if one.title else ()),
        "",
        one.text,
    ]
    if one.next_start is not None:
        lines.append(f"({one.characters} characters in all: start={one.next_start} goes on)")
    return "\n".join(lines)


def tell_written(written: Written) -> str:
    """The id of a record that is durable."""
    return f"{written.record_id} is durable" + (", as an earlier call wrote it" if written.replayed else "")


def tell_forgotten(forgotten: Forgotten) -> str:
    """Which records are gone, or would be."""
    done = "would be forgotten" if forgotten.dry_run else "forgotten for good"
    back = f"; current again, and not forgotten: {', '.join(forgotten.back)}" if forgotten.back else ""
    return f"{done}: {', '.join(forgotten.records)}{back}"


def _found(
    advisory: str,
    current: tuple[Memory, ...],
    stale: tuple[Memory, ...],
    left_out: int,
    notices: Iterable[str],
) -> Iterator[str]:
    if current or stale:
        yield advisory
    else:
        yield NOTHING
    yield from _rows(current)
    if stale:
        yield "Stale, of an allowed other branch or baseline:"
        yield from _rows(stale)
    if left_out:
        yield f"{left_out} more had no room: ask for fewer, or in fewer words"
    yield from (f"note: {notice}" for notice in notices)


def _rows(found: Iterable[Memory]) -> Iterator[str]:
    for place, one in enumerate(found, 1):
        branch = one.provenance.scope.get("branch")
        where = " ".join(filter(None, (one.created_at[:10], branch if branch != "-" else None, one.kind)))
        title = f"{_flat(one.title)}: " if one.title else ""
        yield f"{place}. [{one.record_id} {where}] {title}{_flat(one.text)}"


def _flat(text: str) -> str:
    return one_line(text, EXCERPT)
