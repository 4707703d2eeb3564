"""A self-test that is cut short, met by another one, or let down by the machine."""

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

import nsstore
from bench.world import Who, World
from nsstore import InvalidInput, SystemFailure, opening
from nsstore.gate import CouldNotRun, Home, Proof
from nsstore.root import Root, locks, scratch, steps, system
from nsstore.root.scratch import lies_in_scratch, require_able, scratch_in
from nsstore.store import create_root
from tests.gate.conftest import GREEN, RED, Place, Tries, start_afresh

CHILD = """
import os, sys, time
from nsstore.gate import Mode, Proof, testing
from nsstore.root import Root
root, base, count, seconds, end = sys.argv[1:]
def prove(folder):
    with open(os.path.join(folder, "left"), "w") as out:
        out.write("canary")
    with open(count, "a") as out:
        out.write("x")
    time.sleep(float(seconds))
    if end == "kill":
        os.kill(os.getpid(), 9)
    return Proof(green=True, passed=1, failed=())
with Root.open(root) as opened:
    print(testing.gate_of(opened, base, Mode(tests=True), prove).green)
"""


def child(place: Place, count: Path, seconds: float = 0.0, end: str = "") -> subprocess.Popen[str]:
    """A process that finds out about this very program at the same place."""
    args = [str(place.root), str(place.base), str(count), str(seconds), end]
    return subprocess.Popen([sys.executable, "-c", CHILD, *args], stdout=subprocess.PIPE, text=True)


def left(place: Place) -> list[Path]:
    """What is left of scratch folders."""
    drafts = place.root / "tmp"
    return list(drafts.iterdir()) if drafts.exists() else []


def test_processes_test_once(place: Place, tmp_path: Path) -> None:
    """Of processes that open an unknown build at once one tests, and the others wait for it."""
    count = tmp_path / "count"
    running = [child(place, count, 0.5) for _ in range(4)]
    assert [one.communicate(timeout=60)[0].strip() for one in running] == ["True"] * 4
    assert count.read_text() == "x"
    assert left(place) == []


def test_threads_test_once(place: Place) -> None:
    """Threads that open at once do the same."""
    place.tries.meanwhile = lambda _: time.sleep(0.2)
    found: list[bool] = []
    threads = [threading.Thread(target=lambda: found.append(place.again().green)) for _ in range(4)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert found == [True] * 4
    assert place.tries.count == 1


def test_a_killed_self_test_is_none(place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is known of it; the next one tests, and sweeps what it left."""
    monkeypatch.setattr(scratch, "JUST_MADE", 0.0)
    killed = child(place, tmp_path / "count", 0.0, "kill")
    killed.communicate(timeout=60)
    assert killed.returncode == -9
    (folder,) = left(place)
    assert (folder / "left").read_text() == "canary"
    assert place.gate().green
    assert place.tries.count == 1
    assert left(place) == []


def test_a_self_test_that_is_under_way_is_not_swept(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """A scratch folder that somebody holds stays, whoever else tests meanwhile."""
    monkeypatch.setattr(scratch, "JUST_MADE", 0.0)
    with Root.open(place.root) as root, scratch_in(root) as first:
        with Root.open(place.root) as other, scratch_in(other) as second:
            assert os.path.isdir(first)
            assert first != second
        assert left(place) == [Path(first)]
    assert left(place) == []


def test_a_link_among_the_scratch_folders_is_not_followed(place: Place, tmp_path: Path) -> None:
    """What leads elsewhere is neither swept nor used."""
    there = tmp_path / "there"
    there.mkdir(mode=0o700)
    (there / "kept").write_text("kept")
    drafts = place.root / "tmp"
    drafts.mkdir(mode=0o700)
    (drafts / "selftest-0123456789abcdef").symlink_to(there)
    assert place.gate().green
    assert (there / "kept").exists()
    (drafts / "selftest-0123456789abcdef").unlink()
    drafts.rmdir()
    drafts.symlink_to(there)
    os.unlink(place.results)
    gate = place.gate()
    assert not gate.green
    assert "link" in gate.why


def test_a_failing_suite_is_no_result(place: Place) -> None:
    """Whatever a suite raises, the build is neither green nor red: closed now, and tested again."""

    def fail(_: Path) -> None:
        raise RuntimeError("/secret/path")

    place.tries.meanwhile = fail
    gate = place.gate()
    assert not gate.green
    assert gate.why.endswith("could not run here (RuntimeError)")
    assert not place.again().green
    place.tries.meanwhile = str
    assert place.again().green
    assert place.tries.count == 3


def test_an_interrupt_goes_through(place: Place) -> None:
    """Ctrl-C during a self-test ends the opening, and leaves neither a result nor a folder."""

    def interrupt(_: Path) -> None:
        raise KeyboardInterrupt

    place.tries.meanwhile = interrupt
    with pytest.raises(KeyboardInterrupt):
        place.gate()
    assert left(place) == []
    assert Home(str(place.base)).read().results == ()


def test_an_interrupted_opening_closes_the_store(world: World, tries: Tries) -> None:
    """So does the opening of a store, which is closed."""

    def interrupt(_: Path) -> None:
        raise KeyboardInterrupt

    tries.meanwhile = interrupt
    before = len(os.listdir("/proc/self/fd"))
    with pytest.raises(KeyboardInterrupt):
        world.make()
    assert len(os.listdir("/proc/self/fd")) == before


@pytest.mark.parametrize("errno", [28, 122, 24, 5], ids=["disk full", "quota", "descriptors", "input/output"])
def test_a_machine_at_its_end_makes_nothing_red(
    place: Place, monkeypatch: pytest.MonkeyPatch, errno: int
) -> None:
    """A red run on a machine that has no room any more says nothing about the build, and is not kept."""

    def full(_: int) -> None:
        raise OSError(errno, "no")

    place.tries.proof = RED
    with monkeypatch.context() as patch:
        patch.setattr(system, "fsync", full)
        assert "could not run" in place.gate().why
    assert Home(str(place.base)).read().results == ()
    assert "failed here at AC05" in place.again().why


def test_a_real_disk_that_is_full(place: Place, tmp_path: Path) -> None:
    """On a small disk that fills up meanwhile a red run is none; what was tested elsewhere is not touched."""
    if os.geteuid() != 0:
        pytest.skip("only root mounts a disk")
    small = tmp_path / "small"
    small.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(small)]
    if subprocess.run(command, check=False, capture_output=True).returncode != 0:
        pytest.skip("no disk can be mounted here")
    try:
        place.root = small / "root"
        Root.make(place.root).close()
        place.tries.proof = RED
        gate = place.gate()
        assert "No space left" in gate.why
        place.tries.proof = GREEN
        assert place.again().green
    finally:
        subprocess.run(["umount", str(small)], check=True)


@pytest.mark.parametrize("errno", [30, 13, 28], ids=["read-only", "no right", "full"])
def test_a_root_that_takes_nothing(place: Place, errno: int) -> None:
    """Where no scratch folder can be made search stays closed; a result that is known still counts."""

    def refuse(call: str) -> None:
        if call == "mkdir":
            raise OSError(errno, "no")

    with steps.hooked(refuse):
        gate = place.gate()
    assert not gate.green
    assert "could not run" in gate.why
    assert str(place.root) not in gate.why
    assert place.gate().green
    with steps.hooked(refuse):
        assert place.gate().green
    assert place.tries.count == 1


def test_a_read_only_root_opens(world: World, tries: Tries) -> None:
    """A store on a disk that is mounted read-only opens: by a known result, or else closed."""
    if os.geteuid() != 0:
        pytest.skip("only root mounts a disk")
    world.make().close()
    bind = [["mount", "--bind", str(world.root), str(world.root)]]
    bind.append(["mount", "-o", "remount,ro,bind", str(world.root)])
    if subprocess.run(bind[0], check=False, capture_output=True).returncode != 0:
        pytest.skip("no disk can be mounted here")
    try:
        subprocess.run(bind[1], check=True)
        start_afresh()
        with world.open() as store:
            assert store.gate.green
        (world.trust / "selftest" / "results").unlink()
        start_afresh()
        with world.open() as store:
            assert not store.gate.green
            assert "Read-only file system" in store.gate.why
    finally:
        subprocess.run(["umount", str(world.root)], check=True)
    assert tries.count == 1


def test_a_path_that_leaves_no_room_makes_nothing_red(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the path of the root is so long that cases would fail by it, none is tried."""
    monkeypatch.setattr(scratch, "LONGEST", 10)
    assert "could not run" in place.gate().why
    assert place.tries.count == 0


def test_a_slow_tester_is_not_waited_for_for_ever(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever waits too long for another one's test makes its own."""
    monkeypatch.setattr(locks, "LIMIT_SECONDS", 0.05)
    with Home(str(place.base)).alone():
        assert place.gate().green
    assert place.tries.count == 1


def test_a_forked_child_knows_what_its_parent_knew(world: World, tries: Tries) -> None:
    """A child of a process that has a store open searches in it, and tests nothing."""
    with world.make() as store:
        Who().bind(store).remember("the train leaves")
        child_pid = os.fork()
        if child_pid == 0:
            found = Who().bind(store).search("train").hits
            os._exit(0 if len(found) == 1 and tries.count == 1 else 1)
        assert os.waitpid(child_pid, 0)[1] == 0


def test_a_fork_during_a_self_test(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """A child that is forked while its parent tests does not keep the parent's lock, and tests for itself."""
    monkeypatch.setattr(locks, "LIMIT_SECONDS", 0.05)
    forked: list[int] = []

    def fork(_: Path) -> None:
        if not forked:
            forked.append(os.fork())
            if forked[0] == 0:
                os._exit(0 if place.again().green else 1)
            forked.append(os.waitpid(forked[0], 0)[1])

    place.tries.meanwhile = fork
    assert place.gate().green
    assert forked[1] == 0


def test_a_store_may_be_made_in_a_scratch_folder_alone(world: World) -> None:
    """Stores in stores are refused, but for those of a self-test, in a folder of exactly such a name."""
    with world.make() as store, scratch_in(store.root) as folder:
        root, trust = create_root(Path(folder) / "root", Path(folder) / "trust")
        trust.close()
        root.close()
        assert lies_in_scratch(folder)
    for name in ("tmp/root", "tmp/selftest-1/root", "memory/root", "x/selftest-0123456789abcdef/root"):
        assert not lies_in_scratch(world.root / name)
        with pytest.raises(InvalidInput, match="inside another"):
            create_root(world.root / name, world.trust)


def test_a_scratch_folder_in_a_checkout_warns_of_nothing(
    tmp_path: Path, world: World, recwarn: pytest.WarningsRecorder
) -> None:
    """A store that lies in a checkout is tested without a word about keys that could be committed."""
    (tmp_path / "root").mkdir(mode=0o700)
    world = World(place=tmp_path / "checkout")
    (world.place / ".git").mkdir(parents=True)
    with nsstore.open(world.root, create=True, trust_home=tmp_path / "trust") as store:
        before = len(recwarn)
        with scratch_in(store.root) as folder:
            root, trust = create_root(Path(folder) / "root", Path(folder) / "trust")
            trust.close()
            root.close()
    assert len(recwarn) == before == 0


def test_the_machine_is_asked_for_real(tmp_path: Path) -> None:
    """Where there is room a folder is good for work, and nothing stays in it."""
    require_able(str(tmp_path))
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(SystemFailure):
        require_able(str(tmp_path / "none"))


def test_what_could_not_run_is_told_as_what_it_was() -> None:
    """A failure of the system keeps its kind for whoever asked for the test; any other is a refusal."""
    why = CouldNotRun("x")
    why.__cause__ = SystemFailure("making", OSError(28, ""))
    assert why.told() is why.__cause__
    other = CouldNotRun("RuntimeError")
    other.__cause__ = RuntimeError("x")
    assert other.told().kind == "refused"


def test_the_real_suite_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The real suite, run as the gate runs it, is green, and leaves nothing in any place of the user's."""
    monkeypatch.setenv("NSSTORE_CACHE_HOME", str(tmp_path / "cache"))
    with Root.make(tmp_path / "root") as root, scratch_in(root) as folder:
        proof: Proof = opening.prove(folder)
        assert proof.green, proof.failed
        assert proof.passed > 10
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
