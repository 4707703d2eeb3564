"""Which directories the owner bound to which project: kept in the store's trust home, and nowhere else.

A checkout is known by device, inode, time of birth and real path, all four: systems give the inode of a
removed directory to the next one, and then only the birth tells the two apart. Nothing that lies in it is
asked, so nothing that a repository or an archive brings along can bind it.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Generator
from typing import Annotated, Final, Literal

import msgspec

from nsstore.errors import InvalidInput, Refused
from nsstore.root import FileLock, Root, overlap
from nsstore.root.owned import Identity, directory_of, has_name, identity, upwards
from nsstore.scope import check_id
from nsstore.store.making import NO_STORE, read_claim
from nsstore.trust.home import base, open_home

FILE: Final = "checkouts.json"
_LIMIT: Final = 4 * 1024 * 1024
DAMAGED: Final = (
    "the list of bound checkouts in the trust home is damaged: put checkouts.json there back from a copy, or"
    " remove it and `nsstore allow` each checkout again"
)
READ_HERE: Final = "what is remembered for {} will be read here: only if you trust this checkout"
BOUND: Final = "{} is bound to another project already: `nsstore allow --end` there lets go of it first"

Number = Annotated[int, msgspec.Meta(ge=0)]
Told = Callable[["Checkout"], None]


class Checkout(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A directory that the owner bound to a project.

    ``workspace_id`` is a random id of its own. ``remote`` is what git named when it was bound, for
    proposals. ``versioned`` is whether it was a git work tree: of one that was none, and is none, the
    owner said that there is no branch and no baseline. ``birth`` is ``None`` where the file system tells
    none, and in lists of before it was kept.
    """

    project_id: str
    workspace_id: str
    device: Number
    inode: Number
    path: str
    remote: str | None
    versioned: bool
    birth: Number | None = None

    def __post_init__(self) -> None:
        check_id("project_id", self.project_id)
        check_id("workspace_id", self.workspace_id)

    def is_at(self, path: str) -> bool:
        """Whether a real path leads to this very directory."""
        return self.path == path and identity(path) == (self.device, self.inode, self.birth)

    def is_in(self, path: str) -> bool:
        """Whether a real path is this one's, or lies below it, whatever directory is there."""
        return self.path in upwards(path)

    def was(self, path: str, seen: Identity | None) -> bool:
        """Whether a directory, as the system sees it, may be this one, moved or under another device.

        Where only one of the two has a birth that says nothing; the owner is asked in any case.
        """
        return (
            seen is not None
            and self.inode == seen.inode
            and (self.device == seen.device or self.path == path)
            and (self.birth == seen.birth or None in (self.birth, seen.birth))
        )


class _List(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    format: Literal[1] = 1
    checkouts: tuple[Checkout, ...] = ()


class Checkouts:
    """The bound checkouts of one store, read anew on each call."""

    def __init__(self, home: Root, store: str) -> None:
        """Read and write in ``home``, the trust home of the store at ``store``."""
        self._home = home
        self._store = store
        self.trust_home = home.path

    def all(self) -> tuple[Checkout, ...]:
        """Every bound checkout, in the order in which they were bound. Raises :class:`Refused`."""
        raw = self._home.read(FILE, _LIMIT)
        if raw is None:
            return ()
        try:
            found = msgspec.json.decode(raw, type=_List)
        except (msgspec.MsgspecError, InvalidInput):
            raise Refused(DAMAGED, reason="checkouts") from None
        if _spelled(found.checkouts) != raw:  # a key twice, of which a reader would take one
            raise Refused(DAMAGED, reason="checkouts")
        return found.checkouts

    def find(self, path: str) -> Checkout | None:
        """The checkout that a directory belongs to: itself, or the nearest one upwards.

        The way up ends at a directory that git would take for a repository of its own: a clone, a
        submodule or an unpacked archive inside a checkout is none of it until the owner says so.
        """
        known = self.all()
        for at in upwards(path) if known else ():
            bound = next((one for one in known if one.is_at(at)), None)
            if bound is not None or has_name(at, ".git"):
                return bound
        return None

    def opens(self, path: str, project_id: str) -> bool:
        """Whether binding a directory to a project would have what others remembered for it read there."""
        bound = self.find(path)
        there = bound is not None and bound.path == path
        return not there and any(one.project_id == project_id for one in self.all())

    def moved(self, path: str) -> Checkout | None:
        """The checkout that this very directory was bound as, under another name: it was moved.

        Or under the same name with another device, since some systems number those anew when they start,
        or as it was bound before births were kept.
        """
        if self.find(path) is not None:
            return None
        known = self.all()
        for at in upwards(path) if known else ():
            seen = identity(at)
            found = next((one for one in known if one.was(at, seen)), None)
            if found is not None or has_name(at, ".git"):
                return found
        return None

    def bind(
        self,
        path: str,
        project_id: str,
        *,
        remote: str | None = None,
        versioned: bool = True,
        same_as: Checkout | None = None,
        told: Told | None = None,
    ) -> Checkout:
        """Bind a directory to a project, with a workspace of its own; a second time changes nothing.

        ``same_as`` is a checkout that was moved here: its workspace comes along, and it is known here
        alone. ``told`` hears of a checkout before it is bound, and if it raises, that is not. Raises
        :class:`InvalidInput` for a directory that is not there, one around or in the store or its trust
        home, or one that is bound to another project.
        """
        real = directory_of(path, "a checkout")
        check_id("project_id", project_id)
        if any(overlap(kept, real) for kept in (self._home.path, self._store)):
            raise InvalidInput("a checkout must lie apart from the store and its trust home")
        seen = identity(real)
        assert seen is not None

        def add(known: tuple[Checkout, ...]) -> tuple[Checkout, ...]:
            before = next((one for one in known if one.is_at(real)), None)
            if before is not None and before.project_id != project_id:
                raise InvalidInput(BOUND.format("this checkout"))
            if before is not None and same_as is None:
                return known
            made = Checkout(
                project_id=project_id,
                workspace_id=same_as.workspace_id if same_as is not None else os.urandom(8).hex(),
                device=seen.device,
                inode=seen.inode,
                path=real,
                remote=remote,
                versioned=versioned,
                birth=seen.birth,
            )
            # What has the same place or was the same directory is not known under its old name any more.
            gone = {one for one in known if one.path == real or one == same_as}
            if told is not None:
                told(made)
            return (*(one for one in known if one not in gone), made)

        return next(one for one in self._change(add) if one.path == real)

    def end(self, checkout: Checkout, *, told: Told | None = None) -> None:
        """Let go of a checkout; what was remembered in it stays in the store. ``told`` as in :meth:`bind`."""

        def drop(known: tuple[Checkout, ...]) -> tuple[Checkout, ...]:
            if told is not None and checkout in known:
                told(checkout)
            return tuple(one for one in known if one != checkout)

        self._change(drop)

    def _change(self, change: Callable[[tuple[Checkout, ...]], tuple[Checkout, ...]]) -> tuple[Checkout, ...]:
        with self._home.top() as top, FileLock(top, f"{FILE}.lock"):
            before = self.all()
            after = change(before)
            if after != before:
                self._home.replace(FILE, _spelled(after))
        return after


def _spelled(checkouts: tuple[Checkout, ...]) -> bytes:
    return msgspec.json.encode(_List(checkouts=checkouts)) + b"\n"


@contextlib.contextmanager
def checkouts_of(store: str, trust_home: str | None = None) -> Generator[Checkouts]:
    """The bound checkouts of a store, without opening it. Raises as opening it does."""
    try:
        with Root.open(store, writes=False) as root:
            store_id, place = read_claim(root), root.path
    except FileNotFoundError:
        raise InvalidInput(NO_STORE) from None
    with open_home(base(trust_home), store_id) as home:
        yield Checkouts(home, place)
