"""Files a person names: read as they are named, written only where nothing is."""

import os
from pathlib import Path
from unittest.mock import Mock

import pytest

from nsstore.errors import EscapeError, InvalidInput, SystemFailure
from nsstore.root import Root
from nsstore.root.named import NamedFile, require_outside, write_new
from nsstore.root.named_folder import NamedFolder, NewFolder
from nsstore.root.scratch import scratch


def test_a_named_file_is_read_to_its_limit(tmp_path: Path) -> None:
    """All of a file comes, and one byte more than the limit is refused."""
    file = tmp_path / "f"
    file.write_bytes(b"x" * 100_000)
    with NamedFile(str(file), "it") as opened:
        assert opened.size == 100_000
        assert opened.read_all(100_000) == b"x" * 100_000
    with (
        NamedFile(str(file), "it") as opened,
        pytest.raises(InvalidInput, match="it must hold at most 99999 bytes"),
    ):
        opened.read_all(99_999)


def test_privacy_is_seen(tmp_path: Path) -> None:
    """A file that others may read, write or run is not private."""
    file = tmp_path / "f"
    file.write_bytes(b"x")
    for mode, private in ((0o600, True), (0o400, True), (0o640, False), (0o604, False), (0o610, False)):
        file.chmod(mode)
        with NamedFile(str(file), "it") as opened:
            assert opened.private is private, oct(mode)


@pytest.mark.parametrize("name", ["nowhere", "a\0b", "", "f/below"])
def test_what_is_not_there_is_a_failure_without_its_path(tmp_path: Path, name: str) -> None:
    """A name that leads nowhere fails in words, without the name."""
    (tmp_path / "f").write_bytes(b"")
    path = f"{tmp_path}/{name}" if name else ""
    with pytest.raises(SystemFailure) as failed:
        NamedFile(path, "it")
    assert str(failed.value).startswith("opening it: ")
    assert str(tmp_path) not in str(failed.value)


def test_no_directory_and_no_device_is_read(tmp_path: Path) -> None:
    """What is neither a regular file nor a pipe is refused, and no descriptor stays open."""
    before = len(os.listdir("/proc/self/fd"))
    for path in (str(tmp_path), "/dev/zero"):
        with pytest.raises(InvalidInput, match="regular file or a pipe"):
            NamedFile(path, "it")
    assert len(os.listdir("/proc/self/fd")) == before


def test_a_new_file_is_whole_and_private(tmp_path: Path) -> None:
    """A written file has all bytes and mode 0600 under any umask."""
    for umask in (0o000, 0o077, 0o777):
        before = os.umask(umask)
        try:
            write_new(str(tmp_path / f"f{umask}"), b"bytes", "it")
        finally:
            os.umask(before)
        assert (tmp_path / f"f{umask}").stat().st_mode & 0o7777 == 0o600
        assert (tmp_path / f"f{umask}").read_bytes() == b"bytes"


def test_nothing_is_replaced(tmp_path: Path) -> None:
    """A name that is taken, by whatever, is refused and stays as it is."""
    (tmp_path / "file").write_bytes(b"mine")
    (tmp_path / "link").symlink_to(tmp_path / "file")
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    (tmp_path / "folder").mkdir()
    for name in ("file", "link", "dangling", "folder"):
        with pytest.raises(InvalidInput, match="it must be a new file"):
            write_new(str(tmp_path / name), b"yours", "it")
    assert (tmp_path / "file").read_bytes() == b"mine"
    assert not (tmp_path / "nowhere").exists()


def test_a_failure_leaves_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When the flush fails nothing is left under the name."""
    monkeypatch.setattr(os, "fsync", Mock(side_effect=OSError(5, "input/output error")))
    with pytest.raises(SystemFailure, match="writing it"):
        write_new(str(tmp_path / "f"), b"bytes", "it")
    assert list(tmp_path.iterdir()) == []


def test_a_scratch_folder_is_gone_afterwards() -> None:
    """A scratch folder is private, and removed with what is in it, also after a failure."""
    paths: list[Path] = []

    def stumble() -> None:
        with scratch("test") as path:
            paths.append(Path(path))
            assert paths[0].stat().st_mode & 0o7777 == 0o700
            (paths[0] / "f").write_text("x")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        stumble()
    assert not paths[0].exists()


def test_folders_are_directories_only(tmp_path: Path) -> None:
    """Files and links are no folders, a link to a folder neither."""
    tmp_path.chmod(0o700)
    (tmp_path / "b").mkdir(mode=0o700)
    (tmp_path / "a").mkdir(mode=0o700)
    (tmp_path / "file").write_bytes(b"")
    (tmp_path / "link").symlink_to(tmp_path / "a")
    with Root.open(tmp_path) as root, root.top() as top:
        assert top.folders() == ["a", "b"]
        assert sorted(top.names()) == ["a", "b", "file", "link"]


def test_outside_is_outside_by_whatever_way(tmp_path: Path) -> None:
    """A name in a directory, or one that a link leads into it, is not outside; a name beside it is."""
    root = tmp_path / "root"
    (root / "deep").mkdir(parents=True)
    (tmp_path / "link").symlink_to(root / "deep")
    (tmp_path / "dead").symlink_to(root / "nowhere")
    (tmp_path / "around").symlink_to("link")
    for name in ("root", "root/new", "root/deep/new", "link", "link/new", "dead", "around", "x/../root/new"):
        with pytest.raises(InvalidInput, match="it must lie outside"):
            require_outside(f"{tmp_path}/{name}", "it", str(root))
    for name in ("new", "rooted", "new/link", "link/../../new"):
        require_outside(f"{tmp_path}/{name}", "it", str(root))


def test_a_new_folder_is_no_link(tmp_path: Path) -> None:
    """A link to an empty directory is refused as a new folder, and no descriptor stays open."""
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    before = len(os.listdir("/proc/self/fd"))
    with pytest.raises(InvalidInput, match="not a link"):
        NewFolder(str(tmp_path / "link"), "it")
    assert len(os.listdir("/proc/self/fd")) == before
    assert list((tmp_path / "real").iterdir()) == []


def test_a_second_name_of_a_file_is_not_read(tmp_path: Path) -> None:
    """A file of a folder with another name is refused with the way out, and one with a single name read."""
    (tmp_path / "vault").mkdir()
    (tmp_path / "secret.md").write_bytes(b"secret")
    os.link(tmp_path / "secret.md", tmp_path / "vault" / "notes.md")
    (tmp_path / "vault" / "mine.md").write_bytes(b"mine")
    with NamedFolder(str(tmp_path / "vault"), "it") as folder:
        assert folder.read("mine.md", 10) == b"mine"
        with pytest.raises(EscapeError, match=r"hard link.*copy"):
            folder.read("notes.md", 10)
        (tmp_path / "secret.md").unlink()
        assert folder.read("notes.md", 10) == b"secret"
