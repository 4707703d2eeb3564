"""What a view returns, what it forgets, and what it says of its size."""

# pyright: reportPrivateUsage=false
# That nothing of a removed record stays can only be seen behind the door.

from __future__ import annotations

import gc
import random
import tracemalloc
from concurrent.futures import Future, ThreadPoolExecutor, wait

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.halves import alone
from nsstore import Answer, Session
from nsstore.errors import InvalidInput
from nsstore.search.analyser import query_terms
from nsstore.search.view import View

words = st.lists(st.sampled_from(["alpha", "beta", "gamma", "delta", "epsilon"]), max_size=6).map(" ".join)


def view_of(*texts: str) -> View:
    """Return a view of the records r0, r1, ... with these texts."""
    view = View()
    for number, text in enumerate(texts):
        view.add(f"r{number}", text)
    return view


def ids(hits: list[tuple[str, float]]) -> list[str]:
    """Return the record ids of hits, in their order."""
    return [record_id for record_id, _ in hits]


def test_best_first() -> None:
    """The record with the rarer word, and more of it, comes first; one without any does not come."""
    view = view_of("alpha", "alpha beta", "alpha beta beta", "gamma")
    assert ids(alone(view, ["alpha", "beta"], 10)) == ["r2", "r1", "r0"]
    assert ids(alone(view, ["alpha", "beta"], 1)) == ["r2"]


def test_ties_keep_ledger_order() -> None:
    """Equal scores come in the order in which the records were added, whatever k cuts off."""
    view = view_of("beta gamma delta", *["alpha beta"] * 20)
    for k in (1, 3, 19, 20, 50):
        assert ids(alone(view, ["alpha"], k)) == [f"r{n}" for n in range(1, 21)][:k]


def test_neighbours_weigh_more_than_the_same_characters_apart() -> None:
    """BR-63: in a script without spaces the record that holds the word comes before its scattered parts."""
    view = view_of("証は認めない", "この認証を使う", "天気は晴れ")
    assert ids(alone(view, query_terms("認証"), 10)) == ["r1", "r0"]


def test_nothing_to_find() -> None:
    """An empty view, no terms, unknown terms and a k below one give an empty answer."""
    assert alone(View(), ["alpha"], 10) == []
    view = view_of("alpha")
    assert alone(view, [], 10) == []
    assert alone(view, ["omega"], 10) == []
    assert alone(view, ["alpha"], 0) == []
    assert alone(view, ["alpha"], -1) == []


def test_term_asked_twice_counts_once() -> None:
    """Repeating a word of a question changes no score."""
    view = view_of("alpha beta", "beta")
    assert alone(view, ["alpha", "alpha", "beta"], 10) == alone(view, ["alpha", "beta"], 10)


def test_record_is_added_once() -> None:
    """A second record of the same id is refused, and the view is as it was."""
    view = view_of("alpha")
    with pytest.raises(ValueError, match="already"):
        view.add("r0", "beta")
    assert len(view) == 1
    assert alone(view, ["beta"], 10) == []


def test_refused_text_changes_nothing() -> None:
    """A record with a lone surrogate is refused by field, and leaves no term behind."""
    view = View()
    with pytest.raises(InvalidInput, match=r"\Atags: "):
        view.add("r0", "alpha", tags=["\ud800"])
    assert "r0" not in view
    assert alone(view, ["alpha"], 10) == []
    assert view.bytes_used() == View().bytes_used()


def test_removed_records_weigh_nothing() -> None:
    """BR-62: five records score the same alone and after fifty neighbours were removed."""
    lonely = view_of(*[f"alpha {'beta ' * n}" for n in range(5)])
    beside = view_of(*[f"alpha {'beta ' * n}" for n in range(5)])
    for number in range(50):
        beside.add(f"gone{number}", "alpha gone long text that moves the average", title="gone")
    assert alone(beside, ["alpha", "beta"], 60) != alone(lonely, ["alpha", "beta"], 60)
    for number in range(50):
        assert beside.remove(f"gone{number}")
    assert alone(beside, ["alpha", "beta"], 60) == alone(lonely, ["alpha", "beta"], 60)
    assert alone(beside, ["gone", "averag"], 60) == []
    assert beside._postings.keys() == {"alpha", "beta"}
    assert not any(beside._terms_of[5:])
    assert not any(beside._ids[5:])


def test_remove_tells_whether_it_was_here() -> None:
    """Removing an unknown record is False and changes nothing; a removed one may come again."""
    view = view_of("alpha")
    assert not view.remove("r1")
    assert view.remove("r0")
    assert not view.remove("r0")
    assert len(view) == 0
    assert alone(view, ["alpha"], 10) == []
    view.add("r0", "beta")
    assert ids(alone(view, ["beta"], 10)) == ["r0"]


@given(st.lists(st.tuples(words, words, st.booleans()), max_size=20), words)
def test_any_history_equals_its_survivors(history: list[tuple[str, str, bool]], question: str) -> None:
    """After any adds and removes a view answers as one that never held what is gone."""
    lived, fresh = View(), View()
    for number, (text, title, stays) in enumerate(history):
        lived.add(f"r{number}", text, title=title)
        if stays:
            fresh.add(f"r{number}", text, title=title)
        elif number % 2:
            lived.remove(f"r{number}")
    for number, (_, _, stays) in enumerate(history):
        if not stays and not number % 2:
            lived.remove(f"r{number}")
    assert len(lived) == len(fresh)
    for k in (1, 3, 30):
        assert alone(lived, query_terms(question), k) == alone(fresh, query_terms(question), k)


def test_words_of_a_query_language_reach_no_field() -> None:
    """BR-52: a question with a colon answers as its words do, and addresses no field."""
    view = view_of("evil tenant", "user bob", "alpha", "id")
    for question in ("tenant_id:evil", "user_id:bob", "record_id:r2", "alpha OR tenant_id:evil"):
        plain = question.replace(":", " ").replace("_", " ").replace(" OR ", " ")
        assert alone(view, query_terms(question), 10) == alone(view, query_terms(plain), 10)
    assert "r2" not in ids(alone(view, query_terms("record_id:r2"), 10))


def test_an_answer_offers_no_vocabulary() -> None:
    """BR-75: an answer has hits to offer, and nothing that lists or counts terms or records."""
    assert Answer.__struct_fields__ == ("hits", "stale", "notices", "advisory", "incomplete")
    offered = {name for name in dir(Session) if not name.startswith("_")}
    assert not {
        name for name in offered if any(word in name for word in ("term", "suggest", "count", "stat"))
    } - {"state"}


def test_size_is_near_the_truth() -> None:
    """The bytes a view claims are within 0.8 to 1.6 of what the interpreter allocated for it."""
    chance = random.Random(5)
    texts = [" ".join(f"w{int(chance.paretovariate(0.8))}" for _ in range(30)) for _ in range(1000)]
    query_terms("warm")
    gc.collect()
    tracemalloc.start()
    view = view_of(*texts)
    gc.collect()
    allocated = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert 0.8 < view.bytes_used() / allocated < 1.6


def test_size_shrinks_with_what_is_removed() -> None:
    """A view that lost its records claims little more than an empty one."""
    view = view_of(*[f"word{n} alpha" for n in range(100)])
    full = view.bytes_used()
    for number in range(100):
        view.remove(f"r{number}")
    assert View().bytes_used() < view.bytes_used() < full / 10


def test_threads_share_a_view() -> None:
    """Threads that add, remove and search at once meet no error and leave the right records."""
    view = View()

    def work(worker: int) -> None:
        for number in range(150):
            view.add(f"{worker}-{number}", f"alpha beta w{number} by{worker}")
            assert ids(alone(view, [f"by{worker}", "alpha"], 1))[0].startswith(f"{worker}-")
            if number % 3:
                assert view.remove(f"{worker}-{number}")

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(work, range(6)))
    assert len(view) == 6 * 50
    assert len(alone(view, ["alpha"], 1000)) == 6 * 50
    assert {score for _, score in alone(view, ["alpha"], 1000)} == {alone(view, ["alpha"], 1)[0][1]}


def test_each_call_waits_for_its_turn() -> None:
    """Add, remove and search each run alone: none ends while another call holds the view."""
    view = view_of("alpha")
    with ThreadPoolExecutor(3) as pool:
        with view._lock:
            calls: list[Future[object]] = [
                pool.submit(view.add, "r1", "alpha"),
                pool.submit(view.remove, "r0"),
                pool.submit(alone, view, ["alpha"], 1),
            ]
            assert not wait(calls, timeout=0.1).done
        assert not wait(calls, timeout=10).not_done
    assert ids(alone(view, ["alpha"], 10)) == ["r1"]
