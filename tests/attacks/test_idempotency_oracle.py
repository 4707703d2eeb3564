"""An idempotency key tells nobody of a record they may not read."""

from __future__ import annotations

from pathlib import Path

import pytest

import nsstore

NA = nsstore.NA


def bound(store: nsstore.OpenStore, **other: object) -> nsstore.Session:
    """A session of one scope, but for what is said otherwise."""
    who: dict[str, object] = {
        "tenant_id": "acme",
        "user_id": "ada",
        "project_id": "atlas",
        "session_id": "monday",
        "agent_id": "h",
        "workspace_id": NA,
        "branch": NA,
        "baseline": NA,
        "source_tool": "t",
        "purpose": "recall",
    }
    return store.bind(**(who | other))  # type: ignore[arg-type]  # the cases vary one keyword each


def open_at(tmp_path: Path) -> nsstore.OpenStore:
    """A new store."""
    return nsstore.open(tmp_path / "root", create=True, trust_home=tmp_path / "trust")


def test_a_guess_is_not_confirmed_below_the_clearance(tmp_path: Path) -> None:
    """Who may not read a record gets the same answer for the right text and a wrong one."""
    with open_at(tmp_path) as store:
        high, low = bound(store, clearance="restricted"), bound(store, clearance="public")
        high.remember("the salary is 91k", sensitivity="restricted", idempotency_key="salary")
        told = set[str]()
        for guess in ("the salary is 90k", "the salary is 91k"):
            with pytest.raises(nsstore.Refused) as refused:
                low.remember(guess, sensitivity="restricted", idempotency_key="salary")
            told.add(str(refused.value))
        assert len(told) == 1
        mine = low.remember("something public", sensitivity="public", idempotency_key="salary")
        assert not mine.replayed


@pytest.mark.parametrize("dimension", ["workspace_id", "task_id", "tool_context"])
def test_a_key_of_another_scope_is_unused(tmp_path: Path, dimension: str) -> None:
    """The key another workspace, task or tool context used is free, and each retry finds its own record."""
    with open_at(tmp_path) as store:
        one, other = bound(store, **{dimension: "one"}), bound(store, **{dimension: "other"})
        first, second = (who.remember(text, idempotency_key="k") for who, text in ((one, "a"), (other, "b")))
        assert not first.replayed
        assert not second.replayed
        for who, text, receipt in ((one, "a", first), (other, "b", second)):
            again = who.remember(text, idempotency_key="k")
            assert (again.record_id, again.replayed) == (receipt.record_id, True)
        with pytest.raises(nsstore.InvalidInput, match="before"):
            one.remember("b", idempotency_key="k")


def test_a_key_of_another_sessions_document_is_unused(tmp_path: Path) -> None:
    """State documents of two sessions share a directory, and not their idempotency keys."""
    with open_at(tmp_path) as store:
        one, other = bound(store), bound(store, session_id="tuesday")
        first = one.state.put("plan", "a", idempotency_key="k")
        assert not other.state.put("plan", "b", idempotency_key="k").replayed
        assert one.state.put("plan", "a", idempotency_key="k").record_id == first.record_id
