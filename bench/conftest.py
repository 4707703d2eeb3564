"""One disk, one floor and one list of verdicts per run; the table at the end decides the exit code."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import msgspec
import pytest

from bench.baselines import BY_NAME, Baseline, FlushProbe
from bench.budgets import BUDGETS, Verdict
from bench.disk import UnfitDiskError, bench_dir, file_system
from bench.gated import green
from bench.report import BenchReport, render, report
from bench.world import World
from nsstore import OpenStore


class Disk(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The measured disk: a fresh directory on it, its file system, its probe, and what else ran at first."""

    path: Path
    kind: str
    probe: FlushProbe
    load: float


EVERYTHING: Final = "long or not long"
"""What is asked for with ``-m`` for a release: every budget in one run."""
VERDICTS: Final = pytest.StashKey[list[Verdict]]()
DISK: Final = pytest.StashKey[Disk]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """``--json PATH`` writes the verdicts for a machine; ``--benchmark-json`` keeps every sample."""
    parser.addoption("--json", metavar="PATH", type=Path, help="write the budgets' verdicts to PATH as JSON")


def pytest_configure(config: pytest.Config) -> None:
    """Start every run without verdicts."""
    config.stash[VERDICTS] = []


@pytest.fixture(scope="session")
def disk(pytestconfig: pytest.Config) -> Iterator[Disk]:
    """A real disk, one for the run."""
    try:
        with bench_dir() as fresh:
            load = os.getloadavg()[0]
            found = Disk(path=fresh, kind=file_system(fresh), probe=FlushProbe(fresh), load=load)
            pytestconfig.stash[DISK] = found
            yield found
            found.probe.close()
    except UnfitDiskError as unfit:
        pytest.exit(str(unfit), returncode=pytest.ExitCode.USAGE_ERROR)


@pytest.fixture(scope="session", autouse=True)
def green_gate() -> Iterator[None]:
    """The gate is green for this run: what is measured is a store, and not its self-test."""
    with green():
        yield


@pytest.fixture
def probe(disk: Disk) -> FlushProbe:
    """What knows how fast this disk can flush."""
    return disk.probe


@pytest.fixture
def room(disk: Disk, request: pytest.FixtureRequest) -> Path:
    """A directory of this test's own on the measured disk."""
    fresh = disk.path / "".join(letter if letter.isalnum() else "_" for letter in str(request.node.name))
    fresh.mkdir()
    return fresh


@pytest.fixture
def world(room: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    """A store to be made on the measured disk, its trust home and its cache home beside it."""
    monkeypatch.setenv("NSSTORE_CACHE_HOME", str(room / "cache"))
    return World(place=room)


@pytest.fixture
def store(world: World) -> Iterator[OpenStore]:
    """An empty store."""
    with world.make() as made:
        yield made


@pytest.fixture
def verdicts(pytestconfig: pytest.Config) -> list[Verdict]:
    """The run's verdicts, to append to."""
    return pytestconfig.stash[VERDICTS]


@pytest.fixture
def baseline(room: Path) -> Iterator[Callable[[str], Baseline]]:
    """Make baselines by name in directories of their own, closed at the end of the test."""
    made: list[Baseline] = []

    def make(name: str) -> Baseline:
        made.append(BY_NAME[name](room / name))
        return made[-1]

    yield make
    for one in made:
        one.close()


def gathered(config: pytest.Config) -> BenchReport | None:
    """The run's report, or ``None`` if no benchmark touched the disk (``--collect-only``, ``-k``)."""
    if DISK not in config.stash:
        return None
    disk, found = config.stash[DISK], config.stash[VERDICTS]
    asked = config.getoption("markexpr")
    budgets = [one for one in BUDGETS if asked == EVERYTHING or one.long is (asked == "long")]
    return report(budgets, found, disk.kind, disk.probe.flushes, disk.load)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Write ``--json``, whatever the outcome was."""
    path: Path | None = session.config.getoption("json")
    found = gathered(session.config)
    if path is not None and found is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(msgspec.json.format(msgspec.json.encode(found)) + b"\n")


@pytest.hookimpl(trylast=True)
def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Print the table of budgets last."""
    found = gathered(config)
    if found is not None:
        colour = bool(getattr(terminalreporter, "hasmarkup", False))
        terminalreporter.write("\n" + render(found, colour=colour))
