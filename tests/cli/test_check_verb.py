"""Check finds everything that is wrong, repairs what a dead writer left, and removes nothing."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from nsstore.errors import WitnessError
from nsstore.layout import encode
from nsstore.root.opener import KernelOpener
from tests.cli.conftest import Person

LONG = "é" * 200


@pytest.fixture
def full(person: Person) -> Person:
    """A person with two sessions, another tenant, a state document and ids too long for a path."""
    for number in range(3):
        person.remember(f"monday {number}")
    person.remember("tuesday", NSSTORE_SESSION="tuesday")
    person.remember("globex's", NSSTORE_TENANT="globex")
    person.remember("long", NSSTORE_TENANT=LONG, NSSTORE_USER=LONG, NSSTORE_SESSION=LONG)
    person.remember("a group's", NSSTORE_TENANT=None, NSSTORE_GROUP="acme")
    person.ok("state", "put", "plan", "one")
    return person


def leaf(person: Person) -> Path:
    """The directory of the first session."""
    return person.store / "memory/acme/ada/atlas/monday"


def test_a_whole_store_is_whole(full: Person) -> None:
    """Every namespace, however its ids are spelled, and every audit is read and found whole."""
    found = full.json("check")
    assert found["whole"] is True
    assert found["findings"] == []
    assert len(found["namespaces"]) == 6
    assert sum(one["records"] for one in found["namespaces"]) == 8
    assert not any(one["closed"] or one["repaired"] for one in found["namespaces"])
    assert [one["ids"][1][1] for one in found["namespaces"] if one["ids"][0][1] == LONG] * 2 == [LONG, LONG]
    assert {tuple(one["tenant"]) for one in found["audits"]} == {
        ("group", "acme"),
        ("tenant", "acme"),
        ("tenant", "globex"),
        ("tenant", LONG),
    }


def test_it_says_what_is_enforced(full: Person) -> None:
    """It names the opener, new files, file system, owner and mode, trust home, keys and the window."""
    shown = full.ok("check")
    for name in ("store", "trust home", "keys", "opening", "new files", "file system", "owner and mode"):
        assert f"\n{name}: " in f"\n{shown}", name
    assert "routine appends: durable within 1 s" in shown
    assert str(full.trust) in shown
    assert "nothing is wrong" in shown


def test_it_says_when_the_kernel_does_not_help(full: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without openat2 the walk is named, and the store is as whole as before."""
    assert "openat2: the kernel" in full.ok("check") or KernelOpener.name != "openat2"
    monkeypatch.setattr("nsstore.root.system.has_openat2", no_openat2)
    assert "opening: walk: " in full.ok("check")


def test_verbose_lists_everything(full: Person) -> None:
    """-v shows every namespace and every audit, also the whole ones."""
    shown = full.ok("check", "-v")
    assert "3\twhole\tmemory/acme/ada/atlas/monday" in shown
    assert "\twhole\ttenant=globex" in shown


def no_openat2(dir_fd: int) -> bool:
    """A kernel without openat2."""
    del dir_fd
    return False


def flip(person: Person) -> None:
    """Change one byte of one record."""
    file = next(leaf(person).iterdir())
    raw = bytearray(file.read_bytes())
    raw[-1] ^= 1
    file.write_bytes(raw)


def delete_record(person: Person) -> None:
    """Remove one record."""
    next(leaf(person).iterdir()).unlink()


def open_mode(person: Person) -> None:
    """Let everybody read one record."""
    next(leaf(person).iterdir()).chmod(0o644)


def link_record(person: Person) -> None:
    """Put a link in the place of a record."""
    file = next(leaf(person).iterdir())
    away = person.place / "away.md"
    file.rename(away)
    file.symlink_to(away)


def delete_ledger(person: Person) -> None:
    """Remove the ledger of a namespace."""
    (person.store / "ledger/memory/acme/ada/atlas/monday.log").unlink()


def delete_namespace(person: Person) -> None:
    """Remove a namespace with its ledger and its lock, as if it had never been."""
    shutil.rmtree(leaf(person))
    for name in ("monday.log", "monday.lock"):
        (person.store / "ledger/memory/acme/ada/atlas" / name).unlink()


def delete_long_ledger(person: Person) -> None:
    """Remove the ledger of a namespace whose ids stand nowhere else."""
    (file,) = (one for one in (person.store / "ledger").rglob("*.log") if "%~" in str(one))
    file.unlink()


def empty_anchors(person: Person) -> None:
    """Empty an anchor file."""
    (file,) = person.trust.glob("*/anchors/memory/acme/ada/atlas.anchors")
    file.write_bytes(b"")


def edit_audit(person: Person) -> None:
    """Change one audit line."""
    (file,) = (person.store / "audit/tenants/globex").glob("*.jsonl")
    file.write_bytes(file.read_bytes().replace(b"globex", b"globes", 1))


def delete_audit(person: Person) -> None:
    """Remove a tenant's audit whole."""
    shutil.rmtree(person.store / "audit/tenants/globex")


def forge_ledger_line(person: Person) -> None:
    """Append a line that no key made."""
    file = person.store / "ledger/memory/acme/ada/atlas/monday.log"
    file.write_bytes(file.read_bytes() + file.read_bytes().splitlines(keepends=True)[-1])


LEDGER = "ledger/memory/acme/ada/atlas/monday.log"
WRONG: list[tuple[Callable[[Person], None], str, str]] = [
    (flip, "altered", "memory/acme/ada/atlas/monday/"),
    (delete_record, "missing", "memory/acme/ada/atlas/monday/"),
    (open_mode, "escape", "memory/acme/ada/atlas/monday/"),
    (link_record, "escape", "memory/acme/ada/atlas/monday/"),
    (delete_ledger, "rolled_back", LEDGER),
    (delete_namespace, "rolled_back", "ledger/memory/acme/ada/atlas"),
    (delete_long_ledger, "stray", "ledger/memory/"),
    (empty_anchors, "anchor_broken", "memory/acme/ada/atlas/monday"),
    (edit_audit, "audit", "audit/tenants/globex"),
    (delete_audit, "audit", "audit/tenants/globex"),
    (forge_ledger_line, "chain_broken", LEDGER),
]


@pytest.mark.parametrize(("harm", "kind", "path"), WRONG, ids=[harm.__name__ for harm, *_ in WRONG])
def test_harm_is_found(full: Person, harm: Callable[[Person], None], kind: str, path: str) -> None:
    """Each kind of harm ends with 1 and is named with its place, and the rest is still read."""
    harm(full)
    done = full("check")
    assert done.exit_code == 1
    assert "nothing is wrong" not in done.stdout
    found = full.json("check")
    assert any(one["kind"] == kind and one["path"].startswith(path) for one in found["findings"]), found[
        "findings"
    ]
    assert {one["path"] for one in found["namespaces"]} > {
        "memory/globex/ada/atlas/monday",
        "state/acme/atlas/%n.",
    }


def stray_record(person: Person) -> Path:
    """A file that is no record, among records."""
    return leaf(person) / "notes.md"


def stray_bytes(person: Person) -> Path:
    """A name that is no text, among records."""
    return leaf(person) / os.fsdecode(b"\xff\x1b.md")


def stray_above(person: Person) -> Path:
    """A file where only directories stand."""
    return person.store / "memory/acme/ada/note.txt"


@pytest.mark.parametrize("place", [stray_record, stray_bytes, stray_above])
def test_an_addition_is_found_and_left(full: Person, place: Callable[[Person], Path]) -> None:
    """What does not belong is named, is never removed, and closes nothing."""
    stray = place(full)
    stray.write_text("mine")
    stray.chmod(0o600)
    found = full.json("check")
    assert [one["kind"] for one in found["findings"]] == ["stray"]
    assert not any(one["closed"] for one in found["namespaces"])
    assert full("check").exit_code == 1
    assert stray.read_text() == "mine"
    assert full("list").exit_code == 0


@pytest.mark.parametrize("path", ["memory/ACME/ada/atlas/monday", "memory/%zz/a/b/c"])
def test_a_directory_that_no_id_has_is_found(full: Person, path: str) -> None:
    """A directory whose name is no id's is named, and the rest is read."""
    (full.store / path).mkdir(parents=True, mode=0o700)
    for folder in (full.store / "memory").rglob("*"):
        if folder.is_dir():
            folder.chmod(0o700)
    found = full.json("check")
    assert [one["kind"] for one in found["findings"]] == ["stray"]
    assert len(found["namespaces"]) == 6


def odd_tenant(root: Path) -> str:
    """A directory where a tenant stands, with nothing below."""
    return made(root, "memory/t=%%bad")


def odd_audit(root: Path) -> str:
    """The audit of a tenant whose name no id has."""
    return made(root, "audit/tenants/BAD")


def odd_bytes(root: Path) -> str:
    """A name that is no text, and that a terminal would obey."""
    made(root, os.fsdecode(b"audit/tenants/\xff\x1b[31m"))
    return r"audit/tenants/\udcff\x1b[31m"


def odd_ledger(root: Path) -> str:
    """A ledger whose name no id has."""
    made(root, "ledger/memory/acme/ada/atlas/MONDAY.log")
    return "ledger/memory/acme/ada/atlas/MONDAY.log"


def open_ledgers(root: Path) -> str:
    """A folder of ledgers that others may enter."""
    path = made(root, "ledger/memory/evil/ada/atlas")
    (root / path).chmod(0o755)
    return path


def open_ledgers_above(root: Path) -> str:
    """A folder above ledgers that others may enter."""
    made(root, "ledger/memory/evil/ada/atlas")
    (root / "ledger/memory/evil").chmod(0o755)
    return "ledger/memory/evil"


def linked_area(root: Path) -> str:
    """A link in the place of all ledgers of an area that has none."""
    shutil.rmtree(root / "ledger/state", ignore_errors=True)
    shutil.rmtree(root / "state", ignore_errors=True)
    (root / "ledger/state").symlink_to(root / "ledger/memory")
    return "ledger/state"


def linked_long_ledger(root: Path) -> str:
    """A link in the place of the ledger that would say whose it is."""
    path = made(root, f"ledger/memory/{encode('tenant', LONG)}/eve/atlas")
    (root / path / "x.log").symlink_to(root / "memory")
    return f"{path}/x.log"


def raw_long_ledger(root: Path) -> str:
    """No text where a ledger says whose it is."""
    return first_line(root, b'{"ids":[["tenant","\xff"]]}\n')


def deep_long_ledger(root: Path) -> str:
    """Nothing but brackets where a ledger says whose it is."""
    return first_line(root, b'{"x":' + b"[" * 60_000 + b"\n")


def first_line(root: Path, line: bytes) -> str:
    """A ledger with this line, below a tenant that only the line could name."""
    path = made(root, f"ledger/memory/{encode('tenant', LONG)}/eve/atlas")
    file = root / path / "x.log"
    file.write_bytes(line)
    file.chmod(0o600)
    return f"{path}/x.log"


def made(root: Path, path: str) -> str:
    """A directory of the root, private as all that are made on the way; returns the path."""
    at = root
    for name in path.split("/"):
        at /= name
        at.mkdir(mode=0o700, exist_ok=True)
    return path


ADDED = [
    odd_tenant, odd_audit, odd_bytes, odd_ledger, open_ledgers, open_ledgers_above, linked_area,
    linked_long_ledger, raw_long_ledger, deep_long_ledger,
]  # fmt: skip


@pytest.mark.parametrize("add", ADDED)
def test_an_added_name_hides_nothing(person: Person, add: Callable[[Path], str]) -> None:
    """Whoever can add a name to the root is told of, and every record and audit is looked at as before."""
    record_id = person.remember("one")
    person.remember("globex's", NSSTORE_TENANT="globex")
    file = person.file_of(record_id)
    file.write_bytes(file.read_bytes().replace(b"one", b"two"))
    path = add(person.store)
    assert person("check").exit_code == 1
    found = person.json("check")
    kinds = {one["path"]: one["kind"] for one in found["findings"]}
    assert kinds.pop(path) == "stray"
    assert kinds == {f"memory/acme/ada/atlas/monday/{record_id}.md": "altered"}
    assert [one["path"] for one in found["namespaces"]] == [
        "memory/acme/ada/atlas/monday",
        "memory/globex/ada/atlas/monday",
    ]
    assert len(found["audits"]) == 2


def test_a_linked_directory_is_not_entered(full: Person) -> None:
    """A link in the place of a directory is named and not followed."""
    outside = full.place / "outside"
    shutil.copytree(full.store / "memory/globex", outside)
    (full.store / "memory/initech").symlink_to(outside)
    found = full.json("check")
    assert [one["path"] for one in found["findings"]] == ["memory/initech"]


def test_what_a_dead_writer_left_is_repaired(full: Person) -> None:
    """A ledger line that never reached the disk is written again from its record, told, and no fault."""
    file = full.store / "ledger/memory/acme/ada/atlas/monday.log"
    file.write_bytes(b"".join(file.read_bytes().splitlines(keepends=True)[:-1]))
    found = full.json("check")
    assert found["whole"] is True
    assert [one["path"] for one in found["namespaces"] if one["repaired"]] == ["memory/acme/ada/atlas/monday"]
    assert "recovered" in full.ok("audit")
    assert len(full.json("list")["items"]) == 3
    assert not any(one["repaired"] for one in full.json("check")["namespaces"])


def test_a_store_that_does_not_open_is_an_error(full: Person) -> None:
    """Without its keys, or moved, a store is refused with what helps."""
    full.trust.rename(full.place / "away")
    done = full("check")
    assert done.exit_code == 5
    assert "NSSTORE_TRUST_HOME" in done.stderr
    (full.place / "away").rename(full.trust)
    full.store.rename(full.place / "moved")
    assert full("check", "--store", str(full.place / "moved")).exit_code == 5


def test_an_audit_that_takes_nothing_is_found(full: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no event can be written no verb answers, so the store is not found whole."""

    def refuse(*_: object) -> None:
        raise WitnessError("no")

    monkeypatch.setattr("nsstore.audit.log.AuditLog.require_ready", refuse)
    found = full.json("check")
    assert found["whole"] is False
    assert {one["kind"] for one in found["findings"]} == {"witness"}
    assert len(found["findings"]) == 4
    assert full("check").exit_code == 1


def test_what_this_user_cannot_write_is_found(person: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    """A root and a trust home that only may be read are named, also while the store is empty."""
    real = os.access

    def refuse(path: str, mode: int, *, dir_fd: int | None = None, follow_symlinks: bool = True) -> bool:
        return mode != os.W_OK and real(path, mode, dir_fd=dir_fd, follow_symlinks=follow_symlinks)

    monkeypatch.setattr(os, "access", refuse)
    found = person.json("check")["findings"]
    assert [(one["path"], one["kind"]) for one in found] == [(".", "read_only"), ("trust home", "read_only")]


def test_it_changes_nothing_in_a_whole_store(full: Person) -> None:
    """Reading everything leaves every file as it was."""

    def state() -> dict[Path, tuple[int, bytes]]:
        files = [one for top in (full.store, full.trust) for one in top.rglob("*") if one.is_file()]
        return {one: (one.stat().st_mtime_ns, one.read_bytes()) for one in files}

    before = state()
    full.ok("check")
    assert state() == before
