"""The reference of every command, made from the commands themselves.

``python -m nsstore.cli.reference`` prints ``docs/cli.md``; a test compares the two.
"""

from __future__ import annotations

from collections.abc import Iterator

import click

from nsstore.cli.examples import EXAMPLES
from nsstore.cli.exits import MEANING
from nsstore.cli.flags import DIMENSIONS, Dimension
from nsstore.cli.main import cli
from nsstore.cli.verbs import PROGRAM

HEAD = """# Commands

Made by `python -m nsstore.cli.reference`; a test compares this page with the program in both
directions. [guide.md](guide.md) is the way in.

Every command takes `--json`: then standard output holds JSON alone, one value, or one a line for
`audit`, and an error is `{"error": {"kind": …, "message": …, "retryable": …}}` there. Without it an
error is one line on standard error, `nsstore: <kind>: <message>`. `--store` (`NSSTORE_STORE`) is the
store's directory. Its keys are in the trust home, in `NSSTORE_TRUST_HOME`, else in
`~/.local/state/nsstore`.

## Scope

Who asks is never guessed. Each dimension comes from its flag, else from its variable, else from the
user's own configuration (`NSSTORE_CONFIG`, else `~/.config/nsstore/config.toml`), the checkout that the
owner allowed, or git inside that checkout; [`nsstore scope`](#nsstore-scope) shows which. A variable
that is set but empty is refused, and so is a dimension that nothing gives. `-` says that there is no
workspace, branch or baseline; it is a value of its own, not a wildcard. Of `--tenant` and `--group`
exactly one is given, and of `--session` and `--conversation`; a flag wins over the variables of its pair.
`--allowed-branch` and `--allowed-baseline` may be given more than once; their variables hold a JSON list,
as `["main", "feature/x"]`, since an id may hold any separator, and their flags take the list's place.
"""
SHARED = frozenset({"as_json", "store"})
EXITS = """
## Exit codes

| code | meaning |
|---|---|
"""


def reference() -> str:
    """The whole page, as Markdown."""
    lines = [HEAD, "| flag | variable | |", "|---|---|---|", *map(_dimension, DIMENSIONS)]
    lines.append(EXITS + "\n".join(f"| {code} | {meaning} |" for code, meaning in MEANING.items()))
    for path, command in commands(cli, PROGRAM):
        lines += ["", *_section(path, command)]
    return "\n".join(lines) + "\n"


def commands(command: click.Command, path: str) -> Iterator[tuple[str, click.Command]]:
    """Every command below this one with its full name, in the order of the help; groups come too."""
    if isinstance(command, click.Group):
        for name in command.list_commands(click.Context(command)):
            below = command.get_command(click.Context(command), name)
            assert below is not None
            yield f"{path} {name}", below
            yield from commands(below, f"{path} {name}")


def _section(path: str, command: click.Command) -> Iterator[str]:
    yield f"## {path}"
    yield ""
    if not isinstance(command, click.Group):
        pieces = command.collect_usage_pieces(click.Context(command, info_name=path))
        yield f"`{path} {' '.join(pieces)}`"
        yield ""
    yield "\n\n".join(" ".join(part.split()) for part in (command.help or "").split("\n\n"))
    lines = EXAMPLES.get(path.partition(" ")[2], ())
    if lines:
        yield from ("", "```sh", *lines, "```")
    scope = {one.name for one in DIMENSIONS}
    options = [one for one in command.params if isinstance(one, click.Option)]
    own = [one for one in options if one.name not in scope | SHARED]
    if own:
        yield ""
        yield "| flag | |"
        yield "|---|---|"
        yield from map(_row, own)
    if options:
        shared = [f"`{one.opts[0]}`" for one in options if one.name in SHARED]
        taken = [f"`{one.opts[0]}`" for one in options if one.name in scope]
        flags = ["the flags of the [scope](#scope)"] if len(taken) == len(scope) else taken
        yield ""
        yield f"{'And ' if own else 'Flags: '}{', '.join(shared + flags)}."


def _dimension(one: Dimension) -> str:
    values = f" One of {', '.join(one.choices)}." if one.choices else ""
    return f"| `{one.flag}` | `{one.variable}` | {one.help}{values} |"


def _row(option: click.Option) -> str:
    choices = option.type.choices if isinstance(option.type, click.Choice) else ()
    value = "" if option.is_flag else f" {option.metavar or 'WORD'}"
    values = f" One of {', '.join(choices)}." if choices else ""
    required = " [required]" if option.required else ""
    return f"| `{', '.join(option.opts)}{value}` | {option.help}{values}{required} |"


if __name__ == "__main__":
    click.echo(reference(), nl=False)
