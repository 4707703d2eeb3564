"""Each measured ratio against its budget, and how it came there, as shapes that need no script.

Places along a chart are percentages, so it fits any width and nothing in it is stretched; what it says
stands beside it as text.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from nsstore.harness.comparing import changes, signed
from nsstore.harness.measured import BenchRun, Measured
from nsstore.harness.report.plain import escaped

BAR: Final = 14
HEIGHT: Final = 64
ROOM: Final = 8
"""Pixels above and below a line of past runs, so that no dot is cut."""
MARGIN: Final = 1.12
"""How much further than its largest value a chart goes."""


def charts(runs: Sequence[BenchRun], against: BenchRun | None = None) -> str:
    """A figure for each budget of the newest run, with what earlier runs measured of it.

    What is slower than in the run that it is compared ``against`` is marked so.
    """
    compared = () if against is None else changes(runs[-1], against)
    slower = {one.now.name for one in compared if one.regressed}
    return "\n".join(
        _figure(one, _past(runs, one.name), slower=one.name in slower) for one in runs[-1].measured
    )


def _past(runs: Sequence[BenchRun], name: str) -> list[tuple[str, Measured]]:
    return [(run.label, found) for run in runs if (found := run.of(name)) is not None]


def _figure(one: Measured, past: list[tuple[str, Measured]], *, slower: bool) -> str:
    badge = _badge(one, slower=slower)
    return (
        f'<figure><figcaption><span class="name"><strong>{escaped(one.what)}</strong> {badge}</span>'
        f"<span>{escaped(one.told())}{_beside(past)}</span>"
        f'<code class="small">{escaped(one.name)}</code></figcaption>\n{_bar(one)}{_history(past)}</figure>'
    )


def _badge(one: Measured, *, slower: bool) -> str:
    if slower and one.met:
        return '<span class="badge bad">✗ slower</span>'
    if one.max_ratio is None:
        return '<span class="badge idle">○ no budget</span>'
    return '<span class="badge good">✓ met</span>' if one.met else '<span class="badge bad">✗ missed</span>'


def _beside(past: list[tuple[str, Measured]]) -> str:
    """What it was in the run before, and by how much it changed since."""
    if len(past) < 2 or past[-2][1].ratio <= 0:
        return ""
    label, then = past[-2]
    return f"; {then.ratio:.2f} in {escaped(label)} ({signed(past[-1][1].ratio / then.ratio - 1)})"


def _bar(one: Measured) -> str:
    most = one.ratio if one.max_ratio is None else one.max_ratio
    whole = max(one.ratio, most) * MARGIN or 1
    over = " over-limit" if one.ratio > most else ""
    told, line = f"{one.ratio:.2f}", ""
    if one.max_ratio is not None:
        limit = _share(most, whole)
        told += f" of at most {most:.2f}"
        line = f'<line class="limit" x1="{limit}" x2="{limit}" y1="0" y2="{BAR + 8}"/>'
    return (
        f'<svg height="{BAR + 8}" role="img" aria-label="{told}">'
        f'<rect class="track" x="0" y="4" width="100%" height="{BAR}"/>'
        f'<rect class="bar{over}" x="0" y="4" width="{_share(one.ratio, whole)}" height="{BAR}"/>'
        f"{line}</svg>"
    )


def _history(past: list[tuple[str, Measured]]) -> str:
    """The line through the runs, oldest first, and the budget of each as a dashed one."""
    if len(past) < 2:
        return ""
    whole = max(max(one.ratio, one.max_ratio or 0) for _, one in past) * MARGIN or 1
    places = [(f"{2 + 96 * at / (len(past) - 1):.2f}%", one) for at, (_, one) in enumerate(past)]
    zero = _height(0, whole)
    shapes = [f'<line class="zero" x1="0" x2="100%" y1="{zero}" y2="{zero}"/>']
    for (left, one), (right, then) in pairwise(places):
        for kind, start, end in (
            ("limit along", one.max_ratio, then.max_ratio),
            ("past", one.ratio, then.ratio),
        ):
            if start is None or end is None:
                continue
            shapes.append(
                f'<line class="{kind}" x1="{left}" x2="{right}" '
                f'y1="{_height(start, whole)}" y2="{_height(end, whole)}"/>'
            )
    for at, (place, one) in enumerate(places):
        kind = f"dot{'' if one.max_ratio is None or one.ratio <= one.max_ratio else ' over-limit'}"
        radius = 6 if at == len(places) - 1 else 4
        shapes.append(
            f'<circle class="{kind}" cx="{place}" cy="{_height(one.ratio, whole)}" r="{radius}">'
            f"<title>{escaped(past[at][0])}: {one.ratio:.2f}</title></circle>"
        )
    told = ", ".join(f"{escaped(label)} {one.ratio:.2f}" for label, one in past)
    ends = "".join(f"<span>{escaped(label)}: {one.ratio:.2f}</span>" for label, one in (past[0], past[-1]))
    return (
        f'<svg height="{HEIGHT}" role="img" aria-label="Before: {told}">{"".join(shapes)}</svg>'
        f'<div class="ends small">{ends}</div>'
    )


def _share(value: float, whole: float) -> str:
    return f"{100 * value / whole:.2f}%"


def _height(value: float, whole: float) -> str:
    return f"{HEIGHT - ROOM - (HEIGHT - 2 * ROOM) * value / whole:.1f}"
