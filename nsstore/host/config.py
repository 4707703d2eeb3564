"""The user's own configuration: one small file in their home that says which store, and who they are.

Nothing in it comes from a repository, and none of its keys says what a checkout or git says.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Final

import msgspec

from nsstore.errors import InvalidInput
from nsstore.root.owned import read_trusted

VARIABLE: Final = "NSSTORE_CONFIG"
WHAT: Final = "nsstore's configuration"
LIMIT: Final = 64 * 1024


class Configuration(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """What the user set once: store, tenant or group, user, agent and session; what is absent is unset."""

    store: str | None = None
    tenant: str | None = None
    group: str | None = None
    user: str | None = None
    agent: str | None = None
    session: str | None = None

    def __post_init__(self) -> None:
        for name, value in self.values().items():
            if not value or "\0" in value:
                raise InvalidInput(f"{name} in {WHAT} must not be empty: leave it out, or say what it is")
        if self.tenant is not None and self.group is not None:
            raise InvalidInput(f"only one of tenant and group may stand in {WHAT}")
        if self.store is not None and not os.path.isabs(self.store):
            raise InvalidInput(f"store in {WHAT} must be an absolute path")

    def values(self) -> dict[str, str]:
        """What is set, by its key."""
        named = {name: getattr(self, name) for name in self.__struct_fields__}
        return {name: value for name, value in named.items() if value is not None}


def config_path(environ: Mapping[str, str]) -> str:
    """Where the configuration is: the variable, else the user's configuration directory.

    Raises :class:`InvalidInput` for a path that is not absolute.
    """
    if VARIABLE in environ:
        chosen = environ[VARIABLE]
    else:
        folder = environ.get("XDG_CONFIG_HOME") or in_home(".config")
        chosen = os.path.join(folder, "nsstore", "config.toml")
    if not os.path.isabs(chosen) or "\0" in chosen:
        raise InvalidInput(f"the place of {WHAT} must be an absolute path: set {VARIABLE}")
    return chosen


def in_home(name: str) -> str:
    """A path in the user's home. Raises :class:`InvalidInput` where that is wherever a program stands."""
    home = os.path.expanduser("~")
    if os.environ.get("HOME") == "" or not os.path.isabs(home):
        raise InvalidInput("HOME must be an absolute path: set it to your home")
    return os.path.join(home, name)


def read_configuration(environ: Mapping[str, str]) -> Configuration:
    """The user's configuration; where there is no file, nothing is set.

    Raises :class:`InvalidInput` for a file that is none: no TOML, an unknown key, a value that is no text;
    and :class:`nsstore.Refused` for one that somebody else wrote, or could have.
    """
    raw = read_trusted(config_path(environ), LIMIT, WHAT)
    return Configuration() if raw is None else parsed(raw)


def parsed(raw: bytes) -> Configuration:
    """The configuration that a file says. Raises :class:`InvalidInput` naming the key and the rule."""
    import tomllib  # noqa: PLC0415 - only where there is a file

    try:
        found = tomllib.loads(raw.decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError):
        raise InvalidInput(f"{WHAT} is not TOML") from None
    known = Configuration.__struct_fields__
    for name, value in found.items():
        if name not in known:
            raise InvalidInput(f"{WHAT} has a key that is not known: only {', '.join(known)} may stand in it")
        if type(value) is not str:
            raise InvalidInput(f"{name} in {WHAT} must be text in quotes")
    return Configuration(**found)


def spelled(configuration: Configuration) -> bytes:
    """A configuration as a file of its own."""
    lines = (f"{name} = {quoted(value)}\n" for name, value in configuration.values().items())
    return ("# Who asks, where nothing nearer says so: `nsstore scope` shows it.\n" + "".join(lines)).encode()


def quoted(text: str) -> str:
    """A text as a TOML string, which is JSON's but for one character."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
