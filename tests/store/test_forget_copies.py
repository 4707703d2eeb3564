"""Forgetting while others read, and what the store itself had made of a text before."""

import gc
import shutil
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import Mock, patch

import pytest

from bench.binding import bind
from bench.child import KILLED, Child, Report, die, in_child
from bench.world import World
from nsstore import Note, NotVisible, OpenStore, Refused
from nsstore.audit import read_events
from nsstore.root import Dir, system
from nsstore.root.steps import hooked
from nsstore.store import Below, forget_below
from nsstore.writers.rehearsal import rehearse
from tests.store.conftest import CANARY, TENANT, left

pytestmark = pytest.mark.usefixtures("unflushed", "cache_beside")


def test_no_view_of_any_process_holds_it(world: World) -> None:
    """Neither here nor in a process that searched before does anything stay that holds its words."""
    word = "zanzibarword"

    def holders() -> list[object]:
        gc.collect()
        return [one for one in gc.get_objects() if type(one) is dict and word in one]

    with world.open() as store, world.open() as other:
        session, reader = bind(store), bind(other)
        gone = session.remember(f"{word} quartz", title=word).record_id
        session.remember("quartz")
        assert len(session.search("quartz").hits) == len(reader.search("quartz").hits) == 2
        session.forget(gone)
        assert len(reader.search("quartz").hits) == 1
        assert holders() == []


def torn_copy(world: World, store: OpenStore) -> str:
    """The same text a second time: its first writer died, and what it left was set aside."""

    def dying(_: Report) -> None:
        with world.open() as mine, hooked(lambda call: die() if call == "fsync" else None):
            bind(mine).remember(f"{CANARY} {'x' * 5_000}")

    assert in_child(dying).status == KILLED
    (path,) = [one for one in world.root.rglob("*.md") if CANARY.encode() in one.read_bytes()]
    path.write_bytes(path.read_bytes()[:-4_000] + bytes(100))  # what a power cut makes of it
    receipt = bind(store).remember(f"{CANARY} {'x' * 5_000}")
    assert len(left(world)) == 2, "set aside, and the record"
    return receipt.record_id


def test_no_copy_that_the_store_itself_made_is_left(world: World) -> None:
    """Leftovers of the same text in the quarantine go with it; those of others, and other texts, stay."""
    with world.open() as store:
        bind(store).remember("first")
        gone = torn_copy(world, store)
        other = world.root / "quarantine" / "0123456789abcdef"
        other.mkdir(mode=0o700)
        (aside,) = world.root.glob("quarantine/*/*.md")
        raw = aside.read_bytes()
        (other / aside.name).write_bytes(raw.replace(b'"alice"', b'"bobby"'))
        (other / "other.md").write_bytes(raw.replace(CANARY.encode(), b"something else"))
        bind(store).forget(gone)
        assert sorted(path.name for path in other.iterdir()) == sorted([aside.name, "other.md"])
        shutil.rmtree(other)
    assert left(world) == []


CUTS: dict[str, Callable[[bytes, int], bytes]] = {
    "behind the header": lambda raw, body: raw[:body] + bytes(len(raw) - body),
    "behind the header, short": lambda raw, body: raw[:body],
    "inside the header": lambda raw, _: raw[: raw.index(b"extword") + 12] + bytes(4_000),
    "before the text, short": lambda raw, body: raw[: body - 3],
    "in the middle of the header": lambda raw, _: raw.replace(b"tagword", bytes(7)),
    "in the middle of the text": lambda raw, body: raw[: body + 500] + bytes(4_000) + raw[body + 4_500 :],
    "without its beginning": lambda raw, body: bytes(body + 300) + raw[body + 300 :],
    "without beginning and middle": lambda raw, body: (
        bytes(body + 300) + raw[body + 300 : body + 900] + bytes(4_000) + raw[body + 4_900 :]
    ),
}  # fmt: skip


@pytest.mark.parametrize("cut", CUTS)
def test_whatever_a_power_cut_left_of_it(world: World, cut: str) -> None:
    """Header without text, half a header, zeros anywhere: of a torn leftover nothing is left either."""
    words = ("titleword", "tagword", "extword", "bodyword")
    text = " ".join(f"bodyword {n}" for n in range(600))
    with world.open() as store:
        gone = bind(store).remember(text, title="titleword", tags=["tagword"], ext={"x": "extword"}).record_id
    (path,) = world.root.rglob(f"{gone}.md")
    raw = path.read_bytes()
    torn = path.with_name(f"{gone[:-4]}0000.md")
    torn.write_bytes(CUTS[cut](raw, raw.index(b"\n---\n") + 5))
    torn.chmod(0o600)
    with world.open() as store:
        bind(store).remember("another")
        assert (torn.exists(), len(list(world.root.glob("quarantine/*/*.md")))) == (False, 1)
        assert bind(store).forget(gone).count == 1
    assert left(world, *words) == []
    assert list(world.root.glob("quarantine/*/*.md")) == []


def aside_in(world: World) -> Path:
    """A directory of the quarantine, as the store would have made it."""
    aside = world.root / "quarantine" / "0123456789abcdef"
    for folder in (aside.parent, aside):
        folder.mkdir(mode=0o700)
    return aside


def test_what_is_torn_of_others_stays(world: World) -> None:
    """A leftover of another namespace or text is somebody's evidence, and what claims nothing nobody's."""
    with world.open() as store:
        mine, other = bind(store).remember("mine").record_id, bind(store, session_id="s-2").remember("other")
        (path,) = world.root.rglob(f"{other.record_id}.md")
        raw = path.read_bytes()
        aside = aside_in(world)
        body = raw.index(b"\n---\n") + 5
        whole = raw.replace(b'"s-2"', b'"s-1"')
        (aside / "mine.md").write_bytes(whole[:body])
        (aside / "mine.md").chmod(0o600)
        leave = {
            "theirs.md": raw[:body] + bytes(6), "text.md": whole, "cut.md": raw[: raw.index(b"session_id")],
            "zeros.md": bytes(900), "nothing.md": b"", "foreign.md": b"a note",
            "end.md": bytes(body) + b"other",
        }  # fmt: skip
        for name, some in leave.items():
            (aside / name).write_bytes(some)
            (aside / name).chmod(0o600)
        bind(store).forget(mine)
        assert {one.name for one in aside.iterdir()} == leave.keys()


BELOW: dict[str, tuple[Below, set[str]]] = {
    "session": (
        Below(tenant=TENANT, user="alice", project="shop", session=("session", "s-1")),
        {"alice s-1"},
    ),
    "user": (Below(tenant=TENANT, user="alice"), {"alice s-1", "alice s-2"}),
    "project": (Below(tenant=TENANT, project="shop"), {"alice s-1", "alice s-2", "bobby s-1"}),
    "tenant": (Below(tenant=TENANT), {"alice s-1", "alice s-2", "bobby s-1"}),
    "other": (Below(tenant=("tenant", "evil")), set()),
}


@pytest.mark.parametrize("whole", BELOW)
def test_a_whole_scope_leaves_no_leftover(world: World, whole: str) -> None:
    """With a session, project, user or tenant goes what its dead writers left, whatever its text."""
    with world.open() as store:
        written = bind(store).remember(f"{CANARY} text", title="titleword").record_id
        held = bind(store).remember("held", retention_class="legal_hold").record_id
        bind(store, session_id="empty").remember("x")
        raws = {one: next(world.root.rglob(f"{one}.md")).read_bytes() for one in (written, held)}
        bind(store).forget(written)
        aside = aside_in(world)
        for user in ("alice", "bobby"):
            for session in ("s-1", "s-2")[: 2 if user == "alice" else 1]:
                raw = raws[written].replace(b'"alice"', f'"{user}"'.encode())
                name = aside / f"{user} {session}"
                name.write_bytes(raw.replace(b'"s-1"', f'"{session}"'.encode())[:-2])
                name.chmod(0o600)
        (aside / "held").write_bytes(raws[held])
        (aside / "held").chmod(0o600)
        before = {one.name for one in aside.iterdir()}
        below, gone = BELOW[whole]
        forget_below(store, below, dry_run=True, leave_held=True)
        assert {one.name for one in aside.iterdir()} == before
        forget_below(store, below, leave_held=True)
        assert {one.name for one in aside.iterdir()} == before - gone


def test_no_draft_is_left_on_an_old_kernel(world: World) -> None:
    """Where unfinished files have names, one that a dead writer left of the same text goes, too."""
    old = patch.multiple(
        system, has_openat2=Mock(return_value=False), has_unnamed_files=Mock(return_value=False)
    )

    def dying(_: Report) -> None:
        with world.open() as mine, hooked(lambda call: die() if call == "rename" else None):
            bind(mine).remember(CANARY)

    with old:
        with world.open() as store:
            bind(store).remember("first")
        assert in_child(dying).status == KILLED
        assert [path.parent.name for path in left(world)] == ["tmp"]
        with world.open() as store:
            bind(store).forget(bind(store).remember(CANARY).record_id)
    assert left(world) == []


@pytest.mark.parametrize("verb", ["get", "list", "search", "history", "state", "rehearse"])
def test_a_record_forgotten_under_a_reader(world: World, verb: str) -> None:
    """Forgotten between a reader's look and its reading of the file, it is absent, and no incident."""
    with world.open() as store, world.open() as other:
        session, reader = bind(store), bind(other)
        session.remember("quartz stays")
        gone = session.remember("quartz gone", idempotency_key="k").record_id
        session.state.put("plan", "quartz")
        note = Note(text="quartz gone", idempotency_key="k")
        reader.list()
        reader.search("quartz")
        reader.state.list()
        forgot: list[str] = []

        def forget() -> None:
            if not forgot:
                forgot.append(gone)
                session.forget(gone)
                session.state.forget("plan")

        with before_each_record(forget):
            asks: dict[str, Callable[[], object]] = {
                "get": lambda: absent(lambda: reader.get(gone)),
                "list": lambda: [one.text for one in reader.list().items],
                "search": lambda: [one.text for one in reader.search("quartz").hits],
                "history": lambda: absent(lambda: reader.history(gone)),
                "state": lambda: absent(lambda: reader.state.get("plan")),
                "rehearse": lambda: absent(lambda: rehearse(other, reader.envelope, [note])),
            }
            answer = asks[verb]()
        assert forgot, "nobody read a record"
        assert answer in (["quartz stays"], "absent")
        assert not [one for one in read_events(store.audit, TENANT) if one.incident]


def absent(call: Callable[[], object]) -> object:
    """``absent`` if a call answers so, or that it was forgotten."""
    try:
        return call()
    except (NotVisible, Refused):
        return "absent"


@contextmanager
def before_each_record(call: Callable[[], object]) -> Generator[None]:
    """Call a function before any record's file is read."""
    fetch, read = Dir.fetch, Dir.read

    def through(method: Callable[[Dir, str, int], bytes | None]) -> Callable[[Dir, str, int], bytes | None]:
        def reading(self: Dir, name: str, limit: int) -> bytes | None:
            if name.endswith(".md"):
                call()
            return method(self, name, limit)

        return reading

    with patch.object(Dir, "fetch", through(fetch)), patch.object(Dir, "read", through(read)):
        yield


def test_forgetting_while_others_read(world: World) -> None:
    """One process forgets sixty records while two read and search: no error, and never half an answer."""
    with world.open() as store:
        ids = [one.record_id for one in bind(store).remember_many(f"quartz {n}" for n in range(60))]

    def reading(_: Report) -> None:
        with world.open() as mine:
            session, count = bind(mine), 60
            until = time.monotonic() + 60
            while count and time.monotonic() < until:
                total = session.list().total
                assert total <= count
                count = total
                assert all(hit.text.startswith("quartz") for hit in session.search("quartz", k=100).hits)
            assert count == 0

    readers = [Child(reading) for _ in range(2)]
    with world.open() as store:
        session = bind(store)
        for record_id in ids:
            session.forget(record_id)
    assert [reader.end().status for reader in readers] == [0, 0]
    with world.open() as store:
        assert not [one for one in read_events(store.audit, TENANT) if one.incident]
