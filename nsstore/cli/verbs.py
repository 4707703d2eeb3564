"""The group of verbs: how every command ends, whatever happened inside."""

from __future__ import annotations

import contextlib
import io
import os
import sys
import warnings
from collections.abc import Callable, Generator, Mapping, MutableMapping, Sequence
from importlib import import_module
from typing import Any, Final, NoReturn

import click
from click.shell_completion import shell_complete

from nsstore.cli.examples import show_examples
from nsstore.cli.exits import EXITS, INTERRUPTED, OK, PIPE_CLOSED, USAGE
from nsstore.cli.printing import error_json, is_plain, note, words_of
from nsstore.errors import InvalidInput, StoreError, SystemFailure

PROGRAM: Final = "nsstore"
COMPLETE: Final = "_NSSTORE_COMPLETE"


class Verbs(click.Group):
    """Runs a verb and ends with its exit code; an error is one line or one JSON value, never a traceback."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's own signature
        """The verbs in the order a newcomer needs them."""
        return list(self.commands)

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,  # noqa: ARG002 - click's own signature
        complete_var: str | None = None,  # noqa: ARG002 - as above
        standalone_mode: bool = True,  # noqa: ARG002, FBT001, FBT002 - as above
        windows_expand_args: bool = True,  # noqa: ARG002, FBT001, FBT002 - as above
        **extra: Any,  # noqa: ANN401 - as above
    ) -> NoReturn:
        """Run the program and exit."""
        given = list(sys.argv[1:] if args is None else args)
        if None in (sys.stdin, sys.stdout, sys.stderr):
            from nsstore.root.named import fill_standard_descriptors

            fill_standard_descriptors()
            sys.stderr = sys.stderr or io.StringIO()  # nobody is there to be told
        if instruction := os.environ.get(COMPLETE):
            sys.exit(_completed(self, instruction))
        if is_plain():
            extra["color"] = False
        sys.exit(_ended(self, given, extra))


class Program(Verbs):
    """The verbs by where each is: only the one that is called is imported, and all of them for the help."""

    where: Mapping[str, tuple[str, str]] = {}
    """The module of each verb, and its name there."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's own signature
        """The verbs in the order a newcomer needs them."""
        return list(self.where)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """A verb, with its examples at the end of its help."""
        found = super().get_command(ctx, cmd_name)
        if found is None and cmd_name in self.where:
            module, name = self.where[cmd_name]
            found = getattr(import_module(module), name)
            assert isinstance(found, click.Command)
            show_examples(cmd_name, found)
            self.add_command(found, cmd_name)
        return found


def help_without_verb(ctx: click.Context) -> None:
    """Print the help of a group that was called without a verb."""
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


def _completed(verbs: Verbs, instruction: str) -> int:
    """Answer a shell that completes a line; somebody who merely set its variable is told so."""
    try:
        return shell_complete(verbs, {}, PROGRAM, COMPLETE, instruction)
    except (KeyError, ValueError):
        return _tell(
            "usage", f"{COMPLETE} is for a shell that completes a line: unset it", USAGE, as_json=False
        )


def _require_text(given: list[str]) -> None:
    """Require UTF-8 of every argument and variable. Raises :class:`InvalidInput`."""
    own = [(name, value) for name, value in os.environ.items() if name.startswith("NSSTORE_")]
    for name, value in [*(("an argument", one) for one in given), *own]:
        try:
            value.encode()
        except UnicodeEncodeError:
            raise InvalidInput(f"{name} is not UTF-8") from None


def _ended(verbs: Verbs, given: list[str], extra: MutableMapping[str, Any]) -> int:
    as_json = "--json" in given[: given.index("--")] if "--" in given else "--json" in given
    if sys.stdout is None:
        sys.stdout = io.StringIO()
        return _tell("os", "standard output is closed", EXITS["os"], as_json=False)
    try:
        _require_text(given)
        with _plain_streams(), verbs.make_context(PROGRAM, given, **extra) as ctx:
            verbs.invoke(ctx)
            sys.stdout.flush()
    except click.exceptions.Exit as done:
        return done.exit_code
    except BrokenPipeError:
        sys.stdout = io.StringIO()  # the interpreter flushes it once more when it ends
        return PIPE_CLOSED
    except click.Abort:  # somebody who was asked said no, or went away
        note("nothing is changed")
        return INTERRUPTED
    except KeyboardInterrupt:
        return INTERRUPTED
    except click.ClickException as err:
        return _tell("usage", _usage(err), USAGE, as_json=as_json)
    except StoreError as err:
        return _tell(err.kind, words_of(err), EXITS[err.kind], as_json=as_json, retryable=err.retryable)
    except OSError as err:
        return _tell("os", str(SystemFailure("this command", err)), EXITS["os"], as_json=as_json)
    except UnicodeError:
        return _tell("invalid", "a name on the way is not UTF-8", EXITS["invalid"], as_json=as_json)
    return OK


def _usage(err: click.ClickException) -> str:
    ctx = getattr(err, "ctx", None)
    path = ctx.command_path if isinstance(ctx, click.Context) else PROGRAM
    if isinstance(err, click.NoSuchOption) and ctx is not None and isinstance(ctx.command, click.Group):
        verbs = [ctx.command.get_command(ctx, name) for name in ctx.command.list_commands(ctx)]
        below = {flag for one in verbs if one for param in one.params for flag in param.opts}
        if err.option_name in below:
            return f"{err.option_name} goes after the verb (see `{path} --help`)"
    message = err.format_message().replace("\n\t", " ").replace(",\n\t", ", ")
    return f"{message} (see `{path} --help`)"


def _tell(kind: str, message: str, code: int, *, as_json: bool, retryable: bool = False) -> int:
    """One line on standard error, or, with ``--json``, one value where the answer would have been.

    Where standard output takes nothing the line is all there is; where neither does, the exit code is.
    """
    try:
        if as_json:
            click.echo(error_json(kind, message, retryable=retryable))
        sys.stdout.flush()
    except BrokenPipeError:
        sys.stdout = io.StringIO()  # the interpreter flushes it once more when it ends
    except OSError:
        sys.stdout, as_json = io.StringIO(), False  # as above
    if not as_json:
        try:
            note(message, kind)
            sys.stderr.flush()
        except OSError:
            sys.stderr = io.StringIO()  # as above
    return code


@contextlib.contextmanager
def _plain_streams() -> Generator[None]:
    """A character that a stream cannot show is an escape, and a warning is a line like any other."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure: Callable[..., None] | None = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")
    with warnings.catch_warnings():
        warnings.simplefilter("always", UserWarning)
        warnings.showwarning = _warn
        yield


def _warn(message: Warning | str, *_: object, **__: object) -> None:
    note(str(message), "warning")
