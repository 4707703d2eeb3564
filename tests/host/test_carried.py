"""What a client's settings in a repository could say to its hooks and its server widens nothing."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from nsstore.errors import InvalidInput, Refused, StoreError
from nsstore.host import carried
from nsstore.host.acting import Acting
from nsstore.host.handover import read_session, write_session
from tests.cli.conftest import Person
from tests.host.conftest import git, repository

CLIENT = "claude-code"
WHO = 'store = "{}"\ntenant = "acme"\nuser = "ada"\n'
Act = Callable[..., Acting]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A bound checkout in which a client stands, with its user's configuration elsewhere."""
    for name in os.environ:
        if name.startswith(("NSSTORE_", "XDG_")):
            monkeypatch.delenv(name)
    person = Person(tmp_path / "kept")
    person.place.mkdir()
    person.env |= {"NSSTORE_CONFIG": str(tmp_path / "config.toml")}
    monkeypatch.setenv("NSSTORE_TRUST_HOME", str(person.trust))
    monkeypatch.setenv("NSSTORE_CONFIG", str(tmp_path / "config.toml"))
    (tmp_path / "config.toml").write_text(WHO.format(person.store))
    person.ok("init", str(person.store))
    atlas = repository(tmp_path / "atlas")
    person.ok("allow", str(atlas), "--project", "atlas", "--unattended")
    monkeypatch.chdir(atlas)
    return atlas


@pytest.fixture
def act(place: Path) -> Act:  # noqa: ARG001 - it stands there
    """What acts for a client's agent, with flags as its user's settings have them."""

    def made(**flags: str) -> Acting:
        return Acting(
            client=CLIENT, source_tool="test", flags={"agent": CLIENT, **flags}, handed=lambda _: "s-1"
        )

    return made


def test_an_unbound_repository_claims_nothing(act: Act, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A clone whose settings name the project, workspace, branch and baseline of another is none of it."""
    one = act()
    one.session().remember("the launch code is 0000")
    scope = one.session().envelope.scope
    one.close()
    monkeypatch.chdir(repository(place.parent / "evil"))
    for name, value in (
        ("PROJECT", scope.project_id),
        ("WORKSPACE", scope.workspace_id),
        ("BRANCH", scope.branch),
        ("BASELINE", scope.baseline),
    ):
        monkeypatch.setenv(f"NSSTORE_{name}", str(value))
    two = act()
    with pytest.raises(InvalidInput, match=r"lacks project.*NSSTORE_PROJECT"):
        two.session()
    assert two.at_once() is None
    two.close()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("STORE", "/other"), ("TENANT", "globex"), ("GROUP", "choir"), ("USER", "bob"), ("PROJECT", "other"),
        ("WORKSPACE", "w"), ("BRANCH", "dev"), ("BASELINE", "v1"), ("COMMIT", "0" * 40), ("ROLE", "auditor"),
        ("TASK", "t"), ("TOOL_CONTEXT", "t"), ("CLEARANCE", "restricted"), ("PURPOSE", "maintain"),
    ],
)  # fmt: skip
def test_what_a_variable_says_otherwise_is_refused(
    act: Act, monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    """Another value than configuration, checkout and git have is refused by name; the same is no news."""
    monkeypatch.setenv(f"NSSTORE_{name}", value)
    one = act()
    with pytest.raises(InvalidInput, match=f"NSSTORE_{name} .*unset it"):
        one.session()
    with pytest.raises(InvalidInput, match=f"NSSTORE_{name} .*unset it"):
        one.at_once()
    monkeypatch.delenv(f"NSSTORE_{name}")
    scope = one.session().envelope.scope
    monkeypatch.setenv("NSSTORE_PROJECT", "atlas")
    monkeypatch.setenv("NSSTORE_BRANCH", "main")
    monkeypatch.setenv("NSSTORE_CLEARANCE", "internal")
    assert one.session().envelope.scope == scope
    one.close()


def test_what_narrows_counts(act: Act, monkeypatch: pytest.MonkeyPatch) -> None:
    """A session, and a lower clearance, can be said by a variable; nothing more is read by either."""
    monkeypatch.setenv("NSSTORE_SESSION", "monday")
    monkeypatch.setenv("NSSTORE_CLEARANCE", "public")
    one = act()
    envelope = one.session().envelope
    assert (envelope.scope.session_id, envelope.clearance) == ("monday", "public")
    one.close()


def test_a_flag_is_the_users_word(act: Act, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the user wrote as a flag into the client's own settings holds, whatever a variable says."""
    monkeypatch.setenv("NSSTORE_PURPOSE", "maintain")
    monkeypatch.setenv("NSSTORE_TASK", "t-2")
    monkeypatch.setenv("NSSTORE_AGENT", "human")
    one = act(purpose="handoff", task="t-1")
    envelope = one.session().envelope
    assert (envelope.purpose, envelope.scope.task_id, envelope.scope.agent_id) == ("handoff", "t-1", CLIENT)
    one.close()


def test_an_empty_variable_is_a_mistake(act: Act, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is set but empty is refused, as everywhere."""
    monkeypatch.setenv("NSSTORE_USER", "")
    with pytest.raises(InvalidInput, match="NSSTORE_USER"):
        act().session()


@pytest.mark.usefixtures("place")
def test_without_a_client_variables_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """A host that starts the server itself says with them who asks."""
    monkeypatch.setenv("NSSTORE_SESSION", "monday")
    monkeypatch.setenv("NSSTORE_USER", "bob")
    one = Acting(client=None, source_tool="test", flags={"agent": "claude"})
    assert one.session().envelope.scope.user_id == "bob"
    one.close()


PLACES = {
    "NSSTORE_CONFIG": "config.toml",
    "NSSTORE_TRUST_HOME": "trust",
    "NSSTORE_CACHE_HOME": "cache",
    "XDG_CONFIG_HOME": "x",
    "XDG_STATE_HOME": "x",
    "XDG_CACHE_HOME": "x",
    "HOME": "x",
}


@pytest.mark.parametrize("name", PLACES)
@pytest.mark.parametrize("below", [False, True])
def test_no_place_of_the_users_lies_in_the_checkout(
    act: Act, place: Path, monkeypatch: pytest.MonkeyPatch, name: str, *, below: bool
) -> None:
    """Configuration, keys or views that a repository could bring along are refused, from below it too."""
    if name.startswith(("XDG_", "HOME")):
        monkeypatch.delenv("NSSTORE_CONFIG")
        monkeypatch.delenv("NSSTORE_TRUST_HOME")
        for other in ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"):
            monkeypatch.setenv(other, str(place.parent / "own"))
            if name == "HOME":
                monkeypatch.delenv(other)
    (place.parent / "linked").symlink_to(place)
    monkeypatch.setenv(name, str(place.parent / "linked" / PLACES[name]))
    if below:
        (place / "src").mkdir()
        monkeypatch.chdir(place / "src")
    with pytest.raises(Refused, match="lies in the checkout") as refused:
        act().at_once()
    assert str(place) not in str(refused.value)
    if name == "NSSTORE_TRUST_HOME":
        with pytest.raises(Refused, match="lies in the checkout"):
            write_session(CLIENT, "s-1")
        assert not (place / "trust").exists()


def test_a_user_may_stand_in_their_home(
    act: Act, place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is around the user's own home was brought along by nobody: it is bound to nothing, that is all."""
    git(tmp_path, "init", "-q")
    monkeypatch.setattr(carried, "own_home", lambda: str(tmp_path))
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InvalidInput, match="lacks project"):
        act().session()
    write_session(CLIENT, "s-1")
    assert read_session(CLIENT) == "s-1"
    monkeypatch.setattr(carried, "own_home", lambda: None)
    with pytest.raises(StoreError, match="lies in the checkout"):
        act().session()
    assert place.exists()
