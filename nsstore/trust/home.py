"""The trust home: where the keys, the binding and the anchors of a store are, outside its root."""

from __future__ import annotations

import os
import warnings
from typing import Final, Literal

import msgspec

from nsstore.errors import InvalidInput, Refused, StoreError
from nsstore.root import (
    LIMIT_SECONDS,
    FolderLock,
    Root,
    check_path,
    holds,
    in_repository,
    is_directory_at,
    overlap,
    real_path,
)
from nsstore.root.places import folders_in
from nsstore.root.scratch import lies_in_scratch
from nsstore.trust.anchors import Anchors
from nsstore.trust.keys import MISSING, Keys, load_keys, save_keys

WHAT: Final = "the trust home"
VARIABLE: Final = "NSSTORE_TRUST_HOME"
BINDING: Final = "binding.json"
LOST: Final = (
    "a store was bound to this directory and is gone: put it back from a copy, or `nsstore move` it if it"
    " was moved, or take another directory; if it was given up for good, first remove {} from the trust home"
)
_LIMIT: Final = 16 * 1024


class Binding(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which directory a store id stands for: its real path and its inode."""

    format: Literal[1]
    store_id: str
    path: str
    inode: int


class Trust:
    """The keys, binding and anchors of one store, opened from its trust home."""

    def __init__(self, home: Root, store_id: bytes, keys: Keys) -> None:
        self.home = home
        self.store_id = store_id
        self.keys = keys
        self.anchors = Anchors(home, keys)

    def close(self) -> None:
        self.home.close()


def base(given: str | os.PathLike[str] | None) -> str:
    """Where trust homes are kept: the argument, else the variable, else the user's state directory.

    Raises :class:`InvalidInput` for a path that is not absolute.
    """
    if given is not None:
        chosen = check_path(given, "trust home")
    elif VARIABLE in os.environ:
        chosen = os.environ[VARIABLE]
    elif os.environ.get("XDG_STATE_HOME"):
        chosen = os.path.join(os.environ["XDG_STATE_HOME"], "nsstore")
    else:
        chosen = os.path.join(os.path.expanduser("~"), ".local", "state", "nsstore")
    if not os.path.isabs(chosen):
        raise InvalidInput(f"the trust home must be an absolute path: set {VARIABLE}")
    return chosen


def refuse_overlap(home: str, root: str) -> None:
    """Refuse a trust home inside the root, or around it; warn about one inside a repository."""
    if overlap(home, root):
        raise InvalidInput(
            f"the trust home and the root must lie apart, or the root proves itself: set {VARIABLE}"
        )
    if in_repository(home) and not lies_in_scratch(home):
        warnings.warn("the trust home lies inside a repository: keys could be committed", stacklevel=3)


def create_trust(root: Root, given: str | os.PathLike[str] | None) -> Trust:
    """Make store id, keys and binding for a new root, complete and as durable as the root.

    Raises :class:`Refused` if a store that was written to is bound to the path of this root: it
    was lost or removed, and a new one in its place would hide that.
    """
    where = base(given)
    refuse_overlap(where, root.path)
    store_id = os.urandom(16)
    try:
        require_not_lost(root.path, where)
        home = Root.make(os.path.join(where, store_id.hex()), what=WHAT, flushes=root.flushes)
    except StoreError as err:
        if isinstance(err, Refused) or err.retryable:
            raise
        raise InvalidInput(f"no trust home can be made there: set {VARIABLE}") from err
    try:
        save_keys(home, Keys.new())
        bind_root(home, store_id, root)
        return Trust(home, store_id, load_keys(home))
    except BaseException:
        home.close()
        raise


def require_not_lost(
    path: str | os.PathLike[str], given: str | os.PathLike[str] | None, but: bytes = b""
) -> None:
    """Refuse a path without a store where one that was written to is bound, ``but`` one that comes back.

    Raises :class:`Refused`.
    """
    lost = _written_at(real_path(path), base(given), but.hex())
    if lost is not None:
        raise Refused(LOST.format(lost), reason="binding")


def _written_at(path: str, where: str, but: str = "") -> str | None:
    """The id of a store that is bound to a path and was written to, if there is one.

    The first write to a store makes its first anchor. A trust home without anchors is what is left
    of a store that was never made whole, or of the slower of two that were made at once: it stands
    for nothing that could be lost. Neither does one that is open to others or cannot be read.
    """
    for name in folders_in(where, "the trust homes"):
        try:
            with Root.open(os.path.join(where, name), what=WHAT) as home:
                bound = read_binding(home)
                of_here = bound is not None and (bound.store_id, bound.path) == (name, path)
                if of_here and name != but and holds(home.path, "anchors"):
                    return name
        except (FileNotFoundError, StoreError) as err:
            if isinstance(err, StoreError) and err.retryable:
                raise
    return None


def open_trust(root: Root, store_id: bytes, given: str | os.PathLike[str] | None) -> Trust:
    """Open the trust home of a store id and check that it is bound to this very root.

    Raises :class:`Refused` if the keys are not there or the store was bound to another place.
    """
    where = base(given)
    refuse_overlap(where, root.path)
    home = open_home(where, store_id)
    try:
        keys = load_keys(home)
        check_binding(home, store_id, root)
        return Trust(home, store_id, keys)
    except BaseException:
        home.close()
        raise


def open_home(where: str, store_id: bytes) -> Root:
    """Open the trust home of a store id. Raises :class:`Refused` if it is not there."""
    try:
        return Root.open(os.path.join(where, store_id.hex()), what=WHAT)
    except FileNotFoundError:
        raise Refused(MISSING, reason="keys") from None
    except InvalidInput:
        raise InvalidInput(f"the trust home must be a directory: set {VARIABLE}") from None


def rebind(root: Root, store_id: bytes, given: str | os.PathLike[str] | None) -> str | None:
    """Bind a store that was moved or put back to where it is now, and return where it was bound.

    ``None`` for a binding that could not be read. Raises :class:`Refused` if the keys are not here,
    or if the root still is where it is bound: a copy does not take its place.
    """
    where = base(given)
    refuse_overlap(where, root.path)
    with open_home(where, store_id) as home, FolderLock(home, patience=LIMIT_SECONDS):
        load_keys(home)
        bound = read_binding(home)
        if bound is not None and is_at(bound) and (bound.path, bound.inode) != (root.path, root.inode):
            raise Refused(
                "the store is still where it is bound: a copy does not take its place", reason="binding"
            )
        root.require_place()
        bind_root(home, store_id, root)
    return bound.path if bound is not None else None


def read_binding(home: Root) -> Binding | None:
    """The binding in a trust home, or ``None`` if there is none that can be read."""
    try:
        return msgspec.json.decode(home.read(BINDING, _LIMIT) or b"", type=Binding)
    except msgspec.MsgspecError:
        return None


def is_at(bound: Binding) -> bool:
    """Whether the directory that a binding names still has its name, whether it may be opened or not."""
    return is_directory_at(bound.path, bound.inode)


def bind_root(home: Root, store_id: bytes, root: Root) -> None:
    """Bind a store id to the root as it is now: its real path and inode."""
    binding = Binding(format=1, store_id=store_id.hex(), path=root.path, inode=root.inode)
    home.replace(BINDING, msgspec.json.encode(binding) + b"\n")


def check_binding(home: Root, store_id: bytes, root: Root) -> None:
    """Require that the store id is bound to this very root. Raises :class:`Refused`."""
    bound = read_binding(home)
    if bound is None:
        raise Refused("the binding of this store is damaged: `nsstore move` binds it again", reason="binding")
    if (bound.store_id, bound.path, bound.inode) != (store_id.hex(), root.path, root.inode):
        raise Refused(
            "this store is bound to another directory, and a copy is not opened: if it was moved or put"
            " back, `nsstore move` binds it to where it is now",
            reason="binding",
        )
