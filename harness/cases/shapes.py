"""Shapes of leaks that users of such stores reported, each as what has to hold instead."""

from __future__ import annotations

from typing import Final

from nsstore.harness.case import Ability, Case, Document
from nsstore.harness.provider import DIMENSIONS


def _shape(
    number: int, title: str, sentence: str, probe: str, *needs: Ability, quick: bool = True, **given: str
) -> Case:
    return Case(
        id=f"LK{number:02}",
        title=title,
        document=Document.REPORTS,
        sentence=sentence,
        probe=probe,
        needs=needs,
        quick=quick,
        given=given,
    )


NAMES: Final = (
    _shape(
        1,
        "prefix sibling",
        "An id that begins with another one is another one.",
        "prefix_sibling",
        dimensions=" ".join(DIMENSIONS),
    ),
    _shape(2, "wildcard id", "A pattern in the place of an id stands for itself or is refused.", "wildcard"),
    _shape(3, "filter injection", "A query is words, whatever it is spelled like.", "filter_injection"),
    _shape(4, "default identity", "No default stands for an id that is left out.", "default_identity"),
    _shape(
        5,
        "missing dimension",
        "A request that lacks a dimension gets nothing, by any verb.",
        "missing_dimension",
    ),
    _shape(
        6,
        "metadata overwrites the scope on write",
        "What a caller says beside a new text does not decide whose it is.",
        "metadata_on_write",
        "annotates",
    ),
    _shape(
        7,
        "metadata overwrites the scope on update",
        "What a caller says beside a newer text does not decide whose it is.",
        "metadata_on_update",
        "updates",
    ),
    _shape(
        8,
        "lossy join",
        "Scopes whose ids are alike once joined or cleaned stay apart.",
        "lossy_join",
    ),
)
WAYS: Final = (
    _shape(
        9,
        "second read path",
        "Every verb goes by one rule: an id of another scope opens nothing.",
        "second_path",
    ),
    _shape(
        10,
        "neighbour expansion",
        "A hit brings along nothing that was not asked for in the scope.",
        "neighbour_expansion",
    ),
    _shape(
        11,
        "score and count side channel",
        "Scores, order and counts are those of a store in which nobody else is.",
        "two_worlds",
    ),
    _shape(
        12,
        "stray adopted",
        "What was put among the records is not taken over later.",
        "adopted",
        "on_files",
    ),
    _shape(
        13,
        "replay",
        "A forgotten record that is put back stays forgotten.",
        "replay",
        "on_files",
        "forgets",
    ),
    _shape(
        14,
        "forget leaves traces",
        "A forgotten record is in no answer, no score and no file.",
        "forget_leaves_traces",
        "forgets",
    ),
    _shape(
        15,
        "two processes",
        "Two openings of one store keep the same scopes apart, at once.",
        "two_processes",
        "reopens",
    ),
    _shape(
        16,
        "fallback widens",
        "Who finds nothing in the own scope finds nothing.",
        "fallback_widens",
    ),
    _shape(
        17,
        "cache without identity",
        "The same question of another asker gets another answer, and each call is decided anew.",
        "cache_without_identity",
    ),
    _shape(
        18,
        "cancelled call",
        "A call that is cut short leaves nothing for the next asker, and a whole record or none.",
        "cancelled_call",
    ),
    _shape(
        19,
        "existence by error",
        "What is denied and what never was are one answer.",
        "existence_by_error",
        "gets",
    ),
    _shape(
        20,
        "existence by time",
        "What is denied takes as long as what never was.",
        "existence_by_time",
        "gets",
        quick=False,
    ),
    _shape(
        21,
        "owners merged",
        "The same words of two owners are two records.",
        "merged_owners",
    ),
    _shape(
        22,
        "a right that opens more",
        "An owner's word opens what it names, to whom it names, for reading, and until it is taken back.",
        "opens_what_it_names",
        "shares",
    ),
    _shape(
        23,
        "an old version as current",
        "What a newer version took the place of is not served as what is so now.",
        "superseded",
        "updates",
    ),
)
SHAPES: Final = (*NAMES, *WAYS)
