"""The suite turns red for each leaky store, by the cases that are about its leak, and green again without."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from bench.world import quick_place
from nsstore.harness.cases import CASES
from nsstore.harness.mutants import MUTANTS, Mutant, __main__
from nsstore.harness.mutants.mutant import Fault
from nsstore.harness.mutants.trying import tried, without
from nsstore.harness.own import OwnProvider
from nsstore.store import sight


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder for stores that nobody keeps."""
    with quick_place() as folder:
        yield folder


@pytest.mark.parametrize("name", MUTANTS)
def test_a_leak_is_caught(name: str, place: Path) -> None:
    """Every case that has to notice a fault fails with it, and passes as soon as it is gone."""
    mutant = MUTANTS[name]
    seen = tried(mutant, str(place / "with"))
    assert seen.missed == ()
    assert set(seen.failed) == mutant.ids
    if mutant.faults:
        report = without(mutant, str(place / "without"))
        assert {one.case.id: one.seen for one in report.failed()} == {}


def test_there_are_enough_of_them() -> None:
    """Both kinds of leaky stores are many, each by one fault of its own and caught by cases there are."""
    own = [one for one in MUTANTS.values() if one.faults]
    plain = [one for one in MUTANTS.values() if one.plain is not None]
    assert len(own) >= 25
    assert len(plain) >= 25
    assert len(own) + len(plain) == len(MUTANTS)
    for one in MUTANTS.values():
        assert one.ids <= {case.id for case in CASES}
        assert one.breaks.endswith(".")


def test_a_fault_is_gone_afterwards() -> None:
    """Whatever happens with a fault at work, what it stood for is back in its place."""
    real = vars(sight.Sight)["decision"]
    mutant = MUTANTS["own.every_member_may_be_listed"]
    standing: list[object] = []

    def fail() -> None:
        with mutant.at_work():
            standing.append(vars(sight.Sight)["decision"])
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert standing[0] is not real
    assert vars(sight.Sight)["decision"] is real


def test_a_fault_needs_a_place() -> None:
    """A fault for something that nsstore has no longer is an error, and no mutant that survives."""
    for at in ("nsstore.store.sight:was_here_once", "nsstore.store.sight:Sight.was_here_once"):
        mutant = Mutant(name="x", breaks="x", ids=frozenset(), faults=(Fault(at=at, wrong=str),))
        with pytest.raises(KeyError), mutant.at_work():
            pass


def test_the_command_says_which_case_caught_which(capsys: pytest.CaptureFixture[str]) -> None:
    """A line for each with the cases that failed, and one about all of them."""
    assert __main__.main(["--few", "plain.no_user", "own.skips_the_agent"]) == 0
    first, second, last = capsys.readouterr().out.splitlines()
    assert first.split() == ["plain.no_user", "AC04"]
    assert second.split() == ["own.skips_the_agent", *sorted(MUTANTS["own.skips_the_agent"].ids)]
    assert last.startswith("2 leaky stores: each is caught by every case that has to")


def test_the_command_fails_for_one_that_survives(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A store that is not caught by what has to notice is named, with what it breaks, and the exit is 1."""

    def as_it_is(real: object) -> object:
        return real

    harmless = Fault(at="nsstore.store.sight:decide_class", wrong=as_it_is)
    mutant = Mutant(name="own.harmless", breaks="Nothing.", ids=frozenset({"AC04"}), faults=(harmless,))
    monkeypatch.setitem(MUTANTS, mutant.name, mutant)
    assert __main__.main(["--few", "own.harmless"]) == 1
    told = capsys.readouterr().out
    assert "NOT CAUGHT BY AC04: Nothing." in told
    assert "one leaky store: 1 not caught as they should" in told


def test_the_command_knows_its_mutants(capsys: pytest.CaptureFixture[str]) -> None:
    """A name that is no mutant's is said, and nothing is tried."""
    assert __main__.main(["own.nothing"]) == 2
    assert "there is no such mutant: own.nothing" in capsys.readouterr().out


def test_a_mutant_has_every_ability_of_the_real_one(place: Path) -> None:
    """A faulty nsstore is tried as nsstore is, with nothing left out."""
    made = MUTANTS["own.skips_the_agent"].makes(str(place))()
    assert isinstance(made, OwnProvider)
    made.close()
