"""Binds: a session is the capability to act in one scope."""

from nsstore.session.documents import StateDocuments
from nsstore.session.evidence import Evidence, Given, Statement, Truth, TruthSource
from nsstore.session.listing import Listing
from nsstore.session.opened import OpenStore, open_store
from nsstore.session.session import Session

__all__ = [
    "Evidence",
    "Given",
    "Listing",
    "OpenStore",
    "Session",
    "StateDocuments",
    "Statement",
    "Truth",
    "TruthSource",
    "open_store",
]
