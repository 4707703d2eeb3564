"""The witness sees what an asker may not read, wherever in an answer it is, and counts."""

from collections.abc import Mapping, Sequence

import pytest

from nsstore.harness.mutants.strict import Record, Strict
from nsstore.harness.provider import DIMENSIONS, Kept, Refusal, Scope
from nsstore.harness.running import run
from nsstore.harness.witness import Counts, Known, Unproven, Witnessed
from nsstore.harness.world import HOME, World, beside, neighbours

THERE = beside(HOME, "project")


def witnessed(provider: Strict) -> tuple[World, str]:
    """A world around a provider, and a word of the next project."""
    world = World(lambda: provider)
    return world, world.say(THERE, "the other one's").canary


@pytest.mark.parametrize("where", ["text", "record_id", "source", "match_reason"])
def test_a_foreign_word_anywhere_is_seen(where: str) -> None:
    """In a text, an id or anything of the provenance: it is counted, and it fails."""
    canary = ""

    class Telling(Strict):
        """Says a foreign word in one place of an answer."""

        def kept(self, one: Record, verb: str, score: float | None = None, *, stale: bool = False) -> Kept:
            said = super().kept(one, verb, score, stale=stale)
            told: Mapping[str, object] = {**(said.provenance or {}), where: f"see {canary}"}
            if where == "text":
                return Kept(
                    record_id=said.record_id, text=f"{said.text} {canary}", provenance=said.provenance
                )
            if where == "record_id":
                return Kept(record_id=canary, text=said.text, provenance=said.provenance)
            return Kept(record_id=said.record_id, text=said.text, provenance=told)

    world, canary = witnessed(Telling())
    mine = world.say(HOME)
    with pytest.raises(Unproven, match="search showed 1 of 1"):
        world.provider.search(HOME, mine.canary, 3)
    metrics = world.counts.metrics()
    assert (metrics.foreign_rate, metrics.hijack_rate) == (1.0, 1.0)


def test_a_foreign_id_alone_is_seen() -> None:
    """A record of another scope is foreign though nothing of its text is shown."""

    class Blind(Strict):
        """Shows ids of everybody, and no texts."""

        def search(self, scope: Scope, query: str, k: int) -> Sequence[Kept]:
            del scope, query
            return [Kept(record_id=one.record_id, text="…") for one in self.every()][:k]

    world, _ = witnessed(Blind())
    with pytest.raises(Unproven, match="showed 1 of 1"):
        world.provider.search(HOME, "quartz", 3)


def test_a_foreign_word_in_a_message_is_seen() -> None:
    """What an error says of others fails as an answer does; its own error is passed on."""

    class Chatty(Strict):
        """Says in a refusal what it did not show."""

        def get(self, scope: Scope, record_id: str) -> Kept:
            del scope
            raise Refusal(f"not for you: {[one.text for one in self.every() if one.record_id == record_id]}")

    world = World(Chatty)
    said = world.say(THERE)
    assert said.record_id is not None
    with pytest.raises(Unproven, match="Refusal told"):
        world.provider.get(HOME, said.record_id)
    with pytest.raises(Refusal):
        world.provider.get(THERE, said.record_id)


def test_what_is_open_is_not_foreign() -> None:
    """What an owner opened is counted as read, until it is closed; what is forgotten is anybody's no more."""
    world = World(Strict)
    there = beside(HOME, "session")
    said = world.say(there)
    shared = world.provider.share(HOME, "session", there)
    assert world.shows(HOME, said)
    world.provider.revoke(shared)
    assert not world.shows(HOME, said)
    known = Known()
    known.own(said.canary, None)
    assert known.foreign(there, said.text)


def test_figures() -> None:
    """The figures of a report are parts of what was counted; of nothing at all nothing is wrong."""
    nothing = Counts().metrics()
    assert (nothing.foreign_rate, nothing.authorised_recall, nothing.hijack_rate) == (0.0, 1.0, 0.0)
    some = Counts(answers=9, hits=8, foreign=2, ranked=5, hijacked=1, wanted=4, found=3, drift=0.5).metrics()
    assert (some.foreign_rate, some.authorised_recall, some.hijack_rate) == (0.25, 0.75, 0.2)
    assert some.drift == 0.5


def test_recall_is_a_figure() -> None:
    """A provider that finds too little is no better than one that finds too much."""

    class Shy(Strict):
        """Lists nothing."""

        def list(self, scope: Scope) -> Sequence[Kept]:
            del scope
            return ()

    report = run(Shy)
    assert 0 < report.metrics.authorised_recall < 1
    assert not report.green


def test_a_world_has_two_of_everything() -> None:
    """Each neighbour differs in its one dimension, the last in all, and its ids go on where others end."""
    around = neighbours()
    differing = [
        [name for name in HOME.__struct_fields__ if getattr(one, name) != getattr(HOME, name)]
        for one in around
    ]
    assert [len(one) for one in differing] == [1] * 8 + [8]
    assert {one[0] for one in differing[:-1]} == set(HOME.__struct_fields__)
    assert all(getattr(around[-1], name).startswith(getattr(HOME, name)) for name in HOME.__struct_fields__)
    assert beside(around[-1], *DIMENSIONS) == HOME


def test_an_absent_id_has_the_same_form_and_was_never_given() -> None:
    """An id that never was looks like the one that is, and is none that the provider gave."""
    provider = Witnessed(Strict(), Counts(), Known())
    given = {provider.remember(HOME, f"text {number}") for number in range(50)}
    for one in given:
        for nth in range(3):
            absent = provider.known.absent(one, nth)
            assert absent not in given
            assert len(absent) == len(one)
            assert absent[:-4] == one[:-4]
