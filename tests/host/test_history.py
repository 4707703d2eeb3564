"""An ancestor is one by the bytes of the commits on the way, whatever else a repository says."""

import hashlib
import os
import struct
import subprocess
import zlib
from pathlib import Path

import pytest

from nsstore.host.git import Facts, facts_of
from nsstore.host.history import History
from nsstore.root.programs import Answer
from tests.host.conftest import NOBODY, commit, git, repository


def facts(top: Path) -> Facts:
    """What git knows."""
    found = facts_of(str(top))
    assert found is not None
    return found


@pytest.fixture
def foreign(atlas: Path) -> tuple[str, str]:
    """Two commits on main, and one that shares nothing with them: the newest, and that one."""
    head = commit(atlas, "b")
    git(atlas, "checkout", "-q", "--orphan", "other")
    other = commit(atlas, "o")
    git(atlas, "checkout", "-q", "main")
    return head, other


def test_a_false_commit_graph_proves_nothing(atlas: Path, foreign: tuple[str, str]) -> None:
    """A graph that gives a commit another parent is believed by git, and makes nothing an ancestor."""
    head, other = foreign
    git(atlas, "commit-graph", "write", "--reachable")
    graph = atlas / ".git" / "objects" / "info" / "commit-graph"
    graph.chmod(0o644)
    raw = bytearray(graph.read_bytes())
    chunks = dict(struct.unpack_from(">4sQ", raw, 8 + 12 * at) for at in range(raw[6] + 1))
    count = (chunks[b"CDAT"] - chunks[b"OIDL"]) // 20
    ids = [raw[chunks[b"OIDL"] + 20 * at :][:20].hex() for at in range(count)]
    struct.pack_into(">I", raw, chunks[b"CDAT"] + 36 * ids.index(head) + 20, ids.index(other))
    raw[-20:] = hashlib.sha1(raw[:-20]).digest()
    graph.write_bytes(raw)
    assert other in git(atlas, "rev-list", "HEAD").split()
    found = facts(atlas)
    assert (found.lineage, found.baseline, found.whole) == (frozenset({head}), None, False)


@pytest.mark.parametrize("packed", [False, True])
def test_a_commit_under_anothers_name_proves_nothing(
    atlas: Path, foreign: tuple[str, str], *, packed: bool
) -> None:
    """An object whose bytes are not those of its name is believed by git, and its parents are nobody's."""
    middle, other = foreign
    head = commit(atlas, "c")
    first = git(atlas, "rev-parse", "HEAD~2")
    raw = subprocess.run(
        ["git", "cat-file", "commit", middle], cwd=atlas, capture_output=True, check=True
    ).stdout.replace(first.encode(), other.encode())
    stored = atlas / ".git" / "objects" / middle[:2] / middle[2:]
    stored.chmod(0o644)
    stored.write_bytes(zlib.compress(b"commit %d\0%b" % (len(raw), raw)))
    if packed:
        subprocess.run(
            ["git", "pack-objects", "-q", ".git/objects/pack/pack"],
            input=f"{middle}\n", text=True, cwd=atlas, stdout=subprocess.DEVNULL, check=True,
        )  # fmt: skip
        stored.unlink()
    assert other in git(atlas, "rev-list", "HEAD").split()
    found = facts(atlas)
    assert (found.commit, found.lineage, found.baseline, found.whole) == (
        head,
        frozenset({head}),
        None,
        False,
    )


def test_what_git_lists_is_proven(atlas: Path) -> None:
    """Of a history with branches, merges of several and of nothing in common, every commit is an ancestor."""
    for name in ("x", "y", "z"):
        git(atlas, "checkout", "-q", "-b", name, "main~0")
        commit(atlas, name)
    git(atlas, "checkout", "-q", "main")
    git(atlas, "merge", "-q", "-m", "m", "x", "y", "z")
    git(atlas, "checkout", "-q", "--orphan", "other")
    commit(atlas, "o")
    git(atlas, "merge", "-q", "--allow-unrelated-histories", "-m", "m", "main")
    found = facts(atlas)
    assert (found.lineage, found.whole) == (frozenset(git(atlas, "rev-list", "HEAD").split()), True)


def test_ids_of_the_other_kind_are_proven(tmp_path: Path) -> None:
    """A repository whose ids are longer has its ancestors too."""
    place = tmp_path / "long"
    place.mkdir()
    git(place, "init", "-q", "-b", "main", "--object-format=sha256")
    ids = frozenset({commit(place), commit(place, "b")})
    found = facts(place)
    assert (found.lineage, found.whole, {len(one) for one in ids}) == (ids, True, {64})


@pytest.mark.parametrize("step", [1, 7, 100, 10_000])
def test_pieces_of_any_size_are_one_history(atlas: Path, step: int) -> None:
    """However what git prints is cut on its way, the same commits are proven by it."""
    ids = [commit(atlas, name) for name in "bcdef"][::-1]
    said = "\n".join([*ids, "HEAD", "none", ""]).encode()
    printed = subprocess.run(
        ["git", "cat-file", "--batch"], input=said, cwd=atlas, capture_output=True, check=True
    ).stdout
    history = History(10)
    for at in range(0, len(printed), step):
        history.take(printed[at : at + step])
    assert [*history.parents] == ids
    assert history.named == [*ids, ids[0], "none missing"]
    assert history.is_whole(Answer(0, "\n".join(ids).encode()), 2)
    assert not history.is_whole(Answer(128, "\n".join(ids).encode()), 2)


def bomb(place: Path, megabytes: int) -> str:
    """The id of a commit with a subject of so many megabytes, some thousandth of it on the disk."""
    head = f"tree {git(place, 'write-tree')}\nparent {git(place, 'rev-parse', 'HEAD')}\n"
    who = "a <a@x> 1 +0000"
    raw = f"{head}author {who}\ncommitter {who}\n\n".encode() + b"a b " * (megabytes * 250_000)
    done = subprocess.run(
        ["git", "hash-object", "-t", "commit", "-w", "--stdin"],
        input=raw, cwd=place, env={**os.environ, **NOBODY}, capture_output=True, check=True,
    )  # fmt: skip
    return done.stdout.decode().strip()


def test_a_huge_commit_is_not_taken_in(tmp_path: Path) -> None:
    """At HEAD it leaves nothing known; further back the history ends before it, and the rest is known."""
    atlas = repository(tmp_path / "atlas")
    huge = bomb(atlas, 20)
    git(atlas, "update-ref", "refs/heads/main", huge)
    assert facts_of(str(atlas)) is None
    git(
        atlas,
        "update-ref",
        "refs/heads/main",
        git(atlas, "commit-tree", "-m", "x", "-p", huge, f"{huge}^{{tree}}"),
    )
    found = facts(atlas)
    assert (found.branch, found.baseline, found.whole) == ("main", None, False)
    assert huge not in found.lineage
