"""The frozen components of format 1: no test writes this file, and a store on a disk depends on it."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from nsstore.layout import decode, encode

GOLDEN = Path(__file__).parent.parent / "golden" / "components.json"
ROWS = msgspec.json.decode(GOLDEN.read_bytes(), type=list[tuple[str, str, str]])
LEVEL = {"group": "tenant", "conversation": "session"}


@pytest.mark.parametrize(("dimension", "id_", "component"), ROWS)
def test_component_is_frozen(dimension: str, id_: str, component: str) -> None:
    """This id has this component in every version that reads format 1, and it leads back."""
    assert encode(dimension, id_) == component
    back = decode(LEVEL.get(dimension, dimension), component)
    assert back == (None if "%~" in component else (dimension, id_))


def test_golden_file_covers_the_rules() -> None:
    """Each dimension, marker and way of spelling stands in the file, and no component twice at one level."""
    components = [component for _, _, component in ROWS]
    assert len(ROWS) >= 80
    assert {dimension for dimension, _, _ in ROWS} == {
        "tenant",
        "user",
        "project",
        "session",
        "workspace",
        *LEVEL,
    }
    for part in (
        "%g.",
        "%c.",
        "%n.",
        "%~",
        "%2e",
        "%25",
        "%2b",
        "%7e",
        "%2f",
        "%20",
        "+a",
        "%63on",
        "%f0%9f",
    ):
        assert any(part in component for component in components), part
    here = [(LEVEL.get(dimension, dimension), component) for dimension, _, component in ROWS]
    assert len(set(here)) == len(ROWS)
