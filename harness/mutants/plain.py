"""What several of the plain leaky stores need."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from nsstore.harness.provider import DIMENSIONS, Scope


def nobody() -> Scope:
    """A scope that is nobody's."""
    return Scope(**dict.fromkeys(DIMENSIONS, "nobody"))


def moved(scope: Scope, metadata: Mapping[str, object]) -> Scope:
    """A scope that metadata was let into."""
    named = {name.removesuffix("_id"): value for name, value in metadata.items()}
    return msgspec.structs.replace(scope, **{one: named[one] for one in DIMENSIONS if one in named})
