"""The tools: what each takes, does and gives, in terms of a session; nothing here knows the protocol."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, TypeVar

import msgspec
from msgspec import UNSET

from nsstore.errors import InvalidInput, Refused
from nsstore.mcp import arguments as take
from nsstore.mcp import results as give
from nsstore.mcp import telling
from nsstore.mcp.binding import Host
from nsstore.mcp.faults import unknown_argument
from nsstore.mcp.update import updated
from nsstore.session import Given, Session
from nsstore.session.versions import SESSION, USER, require_own
from nsstore.writers.note import Receipt

ELSEWHERE: Final = (
    "this record is of another {}, and is forgotten from there alone: tell the user, who can do it with"
    " `nsstore forget ID` at a terminal, or update it with what holds now"
)
Taken = TypeVar("Taken", bound=take.Arguments)
Gives = TypeVar("Gives", bound=msgspec.Struct)
Call = Callable[[Host, Mapping[str, object]], tuple[msgspec.Struct, str]]


class Tool(msgspec.Struct, frozen=True, kw_only=True):
    """One tool, with what a client may show of it before it asks its user.

    None reaches beyond the store (``openWorldHint`` is false of each), and those that only read can be
    called again (``idempotentHint``).
    """

    name: str
    title: str
    about: str
    takes: type[take.Arguments]
    gives: type[msgspec.Struct]
    call: Call
    reads: bool
    destroys: bool


def _tool(
    *,
    name: str,
    title: str,
    about: str,
    takes: type[Taken],
    gives: type[Gives],
    act: Callable[[Host, Taken], Gives],
    tell: Callable[[Gives], str],
    reads: bool = False,
    destroys: bool = False,
) -> Tool:
    """A tool whose call checks its arguments.

    The call raises :class:`InvalidInput` naming the argument and the rule.
    """

    def call(host: Host, given: Mapping[str, object]) -> tuple[msgspec.Struct, str]:
        for argument in given:
            if argument not in takes.__struct_fields__:
                raise unknown_argument(name, argument)
        try:
            taken = msgspec.convert(given, takes)
        except msgspec.ValidationError as err:
            raise InvalidInput(f"{name}: {str(err)[:300]}") from None
        done = act(host, taken)
        return done, tell(done)

    return Tool(
        name=name,
        title=title,
        about=about,
        takes=takes,
        gives=gives,
        call=call,
        reads=reads,
        destroys=destroys,
    )


def _remember(host: Host, given: take.Remember) -> give.Written:
    receipt = host.session().remember(
        given.text,
        kind=given.kind,
        title=given.title,
        tags=given.tags,
        sensitivity=given.sensitivity,
        expires_at=given.expires_at,
        idempotency_key=given.idempotency_key,
    )
    return _written(receipt)


def _search(host: Host, given: take.Search) -> give.FoundMemory:
    return give.found_memory(host.session().search(given.query, k=given.k))


def _recall(host: Host, given: take.Recall) -> give.FoundMemory:
    """What is current and of the own user's project: a grant opens more to search, and nothing to recall."""
    session = host.session()
    own = session.envelope.scope
    answer = session.search(given.query, k=2 * take.MOST_HITS)
    hits = [
        hit
        for hit in answer.hits
        if (hit.provenance.scope["user_id"], hit.provenance.scope["project_id"])
        == (own.user_id, own.project_id)
    ]
    return give.found_memory(msgspec.structs.replace(answer, hits=tuple(hits[: given.k]), stale=()))


def _get(host: Host, given: take.Get) -> give.OneMemory:
    return give.one_memory(host.session().get(given.record_id), given.start, given.characters)


def _list(host: Host, given: take.List) -> give.ListedMemory:
    listing = host.session().list(limit=given.limit, before=given.before, every_session=given.every_session)
    return give.listed_memory(listing)


def _update(host: Host, given: take.Update) -> give.Written:
    return _written(updated(host.session(), given), given.record_id)


def _forget(host: Host, given: take.Forget) -> give.Forgotten:
    session = host.session()
    require_own(session, session.get(given.record_id), (*USER, *SESSION), ELSEWHERE)
    done = session.forget(given.record_id, only_this=given.only_this, dry_run=given.dry_run)
    return give.Forgotten(
        records=done.records,
        count=done.count,
        back=done.back,
        at=done.at,
        proof=done.proof,
        dry_run=given.dry_run,
    )


def _state_get(host: Host, given: take.StateGet) -> give.OneMemory:
    found = host.session().state.get(given.key, version=given.version)
    return give.one_memory(found, given.start, given.characters)


def _state_put(host: Host, given: take.StatePut) -> give.Written:
    if given.if_absent and given.expect is not None:
        raise InvalidInput("state_put takes one of expect and if_absent")
    absent = None if given.if_absent else UNSET
    try:
        receipt = host.session().state.put(
            given.key,
            given.text,
            expect=absent if given.expect is None else given.expect,
            sensitivity=given.sensitivity,
            idempotency_key=given.idempotency_key,
        )
    except Refused as err:
        if given.if_absent and err.reason == "changed_meanwhile":
            raise Refused("there is a document under this key already", reason="present") from None
        raise
    return _written(receipt)


def _evidence(host: Host, given: take.AskEvidence) -> give.FoundEvidence:
    session: Session = host.session()
    said = () if given.context is None else (Given(given.context),)
    return give.found_evidence(session.evidence(given.topic, sources=(*said, *host.sources()), k=given.k))


def _written(receipt: Receipt, *supersedes: str) -> give.Written:
    return give.Written(
        record_id=receipt.record_id,
        created_at=receipt.created_at,
        replayed=receipt.replayed,
        supersedes=supersedes,
    )


TOOLS: Final = (
    _tool(
        name="remember",
        title="Remember",
        about="Write a text down for later sessions: a decision, a preference, a lesson, how something is"
        " done here. One fact a record, in words that are found again. Only what the user would want kept: no"
        " secrets, and nothing that the code says itself.",
        takes=take.Remember,
        gives=give.Written,
        act=_remember,
        tell=telling.tell_written,
    ),
    _tool(
        name="search",
        title="Search memory",
        about="Find the best records for some words, among those this scope may read, with where each comes"
        " from. What is of an allowed other branch or baseline comes apart, as stale.",
        takes=take.Search,
        gives=give.FoundMemory,
        act=_search,
        tell=telling.tell_found,
        reads=True,
    ),
    _tool(
        name="recall",
        title="Recall",
        about="The few best current records of this very project for some words. Never another project's.",
        takes=take.Recall,
        gives=give.FoundMemory,
        act=_recall,
        tell=telling.tell_found,
        reads=True,
    ),
    _tool(
        name="get",
        title="Read a record",
        about="One record by its id, whole or a part of a long text.",
        takes=take.Get,
        gives=give.OneMemory,
        act=_get,
        tell=telling.tell_one,
        reads=True,
    ),
    _tool(
        name="list",
        title="List records",
        about="The newest records of this very session, each with the beginning of its text; with"
        " every_session those of every session of this project that is open to this one.",
        takes=take.List,
        gives=give.ListedMemory,
        act=_list,
        tell=telling.tell_listed,
        reads=True,
    ),
    _tool(
        name="update",
        title="Update a record",
        about="Put a text in the place of a record, of this session or of an earlier one: the older version"
        " is kept, and no longer ranks.",
        takes=take.Update,
        gives=give.Written,
        act=_update,
        tell=telling.tell_written,
    ),
    _tool(
        name="forget",
        title="Forget a record",
        about="Forget a record of this session for good, with the versions it took the place of. Only when"
        " the user asked for it: nothing brings it back. dry_run says what would go. One of an earlier"
        " session is for the user to forget.",
        takes=take.Forget,
        gives=give.Forgotten,
        act=_forget,
        tell=telling.tell_forgotten,
        destroys=True,
    ),
    _tool(
        name="state_get",
        title="Read a document",
        about="The document under a key, such as a plan or a list of what is left to do: this session's own,"
        " on this branch. What later sessions need is for remember.",
        takes=take.StateGet,
        gives=give.OneMemory,
        act=_state_get,
        tell=telling.tell_one,
        reads=True,
    ),
    _tool(
        name="state_put",
        title="Write a document",
        about="Write the next version of the document under a key. With expect it is written only if nobody"
        " else wrote one meanwhile.",
        takes=take.StatePut,
        gives=give.Written,
        act=_state_put,
        tell=telling.tell_written,
    ),
    _tool(
        name="evidence",
        title="Evidence",
        about="What is so now (branch, commit, baseline, changed files, commits that touch what the topic"
        " names), and beneath it, apart, what was remembered. Where the two differ, what is so now holds.",
        takes=take.AskEvidence,
        gives=give.FoundEvidence,
        act=_evidence,
        tell=telling.tell_evidence,
        reads=True,
    ),
)
BY_NAME: Final = {one.name: one for one in TOOLS}
