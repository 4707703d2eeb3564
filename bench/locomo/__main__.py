"""``python -m bench.locomo``: ten conversations through a store of their own, and what came back.

Exits 0 if every claim held, 1 if one was refuted (each is named), 2 if it could not run.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

import nsstore
from bench.disk import scratch
from bench.locomo.across import Across, ask_across
from bench.locomo.dialogues import DataMissingError, Dialogue, load
from bench.locomo.memory import Bind, Tick
from bench.locomo.splits import Splits, ask_split
from bench.locomo.trial import EXPECTED, Outcome, Trial
from nsstore import OpenStore, Session


def arguments(given: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m bench.locomo", description=__doc__)
    parser.add_argument("--json", action="store_true", help="print the outcome as JSON, not as a table")
    parser.add_argument(
        "--evidence-only",
        action="store_true",
        help="ask only the sessions that hold evidence (the default asks every session of the conversation)",
    )
    return parser.parse_args(given)


@contextmanager
def opened(home: Path, *, create: bool = False) -> Generator[tuple[OpenStore, Bind]]:
    """Open the trial's store, and give it with the way to bind one of its sessions."""
    with nsstore.open(home / "root", create=create, trust_home=home / "trust") as store:

        def bind(scope: Mapping[str, str]) -> Session:
            return store.bind(
                tenant_id=scope["tenant_id"],
                user_id=scope["user_id"],
                project_id=scope["project_id"],
                session_id=scope["session_id"],
                agent_id="human",
                workspace_id=nsstore.NA,
                branch=nsstore.NA,
                baseline=nsstore.NA,
                source_tool="locomo",
                purpose="recall",
            )

        yield store, bind


def run(
    dialogues: Sequence[Dialogue], home: Path, progress: Progress, *, wide: bool
) -> tuple[Outcome, Across, Splits]:
    """Remember, close, open anew, read back and ask: what is found was on the disk."""
    trial = Trial(dialogues)
    turns = sum(len(one) for dialogue in dialogues for one in dialogue.sessions.values())
    questions = sum(len(dialogue.questions) for dialogue in dialogues)

    def phase(name: str, total: int) -> Tick:
        task = progress.add_task(name, total=total)
        return lambda count: progress.advance(task, count)

    with opened(home, create=True) as (_, bind):
        trial.remember(bind, phase("remember", turns))
    with opened(home) as (store, bind):
        trial.read_back(bind, phase("read back", turns))
        trial.ask(bind, phase("ask", questions), wide=wide)
        across = ask_across(store, bind, dialogues, trial.rooms, phase("ask across", questions))
    splits = ask_split(dialogues, phase("ask split", questions))
    return trial.outcome(EXPECTED), across, splits


def table(outcome: Outcome, across: Across, splits: Splits) -> Table:
    """Draw the outcome, one figure a line."""
    drawn = Table(title="LoCoMo: one session bound at a time, and all of a conversation", show_header=False)
    rows: dict[str, str] = {
        "conversations' turns": f"{outcome.turns:,}",
        "sessions": f"{outcome.sessions:,}",
        "turns lost or changed": f"{outcome.lost_turns:,}",
        "questions (categories 1 to 4 with evidence)": f"{outcome.questions:,}",
        "searches": f"{outcome.searches:,}",
        "hits": f"{outcome.hits:,}",
        "foreign hits": f"{outcome.foreign_hits:,}",
        "evidence recall@10 within its session": f"{outcome.recall_at_10:.3f}",
        "evidence recall@5 within its session": f"{outcome.recall_at_5:.3f}",
    }
    rows |= {
        "across sessions, under a grant: foreign hits": f"{across.foreign_hits:,}",
        "across sessions without one: hits": f"{across.closed:,}",
        "evidence recall@10 across its conversation": f"{across.recall[10]:.3f}",
        "evidence recall@5 across its conversation": f"{across.recall[5]:.3f}",
    }
    rows |= {
        "same first ten for every split of index and tail": f"{splits.same:,} of {splits.compared:,}",
        "same order and scores": f"{splits.exact:,} of {splits.compared:,}",
    }
    rows |= {f"time to {phase}": f"{seconds:.1f} s" for phase, seconds in outcome.seconds.items()}
    for name, value in rows.items():
        drawn.add_row(name, value)
    return drawn


def main(given: Sequence[str] | None = None) -> int:
    """Run the trial in a temporary store and print what came of it."""
    options = arguments(given)
    out, err = Console(), Console(stderr=True)
    try:
        dialogues = load()
    except DataMissingError as missing:
        err.print(str(missing), style="red", markup=False)
        return 2
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with scratch() as fresh:
        os.environ["NSSTORE_CACHE_HOME"] = str(fresh / "cache")
        with Progress(*columns, console=err) as progress:
            outcome, across, splits = run(dialogues, fresh, progress, wide=not options.evidence_only)
    if options.json:
        told = {"sessions": outcome, "across": across, "splits": splits}
        print(msgspec.json.format(msgspec.json.encode(told)).decode())
    else:
        out.print(table(outcome, across, splits))
    faults = [*outcome.faults, *across.faults(), *splits.faults()]
    for fault in faults:
        err.print(f"FAILED: {fault}", style="bold red", markup=False)
    if not faults:
        err.print("every turn came back, every hit is from the session asked", style="green", markup=False)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
