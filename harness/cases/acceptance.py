"""The ten acceptance criteria of the redline, each in its own words."""

from __future__ import annotations

from typing import Final

from nsstore.harness.case import Case, Document


def _criterion(number: int, title: str, sentence: str, probe: str, **given: str) -> Case:
    return Case(
        id=f"AC{number:02}",
        title=title,
        document=Document.REDLINE,
        sentence=sentence,
        probe=probe,
        given=given,
    )


ACCEPTANCE: Final = (
    _criterion(
        1,
        "the own scope finds its own",
        "Same user, same project, same session -> records are visible.",
        "own_scope",
    ),
    _criterion(
        2,
        "another session of the same project",
        "Same user, same project, different session -> visible only if policy permits.",
        "other_scope",
        dimensions="session",
    ),
    _criterion(
        3,
        "another project of the same user",
        "Same user, different project -> denied by default.",
        "other_scope",
        dimensions="project",
    ),
    _criterion(
        4,
        "another user of the same project",
        "Different user, same project -> denied unless explicitly shared by group policy.",
        "other_scope",
        dimensions="user",
    ),
    _criterion(
        5,
        "another tenant or group",
        "Different tenant/group -> denied.",
        "other_scope",
        dimensions="tenant",
        never_shared="yes",
    ),
    _criterion(
        6,
        "a record without owner and scope",
        "Untagged record -> denied.",
        "untagged",
    ),
    _criterion(
        7,
        "a record of another branch or baseline",
        "Stale branch/baseline record -> not used as current evidence.",
        "stale_context",
        dimensions="branch baseline",
    ),
    _criterion(
        8,
        "a search that shows no scope support",
        "Provider fallback without scope support -> memory disabled.",
        "unproven_search",
    ),
    _criterion(
        9,
        "where an answer comes from",
        "Search result provenance is returned and logged.",
        "provenance",
    ),
    _criterion(
        10,
        "what may not be read is in no ranking",
        "Out-of-scope records are filtered before ranking/summarization.",
        "filtered_first",
    ),
)
