"""One operation on a disk that loses power at each of its steps, and what is found afterwards."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from pathlib import Path
from unittest.mock import patch

import msgspec

from bench.child import Report, in_child
from bench.powercut.examine import audit_faults, examine
from bench.powercut.image import Disk, make_image, mounted
from bench.powercut.operations import Kept, Operation, place_of
from bench.powercut.sabotage import records_unflushed
from bench.world import Who, World
from nsstore.root import steps
from nsstore.root.flusher import Flusher


class Cut(msgspec.Struct, frozen=True, kw_only=True):
    """A disk as a power cut left it: its image, the step that was about to be made, what was kept by then."""

    image: str
    step: int
    call: str
    kept: tuple[Kept, ...]


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """What came of cutting one operation: steps met, different disks found, records looked for, faults."""

    file_system: str
    operation: str
    steps: int
    disks: int
    acked: int
    faults: tuple[str, ...]


class _Camera:
    """A step hook that copies the disk before every step, and keeps each different one."""

    def __init__(self, image: Path, album: Path) -> None:
        self.image = image
        self.album = album
        self.thread = threading.get_ident()
        self.kept: list[Kept] = []
        self.cuts: list[Cut] = []
        self.steps = 0
        self._last = (b"", 0)

    def __call__(self, call: str) -> None:
        if threading.get_ident() == self.thread:
            self.take(call)
            self.steps += 1

    def take(self, call: str) -> None:
        """Keep the disk as it is, unless it is as it was."""
        disk = Disk.of(self.image)
        seen = (disk.digest(), len(self.kept))
        if seen != self._last:
            self._last = seen
            copy = self.album / f"{self.steps}.img"
            disk.save(copy)
            self.cuts.append(Cut(image=str(copy), step=self.steps, call=call, kept=tuple(self.kept)))


class _Film(msgspec.Struct, frozen=True, kw_only=True):
    before: tuple[Kept, ...]
    steps: int
    cuts: tuple[Cut, ...]


def cut_everywhere(place: Path, kind: str, operation: Operation, *, sabotaged: bool = False) -> Outcome:
    """Run the operation on a fresh disk, cut the power before each step and after it, examine each disk."""
    image, at, album = place / "disk.img", place / "mounted", place / "album"
    at.mkdir()
    album.mkdir()
    make_image(image, kind)
    who = place_of(operation, 0)
    with mounted(image, at):
        film = _film(image, at, album, operation, who, sabotaged=sabotaged)
    image.unlink()
    faults: list[str] = []
    for cut in film.cuts:
        with mounted(Path(cut.image), at):
            found = _faults_after(cut, film.before, World(place=at / "world"), who, operation)
        faults += [f"{operation.name}, before step {cut.step} ({cut.call}): {one}" for one in found]
        os.unlink(cut.image)
    return Outcome(
        file_system=kind,
        operation=operation.name,
        steps=film.steps,
        disks=len(film.cuts),
        acked=sum(len(film.before) + len(cut.kept) for cut in film.cuts),
        faults=tuple(faults),
    )


def _film(image: Path, at: Path, album: Path, operation: Operation, who: Who, *, sabotaged: bool) -> _Film:
    """Run the operation in a process of its own, so that nothing of it holds the disk afterwards."""

    def task(report: Report) -> None:
        world = World(place=at / "world")
        world.place.mkdir()
        world.make().close()
        before = operation.prepare(world, who)
        store = world.open()
        session = who.bind(store)
        camera = _Camera(image, album)
        with (
            _no_window(),
            records_unflushed() if sabotaged else contextlib.nullcontext(),
            steps.hooked(camera),
        ):
            operation.act(session, camera.kept.append)
            camera.take("acknowledged")
        film = _Film(before=before, steps=camera.steps, cuts=tuple(camera.cuts))
        report(msgspec.json.encode(film))
        os._exit(0)  # a process that lost power closes nothing

    ended = in_child(task)
    if ended.status != 0:
        raise RuntimeError("the operation did not end: see above")
    return msgspec.json.decode(ended.lines[0], type=_Film)


def _no_window() -> contextlib.AbstractContextManager[object]:
    """Nothing is flushed in the background: a power cut comes before the flusher does."""
    return patch.object(sys.modules[Flusher.__module__], "WINDOW_SECONDS", 3600.0)


def _faults_after(
    cut: Cut, before: tuple[Kept, ...], world: World, who: Who, operation: Operation
) -> list[str]:
    def task(report: Report) -> None:
        operation.mend(world, cut.kept)
        found = examine(
            world, who, operation.area, [*before, *cut.kept], operation.tried, doomed=operation.doomed
        )
        found += audit_faults(world, who.tenant, power_cut=True)
        report(msgspec.json.encode(found))

    ended = in_child(task)
    if ended.status != 0 or not ended.lines:
        return [f"the examination ended with {ended.status}"]
    return msgspec.json.decode(ended.lines[0], type=list[str])
