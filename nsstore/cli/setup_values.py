"""What setup is told, finds bound already, and proposes for the rest: every value with its source."""

from __future__ import annotations

import os
from typing import Final

import msgspec

from nsstore.errors import InvalidInput
from nsstore.host.allowing import can_bind, id_or_nothing, proposed_project
from nsstore.host.checkouts import Checkout, checkouts_of
from nsstore.host.config import in_home
from nsstore.host.git import facts_at, top_of
from nsstore.host.inference import Source, stated
from nsstore.host.unknown import HOLDS
from nsstore.root.named import require_utf8
from nsstore.root.owned import has_name, here, identity
from nsstore.scope import check_id
from nsstore.store.making import STORE_FILE

ASKED: Final = {
    "store": "Store",
    "tenant": "Tenant",
    "user": "User",
    "session": "Session of what you type yourself",
    "project": "Project of this checkout",
}
ORDER: Final = ("store", "tenant", "group", "user", "session", "project")
PROPOSAL: Final = "proposal"
TENANT: Final = "personal"
SESSION: Final = "terminal"
NO_CHECKOUT: Final = f"{HOLDS}, or give --no-checkout"


class Given(msgspec.Struct, frozen=True, kw_only=True):
    """What the command line said."""

    client: str
    agents: tuple[str, ...]
    flags: dict[str, str]
    no_checkout: bool
    days: int | None
    unattended: bool
    passphrase_file: str | None


class Value(msgspec.Struct, frozen=True):
    """A value, and where it came from; a ``fixed`` one was said already and is not asked for."""

    value: str
    source: str
    fixed: bool

    def checked(self, name: str, answer: str) -> str:
        """An answer that takes its place. Raises :class:`InvalidInput` if it cannot be one."""
        if name == "store":
            chosen = os.path.abspath(os.path.expanduser(answer))
            require_utf8(chosen, "the path of a store")
            return chosen
        return check_id(f"{name}_id", answer)


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """Where somebody stands: the checkout, as what it is bound, and whether it could be at all.

    ``moved`` is what this very directory was bound as before it was moved, and ``known`` are all the
    checkouts that are bound in the store.
    """

    top: str
    bound: Checkout | None
    moved: Checkout | None
    can_be: bool
    known: tuple[Checkout, ...]

    def project(self) -> Value | None:
        """Its project: as it is bound, else as it proposes itself; ``None`` where none can be bound."""
        if self.bound is not None:
            return Value(self.bound.project_id, Source.CHECKOUT, fixed=True)
        if not self.can_be:
            return None
        if self.moved is not None:
            return Value(self.moved.project_id, PROPOSAL, fixed=False)
        proposed = proposed_project(self.known, self.top, facts_at(self.top))
        return Value(proposed, PROPOSAL, fixed=False)


def place_of(store: str) -> Place:
    """Where somebody stands, for a store that may not be there yet. Raises as opening it does."""
    at = here()
    top = top_of(at)
    known: tuple[Checkout, ...] = ()
    bound = moved = None
    if has_name(store, STORE_FILE):
        with checkouts_of(store) as checkouts:
            known, bound, moved = checkouts.all(), checkouts.find(at), checkouts.moved(top)
    if moved is not None and (moved.is_at(moved.path) or not moved.was(top, identity(top))):
        moved = None
    return Place(top=top, bound=bound, moved=moved, can_be=can_bind(top, store), known=known)


def said(known: Given) -> dict[str, Value]:
    """What flags, variables and the user's configuration say. Raises :class:`InvalidInput`."""
    found = stated(known.flags, os.environ)
    if found["tenant"].value is not None and found["group"].value is not None:
        raise InvalidInput("only one of --tenant and --group may be given")
    if known.no_checkout and found["project"].source is Source.FLAG:
        raise InvalidInput("--no-checkout binds none, so --project has nothing to name")
    values: dict[str, Value] = {}
    for name in ORDER:
        one = found[name]
        if one.value is not None and not (name == "project" and known.no_checkout):
            value = Value(one.value, one.source, fixed=True)
            values[name] = Value(value.checked(name, one.value), one.source, fixed=True)
    return values


def complete(known: Given) -> dict[str, Value]:
    """What was said, where nobody is asked: every value, but for a checkout that is bound already.

    Raises :class:`InvalidInput` for what is missing.
    """
    values = said(known)
    missing = [f"--{name}" for name in ("store", "user", "session") if name not in values]
    missing += [] if "tenant" in values or "group" in values else ["--tenant"]
    if "project" not in values and not known.no_checkout:
        place = place_of(values["store"].value) if "store" in values else None
        if place is not None and place.bound is None and not place.can_be and not missing:
            raise InvalidInput(NO_CHECKOUT.format(place.top))
        project = None if place is None else place.project()
        if project is not None and project.fixed:
            values["project"] = project
        else:
            missing.append("--project or --no-checkout")
    if missing:
        raise InvalidInput(f"with --unattended every value has its flag: {', '.join(missing)}")
    return values


def proposals(values: dict[str, Value]) -> dict[str, Value]:
    """What is proposed for everything that was not said, but the project."""
    share = os.environ.get("XDG_DATA_HOME") or in_home(os.path.join(".local", "share"))
    found = {
        "store": os.path.join(share, "nsstore"),
        "tenant": TENANT,
        "user": _login(),
        "session": SESSION,
    }
    return {
        name: Value(value, PROPOSAL, fixed=False)
        for name, value in found.items()
        if name not in values and not (name == "tenant" and "group" in values)
    }


def _login() -> str:
    import getpass

    try:
        return id_or_nothing(getpass.getuser())
    except (OSError, KeyError):
        return ""
