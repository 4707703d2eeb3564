"""The rules of the redline's enforcement layers, and those of the boundary contract, in their own words."""

from __future__ import annotations

from typing import Final

from nsstore.harness.case import Ability, Case, Document


def _rule(
    number: int,
    title: str,
    sentence: str,
    probe: str,
    *needs: Ability,
    reason: str | None = None,
    quick: bool = True,
) -> Case:
    return Case(
        id=f"RL{number:02}",
        title=title,
        document=Document.REDLINE,
        sentence=sentence,
        probe=probe,
        needs=needs,
        reason=reason,
        quick=quick,
    )


STORAGE: Final = (
    _rule(
        1,
        "each scope in a place of its own",
        "No production component may write unrelated contexts into a single global `memory/` directory.",
        "apart",
        "on_files",
    ),
    _rule(
        2,
        "a write touches nobody else's files",
        "Writers must not append current-session records into shared directories.",
        "writes_its_own",
        "on_files",
    ),
    _rule(
        3,
        "the place follows from the scope",
        "Writers must derive the target path from the scope envelope, not from a global default.",
        "derived",
        "on_files",
    ),
)
METADATA: Final = (
    _rule(
        4,
        "an untagged record is not read",
        "Untagged records are unreadable by default.",
        "strays",
        "on_files",
    ),
    _rule(
        5,
        "an untagged record is not searched",
        "Records without owner/scope metadata may be archived for forensic review but must not be searched or"
        " used for live reasoning.",
        "strays_weigh_nothing",
        "on_files",
    ),
    _rule(
        6,
        "a record's tags cannot be changed",
        "Every persisted memory/state record must include immutable metadata:",
        "altered",
        "on_files",
    ),
    _rule(
        7,
        "a claim proves no owner",
        "Search over records whose owner/scope cannot be proven.",
        "forged",
        "on_files",
    ),
    _rule(
        8,
        "a place proves no owner",
        "Trusting filesystem location alone as authorization.",
        "foreign",
        "on_files",
    ),
)
QUERY: Final = (
    _rule(
        9,
        "the filter comes before the first k",
        "Search must apply a mandatory scope filter before ranking or summarization.",
        "starved",
        quick=False,  # a quick run has it in AC10
    ),
    _rule(
        10,
        "the ranking knows the scope alone",
        "The ranking stage must never receive out-of-scope records.",
        "unmoved",
        quick=False,  # as RL09
    ),
)
PROVENANCE: Final = (
    _rule(
        11,
        "every answer says where it comes from",
        "Every memory/search result used for operational reporting must carry provenance:",
        "every_verb",
    ),
    _rule(
        12,
        "what is so now comes first",
        "Responses must prefer current runtime truth sources over memory:",
        "truth_first",
        "advises",
    ),
)
FALLBACK: Final = (
    _rule(
        13,
        "an engine without scope support is not asked",
        "If provider search cannot prove scope isolation, the system must use text-only fallback or no-memory"
        " fallback.",
        "undeclared_engine",
        "guards",
    ),
    _rule(
        14,
        "an engine that fails widens nothing",
        "Fallback must not silently broaden the scope.",
        "failing_engine",
        "guards",
    ),
    _rule(
        15,
        "an engine is not believed",
        "A record is readable only if its metadata matches the request scope policy.",
        "lying_engine",
        "guards",
    ),
)
AUDIT: Final = (
    _rule(
        16,
        "a denial is told",
        "a record is denied due to scope mismatch;",
        "told_denial",
        "gets",
        "audits",
        reason="denied",
    ),
    _rule(
        17,
        "an untagged record is told",
        "untagged memory is encountered;",
        "told_untagged",
        "on_files",
        "audits",
        reason="untagged",
    ),
    _rule(
        18,
        "a search that is switched off is told",
        "fallback disables memory search;",
        "told_fallback",
        "guards",
        "audits",
        reason="fallback_disabled",
    ),
    _rule(
        19,
        "an engine that oversteps is told",
        "a provider tries to return out-of-scope records;",
        "told_lying_engine",
        "guards",
        "audits",
        reason="out_of_scope_provider",
    ),
    _rule(
        20,
        "contamination is told",
        "cross-context contamination is detected.",
        "told_contamination",
        "on_files",
        "audits",
        reason="contamination",
    ),
)
CORE: Final = (
    Case(
        id="RL21",
        title="another workspace or agent",
        document=Document.REDLINE,
        sentence="A query may only access records satisfying all required scope dimensions:",
        probe="other_scope",
        given={"dimensions": "workspace agent"},
    ),
)
BOUNDARY: Final = (
    Case(
        id="MB01",
        title="facts stay in their project",
        document=Document.BOUNDARY,
        sentence="By default, all knowledge facts, sessions, and gotchas are scoped to their originating"
        " project.",
        probe="fallback_widens",
        given={"dimensions": "project"},
        quick=False,  # a quick run has it in LK16
    ),
    Case(
        id="MB02",
        title="no latest session of somewhere else",
        document=Document.BOUNDARY,
        sentence="No global fallback",
        probe="latest_of_all",
        needs=("lists",),
    ),
)
LAYERS: Final = (*STORAGE, *METADATA, *QUERY, *PROVENANCE, *FALLBACK, *AUDIT, *CORE, *BOUNDARY)
