"""Each value has its source, in one order of precedence, and what nobody said is missing."""

from pathlib import Path

import pytest

import nsstore
from nsstore.errors import InvalidInput
from nsstore.host import Source, infer
from nsstore.host.checkouts import Checkout, checkouts_of
from nsstore.host.inference import NAMES
from tests.host.conftest import commit, git, repository

Environ = dict[str, str]


@pytest.fixture
def environ(tmp_path: Path) -> Environ:
    """The variables of somebody whose configuration names a store, a tenant and a user."""
    store, config = tmp_path / "kept" / "store", tmp_path / "config.toml"
    nsstore.open(store, create=True).close()
    config.write_text(f'store = "{store}"\ntenant = "acme"\nuser = "ada"\nsession = "terminal"\n')
    return {"NSSTORE_CONFIG": str(config)}


def bind(environ: Environ, where: Path, project: str = "atlas", *, versioned: bool = True) -> Checkout:
    """Bind a directory by the owner's word."""
    store = infer({}, environ, "/")["store"]
    assert store is not None
    with checkouts_of(store) as checkouts:
        return checkouts.bind(str(where), project, versioned=versioned)


def test_a_bound_checkout_knows_its_scope(environ: Environ, atlas: Path) -> None:
    """Configuration, checkout and git together give every dimension, each with its source."""
    bound = bind(environ, atlas)
    head = git(atlas, "rev-parse", "HEAD")
    found = infer({}, environ, str(atlas))
    assert found.checkout == bound
    told = {name: (one.value, one.source) for name, one in found.values.items() if one.value is not None}
    assert told == {
        "store": (str(Path(environ["NSSTORE_CONFIG"]).parent / "kept" / "store"), Source.CONFIGURATION),
        "tenant": ("acme", Source.CONFIGURATION),
        "user": ("ada", Source.CONFIGURATION),
        "session": ("terminal", Source.CONFIGURATION),
        "project": ("atlas", Source.CHECKOUT),
        "workspace": (bound.workspace_id, Source.CHECKOUT),
        "branch": ("main", Source.GIT),
        "baseline": (head, Source.GIT),
        "commit": (head, Source.GIT),
    }
    assert found.ancestors == {head}


def test_flags_then_variables_then_configuration(environ: Environ, atlas: Path) -> None:
    """What is nearer to the request wins, also over the other of its pair."""
    bind(environ, atlas)
    env = {**environ, "NSSTORE_USER": "bob", "NSSTORE_GROUP": "choir", "NSSTORE_BRANCH": "x"}
    found = infer({"user": "eve", "conversation": "chat"}, env, str(atlas))
    assert (found["user"], found.values["user"].source) == ("eve", Source.FLAG)
    assert (found["group"], found["tenant"]) == ("choir", None)
    assert (found["conversation"], found["session"]) == ("chat", None)
    assert (found["branch"], found.values["branch"].source) == ("x", Source.VARIABLE)


def test_a_commit_belongs_to_gits_branch(environ: Environ, atlas: Path) -> None:
    """Under a branch that git did not tell, git's commit and its ancestors are not claimed."""
    bind(environ, atlas)
    found = infer({"branch": "other"}, environ, str(atlas))
    assert (found["commit"], found.ancestors) == (None, frozenset())
    found = infer({"commit": "0" * 40}, environ, str(atlas))
    assert found.ancestors == frozenset()


def test_an_unbound_directory_says_nothing(environ: Environ, atlas: Path, tmp_path: Path) -> None:
    """A repository that the owner bound to nothing gives neither project nor branch, whatever its remote."""
    bind(environ, atlas)
    evil = repository(tmp_path / "evil", "git@example.com:acme/atlas.git")
    found = infer({}, environ, str(evil))
    assert found.checkout is None
    assert {
        name for name, one in found.values.items() if one.source in (Source.CHECKOUT, Source.GIT)
    } == set()
    found = infer({"project": "atlas"}, environ, str(evil))
    assert (found["branch"], found["baseline"], found["commit"], found["workspace"]) == (None,) * 4


def test_a_checkout_speaks_for_its_own_project(environ: Environ, atlas: Path) -> None:
    """Under another project neither its workspace nor its branch is claimed."""
    bind(environ, atlas)
    found = infer({"project": "other"}, environ, str(atlas))
    assert (found["workspace"], found["branch"], found["commit"]) == (None, None, None)
    assert infer({"project": "atlas"}, environ, str(atlas))["branch"] == "main"


def test_another_work_tree_cannot_answer(environ: Environ, atlas: Path, tmp_path: Path) -> None:
    """A bound repository whose configuration names another work tree tells nothing of that one."""
    bind(environ, atlas)
    other = repository(tmp_path / "other")
    git(atlas, "config", "core.worktree", str(other))
    found = infer({}, environ, str(atlas))
    assert (found["project"], found["branch"], found["commit"]) == ("atlas", None, None)


def test_each_call_asks_again(environ: Environ, atlas: Path) -> None:
    """A new branch and a new commit count from the next call on."""
    bind(environ, atlas)
    git(atlas, "checkout", "-q", "-b", "feature/x")
    head = commit(atlas, "b")
    found = infer({}, environ, str(atlas))
    assert (found["branch"], found["commit"], len(found.ancestors)) == ("feature/x", head, 2)


def test_a_directory_without_git_has_no_branch_by_the_owners_word(environ: Environ, tmp_path: Path) -> None:
    """Bound as no work tree, branch and baseline are not applicable; once it is one, git tells them."""
    notes = tmp_path / "notes"
    notes.mkdir()
    bind(environ, notes, versioned=False)
    found = infer({}, environ, str(notes))
    assert (found["branch"], found["baseline"], found["commit"]) == ("-", "-", None)
    git(notes, "init", "-q", "-b", "main")
    commit(notes)
    assert infer({}, environ, str(notes))["branch"] == "main"


def test_a_work_tree_without_its_git_is_missing_its_branch(environ: Environ, atlas: Path) -> None:
    """What was bound as a work tree and is none any more says nothing in git's place."""
    bind(environ, atlas)
    (atlas / ".git").rename(atlas / "git-away")
    found = infer({}, environ, str(atlas))
    assert (found["project"], found["branch"], found["baseline"]) == ("atlas", None, None)


def test_without_anything_all_is_missing(tmp_path: Path) -> None:
    """No flag, variable, file or checkout: every value is missing, and none is made up."""
    found = infer({}, {"NSSTORE_CONFIG": str(tmp_path / "none")}, str(tmp_path))
    assert {one.source for one in found.values.values()} == {Source.MISSING}
    assert tuple(found.values) == NAMES


def test_an_empty_variable_is_a_mistake(environ: Environ) -> None:
    """A variable that is set but empty is refused; a flag in its place is not."""
    with pytest.raises(InvalidInput, match="NSSTORE_USER"):
        infer({}, {**environ, "NSSTORE_USER": ""}, "/")
    assert infer({"user": "eve"}, {**environ, "NSSTORE_USER": ""}, "/")["user"] == "eve"
