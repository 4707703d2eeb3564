"""Witnesses what the owner said: one signed, chained, numbered list, its head in the trust home."""

from nsstore.rights.listing import Listing, in_force, kept_of, revoked
from nsstore.rights.signing import Make, append, begin
from nsstore.rights.standing import RightsList, Standing
from nsstore.rights.statements import (
    LONGEST_DAYS,
    Accepted,
    Allowlisted,
    Assurance,
    Granted,
    Kept,
    OwnerNamed,
    Revoked,
    Statement,
    spelled_time,
    time_of,
)

__all__ = [
    "LONGEST_DAYS",
    "Accepted",
    "Allowlisted",
    "Assurance",
    "Granted",
    "Kept",
    "Listing",
    "Make",
    "OwnerNamed",
    "Revoked",
    "RightsList",
    "Standing",
    "Statement",
    "append",
    "begin",
    "in_force",
    "kept_of",
    "revoked",
    "spelled_time",
    "time_of",
]
