"""The measurements lie beside the package, not in it; an installed nsstore stays first on the path."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).resolve().parents[2]))


@pytest.fixture
def disk() -> Iterator[Path]:
    """A fresh directory where a flush costs something, which ``tmp_path`` does not promise."""
    from bench.disk import UnfitDiskError, bench_dir

    try:
        with bench_dir() as fresh:
            yield fresh
    except UnfitDiskError as unfit:
        pytest.skip(str(unfit))
