"""The top of the page: the one verdict, what each half comes to and why, and where it comes from."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from nsstore.harness.comparing import other_machine
from nsstore.harness.report.plain import escaped
from nsstore.harness.report.saved import Saved
from nsstore.harness.report.verdict import Word
from nsstore.harness.verdict import Half

KINDS: Final = {
    Word.GREEN: ("good", "✓"),
    Word.RED: ("bad", "✗"),
    Word.PARTIAL: ("idle", "○"),
    Word.MISSING: ("idle", "○"),
}
WHOLE: Final = {
    Word.GREEN: "Green: nothing crossed in any case that ran, and every budget is met",
    Word.RED: "Red: a release with this must not go out",
    Word.PARTIAL: "No verdict: only a part of it is there",
    Word.MISSING: "",
}
ISOLATION: Final = {
    Word.GREEN: "Isolation is green",
    Word.RED: "Isolation is not proven",
    Word.PARTIAL: "Isolation was tried in part",
    Word.MISSING: "Isolation was not tried",
}
PERFORMANCE: Final = {
    Word.GREEN: "Performance is green",
    Word.RED: "Performance is red",
    Word.PARTIAL: "Performance has no budget to meet",
    Word.MISSING: "Performance was not measured",
}


def title(one: Saved) -> str:
    """What the page is called: the verdict first, or what of it there is."""
    verdict = one.verdict
    told: str = verdict.word
    if verdict.word is Word.PARTIAL:
        is_there = verdict.isolation.word is not Word.MISSING
        told = (
            f"isolation {verdict.isolation.word}" if is_there else f"performance {verdict.performance.word}"
        )
    return f"{KINDS[verdict.word][1]} {told}: {escaped(name(one))}"


def name(one: Saved) -> str:
    """Whose page it is."""
    return "benchmarks" if one.report is None else one.report.provider


def head(one: Saved) -> Iterator[str]:
    """The head itself."""
    verdict = one.verdict
    kind, mark = KINDS[verdict.word]
    yield f'<header>\n<p class="over">Isolation and performance</p>\n<h1>{escaped(name(one))}</h1>'
    yield f'<div class="verdict {kind}">{_strong(mark, WHOLE[verdict.word])}</div>\n<div class="halves">'
    yield _half(verdict.isolation, ISOLATION)
    yield _half(verdict.performance, PERFORMANCE)
    yield "</div>"
    rows = "".join(f"<div><dt>{of}</dt><dd>{escaped(value)}</dd></div>" for of, value in _facts(one).items())
    yield f'<dl class="facts">{rows}</dl>\n</header>'


def _half(half: Half, words: dict[Word, str]) -> str:
    kind, mark = KINDS[half.word]
    beneath = (
        f"<p>{escaped(half.told[:1].upper() + half.told[1:])}</p>" if half.word is not Word.MISSING else ""
    )
    shown = half.why if half.word is not Word.MISSING else ()
    why = "".join(f"<li>{escaped(reason)}</li>" for reason in shown)
    more = f"<ul>{why}</ul>" if why else ""
    return f'<div class="verdict half {kind}">{_strong(mark, words[half.word])}{beneath}{more}</div>'


def _strong(mark: str, words: str) -> str:
    return f'<strong><span aria-hidden="true">{mark}</span> {words}</strong>'


def _facts(one: Saved) -> dict[str, str]:
    facts: dict[str, str] = {}
    if (report := one.report) is not None:
        facts |= {
            "Suite": report.suite,
            "Cases": "all" if report.full else "the quick ones",
            "Took": f"{report.seconds:.2f} s",
        }
    if one.against is not None:
        facts["Compared with"] = one.against.label
        if one.bench is not None and (differs := other_machine(one.bench, one.against)):
            facts["Another machine"] = "; ".join(differs)
    return {**facts, "Made": f"{one.made_at[:16].replace('T', ' ')} UTC"}
