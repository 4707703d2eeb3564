"""What `check` says of a namespace that is closed for a loss: the owner's way out, where it is one."""

import json
import shutil
from collections.abc import Callable

import pytest

from tests.cli.conftest import Person, unattended
from tests.cli.test_backup_verbs import OWNERS
from tests.cli.test_check_verb import LEDGER, delete_ledger, empty_anchors, flip, forge_ledger_line, leaf

pytestmark = pytest.mark.usefixtures("quick_keys")
ACCEPT = "nsstore owner accept"
MONDAY = "memory/acme/ada/atlas/monday"


def delete_record(person: Person) -> None:
    """Remove one record."""
    next(leaf(person).iterdir()).unlink()


def older_ledger(person: Person) -> None:
    """Put the whole namespace back as it was a record before."""
    raw = (person.store / LEDGER).read_bytes()
    person.remember("later")
    (person.store / LEDGER).write_bytes(raw)
    newest = max(leaf(person).iterdir())
    newest.unlink()


def flip_a_record(person: Person) -> None:
    """Change a byte of the only record, which is still there."""
    flip(person)


def ways(person: Person) -> dict[str, str | None]:
    """The way out that --json names for each namespace."""
    return {one["path"]: one["way_out"] for one in person.json("check")["namespaces"]}


@pytest.mark.parametrize("harm", [delete_record, older_ledger, delete_ledger])
def test_a_loss_has_a_way_out(person: Person, harm: Callable[[Person], None]) -> None:
    """It is named for the namespace that is closed and for no other, and it works."""
    person.ok("owner", "init", "--name", "Ada", *unattended(person, OWNERS))
    person.remember("one")
    person.remember("two", NSSTORE_SESSION="tuesday")
    assert ways(person) == {MONDAY: None, "memory/acme/ada/atlas/tuesday": None}
    assert ACCEPT not in person.ok("check")
    harm(person)
    assert ways(person) == {MONDAY: ACCEPT, "memory/acme/ada/atlas/tuesday": None}
    shown = person("check").stdout
    assert f"1 closed namespace lacks what is lost: without a newer copy, `{ACCEPT} --dry-run` lists" in shown
    listed = json.loads(person.ok("owner", "accept", "--dry-run", "--json"))
    assert [one["path"] for one in listed["lost"]] == [MONDAY]
    person.ok("owner", "accept", "--why", "a test", *unattended(person, OWNERS))
    assert ways(person)[MONDAY] is None
    person.remember("it goes on")


@pytest.mark.parametrize("harm", [forge_ledger_line, empty_anchors, flip_a_record])
def test_what_is_not_accepted(person: Person, harm: Callable[[Person], None]) -> None:
    """Where the owner cannot accept what it is, no way out is named that would not be one."""
    person.ok("owner", "init", "--name", "Ada", *unattended(person, OWNERS))
    person.remember("one")
    harm(person)
    assert ways(person) == {MONDAY: None}
    shown = person("check").stdout
    assert "lacks what is lost" not in shown
    assert ACCEPT not in shown or "move it away, then" in shown
    assert json.loads(person("owner", "accept", "--dry-run", "--json").stdout)["lost"] == []


def test_an_altered_record_is_accepted_once_it_is_away(person: Person) -> None:
    """An altered record without a copy is to be moved away, says the remedy; then there is a way out."""
    person.ok("owner", "init", "--name", "Ada", *unattended(person, OWNERS))
    person.remember("one")
    flip(person)
    (finding,) = (one for one in person.json("check")["findings"] if one["kind"] == "altered")
    assert finding["remedy"].endswith(f"without a copy, move it away, then `{ACCEPT}`")
    (person.store / finding["path"]).rename(person.place / "away")
    assert ways(person) == {MONDAY: ACCEPT}


def test_a_namespace_of_which_nothing_is_left(person: Person) -> None:
    """It is named by nothing but the trust home: the remedy says how the owner gives it up."""
    person.remember("one")
    shutil.rmtree(leaf(person))
    (person.store / LEDGER).unlink()
    findings = person.json("check")["findings"]
    assert [one["remedy"] for one in findings if f"`{ACCEPT} --gone NAMESPACE`" in (one["remedy"] or "")]
