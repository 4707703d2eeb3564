"""``python -m bench.powercut``: writes on a disk that loses power at each step, and what was left of them.

Exits 0 if nothing acknowledged was lost and nothing half was found, 1 if it was (each is named), or if
a store broken on purpose was not caught, 2 if it could not run.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import msgspec
from rich.console import Console
from rich.table import Table

from bench.disk import VARIABLE, scratch
from bench.gated import green
from bench.powercut.image import FILE_SYSTEMS, UnfitMachineError, require_machine
from bench.powercut.keeping import KEEPING
from bench.powercut.operations import OPERATIONS
from bench.powercut.trial import Outcome, cut_everywhere

PRIVATE: Final = "NSSTORE_POWERCUT_PRIVATE"
BROKEN: Final = ("again", "batch")
BY_NAME: Final = {one.name: one for one in (*OPERATIONS, *KEEPING)}


class Trial(msgspec.Struct, frozen=True, kw_only=True):
    """Every outcome, those of the store broken on purpose apart, and whether all is as it must be."""

    sound: bool
    outcomes: tuple[Outcome, ...]
    broken: tuple[Outcome, ...]


def arguments(given: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m bench.powercut", description=__doc__)
    parser.add_argument(
        "--fs", action="append", choices=[*FILE_SYSTEMS], help="the file system, may be repeated (ext4)"
    )
    parser.add_argument(
        "--operation", action="append", choices=[*BY_NAME], help="cut this one only, may be repeated (all)"
    )
    parser.add_argument("--json", action="store_true", help="print the outcome as JSON, not as a table")
    parser.add_argument(
        "--sabotage", action="store_true", help="acknowledge records that were never flushed: must exit 1"
    )
    return parser.parse_args(given)


def in_private_mounts() -> int | None:
    """Run this program again where its mounts are its own and end with it; ``None`` if it is that run."""
    if os.environ.get(PRIVATE):
        return None
    command = ["unshare", "--mount", "--propagation", "private", sys.executable, "-m", "bench.powercut"]
    return subprocess.run([*command, *sys.argv[1:]], env={**os.environ, PRIVATE: "1"}, check=False).returncode


def run(kinds: Sequence[str], names: Sequence[str], *, sabotage: bool) -> Trial:
    """Cut every operation on every kind of disk; then see that a broken order of writes is found."""
    outcomes: list[Outcome] = []
    broken: list[Outcome] = []
    home = os.environ.get(VARIABLE)
    with scratch(Path(home) if home else None) as place:
        for kind in kinds:
            for name in names:
                room = place / f"{kind}-{name}"
                room.mkdir()
                outcomes.append(cut_everywhere(room, kind, BY_NAME[name], sabotaged=sabotage))
            for name in () if sabotage else BROKEN:
                room = place / f"{kind}-{name}-broken"
                room.mkdir()
                broken.append(cut_everywhere(room, kind, BY_NAME[name], sabotaged=True))
    return Trial(sound=is_sound(outcomes, broken), outcomes=tuple(outcomes), broken=tuple(broken))


def is_sound(outcomes: Sequence[Outcome], broken: Sequence[Outcome]) -> bool:
    """Whether nothing was lost, and on each kind of disk a broken order of writes did lose something.

    One broken operation may be lucky: the flush of another file can carry what it did not flush.
    """
    seen = {one.file_system for one in broken if _lost(one)}
    return not any(one.faults for one in outcomes) and seen == {one.file_system for one in broken}


def _lost(outcome: Outcome) -> bool:
    return any("acknowledged and lost" in fault for fault in outcome.faults)


def render(trial: Trial) -> Table:
    """Draw the table: a line per operation and file system."""
    table = Table(
        title="power cut before each step and after the acknowledgement",
        caption="disks: different ones; acked: acknowledged records looked for on them",
    )
    for heading in ("file system", "operation"):
        table.add_column(heading, no_wrap=True)
    for heading in ("steps", "disks", "acked"):
        table.add_column(heading, justify="right")
    table.add_column("verdict")
    for one in trial.outcomes:
        verdict = f"[red]{len(one.faults)} faults[/]" if one.faults else "[green]whole[/]"
        table.add_row(one.file_system, one.operation, str(one.steps), str(one.disks), str(one.acked), verdict)
    for one in trial.broken:
        verdict = "[green]loss found[/]" if _lost(one) else "[yellow]spared by chance[/]"
        table.add_row(
            one.file_system,
            f"{one.operation}, unflushed",
            str(one.steps),
            str(one.disks),
            str(one.acked),
            verdict,
        )
    return table


def main(given: Sequence[str] | None = None) -> int:
    """Run the trial and print it; the exit code is the verdict."""
    options = arguments(given)
    kinds, names = options.fs or ["ext4"], options.operation or [*BY_NAME]
    try:
        require_machine(kinds)
        code = in_private_mounts()
        if code is not None:
            return code
        with green():
            trial = run(kinds, names, sabotage=options.sabotage)
    except UnfitMachineError as unfit:
        print(unfit, file=sys.stderr)
        return 2
    if options.json:
        print(msgspec.json.encode(trial).decode())
    else:
        Console().print(render(trial))
        for one in trial.outcomes:
            for fault in one.faults:
                print(f"{one.file_system}: {fault}", file=sys.stderr)
    return 0 if trial.sound else 1


if __name__ == "__main__":
    sys.exit(main())
