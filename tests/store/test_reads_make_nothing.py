"""Reading makes, changes and removes nothing, in any scope, known or not."""

from collections.abc import Callable
from pathlib import Path

import pytest

from bench.binding import bind, tree
from bench.house import KEY, House, reads, warm
from bench.world import Who
from nsstore import NotVisible, Session

ABSENT = "01934f2e-8b7a-7c3d-9e21-0123456789ab"
UNKNOWN = (
    Who(session="unknown", workspace="unknown"),
    Who(project="unknown"),
    Who(user="unknown"),
    Who(tenant="unknown"),
)


def asked_for_nothing(session: Session) -> list[Callable[[], object]]:
    """Every reading verb, for what is not there."""
    return [
        session.list,
        lambda: session.list(limit=1, include_superseded=True),
        lambda: session.search("quartz"),
        lambda: session.search(""),
        lambda: session.get(ABSENT),
        lambda: session.history(ABSENT),
        session.state.list,
        lambda: session.state.get("absent"),
        lambda: session.state.history("absent"),
    ]


@pytest.mark.usefixtures("unflushed")
def test_reads_make_nothing(tmp_path: Path) -> None:
    """But for the audit and its heads, root and trust home are the same, inode by inode, byte by byte."""
    house = House.build(tmp_path)
    heads = str((house.home / "anchors" / "audit").relative_to(house.world.trust))
    before = (tree(house.world.root, but=("audit",)), tree(house.world.trust, but=(heads,)))
    with house.world.open() as store:
        warm(store, house)
        for found in (house.owner, *house.neighbours):
            for area in ("memory", "state"):
                for read in reads(found.who.bind(store), found, area).values():
                    read()
        for who in (*UNKNOWN, house.owner.who):
            for call in asked_for_nothing(who.bind(store)):
                try:
                    call()
                except NotVisible:
                    continue
        with pytest.raises(NotVisible):
            bind(store, branch="other").get(house.owner.records[0])
        with pytest.raises(NotVisible):
            house.owner.who.bind(store).state.get(KEY + "x")
    with house.world.open():
        pass
    after = (tree(house.world.root, but=("audit",)), tree(house.world.trust, but=(heads,)))
    assert after == before
    assert len(before[0]) > 30
