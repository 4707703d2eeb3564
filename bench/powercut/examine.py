"""What must be true of a store after a cut, seen by a process that was not there."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from typing import Final

from bench.powercut.operations import KEY, Kept
from bench.world import Who, World
from nsstore import NotVisible, OpenStore, Session, StoreError
from nsstore.audit import verify
from nsstore.layout import is_record_name
from nsstore.scope import Area, memory_namespace, state_namespace
from nsstore.store import Leaf

_NEXT: Final = "written after the cut"
_FILES: Final = re.compile(
    r"(?:store\.json|.*\.(?:log|lock|anchors|jsonl)|keys\.json|binding\.json|caches\.json)"
)


def texts(session: Session, area: Area) -> dict[str, str]:
    """Every record of the scope by its id, in the order they were written."""
    if area == "memory":
        found = session.list(limit=1000, include_superseded=True).items
    else:
        try:
            found = session.state.history(KEY)
        except NotVisible:
            found = ()
    return {one.record_id: one.text for one in reversed(found)}


def examine(
    world: World,
    who: Who,
    area: Area,
    kept: Sequence[Kept],
    tried: Sequence[str],
    *,
    doomed: Sequence[str] = (),
) -> list[str]:
    """Open the store afresh, read, write once more, open it again: the faults found, in words.

    ``kept`` were acknowledged and must all be there, or be gone; ``tried`` may be there, whole, each
    once, and a prefix of them in their order; of ``doomed`` all or none are there. Of what is gone no
    byte of text is left.
    """
    try:
        return [*_faults(world, who, area, kept, tried, doomed=doomed)]
    except (StoreError, OSError) as err:
        return [f"{type(err).__name__}: {err}"]


def _faults(
    world: World,
    who: Who,
    area: Area,
    kept: Sequence[Kept],
    tried: Sequence[str],
    *,
    doomed: Sequence[str],
) -> Iterator[str]:
    with world.open() as store:
        session = who.bind(store)
        there = texts(session, area)
        yield from _compare(there, kept, tried, doomed)
        yield from _other_verbs(session, area, there)
        receipt = session.remember(_NEXT) if area == "memory" else session.state.put(KEY, _NEXT)
        there[receipt.record_id] = _NEXT
        if texts(session, area) != there:
            yield "after one more write the process sees something else"
        yield from _disagreements(store, session, area)
        gone = _forgotten(store, session, area)
    yield from _left(world, who, [one for one in kept if one.gone or one.record_id in gone])
    with world.open() as store:
        if texts(who.bind(store), area) != there:
            yield "a third process sees something else"


def _compare(
    there: dict[str, str], kept: Sequence[Kept], tried: Sequence[str], doomed: Sequence[str]
) -> Iterator[str]:
    last = {one.record_id: one for one in kept}
    if len({text in there.values() for text in doomed}) > 1:
        yield "some of what is forgotten together is there, and some is not"
    for one in last.values():
        if one.gone or (one.text in doomed and one.record_id not in there):
            if one.record_id in there:
                yield f"acknowledged as forgotten, and there: {one.text!r}"
        elif there.get(one.record_id) != one.text:
            yield f"acknowledged and {'altered' if one.record_id in there else 'lost'}: {one.text!r}"
    known = last.keys()
    more = [text for record_id, text in there.items() if record_id not in known]
    open_ones = [text for text in tried if text not in {one.text for one in kept}]
    if more != open_ones[: len(more)]:
        yield f"not acknowledged and no prefix of what was tried: {more}"


def _other_verbs(session: Session, area: Area, there: dict[str, str]) -> Iterator[str]:
    if area == "state":
        listed = {one.record_id: one.text for one in session.state.list()}
        if listed != dict(list(there.items())[-1:]):
            yield "list of documents does not show the newest version"
        return
    for record_id, text in there.items():
        if session.get(record_id).text != text:
            yield "get and list differ"
    found = {hit.record_id for hit in session.search(" ".join(there.values()) or "note", k=100).hits}
    every = session.list(limit=1000, include_superseded=True).items
    if found != there.keys() - {old for one in every for old in one.supersedes}:
        yield "search and list differ"


def _leaf(store: OpenStore, session: Session, area: Area) -> Leaf:
    scope = session.envelope.scope
    return store.leaf(memory_namespace(scope) if area == "memory" else state_namespace(scope))


def _forgotten(store: OpenStore, session: Session, area: Area) -> frozenset[str]:
    return frozenset(_leaf(store, session, area).read().forgotten)


def _left(world: World, who: Who, gone: Sequence[Kept]) -> Iterator[str]:
    """Where the text of what is gone is found, in any file that is not another project's record."""
    wanted = {one.text.encode(): one.text for one in gone}
    for path in world.place.rglob("*"):
        other = path.suffix == ".md" and who.project not in path.parts and "quarantine" not in path.parts
        if wanted and not other and path.is_file():
            raw = path.read_bytes()
            yield from (f"forgotten, and in a file: {text!r}" for one, text in wanted.items() if one in raw)


def _disagreements(store: OpenStore, session: Session, area: Area) -> Iterator[str]:
    survey, verdict = _leaf(store, session, area).look(None)
    if not verdict.plain or survey.torn:
        yield f"after the next write anchor, ledger and directory do not agree: {verdict}"
    anchor = survey.anchor
    if anchor is None or (anchor.seq, anchor.head) != (survey.ledger.seq, survey.ledger.head):
        yield "after the next write the anchor is not at the head"
    if survey.names != frozenset(f"{member}.md" for member in survey.ledger.members):
        yield "after the next write the directory holds something else than the members"


def audit_faults(world: World, tenant: str, *, power_cut: bool = False) -> list[str]:
    """What is wrong with a tenant's audit; a power cut may leave a gap that the audit tells of."""
    with world.open() as store:
        verdict = verify(store.audit, ("tenant", tenant))
    faults = list(verdict.faults)
    if not verdict.whole and not power_cut:
        faults.append(f"the audit lost {verdict.gaps} events")
    return faults


def left_behind(world: World) -> list[str]:
    """Names in root and trust home that no record, chain, lock or key has: drafts that nobody removed."""
    found = [
        (folder, name)
        for top in (world.root, world.trust)
        for folder, _, names in os.walk(top)
        for name in names
        if not folder.startswith(f"{world.root}/quarantine/")
    ]
    return [
        f"{folder}/{name}"
        for folder, name in found
        if not _FILES.fullmatch(name) and not is_record_name(name)
    ]
