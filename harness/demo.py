"""What a newcomer should see: four scopes remember, nothing crosses, and a changed byte is refused.

Every claim is a step that was tried just now in a temporary store; a step that does not hold makes
the verdict fail. Nothing outlives the run.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Final

import msgspec

from nsstore.audit import verify
from nsstore.errors import IntegrityError, InvalidInput, NotVisible, StoreError
from nsstore.gate import UNDER_TEST
from nsstore.root import WRITE, Dir, Root
from nsstore.root.scratch import scratch
from nsstore.scope import NA
from nsstore.session import OpenStore, Session, open_store

REMEMBERED: Final = {
    ("acme", "ada", "atlas", "monday"): "The release train leaves on Thursdays.",
    ("acme", "ada", "atlas", "tuesday"): "The release notes are Ada's to write.",
    ("acme", "ada", "borealis", "monday"): "The release of Borealis waits for May.",
    ("globex", "bob", "atlas", "monday"): "The release party is on the roof.",
}
MONDAY, TUESDAY, BOREALIS, GLOBEX = REMEMBERED
QUESTION: Final = "When is the release?"
Place = tuple[str, str, str, str]


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """One claim: ``what`` was tried, what the store ``told``, and whether that is what it must be."""

    part: str
    what: str
    held: bool
    told: str = ""


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """Whether every step held; the files of the store and its trust home, and one record as it stands."""

    held: bool
    steps: tuple[Step, ...]
    tree: tuple[str, ...]
    record: str
    seconds: float


def run() -> Verdict:
    """Try every step in a temporary store and judge it.

    Raises :class:`StoreError` if this machine does not let a store be made or written at all.
    """
    began = time.monotonic()
    with scratch("demo") as folder:
        root, trust_home = os.path.join(folder, "store"), os.path.join(folder, "trust")
        with open_store(root, create=True, trust_home=trust_home, gate=UNDER_TEST) as store:
            demo = _Demo(store)
            steps = list(demo.steps())
            tree, record = demo.tree(), demo.record(TUESDAY)
    return Verdict(
        held=bool(steps) and all(step.held for step in steps),
        steps=tuple(steps),
        tree=tuple(tree),
        record=record,
        seconds=time.monotonic() - began,
    )


class _Demo:
    """The sessions of the demonstration and what each of them remembered."""

    def __init__(self, store: OpenStore) -> None:
        self.store = store
        self.ids: dict[Place, str] = {}

    def steps(self) -> Iterator[Step]:
        yield from self._remember()
        yield from self._cross()
        yield from self._flip()

    def bind(self, place: Place, **changed: object) -> Session:
        tenant, user, project, session = place
        scope = {"tenant_id": tenant, "user_id": user, "project_id": project, "session_id": session}
        bind: Callable[..., Session] = self.store.bind
        return bind(
            **{**scope, **changed},
            agent_id="demo",
            workspace_id=NA,
            branch=NA,
            baseline=NA,
            source_tool="nsstore-demo",
            purpose="recall",
        )

    def _remember(self) -> Iterator[Step]:
        part = "Two tenants, two projects, two sessions remember, and each finds its own"
        for place, text in REMEMBERED.items():
            self.ids[place] = self.bind(place).remember(text).record_id
        for place, text in REMEMBERED.items():
            hits = self.bind(place).search(QUESTION).hits
            yield Step(
                part=part,
                what=f"{'/'.join(place)} asks: {QUESTION}",
                told=" | ".join(hit.text for hit in hits) or "nothing",
                held=[hit.record_id for hit in hits] == [self.ids[place]] and hits[0].text == text,
            )

    def _cross(self) -> Iterator[Step]:
        part = "Nothing crosses"
        hits = self.bind(TUESDAY).search("train Thursdays").hits
        told = f"{len(hits)} found" if hits else "nothing found"
        yield Step(part=part, what="search for monday's words on tuesday", told=told, held=not hits)
        monday = self.ids[MONDAY]
        for place, what in ((TUESDAY, "session"), (BOREALIS, "project"), (GLOBEX, "tenant")):
            got = f"get monday's record from another {what}"
            yield _refused(part, got, NotVisible, partial(self.bind(place).get, monday))
        absent = monday[:-4] + ("0000" if monday[-4:] != "0000" else "1111")
        yield self._same_answer(part, monday, absent)
        bad = "00000000-0000-7000-8000-000000000000/../" + monday
        yield _refused(
            part, "get an id that is a path (..)", InvalidInput, partial(self.bind(TUESDAY).get, bad)
        )
        for field, value in (("session_id", None), ("project_id", ".."), ("tenant_id", "*")):
            what = f"bind with {field} = {value!r}"
            yield _refused(part, what, InvalidInput, partial(self.bind, MONDAY, **{field: value}))
        yield _refused(
            part,
            "remember with metadata that names tenant_id",
            InvalidInput,
            lambda: self.bind(MONDAY).remember("mine now", ext={"tenant_id": "globex"}),
        )

    def _same_answer(self, part: str, denied: str, absent: str) -> Step:
        answers = {
            str(error).replace(record_id, "<id>")
            for record_id in (denied, absent)
            if (error := _error(partial(self.bind(GLOBEX).get, record_id)))
        }
        return Step(
            part=part,
            what="a record that is denied and one that never was give one answer",
            told=" | ".join(sorted(answers)),
            held=len(answers) == 1,
        )

    def _flip(self) -> Iterator[Step]:
        part = "A changed byte is refused"
        for tenant in ("acme", "globex"):
            verdict = verify(self.store.audit, ("tenant", tenant))
            yield Step(
                part=part,
                what=f"before: the audit of {tenant} is one whole chain",
                told=f"{verdict.events} events" if verdict.whole else "; ".join(verdict.faults),
                held=verdict.whole and verdict.events > 0,
            )
        monday = self.ids[MONDAY]
        flip(self.store.root, self.bind(MONDAY).get(monday).provenance.path)
        got = "get the record after one byte of its file was changed"
        yield _refused(part, got, IntegrityError, lambda: self.bind(MONDAY).get(monday))
        yield _refused(
            part, "search for it", IntegrityError, lambda: self.bind(MONDAY).search("train Thursdays")
        )
        hits = self.bind(TUESDAY).search(QUESTION).hits
        told = " | ".join(hit.text for hit in hits) or "nothing"
        yield Step(part=part, what="the other session goes on", told=told, held=len(hits) == 1)

    def record(self, place: Place) -> str:
        """The file of a record as it stands on the disk."""
        path = self.bind(place).get(self.ids[place]).provenance.path
        return (self.store.root.read(path, 64 * 1024) or b"").decode()

    def tree(self) -> list[str]:
        """The files of the store and of its trust home, without the lock files."""
        lines: list[str] = []
        for name, root in (("store", self.store.root), ("trust", self.store.trust.home)):
            lines += [f"{name}/{path}" for path in _files(root.top()) if not path.endswith(".lock")]
        return lines


def flip(root: Root, path: str) -> None:
    """Change one bit of the last byte but one of a file: of a record, that is its text."""
    file = root.open_file(path, WRITE)
    assert file is not None
    with file:
        raw = file.read(64 * 1024)
        file.write_at(len(raw) - 2, bytes([raw[-2] ^ 1]))


def _refused(part: str, what: str, kind: type[StoreError], call: Callable[[], object]) -> Step:
    error = _error(call)
    told = f"{error.kind}: {error}" if error else "it was answered"
    return Step(part=part, what=what, told=told, held=type(error) is kind)


def _error(call: Callable[[], object]) -> StoreError | None:
    try:
        call()
    except StoreError as err:
        return err
    return None


def _files(folder: Dir, path: str = "") -> Iterator[str]:
    with folder:
        folders = folder.folders()
        for name in sorted(folder.names()):
            below = folder.sub(name) if name in folders else None
            if below is None:
                yield path + name
            else:
                yield from _files(below, f"{path}{name}/")
