"""Who asks comes from flags and variables, and from nowhere else."""

from typing import Any

import pytest

from nsstore.cli.flags import BY_NAME, DIMENSIONS, PURPOSES, SENSITIVITIES, Dimension
from nsstore.scope import Purpose, Sensitivity
from tests.cli.conftest import SCOPE, Person

FREE = [one for one in DIMENSIONS if not one.choices]
REQUIRED = ("tenant", "user", "project", "session", "workspace", "branch", "baseline")


def scope_of(person: Person, *args: str, **env: str | None) -> dict[str, Any]:
    """The sealed scope of a record that is remembered now."""
    record_id = person.remember("where am I", *args, **env)
    scope: dict[str, Any] = person.json("show", record_id, *args, **env)["provenance"]["scope"]
    return scope


@pytest.mark.parametrize("name", REQUIRED)
def test_a_missing_dimension_is_refused(person: Person, name: str) -> None:
    """A dimension that neither flag nor variable gives is refused, and both are named."""
    done = person("list", **{f"NSSTORE_{name.upper()}": None})
    assert done.exit_code == 3
    assert f"--{name} (NSSTORE_{name.upper()}" in done.stderr


def test_everything_missing_is_named_at_once(person: Person) -> None:
    """One refusal names every missing dimension, so that nobody has to ask seven times."""
    done = person("list", **dict.fromkeys(SCOPE, None))
    assert all(BY_NAME[name].spelled in done.stderr for name in REQUIRED)


def test_the_store_is_never_guessed(person: Person) -> None:
    """Without --store and NSSTORE_STORE nothing is opened."""
    done = person("list", NSSTORE_STORE=None)
    assert done.exit_code == 3
    assert "--store" in done.stderr
    assert "NSSTORE_STORE" in done.stderr


def test_flags_and_variables_mean_the_same(person: Person) -> None:
    """A record remembered by flags is found by variables, and the other way round."""
    flags = [part for name in REQUIRED for part in (f"--{name}", SCOPE[f"NSSTORE_{name.upper()}"])]
    first = person.remember("by flags", *flags, **dict.fromkeys(SCOPE, None))
    assert person.json("show", first)["text"] == "by flags"
    second = person.remember("by variables")
    assert person.json("show", second, *flags, **dict.fromkeys(SCOPE, None))["text"] == "by variables"


def test_a_flag_wins_over_its_variable(person: Person) -> None:
    """What is typed holds, also against a variable of the same pair."""
    assert scope_of(person, "--project", "other")["project_id"] == "other"
    scope = scope_of(person, "--conversation", "chat")
    assert (scope["session_id"], scope["conversation_id"]) == (None, "chat")
    scope = scope_of(person, "--group", "choir")
    assert (scope["tenant_id"], scope["group_id"]) == (None, "choir")


@pytest.mark.parametrize(("one", "other"), [("tenant", "group"), ("session", "conversation")])
def test_a_pair_is_not_given_twice(person: Person, one: str, other: str) -> None:
    """Both flags, or both variables, of a pair are refused: neither is guessed to be meant."""
    assert person("list", f"--{one}", "a", f"--{other}", "b").exit_code == 3
    assert person("list", **{f"NSSTORE_{other.upper()}": "b"}).exit_code == 3


@pytest.mark.parametrize("dimension", DIMENSIONS, ids=lambda one: one.name)
def test_an_empty_variable_is_refused(person: Person, dimension: Dimension) -> None:
    """A variable that is set but empty is a mistake of some script, and never means `left out`."""
    done = person("list", **{dimension.variable: ""})
    assert done.exit_code == 3
    assert dimension.variable in done.stderr


@pytest.mark.parametrize("dimension", FREE, ids=lambda one: one.name)
def test_an_empty_or_wild_flag_is_refused(person: Person, dimension: Dimension) -> None:
    """No flag of the scope takes an empty value, a wildcard or a way up."""
    for value in ("", "*", "..", "$HOME", *(() if dimension.metavar == "WORD" else ("null",))):
        done = person("list", dimension.flag, value)
        assert done.exit_code == 3, value


def test_not_applicable_is_said_with_a_dash(person: Person) -> None:
    """`-` is not applicable for the three dimensions that may lack, equal only to itself."""
    scope = scope_of(person)
    assert (scope["workspace_id"], scope["branch"], scope["baseline"]) == ("-", "-", "-")
    record_id = person.remember("on no branch")
    assert person("show", record_id, "--branch", "main").exit_code == 4


@pytest.mark.parametrize("dimension", [one for one in FREE if not one.may_lack], ids=lambda one: one.name)
def test_a_dash_is_nothing_else(person: Person, dimension: Dimension) -> None:
    """For every other dimension `-` is refused: it is no id."""
    assert person("list", dimension.flag, "-").exit_code == 3


def test_only_the_stated_values_are_defaults(person: Person) -> None:
    """The agent is human and the source tool nsstore-cli; what is optional stays absent."""
    record_id = person.remember("defaults")
    found = person.json("show", record_id)
    assert found["provenance"]["scope"]["agent_id"] == "human"
    assert found["provenance"]["source_tool"] == "nsstore-cli"
    assert (found["provenance"]["scope"]["tool_context"], found["provenance"]["scope"]["task_id"]) == (
        None,
        None,
    )
    defaults = {one.name: one.default for one in DIMENSIONS if one.default is not None}
    assert defaults == {"agent": "human", "clearance": "internal", "purpose": "recall"}


def test_another_scope_sees_nothing(person: Person) -> None:
    """Whatever dimension differs, the record is not visible and the answer is the same."""
    record_id = person.remember("mine")
    answers: set[str] = set()
    for name in REQUIRED:
        done = person("show", record_id, f"--{name}", "other")
        assert done.exit_code == 4, name
        answers.add(done.stderr)
    answers.add(person("show", record_id, "--agent", "other").stderr)
    assert answers == {f"nsstore: not_visible: {record_id} is not visible in this scope\n"}


def test_clearance_is_internal_unless_said(person: Person) -> None:
    """A record above the clearance is neither written nor read without naming the clearance."""
    assert person("remember", "x", "--sensitivity", "restricted").exit_code == 5
    record_id = person.remember("x", "--sensitivity", "restricted", "--clearance", "restricted")
    assert person("show", record_id).exit_code == 4
    assert person("show", record_id, "--clearance", "restricted").exit_code == 0


ALLOWED = [one for one in DIMENSIONS if one.plural]


@pytest.mark.parametrize("dimension", ALLOWED, ids=lambda one: one.name)
def test_what_is_allowed_beside_the_current_one(person: Person, dimension: Dimension) -> None:
    """Flags, and a variable with a JSON list, allow others beside the current one; flags win."""
    current = dimension.name.removeprefix("allowed_")
    record_id = person.remember("elsewhere", f"--{current}", "one, two")
    assert person("show", record_id).exit_code == 4
    assert person.json("show", record_id, dimension.flag, "one, two", dimension.flag, "-")["stale"] is True
    lists = {dimension.variable: '["x y", "one, two", "-"]'}
    assert person.json("show", record_id, **lists)["stale"] is True
    assert person("show", record_id, dimension.flag, "x y", **lists).exit_code == 4
    assert person.json("show", record_id, f"--{current}", "one, two", **lists)["stale"] is False


@pytest.mark.parametrize("value", ["main", '"main"', "[1]", "[null]", "[", "[" * 9999, '["*"]', '[""]', "{}"])
@pytest.mark.parametrize("dimension", ALLOWED, ids=lambda one: one.name)
def test_a_list_that_is_none_is_refused(person: Person, dimension: Dimension, value: str) -> None:
    """A variable of allowed ones that is no JSON list of ids is refused by its name."""
    done = person("list", **{dimension.variable: value})
    assert done.exit_code == 3
    assert dimension.plural
    assert dimension.plural in done.stderr.lower()


def test_role_and_commit_reach_the_session(person: Person) -> None:
    """The commit is sealed into the record; an abbreviated one and a role that is no word are refused."""
    commit = "0123456789abcdef0123456789abcdef01234567"
    record_id = person.remember("here", "--commit", commit, NSSTORE_ROLE="reviewer")
    assert f"commit: {commit}\n".encode() in person.file_of(record_id).read_bytes().replace(b'"', b"")
    assert person("list", "--commit", commit[:8]).exit_code == 3
    assert person("list", "--role", "Chief Reviewer").exit_code == 3


def test_the_choices_are_the_librarys() -> None:
    """The words of --clearance, --sensitivity and --purpose are the enums', in their order."""
    assert tuple(Sensitivity) == SENSITIVITIES
    assert tuple(Purpose) == PURPOSES
