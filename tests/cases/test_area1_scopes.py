"""Area 1 of the public bug reports, BR-01 to BR-10: whose record is whose."""

import itertools
import os
import random
from pathlib import Path
from typing import Any, cast

import pytest

from bench.binding import TYPICAL, bind, bind_without, reached, tree
from bench.world import World
from nsstore import InvalidInput, Note, NotVisible, OpenStore, Session
from nsstore.audit import EventKind, read_events

CANARY = "zq7f3evil"
PREFIX_PAIRS = [
    ("tenant_id", "acme", "acme-corp"),
    ("user_id", "1", "10"),
    ("project_id", "app", "app2"),
    ("session_id", "s", "s_"),
]


@pytest.mark.parametrize(("field", "short", "long"), PREFIX_PAIRS)
def test_br01_prefix_is_no_match(store: OpenStore, field: str, short: str, long: str) -> None:
    """Under the short id no verb shows what is under the long one; an empty id is refused."""
    mine = bind(store, **{field: short}).remember("quartz of mine").record_id
    other = bind(store, **{field: long}).remember(f"quartz {CANARY}").record_id
    for verb, ids in reached(bind(store, **{field: short}), [mine, other], "quartz").items():
        assert ids == {mine}, verb
    with pytest.raises(InvalidInput):
        bind(store, **{field: ""})


def scopes() -> list[dict[str, object]]:
    """36 scopes whose ids share prefixes."""
    return [
        {"tenant_id": tenant, "user_id": user, "project_id": project, "session_id": session}
        for tenant, user, project, session in itertools.product(
            ("a", "a-b", "ab"), ("u", "u1"), ("p", "p-1"), ("s", "s1", "s-1")
        )
    ]


def test_br02_every_verb_agrees_about_the_scope(store: OpenStore) -> None:
    """Get, history, list and search reach exactly the scope's own records, for each of 36 scopes."""
    owned = {
        index: {bind(store, **scope).remember(f"quartz {CANARY} {index}").record_id}
        for index, scope in enumerate(scopes())
    }
    ids = [one for mine in owned.values() for one in mine]
    for index, scope in enumerate(scopes()):
        session = bind(store, **scope)
        for verb, found in reached(session, ids, f"quartz {CANARY}").items():
            assert found == owned[index], (verb, scope)
        assert session.list().total == 1


@pytest.mark.parametrize("pattern", ["[ab]", "*", "?", "a*", "**", "a?", "[!a]"])
def test_br03_no_id_is_a_pattern(store: OpenStore, pattern: str) -> None:
    """An id with a pattern character is refused in every dimension."""
    for field in ("tenant_id", "user_id", "project_id", "session_id", "workspace_id", "branch", "agent_id"):
        with pytest.raises(InvalidInput, match=field):
            bind(store, **{field: pattern})


def test_br03_percent_and_underscore_are_letters(store: OpenStore) -> None:
    """What is a wildcard elsewhere stands for itself here."""
    ids = {
        name: bind(store, user_id=name).remember("quartz").record_id
        for name in ("john_doe", "john-doe", "j%")
    }
    for name, mine in ids.items():
        assert reached(bind(store, user_id=name), list(ids.values()), "quartz")["list"] == {mine}


TWINS = [
    ("my_project", "my-project", "my.project", "my project"),
    ("新聞", "暫存"),
    ("aa/b", "aa-b", "aa_b", "aa\\b", "aa.b", "aa:b", "aa|b", "aa+b", "aa%b"),
    ("ss", "ß"),
    ("App", "app", "APP", "aPp"),
    ("a%2fb", "a/b"),
    ("ﬁle", "file"),
]


@pytest.mark.parametrize("twins", TWINS)
@pytest.mark.parametrize("field", ["tenant_id", "user_id", "project_id", "session_id"])
def test_br04_distinct_ids_have_distinct_folders(
    store: OpenStore, world: World, field: str, twins: tuple[str, ...]
) -> None:
    """Ids that a lossy encoding would merge keep their records apart, on any disk."""
    ids: dict[str, str] = {}
    other = "user_id" if field == "session_id" else "session_id"
    for name in twins:
        ids[name] = bind(store, **{field: name, other: "other"}).remember("quartz").record_id
    folders = {path.parent for path in (world.root / "memory").rglob("*.md")}
    assert len(folders) == len({str(folder).casefold() for folder in folders}) == len(twins)
    for name in twins:
        session = bind(store, **{field: name, other: "other"})
        assert {one.record_id for one in session.list().items} == {ids[name]}
        assert session.list().items[0].provenance.scope[field] == name


@pytest.mark.parametrize("separator", [":", "|", "&", "=", ".", ",", "/", "\\", "+", "%", "~", "-", "_", ";"])
def test_br05_no_key_is_joined(store: OpenStore, separator: str) -> None:
    """(a, b·c) and (a·b, c) never meet in any table of a warm process, nor on the disk."""
    left, right = ("aa", f"bb{separator}cc"), (f"aa{separator}bb", "cc")
    sessions: list[Session] = []
    for tenant, user in (left, right):
        sessions.append(bind(store, tenant_id=tenant, user_id=user))
    kept: list[set[str]] = [set(), set()]
    for turn in range(5):
        for which, session in enumerate(sessions):
            kept[which].add(session.remember(f"quartz {turn}").record_id)
            assert {hit.record_id for hit in session.search("quartz", k=100).hits} == kept[which]


@pytest.mark.parametrize("separator", ["\x1f", "\x00", "\n", "\u2028"])
def test_br05_control_characters_are_refused(store: OpenStore, separator: str) -> None:
    """A separator that cannot be seen is in no id."""
    with pytest.raises(InvalidInput):
        bind(store, tenant_id=f"a{separator}b")


FIELDS = [
    *("tenant_id", "group_id", "user_id", "project_id", "session_id", "conversation_id", "workspace_id"),
    *("branch", "baseline", "agent_id", "record_id", "created_at", "schema_version", "sensitivity"),
    *("retention_class", "privacy", "seq", "prev", "seal", "salt", "expires_at", "path"),
]


@pytest.mark.parametrize("field", FIELDS)
def test_br06_metadata_moves_nothing(store: OpenStore, world: World, field: str) -> None:
    """Metadata that names a field of the header is refused, nothing is written, and the audit names it."""
    session = bind(store)
    session.remember("quartz")
    before = tree(world.root, but=("audit",))
    for ext in ({field: "evil"}, {"deep": {field.upper(): "evil"}}, {f"x.{field}": 1}):
        with pytest.raises(InvalidInput):
            session.remember("moved", ext=ext)
    if field not in Note.__struct_fields__:
        with pytest.raises(TypeError):
            Note(**cast("dict[str, Any]", {"text": "moved", field: "evil"}))
    assert tree(world.root, but=("audit",)) == before
    refusals = [
        line.reason or ""
        for line in read_events(store.audit, ("tenant", "acme"))
        if line.event is EventKind.REFUSED
    ]
    assert len(refusals) == 3
    assert all(field in reason or "must" in reason for reason in refusals)


DIMENSIONS = [
    "tenant_id",
    "user_id",
    "project_id",
    "session_id",
    "agent_id",
    "workspace_id",
    "branch",
    "baseline",
]
NOTHING: list[object] = [
    *(None, "", " ", "\t", [], ["a", "b"], "*", "%", "null", "None", "undefined", 0, False, 1, b"acme", 1.0),
    *({}, (), "nil", "NaN", "NULL", "?", "-", "..", "\u200b", "a ", " a"),
]


@pytest.mark.parametrize("field", DIMENSIONS)
def test_br09_nothing_is_no_filter(store: OpenStore, field: str) -> None:
    """Absent, empty, a wildcard, a word for nothing or another type is refused in every dimension."""
    for value in NOTHING:
        with pytest.raises(InvalidInput, match=field.removesuffix("_id")):
            bind(store, **{field: value})
    with pytest.raises((InvalidInput, TypeError), match=field):
        bind_without(store, field)


def test_br09_a_number_is_no_text(store: OpenStore) -> None:
    """The user 1 does not exist, and is not the user "1"."""
    bind(store, user_id="1").remember("quartz")
    with pytest.raises(InvalidInput):
        bind(store, user_id=1)


@pytest.mark.parametrize(("one", "other"), [("tenant_id", "group_id"), ("session_id", "conversation_id")])
def test_br09_pairs_never_meet(store: OpenStore, one: str, other: str) -> None:
    """Exactly one of a pair is given, and equal ids of the two are different scopes."""
    mine = bind(store, **{one: "same"}).remember("quartz").record_id
    scope = {key: value for key, value in TYPICAL.items() if key != one}
    theirs = store.bind(**scope, **{other: "same"})  # type: ignore[arg-type]  # a mapping of the right fields
    assert theirs.list().items == ()
    with pytest.raises(NotVisible):
        theirs.get(mine)
    with pytest.raises(InvalidInput, match="exactly one"):
        bind(store, **{other: "same"})


def test_br10_nobody_is_somebody_by_default(
    world: World, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Environment and working directory give no identity, and every scope finds what it wrote."""
    for name in ("USER", "LOGNAME", "TENANT", "NSSTORE_TENANT_ID", "NSSTORE_USER_ID"):
        monkeypatch.setenv(name, "root")
    monkeypatch.chdir(tmp_path)
    dice = random.Random(7)
    letters = "abcXYZ0189-_ :é中"
    with world.open() as store:
        for field in ("tenant_id", "user_id", "project_id", "session_id", "agent_id"):
            with pytest.raises((InvalidInput, TypeError)):
                bind_without(store, field)
        found = 0
        for turn in range(120):
            fields = ("user_id", "project_id", "session_id", "agent_id")
            scope = {
                field: "xx" + "".join(dice.choices(letters, k=dice.randint(0, 12))) + "x" for field in fields
            }
            session = bind(store, tenant_id=f"t{turn % 4}", **scope)
            mine = session.remember("quartz").record_id
            assert session.get(mine).text == "quartz"
            assert mine in {one.record_id for one in session.list().items}
            found += mine in {hit.record_id for hit in session.search("quartz").hits}
        assert found == 120
    names = {part for path in world.root.rglob("*") for part in path.relative_to(world.root).parts}
    assert names.isdisjoint({"default", "anonymous", "unknown", "root", "None", "none", "null"})
    assert os.environ["USER"] == "root"
