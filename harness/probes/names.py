"""What an id can be, and must not do: stand for others, be completed, be left out or run into another one."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from itertools import combinations
from typing import Final

from nsstore.harness.case import Case
from nsstore.harness.probes.strangers import NAMESPACE, unowned
from nsstore.harness.provider import DIMENSIONS, Dimension, Refusal, Scope
from nsstore.harness.witness import Unproven
from nsstore.harness.world import HOME, Said, World, changed, refusal

LONGER: Final = ("0",)
LONGER_STILL: Final = ("-2", ".x", " b", "corp")
PATTERNS: Final = ("*", "%", "?", "[a-z]*", ".*")
ABSENT: Final[tuple[object, ...]] = (None, "", " ", 0, False)
DEFAULTS: Final = ("default", "anonymous")
MORE_DEFAULTS: Final = ("unknown", "root", "none", "null", "user", "global", "public", "0")
SEPARATORS: Final = (":", "/", "-")
MORE_SEPARATORS: Final = (
    "|", "_", ".", "\\", "&", "=", ",", ";", "#", "@", "+", "\x1f", "\x00", " ", "::", "__", "--",
)  # fmt: skip
CAPITALS: Final = (("shop2", "Shop2"),)
ALIKE: Final = (
    *CAPITALS,
    ("my-project", "my_project"),
    ("my.project", "my project"),
    ("新聞", "暫存"),
    ("long-" + "x" * 90 + "-a", "long-" + "x" * 90 + "-b"),
)
MORE_ALIKE: Final = (
    ("caf\u00e9", "cafe\u0301"),
    ("stra\u00dfe", "strasse"),
    ("p.", "p"),
    ("p ", "p"),
    ("a:b", "a|b"),
    ("..", "."),
    ("a/b", "a-b"),
    ("a//b", "a/b"),
    ("x" * 180 + "a", "x" * 180 + "b"),
    ("%41", "A"),
    ("con", "CON"),
    ("\uff11", "1"),
)


def prefix_sibling(world: World, case: Case) -> str:
    """An id that begins with another one is another one, in every dimension and both ways."""
    del case
    endings = LONGER + (LONGER_STILL if world.full else ())
    mine = world.say(HOME, "the prefix")
    tried = 0
    for dimension in DIMENSIONS:
        for ending in endings:
            longer = changed(HOME, **{dimension: getattr(HOME, dimension) + ending})
            with suppress(Refusal):
                theirs = world.say(longer, "the prefix")
                world.hides(HOME, theirs)
                world.hides(longer, mine)
                tried += 1
    world.finds(HOME, mine)
    return f"{tried} neighbours whose id goes on where another one ends: none is met"


def wildcard(world: World, case: Case) -> str:
    """An id that is a pattern stands for itself, or is refused."""
    del case
    mine = world.say(HOME, "the pattern")
    refused = 0
    for dimension in DIMENSIONS:
        own = getattr(HOME, dimension)
        for value in (*PATTERNS, own[:-1] + "_", own[:-1] + "%", own + "*"):
            asker = changed(HOME, **{dimension: value})
            world.hides(asker, mine)
            try:
                said = world.say(asker, "the pattern")
            except Refusal:
                refused += 1
                continue
            world.hides(HOME, said)
    world.finds(HOME, mine)
    return f"patterns as ids match nothing but themselves; {refused} were refused"


def missing_dimension(world: World, case: Case) -> str:
    """A request that lacks a dimension is answered with nothing, or refused, by every verb."""
    del case
    mine = world.say(HOME, "the missing")
    asked = 0
    for dimension in DIMENSIONS:
        for value in ABSENT:
            asker = changed(HOME, **{dimension: value})
            world.hides(asker, mine)
            asked += 1
    world.finds(HOME, mine)
    return f"{asked} requests with a dimension that is None, empty or no text: none was shown anything"


def default_identity(world: World, case: Case) -> str:
    """Who leaves an id out is nobody: no default stands for it, neither to write nor to read."""
    del case
    defaults = DEFAULTS + (MORE_DEFAULTS if world.full else ())
    for dimension in NAMESPACE:
        said: list[Said] = []
        for name in defaults:
            with suppress(Refusal):
                said.append(world.say(changed(HOME, **{dimension: name}), "of the default"))
        for value in (None, ""):
            asker = changed(HOME, **{dimension: value})
            for one in said:
                world.hides(asker, one)
            stray = unowned(world, asker)
            if stray is not None:
                for other in (None, "", *defaults):
                    world.hides(changed(HOME, **{dimension: other}), stray)
    return "nothing stands for an id that is left out"


def lossy_join(world: World, case: Case) -> str:
    """Two scopes whose ids are alike once they are joined or cleaned stay two scopes."""
    del case
    tried = refused = 0
    for one, other in _pairs(full=world.full):
        try:
            first = world.say(one, "the joint")
        except Refusal:
            _require_refused_alone(world, one)
            refused += 1
            continue
        try:
            second = world.say(other, "the joint")
        except Refusal:
            _require_refused_alone(world, other)
            refused += 1
            continue
        tried += 1
        world.hides(one, second)
        world.hides(other, first)
        world.finds(one, first)
        world.finds(other, second)
    if not tried:
        raise Unproven("every pair of ids was refused")
    return f"{tried} pairs of ids that look the same when joined stay apart; {refused} were refused"


def _require_refused_alone(world: World, scope: Scope) -> None:
    """Require that a scope is refused for what it is, and not since another one is there."""
    here = world.fresh()
    if refusal(lambda: here.say(scope, "the joint")) is None:
        raise Unproven("a scope is refused as soon as one with ids that look like its own is there")


def _pairs(*, full: bool) -> Iterable[tuple[Scope, Scope]]:
    joined: list[tuple[Dimension, Dimension]] = [("project", "session")]
    if full:
        joined = list(combinations(DIMENSIONS, 2))
    for first, second in joined:
        for separator in SEPARATORS + (MORE_SEPARATORS if full else ()):
            yield (
                changed(HOME, **{first: f"a{separator}b", second: "c"}),
                changed(HOME, **{first: "a", second: f"b{separator}c"}),
            )
    for dimension in DIMENSIONS if full else NAMESPACE:
        few = CAPITALS if dimension != "project" else ALIKE
        for one, other in ALIKE + MORE_ALIKE if full else few:
            yield changed(HOME, **{dimension: one}), changed(HOME, **{dimension: other})
