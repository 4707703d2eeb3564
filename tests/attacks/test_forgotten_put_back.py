"""What somebody who can write the root does to bring back what was forgotten."""

from __future__ import annotations

import errno
import shutil
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from bench.attacks import Harm, copied, lines, moved_out, put_back, require_refused, rewrite
from bench.binding import tree
from bench.child import KILLED, Report, die, in_child
from bench.house import House, answers
from nsstore import NotVisible, OpenStore, Session, SystemFailure
from nsstore.audit import read_events
from nsstore.cli.inspection import Inspection
from nsstore.incident import IncidentKind as Kind
from nsstore.root.steps import hooked
from nsstore.scope import Namespace

pytestmark = pytest.mark.usefixtures("memory")


def forget_newest(house: House) -> tuple[str, Path]:
    """Keep a copy of the newest record, and forget it alone: its id, and the copy."""
    record_id = house.owner.records[-1]
    copy = copied(house, house.file(record_id))
    with house.world.open() as store:
        house.owner.who.bind(store).forget(record_id, only_this=True)
    return record_id, copy


def back(copy: Path, path: Path) -> None:
    """Put a copy where nothing is."""
    shutil.copy2(copy, path)


def told(store: OpenStore, house: House) -> list[str | None]:
    """The kinds of incident in the owner's audit."""
    found = read_events(store.audit, ("tenant", house.owner.who.tenant))
    return [line.reason for line in found if line.incident]


def require_absent(session: Session, record_id: str, text: str) -> None:
    """No verb finds the record or its text."""
    for ask in (session.get, session.history, session.forget):
        with pytest.raises(NotVisible):
            ask(record_id)
    assert text not in [one.text for one in session.list(include_superseded=True).items]
    assert text not in [hit.text for hit in session.search(text).hits]


@pytest.mark.parametrize("seen_before", [True, False])
def test_its_file_put_back(house: House, seen_before: bool) -> None:  # noqa: FBT001 - a parameter of pytest
    """A genuine old file is kept out and told, the scope goes on, and no writer takes it for its own."""
    record_id, copy = forget_newest(house)
    with house.world.open() as store:
        session = house.owner.who.bind(store)
        if seen_before:
            answers_before = session.list().total
            assert answers_before
        back(copy, house.file(record_id))
        require_absent(session, record_id, "gamma quartz")
        assert told(store, house) == [Kind.REPLAYED]
        session.remember("goes on")
        require_absent(session, record_id, "gamma quartz")
    with house.world.open() as store:
        require_absent(house.owner.who.bind(store), record_id, "gamma quartz")


def test_put_back_with_its_ledger(house: House) -> None:
    """With the ledger from before, too, the trust home knows better: closed."""
    record_id = house.owner.records[-1]
    copies = [(copied(house, path), path) for path in (house.folder(), house.ledger())]
    with house.world.open() as store:
        house.owner.who.bind(store).forget(record_id)
    for copy, path in copies:
        put_back(copy, path)
    with house.world.open() as store:
        require_refused(house, store, "memory", Harm.of(Kind.ROLLED_BACK))


def test_the_erased_line_taken_away(house: House) -> None:
    """The ledger is shorter than the anchor knows: closed, however little is lost."""
    forget_newest(house)
    assert b'"event":"erased"' in lines(house.ledger())[-1]
    rewrite(house.ledger(), lambda raw: b"".join(raw.splitlines(keepends=True)[:-1]))
    with house.world.open() as store:
        session = house.owner.who.bind(store)
        with pytest.raises(Exception, match="older on the disk than the trust home"):
            session.list()
        with pytest.raises(Exception, match="older on the disk than the trust home"):
            session.remember("x")


def changed(old: bytes, new: bytes) -> Callable[[bytes], bytes]:
    """A change of the bytes of a ledger."""

    def change(raw: bytes) -> bytes:
        assert old in raw
        return raw.replace(old, new, 1)

    return change


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'"event":"forgotten"', b'"event":"void"'),
        (b'"event":"erased"', b'"event":"resumed"'),
        (b'"spent":[]', b'"spent":["' + b"2e" * 32 + b'"]'),
    ],
)
def test_a_line_of_forgetting_changed(house: House, old: bytes, new: bytes) -> None:
    """No line of it can be changed into another one."""
    forget_newest(house)
    rewrite(house.ledger(), changed(old, new))
    with house.world.open() as store, pytest.raises(Exception, match="not the one that was written"):
        house.owner.who.bind(store).list()


def test_a_forged_forgetting(house: House) -> None:
    """A line that would forget a record, without a key, takes nothing away: the namespace closes."""
    record_id = house.owner.records[0]
    last = lines(house.ledger())[-1]
    seq = int(last.split(b":", 2)[1].split(b",")[0]) + 1
    forged = b'{"seq":%d,"event":"forgotten","records":["%b"],"spent":[],"prev":"%b","mac":"1:%b"}\n' % (
        seq, record_id.encode(), last[-67:-3], last[-76:-3],
    )  # fmt: skip
    rewrite(house.ledger(), lambda raw: raw + forged)
    with house.world.open() as store:
        require_refused(house, store, "memory", Harm.of(Kind.CHAIN_BROKEN))
    assert house.file(record_id).exists()


def test_a_forgetting_of_another_namespace(house: House) -> None:
    """A genuine line of a neighbour's ledger forgets nothing here."""
    neighbour = house.neighbours[0]
    with house.world.open() as store:
        neighbour.who.bind(store).forget(neighbour.records[0])
    (line,) = [one for one in lines(house.ledger(who=neighbour.who)) if b'"event":"forgotten"' in one]
    rewrite(house.ledger(), lambda raw: raw + line)
    with house.world.open() as store:
        require_refused(house, store, "memory", Harm.of(Kind.CHAIN_BROKEN))


def died_before(house: House, call: str, number: int) -> None:
    """Forget the newest record in a process that dies before one of its system calls."""

    def dying(_: Report) -> None:
        met: list[str] = []

        def hook(step: str) -> None:
            met.extend(step for _ in range(step == call))
            if len(met) == number:
                die()

        with house.world.open() as store:
            session = house.owner.who.bind(store)
            with hooked(hook):
                session.forget(house.owner.records[-1], only_this=True)

    assert in_child(dying).status == KILLED


def test_put_back_before_it_is_erased(house: House) -> None:
    """Where the forgetting process died before it erased, a copy put back is erased by who comes next."""
    record_id = house.owner.records[-1]
    copy = copied(house, house.file(record_id))
    died_before(house, "unlink", 1)
    moved_out(house, house.file(record_id))
    back(copy, house.file(record_id))
    with house.world.open() as store:
        session = house.owner.who.bind(store)
        require_absent(session, record_id, "gamma quartz")
        session.remember("next")
        assert not house.file(record_id).exists()
        assert told(store, house) == []


def test_a_directory_in_its_place(house: House) -> None:
    """A directory of the record's name stops nobody from finishing, and is a stray."""
    record_id = house.owner.records[-1]
    died_before(house, "unlink", 1)
    house.file(record_id).unlink()
    house.file(record_id).mkdir(mode=0o700)
    with house.world.open() as store:
        session = house.owner.who.bind(store)
        session.remember("next")
        require_absent(session, record_id, "gamma quartz")
        assert told(store, house) == [Kind.LINKED]


def test_an_intent_that_says_all_is_done(house: House) -> None:
    """The intent of the dead one taken away, nobody serves the record, and its erasing is still to come."""
    record_id = house.owner.records[-1]
    with house.world.open() as store:
        session = house.owner.who.bind(store)
        session.remember("before")  # this process has entered, and would trust an intent
        raw = house.lock().read_bytes()
        died_before(house, "unlink", 1)
        house.lock().write_bytes(raw)
        require_absent(session, record_id, "gamma quartz")
        session.remember("next")
        require_absent(session, record_id, "gamma quartz")
        assert not house.file(record_id).exists()


def test_an_orphan_from_before(house: House) -> None:
    """A record that a dead writer left cannot continue the chain once something else was forgotten."""

    def dying(_: Report) -> None:
        with house.world.open() as store:
            session = house.owner.who.bind(store)
            flushed: list[str] = []

            def hook(step: str) -> None:
                if flushed:
                    die()
                flushed.extend(step for _ in range(step == "fsync"))

            with hooked(hook):
                session.remember("an orphan")

    before = {*house.folder().iterdir()}
    assert in_child(dying).status == KILLED
    (orphan,) = {*house.folder().iterdir()} - before
    copy = moved_out(house, orphan)
    forget_newest(house)
    back(copy, orphan)
    with house.world.open() as store:
        session = house.owner.who.bind(store)
        require_absent(session, orphan.stem, "an orphan")
        session.remember("next")
        require_absent(session, orphan.stem, "an orphan")
        assert told(store, house) == [Kind.REPLAYED]


def test_check_finishes_it(house: House) -> None:
    """Readers keep the record out and write nothing; `check` erases it, and finds nothing wrong."""
    record_id = house.owner.records[-1]
    died_before(house, "unlink", 1)
    before = tree(house.world.root, but=("audit",))
    with house.world.open() as store:
        require_absent_but_forget(house.owner.who.bind(store), record_id)
        assert tree(house.world.root, but=("audit",)) == before
        assert house.file(record_id).exists()
        inspection = Inspection(store)
        inspection.run()
        assert inspection.findings == []
        assert [one.repaired for one in inspection.namespaces].count(True) == 1
        assert not house.file(record_id).exists()
        (told_of,) = [
            line
            for line in read_events(store.audit, ("tenant", house.owner.who.tenant))
            if line.event == "recovered"
        ]
        assert (told_of.verb, told_of.records) == ("forget", (record_id,))


def test_views_that_cannot_be_dropped(house: House) -> None:
    """Where a view does not let go, the forget says so, writers go on, and it is tried until it is done."""
    record_id = house.owner.records[-1]
    with house.world.open() as store:
        session = house.owner.who.bind(store)
        dropped: list[tuple[str, ...]] = []

        def drop(_: Namespace, records: tuple[str, ...]) -> None:
            dropped.append(records)
            if len(dropped) < 5:
                raise SystemFailure("dropping a view", OSError(errno.EROFS, ""))

        store.on_forget.append(drop)
        with pytest.raises(SystemFailure, match="forgotten for good"):
            session.forget(record_id, only_this=True)
        session.remember("goes on")
        require_absent_but_forget(session, record_id)
        with pytest.raises(SystemFailure, match="view"):
            session.forget(record_id)
        with pytest.raises(NotVisible):
            session.forget(record_id)
        assert dropped == [(record_id,)] * 5
        require_absent(session, record_id, "gamma quartz")
        session.remember("and on")
        assert len(dropped) == 5


def require_absent_but_forget(session: Session, record_id: str) -> None:
    """No reading verb finds it; forgetting it again would try to finish."""
    for ask in (session.get, session.history):
        with pytest.raises(NotVisible):
            ask(record_id)


def test_forgotten_by_many_threads_at_once(house: House) -> None:
    """Of threads that forget the same records each record is forgotten by one, and by the others not seen."""
    with house.world.open() as store:
        session = house.owner.who.bind(store)
        ids = [one.record_id for one in session.remember_many(f"note {n}" for n in range(12))]
        done: list[str] = []
        wrong: list[BaseException] = []

        def work() -> None:
            for record_id in ids:
                try:
                    done.extend(session.forget(record_id).records)
                except NotVisible:
                    pass
                except BaseException as err:  # noqa: BLE001 - told to the thread that asserts
                    wrong.append(err)

        threads = [threading.Thread(target=work) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert wrong == []
        assert sorted(done) == sorted(ids)


def test_neighbours_see_nothing(house: House) -> None:
    """Whatever is forgotten, every other scope reads what it read before."""
    with house.world.open() as store:
        before = {found: answers(found.who.bind(store), found) for found in house.neighbours}
        session = house.owner.who.bind(store)
        session.forget(house.owner.records[-1])
        session.forget(house.owner.records[0])
        session.state.forget("plan")
        assert {found: answers(found.who.bind(store), found) for found in house.neighbours} == before
