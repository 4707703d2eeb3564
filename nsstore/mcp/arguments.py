"""What a tool may be asked for: closed sets of arguments, none of which is a dimension of the scope."""

from __future__ import annotations

from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta

from nsstore.record import MAX_TEXT
from nsstore.session.evidence import MAX_STATEMENT, MAX_TOPIC

MOST_HITS: Final = 50
MOST_LISTED: Final = 100
MOST_CHARACTERS: Final = 20_000

RecordId = Annotated[str, Meta(description="The id of a record, as a result gave it.", max_length=200)]
Text = Annotated[str, Meta(description=f"The text, up to {MAX_TEXT} bytes.", min_length=1)]
Title = Annotated[str | None, Meta(description="A title of at most 200 characters.")]
Kind = Annotated[
    str | None,
    Meta(description="What kind it is, as decision, preference, lesson or handoff: lower case, one word."),
]
Tags = Annotated[list[str], Meta(description="Words to find it by.", max_length=32)]
Sensitivity = Annotated[
    Literal["public", "internal", "confidential", "restricted"],
    Meta(description="How far it may be shown; not above the own clearance."),
]
ExpiresAt = Annotated[
    str | None, Meta(description="From this time on nothing serves it, as 2027-01-31T12:00:00Z.")
]
IdempotencyKey = Annotated[
    str | None, Meta(description="The same key and content give the first receipt again: for a retry.")
]
Query = Annotated[str, Meta(description="Plain words; there is no query language.", max_length=MAX_TOPIC)]
Most = Annotated[int, Meta(description="At most this many.", ge=1, le=MOST_HITS)]


class Arguments(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The arguments of one tool; any other name is refused."""


class Remember(Arguments, frozen=True, kw_only=True):
    """What may be said of a text to remember."""

    text: Text
    title: Title = None
    kind: Kind = None
    tags: Tags = []
    sensitivity: Sensitivity = "internal"
    expires_at: ExpiresAt = None
    idempotency_key: IdempotencyKey = None


class Search(Arguments, frozen=True, kw_only=True):
    """What to look for."""

    query: Query
    k: Most = 5


class Recall(Arguments, frozen=True, kw_only=True):
    """What to look for among the own project's current records."""

    query: Query
    k: Most = 5


class Get(Arguments, frozen=True, kw_only=True):
    """Which record, and which part of a long text."""

    record_id: RecordId
    start: Annotated[int, Meta(description="From this character of the text on.", ge=0)] = 0
    characters: Annotated[int, Meta(description="At most this many of them.", ge=1, le=MOST_CHARACTERS)] = (
        MOST_CHARACTERS
    )


class List(Arguments, frozen=True, kw_only=True):
    """How many of the session's own records, or of every open one, and where an earlier list ended."""

    limit: Annotated[int, Meta(description="At most this many.", ge=1, le=MOST_LISTED)] = 20
    before: Annotated[str | None, Meta(description="Only what is older than this record.")] = None
    every_session: Annotated[bool, Meta(description="Those of every session that is open to this one.")] = (
        False
    )


class Update(Arguments, frozen=True, kw_only=True):
    """A text in the place of a record's; what is left out stays as it was."""

    record_id: RecordId
    text: Text
    title: Title = None
    kind: Kind = None
    tags: Annotated[list[str] | None, Meta(description="Words to find it by, in place of the old ones.")] = (
        None
    )
    idempotency_key: IdempotencyKey = None


class Forget(Arguments, frozen=True, kw_only=True):
    """Which record, and whether for good already."""

    record_id: RecordId
    only_this: Annotated[bool, Meta(description="Leave the versions that it took the place of.")] = False
    dry_run: Annotated[bool, Meta(description="Say what would go, and forget nothing.")] = False


class StateGet(Arguments, frozen=True, kw_only=True):
    """Which document, and which part of a long text."""

    key: Annotated[str, Meta(description="The key of the document.", max_length=200)]
    version: Annotated[str | None, Meta(description="The record id of an older version.")] = None
    start: Annotated[int, Meta(description="From this character of the text on.", ge=0)] = 0
    characters: Annotated[int, Meta(description="At most this many of them.", ge=1, le=MOST_CHARACTERS)] = (
        MOST_CHARACTERS
    )


class StatePut(Arguments, frozen=True, kw_only=True):
    """The next version of a document, and at which version it has to be."""

    key: Annotated[str, Meta(description="The key of the document.", max_length=200)]
    text: Text
    expect: Annotated[
        str | None, Meta(description="Refuse unless the newest version has this record id.")
    ] = None
    if_absent: Annotated[bool, Meta(description="Refuse if there is a document under the key.")] = False
    sensitivity: Sensitivity = "internal"
    idempotency_key: IdempotencyKey = None


class AskEvidence(Arguments, frozen=True, kw_only=True):
    """What it is about, and what the user said to be so."""

    topic: Annotated[
        str, Meta(description="What it is about, in plain words.", min_length=1, max_length=MAX_TOPIC)
    ]
    k: Most = 5
    context: Annotated[
        Annotated[str, Meta(max_length=MAX_STATEMENT)] | None,
        Meta(description="What the user said to be so now, in the user's words."),
    ] = None
