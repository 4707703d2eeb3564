"""Keys at the terminal: backup, loss, restore, rotation, and where a passphrase may come from."""

import os
import pty
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from bench.keeping import PASS
from tests.cli.conftest import Person, unattended

pytestmark = pytest.mark.usefixtures("quick_keys")
HOUSE = Path(__file__).parents[2]


def test_backup_loss_and_restore(person: Person) -> None:
    """After the loss of the trust home a restore makes everything readable again, later records too."""
    before = person.remember("before")
    file = str(person.place / "keys.backup")
    made = person.json("keys", "backup", file, *unattended(person))
    assert made["bytes"] == Path(file).stat().st_size
    after = person.remember("after")
    person.remember("born later", NSSTORE_SESSION="tuesday")
    shutil.rmtree(person.trust)
    assert person("show", before).exit_code == 5
    assert person.json("keys", "restore", file, *unattended(person)) == {
        "keys": 1,
        "anchors": 2,
        "binding": True,
        "missing_keys": [],
    }
    assert [person.json("show", one)["text"] for one in (before, after)] == ["before", "after"]
    closed = person("list", "--session", "tuesday")
    assert closed.exit_code == 6
    assert "the trust home does not prove this namespace" in closed.stderr
    assert [one["path"] for one in person.json("check")["findings"]] == ["memory/acme/ada/atlas/tuesday"]
    assert "no keys, no anchors" in person.ok("keys", "restore", file, *unattended(person))


def test_a_backup_is_new_and_private(person: Person) -> None:
    """The file is 0600 under any umask, and never replaces a file nor goes through a link."""
    before = os.umask(0)
    try:
        person.ok("keys", "backup", str(person.place / "a"), *unattended(person))
    finally:
        os.umask(before)
    assert (person.place / "a").stat().st_mode & 0o7777 == 0o600
    precious = person.place / "precious"
    precious.write_text("mine")
    (person.place / "link").symlink_to(precious)
    (person.place / "dangling").symlink_to(person.place / "nowhere")
    for name in ("a", "precious", "link", "dangling"):
        done = person("keys", "backup", str(person.place / name), *unattended(person))
        assert done.exit_code == 3, name
        assert "must be a new file" in done.stderr
    assert precious.read_text() == "mine"
    assert not (person.place / "nowhere").exists()
    assert person("keys", "backup", str(person.place / "no" / "where"), *unattended(person)).exit_code == 9


def test_a_backup_lies_apart(person: Person) -> None:
    """A backup inside the store or its trust home, also through a link, is refused before it asks."""
    person.remember("one")
    (person.place / "link").symlink_to(person.store / "memory")
    (home,) = person.trust.iterdir()
    for folder in (person.store, person.store / "memory/acme", person.place / "link", home):
        done = person("keys", "backup", str(folder / "b"))
        assert (done.exit_code, "must lie outside" in done.stderr) == (3, True), folder
        assert not (folder / "b").exists()
    person.ok("keys", "backup", str(person.place / "store.b"), *unattended(person))


def test_a_damaged_binding_is_put_back(person: Person) -> None:
    """A restore puts the binding back where it is damaged, and keeps the damaged one beside it."""
    file = str(person.place / "b")
    person.ok("keys", "backup", file, *unattended(person))
    (binding,) = person.trust.glob("*/binding.json")
    whole = binding.read_bytes()
    binding.write_bytes(b"{")
    assert person("list").exit_code == 5
    assert person.json("keys", "restore", file, *unattended(person))["binding"] is True
    assert binding.read_bytes() == whole
    assert [one.read_bytes() for one in binding.parent.glob("binding.json.damaged-*")] == [b"{"]
    assert person("list").exit_code == 0


def test_a_key_that_is_missing_is_named(person: Person) -> None:
    """After a restore of a backup older than a rotation, it and check name the key that is not here."""
    person.remember("old")
    file = str(person.place / "b")
    person.ok("keys", "backup", file, *unattended(person))
    key_id = person.json("keys", "rotate")["active"]
    person.remember("new")
    (home,) = person.trust.iterdir()
    (home / "keys.json").unlink()
    assert f"1 key that ledgers name, still missing: {key_id}" in (
        person("keys", "restore", file, *unattended(person)).stderr
    )
    assert person.json("keys", "restore", file, *unattended(person))["missing_keys"] == [key_id]
    found = [one for one in person.json("check")["findings"] if one["kind"] == "key"]
    assert [one["path"] for one in found] == ["ledger/memory/acme/ada/atlas/monday.log"]
    assert f"the key {key_id}" in found[0]["what"]


def test_a_wrong_passphrase_is_refused(person: Person) -> None:
    """A wrong passphrase ends with the code of a refusal and leaves the trust home lost."""
    file = str(person.place / "keys.backup")
    person.ok("keys", "backup", file, *unattended(person))
    shutil.rmtree(person.trust)
    done = person("keys", "restore", file, *unattended(person, "something else"))
    assert done.exit_code == 5
    assert "the passphrase is not this backup's" in done.stderr
    assert not person.trust.exists()


@pytest.mark.parametrize("verb", ["backup", "restore"])
def test_nobody_is_asked_where_nobody_sits(person: Person, verb: str) -> None:
    """Without a terminal the command ends at once and names --unattended; nothing is read from stdin."""
    file = person.place / "file"
    if verb == "restore":
        file.write_text("{}")
    done = person("keys", verb, str(file), given=f"{PASS}\n{PASS}\n")
    assert done.exit_code == 5
    assert "--unattended" in done.stderr
    assert verb == "restore" or not file.exists()


def test_unattended_needs_a_file_that_is_private(person: Person) -> None:
    """The file of a passphrase has to be named, private, text, and go with --unattended."""
    file = str(person.place / "b")
    flags = unattended(person)
    assert person("keys", "backup", file, "--unattended").exit_code == 3
    assert person("keys", "backup", file, *flags[1:]).exit_code == 3
    Path(flags[2]).chmod(0o640)
    assert "open to other users" in person("keys", "backup", file, *flags).stderr
    Path(flags[2]).chmod(0o600)
    Path(flags[2]).write_bytes(b"\xff" * 20)
    assert person("keys", "backup", file, *flags).exit_code == 3
    Path(flags[2]).write_bytes(b"short")
    assert person("keys", "backup", file, *flags).exit_code == 3
    Path(flags[2]).write_bytes(b"x" * 5000)
    assert person("keys", "backup", file, *flags).exit_code == 3
    assert not Path(file).exists()


def test_a_passphrase_from_a_descriptor(person: Person) -> None:
    """/dev/fd/N gives the passphrase that a shell put into a pipe, and it is the one of the file."""
    reader, writer = os.pipe()
    os.write(writer, PASS.encode() + b"\n")
    os.close(writer)
    try:
        file = str(person.place / "b")
        person.ok("keys", "backup", file, "--unattended", "--passphrase-file", f"/dev/fd/{reader}")
    finally:
        os.close(reader)
    shutil.rmtree(person.trust)
    person.ok("keys", "restore", file, *unattended(person))


def test_at_a_terminal_it_asks_twice(person: Person) -> None:
    """At a terminal a passphrase is asked for twice, never shown, and a short or mistyped one once more."""
    file = person.place / "b"
    code = (
        "import sys; from nsstore.trust import backup; backup.SCRYPT_N = 1024;"
        "from nsstore.cli.main import main; main()"
    )
    own = {name: value for name, value in person.env.items() if value is not None}
    master, slave = pty.openpty()
    running = subprocess.Popen(
        [sys.executable, "-c", code, "keys", "backup", str(file)],
        stdin=slave,
        stdout=subprocess.PIPE,
        stderr=slave,
        env={**os.environ, **own},
        cwd=HOUSE,
        start_new_session=True,
    )
    os.close(slave)
    seen = _answer(master, b"at least 8 characters): ", "short") + _answer(master, b"characters): ", PASS)
    seen += _answer(master, b"again: ", "mistyped") + _answer(master, b"characters): ", PASS)
    seen += _answer(master, b"again: ", PASS)
    assert running.wait(30) == 0
    assert running.stdout is not None
    running.stdout.close()
    os.close(master)
    assert PASS.encode() not in seen
    shutil.rmtree(person.trust)
    person.ok("keys", "restore", str(file), *unattended(person))


def _answer(master: int, question: bytes, answer: str) -> bytes:
    """Wait for a question at a terminal, answer it, and return what was shown."""
    shown, until = b"", time.monotonic() + 30
    while question not in shown:
        assert time.monotonic() < until, shown
        shown += os.read(master, 1024)
    time.sleep(0.1)  # click turns the echo off right after it asked
    os.write(master, answer.encode() + b"\n")
    return shown


def test_rotate_adds_a_key(person: Person) -> None:
    """A rotation names the new key, the check counts it, and old and new records are read."""
    old = person.remember("old")
    key_id = person.json("keys", "rotate")["active"]
    new = person.remember("new")
    assert f"keys: 2, signing with {key_id}" in person.ok("check")
    assert [one["record_id"] for one in person.json("list")["items"]] == [new, old]
    assert "makes a new one" in person("keys", "rotate").stderr


def test_restore_needs_a_store(person: Person) -> None:
    """There is nothing to restore for a directory that is no store, or for another store."""
    file = str(person.place / "b")
    person.ok("keys", "backup", file, *unattended(person))
    (person.place / "empty").mkdir(mode=0o700)
    for store in ("empty", "absent"):
        done = person("keys", "restore", file, *unattended(person), "--store", str(person.place / store))
        assert done.exit_code == 3
        assert "there is no store here" in done.stderr
    person.ok("init", str(person.place / "other"))
    done = person("keys", "restore", file, *unattended(person), "--store", str(person.place / "other"))
    assert (done.exit_code, "another store" in done.stderr) == (3, True)
