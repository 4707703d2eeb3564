"""Lock files and audit files replaced, linked, damaged or removed."""

import os
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

from bench.attacks import AREAS, elsewhere, flip, moved_out, require_unharmed, rewrite
from bench.house import KEY, House, reads, warm
from nsstore import EscapeError, OpenStore, WitnessError
from nsstore.audit import EventKind, read_events, verify
from nsstore.scope import Area

pytestmark = pytest.mark.usefixtures("memory")


def as_link(house: House, path: Path) -> None:
    """A link to the very file."""
    path.symlink_to(moved_out(house, path))


def as_directory(_: House, path: Path) -> None:
    """A directory of that name."""
    path.unlink()
    path.mkdir(mode=0o700)


def as_fifo(_: House, path: Path) -> None:
    """A fifo of that name."""
    path.unlink()
    os.mkfifo(path, 0o600)


def with_second_name(house: House, path: Path) -> None:
    """The same file with another name."""
    os.link(path, house.world.place / "second")


def open_to_others(_: House, path: Path) -> None:
    """The same file, writable by everybody."""
    path.chmod(0o666)


REPLACEMENTS: dict[str, Callable[[House, Path], None]] = {
    "link": as_link,
    "directory": as_directory,
    "fifo": as_fifo,
    "second name": with_second_name,
    "open to others": open_to_others,
}


@pytest.mark.parametrize("area", AREAS)
@pytest.mark.parametrize("name", REPLACEMENTS)
def test_a_replaced_lock(house: House, name: str, area: Area) -> None:
    """Nobody writes under a lock that is not the namespace's own; readers need none."""
    with house.world.open() as store:
        before = warm(store, house)
        write(store, house, area, "before")
        before[house.owner] = {
            verb: read()
            for one in AREAS
            for verb, read in reads(house.owner.who.bind(store), house.owner, one).items()
        }
        REPLACEMENTS[name](house, house.lock(area))

        def check(one: OpenStore) -> None:
            require_unharmed(one, before)
            with pytest.raises(EscapeError):
                write(one, house, area, "never")
            require_unharmed(one, before)

        def cold() -> None:
            with house.world.open() as fresh:
                check(fresh)

        elsewhere(cold)
        check(store)


def write(store: OpenStore, house: House, area: Area, text: str) -> None:
    """Write something in the owner's scope."""
    session = house.owner.who.bind(store)
    session.remember(text) if area == "memory" else session.state.put(KEY, text)


def test_a_removed_lock(house: House) -> None:
    """A lock file that is gone is made again, and takes nothing with it."""
    with house.world.open() as store:
        house.lock().unlink()
        write(store, house, "memory", "first")
        house.lock().unlink()

        def cold() -> None:
            with house.world.open() as fresh:
                write(fresh, house, "memory", "second")

        elsewhere(cold)
        write(store, house, "memory", "third")
        texts = {one.text for one in house.owner.who.bind(store).list().items}
        assert {"first", "second", "third"} <= texts


AUDITS = [(name, which) for name in REPLACEMENTS for which in ("month", "lock")]


@pytest.mark.parametrize(("name", "which"), [*AUDITS, ("link", "folder")])
def test_a_replaced_audit(house: House, name: str, which: str) -> None:
    """Nothing is answered that the audit cannot take, and nothing is written; other tenants go on."""
    folder = house.audit()
    path = {"month": next(folder.glob("*.jsonl")), "lock": folder / "audit.lock", "folder": folder}[which]
    with ExitStack() as last:
        store = house.world.open()
        last.callback(close, store)
        before = warm(store, house)
        REPLACEMENTS[name](house, path)
        files = sorted(str(one) for one in house.folder().iterdir())

        def check(one: OpenStore) -> None:
            session = house.owner.who.bind(one)
            for area in AREAS:
                for read in reads(session, house.owner, area).values():
                    with pytest.raises(WitnessError):
                        read()
                with pytest.raises(WitnessError):
                    write(one, house, area, "never")
            evil = {found: answer for found, answer in before.items() if found.who.tenant == "evil"}
            require_unharmed(one, evil)

        def cold() -> None:
            with house.world.open() as fresh:
                check(fresh)

        elsewhere(cold)
        if which == "month":
            check(store)
        elif which == "lock":
            require_unharmed(store, before)  # who has held the chain before holds it in the trust home
        assert sorted(str(one) for one in house.folder().iterdir()) == files


def close(store: OpenStore) -> None:
    """Close a store whose audit can no longer be flushed: it says so, and is closed all the same."""
    with suppress(EscapeError):
        store.close()
    assert store.root.fd < 0


DAMAGE: dict[str, Callable[[bytes], bytes]] = {
    "first line": lambda raw: flip(raw, 10),
    "middle line": lambda raw: flip(raw, len(raw) // 2),
    "line left out": lambda raw: b"".join(
        raw.splitlines(keepends=True)[:3] + raw.splitlines(keepends=True)[4:]
    ),
    "lines swapped": lambda raw: b"".join(reversed(raw.splitlines(keepends=True))),
    "line twice": lambda raw: raw + raw.splitlines(keepends=True)[-1],
    "cut short": lambda raw: b"".join(raw.splitlines(keepends=True)[:-2]),
    "emptied": lambda _: b"",
    "foreign line": lambda raw: raw + b'{"seq":1,"event":"granted"}\n',
}


@pytest.mark.parametrize("name", DAMAGE)
def test_a_damaged_audit(house: House, name: str) -> None:
    """The store goes on, keeps its audit going, and `verify` tells for ever that it was damaged."""
    tenant = ("tenant", house.owner.who.tenant)
    with house.world.open() as store:
        before = warm(store, house)
        assert verify(store.audit, tenant).whole
        rewrite(next(house.audit().glob("*.jsonl")), DAMAGE[name])
        assert not verify(store.audit, tenant).whole
        require_unharmed(store, before)
        assert not verify(store.audit, tenant).whole
    with house.world.open() as store:
        require_unharmed(store, before)
        verdict = verify(store.audit, tenant)
        assert not verdict.whole
        assert list(read_events(store.audit, tenant))[-1].event in (EventKind.READ, EventKind.LISTED)


def test_a_removed_audit(house: House) -> None:
    """A deleted audit is begun again, with the gap as its first event."""
    tenant = ("tenant", house.owner.who.tenant)
    with house.world.open() as store:
        before = warm(store, house)
        next(house.audit().glob("*.jsonl")).unlink()
        require_unharmed(store, before)
        first = next(iter(read_events(store.audit, tenant)))
        assert first.event is EventKind.GAP
        assert first.count is not None
        assert first.count > 10
        assert not verify(store.audit, tenant).whole
