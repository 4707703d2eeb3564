"""A record that somebody made unreadable: it is told and closed, and the others go on."""

import errno
import os

import pytest

from bench.world import Who, World
from nsstore import IntegrityError, Note
from nsstore.audit import EventKind, read_events
from nsstore.errors import SystemFailure
from nsstore.root import Dir


def test_one_unreadable_record(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """With one record's mode taken away, a fresh process reads and writes the others, and tells the one."""
    with world.open() as store:
        session = Who().bind(store)
        ids = [session.remember(f"note {number}").record_id for number in range(3)]
    real = Dir.open

    def refusing(self: Dir, name: str, flags: int = 0) -> object:
        if name.endswith(f"{ids[0]}.md"):
            raise SystemFailure(
                "opening a file of the store", OSError(errno.EACCES, os.strerror(errno.EACCES))
            )
        return real(self, name, flags)

    monkeypatch.setattr(Dir, "open", refusing)
    with world.open() as store:
        session = Who().bind(store)
        assert session.get(ids[1]).text == "note 1"
        session.remember("another", supersedes=[ids[2]])
        session.remember_many([Note(text="with a key", idempotency_key="k")])
        with pytest.raises(IntegrityError) as told:
            session.get(ids[0])
        assert told.value.incident_kind == "linked"
        events = list(read_events(store.audit, ("tenant", Who().tenant)))
        assert EventKind.CONTAMINATION in {one.event for one in events}
        monkeypatch.undo()
        assert session.get(ids[0]).text == "note 0"
