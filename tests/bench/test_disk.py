"""A flush is measured only where it costs what it costs in life."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.disk import UnfitDiskError, bench_dir, file_system, require_flush

MOUNTS = """\
22 1 254:0 / / rw,relatime - ext4 /dev/vda rw
23 22 0:20 / /memory rw - tmpfs tmpfs rw
24 23 254:1 / /memory/disk rw shared:1 - xfs /dev/vdb rw
25 22 0:21 / /a\\040b rw - tmpfs tmpfs rw
26 22 254:2 / /twice rw - ext4 /dev/vdc rw
27 26 0:22 / /twice rw - tmpfs tmpfs rw
"""


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/elsewhere", "ext4"),
        ("/memory", "tmpfs"),
        ("/memory/x/y", "tmpfs"),
        ("/memory/disk/x", "xfs"),
        ("/memory-like", "ext4"),
        ("/a b/c", "tmpfs"),
        ("/twice/x", "tmpfs"),
    ],
)
def test_the_deepest_and_last_mount_names_the_file_system(path: str, kind: str) -> None:
    """A path belongs to the deepest mount above it, by whole components, and to the last of equal ones."""
    assert file_system(Path(path), MOUNTS) == kind


def test_memory_is_refused_with_the_way_out() -> None:
    """A directory in memory is refused by a message that names its file system and the variable to set."""
    with pytest.raises(UnfitDiskError, match=r"tmpfs.*NSSTORE_BENCH_DIR"):
        require_flush(Path("/memory/x"), MOUNTS)


def test_a_disk_is_taken() -> None:
    """A directory on a disk below one in memory is accepted."""
    assert require_flush(Path("/memory/disk/x"), MOUNTS) == "xfs"


def test_a_directory_in_memory_is_not_even_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the disk is refused, nothing of the run is left behind."""
    monkeypatch.setattr("bench.disk.MOUNTS", tmp_path / "mounts")
    (tmp_path / "mounts").write_text("1 1 0:1 / / rw - tmpfs tmpfs rw\n")
    monkeypatch.setenv("NSSTORE_BENCH_DIR", str(tmp_path / "home"))
    with pytest.raises(UnfitDiskError, match="tmpfs"), bench_dir():
        pytest.fail("a directory in memory was given out")
    assert not (tmp_path / "home").exists()


def test_the_named_directory_is_used_and_left_clean(disk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """``NSSTORE_BENCH_DIR`` holds the run's directory while it lasts and nothing of it afterwards."""
    monkeypatch.setenv("NSSTORE_BENCH_DIR", str(disk))
    with bench_dir() as fresh:
        assert fresh.is_relative_to(disk)
        (fresh / "record").write_text("x")
    assert not fresh.exists()
    assert sorted(path.name for path in (disk / ".bench").iterdir()) == [".gitignore"]
