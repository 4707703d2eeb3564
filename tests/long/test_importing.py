"""Ten thousand files of other people's writing, with every oddity, through an import and once more."""

from pathlib import Path

import pytest

from bench.importing.trial import run
from bench.importing.vault import make
from bench.world import World, unflushed

NUMBER = 10_000

pytestmark = pytest.mark.long


def test_nothing_is_lost(tmp_path: Path) -> None:
    """Each file is one record that says all it said, or is told with its rule; a repeat adds nothing."""
    vault = make(tmp_path / "vault", NUMBER)
    with unflushed(), World(place=tmp_path).make() as store:
        figures = run(store, vault)
    assert figures.faults == []
    assert figures.files == NUMBER == figures.written + sum(figures.refused.values())
    assert (figures.again_written, figures.again_repeated) == (0, figures.written)
