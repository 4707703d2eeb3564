"""``python -m bench.importing [number]``: a vault of that many files in, and in again; 10,000 if not given.

Exits 0 if nothing was lost, every refusal was told with its reason and the repeat added nothing.
"""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.importing.trial import Figures, run
from bench.importing.vault import make
from bench.world import World

NUMBER = 10_000
SHOWN = 20


def told(figures: Figures) -> str:
    """The figures for a person."""
    size, rate = figures.size / 2**20, figures.files / figures.seconds
    took, again = f"{figures.seconds:.1f} s ({rate:.0f} a second)", f"{figures.again_seconds:.1f} s"
    lines = [
        f"{figures.files} files, {size:.1f} MiB: {figures.written} imported in {took}",
        *(f"{number:6} refused: {reason}" for reason, number in sorted(figures.refused.items())),
        *(f"{number:6} passed over: {reason}" for reason, number in sorted(figures.passed_over.items())),
        f"again: {figures.again_written} imported, {figures.again_repeated} there already, in {again}",
        f"{len(figures.faults)} faults",
        *figures.faults[:SHOWN],
    ]
    return "\n".join(lines)


def main() -> int:
    """Make a vault and a store, import, and print the figures."""
    number = int(sys.argv[1]) if len(sys.argv) > 1 else NUMBER
    with TemporaryDirectory(prefix="nsstore-importing-") as name:
        place = Path(name)
        vault = make(place / "vault", number)
        with World(place=place).make() as store:
            figures = run(store, vault)
    print(told(figures))
    return 1 if figures.faults else 0


if __name__ == "__main__":
    sys.exit(main())
