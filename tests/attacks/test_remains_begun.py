"""Namespaces and audits that only the remains have are taken as they were written, or not at all."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from bench.child import KILLED, Counter, Report, die, in_child
from bench.keeping import back_up, put_back, talk
from bench.owning import Hand
from bench.world import Who, World, quick_place
from nsstore import IntegrityError, NotVisible
from nsstore.audit import verify
from nsstore.root.steps import hooked
from nsstore.store.accept import losses
from tests.attacks.test_remains import PUT, as_dangling_link, as_fifo, as_link

TUESDAY = "memory/acme/alice/shop/tuesday"
LATE = Who(session="tuesday")
OTHER = Who(tenant="late")


class Begun:
    """A store with a backup, then a session and a tenant that were begun after it, and what is left of it."""

    def __init__(self, place: Path) -> None:
        self.world = World(place=place)
        self.file, self.old = place / "backup", place / "old"
        with self.world.make() as store:
            self.hand = Hand.of(store)
            talk(store, 1)
            back_up(store, self.file)
            late = LATE.bind(store)
            self.first, self.second = (late.remember(f"late {one}").record_id for one in range(2))
            self.gone = late.remember("forgotten again").record_id
            late.forget(self.gone)
            self.others = OTHER.bind(store).remember("another tenant's").record_id
        self.world.root.rename(self.old)


@pytest.fixture
def begun() -> Iterator[Begun]:
    """That store, in memory."""
    with quick_place() as place:
        yield Begun(place)


def test_all_of_it_comes(begun: Begun) -> None:
    """Session, tenant and both audits are there as they were, and what was forgotten stays forgotten."""
    done = put_back(begun.file, begun.world, old=begun.old)
    assert done.whole
    assert done.begun == (TUESDAY, "memory/late/alice/shop/s-1")
    with begun.world.open() as store:
        late = LATE.bind(store)
        assert {one.record_id for one in late.list().items} == {begun.first, begun.second}
        with pytest.raises(NotVisible):
            late.get(begun.gone)
        assert OTHER.bind(store).get(begun.others).text == "another tenant's"
        late.remember("it goes on")
        for tenant in ("acme", "late"):
            assert verify(store.audit, ("tenant", tenant)).whole
    for path in ("audit/tenants/late", "ledger/memory/late"):
        for one in (begun.old / path).rglob("*.[jl]*"):
            put = begun.world.root / one.relative_to(begun.old)
            assert one.suffix == ".lock" or put.read_bytes().startswith(one.read_bytes())


CASES = [
    *((one, how) for one in (f"ledger/{TUESDAY}.log", f"{TUESDAY}/FIRST.md") for how in PUT),
    *((TUESDAY, how) for how in (as_link, as_dangling_link, as_fifo)),
]


@pytest.mark.parametrize(("what", "how"), CASES)
def test_nothing_comes_through_a_link(begun: Begun, what: str, how: Callable[[Path, Path], None]) -> None:
    """Where a link, or no file of a store, stands, the namespace does not come whole, and that is told."""
    at, apart = begun.old / what.replace("FIRST", begun.first), begun.world.place / "apart"
    at.rename(apart)
    how(at, apart)
    done = put_back(begun.file, begun.world, old=begun.old)
    assert not done.whole
    assert done.passed_by
    assert not any(one.is_symlink() for one in begun.world.root.rglob("*"))
    with begun.world.open() as store, pytest.raises(IntegrityError):
        LATE.bind(store).list()


def test_a_ledger_cut_short_stays_closed(begun: Begun) -> None:
    """A ledger that ends before its anchor comes as far as it is proven, closed, and is a loss to accept."""
    ledger = begun.old / f"ledger/{TUESDAY}.log"
    ledger.write_bytes(b"".join(ledger.read_bytes().splitlines(keepends=True)[:3]))
    done = put_back(begun.file, begun.world, old=begun.old)
    assert [one.path for one in done.lacking.losses] == [TUESDAY]
    with begun.world.open() as store:
        with pytest.raises(IntegrityError, match="older"):
            LATE.bind(store).list()
        assert [one.path for one in losses(store).losses] == [TUESDAY]


def test_another_namespaces_ledger_is_not_taken(begun: Begun) -> None:
    """A genuine ledger under another namespace's name is no ledger there."""
    shutil.copyfile(begun.old / "ledger/memory/acme/bob/shop/s-2.log", begun.old / f"ledger/{TUESDAY}.log")
    done = put_back(begun.file, begun.world, old=begun.old)
    assert [path for path, _ in done.left] == [TUESDAY]
    assert [one.below for one in done.gone] == ["memory/acme/alice/shop"]


def test_without_this_trust_home_nothing_is_taken_over(begun: Begun, tmp_path: Path) -> None:
    """On a machine that never knew what began later it is left behind, and told."""
    other = World(place=tmp_path)
    done = put_back(begun.file, other, old=begun.old)
    assert (done.begun, done.gone) == ((), ())
    assert {path for path, _ in done.left} == {TUESDAY, "memory/late/alice/shop/s-1"}


def test_killed_and_made_again(begun: Begun) -> None:
    """Killed at some steps, a restore with the remains can be made again there, and all of it comes."""

    def task(at: int, _: Report) -> None:
        with hooked(Counter(at, die)):
            put_back(begun.file, begun.world, old=begun.old)

    killed = 0
    for at in range(0, 600, 45):
        if in_child(partial(task, at)).status != KILLED or (begun.world.root / "store.json").exists():
            break
        killed += 1
    assert killed
    if not (begun.world.root / "store.json").exists():
        assert put_back(begun.file, begun.world, old=begun.old).whole
    with begun.world.open() as store:
        assert {one.record_id for one in LATE.bind(store).list().items} == {begun.first, begun.second}


def test_an_audit_goes_on_over_months(begun: Begun, monkeypatch: pytest.MonkeyPatch) -> None:
    """Months that began after the backup come too; a line copied to an earlier month does not come twice."""
    begun.old.rename(begun.world.root)
    for name in ("log", "ending"):
        monkeypatch.setattr(f"nsstore.audit.{name}.utc_now", lambda: "2031-05-01T00:00:00.000000Z")
    with begun.world.open() as store:
        LATE.bind(store).remember("in another month")
        LATE.bind(store).remember("and one more")
    begun.world.root.rename(begun.old)
    before, after = sorted((begun.old / "audit/tenants/acme").glob("*.jsonl"))
    whole = before.read_bytes()
    before.write_bytes(whole + after.read_bytes())
    done = put_back(begun.file, begun.world, old=begun.old)
    assert done.whole
    put = begun.world.root / "audit/tenants/acme"
    assert (put / before.name).read_bytes() == whole
    assert (put / after.name).read_bytes() == after.read_bytes()
    with begun.world.open() as store:
        assert verify(store.audit, ("tenant", "acme")).whole


def test_another_tenants_audit_is_not_taken(begun: Begun) -> None:
    """Lines of another tenant's audit are none of this one's, and what is missing then is told."""
    (month,) = (begun.old / "audit/tenants/acme").glob("*.jsonl")
    (others,) = (begun.old / "audit/tenants/late").glob("*.jsonl")
    others.write_bytes(month.read_bytes())
    done = put_back(begun.file, begun.world, old=begun.old)
    assert [path for path, _ in done.audits] == ["audit/tenants/late"]
    assert not (begun.world.root / "audit/tenants/late").exists()
    with begun.world.open() as store:
        assert verify(store.audit, ("tenant", "acme")).whole
