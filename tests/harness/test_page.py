"""The HTML page of a report: it needs nothing else, says all of it, and can be read by everybody."""

import base64
import hashlib
import importlib
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from itertools import pairwise
from typing import Any

import pytest

from nsstore.harness.case import Outcome
from nsstore.harness.report.page import MARK, page
from nsstore.harness.report.saved import Saved, saved
from nsstore.harness.report.style import DARK, LIGHT, SHAPES_ON, TEXT_ON, style
from tests.harness.made import MADE_AT, RED, SENTENCE, bench, measured, report, result, whole
from tests.harness.test_junit import HOSTILE
from tests.harness.test_saved import worse

AGAIN = "nsstore accept --provider acme.memory:make --only"
HISTORY = (bench("0.1", (1.1,)), bench("0.2", (1.7, 0.4)), bench("now", (1.2, 1.9), ("search",)))
PAGES = {
    "green": whole(benches=(bench(),)),
    "half": whole(),
    "red": whole(*RED, benches=HISTORY),
    "not run": whole(result("AC06", Outcome.NOT_RUN, "no files"), benches=(bench(),)),
    "partial": saved(report(result("LK01"), only=True), MADE_AT),
    "hostile": saved(
        report(result("LK01", Outcome.FAILED, HOSTILE, title=HOSTILE), metrics=worse(drift=0.5)),
        MADE_AT,
        (bench(HOSTILE, faults=(HOSTILE,), machine={"python": HOSTILE}),) * 2,
    ),
    "benchmarks": saved(None, MADE_AT, HISTORY[:2], bench("0.1", (1.0,), machine={"python": "3.12"})),
    "timed": whole(
        benches=(bench(answers=203, hits=2030, measured=(measured("search", 0.31, max_ratio=None),)),)
    ),
}


class Seen(HTMLParser):
    """What stands in a page: each tag with its attributes, and all text outside the style sheet."""

    def __init__(self, raw: bytes) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.text = ""
        self._within: list[str] = []
        self.feed(raw.decode())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note a tag."""
        self.tags.append((tag, {name: value or "" for name, value in attrs}))
        self._within.append(tag)

    def handle_endtag(self, tag: str) -> None:
        """Leave a tag."""
        while self._within and self._within.pop() != tag:
            pass

    def handle_data(self, data: str) -> None:
        """Note a text."""
        if "style" not in self._within:
            self.text += data

    def values(self, name: str) -> Iterator[str]:
        """Every value of an attribute."""
        return (attrs[name] for _, attrs in self.tags if name in attrs)


def seen(one: Saved) -> Seen:
    """The page of a report."""
    return Seen(page(one, AGAIN))


@pytest.fixture(params=list(PAGES.values()), ids=list(PAGES))
def one(request: pytest.FixtureRequest) -> Saved:
    """Each kind of report."""
    found: Saved = request.param
    return found


def test_it_is_valid(one: Saved) -> None:
    """A strict parser of HTML 5 finds no fault in it."""
    html5lib: Any = importlib.import_module("html5lib")
    html5lib.HTMLParser(strict=True).parse(page(one, AGAIN), transport_encoding="utf-8")


def test_it_asks_for_nothing(one: Saved) -> None:
    """No script, no frame, no other file: each address is a place of its own, and nothing else is allowed."""
    found = seen(one)
    assert {tag for tag, _ in found.tags}.isdisjoint(
        {"script", "img", "iframe", "object", "embed", "form", "base"}
    )
    for address in found.values("href"):
        assert address.startswith("#") or address == "data:,"
    assert list(found.values("src")) + list(found.values("style")) + list(found.values("srcset")) == []
    assert not any(name.startswith("on") for _, attrs in found.tags for name in attrs)
    assert "url(" not in style()
    assert "@import" not in style()
    (allowed,) = (attrs["content"] for tag, attrs in found.tags if tag == "meta" and "http-equiv" in attrs)
    digest = base64.b64encode(hashlib.sha256(style().encode()).digest()).decode()
    assert allowed == f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:"


def test_its_links_lead_somewhere(one: Saved) -> None:
    """Each id stands once, and each link and each label leads to one."""
    found = seen(one)
    ids = list(found.values("id"))
    assert len(ids) == len(set(ids))
    targets = [address[1:] for address in found.values("href") if address.startswith("#")]
    assert set(targets) | set(found.values("aria-labelledby")) <= set(ids)
    assert ("cases" if one.report is not None else "benchmarks") in targets


def test_headings_go_down_step_by_step(one: Saved) -> None:
    """One heading of the first rank, and none that leaves a rank out."""
    ranks = [int(tag[1]) for tag, _ in seen(one).tags if re.fullmatch("h[1-6]", tag)]
    assert ranks.count(1) == 1
    assert ranks[0] == 1
    assert all(after <= before + 1 for before, after in pairwise(ranks))


def test_every_case_is_told(one: Saved) -> None:
    """Each case has its id, title, sentence, outcome in words, and what was seen."""
    text = seen(one).text
    assert MARK in page(one, AGAIN).decode()[:400]
    if one.report is None:
        return
    for found in one.report.results:
        assert found.case.id in text
        assert SENTENCE in text
        assert {"passed": "passed", "failed": "failed", "not_run": "not run"}[found.outcome.value] in text
    assert one.report.provider in text


def test_the_verdict_comes_first() -> None:
    """The one verdict stands in the title and on top, above both halves and the reasons; green has none."""
    green, red = seen(PAGES["green"]).text, seen(PAGES["red"]).text
    assert "✓ green: acme.memory:make" in green
    assert "Green: nothing crossed in any case that ran, and every budget is met" in green
    assert "What is red" not in green
    places = (
        "Red: a release",
        "Isolation is not proven",
        "1 of 11 failed: LK01",
        "Performance is red",
        "Cases",
    )
    assert sorted(places, key=red.index) == list(places)
    partial = seen(PAGES["partial"]).text
    assert "Isolation was tried in part" in partial
    assert "1 passed, 0 failed" in partial


def test_a_missing_half_is_told() -> None:
    """A page of one half says which is missing, and is not green whatever the other one is."""
    half, others = seen(PAGES["half"]).text, seen(PAGES["benchmarks"]).text
    assert "○ isolation green: acme.memory:make" in half
    assert "No verdict: only a part of it is there" in half
    assert "Isolation is green" in half
    assert "Performance was not measured" in half
    assert "✗ red: benchmarks" in others
    assert "Isolation was not tried" in others
    assert "Cases" not in others
    assert "○ performance green: benchmarks" in seen(saved(None, MADE_AT, (bench(),))).text


def test_a_comparison_is_told() -> None:
    """What a run is compared with, and where that was another machine, stand on top."""
    text = seen(PAGES["benchmarks"]).text
    assert "Compared with0.1" in text
    assert "python 3.12 then, 3.11 now" in text
    assert "budget_0 is slower: 1.70, 1.00 in 0.1 (+70 %)" in text
    met = saved(None, MADE_AT, (bench("now", (1.4, 0.8)),), bench("0.1", (1.0, 0.8)))
    assert "✗ slower" in seen(met).text
    assert seen(met).text.count("✓ met") == 1


def test_what_is_red_is_listed_and_can_be_run_again() -> None:
    """Each failed case, and each criterion that was not run, is listed with a link, and has its command."""
    red = seen(PAGES["red"])
    assert "#LK01" in list(red.values("href"))
    assert "#LK02" not in list(red.values("href"))
    assert f"again: {AGAIN} LK01" in red.text
    owed = seen(PAGES["not run"])
    assert "#AC06" in list(owed.values("href"))
    assert f"again: {AGAIN} AC06" in owed.text


def test_hostile_texts_stay_texts() -> None:
    """Markup, controls and direction signs of a provider's are shown as escapes, in titles too."""
    raw = page(PAGES["hostile"], AGAIN)
    found = Seen(raw)
    assert "]]><testcase/>\\x00\\x1b[31m\\ud800\\ufffe\\u202e" in found.text
    assert "testcase" not in {tag for tag, _ in found.tags}
    assert not set("\x00\x1b\u202e\ufffe") & set(raw.decode())


def test_a_huge_text_is_cut() -> None:
    """A provider that says a megabyte fills no page."""
    raw = page(whole(result("LK01", Outcome.FAILED, "x" * 1_000_000)), AGAIN)
    assert len(raw) < 100_000
    assert "…" in raw.decode()


def test_figures_say_whether_they_are_good() -> None:
    """Each figure stands there with what it should be, and in words whether it is."""
    text = seen(PAGES["hostile"]).text
    assert "0.5✗ not good" in text
    assert seen(PAGES["green"]).text.count("✓ good") == 4


def test_charts_say_it_in_words_too() -> None:
    """Each measured budget has its ratio, limit and history as text; what was not measured is named."""
    found = seen(PAGES["red"])
    labels = [attrs["aria-label"] for tag, attrs in found.tags if tag == "svg"]
    assert labels == [
        "1.20 of at most 1.50",
        "Before: 0.1 1.10, 0.2 1.70, now 1.20",
        "1.90 of at most 1.50",
        "Before: 0.2 0.40, now 1.90",
    ]
    assert all(attrs["role"] == "img" for tag, attrs in found.tags if tag == "svg")
    assert "1.20 times base of budget_0, at most 1.50; 1.70 in 0.2 (-29 %)" in found.text
    assert "✗ missed" in found.text
    assert "1 of 2 budgets met, 1 not measured" in found.text
    assert "Performance is green" in seen(PAGES["not run"]).text
    assert "Benchmarks" not in seen(PAGES["half"]).text


def test_a_figure_without_a_budget_has_no_line() -> None:
    """What was only timed has its bar and its figure, and no line of a budget that there is not."""
    found = seen(PAGES["timed"])
    assert [attrs["aria-label"] for tag, attrs in found.tags if tag == "svg"] == ["0.31"]
    assert not any(attrs.get("class", "").startswith("limit") for tag, attrs in found.tags if tag == "line")
    assert "○ no budget" in found.text
    assert "203 timed answers were looked through" in found.text
    twice = whole(benches=(*PAGES["timed"].benches, *PAGES["timed"].benches))
    assert seen(twice).text.count("0.31 in now (+0 %)") == 1


def test_shapes_lie_where_the_figures_are() -> None:
    """A bar is as long as its ratio, its budget's line stands at the budget, and what is over it looks so."""
    bars = {
        (attrs["class"], float(attrs["width"].rstrip("%")))
        for tag, attrs in seen(PAGES["red"]).tags
        if tag == "rect" and attrs["class"] != "track"
    }
    (met,) = (width for kind, width in bars if kind == "bar")
    (missed,) = (width for kind, width in bars if kind == "bar over-limit")
    assert met == pytest.approx(100 * 1.2 / (1.5 * 1.12), abs=0.01)
    assert missed == pytest.approx(100 / 1.12, abs=0.01)
    limits = [
        float(attrs["x1"].rstrip("%"))
        for tag, attrs in seen(PAGES["red"]).tags
        if tag == "line" and attrs["class"] == "limit"
    ]
    assert limits == [pytest.approx(100 / 1.12, abs=0.01), pytest.approx(100 * 1.5 / (1.9 * 1.12), abs=0.01)]


def test_the_same_report_is_the_same_page(one: Saved) -> None:
    """Nothing in the page comes from anywhere but the report."""
    assert page(one, AGAIN) == page(one, AGAIN)


def luminance(colour: str) -> float:
    """How bright a colour is, from 0 to 1 (WCAG 2.2)."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """By how much two colours differ, from 1 to 21."""
    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


@pytest.mark.parametrize("table", [LIGHT, DARK], ids=["light", "dark"])
def test_everything_can_be_told_apart(table: dict[str, str]) -> None:
    """Text has a contrast of at least 4.5 to 1 on each ground it stands on, shapes and outlines of 3 to 1."""
    assert contrast("#ffffff", "#000000") == pytest.approx(21)
    low = {
        (front, back): round(contrast(table[front], table[back]), 2)
        for pairs, least in ((TEXT_ON, 4.5), (SHAPES_ON, 3.0))
        for front, back in pairs
        if contrast(table[front], table[back]) < least
    }
    assert low == {}


def test_dark_is_whole() -> None:
    """Dark mode gives every colour anew, and the rules use no colour that is none of the two tables'."""
    assert LIGHT.keys() == DARK.keys()
    assert set(re.findall(r"var\(--([\w-]+)\)", style())) == LIGHT.keys()
    rules = style().partition("*{box-sizing")[2]
    assert re.findall(r"#[0-9a-f]{3,8}\b|\brgb|\bhsl", rules) == []
