"""A scratch folder: where a self-test makes a store that nobody keeps."""

from __future__ import annotations

import tempfile
from collections.abc import Generator
from contextlib import contextmanager

from nsstore.errors import SystemFailure


@contextmanager
def scratch(purpose: str) -> Generator[str]:
    """The path of a new private folder, removed with all that is in it when the block ends."""
    try:
        folder = tempfile.TemporaryDirectory(prefix=f"nsstore-{purpose}-")
    except OSError as err:
        raise SystemFailure("making a temporary folder", err) from None
    with folder as path:
        yield path
