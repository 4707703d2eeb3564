"""The flags that commands share, the dimensions of the scope among them."""

from __future__ import annotations

import sys
from typing import BinaryIO, Final, NamedTuple

import click
from click.shell_completion import CompletionItem

from nsstore.errors import InvalidInput

SENSITIVITIES: Final = ("public", "internal", "confidential", "restricted")
PURPOSES: Final = ("recall", "report", "summarize", "handoff", "maintain")
NOT_APPLICABLE: Final = "-"


class Dimension(NamedTuple):
    """A flag of the scope: ``other`` may stand in its place, ``default`` is what it is if not given.

    ``may_lack`` is for what may be not applicable, which is said with ``-``. What has a ``plural`` may be
    given more than once; its variable holds them all as a JSON list, since an id may hold any separator.
    """

    name: str
    help: str
    other: str | None = None
    default: str | None = None
    may_lack: bool = False
    optional: bool = False
    choices: tuple[str, ...] = ()
    plural: str | None = None
    metavar: str = "ID"

    @property
    def flag(self) -> str:
        return f"--{self.name.replace('_', '-')}"

    @property
    def variable(self) -> str:
        return f"NSSTORE_{(self.plural or self.name).upper()}"

    @property
    def spelled(self) -> str:
        return f"{self.flag} ({self.variable}{', or - for none' if self.may_lack else ''})"


DIMENSIONS: Final = (
    Dimension("tenant", "The tenant; this or --group.", other="group"),
    Dimension("group", "The group; this or --tenant.", other="tenant", optional=True),
    Dimension("user", "The user."),
    Dimension("project", "The project."),
    Dimension("session", "The session; this or --conversation.", other="conversation"),
    Dimension("conversation", "The conversation; this or --session.", other="session", optional=True),
    Dimension("workspace", "The workspace, or - if there is none.", may_lack=True),
    Dimension("branch", "The branch, or - if there is none.", may_lack=True),
    Dimension("baseline", "The baseline, or - if there is none.", may_lack=True),
    Dimension("agent", "The agent; a person is the agent human, which is the default.", default="human"),
    Dimension("tool_context", "The tool context, where there is one.", optional=True),
    Dimension("task", "The task, where there is one.", optional=True),
    Dimension(
        "clearance", "The highest sensitivity to read or write; internal if not given.",
        default="internal", choices=SENSITIVITIES,
    ),
    Dimension(
        "allowed_branch", "A branch beside the current one, or -, whose records may be read, as stale.",
        plural="allowed_branches", optional=True, may_lack=True,
    ),
    Dimension(
        "allowed_baseline", "A baseline beside the current one, or -, whose records may be read, as stale.",
        plural="allowed_baselines", optional=True, may_lack=True,
    ),
    Dimension("role", "The role of who asks, where there is one.", optional=True, metavar="WORD"),
    Dimension(
        "commit", "The commit that is worked on: the whole id, 40 or 64 hex digits.",
        optional=True, metavar="HEX",
    ),
    Dimension("purpose", "What the answer is for; recall if not given.", default="recall", choices=PURPOSES),
)  # fmt: skip
BY_NAME: Final = {one.name: one for one in DIMENSIONS}
TENANT: Final = (BY_NAME["tenant"], BY_NAME["group"])

WORD: Final = "Lower case letters, digits and _, a letter first."
"""What a kind and a retention class are made of (``nsstore.scope.check_name``)."""


def a_file(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Have the shell complete the name of a file."""
    return [CompletionItem(incomplete, type="file")]


def a_folder(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Have the shell complete the name of a directory."""
    return [CompletionItem(incomplete, type="dir")]


store_option: Final = click.option(
    "--store",
    envvar="NSSTORE_STORE",
    show_envvar=True,
    metavar="PATH",
    help="The store's directory.",
    shell_complete=a_folder,
)
json_option: Final = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
text_option: Final = click.option(
    "--text", "only_text", is_flag=True, help="Print the text alone, byte for byte when piped."
)
limit_option: Final = click.option(
    "-n", "--limit", type=int, default=100, metavar="N",
    help="At most this many, from 1 to 1000; 100 if not given.",
)  # fmt: skip
sensitivity_option: Final = click.option(
    "--sensitivity",
    type=click.Choice(SENSITIVITIES),
    default="internal",
    help="How far it may be shown; internal if not given.",
)
retention_option: Final = click.option(
    "--retention-class",
    default="standard",
    metavar="WORD",
    help=f"How long it is kept; else standard. {WORD}",
)
expires_option: Final = click.option(
    "--expires-at", metavar="TIME", help="From this time on nothing serves it, as 2027-01-31T12:00:00Z."
)
ttl_option: Final = click.option(
    "--ttl", metavar="LENGTH", help="How long it lives, as 90d: a number and s, m, h, d or w."
)
ext_option: Final = click.option(
    "--ext", metavar="JSON", help="An object of your own metadata, which no decision reads."
)
idempotency_option: Final = click.option(
    "--idempotency-key", metavar="KEY", help="The same key and content give the first receipt again."
)
STDIN: Final = "-"
UNITS: Final = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}


def seconds_of(name: str, given: str | None) -> int | None:
    """A length of time from an option, in seconds. Raises :class:`InvalidInput`."""
    if given is None:
        return None
    number, unit = given[:-1], given[-1:]
    if not (number.isascii() and number.isdigit() and len(number) < 12 and unit in UNITS):
        raise InvalidInput(f"{name} must be a number and a unit, as 90d: s, m, h, d or w")
    return int(number) * UNITS[unit]


def store_path(given: str | None) -> str:
    """Where the store is: as given, else as the user's configuration says.

    Raises :class:`InvalidInput` if nobody said.
    """
    if not given:
        import os

        from nsstore.host.inference import STORE, stated

        given = stated({}, os.environ)[STORE].value
    if given is None:
        raise InvalidInput("which store? Give --store or set NSSTORE_STORE; `nsstore setup` makes one")
    return given


def text_of(given: str | None) -> str:
    """The text itself, or all of standard input, byte for byte.

    Raises :class:`InvalidInput` if there is neither, or it is no text.
    """
    if given is not None and given != STDIN:
        return given
    source = standard_input("give the text itself")
    if given is None and source.isatty():
        raise InvalidInput("which text? Give it, or - to read it from standard input")
    from nsstore.record import MAX_TEXT

    raw = source.read(MAX_TEXT + 1)
    if len(raw) > MAX_TEXT:
        raise InvalidInput(f"text must be at most {MAX_TEXT} bytes")
    try:
        return raw.decode()
    except UnicodeDecodeError:
        raise InvalidInput("text must be UTF-8") from None


def standard_input(instead: str) -> BinaryIO:
    """Standard input, byte for byte. Raises :class:`InvalidInput` if it is closed, and says what to do."""
    if sys.stdin is None:
        raise InvalidInput(f"standard input is closed: {instead}")
    return sys.stdin.buffer


def object_of(name: str, given: str | None) -> dict[str, object] | None:
    """A JSON object from an option. Raises :class:`InvalidInput`."""
    if given is None:
        return None
    from nsstore.exchange.strict_json import NotStrict, decode_object

    try:
        return decode_object(given.encode("utf-8", "surrogateescape"))
    except NotStrict as why:
        raise InvalidInput(f"{name} must be a JSON object: {why}") from None
