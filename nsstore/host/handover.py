"""Handing a session over: the hook of a client writes its id where the client's own server reads it.

Both are children of one client process, and that process is the address: a client that runs twice has two
sessions, and neither server can take the other's. What cannot be told is ``None``, and nothing is guessed.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Annotated, Final

import msgspec

from nsstore.errors import Refused, StoreError
from nsstore.host.carried import require_apart
from nsstore.root import Root, real_path
from nsstore.root.named import NamedFile
from nsstore.root.owned import here
from nsstore.scope import check_id, check_name
from nsstore.trust.home import base

FOLDER: Final = "handover"
WHAT: Final = "the place where sessions are handed over"
# What may stand between a client and what it starts: none of these is a client.
BETWEEN: Final = frozenset(
    {
        *("sh", "bash", "dash", "zsh", "fish", "ksh", "busybox", "env", "timeout", "nice", "time"),
        *("uv", "uvx", "pipx", "direnv", "mise"),
    }
)
# What takes in whom its own parent left behind: it started many, and is nobody's client.
ADOPTS: Final = frozenset(
    {
        *("init", "systemd", "launchd", "tini", "dumb-init", "docker-init", "catatonit"),
        *("s6-svscan", "runit", "runsvdir", "openrc-init"),
    }
)
_LIMIT: Final = 4 * 1024
_MOST_STEPS: Final = 32


class Handed(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The session of a client's process; ``boot`` is when the machine was started, as it calls that."""

    session_id: Annotated[str, msgspec.Meta(min_length=1)]
    boot: str


class Process(msgspec.Struct, frozen=True, kw_only=True):
    """A process as the system knows it: no other had this id and this start since the machine was started."""

    pid: int
    start: int
    name: str
    parent: int

    @property
    def file(self) -> str:
        """The name under which its session is handed over."""
        return f"{self.pid}-{self.start}.json"


def write_session(client: str, session_id: str) -> None:
    """Hand a session over to whatever else this process's client started.

    Raises :class:`nsstore.InvalidInput` for an id that is none, :class:`nsstore.Refused` where nobody can
    tell which process the client is (``no_client``) or the place lies in the checkout, and what writing
    raises.
    """
    check_name("client", client.replace("-", "_"))
    check_id("session_id", session_id)
    whose = client_process()
    if whose is None:
        raise Refused(
            "no client started this: a hook is run by the client itself; NSSTORE_SESSION says it otherwise",
            reason="no_client",
        )
    require_apart(here(), os.environ)
    raw = msgspec.json.encode(Handed(session_id=session_id, boot=_boot()))
    with _place(make=True) as place, place.make_dir(client) as folder:
        folder.replace(whose.file, raw)
        for name in folder.names():
            if name != whose.file and not _lives(name):
                folder.unlink(name, flush=False)


def read_session(client: str) -> str | None:
    """The session that this process's client last handed over, or ``None`` if none is to be had."""
    check_name("client", client.replace("-", "_"))
    whose = client_process()
    if whose is None:
        return None
    try:
        with _place(make=False) as place:
            raw = place.read(f"{client}/{whose.file}", _LIMIT)
    except FileNotFoundError:
        return None
    if raw is None or len(raw) > _LIMIT:
        return None
    try:
        handed = msgspec.json.decode(raw, type=Handed)
        return check_id("session_id", handed.session_id) if handed.boot == _boot() else None
    except (msgspec.MsgspecError, StoreError):
        return None


def client_process() -> Process | None:
    """The nearest process above this one that is no shell and no launcher; ``None`` if nobody can tell.

    In a container that may be the first one.
    """
    found = next((one for one in _above() if one.name not in BETWEEN), None)
    return None if found is not None and found.name in ADOPTS else found


def process(pid: int | str) -> Process | None:
    """A process by its id, or ``self``; ``None`` if there is none, or this system does not say."""
    try:
        with NamedFile(f"/proc/{pid}/stat", "a process") as file:
            raw = file.read(_LIMIT).decode("utf-8", "replace")
    except StoreError:
        return None
    # The name stands in brackets and may hold any character, so the fields are counted from its end.
    before, _, after = raw.rpartition(")")
    number, _, name = before.partition(" (")
    fields = after.split()
    if not number.isdigit() or len(fields) < 20:
        return None
    return Process(pid=int(number), start=int(fields[19]), name=name, parent=int(fields[1]))


def _above() -> Iterator[Process]:
    at = process("self")
    for _ in range(_MOST_STEPS):
        at = None if at is None or at.parent < 1 else process(at.parent)
        if at is None:
            return
        yield at


def _lives(name: str) -> bool:
    pid = name.partition("-")[0]
    found = process(pid) if pid.isdigit() else None
    return found is not None and found.file == name


def _boot() -> str:
    """What the machine calls the time since it was started; a process id means nothing beyond it."""
    try:
        with NamedFile("/proc/sys/kernel/random/boot_id", "the system") as file:
            return file.read(_LIMIT).decode("ascii", "replace").strip()
    except StoreError:
        return ""


def _place(*, make: bool) -> Root:
    """The private directory, beside the keys of stores: where hook and server look for a store as well.

    A client may start the two with different variables, so nothing else tells them one place. Raises
    ``FileNotFoundError`` if it is not there and not to be made, :class:`nsstore.EscapeError` for one that
    others can enter, :class:`nsstore.Refused` for a link.
    """
    above = base(None)
    path = os.path.join(above, FOLDER)
    found = Root.make(path, what=WHAT) if make else Root.open(path, writes=False, what=WHAT)
    if found.path != os.path.join(real_path(above), FOLDER):
        found.close()
        raise Refused(f"{WHAT} is a link: remove it", reason="link")
    return found
