"""A run beside the releases before it: what is read, drawn, and when it fails."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import cast

import msgspec
import pytest

from bench import history
from bench.baselines import FlushProbe
from bench.budgets import BUDGETS as ALL
from bench.budgets import SEARCHES, Budget, Summary, judge
from bench.conftest import DISK, EVERYTHING, VERDICTS, Disk, gathered
from bench.history import main, read, released, render
from bench.report import BenchReport, report
from nsstore.errors import InvalidInput

BUDGETS = SEARCHES[:3]
HOUSE = Path(__file__).parents[2]


def summary(name: str, p50: float, noise: float) -> Summary:
    """A contender whose parts lie around its median."""
    parts = tuple(p50 * (1 + noise * at) for at in (-2, -1, 0, 1, 2))
    return Summary(name=name, rounds=100, best_us=p50, p50_us=p50, p99_us=2 * p50, parts_us=parts)


def made(*ratios: float, noise: float = 0.01, budgets: tuple[Budget, ...] = BUDGETS) -> BenchReport:
    """A run of the first budgets, one ratio each."""
    verdicts = [
        judge(budget, summary("nsstore", 100 * ratio, noise), summary(budget.baseline, 100, 0))
        for budget, ratio in zip(budgets, ratios, strict=False)
    ]
    return report(budgets, verdicts, "ext4", [7e-5, 8e-5], 0.1)


def kept(file: Path, found: BenchReport) -> Path:
    """The run as a file."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(msgspec.json.format(msgspec.json.encode(found)))
    return file


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project without releases, whose last run met its budgets."""
    monkeypatch.setattr(history, "PROJECT", tmp_path)
    monkeypatch.setattr(history, "RELEASES", tmp_path / "releases")
    monkeypatch.setattr(history, "NOW", tmp_path / ".bench" / "now.json")
    monkeypatch.setattr(history, "PAGE", tmp_path / ".bench" / "report.html")
    kept(tmp_path / ".bench" / "now.json", made(2.0, 2.0, 2.0))
    return tmp_path


def told(capsys: pytest.CaptureFixture[str]) -> dict[str, list[str]]:
    """The rows of the table that was printed, by budget."""
    rows = [line.split("│")[1:-1] for line in capsys.readouterr().out.splitlines() if "│" in line]
    return {row[0].strip(): [cell.strip() for cell in row[1:]] for row in rows}


def test_the_last_run_is_shown_with_its_budgets(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without a release every budget stands there with its figure and no change, and the page is written."""
    assert main([]) == 0
    found = told(capsys)
    assert found[BUDGETS[0].name] == ["2.00", "", "", "5.00", "met"]
    assert (place / ".bench" / "report.html").read_text().startswith("<!DOCTYPE html>")


def test_it_stands_beside_the_last_release(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The newest release by its number is what a run is compared with; slower is told, and fails nothing."""
    kept(place / "releases" / "0.9.0.json", made(9.0, 9.0))
    kept(place / "releases" / "0.10.0.json", made(1.0, 2.1))
    assert [run.label for run in released(place / "releases")] == ["0.9.0", "0.10.0"]
    assert main([]) == 0
    found = told(capsys)
    assert found[BUDGETS[0].name] == ["2.00", "1.00", "+100 %", "5.00", "met, slower"]
    assert found[BUDGETS[1].name] == ["2.00", "2.10", "-5 %", "5.00", "met"]
    assert found[BUDGETS[2].name] == ["2.00", "", "", "4.00", "met"]
    page = (place / ".bench" / "report.html").read_text()
    assert "Before: 0.9.0 9.00, 0.10.0 1.00, now 2.00" in page


def test_it_fails_only_where_that_is_asked(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With --against what is slower beyond noise ends with 1 and is named; what is as fast ends with 0."""
    then = str(kept(place / "then.json", made(1.0, 2.0, 2.0)))
    assert main(["--against", then]) == 1
    shown = capsys.readouterr().out
    assert "met, SLOWER" in shown
    assert f"- {BUDGETS[0].name} is slower: 2.00, 1.00 in then (+100 %)" in shown
    same = str(kept(place / "same.json", made(1.9, 2.0, 2.0)))
    assert main(["--against", same]) == 0
    assert "SLOWER" not in capsys.readouterr().out


def test_noise_is_no_regression(place: Path) -> None:
    """A run whose own parts are as slow as the new one's median shows nothing."""
    wide = str(kept(place / "wide.json", made(1.5, 1.5, 1.5, noise=0.3)))
    assert main(["--against", wide]) == 0


def test_a_missed_budget_is_told_and_fails_a_comparison(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A budget that is missed or was not measured is named, and no comparison makes it good."""
    now = str(kept(place / "slow.json", made(9.0, 2.0)))
    assert main([now]) == 0
    found = told(capsys)
    assert found[BUDGETS[0].name][-1] == "MISSED"
    assert found[BUDGETS[2].name][-1] == "UNMEASURED"
    assert main([now, "--against", now]) == 1


def test_what_a_run_lacks_is_told(place: Path) -> None:
    """A budget that the release has and this run does not is named as such."""
    kept(place / "now.json", made(2.0, budgets=BUDGETS[:1]))
    drawn = render(
        read(place / "now.json"), read(kept(place / "0.1.json", made(1.0, 1.0))), is_asked=False, colour=False
    )
    assert BUDGETS[1].name in drawn
    assert "not in this run" in drawn


def test_files_are_a_history(place: Path) -> None:
    """Files that are given stand behind the releases, and the last one is now."""
    kept(place / "releases" / "0.1.0.json", made(1.0))
    files = [
        str(kept(place / f"{name}.json", made(ratio))) for name, ratio in (("monday", 1.5), ("today", 1.6))
    ]
    assert main([*files, "--html", str(place / "out" / "page.html")]) == 0
    assert "Before: 0.1.0 1.00, monday 1.50, today 1.60" in (place / "out" / "page.html").read_text()


def test_another_machine_is_told(place: Path) -> None:
    """What differs between both machines stands beneath the table."""
    one = read(place / ".bench" / "now.json")
    other = msgspec.structs.replace(one, label="0.1", machine={**one.machine, "cores": 512})
    assert "cores 512 then" in " ".join(render(one, other, is_asked=False, colour=False).split())
    assert "another machine" not in render(one, one, is_asked=False, colour=False)


@pytest.mark.parametrize("args", [["absent.json"], ["--against", "absent.json"], ["page.html"]])
def test_what_cannot_be_read_is_told(
    place: Path, capsys: pytest.CaptureFixture[str], args: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that is not there or holds no results ends with 2, and nothing is drawn."""
    monkeypatch.chdir(place)
    (place / "page.html").write_text("<!DOCTYPE html>")
    assert main(args) == 2
    done = capsys.readouterr()
    assert done.out == ""
    assert done.err.startswith("bench.history: ")


def test_no_run_yet(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Before the first run it says what makes one."""
    (place / ".bench" / "now.json").unlink()
    assert main([]) == 2
    assert "`just bench` writes .bench/now.json" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("asked", "budgets"),
    [
        ("not long and not powercut", [one for one in ALL if not one.long]),
        ("long", [one for one in ALL if one.long]),
        (EVERYTHING, list(ALL)),
    ],
)
def test_a_run_owes_what_was_asked_for(place: Path, asked: str, budgets: list[Budget]) -> None:
    """A usual run owes every short budget, a long one the long ones, and a release owes them all."""
    probe = SimpleNamespace(flushes=[7e-5])
    disk = Disk(path=place, kind="ext4", probe=cast("FlushProbe", probe), load=0.1)
    config = SimpleNamespace(stash={DISK: disk, VERDICTS: []}, getoption={"markexpr": asked}.get)
    found = gathered(cast("pytest.Config", config))
    assert found is not None
    assert found.unmeasured == tuple(one.name for one in budgets)
    assert f'-m "{EVERYTHING}"' in (HOUSE / "Justfile").read_text()


def test_the_releases_can_be_read() -> None:
    """Each file of a release is one of results, of the version that it is named after."""
    folder = Path(history.__file__).parent / "releases"
    assert (folder / "README.md").exists()
    for run in released(folder):
        assert run.version == run.label


def test_a_file_of_something_else_is_invalid(place: Path) -> None:
    """What is no file of results is refused by its name."""
    (place / "other.json").write_text("{}")
    with pytest.raises(InvalidInput, match="other: no results"):
        read(place / "other.json")
