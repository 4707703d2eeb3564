"""One verdict over both halves: what the isolation suite found, and what the benchmarks measured."""

from __future__ import annotations

import msgspec

from nsstore.harness.case import Report
from nsstore.harness.comparing import changes
from nsstore.harness.measured import BenchRun
from nsstore.harness.report.verdict import Word, reasons, summary, word


class Half(msgspec.Struct, frozen=True, kw_only=True):
    """What one half comes to: in a word, in a line, and each reason why it is not green in a sentence."""

    word: Word
    told: str
    why: tuple[str, ...] = ()


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """Green only if both halves are there and green; red if one of them is; else it is no verdict."""

    word: Word
    isolation: Half
    performance: Half

    @property
    def fails(self) -> bool:
        """Whether a release must not go out."""
        return self.word is Word.RED

    @property
    def why(self) -> tuple[str, ...]:
        """Every reason why it is not green; none if it is."""
        return (*self.isolation.why, *self.performance.why)


def verdict_of(report: Report | None, bench: BenchRun | None, against: BenchRun | None = None) -> Verdict:
    """The verdict on a report and a run of benchmarks; ``None`` for a half that there is not.

    With a run to compare it ``against`` a run is red as well if it is slower than that beyond what noise
    allows.
    """
    isolation, performance = _isolation(report), _performance(bench, against)
    words = {isolation.word, performance.word}
    whole = Word.RED if Word.RED in words else Word.GREEN if words == {Word.GREEN} else Word.PARTIAL
    return Verdict(word=whole, isolation=isolation, performance=performance)


def _isolation(report: Report | None) -> Half:
    if report is None:
        return Half(word=Word.MISSING, told="not tried", why=("Isolation was not tried",))
    return Half(word=word(report), told=summary(report), why=reasons(report))


def _performance(bench: BenchRun | None, against: BenchRun | None) -> Half:
    if bench is None:
        return Half(word=Word.MISSING, told="not measured", why=("Performance was not measured",))
    red = list(bench.faults)
    red += [f"{one.name}: {one.told()}" for one in bench.measured if not one.met]
    if bench.unmeasured:
        red.append(f"Not measured, so not met: {', '.join(bench.unmeasured)}")
    told = bench.told()
    if against is not None:
        slower, beside = _compared(bench, against)
        red += slower
        told += f", {beside}"
    if red:
        return Half(word=Word.RED, told=told, why=tuple(red))
    if against is not None or any(one.max_ratio is not None for one in bench.measured):
        return Half(word=Word.GREEN, told=told)
    why = "There was no budget to meet" if bench.measured else "Nothing was measured"
    return Half(word=Word.PARTIAL, told=told, why=(why,))


def _compared(now: BenchRun, then: BenchRun) -> tuple[list[str], str]:
    """Each reason why a run is red beside an earlier one, and what the comparison comes to."""
    beside = [one for one in changes(now, then) if one.then is not None]
    if not beside:
        return [f"Nothing measured is in {then.label}, so nothing was compared"], "not compared"
    slower = [one for one in beside if one.regressed]
    red = [f"{one.now.name} is slower: {one.now.ratio:.2f}, {one.told(then.label)}" for one in slower]
    return red, f"{len(slower) or 'none'} of {len(beside)} slower than {then.label}"
