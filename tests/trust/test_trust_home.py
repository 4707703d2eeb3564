"""The trust home lies apart from the root, proves one root, and is named by its variable when missed."""

from __future__ import annotations

import os
import shutil
import tempfile
import traceback
from collections.abc import Callable, Generator
from pathlib import Path

import msgspec
import pytest

from nsstore.errors import EscapeError, InvalidInput, Refused, StoreError
from nsstore.root import Root
from nsstore.trust import base, create_trust, open_trust

MISSING = "keys of this store are not here: mount NSSTORE_TRUST_HOME or `nsstore keys restore`"
pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")


@pytest.fixture
def root(tmp_path: Path) -> Generator[Root]:
    """An empty root."""
    with Root.make(tmp_path / "root") as made:
        yield made


@pytest.fixture(autouse=True)
def _no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    """No variable of whoever runs the tests decides where keys go."""
    for name in ("NSSTORE_TRUST_HOME", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)


def test_where_trust_homes_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The argument, else NSSTORE_TRUST_HOME, else XDG_STATE_HOME/nsstore, else ~/.local/state/nsstore."""
    monkeypatch.setenv("HOME", "/home/someone")
    assert base(None) == "/home/someone/.local/state/nsstore"
    monkeypatch.setenv("XDG_STATE_HOME", "")
    assert base(None) == "/home/someone/.local/state/nsstore"
    monkeypatch.setenv("XDG_STATE_HOME", "/state")
    assert base(None) == "/state/nsstore"
    monkeypatch.setenv("NSSTORE_TRUST_HOME", "/trust")
    assert base(None) == "/trust"
    assert base(tmp_path) == str(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert base("given") == str(tmp_path / "given")


@pytest.mark.parametrize("value", ["", "relative", "./x", "~/trust", "$HOME/trust"])
def test_a_variable_that_is_not_absolute_is_refused(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    """A trust home in a variable is absolute as it stands: nothing in it is expanded or guessed."""
    monkeypatch.setenv("NSSTORE_TRUST_HOME", value)
    with pytest.raises(InvalidInput, match="NSSTORE_TRUST_HOME"):
        base(None)
    monkeypatch.delenv("NSSTORE_TRUST_HOME")
    monkeypatch.setenv("XDG_STATE_HOME", value or "relative")
    with pytest.raises(InvalidInput, match="NSSTORE_TRUST_HOME"):
        base(None)


@pytest.mark.parametrize("bad", ["", "a\0b", b"/bytes", 7, "\ud800"])
def test_what_can_be_no_trust_home(root: Root, bad: object) -> None:
    """What can name no directory is invalid input, not a failure deep inside."""
    with pytest.raises(InvalidInput, match="trust home"):
        create_trust(root, bad)  # type: ignore[arg-type]  # what a caller without a type checker may give


def overlaps(top: Path) -> list[str]:
    """Ways to name a trust home inside, around or equal to ``top/root``."""
    inside = top / "root" / "inside"
    inside.mkdir(mode=0o700)
    (top / "to-root").symlink_to("root")
    (top / "to-inside").symlink_to(inside)
    (top / "to-top").symlink_to(".")
    (top / "to-be").symlink_to("root/not-yet")
    (top / "elsewhere").mkdir()
    # In the hands of whoever writes the root, wherever they lead today:
    (top / "root" / "out").symlink_to(top / "elsewhere")
    (top / "through").symlink_to("root/out")
    return [
        f"{top}/root/out", f"{top}/root/out/trust", f"{top}/through/trust", f"{top}/to-root/out/trust",
        f"{top}/root", f"{top}/root/", f"{top}/root/inside", f"{top}/root/new/deeper", f"{top}/to-root",
        f"{top}/to-root/new", f"{top}/to-inside", f"{top}/to-be", f"{top}/to-be/new", f"{top}",
        f"{top}/to-top",
        "/", f"{top}/elsewhere/../root/x", f"{top}/to-inside/../x", f"{top}/elsewhere/../to-top/root/x",
    ]  # fmt: skip


def test_inside_or_around_the_root_is_refused(root: Root, tmp_path: Path) -> None:
    """A trust home in the root, around it, or it, by whatever links, is refused and nothing is made."""
    ways = overlaps(tmp_path)
    before = sorted(tmp_path.rglob("*"))
    for way in ways:
        with pytest.raises(InvalidInput, match=r"must lie apart.*NSSTORE_TRUST_HOME"):
            create_trust(root, way)
        with pytest.raises(InvalidInput, match="must lie apart"):
            open_trust(root, bytes(16), way)
    assert sorted(tmp_path.rglob("*")) == before


def test_a_root_reached_through_a_link_is_the_same(tmp_path: Path, root: Root) -> None:
    """A link to the root changes nothing about what lies apart from it."""
    (tmp_path / "link").symlink_to(tmp_path / "root")
    with Root.open(tmp_path / "link") as linked:
        with pytest.raises(InvalidInput, match="must lie apart"):
            create_trust(linked, tmp_path / "root" / "x")
        create_trust(linked, tmp_path / "trust").close()
    with pytest.raises(Refused, match="keys of this store"):
        open_trust(root, bytes(16), tmp_path / "trust")


def test_neighbours_are_apart(tmp_path: Path, root: Root) -> None:
    """Names that begin alike are apart, and so is a home that a link leads to."""
    create_trust(root, tmp_path / "root2").close()
    create_trust(root, tmp_path / "roo").close()
    (tmp_path / "outside").mkdir()
    (tmp_path / "link").symlink_to("outside")
    create_trust(root, tmp_path / "link" / "trust").close()
    assert len(list((tmp_path / "outside" / "trust").iterdir())) == 1


def test_a_repository_is_warned_of(tmp_path: Path, root: Root) -> None:
    """A trust home in a checkout, or a worktree of one, is made with a warning."""
    for name, marker in (("checkout", None), ("worktree", "gitdir: elsewhere")):
        (tmp_path / name / "deep").mkdir(parents=True)
        at = tmp_path / name / ".git"
        if marker:
            at.write_text(marker)
        else:
            at.mkdir()
        with pytest.warns(UserWarning, match="could be committed"):
            create_trust(root, tmp_path / name / "deep" / "trust").close()


def test_made_complete_and_private(tmp_path: Path, root: Root) -> None:
    """Creating makes one directory of a fresh id with keys and binding, 0700 and 0600 under any umask."""
    before = os.umask(0)
    try:
        with create_trust(root, tmp_path / "new" / "trust").home as home:
            pass
    finally:
        os.umask(before)
    store_id = Path(home.path).name
    assert Path(home.path) == tmp_path / "new" / "trust" / store_id
    assert len(bytes.fromhex(store_id)) == 16
    for path in (tmp_path / "new").rglob("*"):
        assert path.stat().st_mode & 0o777 == (0o700 if path.is_dir() else 0o600)
    assert (tmp_path / "new").stat().st_mode & 0o777 == 0o700
    bound = msgspec.json.decode((Path(home.path) / "binding.json").read_bytes())
    assert bound == {"format": 1, "store_id": store_id, "path": root.path, "inode": root.inode}
    again = create_trust(root, tmp_path / "new" / "trust")
    assert Path(again.home.path).name != store_id
    again.close()


@pytest.mark.parametrize("what", ["file", "file/deeper", "loop/x", "n" * 300])
def test_where_none_can_be_made(tmp_path: Path, root: Root, what: str) -> None:
    """Where no trust home can be made the error is invalid input that names the variable and no path."""
    (tmp_path / "file").write_bytes(b"x")
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(InvalidInput, match="set NSSTORE_TRUST_HOME") as told:
        create_trust(root, tmp_path / what)
    assert str(tmp_path) not in str(told.value)


@pytest.mark.skipif(os.geteuid() != 0, reason="as root a child can be somebody whom modes stop")
@pytest.mark.parametrize("where", ["shut/trust", "readable/trust", "readable"])
def test_where_one_may_not_write(where: str) -> None:
    """A directory that may not be entered or written is invalid input that names the variable."""
    top = Path(tempfile.mkdtemp(prefix="nsstore-trust-"))
    top.chmod(0o755)
    (top / "shut").mkdir(mode=0o700)
    (top / "readable").mkdir(mode=0o755)
    (top / "own").mkdir(mode=0o700)
    os.chown(top / "own", 65534, 65534)

    def act() -> None:
        os.setgroups([])
        os.setgid(65534)
        os.setuid(65534)
        with Root.make(top / "own" / "root") as root:
            with pytest.raises(InvalidInput, match="set NSSTORE_TRUST_HOME"):
                create_trust(root, top / where)
            with pytest.raises(StoreError):
                open_trust(root, bytes(16), top / where)

    try:
        run_forked(act)
    finally:
        shutil.rmtree(top)


def run_forked(act: Callable[[], None]) -> None:
    """Run something in a forked child and raise here what it raised there."""
    receive, send = os.pipe()
    pid = os.fork()
    if pid == 0:
        told = b""
        try:
            act()
        except BaseException:  # noqa: BLE001 - all of it is raised again in the parent
            told = traceback.format_exc().encode()
        os.write(send, told[-60_000:])
        os._exit(0)
    os.close(send)
    with open(receive, "rb") as report:
        told = report.read()
    assert os.waitpid(pid, 0)[1] == 0
    assert not told, told.decode()


def test_missing_keys_are_told_in_the_words_of_the_format(tmp_path: Path, root: Root) -> None:
    """Where the trust home or its keys are missing, the store is refused in these very words."""
    trust = create_trust(root, tmp_path / "trust")
    store_id, home = trust.store_id, Path(trust.home.path)
    trust.close()
    for missing, reason in (("keys.json", "keys"), ("", "keys")):
        kept = (home / missing).read_bytes() if missing else b""
        if missing:
            (home / missing).unlink()
        else:
            shutil.rmtree(home)
        before = sorted(tmp_path.rglob("*"))
        with pytest.raises(Refused) as told:
            open_trust(root, store_id, tmp_path / "trust")
        assert (str(told.value), told.value.reason) == (MISSING, reason)
        assert sorted(tmp_path.rglob("*")) == before, "opening made something"
        if missing:
            (home / missing).write_bytes(kept)
            (home / missing).chmod(0o600)
    with pytest.raises(Refused, match="keys of this store are not here"):
        open_trust(root, store_id, tmp_path / "never-made")


def test_a_trust_home_that_others_can_use_is_refused(tmp_path: Path, root: Root) -> None:
    """A trust home whose directory or files are open to others is not trusted."""
    trust = create_trust(root, tmp_path / "trust")
    trust.close()
    for name in ("", "keys.json", "binding.json"):
        at = Path(trust.home.path) / name
        mode = at.stat().st_mode & 0o777
        at.chmod(mode | 0o040)
        with pytest.raises(EscapeError, match="open to other users"):
            open_trust(root, trust.store_id, tmp_path / "trust")
        at.chmod(mode)
    open_trust(root, trust.store_id, tmp_path / "trust").close()


def test_a_copied_or_moved_root_is_refused(tmp_path: Path, root: Root) -> None:
    """Only the directory that was bound is opened: no copy, not itself elsewhere, no other in its place."""
    trust = create_trust(root, tmp_path / "trust")
    trust.close()

    def open_at(path: Path) -> None:
        with Root.open(path) as found:
            open_trust(found, trust.store_id, tmp_path / "trust").close()

    open_at(tmp_path / "root")
    (tmp_path / "link").symlink_to(tmp_path / "root")
    open_at(tmp_path / "link")
    shutil.copytree(tmp_path / "root", tmp_path / "copy")
    with pytest.raises(Refused, match="bound to another directory") as told:
        open_at(tmp_path / "copy")
    assert told.value.reason == "binding"
    assert str(tmp_path) not in str(told.value)
    (tmp_path / "root").rename(tmp_path / "moved")
    with pytest.raises(Refused, match="bound to another directory"):
        open_at(tmp_path / "moved")
    (tmp_path / "root").symlink_to(tmp_path / "moved")
    with pytest.raises(Refused, match="bound to another directory"):
        open_at(tmp_path / "root")
    (tmp_path / "root").unlink()
    (tmp_path / "copy").rename(tmp_path / "root")
    with pytest.raises(Refused, match="bound to another directory"):
        open_at(tmp_path / "root")
    shutil.rmtree(tmp_path / "root")
    (tmp_path / "moved").rename(tmp_path / "root")
    open_at(tmp_path / "root")


def test_a_binding_that_is_damaged_is_refused(tmp_path: Path, root: Root) -> None:
    """A binding of another store, of another format, or that cannot be read, opens nothing."""
    trust = create_trust(root, tmp_path / "trust")
    at = Path(trust.home.path) / "binding.json"
    whole = msgspec.json.decode(at.read_bytes())
    changes: list[dict[str, object]] = [
        {"format": 2}, {"store_id": "0" * 32}, {"path": "/"}, {"path": None}, {"inode": 1}, {"inode": "1"},
        {"extra": 1},
    ]  # fmt: skip
    raws = [msgspec.json.encode(whole | change) for change in changes]
    for raw in [*raws, b"", b"\xff", b'{"format":1,"store_id":"\xff"}', at.read_bytes()[:-9], b"[" * 9_000]:
        at.write_bytes(raw)
        with pytest.raises(Refused) as told:
            open_trust(root, trust.store_id, tmp_path / "trust")
        assert told.value.reason == "binding"
    trust.close()
