"""What an incident of the audit is about: its digest, compared with everything of the tenant that it may be.

The audit holds a keyed digest and no name. Whoever holds the trust home can make it again of each name
in the tenant's own namespaces: one that gives the same digest is the very one, and nothing else is shown.
"""

from __future__ import annotations

import hmac
import os
import re
from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Final

import msgspec

from nsstore.audit import AuditLine, digest_of, read_events
from nsstore.errors import InvalidInput, StoreError
from nsstore.layout import record_id_of
from nsstore.store import Store
from nsstore.store.namespaces import survey_names
from nsstore.store.survey import MAX_LEDGER

if TYPE_CHECKING:
    from nsstore.store import Leaf

NO_SUCH: Final = "this tenant's audit has no incident of that id"
WHOLE: Final = ("cell", "advance")
"""What stands for a namespace whose anchor proves nothing."""
_RECORD_ID: Final = re.compile(rb"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")


class IncidentFound(msgspec.Struct, frozen=True, kw_only=True):
    """An incident, and what it is about, as far as something that is there now proves it.

    ``namespace`` is the path of its records below the root, ``name`` the record's id or a file's name.
    Many names in one incident are told by their namespace and number alone.
    """

    incident: str
    at: str
    kind: str | None
    namespace: str | None = None
    name: str | None = None
    count: int | None = None


def find_incident(store: Store, tenant: tuple[str, str], incident: str) -> IncidentFound:
    """What an incident is about. Raises :class:`InvalidInput` for an id that the audit does not hold."""
    line = next((one for one in read_events(store.audit, tenant) if one.incident == incident), None)
    if line is None:
        raise InvalidInput(NO_SUCH)
    found = IncidentFound(incident=incident, at=line.at, kind=line.reason, count=line.count)
    if line.digest is None:
        return found
    for ns in survey_names(store.root, tenant).namespaces:
        leaf = store.leaf(ns)
        for shown, names in _candidates(leaf):
            if _is_of(store, leaf, line, names):
                return msgspec.structs.replace(found, namespace=leaf.place.records, name=shown)
    return found


def _is_of(store: Store, leaf: Leaf, line: AuditLine, names: tuple[bytes, ...]) -> bool:
    keys, chain = store.trust.keys, leaf.place.chain
    tenant_keys = (keys.tenant(key_id, chain.tenant) for key_id in keys.masters)
    return any(
        hmac.compare_digest(digest_of(key, chain, *names), line.digest or "")
        for key in tenant_keys
        if key is not None
    )


def _candidates(leaf: Leaf) -> Iterator[tuple[str | None, tuple[bytes, ...]]]:
    """All that a namespace may have told of: its names, its records, itself, and many names at once."""
    raw, names = b"", list[str]()
    with suppress(StoreError):
        raw = leaf.store.root.read(leaf.place.ledger, MAX_LEDGER) or b""
    with suppress(StoreError):
        folder = leaf.store.root.dir(leaf.place.records)
        if folder is not None:
            with folder:
                names = sorted(folder.names())
    known = {one.decode() for one in _RECORD_ID.findall(raw)}
    for name in (*names, *sorted(known)):
        yield record_id_of(name) or name, (os.fsencode(name),)
    for name in sorted({one for name in names if (one := record_id_of(name)) is not None} - known):
        yield name, (name.encode(),)
    for whole in (*WHOLE, *(str(seq) for seq in range(-1, raw.count(b"\n") + 2))):
        yield None, (whole.encode(),)
    others = [name for name in names if record_id_of(name) not in known]
    yield None, tuple(map(os.fsencode, others))
