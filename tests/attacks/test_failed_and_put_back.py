"""A record whose write failed, kept by somebody and put back: it never was, and never will be."""

import errno
import os
import shutil
from pathlib import Path

import pytest

from bench.house import House
from nsstore import OpenStore, StoreError
from nsstore.audit import AuditLine, read_events
from nsstore.root.steps import hooked

pytestmark = pytest.mark.usefixtures("memory")


def test_a_failed_record_put_back(house: House, tmp_path: Path) -> None:
    """A record whose ledger line could not be written is refused when its file comes back."""
    session_folder, kept = house.folder(), tmp_path / "kept"
    before = set(session_folder.iterdir())
    writes = 0

    def hook(call: str) -> None:
        nonlocal writes
        new = set(session_folder.iterdir()) - before
        if call == "write" and new and not kept.exists():
            shutil.copy2(new.pop(), kept)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with house.world.open() as store:
        session = house.owner.who.bind(store)
        with hooked(hook), pytest.raises(StoreError):
            session.remember("never acknowledged quartz")
        assert set(session_folder.iterdir()) == before
        name = next(line[11:-1] for line in kept.read_text().splitlines() if line.startswith("record_id: "))
        shutil.copy2(kept, session_folder / f"{name.strip(chr(34))}.md")
        (session_folder / f"{name.strip(chr(34))}.md").chmod(0o600)
        assert not [hit for hit in session.search("acknowledged").hits if "never" in hit.text]
    with house.world.open() as store:
        session = house.owner.who.bind(store)
        assert not [one for one in session.list().items if "never" in one.text]
        session.remember("another")
        assert not [one for one in session.list().items if "never" in one.text]


def test_a_file_in_place_of_the_quarantine(house: House) -> None:
    """Writers go on though what a dead writer left can be put nowhere: it stays, told and unread."""
    (house.world.root / "quarantine").write_bytes(b"")
    (house.world.root / "quarantine").chmod(0o600)
    junk = house.folder() / "019a2b3c-4d5e-7f60-8123-456789abcdef.md"
    junk.write_bytes(b"junk quartz")
    junk.chmod(0o600)
    with house.world.open() as store:
        session = house.owner.who.bind(store)
        receipt = session.remember("goes on")
        assert session.get(receipt.record_id).text == "goes on"
        assert not [hit for hit in session.search("junk").hits if "junk" in hit.text]
    assert junk.exists()


def test_a_ledger_made_huge(house: House) -> None:
    """A ledger stretched to a terabyte is not read to its end: a writer cuts off what is no line."""
    with house.world.open() as store:
        session = house.owner.who.bind(store)
        session.remember("before")
        size = house.ledger().stat().st_size
        os.truncate(house.ledger(), 1 << 40)
        session.list()
        session.remember("after")
        assert house.ledger().stat().st_size < size + 2_000
        assert {"before", "after"} <= {one.text for one in session.list().items}


def test_many_strays_are_one_event(house: House) -> None:
    """A thousand names that do not belong cost one audit event, and none the next time."""
    for number in range(1000):
        path = house.folder() / f"stray-{number}"
        path.write_bytes(b"x")
    with house.world.open() as store:
        session = house.owner.who.bind(store)
        tenant = ("tenant", house.owner.who.tenant)
        before = len(list(store_events(store, tenant)))
        session.list()
        told = [one for one in store_events(store, tenant)[before:] if one.event == "contamination"]
        assert [one.count for one in told] == [1000]
        (house.folder() / "stray-one-more").write_bytes(b"x")
        before = len(store_events(store, tenant))
        session.list()
        told = [one for one in store_events(store, tenant)[before:] if one.event == "contamination"]
        assert [one.count for one in told] == [None]


def store_events(store: OpenStore, tenant: tuple[str, str]) -> list[AuditLine]:
    """The verified audit of a tenant, oldest first."""
    return list(read_events(store.audit, tenant))
