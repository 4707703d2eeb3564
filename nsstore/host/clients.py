"""The clients that setup knows: which of the user's own files each reads, and what goes into them."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from nsstore.errors import InvalidInput
from nsstore.host.config import (
    LIMIT,
    VARIABLE,
    WHAT,
    Configuration,
    config_path,
    in_home,
    quoted,
    read_configuration,
)
from nsstore.host.edits import Change, Edit, JsonEdit, TomlEdit, WholeEdit
from nsstore.host.skill import SKILL
from nsstore.search.home import VARIABLE as CACHE_VARIABLE
from nsstore.search.home import base as cache_base
from nsstore.trust.home import VARIABLE as TRUST_VARIABLE
from nsstore.trust.home import base

SERVER: Final = "nsstore"
CLAUDE_CODE: Final = "claude-code"
CODEX: Final = "codex"
OTHER: Final = "other"
"""Any other client: nothing is written for it, and it is told by hand how its server is started."""
HOOK_SECONDS: Final = 10
STARTUP_SECONDS: Final = 30
HOOKS: Final = (("SessionStart", "start"), ("SessionEnd", "end"))
HEADING: Final = "# Who asks, where nothing nearer says so: `nsstore scope` shows it.\n"

Program = Sequence[str]
_Edits = Callable[[Program, Mapping[str, str]], tuple[Edit, ...]]


def edits_for(client: str, program: Program, environ: Mapping[str, str]) -> tuple[Edit, ...]:
    """What goes into the files of a client; ``program`` is how nsstore is started.

    Raises :class:`InvalidInput` for a client that is not known.
    """
    if client not in CLIENTS:
        raise InvalidInput(f"the client must be one of {', '.join(CLIENTS)}")
    return CLIENTS[client](program, environ)


def configuration_edit(wanted: Configuration, environ: Mapping[str, str]) -> Edit | None:
    """What goes into the user's own configuration; ``None`` if all of it stands there.

    Raises :class:`InvalidInput` if something else stands there.
    """
    known = read_configuration(environ).values()
    new = {name: value for name, value in wanted.values().items() if name not in known}
    for name, value in wanted.values().items():
        if known.get(name, value) != value:
            raise InvalidInput(f"{name} is another one in {WHAT}: change it there, or take that one")
    if not new:
        return None
    path = config_path(environ)
    lines = "".join(f"{name} = {quoted(value)}\n" for name, value in new.items())
    return TomlEdit(
        path=path,
        what=f"{WHAT} ({path})",
        by_hand=f"remove the lines of {', '.join(new)}",
        lines=HEADING + lines,
        changes=tuple(Change(keys=(name,), value=value) for name, value in new.items()),
    )


def _claude_code(program: Program, environ: Mapping[str, str]) -> tuple[Edit, ...]:
    """Claude Code: its servers and its settings are two files, and skills are folders."""
    own = environ.get("CLAUDE_CONFIG_DIR")
    home = _absolute("CLAUDE_CONFIG_DIR", own) if own else in_home(".claude")
    servers = os.path.join(home, ".claude.json") if own else in_home(".claude.json")
    settings = os.path.join(home, "settings.json")
    skill = os.path.join(home, "skills", "nsstore", "SKILL.md")
    server = {
        "type": "stdio",
        "command": program[0],
        "args": [*program[1:], "mcp", "--client", CLAUDE_CODE, "--agent", CLAUDE_CODE],
        "env": _passed(environ),
    }
    return (
        JsonEdit(
            path=servers,
            what=f"the servers of Claude Code ({servers})",
            by_hand="`claude mcp remove --scope user nsstore`",
            changes=(Change(keys=("mcpServers", SERVER), value=server),),
        ),
        JsonEdit(
            path=settings,
            what=f"the settings of Claude Code ({settings})",
            by_hand="remove the hooks that call `nsstore hook`",
            changes=tuple(
                Change(
                    keys=("hooks", event),
                    value={"hooks": [_hook(verb, program, environ)]},
                    element=True,
                )
                for event, verb in HOOKS
            ),
        ),
        _skill(skill),
    )


def _codex(program: Program, environ: Mapping[str, str]) -> tuple[Edit, ...]:
    """Codex: one TOML file; no hook hands a session over, so its server has one of its own, by name."""
    own = environ.get("CODEX_HOME")
    home = _absolute("CODEX_HOME", own) if own else in_home(".codex")
    path = os.path.join(home, "config.toml")
    env = _passed(environ)
    args = [*program[1:], "mcp", "--client", CODEX, "--agent", CODEX, "--session", CODEX]
    server = {
        "command": program[0],
        "args": args,
        "startup_timeout_sec": STARTUP_SECONDS,
        "env": env,
    }
    table = f"[mcp_servers.{SERVER}]\n"
    table += f"command = {quoted(program[0])}\n"
    table += f"args = [{', '.join(map(quoted, args))}]\n"
    table += f"startup_timeout_sec = {STARTUP_SECONDS}\n"
    pairs = ", ".join(f"{name} = {quoted(value)}" for name, value in env.items())
    table += f"env = {{{pairs}}}\n"
    return (
        TomlEdit(
            path=path,
            what=f"the configuration of Codex ({path})",
            by_hand="`codex mcp remove nsstore`",
            lines=table,
            changes=(Change(keys=("mcp_servers", SERVER), value=server),),
        ),
        _skill(os.path.join(home, "skills", "nsstore", "SKILL.md")),
    )


def _other(program: Program, environ: Mapping[str, str]) -> tuple[Edit, ...]:  # noqa: ARG001 - as the others
    """Of a client that is not known no file is known either."""
    return ()


def server_for(agent: str, program: Program, environ: Mapping[str, str]) -> dict[str, object]:
    """How any client starts the server for an agent, whose session has its name: no hook hands one over."""
    args = [*program[1:], "mcp", "--client", OTHER, "--agent", agent, "--session", agent]
    return {"command": program[0], "args": args, "env": _passed(environ)}


CLIENTS: Final[dict[str, _Edits]] = {CLAUDE_CODE: _claude_code, CODEX: _codex, OTHER: _other}
LARGEST: Final = 64 * LIMIT * 8
"""Of a client's file: Claude Code keeps its history of projects beside its servers."""


def _hook(verb: str, program: Program, environ: Mapping[str, str]) -> dict[str, object]:
    variables = [f"{name}={value}" for name, value in _passed(environ).items()]
    words = ["env", *variables, *program, "hook", CLAUDE_CODE, verb, "--agent", CLAUDE_CODE]
    return {"type": "command", "command": shlex.join(words), "timeout": HOOK_SECONDS}


def _skill(path: str) -> WholeEdit:
    return WholeEdit(path=path, what=f"the skill ({path})", by_hand="remove it", text=SKILL)


def _passed(environ: Mapping[str, str]) -> dict[str, str]:
    """Where things are, in the user's own settings: so no variable of a checkout says it otherwise."""
    places = {VARIABLE: config_path(environ), TRUST_VARIABLE: base(None), CACHE_VARIABLE: cache_base()}
    return {name: environ.get(name) or place for name, place in places.items()}


def _absolute(variable: str, path: str) -> str:
    if not os.path.isabs(path):
        raise InvalidInput(f"{variable} must be an absolute path")
    return path
