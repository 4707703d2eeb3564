"""What a record is: its header, its text, its one spelling in bytes, and what its seal covers."""

from nsstore.record.codec import Record, check_text, decode, encode
from nsstore.record.ext import check_ext
from nsstore.record.fields import FIELDS, MAX_HEADER, MAX_TEXT, SCHEMA_VERSION, SCOPE_FIELDS, Malformed
from nsstore.record.form import Form
from nsstore.record.header import MAX_SEQ, MAX_SUPERSEDES, MAX_TAGS, Header, new_record_id
from nsstore.record.imported import ImportedFrom
from nsstore.record.seal import (
    ZEROS,
    blank_seal,
    seal_chunks,
    seal_of,
    seal_parts,
    seal_text,
    with_seal,
)

__all__ = [
    "FIELDS",
    "MAX_HEADER",
    "MAX_SEQ",
    "MAX_SUPERSEDES",
    "MAX_TAGS",
    "MAX_TEXT",
    "SCHEMA_VERSION",
    "SCOPE_FIELDS",
    "ZEROS",
    "Form",
    "Header",
    "ImportedFrom",
    "Malformed",
    "Record",
    "blank_seal",
    "check_ext",
    "check_text",
    "decode",
    "encode",
    "new_record_id",
    "seal_chunks",
    "seal_of",
    "seal_parts",
    "seal_text",
    "with_seal",
]
