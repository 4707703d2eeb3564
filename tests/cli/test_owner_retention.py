"""Retention at the command line: set, shown, listed, applied and taken back."""

import json

import pytest

from nsstore.layout import RIGHTS_LIST
from tests.cli.conftest import Person, unattended

pytestmark = pytest.mark.usefixtures("quick_keys")
SET = ("owner", "retention", "set", "--tenant", "acme", "--why", "the law")
SHOW = ("owner", "retention", "show")


def test_retention_from_beginning_to_end(owner: Person) -> None:
    """What is set is shown and applied; a change leaves the rest; a revocation undoes the newest one."""
    assert "nothing is set" in owner.ok(*SHOW)
    sure = unattended(owner)
    first = owner.json(*SET, "--keep", "standard=90", "--keep", "scratch=7d", "--hold", "evidence", *sure)
    assert first == {
        "number": 1,
        "tenant": "acme",
        "days": {"scratch": 7, "standard": 90},
        "held": ["evidence", "legal_hold"],
        "released": [],
        "trusted_until": None,
    }
    held = owner.remember("held", "--retention-class", "evidence")
    assert owner("forget", held).exit_code == 5
    scratch = owner.json("show", owner.remember("x", "--retention-class", "scratch"))
    assert scratch["expires_at"] is not None
    until = ("--trusted-until", "2027-01-31T12:00:00+01:00")
    second = owner.json(*SET, "--keep", "scratch=always", "--release", held, *until, *sure)
    assert (second["days"], second["released"]) == ({"standard": 90}, [held])
    assert (second["held"], second["trusted_until"]) == (first["held"], "2027-01-31T11:00:00.000000Z")
    assert owner.json(*SHOW) == second
    shown = owner.ok(*SHOW)
    for words in ("kept as standard: 90 days", "held: legal_hold, evidence", f"released: {held}"):
        assert words in shown
    assert json.loads(owner.ok("owner", "retention", "list", "--json")) == [second]
    assert "standard: 90 days; held: legal_hold, evidence" in owner.ok("owner", "retention", "list")
    listed = json.loads(owner.ok("owner", "list", "--json"))
    assert [(one["state"], one["what"], one["to"]) for one in listed[1:]] == [
        ("replaced", "retention", "tenant=acme"),
        ("live", "retention", "tenant=acme"),
    ]
    assert "no grants in force" in owner.ok("check")
    owner.ok("owner", "revoke", "2", "--why", "too much", *sure)
    assert owner.json(*SHOW) == first
    assert owner("forget", held).exit_code == 5
    owner.ok(*SET, "--lift", "evidence", *sure)
    owner.ok("forget", held)
    assert owner.json(*SHOW, NSSTORE_TENANT="umbrella") is None


def test_the_audit_says_what_it_was(owner: Person) -> None:
    """What is set for a tenant is no grant in its audit, and taking it back names the same statement."""
    sure = unattended(owner)
    owner.ok(*SET, "--keep", "standard=90", *sure)
    owner.ok("owner", "revoke", "1", "--why", "too long", *sure)
    events = [json.loads(line) for line in owner.ok("audit", "--json").splitlines()]
    assert [(one["event"], one["reason"]) for one in events if one["verb"] == "owner"] == [
        ("retention_set", "statement 1"),
        ("revoked", "statement 2"),
    ]


@pytest.mark.parametrize(
    "given",
    [
        (),
        ("--keep", "standard"),
        ("--keep", "standard=0"),
        ("--keep", "standard=36526"),
        ("--keep", "standard=-1"),
        ("--keep", "legal_hold=9"),
        ("--lift", "legal_hold"),
        ("--lift", "evidence"),
        ("--release", "x"),
        ("--hold", "*"),
        ("--trusted-until", "2027-01-31"),
        ("--hold", "evidence", "--group", "acme"),
    ],
)
def test_what_cannot_be_set(owner: Person, given: tuple[str, ...]) -> None:
    """No change, no duration for ever, nothing that loosens legal_hold: refused, and no statement is made."""
    assert owner(*SET, *given, *unattended(owner)).exit_code == 3
    assert len(json.loads(owner.ok("owner", "list", "--json"))) == 1


def test_a_list_without_an_owner(person: Person) -> None:
    """A list that somebody put into a store without an owner holds nothing, and `check` says so."""
    record_id = person.remember("x")
    path = person.store / RIGHTS_LIST
    path.parent.mkdir(mode=0o700)
    path.write_text("mine")
    path.chmod(0o600)
    (found,) = person.json("check")["findings"]
    assert (found["path"], "never had an owner" in found["what"]) == (RIGHTS_LIST, True)
    person.ok("forget", record_id)


def test_a_list_nobody_can_trust(owner: Person) -> None:
    """Nothing is forgotten while it is not known what is held, and the error says why and what to do."""
    record_id = owner.remember("x")
    owner.ok(*SET, "--hold", "evidence", *unattended(owner))
    path = owner.store / RIGHTS_LIST
    path.write_bytes(path.read_bytes().replace(b"evidence", b"nothing_"))
    done = owner("forget", record_id)
    assert done.exit_code == 5
    assert "what the owner holds is not known" in done.stderr
    assert "nsstore check" in done.stderr
    (found,) = owner.json("check")["findings"]
    assert "all is held" in found["what"]
    assert "mode 0600" in found["remedy"]
    for verb in (SHOW, ("owner", "retention", "list")):
        assert owner(*verb).exit_code == 5
