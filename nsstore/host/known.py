"""What is known of who asks, asked again as soon as anything it came from changed, and only then.

Asking git takes some of its processes. What git says of a branch, a commit and a tag lies in a few files
that it replaces, and in directories that show it; as long as all of them are as they were, and were for a
moment before they were read, the answer is the same. So are the bound checkouts and the configuration.
"""

from __future__ import annotations

import os.path
from collections.abc import Mapping
from typing import Final

from nsstore.host.checkouts import FILE
from nsstore.host.config import config_path
from nsstore.host.inference import Inferred, infer
from nsstore.root.owned import has_name, here, upwards
from nsstore.root.stamps import Stamp, folders_below, identity_stamp, moment, settled, stamp

MOST_FOLDERS: Final = 500
_OF_TREE: Final = ("HEAD", "config.worktree", "gitdir", "commondir", "reftable/tables.list")
_OF_ALL: Final = ("config", "packed-refs", "shallow", "reftable/tables.list")


class Known:
    """The last answer for one store, and the stamps under which it still holds."""

    def __init__(self) -> None:
        self._key: object = None
        self._paths: tuple[str, ...] = ()
        self._names: tuple[str, ...] = ()
        self._stamps: tuple[Stamp, ...] = ()
        self._inferred: Inferred | None = None

    def of(self, flags: Mapping[str, str | None], environ: Mapping[str, str], trust_home: str) -> Inferred:
        """As :func:`~nsstore.host.inference.infer`, where this process stands.

        ``environ`` is the process's own, which nobody else changes; ``trust_home`` is that of the very
        store. Raises as :func:`infer`.
        """
        key = (here(), dict(flags), trust_home)
        last = self._inferred
        if last is not None and key == self._key and self._now() == self._stamps:
            return last
        self._inferred = None
        config = config_path(environ)
        began, names = moment(), (*_places(key[0]), os.path.dirname(config))
        before = tuple(map(identity_stamp, names))
        found = infer(flags, environ, None)
        paths = _sources(found, config, trust_home)
        if paths is None:
            return found
        self._key, self._paths, self._names = key, paths, names
        stamps = self._now()
        if settled(stamps[: len(paths)], began) and stamps[len(paths) :] == before:
            self._stamps, self._inferred = stamps, found
        return found

    def _now(self) -> tuple[Stamp, ...]:
        return (*map(stamp, self._paths), *map(identity_stamp, self._names))


def _places(directory: str) -> tuple[str, ...]:
    """A directory and those above it, and where each would hold a repository."""
    return tuple(name for at in upwards(directory) for name in (at, os.path.join(at, ".git")))


def _sources(found: Inferred, config: str, trust_home: str) -> tuple[str, ...] | None:
    """The files and directories that an answer came from; ``None`` if they cannot all be looked at.

    As where git did not answer all that it was asked, and may do so the next time.
    """
    paths = [config, os.path.join(trust_home, FILE)]
    facts, checkout = found.facts, found.checkout
    if facts is not None:
        folders = folders_below(os.path.join(facts.common, "refs"), MOST_FOLDERS)
        if folders is None or not facts.whole:
            return None
        paths += [os.path.join(facts.git_dir, name) for name in _OF_TREE]
        paths += [os.path.join(facts.common, name) for name in _OF_ALL]
        paths += folders
    elif checkout is not None and has_name(checkout.path, ".git"):
        return None
    return tuple(dict.fromkeys(paths))
