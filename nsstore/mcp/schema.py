"""The schema of a tool's arguments and of its result, as the types say it.

A client checks each answer against it, record by record, so it is flat: no reference is followed, and a
remembered record is an object whose fields are described in words.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, cast

import msgspec

from nsstore.mcp.results import Memory
from nsstore.store import Provenance

_FIELDS: Final = ", ".join(Memory.__struct_fields__)
_WHENCE: Final = {
    "type": "object",
    "description": f"Where it comes from: {', '.join(Provenance.__struct_fields__)}.",
}
_REMEMBERED: Final = {
    "type": "object",
    "description": f"A record: {_FIELDS}. What cut is true of, get gives whole. {_WHENCE['description']}",
}
_TO_PROGRAMMERS: Final = frozenset({"title", "description"})


def schema_of(kind: type[msgspec.Struct]) -> dict[str, Any]:
    """The JSON schema of a type: an object at its root, as the protocol wants it.

    What describes a type to a programmer is left out; what describes a field to its user stays.
    """
    (root,), parts = msgspec.json.schema_components([kind], ref_template="{name}")
    bare = {
        name: {key: value for key, value in part.items() if key not in _TO_PROGRAMMERS}
        for name, part in parts.items()
    } | {Provenance.__name__: _WHENCE, Memory.__name__: _REMEMBERED}
    return cast("dict[str, Any]", _flat(root, bare))


def _flat(part: object, named: Mapping[str, object]) -> object:
    """A part of a schema with every reference in place, and a choice of bare types as one list."""
    if isinstance(part, list):
        return [_flat(one, named) for one in cast("list[object]", part)]
    if not isinstance(part, dict):
        return part
    given = cast("dict[str, object]", part)
    if "$ref" in given:
        return _flat(named[str(given["$ref"])], named)
    flat = {key: _flat(value, named) for key, value in given.items()}
    choices = cast("list[dict[str, object]]", flat.get("anyOf", []))
    if choices and all(set(one) == {"type"} for one in choices):
        del flat["anyOf"]
        flat["type"] = [one["type"] for one in choices]
    return flat
