"""A trust home that is lost or put back while a store is open is noticed by the process that has it open."""

from __future__ import annotations

import shutil

import pytest

from nsstore import IntegrityError
from nsstore.audit import EventKind, read_events, verify
from tests.trust.conftest import House, bind


@pytest.mark.parametrize("how", ["removed", "emptied", "replaced"])
def test_anchors_lost_under_an_open_store(house: House, how: str) -> None:
    """A writer that keeps its anchor open does not go on with a file that the trust home no longer has."""
    at = house.home / "anchors/memory/acme/ada/atlas.anchors"
    with house.open() as store:
        me = bind(store)
        me.remember("one")
        me.remember("two")
        raw = at.read_bytes()
        if how == "emptied":
            at.write_bytes(b"")
        else:
            at.unlink()
        if how == "replaced":
            at.write_bytes(bytes(len(raw)))
            at.chmod(0o600)
        for call in (lambda: me.remember("three"), me.list, lambda: me.remember("four")):
            with pytest.raises(IntegrityError, match="does not prove this namespace"):
                call()
        at.write_bytes(raw)
        at.chmod(0o600)
        me.remember("three")
        assert me.list().total == 3
    with house.open() as store:
        assert bind(store).list().total == 3


def test_audit_heads_lost_under_an_open_store(house: House) -> None:
    """With the heads of the audit gone under it, an open store goes on with the chain and tells that."""
    acme = ("tenant", "acme")
    with house.open() as store:
        me = bind(store)
        me.remember("one")
        me.remember("two")
        shutil.rmtree(house.home / "anchors/audit")
        assert verify(store.audit, acme).faults == ("the trust home has no head for this audit",)
        me.remember("three")
        me.remember("four")
        told = [line.reason for line in read_events(store.audit, acme) if line.event is EventKind.GAP]
        assert told == ["head_lost"]
        assert verify(store.audit, acme).whole
    with house.open() as store:
        bind(store).remember("five")
        assert verify(store.audit, acme).whole
    (house.home / "anchors/audit/acme.anchors").write_bytes(b"")
    with house.open() as store:
        bind(store).remember("six")
        assert verify(store.audit, acme).whole
        assert [line.event for line in read_events(store.audit, acme)].count(EventKind.GAP) == 2
