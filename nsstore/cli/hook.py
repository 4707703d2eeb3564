"""The verb ``hook``: what an agent's client runs when a session of it starts and ends."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

import click

from nsstore.cli import printing
from nsstore.cli.asker import flagged, scope_flags
from nsstore.cli.flags import standard_input
from nsstore.cli.verbs import Verbs, help_without_verb
from nsstore.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Mapping

    from nsstore.host.acting import Acting

CLIENT: Final = "claude-code"
SOURCE_TOOL: Final = "nsstore-hook"
RECALL: Final = "NSSTORE_RECALL"
CAPTURE: Final = "NSSTORE_CAPTURE"
MOST_SAID: Final = 1024 * 1024
NO_NOTE: Final = "no note of the session's end is kept: git does not say how the checkout is"


@click.group(cls=Verbs, invoke_without_command=True)
@click.pass_context
def hook(ctx: click.Context) -> None:
    """Run as a hook of an agent's client."""
    help_without_verb(ctx)


@hook.group(CLIENT, cls=Verbs, invoke_without_command=True)
@click.pass_context
def claude_code(ctx: click.Context) -> None:
    """Serve the hooks of Claude Code.

    It says on standard input which session it is.
    """
    help_without_verb(ctx)


@claude_code.command("start")
@click.option(
    "--bytes", "most", type=int, default=4096, metavar="N", help="Say at most this much; else 4096."
)
@scope_flags
def start(*, most: int, as_json: bool, **given: str | None) -> None:  # noqa: ARG001 - what a hook says is JSON
    """Hand the session over to the tools, and recall a little.

    What was remembered about the project, the branch and the last changes, and then what is newest, comes
    beneath what is so now, as advice. Where nothing was remembered, or the checkout is not bound, nothing
    is said. NSSTORE_RECALL=off recalls nothing.
    """
    from nsstore.host.handover import write_session
    from nsstore.host.recalling import LEAST_BYTES, MOST_HITS, MOST_NEWEST, Start, told, topic_of

    if most < LEAST_BYTES:
        raise InvalidInput(f"--bytes must be at least {LEAST_BYTES}")
    said = _said()
    session_id = said.get("session_id")
    if session_id is not None:
        write_session(CLIENT, session_id)
    if not _is_on(RECALL, if_unset=True):
        return
    acting = _acting(given, session_id)
    try:
        known = acting.at_once()
        if known is None:
            return
        session, sources = known[0], [Start(source) for source in known[1]]
        scope = session.envelope.scope
        topic = topic_of(scope.project_id, str(scope.branch), sources)
        evidence = session.evidence(topic, sources=sources, k=MOST_HITS)
        text = told(evidence, session.list(limit=MOST_NEWEST, every_session=True).items, most)
    finally:
        acting.close()
    if text:
        output = {"hookEventName": "SessionStart", "additionalContext": text}
        printing.emit({"hookSpecificOutput": output})


@claude_code.command("end")
@scope_flags
def end(*, as_json: bool, **given: str | None) -> None:  # noqa: ARG001 - it says nothing
    """Do nothing, unless NSSTORE_CAPTURE=on asks for a note.

    The note says where the work stood: branch, commit, changed files. No word of the conversation is kept.
    """
    if not _is_on(CAPTURE, if_unset=False):
        return
    from nsstore.host.recalling import Start

    acting = _acting(given, _said().get("session_id"))
    try:
        known = acting.at_once()
        if known is None:
            return
        session, sources = known
        said = [Start(source).said for source in sources[:1]]
        if None in said:
            printing.note(NO_NOTE)
        words = [f"{one.about}: {one.text}" for each in said for one in each or ()]
        if words:
            session.remember("\n".join(["The session ended here.", *words]), kind="handoff", tags=["handoff"])
    finally:
        acting.close()


def _acting(given: Mapping[str, str | None], session_id: str | None) -> Acting:
    from nsstore.host.acting import Acting

    return Acting(client=CLIENT, source_tool=SOURCE_TOOL, flags=flagged(given), handed=lambda _: session_id)


def _is_on(name: str, *, if_unset: bool) -> bool:
    """Whether a switch is on. Raises :class:`InvalidInput` for anything but on and off."""
    value = os.environ.get(name)
    if value not in {None, "on", "off"}:
        raise InvalidInput(f"{name} must be on or off")
    return if_unset if value is None else value == "on"


def _said() -> dict[str, str]:
    """What the client says of the session: its texts by name. Raises :class:`InvalidInput`."""
    import msgspec

    source = standard_input(f"{CLIENT} says there which session it is")
    raw = b"" if source.isatty() else source.read(MOST_SAID + 1)
    if not raw.strip():
        return {}
    try:
        said = msgspec.json.decode(raw, type=dict[str, object]) if len(raw) <= MOST_SAID else None
    except (msgspec.MsgspecError, RecursionError):
        said = None
    if said is None:
        raise InvalidInput(f"what {CLIENT} says on standard input must be a JSON object")
    return {name: value for name, value in said.items() if type(value) is str}
