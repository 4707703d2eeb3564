"""Binding a store with anything at all, and everything that a scope can be asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, cast

from nsstore import NA, NotVisible, OpenStore, Session

TYPICAL: Final[Mapping[str, object]] = {
    "tenant_id": "acme",
    "user_id": "alice",
    "project_id": "shop",
    "session_id": "s-1",
    "agent_id": "claude",
    "workspace_id": NA,
    "branch": "main",
    "baseline": "v1",
    "source_tool": "world",
    "purpose": "recall",
}


def bind(store: OpenStore, **changes: object) -> Session:
    """A session of the typical scope with these changes; what has to be refused can be given, too."""
    return store.bind(**cast("dict[str, Any]", {**TYPICAL, **changes}))


def bind_without(store: OpenStore, field: str) -> Session:
    """A session of the typical scope that leaves a field out."""
    return store.bind(**cast("dict[str, Any]", {k: v for k, v in TYPICAL.items() if k != field}))


def reached(session: Session, ids: list[str], words: str) -> dict[str, set[str]]:
    """The record ids that each verb reaches, of these ids and with these words."""

    def seen(read: Callable[[str], object]) -> set[str]:
        found: set[str] = set()
        for one in ids:
            try:
                read(one)
            except NotVisible:
                continue
            found.add(one)
        return found

    return {
        "get": seen(session.get),
        "history": seen(session.history),
        "list": {one.record_id for one in session.list(limit=1000, include_superseded=True).items},
        "search": {one.record_id for one in session.search(words, k=1000).hits},
    }


def tree(place: Path, *, but: tuple[str, ...] = ()) -> dict[str, tuple[int, int, bytes]]:
    """Every name beneath a directory with its inode, its mode and its bytes (a link's target)."""
    found: dict[str, tuple[int, int, bytes]] = {}
    for path in sorted(place.rglob("*")):
        name = str(path.relative_to(place))
        if not any(name.startswith(f"{one}/") or name == one for one in but):
            status = path.lstat()
            raw = b"" if path.is_dir() else bytes(path.readlink()) if path.is_symlink() else path.read_bytes()
            found[name] = (status.st_ino, status.st_mode, raw)
    return found
