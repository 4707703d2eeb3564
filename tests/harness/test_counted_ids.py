"""A provider may count its ids in each scope: the same id is then another record for each asker."""

from collections.abc import Sequence

from nsstore.harness.provider import DIMENSIONS, Kept, Refusal, Scope, ScopeProperties
from nsstore.harness.running import run

Texts = list[str]


class Counting:
    """Texts in a list for each scope, their places as ids; no score, no audit."""

    def __init__(self) -> None:
        self._kept: dict[Scope, list[str]] = {}

    def scope_properties(self) -> ScopeProperties | None:
        return ScopeProperties(separates=frozenset(DIMENSIONS), filters_before_ranking=True)

    def remember(self, scope: Scope, text: str) -> str:
        texts = self._own(scope)
        texts.append(text)
        return f"{len(texts)}"

    def search(self, scope: Scope, query: str, k: int) -> Sequence[Kept]:
        found = [
            self._shown(scope, number, text)
            for number, text in enumerate(self._own(scope), 1)
            if set(query.split()) & set(text.split())
        ]
        return found[:k]

    def list(self, scope: Scope) -> Sequence[Kept]:
        return [self._shown(scope, number, text) for number, text in enumerate(self._own(scope), 1)]

    def get(self, scope: Scope, record_id: str) -> Kept:
        texts = self._own(scope)
        if not record_id.isdigit() or not 1 <= int(record_id) <= len(texts):
            raise Refusal(f"{record_id} is not there")
        return self._shown(scope, int(record_id), texts[int(record_id) - 1])

    def close(self) -> None:
        """Let go of nothing."""

    def _own(self, scope: Scope) -> Texts:
        if not all(type(getattr(scope, one)) is str and getattr(scope, one).strip() for one in DIMENSIONS):
            raise Refusal("a dimension is missing")
        return self._kept.setdefault(scope, [])

    def _shown(self, scope: Scope, number: int, text: str) -> Kept:
        return Kept(
            record_id=f"{number}",
            text=text,
            provenance={
                "record_id": f"{number}",
                "scope": {one: getattr(scope, one) for one in DIMENSIONS},
                "source": "memory",
                "match_reason": "words",
                "created_at": f"{number}",
            },
        )


def test_an_id_of_ones_own_is_no_id_of_others() -> None:
    """What an asker has under an id of its own is not taken for the record of another scope."""
    for full in (False, True):
        report = run(Counting, full=full)
        assert {one.case.id: one.seen for one in report.failed()} == {
            "AC09": "provenance is returned, and nothing shows that it is logged"
        }
        assert (report.metrics.foreign_rate, report.metrics.authorised_recall) == (0.0, 1.0)
