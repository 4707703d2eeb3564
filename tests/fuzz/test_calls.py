"""Any value in any argument of any verb: a result, or one of the known kinds of error."""

from collections.abc import Callable, Iterator
from typing import cast

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.binding import TYPICAL
from bench.house import OWNER, House
from nsstore import Found, Note, OpenStore, Receipt, Session, StoreError
from nsstore.errors import KINDS

CANARY = "zq7f3evil"

texts = st.one_of(
    st.text(),
    st.text(alphabet=st.characters(codec=None, exclude_categories=())),
    st.sampled_from(["quartz", "", " ", "-", "None", "../x", "a" * 201, "\ud800", "\x00", "e\u0301", "a\nb"]),
    st.text(min_size=1).map(lambda one: one * 3000),
)
scalars = st.one_of(
    st.none(), st.booleans(), st.integers(), st.integers(-3, 1100), st.floats(), st.binary(max_size=20), texts
)
anything = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.tuples(inner, inner),
        st.dictionaries(texts, inner, max_size=4),
        st.sets(texts, max_size=3),
    ),
    max_leaves=8,
)
NOTE_FIELDS = {
    "kind": st.one_of(st.none(), st.sampled_from(["decision", "x1"]), anything),
    "title": st.one_of(st.none(), texts, anything),
    "tags": st.one_of(st.lists(texts, max_size=40), anything),
    "sensitivity": st.one_of(st.sampled_from(["public", "internal", "restricted"]), anything),
    "retention_class": st.one_of(st.just("standard"), anything),
    "privacy": st.one_of(st.sampled_from(["project_only", "team"]), anything),
    "supersedes": st.one_of(st.lists(st.uuids().map(str), max_size=20), anything),
    "ext": st.one_of(
        st.none(), st.dictionaries(st.text("abcdei_.tn", min_size=1), anything, max_size=3), anything
    ),
    "idempotency_key": st.one_of(st.none(), texts, anything),
}
notes = st.fixed_dictionaries({}, optional=NOTE_FIELDS)


@pytest.fixture(scope="module")
def store(house: House) -> Iterator[OpenStore]:
    """The furnished store, open, with a canary in another tenant."""
    with house.world.open() as store:
        session = house.neighbours[-1].who.bind(store)
        session.remember(CANARY, title=CANARY, tags=[CANARY])
        session.state.put("plan", CANARY)
        yield store


@pytest.fixture(scope="module")
def session(store: OpenStore) -> Session:
    """A session of the owner."""
    return OWNER.bind(store)


def ends_well(call: Callable[[], object]) -> object:
    """Make a call: its result, with nothing of another tenant, or ``None`` for an error of a known kind."""
    try:
        result = call()
    except StoreError as err:
        if type(err) not in KINDS or CANARY in str(err):
            raise AssertionError(f"not a known kind: {err!r}") from err
        return None
    if not isinstance(result, Session):
        assert CANARY.encode() not in msgspec.json.encode(result)
    return result


def loose(verb: Callable[..., object]) -> Callable[..., object]:
    """A verb that may be called with anything."""
    return verb


@given(text=st.one_of(texts, anything), note=notes)
def test_remember(session: Session, text: object, note: dict[str, object]) -> None:
    """Whatever is remembered comes back equal, and whatever cannot be is refused."""
    receipt = ends_well(lambda: loose(session.remember)(text, **note))
    if isinstance(receipt, Receipt):
        assert session.get(receipt.record_id).text == text


made = notes.map(lambda fields: loose(Note)(text="a note", **fields))


@given(many=st.one_of(st.lists(st.one_of(texts, made, anything), max_size=4), anything))
def test_remember_many(session: Session, many: object) -> None:
    """Whatever is in the list, all of it is written or none."""
    before = session.list(limit=1, include_superseded=True).total
    receipts = cast("list[Receipt] | None", ends_well(lambda: loose(session.remember_many)(many)))
    after = session.list(limit=1, include_superseded=True).total
    assert after - before == sum(not one.replayed for one in receipts or ())


@given(text=st.one_of(texts, anything), k=st.one_of(st.integers(1, 1000), scalars))
def test_search(session: Session, text: object, k: object) -> None:
    """Any text is words, any other thing is refused."""
    ends_well(lambda: loose(session.search)(text, k=k))


@given(one=anything, limit=st.one_of(st.integers(1, 1000), scalars), flag=scalars)
def test_reading(session: Session, one: object, limit: object, flag: object) -> None:
    """No id, limit or flag ends in anything unexpected."""
    ends_well(lambda: loose(session.get)(one))
    ends_well(lambda: loose(session.history)(one))
    ends_well(lambda: loose(session.list)(limit=limit, include_superseded=flag))


@given(key=st.one_of(texts, anything), text=st.one_of(texts, anything), expect=anything, more=notes)
def test_documents(
    session: Session, key: object, text: object, expect: object, more: dict[str, object]
) -> None:
    """A document that was put is got, and nothing else is."""
    state = session.state
    options = {name: value for name, value in more.items() if name in ("kind", "ext", "idempotency_key")}
    receipt = ends_well(lambda: loose(state.put)(key, text, **options))
    if isinstance(receipt, Receipt):
        found = loose(state.get)(key)
        assert isinstance(found, Found)
        assert found.text == text
    ends_well(lambda: loose(state.put)(key, text, expect=expect))
    ends_well(lambda: loose(state.get)(key))
    ends_well(lambda: loose(state.history)(key))
    ends_well(state.list)


FIELDS = [
    *TYPICAL,
    *("clearance", "role", "commit", "task_id", "tool_context", "allowed_branches", "allowed_baselines"),
    *("group_id", "conversation_id"),
]


@given(changes=st.dictionaries(st.sampled_from(FIELDS), anything, max_size=3))
def test_binding(store: OpenStore, changes: dict[str, object]) -> None:
    """A scope is bound or refused; one that is bound keeps what it is given."""
    bound = ends_well(lambda: loose(store.bind)(**{**TYPICAL, **changes}))
    if isinstance(bound, Session) and changes:
        text = "of a fuzzed scope"
        receipt = ends_well(lambda: bound.remember(text))
        if isinstance(receipt, Receipt):
            assert bound.get(receipt.record_id).text == text
            assert bound.search("fuzzed").hits
