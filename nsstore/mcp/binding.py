"""What a server needs of its host: the session of the scope that holds right now, and what is true now."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from nsstore.session import Session, TruthSource


class Host(Protocol):
    """Who binds: a program on this machine, never the model. Asked again on each call of a tool."""

    def session(self) -> Session:
        """The session of this very moment: a branch may have changed, a commit been made.

        The same object as long as the scope is the same, so that a notice is given once. Raises
        :class:`nsstore.StoreError` naming what is missing and how to give it.
        """
        ...

    def sources(self) -> Sequence[TruthSource]:
        """The sources of truth of this moment, in the order in which they are asked."""
        ...
