"""Who asks, dimension by dimension, and where each value came from; what nobody said stays missing.

A flag wins over its variable, that over the user's configuration, that over the bound checkout, that
over git. Nothing else is looked at, and nothing is made up. A checkout speaks for its own project
alone, and git only inside a checkout: a directory that the owner bound to nothing says nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

import msgspec

from nsstore.errors import InvalidInput
from nsstore.host.checkouts import Checkout, checkouts_of
from nsstore.host.config import Configuration, read_configuration
from nsstore.host.git import Facts, facts_at
from nsstore.root import real_path
from nsstore.root.owned import here
from nsstore.scope import NOT_APPLICABLE_TEXT

STORE: Final = "store"
PAIRS: Final = {
    "tenant": "group",
    "group": "tenant",
    "session": "conversation",
    "conversation": "session",
}
DIMENSIONS: Final = (
    "tenant", "group", "user", "project", "session", "conversation", "workspace", "branch", "baseline",
    "agent", "tool_context", "task", "role", "commit", "clearance", "purpose",
)  # fmt: skip
NAMES: Final = (STORE, *DIMENSIONS)


class Source(StrEnum):
    """Where a value came from, in the order of precedence."""

    FLAG = "flag"
    VARIABLE = "variable"
    CONFIGURATION = "configuration"
    CHECKOUT = "checkout"
    GIT = "git"
    MISSING = "missing"


class Value(msgspec.Struct, frozen=True):
    """A dimension's value and its source: ``-`` is not applicable, ``None`` is missing."""

    value: str | None
    source: Source


MISSING: Final = Value(None, Source.MISSING)


class Inferred(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of who asks, by the name of each flag.

    ``checkout`` is the bound checkout that was asked, ``facts`` what git says in it; ``directory`` is
    where the request stands. ``trust_home`` is that of the store whose checkouts were looked at.
    """

    values: Mapping[str, Value]
    directory: str
    checkout: Checkout | None = None
    facts: Facts | None = None
    trust_home: str | None = None

    def __getitem__(self, name: str) -> str | None:
        """The value of a dimension, or ``None`` if it is missing."""
        return self.values[name].value

    @property
    def given(self) -> dict[str, str]:
        """What is not missing."""
        return {name: one.value for name, one in self.values.items() if one.value is not None}

    @property
    def ancestors(self) -> frozenset[str]:
        """The commits that git proves to be ancestors of the commit, where it was git that told that one."""
        if self.facts is None or self.values["commit"].source is not Source.GIT:
            return frozenset()
        return self.facts.lineage


def variable(name: str) -> str:
    """The variable of a dimension or of the store."""
    return f"NSSTORE_{name.upper()}"


def infer(flags: Mapping[str, str | None], environ: Mapping[str, str], cwd: str | None) -> Inferred:
    """What is known of who asks, from where and for what; derived again on each call.

    ``flags`` are what the program was told, by the names of :data:`NAMES`; what is ``None`` was not
    said. ``cwd`` is where the request stands, ``None`` for where this process does. Raises
    :class:`InvalidInput` for a variable that is set but empty and for both of a pair from one source,
    and what opening the store or reading the configuration raises.
    """
    found = stated(flags, environ)
    directory = here() if cwd is None else real_path(cwd)
    store = found[STORE].value
    if store is None:
        return Inferred(values=found, directory=directory)
    with checkouts_of(store) as checkouts:
        checkout, home = checkouts.find(directory), checkouts.trust_home
    if checkout is None or found["project"].value not in (None, checkout.project_id):
        return Inferred(values=found, directory=directory, trust_home=home)
    facts = facts_at(checkout.path)
    told = {
        "project": Value(checkout.project_id, Source.CHECKOUT),
        "workspace": Value(checkout.workspace_id, Source.CHECKOUT),
    }
    if facts is not None:
        if facts.branch is not None:
            told["branch"] = Value(facts.branch, Source.GIT)
        if facts.baseline is not None:
            told["baseline"] = Value(facts.baseline, Source.GIT)
        if found["branch"].value is None:  # the commit is that of git's branch, and of no other
            told["commit"] = Value(facts.commit, Source.GIT)
    elif not checkout.versioned:
        told["branch"] = told["baseline"] = Value(NOT_APPLICABLE_TEXT, Source.CHECKOUT)
    for name, one in told.items():
        if found[name].value is None:
            found[name] = one
    return Inferred(values=found, directory=directory, checkout=checkout, facts=facts, trust_home=home)


def stated(flags: Mapping[str, str | None], environ: Mapping[str, str]) -> dict[str, Value]:
    """What flags, variables and the user's configuration say, without a look at checkout or git.

    Raises as :func:`infer`.
    """
    configuration: Configuration | None = None
    found: dict[str, Value] = {}
    for name in NAMES:
        other = PAIRS.get(name, "")
        if flags.get(name) is not None:
            found[name] = Value(flags[name], Source.FLAG)
            continue
        if environ.get(variable(name)) == "":
            raise InvalidInput(f"{variable(name)} is set but empty: unset it, or say what it is")
        if flags.get(other) is not None:
            found[name] = MISSING
        elif variable(name) in environ:
            found[name] = Value(environ[variable(name)], Source.VARIABLE)
        elif variable(other) in environ:
            found[name] = MISSING
        else:
            if configuration is None:
                configuration = read_configuration(environ)
            value = getattr(configuration, name, None)
            found[name] = MISSING if value is None else Value(value, Source.CONFIGURATION)
    return found


def moved_from(store: str, directory: str) -> Checkout | None:
    """The checkout that a directory was bound as before it was moved, if it was. Raises as opening does."""
    with checkouts_of(store) as checkouts:
        return checkouts.moved(directory)
