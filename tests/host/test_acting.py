"""Acting for an agent: what is not known is refused with a way out, and nothing is defaulted."""

from collections.abc import Callable
from pathlib import Path

import pytest

from nsstore.errors import InvalidInput
from nsstore.host.acting import Acting
from tests.cli.conftest import SCOPE, Person

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


def test_a_handed_session_wins_over_the_configuration(acting: Callable[..., Acting], tmp_path: Path) -> None:
    """A configuration says what holds in general; the client says which session this is."""
    (tmp_path / "config.toml").write_text('session = "general"\n')
    one = acting("SESSION", client="claude-code", handed="s-7")
    assert one.session().envelope.scope.session_id == "s-7"
    one.close()
    two = acting(client="claude-code")
    assert two.session().envelope.scope.session_id == "general"
    two.close()


def test_what_was_closed_opens_again(acting: Callable[..., Acting]) -> None:
    """Closing is final for nothing: the next call opens the store again."""
    one = acting()
    kept = one.session().remember("a")
    one.close()
    assert one.session().get(kept.record_id).text == "a"
    one.close()
    one.close()
