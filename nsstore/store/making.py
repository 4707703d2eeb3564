"""Where a store begins: made in an empty directory, opened where its keys say it is, bound anew."""

from __future__ import annotations

import os
import re
from typing import Final

import msgspec

from nsstore.errors import InvalidInput, Refused
from nsstore.root import FolderLock, Root, holds, is_free, is_there, lies_in_one_that_holds, remove_empty
from nsstore.root.scratch import lies_in_scratch
from nsstore.trust import Trust, create_trust, open_trust, rebind, require_not_lost

STORE_FILE: Final = "store.json"
RESTORING: Final = "restoring.json"
NO_STORE: Final = "there is no store here: `nsstore init`, or open(path, create=True) in Python, makes one"
CUT_SHORT: Final = (
    "there is no store here yet: a restore is at work, or was cut short. If it was, restore the same backup"
    " here once more, or remove the directory"
)
NOT_FREE: Final = "a store is made in an absent or empty directory, and this one is neither"
_ID: Final = re.compile(r"[0-9a-f]{32}")


class _Claim(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What ``store.json`` says: a claim only, which the trust home has to bear out."""

    format: int
    store_id: str


def create_root(
    path: str | os.PathLike[str],
    trust_home: str | os.PathLike[str] | None = None,
    *,
    flushes: bool = True,
) -> tuple[Root, Trust]:
    """Make a store in an absent or empty directory: id, keys and binding, in one call.

    The claim comes last and replaces nothing: of two processes that make a store at once, one makes
    it and both open it. Without ``flushes`` neither root nor trust home is ever made durable: for a store
    that nobody keeps. Raises :class:`InvalidInput` if something else is there already, :class:`Refused` if
    a store that was written to was here and is gone.
    """
    if holds(path, STORE_FILE):
        raise InvalidInput("there is a store already")
    if not is_free(path):
        raise InvalidInput(CUT_SHORT if holds(path, RESTORING) else NOT_FREE)
    if lies_in_one_that_holds(path, STORE_FILE) and not lies_in_scratch(path):
        raise InvalidInput("a store is not made inside another one")
    fresh = not is_there(path)
    root = Root.make(path, flushes=flushes)
    try:
        trust = create_trust(root, trust_home)
    except BaseException as err:
        root.close()
        if isinstance(err, Refused) and holds(path, STORE_FILE):
            return open_root(path, trust_home)  # it is not gone: another process made it meanwhile
        if fresh:
            remove_empty(path)
        raise
    try:
        _claim(root, trust.store_id)
    except BaseException as err:
        trust.close()
        root.close()
        if isinstance(err, FileExistsError):
            return open_root(path, trust_home)
        raise
    return root, trust


def _claim(root: Root, store_id: bytes) -> None:
    """Make a root the store that its trust home says it is, durably; the last step of making one.

    Raises ``FileExistsError`` if another process was faster, :class:`InvalidInput` if something else came
    into the directory, :class:`Refused` (retryable) while a store is restored there.
    """
    with FolderLock(root, shared=True), root.top() as top:
        if set(top.names()) - {"tmp"}:
            if root.lacks(STORE_FILE):
                raise InvalidInput(NOT_FREE)
            raise FileExistsError(STORE_FILE)
        with top.publish(STORE_FILE, spelled_claim(store_id)) as file:
            top.flush_name(file)


def spelled_claim(store_id: bytes) -> bytes:
    """What ``store.json`` says of a store."""
    return msgspec.json.encode(_Claim(format=1, store_id=store_id.hex())) + b"\n"


def open_root(
    path: str | os.PathLike[str], trust_home: str | os.PathLike[str] | None = None
) -> tuple[Root, Trust]:
    """Open the root and trust home of an existing store; makes nothing, not even a directory.

    Raises :class:`InvalidInput` if there is no store, :class:`Refused` if its keys are not here or
    it is bound to another place.
    """
    root = _existing(path, trust_home)
    try:
        return root, open_trust(root, read_claim(root), trust_home)
    except BaseException:
        root.close()
        raise


def move(
    path: str | os.PathLike[str], trust_home: str | os.PathLike[str] | None = None
) -> tuple[str | None, str]:
    """Bind a store that was moved, or put back from a copy of its files, to where it is now.

    Returns the place it was bound to, if that is known, and the one it is bound to now. What it
    lost on the way shows when it is read: the anchors stay as they were. Raises
    :class:`InvalidInput`, :class:`Refused`.
    """
    with _existing(path, trust_home) as root:
        return rebind(root, read_claim(root), trust_home), root.path


def _existing(path: str | os.PathLike[str], trust_home: str | os.PathLike[str] | None) -> Root:
    """The root at a path that holds a store.

    Raises :class:`InvalidInput` for any other, :class:`Refused` where one was and is gone,
    :class:`SystemFailure` where that may not be looked at.
    """
    if not holds(path, STORE_FILE):
        require_not_lost(path, trust_home)
        raise InvalidInput(CUT_SHORT if holds(path, RESTORING) else NO_STORE)
    try:
        return Root.open(path)
    except FileNotFoundError:
        raise InvalidInput(NO_STORE) from None


def read_claim(root: Root) -> bytes:
    """The store id that ``store.json`` claims. Raises :class:`InvalidInput`, :class:`Refused`."""
    raw = root.read(STORE_FILE, 4096)
    if raw is None:
        raise InvalidInput(NO_STORE)
    try:
        claim = msgspec.json.decode(raw, type=_Claim)
    except msgspec.MsgspecError:
        raise Refused("store.json is damaged: put it back from a copy", reason="store_file") from None
    if claim.format != 1:
        raise Refused("this store has a format this version does not know", reason="format")
    if not _ID.fullmatch(claim.store_id):
        raise Refused("store.json is damaged: put it back from a copy", reason="store_file")
    return bytes.fromhex(claim.store_id)
