"""Witnesses what happened: one keyed chain of events per tenant."""

from nsstore.audit.events import AuditEvent, AuditLine, EventKind, Spelled, WrittenForm, digest_of, spelled
from nsstore.audit.log import AuditLog
from nsstore.audit.reading import AuditVerdict, read_events, read_lines, verify

__all__ = [
    "AuditEvent",
    "AuditLine",
    "AuditLog",
    "AuditVerdict",
    "EventKind",
    "Spelled",
    "WrittenForm",
    "digest_of",
    "read_events",
    "read_lines",
    "spelled",
    "verify",
]
