"""What only looks like a value that a grant names is another one, or none: it opens nothing, to nobody."""

import unicodedata
from collections.abc import Callable

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nsstore.errors import InvalidInput
from nsstore.policy import Asker, Decision, Grant, Opens, Rights, decide
from nsstore.scope import Purpose, check_id
from tests.policy.conftest import Ask, Record

Twin = Callable[[str], str]

CYRILLIC = str.maketrans("aceikopsxyABCEHKMOPTX", "асеікорѕхуАВСЕНКМОРТХ")
WIDE = {code: code + 0xFEE0 for code in range(0x21, 0x7F)}
TWINS: dict[str, Twin] = {
    "upper": str.upper,
    "lower": str.lower,
    "title": str.title,
    "casefold": str.casefold,
    "swapped case": str.swapcase,
    "NFC": lambda id_: unicodedata.normalize("NFC", id_),
    "NFD": lambda id_: unicodedata.normalize("NFD", id_),
    "NFKC": lambda id_: unicodedata.normalize("NFKC", id_),
    "NFKD": lambda id_: unicodedata.normalize("NFKD", id_),
    "cyrillic": lambda id_: id_.translate(CYRILLIC),
    "wide": lambda id_: id_.translate(WIDE),
    "space before": lambda id_: " " + id_,
    "space after": lambda id_: id_ + " ",
    "line end": lambda id_: id_ + "\n",
    "nul": lambda id_: id_ + "\0",
    "no-break space": lambda id_: id_ + "\u00a0",
    "zero width": lambda id_: id_[:1] + "\u200b" + id_[1:],
    "joiner": lambda id_: id_[:1] + "\u2060" + id_[1:],
    "direction": lambda id_: "\u202e" + id_[::-1],
    "accent": lambda id_: id_ + "\u0301",
    "dot": lambda id_: id_ + ".",
    "dotted path": lambda id_: "./" + id_,
    "folder": lambda id_: id_ + "/",
    "quoted": lambda id_: f'"{id_}"',
    "percent": lambda id_: "".join(f"%{one:02x}" for one in id_.encode()),
    "beginning": lambda id_: id_[:-1],
    "longer": lambda id_: id_ + "2",
    "star": lambda id_: id_[:1] + "*",
    "any": lambda _: "*",
    "not applicable": lambda _: "-",
    "empty": lambda _: "",
    "doubled space": lambda id_: id_.replace(" ", "  "),
    "no space": lambda id_: id_.replace(" ", ""),
}
ODD = ("alice", "Alice", "straße", "café", "Ω", "İstanbul", "ﬁle", "K2", "a b", "x.y", "ſ", "Ⅸ", "½", "ａｂ")  # noqa: RUF001 - look-alikes are what this is about


def is_id(value: str) -> bool:
    """Whether a text is an id at all."""
    try:
        check_id("user_id", value)
    except InvalidInput:
        return False
    return True


IDS = st.sampled_from(ODD) | st.text(min_size=1, max_size=6)
PAIRS = st.tuples(IDS.filter(is_id), st.sampled_from(sorted(TWINS))).map(
    lambda one: (one[0], TWINS[one[1]](one[0]))
)
ASKERS = ("tenant_id", "user_id", "project_id", "agent_id")
OPENED: dict[str, Callable[[str], Opens]] = {
    "user_id": lambda id_: Opens(users=(id_,)),
    "session_id": lambda id_: Opens(sessions=(("session", id_),)),
    "workspace_id": lambda id_: Opens(workspaces=(id_,)),
    "branch": lambda id_: Opens(branches=(id_,)),
    "baseline": lambda id_: Opens(baselines=(id_,)),
    "agent_id": lambda id_: Opens(agents=(id_,)),
    "tool_context": lambda id_: Opens(tool_contexts=(id_,)),
    "task_id": lambda id_: Opens(tasks=(id_,)),
}


def to(**changes: str) -> Asker:
    """The asker that a typical scope is, with one id changed."""
    ids = {"tenant_id": "acme", "user_id": "alice", "project_id": "shop", "agent_id": "claude", **changes}
    return Asker(
        tenant=("tenant", ids["tenant_id"]),
        user=ids["user_id"],
        projects=(ids["project_id"],),
        agents=(ids["agent_id"],),
        purposes=(Purpose.RECALL,),
    )


def decided(
    ask: Ask, record: Record, rights: Rights, mine: dict[str, object], theirs: dict[str, object]
) -> Decision | None:
    """What is decided, or ``None`` where there can be no such request, or no such record."""
    try:
        return decide(ask(**mine), record(**theirs), rights)
    except InvalidInput:
        return None


@pytest.mark.parametrize("field", ASKERS)
@given(pair=PAIRS)
def test_who_looks_like_the_subject(ask: Ask, record: Record, field: str, pair: tuple[str, str]) -> None:
    """A grant is to its very subject; who is spelled otherwise, however little, reads nothing by it."""
    named, twin = pair
    rights = Rights(
        grants=(Grant(number=1, to=to(**{field: named}), opens=Opens(sessions=(("session", "s-2"),))),)
    )
    own = decided(ask, record, rights, {field: named}, {field: named, "session_id": "s-2"})
    assert own is not None
    assert own.allowed
    if twin != named:
        for whose in (named, twin):
            found = decided(ask, record, rights, {field: twin}, {field: whose, "session_id": "s-2"})
            assert found is None or not found.allowed


@pytest.mark.parametrize("field", sorted(OPENED))
@given(pair=PAIRS)
def test_what_looks_like_what_is_open(ask: Ask, record: Record, field: str, pair: tuple[str, str]) -> None:
    """A grant opens the very value it names, and none that is spelled otherwise, however little."""
    named, twin = pair
    mine = {"user_id": "the asker"} if field == "user_id" else {}
    rights = Rights(grants=(Grant(number=1, to=to(**mine), opens=OPENED[field](named)),))
    own = decided(ask, record, rights, {**mine}, {**mine, field: named})
    assert own is not None
    assert own.allowed
    scope = ask(**mine).scope
    if twin not in (named, getattr(scope, field)):
        found = decided(ask, record, rights, {**mine}, {**mine, field: twin})
        assert found is None or not found.allowed


class Text(str):
    """A text of another type, which could say anything of itself."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = str.__hash__


COMMIT, HEAD = "ab" * 20, "cd" * 20
SPELLED: tuple[object, ...] = (
    *(COMMIT.upper(), COMMIT[:-1], COMMIT[:7], COMMIT + "\n", " " + COMMIT, "0x" + COMMIT, COMMIT + "0", ""),
    *(COMMIT.translate(WIDE), COMMIT.translate(CYRILLIC), "*", "HEAD", "-", None, 1, COMMIT.encode()),
    *(Text(COMMIT), Text("anything"), (COMMIT,), frozenset({COMMIT})),
)
GIVEN: tuple[object, ...] = (
    *((COMMIT,), [COMMIT], {COMMIT}, {COMMIT: 1}, COMMIT, iter([COMMIT]), None, True, "*"),
    *(frozenset({one}) for one in SPELLED),
)
LINEAGE = Rights(grants=(Grant(number=1, to=to(), opens=Opens(lineage=True)),))


@pytest.mark.parametrize("ancestors", GIVEN, ids=range(len(GIVEN)))
def test_ancestors_that_are_none(ask: Ask, ancestors: object) -> None:
    """Ancestors are a frozenset of whole commit ids; anything else is refused before it is asked by."""
    with pytest.raises(InvalidInput):
        ask(commit=HEAD, ancestors=ancestors)


@pytest.mark.parametrize("commit", SPELLED, ids=range(len(SPELLED)))
def test_a_commit_that_looks_like_an_ancestor(ask: Ask, record: Record, commit: object) -> None:
    """A record of a commit that is spelled otherwise is not of the lineage, nor is one of none."""
    asked = ask(commit=HEAD, ancestors=frozenset({COMMIT}))
    assert decide(asked, record(branch="old", commit=COMMIT), LINEAGE).allowed
    try:
        meta = record(branch="old", commit=commit)
    except (InvalidInput, TypeError, msgspec.ValidationError):
        return
    assert not decide(asked, meta, LINEAGE).allowed


@given(ancestors=st.frozensets(st.text("0123456789abcdef", min_size=40, max_size=40), max_size=3))
def test_no_lineage_without_the_very_commit(ask: Ask, record: Record, ancestors: frozenset[str]) -> None:
    """A record of none of the ancestors is of another branch; without a policy every one is."""
    asked = ask(commit=HEAD, ancestors=ancestors)
    for commit in (COMMIT, None):
        inside = commit is not None and commit in ancestors
        assert decide(asked, record(branch="old", commit=commit), LINEAGE).allowed is inside
    for commit in (*ancestors, HEAD):
        assert decide(asked, record(branch="old", commit=commit), LINEAGE).allowed
        assert not decide(asked, record(branch="old", commit=commit)).allowed
