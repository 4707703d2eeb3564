"""``ext``, the caller's own metadata: bounded JSON that no decision reads and no name can disguise."""

from __future__ import annotations

import re
from typing import Final, cast

from nsstore.errors import InvalidInput
from nsstore.record.fields import FIELDS
from nsstore.record.spelling import escape, spell

MAX_BYTES: Final = 8 * 1024
MAX_DEPTH: Final = 4
"""``ext`` itself is the first level; an object or list inside the fourth is refused."""

ORIGINAL: Final = "original"
"""The one name the store may set itself: foreign front matter, whole, as one text."""

# Other names for what a header line says, and the request's names for it. Closed: a name that is
# neither here nor a header field is the caller's own.
_ALIASES: Final = (
    *("tenant", "tenants", "org", "org_id", "organization", "organization_id", "organisation"),
    *("organisation_id", "account_id", "customer_id", "group", "groups", "user", "users", "user_name"),
    *("owner", "owner_id", "uid", "gid", "project", "projects", "project_hash", "session", "sessions", "sid"),
    *("conversation", "conversations", "thread", "thread_id", "chat_id", "workspace", "workspaces", "cwd"),
    *("branches", "current_branch", "allowed_branches", "baselines", "current_baseline", "allowed_baselines"),
    *("agent", "agents", "task", "tool", "purpose", "clearance", "classification", "role", "roles"),
    *("request_tenant_id", "request_group_id", "request_user_id", "request_session_id"),
    *("request_conversation_id", "request_project_id", "request_workspace_id"),
    *("scope", "scopes", "namespace", "namespaces", "envelope", "acl", "grant", "grants", "visibility"),
    *("id", "uuid", "guid", "path", "file_path", "record_path", "directory", "dir"),
    *("sequence", "sequence_number", "timestamp", "created", "created_on", "creation_time", "updated_at"),
    *("modified_at", "mtime", "ctime", "expires", "expiry", "ttl", "retention", "legal_hold"),
    *("mac", "hmac", "signature", "idempotency_key", "idem", "schema"),
)
_KEY: Final = re.compile(r"[A-Za-z0-9_.-]{1,64}")
_LOOKS_LIKE: Final = str.maketrans("015i", "olsl")


def _skeleton(name: str) -> str:
    # Only ASCII comes here, so this is case folding, dropping punctuation, and the letters and
    # digits that are read for one another.
    return "".join(filter(str.isalnum, name.lower())).translate(_LOOKS_LIKE)


_TAKEN: Final = {_skeleton(name): name for name in (*_ALIASES, *FIELDS)}
LONGEST: Final = max(map(len, _TAKEN))
OUTSIDE: Final = frozenset({""})
_ORIGINAL_RUN: Final = _skeleton(ORIGINAL)


def check_ext(ext: object, *, original: str | None = None) -> dict[str, object] | None:
    """A copy of the caller's ``ext``, in which no name can pass for a header field.

    JSON objects, lists, texts, 64-bit integers, booleans and null; no floats; at most 4 levels and
    8 KiB as spelled in the header. A key is 1 to 64 of ASCII letters, digits, ``_``, ``.`` and ``-``:
    look-alike letters of other scripts, brackets and slashes have no way in. No run of segments along
    dots and nesting may read as a header field or a listed alias of one, whatever its case and
    punctuation, and with digits for letters (``tenant_1d``).

    ``original`` is what the store itself keeps as ``ext.original``; a caller cannot set that name.
    ``None`` and ``{}`` without ``original`` give ``None``. Raises :class:`InvalidInput`, which names the
    header field and never the caller's content (``docs/format.md``, "Record").
    """
    if ext is not None and type(ext) is not dict:
        raise InvalidInput("ext must be an object with text keys, or left out")
    copy = _object(cast("object", ext or {}), OUTSIDE, 1)
    if original is not None:
        copy[ORIGINAL] = _text(original)
    return _bounded(copy) if copy else None


def check_sealed_ext(ext: object) -> dict[str, object]:
    """A copy of a header's ``ext``, never empty, by the rules of :func:`check_ext`, ``original`` allowed."""
    if type(ext) is not dict or not ext:
        raise InvalidInput("ext must be an object with at least one key, or null")
    members = cast("dict[object, object]", ext)
    own = {key: value for key, value in members.items() if key != ORIGINAL}
    copy = _object(own, OUTSIDE, 1)
    if ORIGINAL in members:
        copy[ORIGINAL] = _text(members[ORIGINAL])
    return _bounded(copy)


def _bounded(copy: dict[str, object]) -> dict[str, object]:
    if len(escape(spell(copy))) > MAX_BYTES:
        raise InvalidInput(f"ext must be at most {MAX_BYTES} bytes of JSON")
    return copy


def _value(value: object, before: frozenset[str], depth: int) -> object:
    kind = type(value)
    if value is None or kind is bool:
        return value
    if kind is str:
        return _text(value)
    if kind is int and -(2**63) <= cast("int", value) < 2**63:
        return value
    if kind not in {dict, list}:
        raise InvalidInput("ext must hold only objects, lists, texts, 64-bit integers, true, false and null")
    if depth > MAX_DEPTH:
        raise InvalidInput(f"ext must be at most {MAX_DEPTH} levels deep")
    if kind is list:
        return [_value(item, before, depth + 1) for item in cast("list[object]", value)]
    return _object(value, before, depth)


def _object(value: object, before: frozenset[str], depth: int) -> dict[str, object]:
    copy: dict[str, object] = {}
    for key, member in cast("dict[object, object]", value).items():
        if type(key) is not str or _KEY.fullmatch(key) is None:
            raise InvalidInput("ext keys must be 1 to 64 of the ASCII letters, digits, _ . and -")
        copy[key] = _value(member, runs_after(key, before), depth + 1)
    return copy


def runs_after(key: str, before: frozenset[str]) -> frozenset[str]:
    """Every run of whole segments that ends with this key, given those that ended before it.

    A run too long to be a taken name is dropped, so there are never more than the longest name has
    letters, and the empty one. Raises :class:`InvalidInput` for a run that is a taken name.
    """
    for segment in key.split("."):
        letters = _skeleton(segment)
        before = frozenset(run + letters for run in before if len(run + letters) <= LONGEST) | OUTSIDE
        for run in before:
            if run == _ORIGINAL_RUN:
                raise InvalidInput(f"ext must not name {ORIGINAL}: the store alone sets it")
            if run in _TAKEN:
                raise InvalidInput(f"ext must not name {_TAKEN[run]}: it reads as a header field")
    return before


def _text(value: object) -> str:
    if type(value) is not str:
        raise InvalidInput(f"ext.{ORIGINAL} must be a text")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise InvalidInput("ext must hold only texts that UTF-8 can encode") from None
    return value
