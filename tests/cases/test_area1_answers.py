"""Area 1 of the public bug reports, BR-12 to BR-21: what comes into an answer."""

import os
import threading
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from bench.binding import bind, tree
from bench.child import Child, Report
from bench.world import World
from nsstore import NA, InvalidInput, NotVisible, OpenStore, Refused
from nsstore.audit import EventKind, read_events

CANARY = "zq7f3evil"


def test_br12_no_part_of_an_answer_is_foreign(store: OpenStore) -> None:
    """Nothing of an answer, an error or a notice holds a word of another scope."""
    evil = bind(store, tenant_id="evil")
    theirs = evil.remember(
        f"quartz {CANARY}", title=f"title {CANARY}", tags=[CANARY], kind="zq7f3evil", ext={"x": CANARY}
    ).record_id
    evil.state.put(CANARY, CANARY)
    mine = bind(store)
    mine.remember("quartz of mine")
    mine.state.put("plan", "quartz")
    answers: list[object] = [
        mine.list(include_superseded=True),
        mine.search(f"quartz {CANARY}", k=100),
        mine.state.list(),
        mine.state.history("plan"),
    ]
    said = b"".join(msgspec.json.encode(answer) for answer in answers).decode()
    for call in (
        lambda: mine.get(theirs),
        lambda: mine.history(theirs),
        lambda: mine.state.get("other"),
        lambda: mine.remember("x", supersedes=[theirs]),
    ):
        with pytest.raises(NotVisible) as caught:
            call()
        said += repr(caught.value) + str(caught.value.__cause__) + str(caught.value.__context__)
    assert CANARY not in said
    assert "evil" not in said


def test_br13_an_unknown_key_is_refused(store: OpenStore) -> None:
    """A misspelt or unknown field binds nothing, and a branch or baseline that differs reads nothing."""
    for field in ("region", "projct_id", "filter", "where"):
        with pytest.raises(TypeError, match=field):
            bind(store, **{field: "eu"})
    for field in ("allowed_branches", "allowed_baselines"):
        refused: tuple[object, ...] = ([], None, "main", ["other"], "*", ["*"])
        for value in refused:
            with pytest.raises(InvalidInput):
                bind(store, **{field: value})
    mine = bind(store).remember("quartz").record_id
    for field in ("branch", "baseline"):
        for elsewhere in ("other", NA):
            other = bind(store, **{field: elsewhere})
            assert other.list().items == ()
            assert other.search("quartz").hits == ()
            with pytest.raises(NotVisible):
                other.get(mine)


def test_br14_equal_texts_stay_three_records(store: OpenStore, world: World) -> None:
    """The same text of three owners is three files under three ids that nobody can compute."""
    owners = [("acme", "alice"), ("acme", "bob"), ("evil", "alice")]
    ids = [
        bind(store, tenant_id=t, user_id=u).remember("same text", title="same").record_id for t, u in owners
    ]
    files = sorted((world.root / "memory").rglob("*.md"))
    assert len(set(ids)) == len({path.stat().st_ino for path in files}) == 3
    assert {path.stat().st_nlink for path in files} == {1}
    assert len({path.read_bytes().split(b"\nseal: ")[1] for path in files}) == 3
    next(path for path in files if "evil" in str(path)).unlink()
    for (tenant, user), one in list(zip(owners, ids, strict=True))[:2]:
        assert bind(store, tenant_id=tenant, user_id=user).get(one).text == "same text"


def test_br15_a_miss_stays_a_miss(store: OpenStore) -> None:
    """Nothing found here is nothing found: no wider scope is asked."""
    for field in ("tenant_id", "user_id", "project_id", "session_id"):
        bind(store, **{field: "elsewhere"}).remember(f"{CANARY}")
    answer = bind(store).search(CANARY)
    assert (answer.hits, answer.stale) == ((), ())


def test_br16_nobody_elses_matches_take_the_places(store: OpenStore, tmp_path: Path) -> None:
    """A weak match comes back, with the score it has where the strong ones of others do not exist."""
    with World(place=tmp_path / "alone").make() as alone:
        lonely = bind(alone)
        lonely.remember("a long text that says quartz once and then something else")
        expected = lonely.search("quartz", k=5)
    mine = bind(store)
    mine.remember("a long text that says quartz once and then something else")
    for others in ({"session_id": "s-2"}, {"branch": "other"}, {"agent_id": "other"}, {"baseline": "v2"}):
        bind(store, **others).remember_many(["quartz quartz quartz"] * 256)
    found = mine.search("quartz", k=5)
    assert [(hit.text, hit.score) for hit in found.hits] == [(hit.text, hit.score) for hit in expected.hits]
    assert len(found.hits) == 1


def test_br17_sessions_of_one_project_do_not_meet(world: World) -> None:
    """Two processes that write side by side see each only its own session, whatever the files' times say."""

    def writer(name: str) -> Child:
        def task(report: Report) -> None:
            with world.open() as store:
                session = bind(store, session_id=name)
                for number in range(50):
                    session.remember(f"quartz {name} {number}")
                    assert {one.text.split()[1] for one in session.list().items} == {name}
                report(str(session.list().total).encode())

        return Child(task)

    ends = [child.end() for child in [writer("s1"), writer("s2")]]
    assert [end.lines for end in ends] == [(b"50",), (b"50",)]
    for path in (world.root / "memory").rglob("s2/*.md"):
        os.utime(path, (4e9, 4e9))
    with world.open() as store:
        for name in ("s1", "s2"):
            session = bind(store, session_id=name)
            assert {hit.text.split()[1] for hit in session.search("quartz", k=100).hits} == {name}
            assert session.list().items[0].text == f"quartz {name} 49"


def test_br19_the_same_question_of_two_tenants(store: OpenStore) -> None:
    """Back to back, in both orders, from one warm process and two threads, each gets its own answer."""
    sessions = {name: bind(store, tenant_id=name) for name in ("acme", "evil")}
    mine = {name: session.remember(f"quartz of {name}").record_id for name, session in sessions.items()}
    wrong: list[object] = []

    def ask(order: list[str]) -> None:
        for name in order * 50:
            found = {hit.record_id for hit in sessions[name].search("quartz of").hits}
            if found != {mine[name]}:
                wrong.append((name, found))

    threads = [threading.Thread(target=ask, args=(order,)) for order in (["acme", "evil"], ["evil", "acme"])]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_br20_knowing_an_id_is_not_enough(store: OpenStore, world: World) -> None:
    """Another tenant's id is as absent as an id that never was: same error, same words, file untouched."""
    theirs = bind(store, tenant_id="evil").remember("quartz").record_id
    never = "01934f2e-8b7a-7c3d-9e21-0123456789ab"
    before = tree(world.root / "memory")
    session = bind(store)
    verbs: list[Callable[[str], object]] = [
        session.get,
        session.history,
        lambda one: session.remember("x", supersedes=[one]),
        lambda one: session.state.put("k", "x", expect=one),
    ]
    for verb in verbs:
        said: list[str] = []
        for one in (theirs, never):
            with pytest.raises((NotVisible, Refused)) as caught:
                verb(one)
            said.append(f"{type(caught.value).__name__} {str(caught.value).replace(one, 'ID')}")
        assert said[0] == said[1]
    assert tree(world.root / "memory") == before
    denials = [
        line for line in read_events(store.audit, ("tenant", "acme")) if line.event is EventKind.DENIED
    ]
    assert {theirs, never} <= {one for line in denials for one in line.records or ()}
    assert {line.reason for line in denials if line.verb == "get"} == {"not_in_scope"}


@pytest.mark.parametrize(
    "field",
    ["tenant_id", "user_id", "project_id", "session_id", "agent_id", "branch", "baseline", "workspace_id"],
)
def test_br21_every_dimension_counts(store: OpenStore, world: World, field: str) -> None:
    """Two values of one dimension are two scopes, for memory and for documents: none overwrites another."""
    sessions = [bind(store, **{field: value}) for value in ("one", "two")]
    ids = [session.remember(f"quartz {n}").record_id for n, session in enumerate(sessions)]
    for n, session in enumerate(sessions):
        session.state.put("plan", f"plan {n}", expect=None)
    assert len(list((world.root / "memory").rglob("*.md"))) == 2
    for n, session in enumerate(sessions):
        assert {one.record_id for one in session.list().items} == {ids[n]}
        assert session.state.get("plan").text == f"plan {n}"
        assert len(session.state.history("plan")) == 1
