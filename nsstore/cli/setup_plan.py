"""What setup is going to do: every value with its source, and every step, before the first is done."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterator, Mapping
from typing import Final

import msgspec

from nsstore.cli.passphrase import passphrase_from
from nsstore.errors import InvalidInput, Refused
from nsstore.host import journal as journals
from nsstore.host.checkouts import Checkout, Checkouts
from nsstore.host.clients import configuration_edit, edits_for
from nsstore.host.config import Configuration, config_path
from nsstore.host.edits import Edit
from nsstore.host.git import facts_at, proposal, remote_of, top_of
from nsstore.host.inference import Source, stated
from nsstore.host.personal import DAYS, PERSON, grant, has_owner, make_owner, wanted
from nsstore.root import Root, overlap
from nsstore.root.named import require_utf8
from nsstore.root.owned import directory_of, has_name, here, is_executable
from nsstore.root.programs import program
from nsstore.scope import check_id
from nsstore.trust.home import base

ASKED: Final = {
    "store": "Store",
    "tenant": "Tenant",
    "user": "User",
    "session": "Session of what you type yourself",
    "project": "Project of this checkout",
}
PROPOSAL: Final = "proposal"
TENANT: Final = "personal"
SESSION: Final = "terminal"


class Given(msgspec.Struct, frozen=True, kw_only=True):
    """What the command line said."""

    client: str
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


def proposed(known: Given, *, asking: bool) -> dict[str, Value]:
    """What was said, and, where somebody is asked, what is proposed for the rest.

    Raises :class:`InvalidInput` for what is missing where nobody is asked.
    """
    said = stated(known.flags, os.environ)
    values = {
        name: Value(one.value, one.source, fixed=True)
        for name in ("store", "tenant", "group", "user", "session", "project")
        if (one := said[name]).value is not None
    }
    if "tenant" in values and "group" in values:
        raise InvalidInput("only one of --tenant and --group may be given")
    if known.no_checkout:
        if said["project"].source is Source.FLAG:
            raise InvalidInput("--no-checkout binds none, so --project has nothing to name")
        values.pop("project", None)
    if asking:
        for name, value in _proposals(known).items():
            if name not in values and not (name == "tenant" and "group" in values):
                values[name] = Value(value, PROPOSAL, fixed=False)
    missing = [f"--{name}" for name in ("store", "user", "session") if name not in values]
    missing += [] if "tenant" in values or "group" in values else ["--tenant"]
    missing += [] if "project" in values or known.no_checkout else ["--project or --no-checkout"]
    if missing:
        raise InvalidInput(f"with --unattended every value has its flag: {', '.join(missing)}")
    return {name: Value(one.checked(name, one.value), one.source, one.fixed) if one.fixed else one
            for name, one in values.items()}  # fmt: skip


def _proposals(known: Given) -> dict[str, str]:
    share = os.environ.get("XDG_DATA_HOME") or os.path.join(os.path.expanduser("~"), ".local", "share")
    found = {
        "store": os.path.join(share, "nsstore"),
        "tenant": TENANT,
        "user": _login(),
        "session": SESSION,
    }
    if not known.no_checkout:
        top = top_of(here())
        if can_bind(top, found["store"]):
            found["project"] = _id_or_nothing(proposal(top, facts_at(top)))
    return found


def can_bind(top: str, store: str) -> bool:
    """Whether a directory lies apart from where the store and the trust homes are."""
    return not any(overlap(kept, top) for kept in (store, base(None)))


def _login() -> str:
    import getpass

    try:
        return _id_or_nothing(getpass.getuser())
    except (OSError, KeyError):
        return ""


def _id_or_nothing(text: str) -> str:
    try:
        return check_id("proposal", text)
    except InvalidInput:
        return ""


def plan_of(known: Given, values: Mapping[str, Value]) -> Plan:
    """The plan of these values; nothing is written.

    Raises :class:`InvalidInput` and :class:`Refused` for a file that leaves no place for what goes into it.
    """
    return Plan(known, values)


class Plan:
    """Everything that is going to be done, looked at before the first of it is."""

    def __init__(self, known: Given, values: Mapping[str, Value]) -> None:
        import nsstore

        self._known = known
        self._values = dict(values)
        self._store = values["store"].value
        self._agents = tuple(sorted({PERSON, known.client}))
        self._top = top_of(directory_of(here(), "the place where you stand")) if "project" in values else None
        self._make = not has_name(self._store, "store.json")
        self._policy = wanted(None, self._pair, values["user"].value, self._agents)
        self._owner = False
        self._again = False
        if not self._make:
            with nsstore.open(self._store) as opened:
                self._owner = has_owner(opened)
                self._policy = wanted(opened, self._pair, values["user"].value, self._agents)
                self._again = journals.journal_of(opened.trust.home, known.client) is not None
                if self._top is not None:
                    self._require_bindable(Checkouts(opened.trust.home, opened.root.path))
        elif self._top is not None and not can_bind(self._top, self._store):
            raise InvalidInput("this checkout holds the store or its trust home: --no-checkout binds none")
        self._edits = self._wanted()
        self._entries: tuple[journals.Entry, ...] | None = None
        try:
            self._entries = journals.planned(self._edits)
        except Refused:
            if not self._again:
                raise  # else what stands there is setup's own of before, and is undone first

    def _wanted(self) -> list[Edit]:
        own = configuration_edit(self._configuration(), os.environ)
        return [*edits_for(self._known.client, words(), os.environ), *([own] if own is not None else [])]

    @property
    def _pair(self) -> tuple[str, str]:
        kind = "group" if "group" in self._values else "tenant"
        return kind, self._values[kind].value

    def _configuration(self) -> Configuration:
        kind, name = self._pair
        said = {"store": self._store, "user": self._values["user"].value, kind: name}
        return Configuration(**said, session=self._values["session"].value)

    def _require_bindable(self, checkouts: Checkouts) -> None:
        assert self._top is not None
        bound = checkouts.find(self._top)
        if (
            bound is not None
            and bound.path == self._top
            and bound.project_id != self._values["project"].value
        ):
            raise InvalidInput(
                f"the checkout is {bound.project_id} already: name that, or first `nsstore allow --end`"
            )

    def rows(self) -> list[tuple[str, str, str]]:
        """Each value and where it came from."""
        return [(name, one.value, one.source) for name, one in self._values.items()]

    def steps(self) -> Iterator[str]:
        """Each step in words, in their order."""
        if self._make:
            yield f"make the store {self._store}"
        if self._policy is not None and not self._owner:
            yield "make the owner's key, sealed under a passphrase of yours"
        if self._policy is not None:
            yield (
                f"sign one policy for {self._known.days or DAYS} days: {', '.join(self._policy.agents)} read"
                " what they wrote for this user, each project by itself"
            )
        if self._top is not None:
            yield f"bind {self._top} to {self._values['project'].value}"
        for one in self._edits if self._entries != () else ():
            yield f"add to {one.what}"
        if self._entries != ():
            yield f"keep what stood in these files, for `{self.undo()}`"

    def carry_out(self) -> dict[str, object]:
        """Do it all: what needs the passphrase first, the client's files last."""
        import nsstore
        from nsstore.cli.owner_key import KeyFlags

        known = self._known
        key = KeyFlags(None, known.passphrase_file, None, unattended=known.unattended)
        secret = ""
        if self._policy is not None and not self._owner:
            secret = passphrase_from(known.passphrase_file, unattended=known.unattended, confirm=True)
        with nsstore.open(self._store, create=True) as opened:
            signed = None
            if self._policy is not None:
                if self._owner:
                    signer = key.unlock(opened)
                else:
                    name = self._values["user"].value
                    signer = make_owner(opened, name, key.assurance(), secret)
                signed = grant(opened, signer, self._policy, key.assurance(), known.days or DAYS)
            bound = self._bind(Checkouts(opened.trust.home, opened.root.path))
            written = self._write(opened.trust.home)
        return {
            "store": self._store,
            "made": self._make,
            "policy": None if signed is None else {"number": signed.seq, "expires": signed.expires},
            "checkout": None if bound is None else {"path": bound.path, "project": bound.project_id},
            "written": written,
            "undo": self.undo(),
        }

    def _bind(self, checkouts: Checkouts) -> Checkout | None:
        if self._top is None:
            return None
        facts = facts_at(self._top)
        return checkouts.bind(
            self._top,
            self._values["project"].value,
            remote=None if facts is None else remote_of(facts),
            versioned=facts is not None or has_name(self._top, ".git"),
        )

    def _write(self, home: Root) -> list[str]:
        entries = self._entries
        if entries == ():
            return []
        journal = journals.journal_of(home, self._known.client) if self._again else None
        if journal is not None:
            journals.undo(home, self._known.client, journal, shared=(config_path(os.environ),))
            entries = journals.planned(self._wanted())
        if entries:
            journals.write(home, self._known.client, entries)
        return [one.edit.what for one in entries or ()]

    def undo(self) -> str:
        """The command that takes the client's files back."""
        return shlex.join(("nsstore", "setup", self._known.client, "--undo"))

    def told(self, done: Mapping[str, object]) -> Iterator[str]:
        """What was done, for a person."""
        if done["written"]:
            yield f"Done. Start {self._known.client} anew in the checkout, and it remembers."
        else:
            yield "Everything was there already."
        yield f"Undo: {self.undo()}"
        if done["made"]:
            yield "Keep a copy of the keys: nsstore keys backup FILE. Another checkout: nsstore allow"


def words() -> tuple[str, ...]:
    """How nsstore is started from anywhere: this very program, the one on the path, or this Python."""
    own = os.path.abspath(sys.argv[0]) if sys.argv and sys.argv[0] else ""
    if os.path.basename(own) == "nsstore" and is_executable(own):
        return (own,)
    found = program("nsstore")
    return (found,) if found is not None else (sys.executable, "-m", "nsstore")
