"""What a directory holds is asked anew: a descriptor that was opened before may not know what came since."""

import os
from pathlib import Path

import pytest

from nsstore.root import Root


def test_a_listing_knows_what_came_since(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On btrfs a descriptor lists what was there when it was opened: each listing opens one of its own."""
    with Root.make(tmp_path / "root") as root, root.top() as top:
        asked: list[int] = []
        listdir, scandir = os.listdir, os.scandir

        def listed(fd: int) -> list[str]:
            asked.append(fd)
            return listdir(fd)

        def scanned(fd: int) -> object:
            asked.append(fd)
            return scandir(fd)

        monkeypatch.setattr(os, "listdir", listed)
        monkeypatch.setattr(os, "scandir", scanned)
        top.make("folder")
        assert top.names() == top.folders() == ["folder"]
        assert len(asked) == 2
        assert not {top.fd, root.fd} & set(asked)
