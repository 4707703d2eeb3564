"""What I may not read changes no byte of what a verb of mine returns, and I open nothing of others'."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Final

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from bench.world import quick_place, unflushed
from nsstore import Session, StateDocuments
from nsstore.policy import ReadClass
from nsstore.store import Sight
from tests.harness.populating import (
    ACTIONS,
    ASKINGS,
    ME,
    OTHERS,
    PLAIN,
    VERBS,
    WORDS,
    Action,
    Asking,
    Built,
    Op,
    build,
    everything,
    id_of,
    places,
    scope_of,
    soon_kept,
)
from tests.harness.watching import Watch, mapped, opened_by_python

FEW: Final[tuple[Action, ...]] = ("say", "put", "ask", "replace")
NEVER: Final = "01934f2e-8b7a-7c3d-9e21-0123456789ab"
OPS: Final = st.builds(
    Op,
    who=st.one_of(st.just(0), st.integers(0, len(OTHERS))),
    action=st.sampled_from(ACTIONS),
    words=st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(tuple),
    nth=st.integers(0, 5),
)


def told(built: Built, asking: Asking, ops: Sequence[Op]) -> list[tuple[str, str]]:
    """What I am told by a process that never saw the store, about every id that anybody ever gave."""
    ids = [*(id_of(number, 1) for number in range(len(ops))), NEVER]
    with built.world.open() as store:
        return list(everything(asking.bind(store), ids, write=len(ops)))


@settings(
    max_examples=12,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    phases=[one for one in Phase if one is not Phase.shrink],  # a smaller example takes minutes to find
)
@given(asking=st.sampled_from(ASKINGS), ops=st.lists(OPS, min_size=4, max_size=16), kept=st.booleans())
def test_what_may_not_be_read_changes_nothing(
    asking: Asking,
    ops: list[Op],
    kept: bool,  # noqa: FBT001 - an example
) -> None:
    """The same, byte for byte, as in a store in which nothing of it was ever done."""
    with quick_place() as place, unflushed(), pytest.MonkeyPatch.context() as patch, soon_kept():
        patch.setenv("NSSTORE_CACHE_HOME", str(place / "cache"))
        loud = build(place / "loud", asking, ops, settle=kept)
        quiet = build(place / "quiet", asking, ops, loud.shown, settle=kept)
        assert loud.mine == quiet.mine
        for one, other in zip(told(loud, asking, ops), told(quiet, asking, ops), strict=True):
            assert one == other


def of_others(built: Built, asking: Asking) -> list[Path]:
    """Every file and directory of a namespace that is neither mine nor opened to me; of other tenants all."""
    mine = places(built.world, ME).union(*(places(built.world, scope_of(one)) for one in asking.opened))
    all_of_them = set[Path]().union(
        *(places(built.world, scope_of(one)) for one in range(1, len(OTHERS) + 1))
    )
    return [path for one in sorted(all_of_them - mine) if one.exists() for path in (one, *one.rglob("*"))]


@pytest.mark.parametrize(
    ("asking", "kept"),
    [
        *(pytest.param(one, False, id=one.name) for one in ASKINGS),
        *(pytest.param(one, True, id=f"{one.name}, kept") for one in (PLAIN, ASKINGS[4])),
    ],
)
def test_nothing_of_others_is_opened(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    asking: Asking,
    kept: bool,  # noqa: FBT001 - a parameter of the test
) -> None:
    """No file and no directory of another namespace is opened, read or mapped by any verb of mine."""
    monkeypatch.setenv("NSSTORE_CACHE_HOME", str(tmp_path / "cache"))
    ops = [
        Op(who, action, (WORDS[turn], "quartz"), turn)
        for turn, action in enumerate(FEW)
        for who in range(len(OTHERS) + 1)
    ]
    with unflushed(), soon_kept() if kept else nullcontext():
        built = build(tmp_path / "store", asking, ops, settle=kept)
        others = of_others(built, asking)
        assert sum(one.suffix == ".md" for one in others) > 10
        names = {one.name for one in others if one.suffix == ".md"}
        asked = set[str]()
        with Watch(others) as watch, built.world.open() as store, opened_by_python() as opened:
            ids = [*(id_of(number, 1) for number in range(0, len(ops), 4)), NEVER]
            for verb, _ in everything(asking.bind(store), ids, write=len(ops)):
                asked.add(verb)
                assert watch.touched() == set(), verb
            store.settle()
            assert watch.touched() == set()
            assert {Path(one) for one in mapped()}.isdisjoint(others)
        assert asked == VERBS
        assert opened
        assert {Path(one).name for one in opened}.isdisjoint(names)


def test_every_verb_is_asked() -> None:
    """What is asked here is all that a session and its documents can be asked."""
    offered = {name for name in vars(Session) if not name.startswith("_")} - {"state"}
    offered |= {f"state.{name}" for name in vars(StateDocuments) if not name.startswith("_")}
    assert offered == VERBS


def superseded_by_anybody(it: Sight) -> frozenset[str]:
    """What any record supersedes."""
    return frozenset(old for one in it.ledger.order for old in it.tag(one).supersedes)


def a_view_of_everybody(it: Sight, *, stale: bool) -> frozenset[ReadClass]:
    """Every class, whoever may read it."""
    return frozenset() if stale else it.classes()


def anybodys_document(it: Sight, readable: ReadClass) -> bool:
    """Any document as one's own."""
    del it, readable
    return True


@pytest.mark.parametrize(
    ("method", "leak"),
    [
        ("superseded", superseded_by_anybody),
        ("readable", a_view_of_everybody),
        ("owns", anybodys_document),
    ],
)
def test_a_leak_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, method: str, leak: Callable[..., object]
) -> None:
    """Where what I may not read counts once, a store that holds it is told from one that does not."""
    ops = [
        Op(0, "say", ("quartz",), 0),
        Op(0, "say", ("quartz", "train"), 0),
        Op(13, "take over", ("quartz",), 0),
        Op(10, "say", ("quartz", "quartz"), 0),
        Op(0, "put", ("train",), 0),
        Op(10, "put", ("blue",), 0),
    ]
    monkeypatch.setenv("NSSTORE_CACHE_HOME", str(tmp_path / "cache"))
    answers: list[list[tuple[str, str]]] = []
    with unflushed():
        for leaks in (False, True):
            loud = build(tmp_path / f"loud {leaks}", PLAIN, ops, settle=False)
            quiet = build(tmp_path / f"quiet {leaks}", PLAIN, ops, loud.shown, settle=False)
            assert loud.shown == {0, 1, 4}
            if leaks:
                monkeypatch.setattr(Sight, method, leak)
            answers += [told(loud, PLAIN, ops), told(quiet, PLAIN, ops)]
    assert answers[0] == answers[1]
    assert answers[2] != answers[3]
