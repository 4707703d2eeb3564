"""Views that are kept on the disk answer as those in memory, and hold ids and terms alone."""

# pyright: reportPrivateUsage=false
# What a view is open on, and where it is kept, can only be seen behind the door.

from __future__ import annotations

import os
import shutil
from functools import partial
from pathlib import Path

import pytest

from bench.child import Report, in_child
from bench.world import Who, World
from nsstore import OpenStore, Sensitivity
from nsstore.root import trees
from nsstore.search import views
from nsstore.search.analyser import query_terms
from nsstore.search.tantivy_door import Reader
from tests.search.conftest import LEAST, QUESTIONS, cache, everything, folded, ids, kept, notes, pairs


def test_a_kept_view_answers_as_one_in_memory(store: OpenStore, world: World) -> None:
    """Folded, opened again, or in memory: the same ids, the same scores, the same matches."""
    session = Who().bind(store)
    session.remember_many(notes(60))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(views, "LEAST_KEPT", 1_000)
        before = everything(session)
    assert not kept(store)
    for _ in range(2):
        session.search("common")
    store.settle()
    assert len(kept(store)) == 1
    assert everything(session) == before
    store.close()
    with world.open() as other:
        assert everything(Who().bind(other)) == before
        assert len(kept(other)) == 1


def test_the_first_use_keeps_nothing_but_that_it_was(store: OpenStore) -> None:
    """A namespace that is searched once costs no index, and a small one never does."""
    small = Who(session="small").bind(store)
    small.remember_many(notes(LEAST - 1))
    for _ in range(4):
        small.search("common")
    store.settle()
    assert not cache(store).exists() or not list(cache(store).glob("views/*"))
    large = Who(session="large").bind(store)
    large.remember_many(notes(LEAST))
    large.search("common")
    store.settle()
    assert len(list(cache(store).glob("views/*"))) == 1
    assert not kept(store)


def test_the_second_use_may_be_another_process(world: World) -> None:
    """Commands that search once each keep a view from the second one on."""
    world.make().close()
    for count in (0, 1, 1):
        with world.open() as store:
            session = Who().bind(store)
            if not count:
                session.remember_many(notes(LEAST))
            session.search("common")
        assert len(kept(store)) == count


def test_nothing_of_a_text_is_kept(store: OpenStore) -> None:
    """An index holds terms, in no order of a text: no two words that follow each other in one are kept so."""
    session = Who().bind(store)
    session.remember_many([f"Running{number} beside wandering elephants quickly" for number in range(LEAST)])
    for _ in range(2):
        session.search("elephants")
        store.settle()
    raw = b"".join(path.read_bytes() for path in cache(store).rglob("*") if path.is_file())
    assert kept(store)
    for run in (b"beside wandering", b"wandering elephants", b"elephants quickly", b"Running1"):
        assert run not in raw


def test_everything_is_private(store: OpenStore) -> None:
    """Directories are 0700 and files 0600 whatever the umask, and no name tells whose they are."""
    before = os.umask(0)
    try:
        folded(store)
    finally:
        os.umask(before)
    for path in [cache(store), *cache(store).rglob("*")]:
        assert path.stat().st_mode & 0o777 == (0o700 if path.is_dir() else 0o600), path
        assert not any(
            word in str(path.relative_to(cache(store))) for word in ("acme", "alice", "shop", "s-1")
        )


def test_read_your_writes(store: OpenStore) -> None:
    """BR-60: a record is found at once by whoever wrote it, in the tail and over a fold."""
    session = folded(store)
    for number in range(30):
        record_id = session.remember(f"canary{number} common").record_id
        assert ids(session.search(f"canary{number}")) == [record_id]
        store.settle()
    assert len(session.search("canary3 canary29").hits) == 2


def test_another_process_finds_on_its_next_call(store: OpenStore, world: World) -> None:
    """BR-60: what one process wrote the other finds with its next search, and both find what was folded."""
    session = folded(store)

    def write(number: int, _: Report) -> None:
        with world.open() as other:
            Who().bind(other).remember(f"canary{number} common")

    for number in range(3):
        assert in_child(partial(write, number)).status == 0
        assert len(session.search(f"canary{number}").hits) == 1


def test_processes_that_alternate_share_one_view(store: OpenStore, world: World) -> None:
    """BR-59: two processes that write and search in turn keep one view of all, without files left over."""
    session = folded(store)
    for number in range(4):
        session.remember_many(notes(10, start=1000 + 20 * number))
        session.search("common")
        store.settle()

        def other(_: Report, number: int = number) -> None:
            with world.open() as mine:
                there = Who().bind(mine)
                there.remember_many(notes(10, start=1010 + 20 * number))
                assert len(there.search("common", k=1000).hits) == LEAST + 20 * (number + 1)

        assert in_child(other).status == 0
    assert len(session.search("common", k=1000).hits) == LEAST + 80
    store.settle()
    assert len(kept(store)) == 1
    assert not list(cache(store).glob("open/*"))


def test_what_is_superseded_weighs_no_longer(store: OpenStore, world: World) -> None:
    """A record of the index that another one supersedes is found no more, here and after opening again."""
    session = folded(store)
    old = session.search("unique7").hits[0].record_id
    new = session.remember("unique7 colour0 newer", supersedes=[old]).record_id
    assert ids(session.search("unique7")) == [new]
    answers = everything(session)
    session.search("common")
    store.settle()
    with world.open() as other:
        assert everything(Who().bind(other)) == answers
    for number in range(20):
        hit = session.search(f"unique{number + 10}").hits[0]
        session.remember(hit.text + " again", supersedes=[hit.record_id])
        session.search("common")
        store.settle()
    assert len(session.search("common", k=1000).hits) == LEAST - 1
    with world.open() as other:
        assert everything(Who().bind(other)) == everything(session)


def test_what_is_forgotten_stops_at_once(store: OpenStore, world: World) -> None:
    """A forgotten record is in no view, and nothing that was kept of its namespace outlives it."""
    session = Who().bind(store)
    session.remember_many([*notes(LEAST), "wildebeest common", "kangaroo common"])
    for _ in range(2):
        session.search("common")
        store.settle()
    assert holds(store, "wildebeest")
    with world.open() as other:
        there = Who().bind(other)
        session.forget(there.search("wildebeest").hits[0].record_id)
        assert not kept(store)
        assert not there.search("wildebeest").hits
        assert not session.search("wildebeest").hits
        for _ in range(3):
            assert len(there.search("common", k=1000).hits) == LEAST + 1
            other.settle()
            store.settle()
    assert not holds(store, "wildebeest")
    assert holds(store, "kangaroo")


def holds(store: OpenStore, word: str) -> bool:
    """Whether an index that is kept holds a word."""
    return any(Reader.open(str(path)).holding(*query_terms(word)) for path in kept(store))


def test_what_has_ended_is_found_no_more(store: OpenStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """A record whose end came after it was folded weighs no longer, whoever opened the view."""
    session = Who().bind(store)
    session.remember_many(notes(LEAST))
    session.remember("ending common", expires_at="2100-01-01T00:00:00.000000Z")
    for _ in range(2):
        assert len(session.search("ending").hits) == 1
        store.settle()
    assert kept(store)
    monkeypatch.setattr("nsstore.store.sight.utc_now", lambda: "2100-01-01T00:00:01.000000Z")
    assert not session.search("ending").hits
    assert len(session.search("common", k=1000).hits) == LEAST


def begun_anew(*_: object) -> None:
    """Fail: no view was to be begun."""
    pytest.fail("a view was begun anew")


def test_a_new_class_does_not_cost_the_view(store: OpenStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a record of another class joins, the view of the others goes on and takes it in."""
    session = folded(store)
    monkeypatch.setattr(views.Views, "_begin", begun_anew)
    session.remember("public canary common", sensitivity=Sensitivity.PUBLIC)
    assert len(session.search("canary").hits) == 1
    assert len(session.search("common", k=1000).hits) == LEAST + 1


def test_a_kept_view_of_fewer_classes_is_gone_on_from(store: OpenStore, world: World) -> None:
    """A process that finds a view of what could be read so far opens it, and adds the new class."""
    session = folded(store)
    session.remember("public canary common", sensitivity=Sensitivity.PUBLIC)
    answers = everything(session)
    with world.open() as other:
        there = Who().bind(other)
        assert everything(there) == answers
        (pair,) = pairs(other)
        assert pair.base is not None


def test_no_view_serves_another_clearance(store: OpenStore) -> None:
    """Requests that may read different classes have different views, folded or not."""
    session = folded(store)
    secret = Who(clearance=Sensitivity.RESTRICTED).bind(store)
    secret.remember("secret canary common", sensitivity=Sensitivity.RESTRICTED)
    for _ in range(3):
        assert len(secret.search("canary").hits) == 1
        assert not session.search("canary").hits
        store.settle()
    before = everything(session)
    secret.remember_many(notes(10, start=500))
    assert [one[:1] for one in everything(session)] != []
    assert before != []


def test_the_disk_is_bounded(store: OpenStore) -> None:
    """What is kept of a namespace's views is at most twice what its records hold."""
    folded(store)
    for clearance in (Sensitivity.CONFIDENTIAL, Sensitivity.RESTRICTED):
        who = Who(clearance=clearance).bind(store)
        who.remember("one more common", sensitivity=clearance)
        for _ in range(3):
            who.search("common")
            store.settle()
    size = sum(path.stat().st_size for one in kept(store) for path in one.iterdir())
    records = sum(path.stat().st_size for path in Path(store.root.path).rglob("*.md"))
    assert size <= 2 * records


def test_every_question_finds_something(store: OpenStore) -> None:
    """The questions these tests compare answers by are no empty ones, but for the last."""
    session = folded(store)
    assert [bool(session.search(one).hits) for one in QUESTIONS] == [True] * 5 + [False]


@pytest.mark.parametrize("act", ["fold", "forget"])
@pytest.mark.parametrize("room", ["cache", "memory"])
def test_a_copy_that_a_dead_process_left(store: OpenStore, act: str, room: str) -> None:
    """What a dead process left of opening a view goes with the next fold or forget; one in use stays."""
    session = folded(store)
    home = store._searcher.views.home
    root = home.open(make=False) if room == "cache" else home.memory()
    if root is None:
        pytest.skip("this system has no place in memory for files")
    left, at_work = (f"{one}-{os.getpid()}" for one in ("left", "at-work"))
    root.make_dir("open").close()
    opening = Path(root.path) / "open"
    for name in (left, at_work):
        root.make_dir(f"open/{name}").close()
        (opening / name / "terms").write_bytes(b"common")
    in_use = root.dir(f"open/{at_work}")
    assert in_use is not None
    with in_use:
        trees.hold(in_use)
        if act == "fold":
            session.remember_many(notes(2 * LEAST, start=10_000))
            session.search("common")
            store.settle()
        else:
            session.forget(session.search("common", k=1).hits[0].record_id)
        there = {one.name for one in opening.iterdir()}
    shutil.rmtree(opening / at_work)
    assert at_work in there
    assert left not in there


def test_a_worn_index_is_made_anew(store: OpenStore) -> None:
    """BR-59: an index of which much is gone is made again once, and no later search opens the old one."""
    session = Who().bind(store)
    made = [one.record_id for one in session.remember_many(notes(LEAST))]
    for _ in range(2):
        session.search("common")
        store.settle()
    (before,) = kept(store)
    for number, old in enumerate(made[:8]):
        session.remember(f"common newer {number}", supersedes=[old])
    for _ in range(3):
        session.search("common")
        store.settle()
    (after,) = kept(store)
    assert after != before
    for _ in range(3):
        session.search("common")
        store.settle()
    (pair,) = pairs(store)
    assert kept(store) == [after]
    assert pair.base is not None
    assert not pair.base.gone.ids


def test_where_no_files_are_kept_in_memory(
    store: OpenStore, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the system has no place in memory none is made, and a view is opened by the cache home alone."""
    session = folded(store)
    expected = everything(session)
    missing = world.place / "none"
    monkeypatch.setattr("nsstore.root.places.MEMORY", str(missing))
    with world.open() as fresh:
        assert fresh._searcher.views.home.memory() is None
        assert everything(Who().bind(fresh)) == expected
        (pair,) = pairs(fresh)
        assert pair.base is not None
    assert not missing.exists()
