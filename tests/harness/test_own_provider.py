"""nsstore passes its own suite, with every ability, in its time, and leaves nothing behind."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from bench.world import quick_place
from nsstore.harness.case import Outcome
from nsstore.harness.own import OwnProvider, makes
from nsstore.harness.own_files import every_file, name_of
from nsstore.harness.provider import Planted, Refusal
from nsstore.harness.running import run
from nsstore.harness.witness import PROTOCOLS
from nsstore.harness.world import HOME, World, beside, changed
from nsstore.root import Root, system


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder for stores that nobody keeps."""
    with quick_place() as folder:
        yield folder


@pytest.fixture
def own(place: Path) -> Iterator[OwnProvider]:
    """A provider that is nsstore."""
    provider = OwnProvider(place)
    yield provider
    provider.close()


def test_it_passes_every_case_of_a_quick_run(place: Path) -> None:
    """Every case runs and passes: green, in about a second, with nothing foreign and nothing missing."""
    report = run(makes(place))
    assert {one.case.id: one.seen for one in report.failed()} == {}
    assert {one.outcome for one in report.results} == {Outcome.PASSED}
    assert report.green
    assert report.seconds < 10  # 2 on a machine that does nothing else
    assert (report.metrics.foreign_rate, report.metrics.authorised_recall) == (0.0, 1.0)
    assert report.metrics.drift == 0.0


@pytest.mark.long
def test_it_passes_every_case_of_a_full_run(place: Path) -> None:
    """So it does with all that there is time for."""
    report = run(makes(place), full=True)
    assert {one.case.id: one.seen for one in report.failed()} == {}
    assert report.green
    assert report.seconds < 60


def test_it_can_do_all_that_a_case_may_ask(own: OwnProvider) -> None:
    """No case is left out for something that nsstore lacks."""
    assert World(lambda: own).abilities == frozenset(PROTOCOLS)


def test_nothing_of_the_user_is_touched(place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stores, keys and views lie in the folder that is given; the user's homes are not even made."""
    for name in ("HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "NSSTORE_TRUST_HOME", "NSSTORE_CACHE_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name))
    assert run(makes(place), only=["AC01", "AC10", "LK14", "RL07"]).failed() == ()
    assert list(tmp_path.iterdir()) == []
    assert {one.name for one in (place / "store-0").iterdir()} <= {"root", "trust", "cache"}


def test_nothing_is_flushed(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A store that nobody keeps waits for no disk, when it is made, written, denied, forgotten or closed."""
    flushed: list[int] = []
    monkeypatch.setattr(os, "fsync", flushed.append)
    monkeypatch.setattr(system, "syncfs", flushed.append)
    own = OwnProvider(place)
    kept = own.remember(HOME, "quartz")
    with pytest.raises(Refusal):
        own.get(beside(HOME, "user"), kept)
    own.forget(HOME, kept)
    own.second().close()
    own.close()
    assert flushed == []


def test_each_kind_of_stranger_is_what_it_says(own: OwnProvider) -> None:
    """What is planted is really there, and really of its kind: else nothing is proven by not serving it."""
    foreign = own.remember(beside(HOME, "project"), "of the next project")
    gone = own.remember(HOME, "soon forgotten")
    altered = own.remember(HOME, "to be changed")
    own.forget(HOME, gone)
    before = own.files()
    own.plant(HOME, "of nobody", Planted.UNTAGGED)
    own.plant(HOME, "of the next project", Planted.FOREIGN)
    own.plant(HOME, "claimed", Planted.FORGED)
    own.plant(HOME, "soon forgotten", Planted.REPLAYED)
    own.plant(HOME, "to be changed", Planted.ALTERED)
    after = own.files()
    home = "root/memory/acme/ada/shop/s-1"
    fresh = {path: raw for path, raw in after.items() if path not in before and path.startswith(home)}
    assert f"{home}/{foreign}.md" in fresh
    assert f"{home}/{gone}.md" in fresh
    changes = {path for path in before if after[path] != before[path] and path.startswith("root/memory")}
    assert changes == {f"{home}/{altered}.md"}
    (untagged,) = (raw for raw in fresh.values() if raw == b"of nobody")
    (forged,) = (path for path, raw in fresh.items() if raw.endswith(b"\nclaimed"))
    assert b'user_id: "ada"' in fresh[forged]
    assert forged.endswith(name_of(fresh[forged]))
    assert untagged not in before.values()


def test_the_files_are_all_of_them(own: OwnProvider, place: Path) -> None:
    """What is looked through for traces is every file of root, trust home and cache."""
    own.remember(HOME, "quartz")
    on_disk = {str(one.relative_to(place)) for one in place.rglob("*") if one.is_file()}
    (home,) = (place / "trust").iterdir()
    told = {path.replace("trust/", f"trust/{home.name}/", 1) for path in own.files()}
    assert told == on_disk
    with Root.open(place / "root") as root:
        assert dict(every_file(root)).keys() == {path[5:] for path in told if path.startswith("root/")}


@pytest.mark.parametrize("value", [None, "", 7, "*", "-"])
def test_what_is_no_id_is_refused_and_not_an_error(own: OwnProvider, value: object) -> None:
    """A scope that lacks a dimension is refused by every verb."""
    scope = changed(HOME, tenant=value)
    kept = own.remember(HOME, "quartz")
    for call in (
        lambda: own.remember(scope, "x"),
        lambda: own.search(scope, "quartz", 3),
        lambda: own.get(scope, kept),
        lambda: own.list(scope),
        lambda: own.evidence(scope, "quartz", "now"),
    ):
        with pytest.raises(Refusal):
            call()
