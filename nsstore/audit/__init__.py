"""Witnesses what happened: one keyed chain of events per tenant."""

from nsstore.audit.events import (
    AuditEvent,
    AuditLine,
    EventForm,
    EventKind,
    Spelled,
    digest_of,
    event_form,
    spelled,
)
from nsstore.audit.log import AuditLog
from nsstore.audit.reading import AuditVerdict, read_events, read_lines, verify

__all__ = [
    "AuditEvent",
    "AuditLine",
    "AuditLog",
    "AuditVerdict",
    "EventForm",
    "EventKind",
    "Spelled",
    "digest_of",
    "event_form",
    "read_events",
    "read_lines",
    "spelled",
    "verify",
]
