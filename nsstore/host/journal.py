"""What setup wrote and what was there before, kept in the trust home: every file can be put back.

The journal stands before the first file is touched, so that a setup that was cut short can be undone. It
holds the files as they were, whole, with whatever secrets a client keeps in them: like the keys beside it, it
is its user's alone, and it goes with the undo.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, Literal

import msgspec

from nsstore.errors import Refused
from nsstore.host.clients import CLIENTS, LARGEST
from nsstore.host.edits import Edit
from nsstore.host.personal import LOCK, OTHER_SETUP
from nsstore.root import FileLock, Root
from nsstore.root.owned import missing_parents, read_owned, remove_owned, replace_owned

_LIMIT: Final = 8 * LARGEST
DAMAGED: Final = "the journal of setup in the trust home is damaged: put it back from a copy, or undo by hand"


class Entry(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One file: what was done to it, its bytes before (``None``: none) and after, and the new folders."""

    edit: Edit
    before: bytes | None
    after: bytes
    made: tuple[str, ...] = ()


class Journal(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Everything that setup did for one client."""

    format: Literal[1] = 1
    entries: tuple[Entry, ...]


def planned(edits: Iterable[Edit]) -> tuple[Entry, ...]:
    """What would be written, file by file; a file that holds it already is left out.

    Nothing is written. Raises :class:`Refused` for a file that leaves no place for it.
    """
    entries: list[Entry] = []
    for edit in edits:
        before = read_owned(edit.path, LARGEST, edit.what)
        after = edit.made(before)
        if after != before:
            entries.append(Entry(edit=edit, before=before, after=after, made=missing_parents(edit.path)))
    return tuple(entries)


def write(home: Root, client: str, entries: Sequence[Entry]) -> None:
    """Write every file, after the journal that undoes it.

    Raises :class:`Refused` if there is a journal already, since it would be lost; and
    (``changed_meanwhile``) for a file that somebody changed since it was planned: what was written until
    then is undone by the journal.
    """
    with home.top() as top, FileLock(top, LOCK):
        if home.read(_name(client), _LIMIT) is not None:
            raise Refused(OTHER_SETUP, reason="journal", retryable=True)
        home.replace(_name(client), msgspec.json.encode(Journal(entries=tuple(entries))) + b"\n")
    for one in entries:
        replace_owned(one.edit.path, one.after, one.before, one.edit.what)


def journal_of(home: Root, client: str) -> Journal | None:
    """What setup did for a client, or ``None``. Raises :class:`Refused` for a damaged journal."""
    raw = home.read(_name(client), _LIMIT)
    if raw is None:
        return None
    try:
        return msgspec.json.decode(raw, type=Journal)
    except msgspec.MsgspecError:
        raise Refused(DAMAGED, reason="journal") from None


def undo(home: Root, client: str, journal: Journal, *, shared: Sequence[str] = ()) -> list[str]:
    """Put back every file of a journal, and drop it; what somebody else added to a file since stays.

    A file that is as it was written gets its old bytes back; from any other only what was added is
    taken. Where that cannot be told apart nothing is written at all. Files in ``shared`` that another
    client's setup needs as well are handed to its journal. Returns what was put back. Raises
    :class:`Refused` naming each file that was changed, and what to do.
    """
    others = [name for name in CLIENTS if name != client and journal_of(home, name) is not None]
    handed = [one for one in journal.entries if others and one.edit.path in shared]
    plan: list[tuple[Entry, bytes, bytes | None]] = []
    stuck: list[str] = []
    for one in journal.entries:
        now = read_owned(one.edit.path, LARGEST, one.edit.what)
        if one in handed or now is None or now == one.before:
            continue
        try:
            plan.append((one, now, one.before if now == one.after else one.edit.unmade(now, one.before)))
        except Refused as err:
            stuck.append(f"{err}; {one.edit.by_hand}")
    if stuck:
        raise Refused(
            f"nothing is undone, since what was written was changed: {'; '.join(stuck)}; then once more",
            reason="changed_since",
        )
    if handed:
        to = others[0]
        kept = journal_of(home, to)
        assert kept is not None
        home.replace(_name(to), msgspec.json.encode(Journal(entries=(*kept.entries, *handed))) + b"\n")
    for one, now, new in plan:
        if new is None:
            remove_owned(one.edit.path, now, one.made, one.edit.what)
        elif new != now:
            replace_owned(one.edit.path, new, now, one.edit.what)
    with home.top() as top:
        top.unlink(_name(client))
    return [one.edit.what for one, now, new in plan if new != now]


def _name(client: str) -> str:
    return f"setup-{client}.json"
