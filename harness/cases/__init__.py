"""The cases of the suite as data."""

from typing import Final

from nsstore.harness.case import Case
from nsstore.harness.cases.acceptance import ACCEPTANCE
from nsstore.harness.cases.layers import LAYERS
from nsstore.harness.cases.shapes import SHAPES

CASES: Final[tuple[Case, ...]] = tuple(sorted((*ACCEPTANCE, *LAYERS, *SHAPES), key=lambda one: one.id))
"""Every case there is, in the order of their ids."""

__all__ = ["CASES"]
