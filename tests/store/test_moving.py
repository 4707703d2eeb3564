"""A store that was moved or put back is bound again; a copy never takes its place."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import nsstore
from nsstore.errors import InvalidInput, Refused
from nsstore.store import create_root, move, open_root

WHO = {"tenant_id": "acme", "user_id": "ada", "project_id": "atlas", "session_id": "monday"}


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A store with one record, its trust home beside it."""
    with nsstore.open(tmp_path / "root", create=True, trust_home=tmp_path / "trust") as store:
        bound(store).remember("the release train leaves on Thursdays")
    return tmp_path


def bound(store: nsstore.OpenStore) -> nsstore.Session:
    """A session of the one scope that these tests use."""
    na = nsstore.NA
    return store.bind(
        **WHO, agent_id="h", workspace_id=na, branch=na, baseline=na, source_tool="t", purpose="recall"
    )


def test_a_moved_store_is_bound_where_it_is_now(place: Path) -> None:
    """A root under another name is refused until it is bound there, and then holds what it held."""
    (place / "root").rename(place / "moved")
    with pytest.raises(Refused, match="nsstore move"):
        nsstore.open(place / "moved", trust_home=place / "trust")
    before, now = move(place / "moved", place / "trust")
    assert (before, now) == (str(place / "root"), str(place / "moved"))
    with nsstore.open(place / "moved", trust_home=place / "trust") as store:
        assert bound(store).list().total == 1


def test_a_store_put_back_from_a_copy_is_bound_again(place: Path) -> None:
    """The same path with another inode is refused until it is bound."""
    shutil.copytree(place / "root", place / "copy")
    shutil.rmtree(place / "root")
    (place / "copy").rename(place / "root")
    with pytest.raises(Refused):
        nsstore.open(place / "root", trust_home=place / "trust")
    move(place / "root", place / "trust")
    with nsstore.open(place / "root", trust_home=place / "trust") as store:
        assert bound(store).list().total == 1


def test_an_older_copy_that_is_bound_again_shows_its_loss(place: Path) -> None:
    """Binding brings nothing back: what was written after the copy is missed by the anchors."""
    shutil.copytree(place / "root", place / "copy")
    with nsstore.open(place / "root", trust_home=place / "trust") as store:
        bound(store).remember("one more")
    shutil.rmtree(place / "root")
    (place / "copy").rename(place / "root")
    move(place / "root", place / "trust")
    with nsstore.open(place / "root", trust_home=place / "trust") as store:
        with pytest.raises(nsstore.IntegrityError) as lost:
            bound(store).list()
        assert lost.value.incident_kind == "rolled_back"


def test_a_copy_does_not_take_the_place_of_the_store(place: Path) -> None:
    """While the store stands where it is bound, a copy of it is neither opened nor bound."""
    shutil.copytree(place / "root", place / "copy")
    with pytest.raises(Refused, match="copy"):
        move(place / "copy", place / "trust")
    with pytest.raises(Refused):
        open_root(place / "copy", place / "trust")


@pytest.mark.parametrize("mode", [0o755, 0o700, 0])
def test_a_copy_of_a_store_that_does_not_open(place: Path, mode: int) -> None:
    """A store that stands where it is bound is there, whoever may look into it: no copy takes its place."""
    shutil.copytree(place / "root", place / "copy")
    (place / "root").chmod(mode)
    with pytest.raises(Refused, match="copy"):
        move(place / "copy", place / "trust")
    (place / "root").chmod(0o700)
    nsstore.open(place / "root", trust_home=place / "trust").close()


def test_a_link_or_another_directory_is_no_store(place: Path) -> None:
    """What has the name by now, and is not the directory that was bound, keeps no store from moving."""
    for at, kind in enumerate(("file", "directory", "link")):
        before = place / ("root" if at == 0 else f"moved-{at - 1}")
        now = before.rename(place / f"moved-{at}")
        if kind == "file":
            before.touch()
        elif kind == "directory":
            before.mkdir()
        else:
            before.symlink_to(now)
        assert move(now, place / "trust")[1] == str(now)
        nsstore.open(now, trust_home=place / "trust").close()


def test_a_damaged_binding_is_made_again(place: Path) -> None:
    """A binding that cannot be read names its way out, and that way works."""
    next((place / "trust").glob("*/binding.json")).write_text("x")
    with pytest.raises(Refused, match="nsstore move"):
        nsstore.open(place / "root", trust_home=place / "trust")
    assert move(place / "root", place / "trust") == (None, str(place / "root"))
    nsstore.open(place / "root", trust_home=place / "trust").close()


def test_binding_needs_the_keys(place: Path) -> None:
    """Without the trust home of the store nothing is bound."""
    with pytest.raises(Refused, match="keys"):
        move(place / "root", place / "elsewhere")


def test_no_store_is_made_inside_another(place: Path) -> None:
    """Neither the root of a store nor a directory beneath it takes a second one."""
    with pytest.raises(InvalidInput, match="inside"):
        create_root(place / "root" / "memory" / "sub", place / "trust")
    assert not (place / "root" / "memory" / "sub").exists()


def test_what_is_no_store_is_called_none(place: Path) -> None:
    """A directory without a store, a file, and nothing at all: one answer, and no talk of an escape."""
    (place / "empty").mkdir()
    (place / "file").write_text("x")
    for other in ("empty", "file", "file/below", "absent"):
        with pytest.raises(InvalidInput, match="no store here"):
            nsstore.open(place / other, trust_home=place / "trust")
    with pytest.raises(InvalidInput, match="directory"):
        create_root(place / "file" / "below", place / "trust")


def test_a_trust_home_that_cannot_be_leaves_no_directory(place: Path) -> None:
    """A store that could not be made takes back the directory it made."""
    with pytest.raises(InvalidInput, match="NSSTORE_TRUST_HOME"):
        create_root(place / "new", place / "root" / "store.json" / "trust")
    assert not (place / "new").exists()
