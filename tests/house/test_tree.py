"""Rules every file of the tree keeps."""

import re
from pathlib import Path

HOUSE = Path(__file__).parents[2]
FOLDERS = ("nsstore", "search", "writers", "harness", "tests", "bench")
SILENCED = re.compile(r"#\s*(?:type: ignore|pyright: ignore|noqa)(?P<codes>\S*)(?P<reason>.*)")


def sources() -> dict[str, list[str]]:
    """Each source file once, by its real place, with its lines."""
    files = {file.resolve() for folder in FOLDERS for file in (HOUSE / folder).rglob("*.py")}
    return {str(file.relative_to(HOUSE)): file.read_text().splitlines() for file in sorted(files)}


def test_no_file_is_crowded() -> None:
    """No source file is above 400 lines: a longer one is two rooms in one."""
    lengths = {name: len(lines) for name, lines in sources().items()}
    assert len(lengths) > 10
    assert {name: length for name, length in lengths.items() if length > 400} == {}


def test_nothing_is_silenced_without_a_reason() -> None:
    """Every silenced check names its code and has the reason beside it."""
    bare = [
        f"{name}:{number}"
        for name, lines in sources().items()
        for number, line in enumerate(lines, 1)
        if (found := SILENCED.search(line)) and (not found["codes"] or len(found["reason"].strip(" #")) < 10)
    ]
    assert bare == []


def test_no_room_is_a_cupboard() -> None:
    """No file has a name that says nothing of what is inside."""
    said_nothing = {"utils", "util", "helpers", "helper", "common", "misc", "manager", "service", "base"}
    assert [name for name in sources() if Path(name).stem in said_nothing] == []
