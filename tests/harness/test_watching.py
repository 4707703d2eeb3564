"""The watch tells what is opened, by whatever way: else that nothing is would prove nothing."""

import mmap
import os
from pathlib import Path

from nsstore.root.system import openat2
from tests.harness.watching import Watch, mapped, opened_by_python


def test_every_way_to_open_is_seen(tmp_path: Path) -> None:
    """By the interpreter, by the kernel alone, and as a directory."""
    folder, file = tmp_path / "one", tmp_path / "one" / "file"
    folder.mkdir()
    file.write_text("x")
    with Watch([file, folder]) as watch, opened_by_python() as opened:
        assert watch.touched() == set()
        file.read_text()
        assert watch.touched() == {file}
        top = os.open(tmp_path, os.O_RDONLY)
        os.close(openat2(top, "one/file", os.O_RDONLY))
        os.close(top)
        assert watch.touched() == {file}
        os.listdir(folder)
        assert watch.touched() == {folder}
    assert str(file) in opened


def test_what_is_mapped_is_seen(tmp_path: Path) -> None:
    """As long as it is mapped, whoever mapped it."""
    file = tmp_path / "file"
    file.write_text("x")
    with file.open("rb") as handle, mmap.mmap(handle.fileno(), 0, prot=mmap.PROT_READ):
        assert str(file) in mapped()
    assert str(file) not in mapped()
