"""Genuine records altered, replaced, removed or rolled back: refused by every reading verb."""

import os
import shutil
import socket
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from bench.attacks import (
    AREAS,
    Act,
    Harm,
    aside,
    copied,
    elsewhere,
    flip,
    foreign,
    lines,
    moved_out,
    newest,
    older,
    put_back,
    refusal,
    remove,
    require_refused,
    require_unharmed,
    rewrite,
)
from bench.house import KEY, Furnished, House, reads, warm
from nsstore import IntegrityError, OpenStore
from nsstore.incident import IncidentKind as Kind
from nsstore.scope import Area

pytestmark = pytest.mark.usefixtures("memory")

ALTERED = Harm.of(Kind.ALTERED, closes=False)
BROKEN = Harm.of(Kind.ALTERED, Kind.UNTAGGED, closes=False)
REPLACED = Harm.of(Kind.MISPLACED, closes=False)
MISSING = Harm.of(Kind.MISSING)
CHAIN = Harm.of(Kind.CHAIN_BROKEN)
BACK = Harm.of(Kind.ROLLED_BACK)
LINKED = Harm.link()
RECORD_LINKED = Harm.link(closes=False)


def at(position: int) -> Act:
    """Flip a byte of the newest record."""
    return lambda house, area: rewrite(newest(house, area), lambda raw: flip(raw, position))


def at_mark(mark: bytes, offset: int) -> Act:
    """Flip a byte of the newest record that stands behind a mark."""
    return lambda house, area: rewrite(newest(house, area), lambda raw: flip(raw, raw.index(mark) + offset))


def edited(old: bytes, new: bytes) -> Act:
    """Edit the header of the newest record."""

    def act(house: House, area: Area) -> None:
        rewrite(newest(house, area), lambda raw: raw.replace(old, new, 1))

    return act


def replaced(make: Callable[[House, Path, Area], None]) -> Act:
    """Put something else in the place of the newest record."""
    return lambda house, area: make(house, newest(house, area), area)


def as_socket(_: House, path: Path, __: Area) -> None:
    """A socket in the place of a record; its own path must be short."""
    path.unlink()
    os.chdir(path.parent)
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind(path.name)
    path.chmod(0o600)


def as_fifo(_: House, path: Path, __: Area) -> None:
    """A fifo in its place: opening one to read would wait for ever."""
    path.unlink()
    os.mkfifo(path, 0o600)


def as_directory(_: House, path: Path, __: Area) -> None:
    """An empty directory in its place."""
    path.unlink()
    path.mkdir(mode=0o700)


def as_link(house: House, path: Path, _: Area) -> None:
    """A link to the very bytes in its place."""
    os.symlink(moved_out(house, path), path)


def with_second_name(house: House, path: Path, _: Area) -> None:
    """The same file, with a name outside the store as well."""
    os.link(path, aside(house, path))


def copy_to(source: Path, path: Path) -> None:
    """Another genuine file's bytes in its place."""
    shutil.copy2(source, path)


def foreign_bytes(tenant: str) -> Act:
    """The bytes of a genuine record of another scope in the place of the newest one."""
    return lambda house, area: copy_to(foreign(house, area, tenant=tenant), newest(house, area))


def deleted_with_its_line(house: House, area: Area) -> None:
    """Delete the newest record, and the newest line with it."""
    newest(house, area).unlink()
    rewrite(house.ledger(area), lambda raw: b"".join(raw.splitlines(keepends=True)[:-1]))


def ledger(change: Callable[[list[bytes]], list[bytes]]) -> Act:
    """Change the lines of the ledger."""
    return lambda house, area: rewrite(
        house.ledger(area), lambda raw: b"".join(change(raw.splitlines(keepends=True)))
    )


def ledger_made(make: Callable[[House, Path, Area], None]) -> Act:
    """Put something else in the place of the ledger."""
    return lambda house, area: make(house, house.ledger(area), area)


def foreign_line(house: House, area: Area) -> None:
    """Append a genuine line of another namespace."""
    line = lines(house.ledger(area, house.neighbours[0].who))[-1]
    rewrite(house.ledger(area), lambda raw: raw + line)


def back_to_genesis(house: House, area: Area) -> None:
    """Delete every record, and every line but the first."""
    rewrite(house.ledger(area), lambda raw: raw.splitlines(keepends=True)[0])
    for record in house.folder(area).iterdir():
        record.unlink()


def write_more(house: House, area: Area) -> None:
    """A genuine write by a process of its own, which an attacker then takes back."""
    with house.world.open() as store:
        session = house.owner.who.bind(store)
        session.remember("taken back") if area == "memory" else session.state.put(KEY, "taken back")


def namespace_deleted(house: House, area: Area) -> None:
    """Delete records, ledger and lock."""
    for path in (house.folder(area), house.ledger(area), house.lock(area)):
        remove(path)


def namespace_put_back(house: House, area: Area) -> None:
    """Copy records and ledger, let a write happen, and put the copies back."""
    copies = [(copied(house, path), path) for path in (house.folder(area), house.ledger(area))]
    write_more(house, area)
    for copy, path in copies:
        put_back(copy, path)


def namespace_put_back_by_rename(house: House, area: Area) -> None:
    """The same, by renaming."""
    copies = [(copied(house, path), path) for path in (house.folder(area), house.ledger(area))]
    write_more(house, area)
    for copy, path in copies:
        moved_out(house, path)
        copy.rename(path)


def folder_links_to_another(house: House, area: Area) -> None:
    """The folder is a link to that of another scope."""
    moved_out(house, house.folder(area))
    os.symlink(house.folder(area, house.neighbours[0].who), house.folder(area))


def folder_is_a_file(house: House, area: Area) -> None:
    """An empty file in the place of the folder."""
    moved_out(house, house.folder(area))
    house.folder(area).touch(mode=0o600)


DAMAGE: dict[str, tuple[Act, Harm]] = {
    "first byte": (at(0), BROKEN),
    "type": (at_mark(b"type: ", 8), BROKEN),
    "record id": (at_mark(b"record_id: ", 30), Harm.of(Kind.ALTERED, Kind.MISPLACED, closes=False)),
    "prev": (at_mark(b"prev: ", 20), ALTERED),
    "salt": (at_mark(b"salt: ", 10), ALTERED),
    "key id": (at_mark(b"seal: ", 10), BROKEN),
    "seal": (at_mark(b"seal: ", 40), BROKEN),
    "fence": (at_mark(b"\n---\n", 2), BROKEN),
    "text": (at(-1), ALTERED),
    "user edited": (edited(b'"alice"', b'"mallo"'), Harm.of(Kind.ALTERED, Kind.MISPLACED, closes=False)),
    "sensitivity edited": (edited(b'"internal"', b'"public"'), ALTERED),
    "agent edited": (edited(b'"claude"', b'"other"'), ALTERED),
    "emptied": (lambda house, area: rewrite(newest(house, area), lambda _: b""), BROKEN),
    "cut short": (lambda house, area: rewrite(newest(house, area), lambda raw: raw[:-1]), ALTERED),
    "byte added": (lambda house, area: rewrite(newest(house, area), lambda raw: raw + b"\n"), ALTERED),
    "older bytes": (replaced(lambda house, path, area: copy_to(older(house, area), path)), REPLACED),
    "neighbour's bytes": (foreign_bytes("acme"), REPLACED),
    "other tenant's bytes": (foreign_bytes("evil"), REPLACED),
    "record is a link": (replaced(as_link), RECORD_LINKED),
    "record has a second name": (replaced(with_second_name), RECORD_LINKED),
    "record is a fifo": (replaced(as_fifo), RECORD_LINKED),
    "record is a directory": (replaced(as_directory), RECORD_LINKED),
    "record is a socket": (replaced(as_socket), RECORD_LINKED),
    "record is open to others": (replaced(lambda _, path, __: path.chmod(0o644)), RECORD_LINKED),
    "record deleted": (lambda house, area: newest(house, area).unlink(), MISSING),
    "record and line deleted": (deleted_with_its_line, BACK),
    "ledger, first line": (ledger(lambda all_: [flip(all_[0], 10), *all_[1:]]), CHAIN),
    "ledger, middle line": (ledger(lambda all_: [all_[0], flip(all_[1], 40), *all_[2:]]), CHAIN),
    "ledger, last line": (ledger(lambda all_: [*all_[:-1], flip(all_[-1], -10)]), CHAIN),
    "ledger, line twice": (ledger(lambda all_: [*all_, all_[-1]]), CHAIN),
    "ledger, lines swapped": (ledger(lambda all_: [all_[0], all_[-1], *all_[1:-1]]), CHAIN),
    "ledger, line left out": (ledger(lambda all_: [all_[0], *all_[2:]]), CHAIN),
    "ledger, forged line": (ledger(lambda all_: [*all_, all_[-1].replace(b'"seq":', b'"seq":1', 1)]), CHAIN),
    "ledger, foreign line": (foreign_line, CHAIN),
    "ledger of another": (
        ledger_made(lambda house, path, area: copy_to(house.ledger(area, house.neighbours[0].who), path)),
        CHAIN,
    ),
    "ledger emptied": (ledger(lambda _: []), BACK),
    "ledger deleted": (ledger_made(lambda _, path, __: path.unlink()), BACK),
    "cut to its genesis": (back_to_genesis, BACK),
    "ledger is a link": (ledger_made(as_link), LINKED),
    "ledger has a second name": (ledger_made(with_second_name), LINKED),
    "ledger is a directory": (ledger_made(as_directory), LINKED),
    "records deleted": (lambda house, area: remove(house.folder(area)), MISSING),
    "namespace deleted": (namespace_deleted, BACK),
    "namespace put back": (namespace_put_back, BACK),
    "namespace put back by rename": (namespace_put_back_by_rename, BACK),
    "folder is a link to a copy": (lambda house, area: as_link(house, house.folder(area), area), LINKED),
    "folder is a link to another": (folder_links_to_another, LINKED),
    "folder above is a link": (lambda house, area: as_link(house, house.folder(area).parent, area), LINKED),
    "folder is a file": (folder_is_a_file, LINKED),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_damage_is_refused(house: House, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every verb refuses in a process that knew it whole and in one that did not; other scopes go on."""
    monkeypatch.chdir(house.world.place)
    act, harm = DAMAGE[name]
    with house.world.open() as store:
        before = warm(store, house)
        act(house, "memory")
        require_refused(house, store, "memory", harm)
        beside = [
            one for one in house.neighbours if is_beside(house, one) and name == "folder above is a link"
        ]
        require_unharmed(store, before, [house.owner, *beside])
        for verb, read in reads(house.owner.who.bind(store), house.owner, "state").items():
            assert read() == before[house.owner][verb]
        act(house, "state")
        require_refused(house, store, "state", harm)
        require_unharmed(store, before, [one for one in before if one.who.tenant == house.owner.who.tenant])

        def cold() -> None:
            with house.world.open() as fresh:
                for area in AREAS:
                    require_refused(house, fresh, area, harm)

        elsewhere(cold)


def is_beside(house: House, found: Furnished) -> bool:
    """Whether a neighbour's folder lies in the same directory as the owner's."""
    return house.folder("memory", found.who).parent == house.folder().parent


def test_every_byte_of_a_record_counts(house: House) -> None:
    """Whichever byte of a record is changed, it is not served, not even from memory; put back, it is."""
    path, record_id = newest(house, "memory"), house.owner.records[-1]
    raw = path.read_bytes()
    with house.world.open() as store:
        session = house.owner.who.bind(store)
        whole = session.get(record_id)
        for position in range(len(raw)):
            path.write_bytes(flip(raw, position))
            assert isinstance(refusal(lambda: session.get(record_id), str(position)), IntegrityError)
        path.write_bytes(raw)
        assert session.get(record_id) == whole


def test_every_byte_of_a_ledger_counts(house: House) -> None:
    """Whichever byte of a ledger is changed, the namespace is closed, also to whoever read it before."""
    path = house.ledger()
    raw = path.read_bytes()
    with house.world.open() as store:
        session = house.owner.who.bind(store)
        whole = session.list()
        for position in range(0, len(raw) - 1, 3):  # without its newline the last line is a torn one
            path.write_bytes(flip(raw, position))
            err = refusal(session.list, str(position))
            assert isinstance(err, IntegrityError)
            assert err.incident_kind == Kind.CHAIN_BROKEN
        path.write_bytes(raw)
        assert session.list() == whole


def test_an_older_version_that_is_gone(house: House) -> None:
    """The newest version is still served, its history is not, and another agent's document is whole."""
    who = house.owner.who
    other = msgspec.structs.replace(who, agent="other")
    with house.world.open() as store:
        other.bind(store).state.put(KEY, "of another agent")
        before = warm(store, house)[house.owner]
        house.file(house.owner.versions[0], "state").unlink()

        def check(one: OpenStore) -> None:
            state = who.bind(one).state
            assert state.get(KEY) == before["state.get"]
            err = refusal(lambda: state.history(KEY), "history")
            assert isinstance(err, IntegrityError)
            assert err.incident_kind == Kind.MISSING
            assert len(other.bind(one).state.history(KEY)) == 1

        def cold() -> None:
            with house.world.open() as fresh:
                check(fresh)

        check(store)
        elsewhere(cold)
