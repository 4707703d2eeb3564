"""The baselines are honest, and a dishonest one does not pass."""

from __future__ import annotations

import itertools
import os
import statistics
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from bench.baselines import (
    ALL,
    Baseline,
    BaselineError,
    DurableFts5,
    FlushProbe,
    OneFlushWrite,
    SyncfsBatch,
)
from nsstore.harness.texts import TEXT_BYTES, texts

ROUNDS = 8


def keep(kind: type[Baseline], disk: Path) -> Iterator[tuple[Baseline, float]]:
    """Run a baseline for some rounds of three texts; give it with the floor seen before and after."""
    baseline, probe = kind(disk / "kept"), FlushProbe(disk)
    for given in itertools.islice(texts(3), ROUNDS):
        baseline.once(given)
        probe.once()
    yield baseline, probe.floor
    probe.close()
    baseline.close()


def no_flush(_fd: int) -> None:
    """What a shim makes of a flush."""


class Unflushed(SyncfsBatch):
    """A batch that leaves its flush out."""

    def flush(self) -> None:
        """Flush nothing."""


class Relaxed(DurableFts5):
    """An insert that is durable only at a checkpoint."""

    settings = ("PRAGMA journal_mode=WAL", "PRAGMA synchronous=NORMAL")


class Forgetful(DurableFts5):
    """An insert whose last row is gone."""

    def stored(self) -> list[str]:
        self.db.execute("DELETE FROM notes WHERE number = (SELECT max(number) FROM notes)")
        return super().stored()


class Half(OneFlushWrite):
    """A write that keeps one text and lost its other half."""

    def stored(self) -> list[str]:
        (self.directory / "0").write_text("half")
        return super().stored()


@pytest.mark.parametrize("kind", ALL)
def test_an_honest_baseline_proves_itself(kind: type[Baseline], disk: Path) -> None:
    """Each baseline keeps all texts in order and flushes as slowly as the disk."""
    for baseline, floor in keep(kind, disk):
        baseline.prove(floor)
        assert len(baseline.stored()) == ROUNDS * 3


@pytest.mark.parametrize("kind", [Unflushed, Relaxed, Forgetful, Half])
def test_a_dishonest_baseline_is_refused(kind: type[Baseline], disk: Path) -> None:
    """A baseline without its flush, with a weaker one, or with a wrong result fails the run."""
    for baseline, floor in keep(kind, disk):
        with pytest.raises(BaselineError):
            baseline.prove(floor)


def test_a_write_without_fsync_is_below_the_floor(disk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A single write whose fsync does nothing is caught by time alone."""
    monkeypatch.setattr(os, "fsync", no_flush)
    for baseline, floor in keep(OneFlushWrite, disk):
        with pytest.raises(BaselineError, match="did not flush"):
            baseline.prove(floor)


def test_a_baseline_that_never_ran_is_refused(disk: Path) -> None:
    """No rounds are no proof."""
    baseline = OneFlushWrite(disk / "kept")
    with pytest.raises(BaselineError, match="never ran"):
        baseline.prove(0.0)
    baseline.close()


def test_no_floor_where_a_flush_is_free(disk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A disk on which flushing costs nothing gives no floor but an error, and keeps no probe."""
    monkeypatch.setattr(os, "fdatasync", no_flush)
    with pytest.raises(BaselineError, match="free"):
        FlushProbe(disk)
    assert not list(disk.iterdir())


def test_the_floor_is_below_an_honest_flush_and_above_none(disk: Path) -> None:
    """The floor lies between a bare write and a flush, and its probe is gone."""
    probe = FlushProbe(disk)
    probe.close()
    assert statistics.median(probe.writes) < probe.floor < statistics.median(probe.flushes)
    assert not list(disk.iterdir())


def test_a_floor_taken_while_the_disk_was_throttled_comes_down_again(disk: Path) -> None:
    """Slow probes at the start do not turn a later, faster flush into a suspect."""
    probe = FlushProbe(disk)
    probe.flushes = [second + 1.0 for second in probe.flushes]
    assert probe.floor > 0.5
    probe.once()
    probe.close()
    assert probe.floor < 0.5


def test_texts_are_distinct_and_the_same_in_every_run() -> None:
    """Every contender of every run keeps the same distinct texts of 1,024 bytes."""
    first: Sequence[str] = [text for batch in itertools.islice(texts(5), 4) for text in batch]
    assert first == [text for batch in itertools.islice(texts(5), 4) for text in batch]
    assert len(set(first)) == 20
    assert {len(text.encode()) for text in first} == {TEXT_BYTES}
