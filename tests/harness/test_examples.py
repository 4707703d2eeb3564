"""What the suite says of the adapters that are shown, and each red row of theirs made once more by hand."""

import sqlite3
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from nsstore.harness.case import Outcome, Report
from nsstore.harness.examples import langgraph_store, plain_dict, sqlite_fts
from nsstore.harness.examples.langgraph_store import LangGraphStore
from nsstore.harness.examples.sqlite_fts import SqliteFts
from nsstore.harness.provider import DIMENSIONS, Audits, Dimension, Provider, Refusal, Scope
from nsstore.harness.running import cases, run
from nsstore.harness.world import HOME, beside, changed

WORDS = "the train is blue"


def failed(report: Report) -> set[str]:
    """The ids of the cases that failed."""
    return {one.case.id for one in report.failed()}


def ids(outcome: Outcome, report: Report) -> set[str]:
    """The ids of the cases that ended so."""
    return {one.case.id for one in report.results if one.outcome is outcome}


def test_a_dict_is_green() -> None:
    """A dict whose key is the whole scope passes every case that it can be tried in, the full ones too."""
    report = run(plain_dict.make, full=True)
    assert failed(report) == set()
    assert report.green
    assert {f"AC{number:02}" for number in range(1, 11)} <= ids(Outcome.PASSED, report)


def test_sqlite_with_a_filter_is_red() -> None:
    """One table for everybody fails where its docstring says, and nowhere else, in quick and in full runs."""
    report = run(sqlite_fts.make, full=True)
    told = failed(report) - {"LK20"}  # by time, and near the bar here
    assert told == {"AC06", "AC08", "AC09", "AC10", "RL10", "LK04", "LK11"}
    assert failed(run(sqlite_fts.make)) == told & {case.id for case in cases()}
    assert sqlite_fts.__doc__ is not None
    assert all(id_ in sqlite_fts.__doc__ for id_ in told)
    assert report.metrics.drift > 0.1
    assert report.metrics.authorised_recall == 1


def test_langgraph_is_red() -> None:
    """LangGraph's store fails where its docstring says, and nowhere else; nothing of it crosses."""
    pytest.importorskip("langgraph.store.sqlite")
    report = run(langgraph_store.make, full=True)
    assert failed(report) == {"AC09", "LK18"}
    assert langgraph_store.__doc__ is not None
    assert all(id_ in langgraph_store.__doc__ for id_ in failed(report))
    assert report.metrics.foreign_rate == 0
    assert report.metrics.drift == 0


@pytest.mark.parametrize(
    "make", [plain_dict.make, sqlite_fts.make, langgraph_store.make], ids=["dict", "sqlite", "langgraph"]
)
def test_two_runs_have_one_verdict(make: Callable[[], Provider]) -> None:
    """Each is judged the same, and for the same cases, whenever it is tried."""
    if make is langgraph_store.make:
        pytest.importorskip("langgraph.store.sqlite")
    first, second = ([(one.case.id, one.outcome) for one in run(make).results] for _ in range(2))
    assert first == second


class TestSqliteByHand:
    """The red rows of the table with a filter, without the suite."""

    @pytest.fixture
    def memory(self) -> Iterator[SqliteFts]:
        """An empty one."""
        memory = sqlite_fts.make()
        yield memory
        memory.close()

    def score(self, memory: SqliteFts, query: str) -> float:
        """The score of the one own row that is found."""
        (found,) = memory.search(HOME, query, 10)
        assert found.text == WORDS
        assert found.score is not None
        return found.score

    @pytest.mark.parametrize("dimension", ["tenant", "user", "session"])
    def test_the_score_tells_what_others_keep(self, memory: SqliteFts, dimension: Dimension) -> None:
        """AC10, RL10, LK11: somebody else writes fifty rows, and the score of my own row falls."""
        memory.remember(HOME, WORDS)
        memory.remember(HOME, "something else")
        memory.remember(HOME, "and something else again")
        before = self.score(memory, "blue")
        there = beside(HOME, dimension)
        for _ in range(50):
            memory.remember(there, "blue")
        after = self.score(memory, "blue")
        assert after < before / 10
        assert len(memory.list(HOME)) == 3

    def test_so_a_question_can_be_asked_about_others(self, memory: SqliteFts) -> None:
        """AC10, LK11: who writes two words and compares their scores learns which of them others use."""
        memory.remember(beside(HOME, "tenant"), "we buy borealis")
        for word in ("borealis", "atlas"):
            memory.remember(HOME, word)
        known, unknown = (memory.search(HOME, word, 1)[0].score for word in ("borealis", "atlas"))
        assert known is not None
        assert unknown is not None
        assert known < unknown

    def test_it_says_so_itself(self, memory: SqliteFts) -> None:
        """AC08: it declares that its ranking knows more than the asker may read, so it is not allowed."""
        assert memory.scope_properties().filters_before_ranking is False
        assert memory.scope_properties().separates == set(DIMENSIONS)

    def test_all_who_lost_their_tenant_share_one(self, memory: SqliteFts) -> None:
        """AC06, LK04: a text that was kept without a tenant is served to whoever asks without one."""
        memory.remember(changed(HOME, tenant=""), WORDS)
        (found,) = memory.search(changed(HOME, tenant=""), "blue", 10)
        assert found.text == WORDS

    def test_nobody_writes_down_who_asked(self, memory: SqliteFts) -> None:
        """AC09: the row says where it comes from, and no event says that it was returned."""
        memory.remember(HOME, WORDS)
        (found,) = memory.search(HOME, "blue", 1)
        assert found.provenance is not None
        assert found.provenance["record_id"] == found.record_id
        assert not isinstance(memory, Audits)

    def test_the_filter_itself_holds(self, memory: SqliteFts) -> None:
        """AC01 to AC05 are green for a reason: no row of another scope is returned by any verb."""
        mine = memory.remember(HOME, WORDS)
        for dimension in DIMENSIONS:
            there = beside(HOME, dimension)
            assert memory.search(there, WORDS, 10) == []
            assert memory.list(there) == []
            with pytest.raises(Refusal):
                memory.get(there, mine)


class Interrupted:
    """A connection in which Ctrl-C comes once, just when a cursor is asked for."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection
        self.armed = False

    def __getattr__(self, name: str) -> object:
        if name == "cursor" and self.armed:
            self.armed = False
            raise KeyboardInterrupt
        return getattr(self.connection, name)


class TestLangGraphByHand:
    """The red rows of LangGraph's store, and what makes the others green, on the store itself."""

    @pytest.fixture(autouse=True)
    def store(self) -> Any:  # noqa: ANN401 - the package brings no types
        """The class, where the package is."""
        return pytest.importorskip("langgraph.store.sqlite").SqliteStore

    @pytest.fixture
    def memory(self) -> Iterator[LangGraphStore]:
        """An empty one."""
        memory = langgraph_store.make()
        yield memory
        memory.close()

    def test_nobody_writes_down_who_asked(self, memory: LangGraphStore) -> None:
        """AC09: an item says where it comes from, and no event says that it was returned."""
        memory.remember(HOME, WORDS)
        (found,) = memory.search(HOME, "blue", 1)
        assert found.provenance is not None
        assert not isinstance(memory, Audits)

    def test_an_interrupted_search_shuts_the_store(self, store: Any) -> None:  # noqa: ANN401 - as above
        """LK18: interrupted just before the block that ends it, a transaction stays open for everybody."""
        connection = Interrupted(sqlite3.connect(":memory:", isolation_level=None))
        memory = store(connection)
        memory.setup()
        memory.put(("acme", "ada"), "one", {"text": WORDS})
        connection.armed = True
        with pytest.raises(KeyboardInterrupt):
            memory.search(("acme", "ada"))
        with pytest.raises(sqlite3.OperationalError, match="transaction within a transaction"):
            memory.search(("acme", "bob"))
        connection.connection.close()

    def test_a_shorter_tuple_finds_all_below(self, store: Any) -> None:  # noqa: ANN401 - as above
        """A search is one by prefix: without the last label it crosses sessions, and without any, tenants."""
        with store.from_conn_string(":memory:") as memory:
            for labels in (("acme", "ada", "s-1"), ("acme", "ada", "s-2"), ("acme-corp", "ada", "s-1")):
                memory.put(labels, "one", {"text": "/".join(labels)})
            assert len(memory.search(("acme", "ada", "s-1"))) == 1
            assert len(memory.search(("acme", "ada"))) == 2
            assert len(memory.search(())) == 3

    def test_the_words_of_a_question_are_not_looked_at(self, store: Any) -> None:  # noqa: ANN401 - as above
        """Without an index each item of a namespace answers every question, so the adapter matches words."""
        with store.from_conn_string(":memory:") as memory:
            memory.put(("acme", "ada"), "one", {"text": WORDS})
            assert len(memory.search(("acme", "ada"), query="harbour")) == 1

    @pytest.mark.parametrize("dimension", DIMENSIONS)
    def test_no_dimension_may_be_missing(self, memory: LangGraphStore, dimension: Dimension) -> None:
        """An empty or missing dimension is refused, so no tuple is ever shorter."""
        for value in ("", None, 3, "a\0b"):
            with pytest.raises(Refusal):
                memory.search(changed(HOME, **{dimension: value}), "blue", 10)

    def test_points_do_not_meet(self, memory: LangGraphStore) -> None:
        """The store joins labels by a point and takes none in them: the adapter's spelling stays apart."""
        names = ("a.b", "a%2Eb", "a%b", "a%25b", "ab")
        scopes: list[Scope] = [changed(HOME, user=name) for name in names]
        for scope in scopes:
            memory.remember(scope, scope.user)
        assert [[one.text for one in memory.list(scope)] for scope in scopes] == [[name] for name in names]
