"""What was begun after a backup: taken from what is left, or counted; and audits that end too early."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Person, unattended
from tests.cli.test_backup_verbs import OWNERS

pytestmark = pytest.mark.usefixtures("quick_keys")
WED = {"NSSTORE_SESSION": "wednesday"}
BOB = {"NSSTORE_USER": "bob"}


class Lost:
    """A store that was backed up after one record, written to in three namespaces, and lost."""

    def __init__(self, person: Person) -> None:
        self.person = person
        self.file, self.old = str(person.place / "b"), person.place / "old"
        person.ok("owner", "init", "--name", "Ada", *unattended(person, OWNERS))
        person.remember("a")
        person.ok("backup", self.file, *unattended(person))
        self.later = person.remember("b")
        self.wed = person.remember("c", **WED)
        self.bob = person.remember("d", **BOB)
        person.ok("state", "put", "plan", "the plan")
        person.store.rename(self.old)

    def restore(self, *flags: str) -> tuple[int, dict[str, Any]]:
        """Restore it where it was."""
        to = str(self.person.store)
        done = self.person("restore", self.file, to, *flags, "--json", *unattended(self.person))
        told: dict[str, Any] = json.loads(done.stdout)
        return done.exit_code, told

    def accept(self, *flags: str, code: int = 1) -> str:
        """Have the owner accept what is lost; the code is 1 as long as something gone is not named."""
        done = self.person("owner", "accept", "--why", "a test", *flags, *unattended(self.person, OWNERS))
        assert done.exit_code == code, done.stderr
        return done.stdout


@pytest.fixture
def lost(person: Person) -> Lost:
    """That store."""
    return Lost(person)


def test_what_was_begun_since_is_taken(lost: Lost) -> None:
    """Namespaces that began after the backup come whole from what is left, named, and everything is whole."""
    code, told = lost.restore("--old", str(lost.old))
    assert (code, told["lost"], told["gone"], told["left"], told["audits"]) == (0, [], [], [], [])
    assert told["begun"] == [
        "memory/acme/ada/atlas/wednesday",
        "memory/acme/bob/atlas/monday",
        "state/acme/atlas/%n.",
    ]
    assert told["brought"] == 4
    person = lost.person
    assert person.json("show", lost.later)["text"] == "b"
    assert person.json("show", lost.wed, **WED)["text"] == "c"
    assert person.json("show", lost.bob, **BOB)["text"] == "d"
    assert person.ok("state", "get", "plan")
    person.remember("bob goes on", **BOB)
    person.ok("check")
    assert person.ok("audit", "verify").startswith("whole")


def test_what_was_begun_since_is_shown(lost: Lost) -> None:
    """A person is told which namespaces came, how many records and events, and in whole words."""
    person = lost.person
    words = person.ok("restore", lost.file, str(person.store), "--old", str(lost.old), *unattended(person))
    assert "begun after the backup: memory/acme/bob/atlas/monday" in words
    assert "4 later records, 3 later namespaces" in words
    assert "1 record of 1 namespace" in words


def test_without_what_is_left_it_is_counted(lost: Lost) -> None:
    """What neither backup nor remains have is counted by user and project; the exit code is 1."""
    code, told = lost.restore()
    assert code == 1
    assert told["gone"] == [
        {"below": "memory/acme/ada/atlas", "namespaces": 1},
        {"below": "memory/acme/bob/atlas", "namespaces": 1},
        {"below": "state/acme/atlas", "namespaces": 1},
    ]
    shutil.rmtree(lost.person.store)
    again = lost.person("restore", lost.file, str(lost.person.store), *unattended(lost.person))
    assert "1 session of acme/ada/atlas that this backup does not know" in again.stderr
    assert "1 workspace of acme/atlas" in again.stderr
    assert "--gone memory/acme/ada/atlas/SESSION" in again.stderr


def test_gone_namespaces_are_named_by_the_owner(lost: Lost) -> None:
    """Nobody says that nothing is lost; a name that fits nothing is an error, and the right ones open."""
    lost.restore()
    person = lost.person
    lost.accept()
    look = person("owner", "accept", "--dry-run")
    assert (look.exit_code, "nothing is lost" in look.stdout) == (1, False)
    assert "1 session of acme/bob/atlas" in look.stderr
    wrong = person("owner", "accept", "--dry-run", "--gone", "memory/acme/bob/atlas/tuesday")
    assert (wrong.exit_code, "never knew" in wrong.stderr) == (3, True)
    assert "memory/acme/bob/atlas/SESSION" in person("check").stdout
    names = ("memory/acme/bob/atlas/monday", "memory/acme/ada/atlas/wednesday", "state/acme/atlas/%n.")
    named = (one for name in names for one in ("--gone", name))
    assert "3 namespaces are open again" in lost.accept(*named, code=0)
    person.remember("bob begins again", **BOB)
    person.ok("check")
    assert "nothing is lost" in person.ok("owner", "accept", "--dry-run")


def test_an_audit_gap_is_accepted(lost: Lost) -> None:
    """What an audit lacks is red until the owner accepts that very gap, and told as accepted from then on."""
    lost.restore()
    person = lost.person
    before = person("audit", "verify")
    assert (before.exit_code, "nsstore owner accept" in before.stderr) == (1, True)
    look = person.json("owner", "accept", "--dry-run")
    (gap,) = look["audits"]
    assert gap["path"] == "audit/tenants/acme"
    assert f"gives up {gap['events']} events of audit/tenants/acme" in lost.accept()
    words = person.ok("audit", "verify")
    assert f"{gap['events']} events gone, and given up by the owner" in words
    verdict = person.json("audit", "verify")
    assert (verdict["whole"], verdict["gaps"], verdict["accepted"]) == (True, 0, gap["events"])
    month = next((person.store / "audit/tenants/acme").glob("*.jsonl"))
    lines = month.read_bytes().splitlines(keepends=True)
    month.write_bytes(b"".join(lines[:2]))
    assert person("audit", "verify").exit_code == 1, "another gap, of which the owner said nothing"
    month.write_bytes(b"".join(lines))
    assert person("audit", "verify").exit_code == 0


def test_an_older_list_accepts_no_gap(lost: Lost) -> None:
    """A list of statements that is not the one that was written accepts nothing, and the gap is red again."""
    lost.restore()
    lost.accept()
    assert lost.person("audit", "verify").exit_code == 0
    listed = lost.person.store / "rights/statements.log"
    raw = listed.read_bytes()
    listed.write_bytes(b"".join(raw.splitlines(keepends=True)[:-1]))
    assert lost.person("audit", "verify").exit_code == 1
    listed.write_bytes(raw)
    assert lost.person("audit", "verify").exit_code == 0


def test_what_cannot_be_taken_is_listed(lost: Lost) -> None:
    """A ledger that is not the one that was written, or a link, is left behind and told; the others come."""
    ledgers = lost.old / "ledger/memory/acme"
    wed = ledgers / "ada/atlas/wednesday.log"
    raw = wed.read_bytes()
    wed.write_bytes(raw.replace(b'"event":"genesis"', b'"event":"genes1s"'))
    bobs = ledgers / "bob/atlas/monday.log"
    bobs.rename(lost.person.place / "apart")
    bobs.symlink_to(lost.person.place / "apart")
    code, told = lost.restore("--old", str(lost.old))
    assert code == 1
    paths = ["memory/acme/ada/atlas/wednesday", "memory/acme/bob/atlas/monday"]
    assert [path for path, _ in told["left"]] == paths
    assert told["passed_by"] == ["ledger/memory/acme/bob/atlas/monday.log"]
    assert told["begun"] == ["state/acme/atlas/%n."]
    assert not any(one.is_symlink() for one in lost.person.store.rglob("*"))


def test_a_planted_namespace_is_not_taken(lost: Lost) -> None:
    """What the trust home does not know is no part of the store, whatever its ledger says."""
    person, trust = lost.person, lost.person.trust
    (anchors,) = trust.rglob("anchors/memory/acme/bob/atlas.anchors")
    anchors.unlink()
    code, told = lost.restore("--old", str(lost.old))
    assert code == 1
    ((path, _),) = told["left"]
    assert path == "memory/acme/bob/atlas/monday"
    assert person("show", lost.bob, **BOB).exit_code != 0


def test_a_record_whose_line_a_power_cut_took(lost: Lost) -> None:
    """A record that goes on from the ledger of what is left is taken, and its line is written again."""
    for name in ("bob/atlas/monday", "ada/atlas/monday"):
        ledger = lost.old / f"ledger/memory/acme/{name}.log"
        ledger.write_bytes(b"".join(ledger.read_bytes().splitlines(keepends=True)[:-1]))
    code, told = lost.restore("--old", str(lost.old))
    assert (code, told["lost"]) == (0, [])
    assert lost.person.json("show", lost.bob, **BOB)["text"] == "d"
    assert lost.person.json("show", lost.later)["text"] == "b"


def test_a_copied_audit_line_is_not_taken(lost: Lost) -> None:
    """Of what is left of an audit only lines that follow are taken: no copy, no other tenant's, no junk."""
    month = next((lost.old / "audit/tenants/acme").glob("*.jsonl"))
    lines = month.read_bytes().splitlines(keepends=True)
    month.write_bytes(b"".join((*lines[:2], lines[0], *lines[2:], b"junk\n", lines[3], b'{"seq":99')))
    code, told = lost.restore("--old", str(lost.old))
    assert (code, told["audits"]) == (0, [])
    put = next(Path(lost.person.store, "audit/tenants/acme").glob("*.jsonl"))
    assert put.read_bytes() == b"".join(lines)
