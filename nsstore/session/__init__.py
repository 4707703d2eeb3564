"""Binds: a session is the capability to act in one scope."""

from nsstore.session.documents import StateDocuments
from nsstore.session.opened import OpenStore, open_store
from nsstore.session.session import Listing, Session

__all__ = ["Listing", "OpenStore", "Session", "StateDocuments", "open_store"]
