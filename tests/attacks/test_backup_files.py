"""A backup that somebody changed is refused, and leaves nothing behind: no file, no key, no store."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest

from bench.keeping import back_up, put_back, talk
from bench.owning import Hand
from bench.world import World, quick_place
from nsstore import InvalidInput, Refused, digests
from nsstore.store.archive import Member
from nsstore.trust import Chain, frame
from nsstore.trust.keys import load_keys

Members = list[tuple[str, bytes]]


@pytest.fixture(scope="module")
def made() -> Iterator[tuple[World, Path, Path]]:
    """A store, its backup, and the backup of another store with the same scopes."""
    with quick_place() as place:
        files: list[Path] = []
        for name in ("one", "two"):
            (place / name).mkdir()
            world = World(place=place / name)
            with world.make() as store:
                Hand.of(store)
                talk(store, 1)
                files.append(place / f"{name}.backup")
                back_up(store, files[-1])
        yield World(place=place / "one"), files[0], files[1]


def parts(raw: bytes) -> tuple[bytes, Members, bytes]:
    """The first line, the members, and the last line."""
    head, _, rest = raw.partition(b"\n")
    members: Members = []
    while not rest.startswith(b'{"members"'):
        line, _, rest = rest.partition(b"\n")
        member = msgspec.json.decode(line, type=Member)
        members.append((member.path, rest[: member.size]))
        rest = rest[member.size + 1 + 65 :]
    return head, members, rest


def spelled(head: bytes, members: Members, end: bytes | None = None, world: World | None = None) -> bytes:
    """A backup of these members with right digests; with a ``world`` its keys prove the end."""
    out, lines = bytearray(head + b"\n"), bytearray(head + b"\n")
    for path, raw in members:
        line = msgspec.json.encode(Member(path=path, size=len(raw))) + b"\n"
        digest = digests.digest(digests.DIGEST, line, raw).hex().encode() + b"\n"
        out += line + raw + b"\n" + digest
        lines += line + digest
    if end is None:
        assert world is not None
        body = msgspec.json.encode(
            {
                "members": len(members),
                "bytes": sum(len(raw) for _, raw in members),
                "digest": digests.digest(digests.DIGEST, bytes(lines)).hex(),
            }
        )
        with world.open() as store:
            keys = load_keys(store.trust.home)
            chain = Chain(store.trust.store_id, "backup", (("store", store.store_id),))
            end = frame(keys, chain, digests.MANIFEST, body, keys.active)[0]
    return bytes(out) + end


def refused(place: Path, raw: bytes) -> str:
    """That a changed backup is refused on a machine that never saw the store, and why."""
    file, other = place / "changed.backup", World(place=place / "elsewhere")
    other.place.mkdir(exist_ok=True)
    file.write_bytes(raw)
    with pytest.raises((Refused, InvalidInput)) as caught:
        put_back(file, other)
    assert [*other.place.iterdir()] == []
    return str(caught.value)


def test_made_again_it_is_the_same(made: tuple[World, Path, Path], tmp_path: Path) -> None:
    """What these tests change is a backup: spelled again from its parts it is the same, and is restored."""
    world, file, _ = made
    head, members, end = parts(file.read_bytes())
    assert spelled(head, members, end) == file.read_bytes()
    assert spelled(head, members, world=world) == file.read_bytes()
    assert put_back(file, World(place=tmp_path)).records == sum(path.endswith(".md") for path, _ in members)


def test_any_flipped_bit(made: tuple[World, Path, Path], tmp_path: Path) -> None:
    """A bit that is flipped anywhere: in a line, a path, a size, a digest, a record, the keys, the end."""
    raw = made[1].read_bytes()
    for at in (
        *range(0, 90, 7),
        *range(90, len(raw), max(1, len(raw) // 60)),
        *range(len(raw) - 200, len(raw), 9),
    ):
        refused(tmp_path, raw[:at] + bytes([raw[at] ^ 1]) + raw[at + 1 :])


def test_cut_short_or_long(made: tuple[World, Path, Path], tmp_path: Path) -> None:
    """A backup that ends too early, wherever, or goes on behind its end."""
    raw = made[1].read_bytes()
    for size in (0, 1, 60, 200, *range(1000, len(raw), len(raw) // 20), len(raw) - 1):
        refused(tmp_path, raw[:size])
    assert "too early" in refused(tmp_path, raw[: len(raw) // 2])
    refused(tmp_path, raw + b"\n")
    refused(tmp_path, raw + raw)


PATHS = (
    "../x", "/etc/passwd", "memory/../../x", "store.json", "tmp/x", "quarantine/a/b", "memory/x.md",
    "audit/tenants/acme/../../../x", "audit/tenants/acme/audit.lock", "audit/tenants/acme/2026-01.jsonl/x",
    "audit/tenants/ACME/2026-01.jsonl", "rights/statements.lock", "ledger/memory/acme/alice/shop/s-9.log",
    "ledger/memory/acme/alice/shop/../s-1.log", "rights//statements.log", "./rights/statements.log", "",
    "memory/acme/alice/shop/s-1/01934f2e-8b7a-7c3d-9e21-0123456789ab.md", "trust.json",
)  # fmt: skip


@pytest.mark.parametrize("path", PATHS)
def test_a_path_of_no_file(made: tuple[World, Path, Path], tmp_path: Path, path: str) -> None:
    """Even in a backup that the store's own key proves, a member with such a path is not put anywhere."""
    world, file, _ = made
    head, members, _ = parts(file.read_bytes())
    for at in (1, 4, len(members)):
        extra = [*members[:at], (path, members[at - 1][1]), *members[at:]]
        refused(tmp_path, spelled(head, extra, world=world))
    assert sorted(one.name for one in tmp_path.iterdir()) == ["changed.backup", "elsewhere"]


def kinds(members: Members) -> dict[str, int]:
    """Where the first member of each kind is."""
    found: dict[str, int] = {}
    for at, (path, _) in enumerate(members):
        found.setdefault(re.split(r"[/.]", path)[0], at)
    return found


Change = Callable[[Members, int], Members]
CHANGES: dict[str, Change] = {
    "left out": lambda members, at: members[:at] + members[at + 1 :],
    "twice": lambda members, at: [*members[: at + 1], members[at], *members[at + 1 :]],
    "at the end": lambda members, at: [*members[:at], *members[at + 1 :], members[at]],
    "torn": lambda members, at: [*members[:at], (members[at][0], members[at][1][:-1]), *members[at + 1 :]],
}


@pytest.mark.parametrize("change", CHANGES)
def test_members_changed(made: tuple[World, Path, Path], tmp_path: Path, change: str) -> None:
    """A member more, less, torn, or in another place, with every digest right but the proven end."""
    head, members, end = parts(made[1].read_bytes())
    for kind, at in kinds(members).items():
        changed = CHANGES[change](members, at)
        if changed != members:
            assert refused(tmp_path, spelled(head, changed, end)), kind


def test_another_stores(made: tuple[World, Path, Path], tmp_path: Path) -> None:
    """Nothing of another store is taken, member by member, nor under another's name."""
    world, file, foreign = made
    head, members, end = parts(file.read_bytes())
    other_head, others, other_end = parts(foreign.read_bytes())
    refused(tmp_path, spelled(other_head, members, end))
    refused(tmp_path, spelled(head, members, other_end))
    for at, (path, raw) in enumerate(others):
        if path.startswith(("audit/", "rights/")):
            continue  # not looked into before the proven end, which is refused below
        mixed = [*members[:at], (path, raw), *members[at + 1 :]]
        refused(tmp_path, spelled(head, mixed, world=world))
    refused(tmp_path, spelled(head, [*members[:1], *others[1:]], end))


def test_what_is_no_backup(tmp_path: Path) -> None:
    """A file that is something else is called that, before anybody is asked for a passphrase."""
    for raw in (b"", b"{}\n", b"\x00" * 100_000, b"PK\x03\x04", b"[" * 50_000, b'{"backup":2}\n'):
        assert "not a backup" in refused(tmp_path, raw)
