"""Tools of an attacker who can write the root and nothing else, and what has to come of it."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Final

import msgspec

from bench.child import Report, in_child
from bench.house import KEY, TEXTS, Furnished, House, answers, reads
from nsstore import EscapeError, IntegrityError, OpenStore
from nsstore.audit import read_events
from nsstore.incident import IncidentKind
from nsstore.scope import Area

AREAS: Final[tuple[Area, ...]] = ("memory", "state")
Act = Callable[[House, Area], None]


class Harm(msgspec.Struct, frozen=True, kw_only=True):
    """What every reading verb has to say: one of these incident kinds, or that a way out was met."""

    kinds: frozenset[IncidentKind]
    escape: bool = False
    closes: bool = True

    @classmethod
    def of(cls, *kinds: IncidentKind, closes: bool = True) -> Harm:
        """An integrity failure; ``closes`` says that nothing can be written either."""
        return cls(kinds=frozenset(kinds), closes=closes)

    @classmethod
    def link(cls, *, closes: bool = True) -> Harm:
        """A link, device or foreign file was met."""
        return cls(kinds=frozenset({IncidentKind.LINKED}), escape=True, closes=closes)


def newest(house: House, area: Area) -> Path:
    """The record that every reading verb of an area comes by."""
    owner = house.owner
    return house.file(owner.records[-1] if area == "memory" else owner.versions[-1], area)


def older(house: House, area: Area) -> Path:
    """A record that was written before it."""
    owner = house.owner
    return house.file(owner.records[0] if area == "memory" else owner.versions[0], area)


def foreign(house: House, area: Area, *, tenant: str) -> Path:
    """The newest record of another scope, of this tenant."""
    found = next(one for one in house.neighbours if one.who.tenant == tenant)
    return house.file(found.records[-1] if area == "memory" else found.versions[-1], area, found.who)


def rewrite(path: Path, change: Callable[[bytes], bytes]) -> None:
    """Change a file's bytes in place: same inode, same owner, same mode."""
    raw = change(path.read_bytes())
    with path.open("r+b") as file:
        file.truncate(0)
        file.write(raw)


def flip(raw: bytes, at: int) -> bytes:
    """One bit of one byte turned over."""
    at %= len(raw)
    return raw[:at] + bytes([raw[at] ^ 1]) + raw[at + 1 :]


def lines(path: Path) -> list[bytes]:
    """The lines of a ledger, each with its newline."""
    return path.read_bytes().splitlines(keepends=True)


def aside(house: House, path: Path) -> Path:
    """A path outside the store where nothing is yet."""
    taken = len(list(house.world.place.iterdir()))
    return house.world.place / f"aside-{taken}-{path.name}"


def copied(house: House, path: Path) -> Path:
    """A copy of a file or directory, outside the store."""
    copy = aside(house, path)
    return Path(shutil.copytree(path, copy, symlinks=True) if path.is_dir() else shutil.copy2(path, copy))


def moved_out(house: House, path: Path) -> Path:
    """The file or directory itself, moved outside the store."""
    return path.rename(aside(house, path))


def remove(path: Path) -> None:
    """Delete a file, or a directory with all that is in it."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink()


def put_back(copy: Path, path: Path) -> None:
    """Put a copy in the place of what is there, modes and times as they were."""
    remove(path)
    shutil.copytree(copy, path, symlinks=True) if copy.is_dir() else shutil.copy2(copy, path)


def require_refused(house: House, store: OpenStore, area: Area, harm: Harm) -> None:
    """Every verb that reads the owner's area refuses, with an audited incident and no word of the text."""
    session = house.owner.who.bind(store)
    refused = {verb: refusal(read, verb) for verb, read in reads(session, house.owner, area).items()}
    if harm.closes and area == "memory":
        refused["remember"] = refusal(lambda: session.remember("one more"), "remember")
    elif harm.closes:
        refused["put"] = refusal(lambda: session.state.put(KEY, "one more"), "put")
    require_told(house, store, refused, harm)


def refusal(call: Callable[[], object], verb: str) -> IntegrityError | EscapeError:
    """The error that a call ends in."""
    try:
        answer = call()
    except (IntegrityError, EscapeError) as err:
        return err
    raise AssertionError(f"{verb} answered {answer!r}")


def require_told(
    house: House, store: OpenStore, refused: Mapping[str, IntegrityError | EscapeError], harm: Harm
) -> None:
    """Each refusal is of the right kind, stands in the audit, and gives nothing away."""
    tenant = ("tenant", house.owner.who.tenant)
    told = {line.incident: line.reason for line in read_events(store.audit, tenant) if line.incident}
    kinds = {kind.value for kind in harm.kinds}
    for verb, err in refused.items():
        if isinstance(err, EscapeError):
            assert harm.escape, f"{verb}: {err!r}"
            assert kinds <= set(told.values()), f"{verb}: not audited"
        else:
            assert not harm.escape, f"{verb}: {err!r}"
            assert err.incident_kind in kinds, f"{verb}: {err!r} is {err.incident_kind}"
            assert told.get(err.incident_id) == err.incident_kind, f"{verb}: not audited"
        for secret in (*TEXTS, str(house.world.place)):
            assert secret not in str(err), f"{verb} gives it away"


def require_unharmed(
    store: OpenStore,
    before: dict[Furnished, dict[str, object]],
    but: Collection[Furnished] = (),
) -> None:
    """Every scope but the named ones reads exactly what it read before."""
    for found, answer in before.items():
        if found not in but:
            assert answers(found.who.bind(store), found) == answer, found.who


def elsewhere(check: Callable[[], None]) -> None:
    """Make a check in a process of its own."""

    def task(_: Report) -> None:
        check()

    assert in_child(task).status == 0, "see above"
