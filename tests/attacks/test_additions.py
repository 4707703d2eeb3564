"""Things put beside genuine records: they never appear, nothing stops, and the audit says what they are."""

import os
import shutil
from pathlib import Path

import pytest

from bench.attacks import (
    AREAS,
    Act,
    Harm,
    copied,
    elsewhere,
    foreign,
    moved_out,
    newest,
    older,
    refusal,
    require_told,
)
from bench.house import KEY, Furnished, House, answers, events, warm
from bench.powercut.operations import BY_NAME
from bench.world import Who
from nsstore import IntegrityError, NotVisible, OpenStore
from nsstore.incident import IncidentKind as Kind
from nsstore.scope import Area

pytestmark = pytest.mark.usefixtures("memory")

NEW = "019a2b3c-4d5e-7f60-8123-456789abcdef"
TEXT = "a forged quartz"


def forged(house: House, area: Area) -> bytes:
    """A record in the right spelling, of the right scope, whose seal nobody with a key made."""
    raw = newest(house, area).read_bytes()
    old = newest(house, area).stem.encode()
    head = raw.replace(old, NEW.encode(), 1).rpartition(b"\n---\n")[0]
    return head + b"\n---\n" + TEXT.encode()


def beside(name: str, raw: bytes) -> Act:
    """A file with these bytes in the folder of the records."""

    def act(house: House, area: Area) -> None:
        path = house.folder(area) / name
        path.write_bytes(raw)
        path.chmod(0o600)

    return act


def forged_record(house: House, area: Area) -> None:
    """A forged record under a new name."""
    beside(f"{NEW}.md", forged(house, area))(house, area)


def copy_of(what: Path, path: Path) -> None:
    """A genuine file under a new name."""
    shutil.copy2(what, path)


def new_path(house: House, area: Area) -> Path:
    """The path of a record that does not exist."""
    return house.folder(area) / f"{NEW}.md"


def same_name_elsewhere(house: House, area: Area) -> None:
    """A genuine record of another scope under its own name."""
    source = foreign(house, area, tenant="acme")
    shutil.copy2(source, house.folder(area) / source.name)


def of_the_other_area(house: House, area: Area) -> None:
    """A genuine record of the owner's own other area under its own name."""
    source = newest(house, "state" if area == "memory" else "memory")
    shutil.copy2(source, house.folder(area) / source.name)


def torn_line(house: House, area: Area) -> None:
    """Half a line at the end of the ledger."""
    with house.ledger(area).open("ab") as file:
        file.write(b'{"seq":9,"event":"written","record":"')


def second_name_of_a_foreign_record(house: House, area: Area) -> None:
    """A hard link to another tenant's record."""
    os.link(foreign(house, area, tenant="evil"), new_path(house, area))


def linked(target: Path, path: Path) -> None:
    """A link."""
    os.symlink(target, path)


def nameless_bytes(house: House, area: Area) -> None:
    """A name that is no text."""
    with open(os.path.join(os.fsencode(house.folder(area)), b"\xff\xfe.md"), "wb") as file:
        file.write(b"x")


def file_open_to_others(house: House, area: Area) -> None:
    """A forged record that everybody may read."""
    forged_record(house, area)
    new_path(house, area).chmod(0o644)


ADDITIONS: dict[str, tuple[Act, Kind | None]] = {
    "forged record": (forged_record, Kind.FORGED),
    "no header": (beside(f"{NEW}.md", TEXT.encode()), Kind.UNTAGGED),
    "nothing": (beside(f"{NEW}.md", b""), Kind.UNTAGGED),
    "noise": (beside(f"{NEW}.md", bytes(range(256)) * 8), Kind.UNTAGGED),
    "too long": (beside(f"{NEW}.md", b"---\n" + b"x" * 400_000), Kind.UNTAGGED),
    "other name": (beside("notes.txt", TEXT.encode()), Kind.STRAY),
    "hidden name": (beside(".hidden.md", TEXT.encode()), Kind.STRAY),
    "capital name": (beside(f"{NEW.upper()}.md", TEXT.encode()), Kind.STRAY),
    "name that is no text": (nameless_bytes, Kind.STRAY),
    "same record, new name": (lambda h, a: copy_of(newest(h, a), new_path(h, a)), Kind.MISPLACED),
    "older record, new name": (lambda h, a: copy_of(older(h, a), new_path(h, a)), Kind.MISPLACED),
    "neighbour's record": (same_name_elsewhere, Kind.MISPLACED),
    "neighbour's record, new name": (
        lambda h, a: copy_of(foreign(h, a, tenant="acme"), new_path(h, a)),
        Kind.MISPLACED,
    ),
    "other tenant's record": (
        lambda h, a: copy_of(foreign(h, a, tenant="evil"), new_path(h, a)),
        Kind.MISPLACED,
    ),
    "record of the other area": (of_the_other_area, Kind.MISPLACED),
    "link to a record": (lambda h, a: linked(copied(h, newest(h, a)), new_path(h, a)), Kind.LINKED),
    "link to nothing": (lambda h, a: linked(Path("nowhere"), new_path(h, a)), Kind.LINKED),
    "link to itself": (lambda h, a: linked(new_path(h, a), new_path(h, a)), Kind.LINKED),
    "fifo": (lambda h, a: os.mkfifo(new_path(h, a), 0o600), Kind.LINKED),
    "directory": (lambda h, a: new_path(h, a).mkdir(mode=0o700), Kind.LINKED),
    "directory, other name": (lambda h, a: (h.folder(a) / "more").mkdir(mode=0o700), Kind.STRAY),
    "open to others": (file_open_to_others, Kind.LINKED),
    "torn line": (torn_line, None),
}


@pytest.mark.parametrize("name", ADDITIONS)
def test_additions_change_nothing(house: House, name: str) -> None:
    """Every verb of every scope answers as before, warm and cold, before and after the next write."""
    act, kind = ADDITIONS[name]
    with house.world.open() as store:
        before = warm(store, house)
        for area in AREAS:
            act(house, area)
        require_same(store, before)

        def cold() -> None:
            with house.world.open() as fresh:
                require_same(fresh, before)
                for area in AREAS:
                    require_writable(fresh, house, area)

        told = {line.reason for line in events(house) if line.incident is not None}
        assert told == ({kind.value} if kind else set())
        elsewhere(cold)
        for area in AREAS:
            require_writable(store, house, area)


def require_same(store: OpenStore, before: dict[Furnished, dict[str, object]]) -> None:
    """Every scope answers as before, and the added id is not visible to anybody."""
    for found, answer in before.items():
        session = found.who.bind(store)
        assert answers(session, found) == answer
        with pytest.raises(NotVisible):
            session.get(NEW)


def require_writable(store: OpenStore, house: House, area: Area) -> None:
    """The scope takes one more record, and shows what it had and this one."""
    session = house.owner.who.bind(store)
    if area == "memory":
        known = {one.record_id: one.text for one in session.list(include_superseded=True).items}
        written = session.remember("one more")
        now = {one.record_id: one.text for one in session.list(include_superseded=True).items}
    else:
        known = {one.record_id: one.text for one in session.state.history(KEY)}
        written = session.state.put(KEY, "one more")
        now = {one.record_id: one.text for one in session.state.history(KEY)}
    assert now == known | {written.record_id: "one more"}


@pytest.mark.parametrize("area", AREAS)
def test_a_second_name_of_a_foreign_record(house: House, area: Area) -> None:
    """It never appears where it was put; the genuine one is refused until its second name is gone."""
    evil = next(one for one in house.neighbours if one.who.tenant == "evil")
    with house.world.open() as store:
        before = warm(store, house)
        second_name_of_a_foreign_record(house, area)
        require_same(store, {found: answer for found, answer in before.items() if found is not evil})
        session = evil.who.bind(store)
        victim = House(world=house.world, owner=evil, neighbours=())
        read = (
            (lambda: session.get(evil.records[-1])) if area == "memory" else (lambda: session.state.get(KEY))
        )
        require_told(victim, store, {"read": refusal(read, "read")}, Harm.link())
        new_path(house, area).unlink()
        require_same(store, before)


def test_a_forged_record_of_a_known_name_is_no_torn_one(house: House) -> None:
    """What a writer sets aside of unsealed bytes is kept as evidence, byte for byte."""
    raw = forged(house, "memory")
    forged_record(house, "memory")
    with house.world.open() as store:
        house.owner.who.bind(store).remember("one more")
    kept = [path for path in (house.world.root / "quarantine").rglob("*") if path.is_file()]
    assert [path.read_bytes() for path in kept] == [raw]
    assert not new_path(house, "memory").exists()
    ids = {line.incident for line in events(house)}
    assert kept[0].parent.name in ids


def test_the_same_bytes_put_there_again(house: House) -> None:
    """An attacker who repeats himself does not stop the writer: each time it is set aside anew."""
    with house.world.open() as store:
        session = house.owner.who.bind(store)
        session.remember("something")
        for turn in range(3):
            forged_record(house, "memory")
            torn_line(house, "memory")  # so that the writer looks at everything again
            session.remember(f"one more {turn}")
        assert {f"one more {turn}" for turn in range(3)} <= {one.text for one in session.list().items}
    assert len(list((house.world.root / "quarantine").rglob(f"{NEW}.md"))) == 3


def test_an_orphan_is_not_replayed(house: House) -> None:
    """A dead writer's record that was kept from its recovery does not come back after later writes."""
    who = Who(session="of a dead writer")
    BY_NAME["after_death"].prepare(house.world, who)
    folder = house.folder("memory", who)
    orphan = next(path for path in folder.iterdir() if b"left by a dead writer" in path.read_bytes())
    taken = moved_out(house, orphan)
    with house.world.open() as store:
        session = who.bind(store)
        session.remember("after it")
        before = session.list()
        shutil.copy2(taken, orphan)
        assert session.list() == before
        with pytest.raises(NotVisible):
            session.get(orphan.stem)
        session.remember("and another one")
    with house.world.open() as fresh:
        session = who.bind(fresh)
        assert {one.text for one in session.list().items} == {"kept before", "after it", "and another one"}
    assert Kind.REPLAYED in {line.reason for line in events(house) if line.incident is not None}


def test_a_recovered_orphan_is_a_record_like_any_other(house: House) -> None:
    """Recovery makes a dead writer's record a member for good: taking it away is a loss."""
    who = Who(session="of a dead writer")
    BY_NAME["after_death"].prepare(house.world, who)
    with house.world.open() as store:
        session = who.bind(store)
        session.remember("after it")
        (orphan,) = (one for one in session.list().items if one.text == "left by a dead writer")
        house.file(orphan.record_id, "memory", who).unlink()
        with pytest.raises(IntegrityError):
            session.list()
