"""The group of verbs: how every command ends, whatever happened inside."""

from __future__ import annotations

import contextlib
import io
import os
import sys
import warnings
from collections.abc import Callable, Generator, MutableMapping, Sequence
from typing import Any, Final, NoReturn

import click
from click.shell_completion import shell_complete

from nsstore.cli.exits import EXITS, INTERRUPTED, OK, PIPE_CLOSED, USAGE
from nsstore.cli.printing import error_json, note, one_line
from nsstore.errors import StoreError, SystemFailure

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
        if instruction := os.environ.get(COMPLETE):
            sys.exit(shell_complete(self, {}, PROGRAM, COMPLETE, instruction))
        if "NO_COLOR" in os.environ:
            extra["color"] = False
        sys.exit(_ended(self, given, extra))


def help_without_verb(ctx: click.Context) -> None:
    """Print the help of a group that was called without a verb."""
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


def _ended(verbs: Verbs, given: list[str], extra: MutableMapping[str, Any]) -> int:
    as_json = "--json" in given[: given.index("--")] if "--" in given else "--json" in given
    try:
        with _plain_streams(), verbs.make_context(PROGRAM, given, **extra) as ctx:
            verbs.invoke(ctx)
            sys.stdout.flush()
    except click.exceptions.Exit as done:
        return done.exit_code
    except BrokenPipeError:
        sys.stdout = io.StringIO()  # the interpreter flushes it once more when it ends
        return PIPE_CLOSED
    except (KeyboardInterrupt, click.Abort):
        return INTERRUPTED
    except click.ClickException as err:
        return _tell("usage", _usage(err), USAGE, as_json=as_json)
    except StoreError as err:
        return _tell(err.kind, str(err), EXITS[err.kind], as_json=as_json, retryable=err.retryable)
    except OSError as err:
        return _tell("os", str(SystemFailure("this command", err)), EXITS["os"], as_json=as_json)
    return OK


def _usage(err: click.ClickException) -> str:
    ctx = getattr(err, "ctx", None)
    path = ctx.command_path if isinstance(ctx, click.Context) else PROGRAM
    return f"{err.format_message()} (see `{path} --help`)"


def _tell(kind: str, message: str, code: int, *, as_json: bool, retryable: bool = False) -> int:
    """One line on standard error, or, with ``--json``, one value where the answer would have been."""
    with contextlib.suppress(BrokenPipeError):
        if as_json:
            click.echo(error_json(kind, message, retryable=retryable))
        else:
            click.echo(f"nsstore: {kind}: {one_line(message)}", err=True)
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
