"""Area 4 of the public bug reports, BR-56 to BR-62: who writes an index, who dies, and what is left in it."""

import os
import random
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from bench.binding import bind
from bench.child import KILLED, Child, Report, die, in_child
from bench.world import World
from nsstore import NotVisible, OpenStore, Session
from nsstore.root.steps import hooked
from nsstore.search.tantivy_door import Reader
from tests.cases.conftest import LEAST, filled, generations, ids, keep

pytestmark = pytest.mark.usefixtures("kept_views")


def test_br56_a_writer_that_died_blocks_nobody(store: OpenStore, world: World) -> None:
    """After a kill inside tantivy's own write the next process writes, finds and keeps at once."""
    session = bind(store)
    mine = filled(session)
    session.search("common")

    def task(_: Report) -> None:
        with world.open() as other:
            there = bind(other)
            with hooked(lambda call: die() if call == "index" else None):
                there.search("common")
                other.settle()

    assert in_child(task).status == KILLED
    assert generations()  # what it left, locks and all
    began = time.monotonic()
    for turn in range(3):
        with world.open() as next_one:
            there = bind(next_one)
            mine.append(there.remember(f"common {turn}").record_id)
            assert sorted(ids(there, "common")) == sorted(mine)
            next_one.settle()
    assert time.monotonic() - began < 8
    assert len(generations()) == 1


@pytest.mark.parametrize("with_locks", [False, True])
def test_br56_a_lock_file_is_no_lock(store: OpenStore, world: World, with_locks: object) -> None:
    """Lock files that lie there block no search, no write and no fold, in any number of processes."""
    session = bind(store)
    mine = filled(session)
    keep(store, session)
    (generation,) = generations()
    if with_locks:
        for name in (".tantivy-writer.lock", ".tantivy-meta.lock"):
            (generation / name).touch(mode=0o600)
    for turn in range(3):
        with world.open() as other:
            there = bind(other)
            mine += [one.record_id for one in there.remember_many([f"common {turn}"] * 9)]
            assert sorted(ids(there, "common")) == sorted(mine)
            other.settle()
    assert generations() != [generation]


def test_br56_four_writers_of_one_namespace(world: World) -> None:
    """What four processes write and search at once is all there, on the disk and in every search."""

    def writer(name: str) -> Child:
        def task(report: Report) -> None:
            with world.open() as store:
                session = bind(store)
                for number in range(40):
                    mine = session.remember(f"common {name} canary{name}{number}").record_id
                    assert ids(session, f"canary{name}{number}") == [mine]
                    report(mine.encode())

        return Child(task)

    ends = [child.end() for child in [writer(name) for name in "abcd"]]
    assert [end.status for end in ends] == [0] * 4
    written = {line.decode() for end in ends for line in end.lines}
    assert len(written) == 160
    assert {path.stem for path in (world.root / "memory").rglob("*.md")} == written
    with world.open() as store:
        assert set(ids(bind(store), "common")) == written
        assert bind(store).list().total == 160


def test_br58_killed_at_any_moment(world: World) -> None:
    """After each kill what was acknowledged is on the disk and found, and nothing is found without a file."""
    dice = random.Random(58)
    acknowledged: set[str] = set()
    for turn in range(12):

        def task(report: Report, turn: int = turn) -> None:
            with world.open() as store:
                session = bind(store)
                for number in range(10_000):
                    report(session.remember(f"common {turn} {number}").record_id.encode())
                    if number % 7 == 0:
                        session.search("common")

        child = Child(task)
        time.sleep(dice.uniform(0.03, 0.15))
        child.kill()
        acknowledged |= {line.decode() for line in child.end().lines}
        with world.open() as store:
            session = bind(store)
            found = set(ids(session, "common"))
            files = {path.stem for path in (world.root / "memory").rglob("*.md")}
            listed = {one.record_id for one in session.list(limit=1000).items}
            assert acknowledged <= listed
            assert files == listed
            assert found == listed if len(listed) <= 1000 else len(found) == 1000
            assert all(session.get(one).text.startswith("common ") for one in dice.sample(sorted(found), 9))
        if len(acknowledged) > 300:
            break
    assert len(acknowledged) > LEAST
    assert generations()


def test_br59_processes_that_take_turns(world: World, kept_views: Path) -> None:
    """Two that live long find every record of both, so does a third, and the files stay few."""
    ways = [os.pipe(), os.pipe()]

    def player(which: int) -> Child:
        def task(report: Report) -> None:
            seen: set[str] = set()
            with world.open() as store:
                session = bind(store)
                for turn in range(40):
                    os.read(ways[which][0], 1)
                    mine = session.remember(f"common turn{turn} of{which}").record_id
                    found = ids(session, "common")
                    assert len(found) == len(set(found)) == 2 * turn + which + 1
                    assert mine in found
                    assert seen < set(found)
                    seen = set(found)
                    store.settle()
                    os.write(ways[1 - which][1], b"x")
                report(b"done")

        return Child(task)

    players = [player(0), player(1)]
    os.write(ways[0][1], b"x")
    ends = [one.end() for one in players]
    for way in ways:
        for fd in way:
            os.close(fd)
    assert [(end.status, end.lines) for end in ends] == [(0, (b"done",))] * 2
    with world.open() as store:
        assert len(ids(bind(store), "common")) == 80
    assert len(generations()) == 1
    files = [path for path in kept_views.rglob("*") if path.is_file()]
    segments = {path.name.split(".")[0] for path in files if len(path.name.split(".")[0]) == 32}
    assert len(files) <= 10 * len(segments)
    assert len(segments) <= 24


def test_br59_an_update_is_no_duplicate(store: OpenStore, world: World) -> None:
    """Two processes that replace each other's versions leave one of each in every search."""
    session = bind(store)
    mine = filled(session)
    keep(store, session)

    def task(report: Report) -> None:
        with world.open() as other:
            there = bind(other)
            for old in mine[: LEAST // 2]:
                report(there.remember("common newer of theirs", supersedes=[old]).record_id.encode())
                there.search("common")
            other.settle()

    child = Child(task)
    made = [session.remember("common newer", supersedes=[old]).record_id for old in mine[LEAST // 2 :]]
    for _ in range(5):
        found = ids(session, "common")
        assert len(found) == len(set(found)) == LEAST
    ended = child.end()
    assert ended.status == 0
    for process in (store, world.open()):
        found = ids(bind(process), "common")
        assert len(found) == LEAST
        assert set(found) == {*made, *(line.decode() for line in ended.lines)}
        assert bind(process).list().total == LEAST
    process.close()


def test_br60_found_at_once_and_gone_at_once(store: OpenStore) -> None:
    """Each write is in the next search, each forget and each newer version too, through folds and all."""
    session = bind(store)
    for number in range(60):
        one = session.remember(f"common canary{number}").record_id
        assert ids(session, f"canary{number}") == [one]
        if number % 3 == 0:
            newer = session.remember(f"common canary{number} newer", supersedes=[one]).record_id
            assert ids(session, f"canary{number}") == [newer]
            one = newer
        if number % 4 == 0:
            session.forget(one)
            assert ids(session, f"canary{number}") == []
            with pytest.raises(NotVisible):
                session.get(one)
    store.settle()
    assert len(ids(session, "common")) == session.list().total == 45


def test_br60_another_process_is_never_behind(store: OpenStore, world: World) -> None:
    """What one process wrote or forgot, the other's next search finds or does not."""
    session = bind(store)
    ways = [os.pipe(), os.pipe()]

    def task(report: Report) -> None:
        with world.open() as other:
            there = bind(other)
            for number in range(60):
                one = there.remember(f"common canary{number}").record_id
                report(one.encode())
                os.write(ways[0][1], b"x")
                os.read(ways[1][0], 1)
                if number % 2:
                    there.forget(one)
                os.write(ways[0][1], b"x")
                os.read(ways[1][0], 1)

    child = Child(task)
    for number in range(60):
        os.read(ways[0][0], 1)
        assert len(ids(session, f"canary{number}")) == 1
        os.write(ways[1][1], b"x")
        os.read(ways[0][0], 1)
        assert len(ids(session, f"canary{number}")) == 1 - number % 2
        os.write(ways[1][1], b"x")
    assert child.end().status == 0
    for way in ways:
        for fd in way:
            os.close(fd)
    assert len(ids(session, "common")) == 30


GONE = [f"quartz quartz gone{n} gone basalt common" for n in range(50)]


def forgotten(session: Session) -> None:
    """Write the neighbours and forget each."""
    made = session.remember_many(GONE)
    session.search("quartz gone")
    for one in made:
        session.forget(one.record_id)


def superseded(session: Session) -> None:
    """Write the neighbours, and newer versions of all of them."""
    made = [one.record_id for one in session.remember_many(GONE)]
    session.search("quartz gone")
    for at in range(0, 50, 10):
        session.remember("newer", supersedes=made[at : at + 10])


def ended(session: Session) -> None:
    """Write neighbours that end at a time."""
    for text in GONE:
        session.remember(text, expires_at="2100-01-01T00:00:00.000000Z")
    session.search("quartz gone")


def answer(session: Session, words: str, *, scores: bool) -> list[tuple[str, float]]:
    """The texts of the hits in their order with their scores; or sorted, without."""
    hits = session.search(words, k=100).hits
    return (
        [(hit.text, round(hit.score, 4)) for hit in hits]
        if scores
        else sorted((hit.text, 0.0) for hit in hits)
    )


@pytest.mark.parametrize("kept", [False, True], ids=["in memory", "kept"])
@pytest.mark.parametrize("how", [forgotten, superseded, ended])
def test_br62_what_is_gone_weighs_nothing(
    store: OpenStore,
    world: World,
    kept: object,
    how: Callable[[Session], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Hits, counts and scores are those of a scope where the fifty neighbours never were."""
    live = [f"{'quartz ' * n} common {'basalt ' * (6 - n)} {'filler ' * n * 3}" for n in range(1, 6)]
    plain, other = bind(store, session_id="plain"), bind(store, session_id="other")
    base = [f"common filler{n}" for n in range(LEAST if kept else 1)]
    for session in (plain, other):
        session.remember_many([*base, *live])
    if kept:
        keep(store, other)
    how(other)
    plain.remember_many(["newer"] * 5 if how is superseded else ["newer"])
    other.remember_many([] if how is superseded else ["newer"])
    monkeypatch.setattr("nsstore.store.sight.utc_now", lambda: "2100-01-01T00:00:01.000000Z")
    scores = not kept or how is forgotten  # where an index goes on, what is gone from it rounds its scores
    for turn in range(3):
        for words in ("quartz", "basalt quartz", "gone", "gone3 basalt", "common"):
            assert answer(other, words, scores=scores) == answer(plain, words, scores=scores), (words, turn)
        assert other.list().total == plain.list().total
        store.settle()
    with world.open() as fresh:
        found = answer(bind(fresh, session_id="other"), "basalt quartz", scores=scores)
        assert found == answer(plain, "basalt quartz", scores=scores)
    if how is forgotten:
        assert not any(Reader.open(str(path)).holding("gone3") for path in generations())


def test_br22_killed_while_it_forgets(store: OpenStore, world: World, kept_views: Path) -> None:
    """Wherever a forget is killed, the next process finds the record whole or not at all, in every verb."""
    session = bind(store)
    mine = filled(session)
    keep(store, session)
    store.close()
    whole = gone = 0
    for at in range(1, 60, 4):
        canary = f"canary{at}"

        def task(report: Report, at: int = at, canary: str = canary) -> None:
            with world.open() as other:
                there = bind(other)
                one = there.remember(f"common {canary}").record_id
                report(one.encode())
                there.search("common")
                other.settle()
                left = [at]

                def count(_: str) -> None:
                    left[0] -= 1
                    if left[0] < 0:
                        die()

                with hooked(count):
                    there.forget(one)

        ended = in_child(task)
        one = ended.lines[0].decode()
        with world.open() as fresh:
            there = bind(fresh)
            found, listed = ids(there, canary), {item.record_id for item in there.list(limit=1000).items}
            assert found == ([one] if one in listed else [])
            if found:
                whole += 1
                assert there.get(one).text == f"common {canary}"
                there.forget(one)
            gone += not found
            assert sorted(ids(there, "common")) == sorted(mine)
            mine.append(there.remember("common and a write").record_id)  # finishes what was begun
            fresh.settle()
        assert not any(canary.encode() in path.read_bytes() for path in world.root.rglob("*.md"))
        if ended.status == 0:
            break
    assert whole
    assert gone
    assert kept_views.exists()


def test_br58_a_cache_that_is_taken_away(store: OpenStore, world: World, kept_views: Path) -> None:
    """With the whole cache removed under open processes, or before one opens, nothing is missed."""
    session = bind(store)
    mine = filled(session)
    keep(store, session)
    for turn in range(3):
        kept_views.rename(kept_views.with_name(f"old{turn}"))
        mine.append(session.remember(f"common {turn}").record_id)
        assert sorted(ids(session, "common")) == sorted(mine)
        with world.open() as fresh:
            assert sorted(ids(bind(fresh), "common")) == sorted(mine)
            assert sorted(ids(bind(fresh), "common")) == sorted(mine)


def test_br60_threads_write_and_search_at_once(store: OpenStore) -> None:
    """Eight threads of one process each find what they wrote, and not what they replaced, over folds."""
    session = bind(store)
    filled(session)
    wrong: list[str] = []

    def work(name: int) -> None:
        for number in range(20):
            canary = f"canary{name}x{number}"
            one = session.remember(f"common {canary}").record_id
            if ids(session, canary) != [one]:
                wrong.append(f"lost {canary}")
            newer = session.remember(f"common {canary} newer", supersedes=[one]).record_id
            if ids(session, canary) != [newer]:
                wrong.append(f"ghost {canary}")

    threads = [threading.Thread(target=work, args=(name,)) for name in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert len(ids(session, "common")) == session.list().total == LEAST + 8 * 20
