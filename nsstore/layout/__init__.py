"""Where a namespace lies: ids to path components and back, and every path that derives from them."""

from nsstore.layout.components import MAX_BYTES, decode, encode
from nsstore.layout.paths import (
    MAX_PATH_BYTES,
    RECORD_SUFFIX,
    RIGHTS_HEAD,
    RIGHTS_LIST,
    RIGHTS_LOCK,
    anchor_path,
    audit_dir,
    audit_head_path,
    audit_lock_path,
    check_budget,
    is_record_name,
    ledger_path,
    lock_path,
    record_dir,
    record_id_of,
    record_path,
)

__all__ = [
    "MAX_BYTES",
    "MAX_PATH_BYTES",
    "RECORD_SUFFIX",
    "RIGHTS_HEAD",
    "RIGHTS_LIST",
    "RIGHTS_LOCK",
    "anchor_path",
    "audit_dir",
    "audit_head_path",
    "audit_lock_path",
    "check_budget",
    "decode",
    "encode",
    "is_record_name",
    "ledger_path",
    "lock_path",
    "record_dir",
    "record_id_of",
    "record_path",
]
