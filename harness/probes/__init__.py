"""The ways to try a case: each takes the world and the case, and returns what was seen.

A probe raises :class:`~nsstore.harness.witness.Unproven` for what it did not see.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from nsstore.harness.case import Case
from nsstore.harness.probes import (
    advice,
    audits,
    engines,
    existence,
    life,
    names,
    paths,
    places,
    provenance,
    ranking,
    rights,
    scopes,
    strangers,
)
from nsstore.harness.world import World

Probe = Callable[[World, Case], str]
PROBES: Final[Mapping[str, Probe]] = {
    probe.__name__: probe
    for probe in (
        scopes.own_scope,
        scopes.other_scope,
        scopes.stale_context,
        strangers.untagged,
        strangers.strays,
        strangers.strays_weigh_nothing,
        strangers.foreign,
        strangers.forged,
        strangers.altered,
        strangers.adopted,
        engines.unproven_search,
        engines.undeclared_engine,
        engines.lying_engine,
        engines.failing_engine,
        provenance.provenance,
        provenance.every_verb,
        ranking.filtered_first,
        ranking.starved,
        ranking.unmoved,
        ranking.two_worlds,
        advice.truth_first,
        audits.told_denial,
        audits.told_untagged,
        audits.told_contamination,
        audits.told_fallback,
        audits.told_lying_engine,
        places.apart,
        places.writes_its_own,
        places.derived,
        names.prefix_sibling,
        names.wildcard,
        names.missing_dimension,
        names.default_identity,
        names.lossy_join,
        paths.filter_injection,
        paths.metadata_on_write,
        paths.metadata_on_update,
        paths.second_path,
        paths.neighbour_expansion,
        paths.fallback_widens,
        paths.latest_of_all,
        life.forget_leaves_traces,
        life.replay,
        life.two_processes,
        life.cache_without_identity,
        life.cancelled_call,
        life.merged_owners,
        life.superseded,
        rights.opens_what_it_names,
        existence.existence_by_error,
        existence.existence_by_time,
    )
}
"""Every probe by the name that cases know it by."""

__all__ = ["PROBES", "Probe"]
