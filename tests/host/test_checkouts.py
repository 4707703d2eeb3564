"""A checkout is bound by the owner alone, and known by device, inode, birth and path."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

import nsstore
from nsstore.errors import InvalidInput, Refused
from nsstore.host.checkouts import FILE, Checkouts, checkouts_of
from nsstore.root import system
from tests.host.conftest import git, repository


@pytest.fixture
def store(tmp_path: Path) -> str:
    """A store that was just made, apart from every work tree."""
    path = tmp_path / "kept" / "store"
    nsstore.open(path, create=True).close()
    return str(path)


@pytest.fixture
def checkouts(store: str) -> Iterator[Checkouts]:
    """The bound checkouts of the store: none yet."""
    with checkouts_of(store) as found:
        yield found


def file_of(store: str) -> Path:
    """The list of bound checkouts in the store's trust home."""
    with nsstore.open(store) as opened:
        return Path(opened.trust.home.path) / FILE


def untold(_: int) -> None:
    """What a file system says that keeps no time of birth."""


def without_births(store: str) -> None:
    """Make the list as it was written before births were kept, or where the file system has none."""
    file = file_of(store)
    file.write_text(re.sub(r',"birth":\d+', "", file.read_text()))


def test_a_bound_checkout_is_found_from_below(checkouts: Checkouts, atlas: Path) -> None:
    """A directory inside a checkout is of it; one beside it, and the one above, are not."""
    bound = checkouts.bind(str(atlas), "acme/atlas", remote="example.com/acme/atlas")
    (atlas / "a-b" / "c").mkdir(parents=True)
    assert checkouts.find(str(atlas / "a-b" / "c")) == bound
    assert checkouts.find(str(atlas)) == bound
    assert checkouts.find(str(atlas.parent)) is None
    assert len(bound.workspace_id) == 16


def test_binding_again_changes_nothing(checkouts: Checkouts, atlas: Path) -> None:
    """The workspace stays the same; another project is refused until the owner lets go."""
    bound = checkouts.bind(str(atlas), "atlas")
    assert checkouts.bind(str(atlas), "atlas") == bound
    with pytest.raises(InvalidInput, match="--end"):
        checkouts.bind(str(atlas), "other")
    checkouts.end(bound)
    assert checkouts.find(str(atlas)) is None
    assert checkouts.bind(str(atlas), "other").workspace_id != bound.workspace_id


def test_a_repository_inside_a_checkout_is_none_of_it(checkouts: Checkouts, atlas: Path) -> None:
    """What was cloned or unpacked into a checkout, with a .git of its own, is bound to nothing."""
    checkouts.bind(str(atlas), "atlas")
    evil = repository(atlas / "vendor" / "evil", "git@example.com:acme/atlas.git")
    (evil / "src").mkdir()
    assert checkouts.find(str(evil / "src")) is None
    (atlas / "vendor" / "tree").mkdir()
    (atlas / "vendor" / "tree" / ".git").write_text(f"gitdir: {atlas}/.git\n")
    assert checkouts.find(str(atlas / "vendor" / "tree")) is None


def test_a_worktree_is_a_checkout_of_its_own(checkouts: Checkouts, atlas: Path, tmp_path: Path) -> None:
    """Another work tree of a bound repository is bound when the owner says so, to a workspace of its own."""
    first = checkouts.bind(str(atlas), "atlas")
    git(atlas, "worktree", "add", "-q", "-b", "x", str(tmp_path / "tree"))
    assert checkouts.find(str(tmp_path / "tree")) is None
    second = checkouts.bind(str(tmp_path / "tree"), "atlas")
    assert first.workspace_id != second.workspace_id


def test_a_moved_checkout_is_told_not_taken(checkouts: Checkouts, atlas: Path, tmp_path: Path) -> None:
    """Under another path it is unbound, known as moved, and keeps its workspace by the owner's word."""
    bound = checkouts.bind(str(atlas), "atlas")
    atlas.rename(tmp_path / "moved")
    (tmp_path / "moved" / "src").mkdir()
    assert checkouts.find(str(tmp_path / "moved")) is None
    assert checkouts.moved(str(tmp_path / "moved" / "src")) == bound
    again = checkouts.bind(str(tmp_path / "moved"), "atlas", same_as=bound)
    assert again.workspace_id == bound.workspace_id
    assert checkouts.all() == (again,)
    assert checkouts.moved(str(tmp_path / "moved")) is None


def test_another_directory_in_its_place_is_not_it(checkouts: Checkouts, atlas: Path, tmp_path: Path) -> None:
    """A directory put where a checkout was, or a link to one, is bound to nothing by that."""
    checkouts.bind(str(atlas), "atlas")
    atlas.rename(tmp_path / "away")
    atlas.mkdir()
    assert checkouts.find(str(atlas)) is None
    assert checkouts.moved(str(atlas)) is None


def test_a_device_may_be_numbered_anew(checkouts: Checkouts, store: str, atlas: Path) -> None:
    """The same place and inode under another device is not the checkout by itself, and told as it."""
    bound = checkouts.bind(str(atlas), "atlas")
    file = file_of(store)
    file.write_text(file.read_text().replace(f'"device":{bound.device}', '"device":9999'))
    assert checkouts.find(str(atlas)) is None
    before = checkouts.moved(str(atlas))
    assert before is not None
    assert checkouts.bind(str(atlas), "atlas", same_as=before).workspace_id == bound.workspace_id


def test_a_link_leads_to_the_checkout_itself(checkouts: Checkouts, atlas: Path, tmp_path: Path) -> None:
    """Bound through a link, it is the directory that is bound."""
    (tmp_path / "link").symlink_to(atlas)
    assert checkouts.bind(str(tmp_path / "link"), "atlas").path == str(atlas)


def test_what_keeps_the_store_is_no_checkout(checkouts: Checkouts, store: str, tmp_path: Path) -> None:
    """A directory around or in the store or its trust home, or one that is not there, is refused."""
    (Path(store) / "below").mkdir()
    for place in (tmp_path, Path(store), Path(store) / "below", tmp_path / "none"):
        with pytest.raises(InvalidInput):
            checkouts.bind(str(place), "atlas")
    with pytest.raises(InvalidInput):
        checkouts.bind(str(tmp_path / "kept"), "*")


def test_a_damaged_list_binds_nothing(checkouts: Checkouts, store: str, atlas: Path) -> None:
    """A list that is not whole is refused with what helps; nothing in it is believed."""
    checkouts.bind(str(atlas), "atlas")
    file = file_of(store)
    assert file.stat().st_mode & 0o777 == 0o600
    file.write_bytes(file.read_bytes().replace(b'"project_id":"atlas"', b'"project_id":"*"'))
    with pytest.raises(Refused, match="nsstore allow"):
        checkouts.find(str(atlas))


def test_a_clone_in_the_place_of_a_removed_checkout_is_another(
    checkouts: Checkouts, store: str, atlas: Path, tmp_path: Path
) -> None:
    """Same path, device and, as systems give numbers again, the same inode: it is bound to nothing."""
    evil = repository(tmp_path / "evil", "git@example.com:acme/atlas.git")
    bound = checkouts.bind(str(atlas), "atlas")
    for _ in range(64):
        shutil.rmtree(atlas)
        git(tmp_path, "clone", "-q", str(evil), "atlas")
        if atlas.stat().st_ino == bound.inode:
            break
    else:  # this file system gives no number again: have it as if it had
        file = file_of(store)
        file.write_text(file.read_text().replace(f'"inode":{bound.inode}', f'"inode":{atlas.stat().st_ino}'))
    assert checkouts.find(str(atlas)) is None
    assert checkouts.moved(str(atlas)) is None
    again = checkouts.bind(str(atlas), "atlas")
    assert again.workspace_id != bound.workspace_id
    assert checkouts.all() == (again,)


def test_another_directory_with_its_number_is_not_told_as_moved(
    checkouts: Checkouts, store: str, atlas: Path, tmp_path: Path
) -> None:
    """Elsewhere, with the number that a removed checkout had, a directory is nothing that was moved."""
    bound = checkouts.bind(str(atlas), "atlas")
    other = repository(tmp_path / "other")
    file = file_of(store)
    file.write_text(file.read_text().replace(f'"inode":{bound.inode}', f'"inode":{other.stat().st_ino}'))
    shutil.rmtree(atlas)
    assert checkouts.moved(str(other)) is None


def test_without_its_birth_a_checkout_waits_for_the_owner(
    checkouts: Checkouts, store: str, atlas: Path
) -> None:
    """A list of before is read; what it binds is told, and counts from the owner's next word on."""
    bound = checkouts.bind(str(atlas), "atlas")
    assert bound.birth is not None
    without_births(store)
    assert [one.birth for one in checkouts.all()] == [None]
    assert checkouts.find(str(atlas)) is None
    before = checkouts.moved(str(atlas))
    assert before is not None
    assert before.workspace_id == bound.workspace_id
    assert checkouts.bind(str(atlas), "atlas", same_as=before) == bound
    assert checkouts.find(str(atlas)) == bound


def test_a_project_of_before_can_be_another_now(checkouts: Checkouts, store: str, atlas: Path) -> None:
    """Where the birth was not kept the owner may name another project: it gets a workspace of its own."""
    bound = checkouts.bind(str(atlas), "atlas")
    without_births(store)
    other = checkouts.bind(str(atlas), "other")
    assert other.workspace_id != bound.workspace_id
    assert checkouts.all() == (other,)


def test_where_no_birth_is_told_the_rest_counts(
    checkouts: Checkouts, atlas: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a file system without times of birth device, inode and path are what there is."""
    monkeypatch.setattr(system, "birth", untold)
    bound = checkouts.bind(str(atlas), "atlas")
    assert bound.birth is None
    assert checkouts.find(str(atlas)) == bound
    monkeypatch.undo()
    assert checkouts.find(str(atlas)) is None


def test_a_key_twice_is_refused(checkouts: Checkouts, store: str, atlas: Path) -> None:
    """A list that names a key twice says two things, and none of them is believed."""
    checkouts.bind(str(atlas), "atlas")
    file = file_of(store)
    twice = '"project_id":"atlas","project_id":"evil"'
    file.write_text(file.read_text().replace('"project_id":"atlas"', twice))
    with pytest.raises(Refused, match="nsstore allow"):
        checkouts.find(str(atlas))
