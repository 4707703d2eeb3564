"""Acting for an agent: what is not known is refused with a way out, and nothing is defaulted."""

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import nsstore
from nsstore.errors import InvalidInput
from nsstore.host.acting import Acting
from nsstore.host.checkouts import checkouts_of
from tests.cli.conftest import SCOPE, Person
from tests.host.conftest import repository

GIVEN = {**SCOPE, "NSSTORE_AGENT": "claude"}


@pytest.fixture
def acting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Acting]:
    """What acts for an agent in a process with a whole scope in its variables, but for what a test takes."""
    monkeypatch.setenv("NSSTORE_TRUST_HOME", str(tmp_path / "trust"))
    monkeypatch.setenv("NSSTORE_CONFIG", str(tmp_path / "config.toml"))
    person = Person(tmp_path)
    person.ok("init", str(person.store))
    monkeypatch.setenv("NSSTORE_STORE", str(person.store))
    for name, value in GIVEN.items():
        monkeypatch.setenv(name, value)

    def made(*without: str, client: str | None = None, handed: str | None = None, **flags: str) -> Acting:
        for name in without:
            monkeypatch.delenv(f"NSSTORE_{name}")
        if client is not None:  # what its user wrote into its settings: variables may be anybody's
            for name in {"NSSTORE_STORE", *GIVEN} - {"NSSTORE_SESSION"}:
                if name in os.environ:
                    flags.setdefault(name.removeprefix("NSSTORE_").lower(), os.environ[name])
        return Acting(client=client, source_tool="test", flags=flags, handed=lambda _: handed)

    return made


def test_the_whole_scope_is_that_of_the_host(acting: Callable[..., Acting]) -> None:
    """The session has exactly what the host knows, the tool's own name, and no more."""
    one = acting()
    envelope = one.session().envelope
    scope = envelope.scope
    assert (scope.user_id, scope.project_id, scope.session_id, scope.agent_id) == (
        "ada",
        "atlas",
        "monday",
        "claude",
    )
    assert (envelope.source_tool, envelope.clearance, envelope.purpose) == ("test", "internal", "recall")
    assert one.session() is one.session()
    one.close()


@pytest.mark.parametrize("name", ["TENANT", "USER", "PROJECT", "WORKSPACE", "BRANCH", "BASELINE", "AGENT"])
def test_nothing_is_defaulted(acting: Callable[..., Acting], name: str) -> None:
    """A dimension that nobody gave is named, with who can say it; not even the agent has a default."""
    one = acting(name)
    with pytest.raises(InvalidInput, match=f"lacks {name.lower()}.*nsstore scope"):
        one.session()
    assert one.at_once() is None
    one.close()


def test_no_store_is_said(acting: Callable[..., Acting]) -> None:
    """Without a store the way to one is named."""
    with pytest.raises(InvalidInput, match="nsstore setup"):
        acting("STORE").session()


def test_a_session_is_handed_over_or_refused(acting: Callable[..., Acting]) -> None:
    """What the client hands over holds; without it the hook is named, or the variable where no hook is."""
    assert acting("SESSION", client="claude-code", handed="s-7").session().envelope.scope.session_id == "s-7"
    with pytest.raises(InvalidInput, match="nsstore hook claude-code start"):
        acting(client="claude-code").session()
    with pytest.raises(InvalidInput, match="NSSTORE_SESSION"):
        acting().session()


@pytest.mark.parametrize("how", ["flag", "variable"])
def test_what_the_host_says_wins(acting: Callable[..., Acting], how: str) -> None:
    """A session by flag or variable wins over one that is handed over."""
    one = acting(client="claude-code", handed="s-7", **({"session": "flagged"} if how == "flag" else {}))
    wanted = {"flag": "flagged", "variable": "monday"}[how]
    assert one.session().envelope.scope.session_id == wanted
    one.close()


@pytest.mark.parametrize("client", ["claude-code", None])
def test_a_session_of_the_configuration_is_no_agents(
    acting: Callable[..., Acting], tmp_path: Path, client: str | None
) -> None:
    """The configuration names the session of what the user types: no agent writes into it."""
    (tmp_path / "config.toml").write_text('session = "terminal"\n')
    one = acting("SESSION", client=client)
    with pytest.raises(InvalidInput, match="NSSTORE_SESSION"):
        one.session()
    assert one.at_once() is None
    one.close()
    two = acting(client="claude-code", handed="s-7")
    assert two.session().envelope.scope.session_id == "s-7"
    two.close()
    three = acting(session="codex")
    assert three.session().envelope.scope.session_id == "codex"
    three.close()


def test_what_was_closed_opens_again(acting: Callable[..., Acting]) -> None:
    """Closing is final for nothing: the next call opens the store again."""
    one = acting()
    kept = one.session().remember("a")
    one.close()
    assert one.session().get(kept.record_id).text == "a"
    one.close()
    one.close()


class TwoStores:
    """Two stores in which one checkout is bound, to a project of each, and a configuration that names one."""

    def __init__(self, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.place = place
        for name in os.environ:
            if name.startswith("NSSTORE_"):
                monkeypatch.delenv(name)
        monkeypatch.setenv("NSSTORE_TRUST_HOME", str(place / "trust"))
        monkeypatch.setenv("NSSTORE_CONFIG", str(place / "config.toml"))
        atlas = repository(place / "atlas")
        for name in ("open", "secret"):
            nsstore.open(self.store(name), create=True).close()
            with checkouts_of(str(self.store(name))) as checkouts:
                checkouts.bind(str(atlas), name)
        monkeypatch.chdir(atlas)
        self.acting = Acting(client=None, source_tool="test", flags={})

    def store(self, name: str) -> Path:
        """Where a store is."""
        return self.place / name / "store"

    def name(self, path: Path) -> None:
        """Name a store in the configuration."""
        who = 'tenant = "acme"\nuser = "ada"\nagent = "claude"\n'
        (self.place / "config.toml").write_text(f'store = "{path}"\n{who}')

    def remembers(self, monkeypatch: pytest.MonkeyPatch) -> tuple[str, str]:
        """The project of a note that is written now, and the store in which its file lies."""
        monkeypatch.setenv("NSSTORE_SESSION", "s-1")
        session = self.acting.session()
        (file,) = self.place.rglob(f"{session.remember('a note').record_id}.md")
        return session.envelope.scope.project_id, file.relative_to(self.place).parts[0]


@pytest.fixture
def two(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[TwoStores]:
    """A server that may find another store named from one call to the next."""
    found = TwoStores(tmp_path, monkeypatch)
    yield found
    found.acting.close()


def test_a_store_that_the_configuration_changes(two: TwoStores, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who asks and where it is written are of one store, on each call, whichever is named by then."""
    for name in ("open", "secret", "secret", "open", "secret"):
        two.name(two.store(name))
        assert two.remembers(monkeypatch) == (name, name)


def test_a_store_behind_a_link_that_changes(two: TwoStores, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same name may lead to another store from one call to the next, with no word of it elsewhere."""
    link = two.place / "link"
    two.name(link)
    for name in ("open", "secret", "open"):
        link.unlink(missing_ok=True)
        link.symlink_to(two.store(name))
        assert two.remembers(monkeypatch) == (name, name)
        time.sleep(0.03)  # long enough for what is known to be taken as settled
        assert two.remembers(monkeypatch) == (name, name)


def test_a_store_that_is_named_no_more(two: TwoStores, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a store nothing is written into the one of before; who holds a session can end their work."""
    two.name(two.store("open"))
    two.remembers(monkeypatch)
    held = two.acting.session()
    (two.place / "config.toml").unlink()
    with pytest.raises(InvalidInput, match="nsstore setup"):
        two.acting.session()
    assert held.remember("done what was begun").record_id
