"""Publishing: batches, keys, refusals that leave nothing, and a write that can be neither kept nor undone."""

import errno
import os
import sys
from collections.abc import Callable
from contextlib import suppress

import pytest

from bench.binding import bind, tree
from bench.child import Child, Report
from bench.powercut.examine import examine
from bench.powercut.operations import Kept
from bench.world import Who, World
from nsstore import InvalidInput, Note, NotVisible, OpenStore, Refused, Session, StoreError, SystemFailure
from nsstore.root import FileLock
from nsstore.root.steps import hooked
from nsstore.scope import memory_namespace

pytestmark = pytest.mark.usefixtures("unflushed")


def listed(session: Session) -> list[str]:
    """The texts of a scope, oldest first."""
    return [one.text for one in reversed(session.list(limit=1000, include_superseded=True).items)]


def test_many_batches_keep_their_order(world: World) -> None:
    """Six hundred notes are members in the order they were given, with a receipt each."""
    texts = [f"note {number}" for number in range(600)]
    with world.open() as store:
        receipts = bind(store).remember_many(texts)
        assert len({one.record_id for one in receipts}) == 600
    with world.open() as store:
        session = bind(store)
        assert listed(session) == texts
        assert [session.get(one.record_id).text for one in receipts] == texts


def test_an_error_in_a_later_batch_says_what_is_written(world: World) -> None:
    """Where the first 256 of many notes are written and the next ones fail, the error says so."""
    synced: list[str] = []

    def fail_in_the_second(call: str) -> None:
        synced.extend(call for _ in range(call == "syncfs"))
        if call == "syncfs" and len(synced) == 2:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with world.open() as store:
        session = bind(store)
        texts = [f"note {number}" for number in range(300)]
        with (
            pytest.raises(SystemFailure, match="the first 256 notes are written"),
            hooked(fail_in_the_second),
        ):
            session.remember_many(texts)
        assert listed(session) == texts[:256]


def test_nothing_is_something(world: World) -> None:
    """An empty list writes nothing and makes nothing."""
    with world.open() as store:
        before = tree(world.root, but=("audit",))
        assert bind(store).remember_many([]) == []
        assert tree(world.root, but=("audit",)) == before


@pytest.mark.parametrize(
    "notes",
    [
        ["good", ""],
        ["good", "x" * 262_145],
        ["good", Note(text="x", kind="Not A Kind")],
        [Note(text="a", idempotency_key="same"), Note(text="b", idempotency_key="same")],
        ["good", Note(text="x", ext={"user_id": "evil"})],
    ],
)
def test_one_bad_note_refuses_them_all(world: World, notes: list[Note | str]) -> None:
    """Before the first note is written every note is checked, and a new scope leaves nothing behind."""
    with world.open() as store:
        before = tree(world.root, but=("audit",))
        with pytest.raises(InvalidInput):
            bind(store).remember_many(notes)
        assert tree(world.root, but=("audit",)) == before
        assert bind(store).list().total == 0


def test_a_refusal_in_a_new_scope_leaves_nothing(world: World) -> None:
    """What may not be written makes no directory."""
    with world.open() as store:
        before = tree(world.root, but=("audit",))
        with pytest.raises(Refused):
            bind(store).remember("x", sensitivity="restricted")
        with pytest.raises(NotVisible):
            bind(store).remember("x", supersedes=["01934f2e-8b7a-7c3d-9e21-0123456789ab"])
        with pytest.raises(Refused):
            bind(store).state.put("plan", "x", expect="01934f2e-8b7a-7c3d-9e21-0123456789ab")
        assert tree(world.root, but=("audit",)) == before


def test_a_key_gives_the_first_receipt_again(world: World) -> None:
    """The same key and content is one record, in any process; other content is refused."""
    with world.open() as store:
        first = bind(store).remember("x", title="t", idempotency_key="k")
        again = bind(store).remember("x", title="t", idempotency_key="k")
        assert (again.record_id, again.created_at) == (first.record_id, first.created_at)
        assert (first.replayed, again.replayed) == (False, True)
    with world.open() as store:
        assert bind(store).remember("x", title="t", idempotency_key="k").record_id == first.record_id
        for text, title, tags in (("y", "t", ()), ("x", None, ()), ("x", "t", ("more",))):
            with pytest.raises(InvalidInput, match="idempotency_key"):
                bind(store).remember(text, title=title, tags=tags, idempotency_key="k")
        for field in ("agent_id", "branch", "baseline", "user_id", "session_id"):
            theirs = bind(store, **{field: "other"}).remember("x", title="t", idempotency_key="k")
            assert theirs.record_id != first.record_id
        assert bind(store).list().total == 1


def test_a_key_among_new_notes(world: World) -> None:
    """A batch that holds a note written before writes the others, and receipts stay in order."""
    with world.open() as store:
        session = bind(store)
        old = session.remember("b", idempotency_key="b")
        notes = [Note(text=text, idempotency_key=text) for text in "abc"]
        receipts = session.remember_many(notes)
        assert [one.replayed for one in receipts] == [False, True, False]
        assert receipts[1].record_id == old.record_id
        assert listed(session) == ["b", "a", "c"]


class NeitherKeptNorUndone:
    """A hook under which the record's flush fails, and so does every attempt to take its name away."""

    def __init__(self) -> None:
        self.flushes = 0

    def __call__(self, call: str) -> None:
        self.flushes += call == "fsync"
        if call == "unlink" or (call == "fsync" and self.flushes == 1):
            raise OSError(errno.EIO, os.strerror(errno.EIO))


@pytest.mark.parametrize("again", ["the same process", "another process"])
def test_a_write_that_cannot_be_undone_is_void(world: World, again: str) -> None:
    """Its record never joins, whatever becomes of its file, and a retry writes it anew."""
    who = Who()
    with world.open() as store:
        session = who.bind(store)
        kept = Kept(record_id=session.remember("kept").record_id, text="kept")
        with pytest.raises(SystemFailure), hooked(NeitherKeptNorUndone()):
            session.remember("void", idempotency_key="k")
        assert listed(session) == ["kept"]
        files = {path.name for path in (world.root / "memory").rglob("*.md")}
        assert len(files) == 2, "the name could not be taken away"
        if again == "the same process":
            session.remember("void", idempotency_key="k")
            assert listed(session) == ["kept", "void"]
    with world.open() as store:
        session = who.bind(store)
        receipt = session.remember("void", idempotency_key="k")
        assert listed(session) == ["kept", "void"]
        assert receipt.record_id not in {name.removesuffix(".md") for name in files}
    assert len(list((world.root / "quarantine").rglob("*.md"))) == 1
    assert examine(world, who, "memory", [kept, Kept(record_id=receipt.record_id, text="void")], []) == []


def test_a_lock_that_is_held_is_waited_for(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Within the limit a writer waits; beyond it the refusal says that trying again helps."""
    monkeypatch.setattr(sys.modules[FileLock.__module__], "LIMIT_SECONDS", 0.3)
    with world.open() as store:
        session = bind(store)
        session.remember("before")
        place = store.leaf(memory_namespace(session.envelope.scope)).place
        with world.open() as other, other.trust.anchors.watched(place.anchors, place.chain):
            with pytest.raises(Refused) as refused:
                session.remember("never")
            assert (refused.value.reason, refused.value.retryable) == ("locked", True)
            assert listed(session) == ["before"], "readers do not wait"
            with world.open() as fresh:
                assert listed(bind(fresh)) == ["before"]
        session.remember("after")
        assert listed(session) == ["before", "after"]


def test_compare_and_set_is_one_step_for_all_processes(world: World) -> None:
    """Of three processes that count together each count counts: a put at an older version is refused."""

    def counter() -> Child:
        def task(_: Report) -> None:
            with world.open() as store:
                state = bind(store).state
                done = 0
                while done < 10:
                    at = state.get("count")
                    with suppress(Refused):
                        state.put("count", str(int(at.text) + 1), expect=at.record_id)
                        done += 1

        return Child(task)

    with world.open() as store:
        bind(store).state.put("count", "0", expect=None)
        with pytest.raises(Refused):
            bind(store).state.put("count", "0", expect=None)
        ends = [child.end() for child in [counter() for _ in range(3)]]
        assert [end.status for end in ends] == [0, 0, 0]
        assert bind(store).state.get("count").text == "30"
        assert [one.text for one in bind(store).state.history("count")] == [str(n) for n in range(30, -1, -1)]


def test_a_closed_store_says_so(store: OpenStore) -> None:
    """After closing, every call is a typed refusal."""
    session = bind(store)
    session.remember("x")
    store.close()
    calls: list[Callable[[], object]] = [
        session.list,
        lambda: session.remember("y"),
        lambda: session.search("x"),
        lambda: session.state.get("k"),
    ]
    for call in calls:
        with pytest.raises(StoreError):
            call()
