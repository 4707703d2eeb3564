"""What setup is going to do: every value with its source, and every step, before the first is done."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterator, Mapping
from typing import Final

from nsstore.cli.passphrase import passphrase_from
from nsstore.cli.setup_values import NO_CHECKOUT, ORDER, Given, Place, Value, place_of
from nsstore.errors import InvalidInput, Refused
from nsstore.host import journal as journals
from nsstore.host.allowing import Allowing, Word
from nsstore.host.checkouts import READ_HERE, Checkout
from nsstore.host.clients import OTHER, configuration_edit, edits_for, server_for
from nsstore.host.config import Configuration, config_path
from nsstore.host.edits import Edit
from nsstore.host.personal import DAYS, PERSON, grant, has_owner, make_owner, wanted
from nsstore.root import Root
from nsstore.root.owned import has_name, is_executable
from nsstore.root.programs import program
from nsstore.store.making import STORE_FILE

NO_AGENT: Final = "which agent? --agent says under which name your client's agent remembers"


class Plan:
    """Everything that is going to be done, looked at before the first of it is; nothing is written yet.

    Raises :class:`InvalidInput` and :class:`Refused` for a file that leaves no place for what goes into it,
    and for a directory that cannot be bound.
    """

    def __init__(self, known: Given, values: Mapping[str, Value]) -> None:
        import nsstore

        if known.client == OTHER and not known.agents:
            raise InvalidInput(NO_AGENT)
        self._known = known
        self._values = dict(values)
        self._store = values["store"].value
        own = () if known.client == OTHER else (known.client,)
        self._agents = tuple(sorted({PERSON, *own, *known.agents}))
        place = place_of(self._store)
        self._bound, self._top = self._to_bind(place)
        moved = place.moved if self._top is not None else None
        self._moved = moved if moved is not None and moved.project_id == self._project else None
        self._shares = self._top is not None and any(
            one.project_id == self._project for one in place.known if one != place.moved
        )
        self._make = not has_name(self._store, STORE_FILE)
        self._policy = wanted(None, self._pair, values["user"].value, self._agents)
        self._owner = False
        self._again = False
        if not self._make:
            with nsstore.open(self._store) as opened:
                self._owner = has_owner(opened)
                self._policy = wanted(opened, self._pair, values["user"].value, self._agents)
                self._again = journals.journal_of(opened.trust.home, known.client) is not None
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

    @property
    def _project(self) -> str | None:
        return self._values["project"].value if "project" in self._values else None

    def _configuration(self) -> Configuration:
        kind, name = self._pair
        said = {"store": self._store, "user": self._values["user"].value, kind: name}
        return Configuration(**said, session=self._values["session"].value)

    def _to_bind(self, place: Place) -> tuple[Checkout | None, str | None]:
        """The checkout as it is bound already, or the directory that is going to be, or neither."""
        if self._project is None:
            return None, None
        bound = place.bound
        if bound is not None and bound.project_id == self._project:
            return bound, None
        if bound is not None and bound.path == place.top:
            raise InvalidInput(
                f"the checkout is {bound.project_id} already: name that, or first `nsstore allow --end`"
            )
        if not place.can_be:
            raise InvalidInput(NO_CHECKOUT.format(place.top))
        return None, place.top

    def rows(self) -> list[tuple[str, str, str]]:
        """Each value and where it came from."""
        found = self._values
        return [(name, found[name].value, found[name].source) for name in ORDER if name in found]

    def steps(self) -> list[str]:
        """Each step in words, in their order; none if everything is there."""
        return list(self._steps())

    def _steps(self) -> Iterator[str]:
        if self._make:
            yield f"make the store {self._store}"
        if self._policy is not None and not self._owner:
            yield "make the owner's key, sealed under a passphrase of yours"
        if self._policy is not None:
            *most, last = self._policy.agents
            yield (
                f"sign one policy for {self._known.days or DAYS} days: {', '.join(most)} and {last} read what"
                " each of them wrote for this user, each project by itself"
            )
        if self._top is not None:
            moved = "" if self._moved is None else f", the checkout that was at {self._moved.path},"
            yield f"bind {self._top}{moved} to {self._project}"
        if self._entries is None:
            yield from (f"write anew what an earlier setup wrote: {one.what}" for one in self._edits)
        for one in self._entries or ():
            yield f"write a new file: {one.edit.what}" if one.before is None else f"add to {one.edit.what}"
        if any(one.before is not None for one in self._entries or ()):
            yield f"keep these files as they were, whole and for you alone, for `{self.undo()}`"

    def caution(self) -> str | None:
        """What to think of before saying yes."""
        return READ_HERE.format(self._project) if self._shares else None

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
            bound = self._bound
            if self._top is not None and self._project is not None:
                user = self._values["user"].value
                word = Word(tenant=self._pair, user=user, asked=not known.unattended)
                bound = Allowing(opened, word).bind(self._top, self._project, same_as=self._moved)
            written = self._write(opened.trust.home)
        return {
            "store": self._store,
            "made": self._make,
            "policy": None if signed is None else {"number": signed.seq, "expires": signed.expires},
            "checkout": None if bound is None else {"path": bound.path, "project": bound.project_id},
            "written": written,
            "servers": self.servers(),
            "undo": self.undo() if written or self._again else None,
        }

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

    def servers(self) -> list[dict[str, object]]:
        """What a client that setup does not know is told by hand, for each agent."""
        names = self._known.agents if self._known.client == OTHER else ()
        return [server_for(name, words(), os.environ) for name in names]

    def undo(self) -> str:
        """The command that takes the client's files back."""
        return shlex.join(("nsstore", "setup", self._known.client, "--undo"))

    def told(self) -> Iterator[str]:
        """What was done, for a person; the servers of :meth:`servers` come right behind it."""
        if not self.steps():
            yield "Everything is there already: nothing is changed."
        elif self._known.client == OTHER:
            yield "Done. Start your client anew in the checkout, with this server of tools in its settings:"
        elif self._bound is None and self._top is None:
            yield f"Done. Start {self._known.client} anew in a checkout that `nsstore allow` binds."
        else:
            yield f"Done. Start {self._known.client} anew in the checkout, and it remembers."

    def further(self, done: Mapping[str, object]) -> Iterator[str]:
        """What a person may do next."""
        if done["undo"] is not None:
            yield f"Undo: {self.undo()}"
        if done["made"]:
            yield "Keep a copy of the keys: nsstore keys backup FILE"
            yield "Another checkout: nsstore allow"


def words() -> tuple[str, ...]:
    """How nsstore is started from anywhere: this very program, the one on the path, or this Python."""
    own = os.path.abspath(sys.argv[0]) if sys.argv and sys.argv[0] else ""
    if os.path.basename(own) == "nsstore" and is_executable(own):
        return (own,)
    found = program("nsstore")
    return (found,) if found is not None else (sys.executable, "-m", "nsstore")
