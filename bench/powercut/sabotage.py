"""Breaking the order of writes on purpose: a trial that finds nothing must have been seen to find this."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from unittest.mock import patch

from nsstore.root import Dir, Root


@contextmanager
def records_unflushed() -> Generator[None]:
    """Acknowledge records that no flush made durable, one by one and in batches."""
    with patch.object(Dir, "flush_name"), patch.object(Root, "sync_all"):
        yield


@contextmanager
def unlinks_unflushed() -> Generator[None]:
    """Acknowledge a forget whose removals no flush made durable."""
    with patch.object(Dir, "flush"):
        yield
