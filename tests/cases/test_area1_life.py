"""Area 1 of the public bug reports, BR-01 to BR-22: whose record is forgotten or replaced."""

import itertools
from collections.abc import Callable
from datetime import timedelta
from typing import Any, cast

import msgspec
import pytest

from bench.binding import bind, tree
from bench.keeping import back_up, put_back
from bench.owning import Hand
from bench.world import World
from nsstore import InvalidInput, NotVisible, OpenStore, Refused, Session
from nsstore.audit import EventKind, read_events
from nsstore.store import Below, expire, forget_below
from tests.cases.conftest import filled, ids
from tests.cli.conftest import Person

TENANT = ("tenant", "acme")
FIELDS = (
    *("tenant_id", "user_id", "project_id", "session_id", "agent_id"),
    *("workspace_id", "branch", "baseline", "task_id", "tool_context"),
)
PAIRS = [
    ("tenant_id", "acme", "acme-corp"),
    ("tenant_id", "a", "A"),
    ("user_id", "1", "10"),
    ("user_id", "john_doe", "john-doe"),
    ("project_id", "app", "app2"),
    ("project_id", "a", "a/b"),
    ("session_id", "s", "s_"),
    ("session_id", "s", "s."),
]


def below(session: Session) -> Below:
    """All of a session's scope."""
    scope = session.envelope.scope
    return Below(tenant=scope.tenant, user=scope.user_id, project=scope.project_id, session=scope.session)


@pytest.mark.parametrize(("field", "short", "long"), PAIRS)
def test_br01_forgetting_the_short_leaves_the_long(
    store: OpenStore, world: World, field: str, short: str, long: str
) -> None:
    """Scopes whose names begin alike are forgotten one at a time; not a byte of the other is touched."""
    one, other = (bind(store, **{field: name}) for name in (short, long))
    for session in (one, other):
        filled(session, 5)
        session.remember("ends", ttl=timedelta(days=1))
        session.state.put("plan", "common")
    files = {
        path: (path.stat().st_mtime_ns, path.read_bytes())
        for path in [*world.root.glob("memory/**/*.md"), *world.root.glob("ledger/memory/**/*.log")]
    }
    assert sum(len(done.records) for done in forget_below(store, below(one))) in (6, 7)
    assert one.list().total == 0
    assert ids(one, "common") == []
    assert len(ids(other, "common")) == 5
    assert other.list().total == 6
    left = {path: (path.stat().st_mtime_ns, path.read_bytes()) for path in files if path.exists()}
    changed = {path for path in files if left.get(path) != files[path]}
    assert len(changed) == 7  # six records and a ledger
    assert len({path.parent for path in changed}) == 2
    assert forget_below(store, below(one)) == ()


@pytest.mark.parametrize(
    "pattern", ["[ab]", "*", "?", "a*", "**", "", " ", ".", "..", "%", "null", "a\n", None]
)
def test_br03_no_scope_is_forgotten_by_a_pattern(store: OpenStore, world: World, pattern: object) -> None:
    """A pattern, an empty name or a word for nothing forgets and expires nothing: it is refused."""
    for name in ("a", "b"):
        bind(store, tenant_id=name, user_id=name, project_id=name, session_id=name).remember("common")
    before = tree(world.root)
    named: dict[str, object] = {"tenant": TENANT, "user": "a", "project": "a", "session": ("session", "a")}
    wrong = [
        {**named, "tenant": ("tenant", pattern)},
        {**named, "session": ("session", pattern)},
        *({**named, field: pattern} for field in ("user", "project") if pattern is not None),
    ]
    for one in wrong:
        with pytest.raises((InvalidInput, msgspec.ValidationError)):
            Below(**cast("dict[str, Any]", one))
    assert tree(world.root) == before


@pytest.mark.parametrize(
    "field", ["tenant_id", "user_id", "project_id", "session_id", "branch", "seal", "path"]
)
def test_br06_a_newer_version_moves_nothing(store: OpenStore, world: World, field: str) -> None:
    """Replacing a record, or a document, with metadata of another scope is refused and changes nothing."""
    session = bind(store)
    old = session.remember("quartz").record_id
    session.state.put("plan", "one")
    before = tree(world.root, but=("audit",))
    calls: list[Callable[[], object]] = [
        lambda: session.remember("moved", supersedes=[old], ext={field: "evil"}),
        lambda: session.state.put("plan", "moved", ext={field: "evil"}),
        lambda: session.remember("moved", supersedes=[old], ext={"deep": [{field: "evil"}]}),
    ]
    for call in calls:
        with pytest.raises(InvalidInput):
            call()
    assert tree(world.root, but=("audit",)) == before
    newer = session.remember("quartz newer", supersedes=[old], sensitivity="internal").record_id
    found = session.get(newer).provenance.scope
    assert found == session.get(old).provenance.scope


def test_br08_exactly_one_user_is_forgotten(store: OpenStore, world: World) -> None:
    """Of four times 250 records exactly one user's 250 go, in one call, and the second call finds none."""
    sessions = {
        (tenant, user): bind(store, tenant_id=tenant, user_id=user)
        for tenant, user in itertools.product(("acme", "evil"), ("alice", "bob"))
    }
    for session in sessions.values():
        filled(session, 250)
        session.search("common")
    trees = {who: tree(world.root / "memory" / who[0] / who[1]) for who in sessions}
    assert all(len(found) == 252 for found in trees.values())
    done = forget_below(store, Below(tenant=TENANT, user="alice"))
    assert sum(len(one.records) for one in done) == 250
    assert forget_below(store, Below(tenant=TENANT, user="alice")) == ()
    for process in (store, world.open()):
        for (tenant, user), session in sessions.items():
            there = bind(process, tenant_id=tenant, user_id=user)
            expected = 0 if (tenant, user) == ("acme", "alice") else 250
            assert len(ids(there, "common")) == there.list().total == session.list().total == expected
    process.close()
    for who, found in trees.items():
        if who != ("acme", "alice"):
            assert tree(world.root / "memory" / who[0] / who[1]) == found
    assert list((world.root / "memory/acme/alice").rglob("*.md")) == []


def test_br08_more_than_any_page(store: OpenStore) -> None:
    """A bulk forget, an expiry and a listing are whole beyond a thousand records, and count them right."""
    session = bind(store)
    filled(session, 1100)
    for _ in range(3):
        session.remember("ends", ttl=timedelta(seconds=0.001))
    page = session.list(limit=1000)
    assert (page.total, page.older) == (1100, 100)
    rest = session.list(limit=1000, before=page.items[-1].record_id)
    assert (len(rest.items), rest.older) == (100, 0)
    assert not {one.record_id for one in rest.items} & {one.record_id for one in page.items}
    assert sum(len(one.records) for one in expire(store, Below(tenant=TENANT))) == 3
    dry = forget_below(store, Below(tenant=TENANT, user="alice"), dry_run=True)
    assert sum(len(one.records) for one in dry) == 1100 == session.list().total
    assert sum(len(one.records) for one in forget_below(store, Below(tenant=TENANT, user="alice"))) == 1100
    assert session.list().total == 0


def test_br08_the_expiry_of_one_tenant(store: OpenStore) -> None:
    """What has expired in one tenant is erased there, and in no other."""
    for tenant in ("acme", "acme-corp", "evil"):
        session = bind(store, tenant_id=tenant)
        session.remember("ends", ttl=timedelta(seconds=0.001))
        session.remember("stays")
    (done,) = expire(store, Below(tenant=TENANT))
    assert len(done.records) == 1
    assert ("tenant", "acme") in done.ids
    assert expire(store, Below(tenant=TENANT)) == ()
    assert len(expire(store, Below(tenant=("tenant", "evil")))) == 1


def test_br14_one_of_three_equal_records_is_forgotten(store: OpenStore, world: World) -> None:
    """The same text of three owners stays two after one forgets it; nobody's id is told to another."""
    owners = [("acme", "alice"), ("acme", "bob"), ("evil", "alice")]
    sessions = [bind(store, tenant_id=t, user_id=u) for t, u in owners]
    made = [one.remember("same text", title="same", idempotency_key="same").record_id for one in sessions]
    assert len(set(made)) == 3
    assert [one.remember("same text", title="same", idempotency_key="same").replayed for one in sessions] == [
        True
    ] * 3
    sessions[0].forget(made[0])
    assert sorted(path.stem for path in (world.root / "memory").rglob("*.md")) == sorted(made[1:])
    for session, one in list(zip(sessions, made, strict=True))[1:]:
        assert session.get(one).text == "same text"
        assert ids(session, "same") == [one]
    assert ids(sessions[0], "same") == []


def test_br20_forgetting_what_is_not_ones_own(store: OpenStore, world: World, person: Person) -> None:
    """Another scope's id is as absent to forget, dry or not, as one that never was; its file is untouched."""
    never = "01934f2e-8b7a-7c3d-9e21-0123456789ab"
    changes: list[dict[str, object]] = [{field: "other"} for field in FIELDS]
    changes.append({"clearance": "restricted"})
    session = bind(store)
    session.remember("mine")
    made = [
        bind(store, **one)
        .remember("quartz", sensitivity="restricted" if "clearance" in one else "internal")
        .record_id
        for one in changes
    ]
    bind(store, user_id="other").state.put("plan", "theirs")
    before = tree(world.root, but=("audit",))
    verbs: list[Callable[[str], object]] = [
        session.forget,
        lambda one: session.forget(one, dry_run=True),
        session.get,
        session.history,
    ]
    for one, verb in itertools.product((*made, never), verbs):
        said: list[str] = []
        for asked in (one, never):
            with pytest.raises(NotVisible) as caught:
                verb(asked)
            said.append(str(caught.value).replace(asked, "ID"))
        assert said[0] == said[1]
    with pytest.raises(NotVisible):
        session.state.forget("plan")
    after = tree(world.root, but=("audit",))
    assert {name: found[2] for name, found in after.items() if name.endswith(".md")} == {
        name: found[2] for name, found in before.items() if name.endswith(".md")
    }
    denied = [one for one in read_events(store.audit, TENANT) if one.event is EventKind.DENIED]
    assert {*made, never} <= {one for line in denied for one in line.records or ()}
    theirs = person.remember("quartz", NSSTORE_TENANT="evil")
    for command in (("forget", theirs), ("edit", theirs), ("show", theirs), ("history", theirs)):
        assert person(*command).exit_code == 4
        assert person(*command, NSSTORE_TENANT=None).exit_code == 3
    for verb_of_owner in ("explain", "who-can-read"):
        assert person("owner", verb_of_owner, theirs).exit_code != 0
    assert person.json("show", theirs, NSSTORE_TENANT="evil")["text"] == "quartz"


def test_br22_no_ghost_takes_a_place(store: OpenStore, world: World) -> None:
    """Of twenty that match the ten best go, by one call or ten, and the ten others are found by all."""
    session = bind(store)
    session.remember_many(f"{'quartz ' * (n + 1)} common number{n}" for n in range(20))
    best = session.search("quartz", k=10).hits
    for number, hit in enumerate(best):
        if number % 3 == 0:
            session.forget(hit.record_id)
        elif number % 3 == 1:
            session.forget(session.remember("newer", supersedes=[hit.record_id]).record_id)
        else:
            session.remember("gone soon", supersedes=[hit.record_id], ttl=timedelta(seconds=0.001))
    for process in (store, world.open()):
        there = bind(process)
        found = there.search("quartz", k=10).hits
        assert len(found) == 10
        assert not {hit.record_id for hit in found} & {hit.record_id for hit in best}
        assert there.list().total == 10
        for hit in best:
            if best.index(hit) % 3 != 2:
                with pytest.raises(NotVisible):
                    there.get(hit.record_id)
    process.close()


def test_br01_a_backup_holds_every_scope_apart(store: OpenStore, world: World, person: Person) -> None:
    """What is backed up and restored is, for each of the like-named scopes, exactly what it was."""
    whole: dict[tuple[str, str], set[str]] = {}
    for field, short, long in PAIRS:
        for name in (short, long):
            bind(store, **{field: name}).remember(f"common of {field} {name}")
    for field, short, long in PAIRS:
        for name in (short, long):
            whole[field, name] = {one.text for one in bind(store, **{field: name}).list().items}
    back_up(store, world.place / "backup")
    other = World(place=person.place / "elsewhere")
    other.place.mkdir()
    put_back(world.place / "backup", other)
    with other.open() as again:
        for (field, name), texts in whole.items():
            assert {one.text for one in bind(again, **{field: name}).list().items} == texts
            assert {hit.text for hit in bind(again, **{field: name}).search("common", k=100).hits} == texts


def test_br09_no_owner_verb_has_a_default_scope(person: Person) -> None:
    """At the command line no bulk verb runs without the whole of its scope, all of it an id."""
    person.remember("mine")
    for whole, needed in (
        ("session", ("TENANT", "USER", "PROJECT", "SESSION")),
        ("project", ("TENANT", "USER", "PROJECT")),
        ("user", ("TENANT", "USER")),
    ):
        for name in needed:
            for value in (None, "", "*", " ", "null", "..", "[a]"):
                done = person("forget", "--whole", whole, "--unattended", **{f"NSSTORE_{name}": value})
                assert done.exit_code == 3, (whole, name, value)
    for value in (None, "", "*"):
        assert person("expire", NSSTORE_TENANT=value).exit_code == 3
    assert len(person.json("list")["items"]) == 1


def test_br22_what_is_held_stays(store: OpenStore) -> None:
    """A bulk forget that would take what is held takes nothing at all, unless it is told to leave that."""
    hand = Hand.of(store)
    hand.keep(store, held=["evidence"])
    session = bind(store)
    filled(session, 5)
    session.remember("held", retention_class="evidence")
    session.remember("held too", retention_class="legal_hold")
    with pytest.raises(Refused):
        forget_below(store, Below(tenant=TENANT))
    assert session.list().total == 7
    (done,) = forget_below(store, Below(tenant=TENANT), leave_held=True)
    assert (len(done.records), done.held) == (5, 2)
    assert {one.text for one in session.list().items} == {"held", "held too"}
