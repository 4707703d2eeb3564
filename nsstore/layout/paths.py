"""Where things lie: every path below the root or the trust home, derived from a namespace alone.

Paths are relative, with ``/`` between components. No caller gives one, and nothing here touches a
disk (``docs/design.md``, "On the disk").
"""

from __future__ import annotations

import os
from typing import Final

from nsstore.errors import InvalidInput
from nsstore.layout.components import encode
from nsstore.scope.ids import check_record_id
from nsstore.scope.namespace import Namespace

RIGHTS_LIST: Final = "rights/statements.log"
RIGHTS_LOCK: Final = "rights/statements.lock"
RIGHTS_HEAD: Final = "anchors/rights/statements.anchors"
MAX_PATH_BYTES: Final = 4095  # Linux PATH_MAX is 4096 with the final NUL
RECORD_SUFFIX: Final = ".md"
_ANY_RECORD_ID: Final = "00000000-0000-7000-8000-000000000000"


def record_dir(ns: Namespace) -> str:
    """The leaf directory of a namespace: ``memory/<t>/<u>/<p>/<s>`` or ``state/<t>/<p>/<w>``."""
    return "/".join((ns.area, *(encode(dimension, id_) for dimension, id_ in ns.dimensions)))


def record_path(ns: Namespace, record_id: str) -> str:
    """The one path that a record of this namespace may have; raises :class:`InvalidInput`."""
    return f"{record_dir(ns)}/{check_record_id('record_id', record_id)}{RECORD_SUFFIX}"


def ledger_path(ns: Namespace) -> str:
    """The chain of a namespace: its leaf below ``ledger/``, with ``.log``."""
    return f"ledger/{record_dir(ns)}.log"


def lock_path(ns: Namespace) -> str:
    """The lock file of a namespace, beside its chain and never replaced."""
    return f"ledger/{record_dir(ns)}.lock"


def anchor_path(ns: Namespace) -> str:
    """The anchor file in the trust home: one for all leaves of a user and project, or of a project."""
    return f"anchors/{record_dir(ns).rpartition('/')[0]}.anchors"


def audit_dir(tenant: tuple[str, str]) -> str:
    """The directory of one tenant's or group's audit chain."""
    return f"audit/tenants/{encode(*tenant)}"


def audit_lock_path(tenant: tuple[str, str]) -> str:
    """The lock file of a tenant's audit chain: inside its directory, so that no other id can be its name."""
    return f"{audit_dir(tenant)}/audit.lock"


def audit_head_path(tenant: tuple[str, str]) -> str:
    """The file in the trust home that holds the head of a tenant's audit chain."""
    return f"anchors/audit/{encode(*tenant)}.anchors"


def check_budget(root_path: str, ns: Namespace) -> None:
    """Require that every path of the namespace below ``root_path`` fits into 4,095 bytes.

    Called before any directory is made, so a path that cannot be finished is never begun. Raises
    :class:`InvalidInput` with the number of bytes, never with the path.
    """
    below = (record_path(ns, _ANY_RECORD_ID), ledger_path(ns), lock_path(ns))
    longest = max(len(os.fsencode(os.path.join(root_path, path))) for path in below)
    if longest > MAX_PATH_BYTES:
        raise InvalidInput(
            f"the ids and the place of the root together make a path of {longest} bytes;"
            f" the limit is {MAX_PATH_BYTES}: use shorter ids or a root nearer to /"
        )


def record_id_of(name: str) -> str | None:
    """The record id that a file name spells, or ``None`` for a name that no record has."""
    stem, suffix = name[: -len(RECORD_SUFFIX)], name[-len(RECORD_SUFFIX) :]
    if suffix != RECORD_SUFFIX:
        return None
    try:
        return check_record_id("record_id", stem)
    except InvalidInput:
        return None


def is_record_name(name: str) -> bool:
    """True only for ``<lowercase UUIDv7>.md``."""
    return record_id_of(name) is not None
