"""The person's own files: what is written keeps owner, mode and links; what is obeyed is theirs."""

import os
import time
from pathlib import Path

import pytest

from nsstore.errors import InvalidInput, Refused
from nsstore.root.owned import identity, read_owned, read_trusted, remove_owned, replace_owned

NOBODY = 65_534


def test_a_directory_is_known_by_its_birth(tmp_path: Path) -> None:
    """A birth stays what it is when a directory is renamed or written to; a later one has another."""
    one = tmp_path / "one"
    one.mkdir()
    known = identity(str(one))
    assert known is not None
    assert (known.device, known.inode) == (one.stat().st_dev, one.stat().st_ino)
    assert known.birth is not None
    assert abs(known.birth - time.time_ns()) < 10**10
    (one / "file").touch()
    os.utime(one, (1, 1))
    one.chmod(0o700)
    assert identity(str(one.rename(tmp_path / "two"))) == known
    time.sleep(0.02)
    one.mkdir()
    later = identity(str(one))
    assert later is not None
    assert later.birth is not None
    assert later.birth > known.birth


def test_what_is_no_directory_has_no_identity(tmp_path: Path) -> None:
    """A file, a link that leads nowhere, nothing at all: none of them is a directory that can be bound."""
    (tmp_path / "file").touch()
    (tmp_path / "link").symlink_to("none")
    assert [identity(str(tmp_path / name)) for name in ("file", "link", "none", "a\0b")] == [None] * 4


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can write for another user")
def test_a_users_file_stays_theirs(tmp_path: Path) -> None:
    """Written by root, a file that is somebody else's keeps its owner, its group and its mode."""
    file = tmp_path / "file"
    file.write_bytes(b"old")
    os.chown(file, NOBODY, NOBODY)
    file.chmod(0o640)
    replace_owned(str(file), b"new", b"old", "the file")
    found = file.stat()
    assert (found.st_uid, found.st_gid, found.st_mode & 0o7777) == (NOBODY, NOBODY, 0o640)
    assert file.read_bytes() == b"new"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_an_owner_that_cannot_be_kept_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the system does not let the owner stay, the file stays as it is, and the way out is named."""

    def denied(*_: object) -> None:
        raise PermissionError(1, "no")

    file = tmp_path / "file"
    file.write_bytes(b"old")
    os.chown(file, NOBODY, NOBODY)
    monkeypatch.setattr("nsstore.root.owned.os.fchown", denied)
    with pytest.raises(Refused, match="chown"):
        replace_owned(str(file), b"new", b"old", "the file")
    assert os.listdir(tmp_path) == ["file"]
    assert file.read_bytes() == b"old"


def test_a_link_that_led_nowhere_stays(tmp_path: Path) -> None:
    """What was written through a link is removed where it is; the link stays as it was."""
    link = tmp_path / "link"
    link.symlink_to("far/file")
    replace_owned(str(link), b"new", None, "the file")
    assert (tmp_path / "far" / "file").read_bytes() == b"new"
    remove_owned(str(link), b"new", (str(tmp_path / "far"),), "the file")
    assert link.is_symlink()
    assert os.listdir(tmp_path) == ["link"]


@pytest.mark.parametrize("how", ["file", "folder", "folder of the link", "owner", "owner of the folder"])
def test_what_others_can_write_is_not_obeyed(tmp_path: Path, how: str) -> None:
    """A file that others could have written, or put in its place, is refused with what helps, and no path."""
    if "owner" in how and os.geteuid() != 0:
        pytest.skip("only root can give a file away")
    kept, folder = tmp_path / "kept", tmp_path / "links"
    kept.mkdir()
    folder.mkdir()
    file, link = kept / "file", folder / "link"
    file.write_bytes(b"x")
    link.symlink_to(file)
    assert read_trusted(str(link), 10, "the file") == b"x"
    if how == "file":
        file.chmod(0o620)
    elif how == "folder":
        kept.chmod(0o702)
    elif how == "folder of the link":
        folder.chmod(0o1777)
    else:
        os.chown(file if how == "owner" else kept, NOBODY, -1)
    with pytest.raises(Refused, match="chmod go-w") as refused:
        read_trusted(str(link), 10, "the file")
    assert str(tmp_path) not in str(refused.value)
    assert read_owned(str(link), 10, "the file") == b"x"


def test_what_is_not_there_is_not_obeyed_either(tmp_path: Path) -> None:
    """Where there is no file nobody's is obeyed, whoever may write there; a folder is refused."""
    tmp_path.chmod(0o777)
    assert read_trusted(str(tmp_path / "none"), 10, "the file") is None
    (tmp_path / "folder").mkdir()
    with pytest.raises(InvalidInput, match="regular file"):
        read_trusted(str(tmp_path / "folder"), 10, "the file")
