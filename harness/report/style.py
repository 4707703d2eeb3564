"""How the page looks: light and dark, wide and narrow, on a screen and on paper."""

from __future__ import annotations

from typing import Final

LIGHT: Final = {
    "ground": "#ffffff",
    "raised": "#f4f5f6",
    "line": "#848a93",
    "ink": "#16191d",
    "soft": "#4d545c",
    "link": "#0a4fae",
    "good": "#0b6630",
    "good-ground": "#e2f3e7",
    "bad": "#a5121f",
    "bad-ground": "#fde7e8",
    "idle": "#5b4a00",
    "idle-ground": "#f6eecb",
    "bar": "#2b6cb0",
    "bar-bad": "#c0392b",
    "limit": "#16191d",
}
DARK: Final = {
    "ground": "#111418",
    "raised": "#1b2026",
    "line": "#7d8691",
    "ink": "#e8eaed",
    "soft": "#b3bac3",
    "link": "#8ab8ff",
    "good": "#7bdb9a",
    "good-ground": "#12301d",
    "bad": "#ff9b9b",
    "bad-ground": "#3a1719",
    "idle": "#ecd47a",
    "idle-ground": "#332b0c",
    "bar": "#3f7fc4",
    "bar-bad": "#d65345",
    "limit": "#e8eaed",
}
TEXT_ON: Final = (
    ("ink", "ground"), ("ink", "raised"), ("soft", "ground"), ("soft", "raised"), ("link", "ground"),
    ("link", "raised"), ("good", "good-ground"), ("bad", "bad-ground"), ("idle", "idle-ground"),
    ("ink", "good-ground"), ("ink", "bad-ground"), ("ink", "idle-ground"),
    ("link", "good-ground"), ("link", "bad-ground"), ("link", "idle-ground"),
)  # fmt: skip
"""Which colour text has on which ground: at least 4.5 to 1."""
SHAPES_ON: Final = (
    ("bar", "ground"), ("bar-bad", "ground"), ("limit", "ground"), ("line", "ground"), ("line", "raised"),
    ("link", "ground"), ("limit", "bar"), ("limit", "bar-bad"),
)  # fmt: skip
"""Which colour a shape, a border or an outline has on which ground: at least 3 to 1."""


def style() -> str:
    """The style sheet of the page, on one line: it loads nothing."""
    return (
        f":root{{color-scheme:light dark;{_colours(LIGHT)}}}"
        f"@media (prefers-color-scheme:dark){{:root{{{_colours(DARK)}}}}}"
        f"{''.join(line.strip() for line in _RULES.splitlines())}"
    )


def _colours(table: dict[str, str]) -> str:
    return "".join(f"--{name}:{value};" for name, value in table.items())


_RULES: Final = """
*{box-sizing:border-box}
html{scroll-padding-top:1rem}
body{margin:0;background:var(--ground);color:var(--ink);overflow-wrap:anywhere;
  font:1rem/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Liberation Sans",Arial,sans-serif}
header,nav,main,footer{max-width:76rem;margin:0 auto;padding:0 1.5rem}
header{padding-top:2rem}
h1{font-size:1.6rem;line-height:1.25;margin:0 0 1rem}
h2{font-size:1.3rem;line-height:1.3;margin:2.5rem 0 .75rem;padding-top:.75rem;
  border-top:2px solid var(--line)}
h3{font-size:1.05rem;margin:1.75rem 0 .5rem}
h4{font-size:1rem;margin:0}
p{margin:.4rem 0}
a{color:var(--link)}
a:focus-visible,[tabindex]:focus-visible{outline:3px solid var(--link);outline-offset:2px;border-radius:2px}
code,.id{font:.9em/1.4 ui-monospace,SFMono-Regular,Menlo,Consolas,"Liberation Mono",monospace}
.skip{position:absolute;left:-99rem}
.skip:focus{left:.5rem;top:.5rem;padding:.5rem .75rem;background:var(--ground);z-index:1}
.over{color:var(--soft);margin:0 0 .25rem}
.verdict{border:2px solid currentColor;border-radius:.5rem;padding:.75rem 1rem;margin:0 0 .75rem}
.verdict p{margin:0;color:var(--ink)}
.verdict strong{display:block;font-size:1.25rem;color:inherit}
.halves{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,20rem),1fr));gap:0 .75rem;
align-items:start}
.half{border-width:1px}
.half strong{font-size:1.05rem}
.verdict ul{margin:.4rem 0 0;padding-left:1.2rem;color:var(--ink)}
.good{color:var(--good);background:var(--good-ground)}
.bad{color:var(--bad);background:var(--bad-ground)}
.idle{color:var(--idle);background:var(--idle-ground)}
.facts{display:flex;flex-wrap:wrap;gap:.35rem 2rem;margin:1rem 0}
.facts div{display:flex;gap:.5rem}
dt{color:var(--soft)}
dd{margin:0}
nav ul{display:flex;flex-wrap:wrap;gap:.25rem 1.25rem;list-style:none;margin:1rem 0 0;padding:0}
nav a{display:inline-block;padding:.35rem 0}
.badge{display:inline-block;border-radius:1rem;padding:.05rem .65rem;font-size:.875rem;font-weight:600;
  white-space:nowrap;border:1px solid currentColor}
.cases{list-style:none;margin:0;padding:0}
.cases>li{display:grid;grid-template-columns:7.5rem minmax(0,1fr);gap:.15rem 1rem;
  padding:.75rem .5rem;border-top:1px solid var(--line)}
.cases>li:target{background:var(--raised)}
.cases .side{display:flex;flex-direction:column;align-items:flex-start;gap:.3rem}
.asked{color:var(--soft);margin:.15rem 0}
.asked q{quotes:none}
.seen{margin:.3rem 0 0;white-space:pre-wrap}
.small{color:var(--soft);font-size:.9rem}
.failures{margin:0;padding-left:1.2rem}
.failures li{margin:.3rem 0}
table{border-collapse:collapse;width:100%;overflow-wrap:break-word}
caption{text-align:left;color:var(--soft);padding:.25rem 0}
th,td{text-align:left;vertical-align:top;padding:.4rem .75rem .4rem 0;border-top:1px solid var(--line)}
th{font-weight:600}
tbody th{overflow-wrap:anywhere}
td:last-child,th:last-child{padding-right:0}
.number{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}
.charts{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,22rem),1fr));gap:1.25rem 2rem}
figure{margin:0;padding:.5rem 0;border-top:1px solid var(--line)}
figcaption{display:flex;flex-direction:column;gap:.15rem;margin-bottom:.4rem}
figcaption .name{display:flex;justify-content:space-between;align-items:baseline;gap:.75rem}
svg{display:block;width:100%;overflow:visible}
.bar{fill:var(--bar)}
.bar.over-limit{fill:var(--bar-bad)}
.track{fill:var(--raised)}
.limit{stroke:var(--limit);stroke-width:2}
.limit.along{stroke-dasharray:5 4;stroke-width:1.5}
.past{stroke:var(--bar);stroke-width:2;fill:none}
.dot{fill:var(--bar)}
.dot.over-limit{fill:var(--bar-bad)}
.zero{stroke:var(--line);stroke-width:1}
.ends{display:flex;justify-content:space-between;gap:1rem}
footer{padding-bottom:3rem}
footer dt{font-weight:600;margin-top:.5rem}
@media (max-width:40rem){
header,nav,main,footer{padding-left:1rem;padding-right:1rem}
h1{font-size:1.35rem}
.cases>li{grid-template-columns:minmax(0,1fr)}
.cases .side{flex-direction:row;align-items:center}
nav a{padding:.6rem 0}
}
@media print{nav,.skip{display:none}.cases>li,figure{break-inside:avoid}}
"""
