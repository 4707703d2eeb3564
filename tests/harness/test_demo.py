"""The demonstration shows what is so, and says when it is not."""

import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from nsstore.audit import AuditVerdict
from nsstore.harness import demo
from nsstore.harness.demo import Verdict, run
from nsstore.root import Root
from nsstore.search.engine import Answer
from nsstore.session import Session


@pytest.fixture(scope="module")
def verdict() -> Verdict:
    """One honest run."""
    return run()


def broken(verdict: Verdict) -> list[str]:
    """What did not hold."""
    return [step.what for step in verdict.steps if not step.held]


def test_it_holds_here(verdict: Verdict) -> None:
    """Every step holds on this machine, in well under ten seconds."""
    assert broken(verdict) == []
    assert verdict.held
    assert verdict.seconds < 10


def test_it_shows_every_claim(verdict: Verdict) -> None:
    """Each claim of the demonstration is among the steps: own finds, each way to cross, the flip."""
    whats = [step.what for step in verdict.steps]
    for words in (
        "acme/ada/atlas/monday asks", "globex/bob/atlas/monday asks", "search for monday's words",
        "from another session", "from another project", "from another tenant", "that never was", "(..)",
        "session_id = None", "metadata that names tenant_id", "audit of acme", "one byte of its file",
    ):  # fmt: skip
        assert any(words in what for what in whats), words
    flipped = next(step for step in verdict.steps if "one byte" in step.what)
    assert "(incident " in flipped.told


def test_it_shows_files_and_a_record(verdict: Verdict) -> None:
    """The tree holds records, ledgers, audits, keys and anchors; the record is one whole file."""
    assert sum(line.startswith("store/memory/") for line in verdict.tree) == 4
    for start in (
        "store/ledger/memory/acme/",
        "store/audit/tenants/globex/",
        "trust/anchors/",
        "trust/keys.json",
    ):
        assert any(line.startswith(start) for line in verdict.tree), start
    assert verdict.record.startswith('---\ntype: "memory"\n')
    assert verdict.record.endswith("---\nThe release notes are Ada's to write.")


def test_nothing_outlives_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After a run, whole or broken off, nothing of it is left, and no trust home of the user was touched."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("NSSTORE_TRUST_HOME", str(tmp_path / "mine"))
    run()
    assert list(tmp_path.iterdir()) == []
    monkeypatch.setattr(demo, "flip", _stumble)
    with pytest.raises(ZeroDivisionError):
        run()
    assert list(tmp_path.iterdir()) == []


def _stumble(*_: object) -> None:
    raise ZeroDivisionError


def _lenient_get(self: Session, record_id: str) -> object:
    """A store that denies nothing: it answers with whatever its process wrote last."""
    return _Anything(record_id, self)


class _Anything:
    def __init__(self, record_id: str, session: Session) -> None:
        self.record_id = record_id
        self.provenance = session.list().items[0].provenance


def _no_flip(root: Root, path: str) -> None:
    del root, path


def _not_whole(*_: object) -> AuditVerdict:
    return AuditVerdict(events=1, whole=False, gaps=0, faults=("a fault",))


def _no_metadata_rule(ext: object, *, original: str | None = None) -> object:
    del ext, original
    return None


_SEARCH = Session.search


class LeakySearch:
    """A search that gives everybody the first asker's answer."""

    def __init__(self) -> None:
        self.first: Answer | None = None

    def __call__(self, session: Session, text: str, *, k: int = 10) -> Answer:
        if self.first is None:
            self.first = _SEARCH(session, text, k=k)
        return self.first


def _leaky_search() -> Callable[..., Answer]:
    leaky = LeakySearch()

    def search(session: Session, text: str, *, k: int = 10) -> Answer:
        return leaky(session, text, k=k)

    return search


SABOTAGES: list[tuple[str, Callable[..., object], str]] = [
    ("nsstore.harness.demo.flip", _no_flip, "one byte of its file was changed"),
    ("nsstore.harness.demo.verify", _not_whole, "the audit of acme is one whole chain"),
    ("nsstore.session.session.Session.get", _lenient_get, "from another tenant"),
    ("nsstore.session.session.Session.search", _leaky_search(), "acme/ada/atlas/tuesday asks"),
    ("nsstore.record.check_ext", _no_metadata_rule, "metadata that names tenant_id"),
]


@pytest.mark.parametrize(("target", "sabotage", "what"), SABOTAGES, ids=[what for *_, what in SABOTAGES])
def test_a_broken_store_is_told(
    monkeypatch: pytest.MonkeyPatch, target: str, sabotage: Callable[..., object], what: str
) -> None:
    """When one thing the demonstration claims is not so, its step and the whole verdict say it."""
    monkeypatch.setattr(target, sabotage)
    verdict = run()
    assert not verdict.held
    assert any(what in one for one in broken(verdict))
