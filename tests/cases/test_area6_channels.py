"""Area 6 of the public bug reports, BR-75 to BR-78: counts, times and second copies."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

import nsstore
from bench.binding import bind, bind_without, tree
from bench.child import Report, in_child
from bench.keeping import back_up, put_back, quick_keys
from bench.world import World
from nsstore import NotVisible, OpenStore, Session, StoreError
from nsstore.root.steps import hooked
from tests.cases.conftest import filled, generations, ids, keep
from tests.cli.conftest import Person, unattended

pytestmark = pytest.mark.usefixtures("kept_views")
CANARY = "zq7f3evil"
FIELDS = (
    *("tenant_id", "user_id", "project_id", "session_id", "agent_id"),
    *("workspace_id", "branch", "baseline", "task_id", "tool_context"),
)
OTHERS: list[dict[str, object]] = [{field: "other"} for field in FIELDS]
OTHERS.append({"clearance": "restricted"})


def all_answers(session: Session) -> bytes:
    """What every verb that lists, counts or ranks answers, without ids and times."""
    mine = session.list(limit=1000, include_superseded=True)
    one = mine.items[0].record_id
    answers: list[object] = [
        mine,
        session.list(limit=1),
        session.list(before=one),
        session.search("quartz", k=1000),
        session.search("quartz", k=1),
        session.search(CANARY),
        session.search("quart"),
        session.search("zq7f"),
        session.history(one),
        session.state.list(),
        session.state.history("plan"),
        session.forget(one, dry_run=True).count,
    ]
    raw = b"\n".join(msgspec.json.encode(answer) for answer in answers)
    for number, item in enumerate((*mine.items, *session.state.history("plan"))):
        raw = raw.replace(item.record_id.encode(), b"ID%d" % number).replace(
            item.created_at.encode(), b"TIME"
        )
    return raw


@pytest.mark.parametrize("kept", [False, True], ids=["in memory", "kept"])
def test_br75_no_count_and_no_word_of_others(world: World, kept: object) -> None:
    """Whatever others write, replace, forget or let end beside it, no answer changes by a byte."""
    said: list[bytes] = []
    for place in ("quiet", "loud"):
        there = World(place=world.place / place)
        there.place.mkdir()
        with there.make() as one:
            session = bind(one)
            if kept:
                filled(session)
            for number in range(3):
                session.remember(f"quartz of mine {number}", tags=["blue"])
            session.state.put("plan", "quartz")
            for other in OTHERS if place == "loud" else []:
                noisy = bind(one, **other)
                label = "restricted" if "clearance" in other else "internal"
                made = [
                    noisy.remember(
                        f"quartz {CANARY} {n}", title=CANARY, tags=[CANARY], sensitivity=label
                    ).record_id
                    for n in range(6)
                ]
                noisy.remember(f"quartz {CANARY}", supersedes=made[:2], sensitivity=label)
                noisy.forget(made[3])
                noisy.remember(f"{CANARY} ends", ttl=0.001, sensitivity=label)
                if "clearance" not in other:
                    noisy.state.put(CANARY, CANARY)
                noisy.search("quartz")
            if kept:
                keep(one, session)
            said.append(all_answers(session))
            one.settle()
            said.append(all_answers(session))
    assert CANARY.encode() not in said[2]
    assert said[0] == said[2]
    assert said[1] == said[3]


def test_br75_no_verb_gives_words_out() -> None:
    """A session offers no list of tags, kinds, words or completions, and no count but of what it lists."""
    offered = {name for name in dir(Session) if not name.startswith("_")}
    assert {"list", "search"} <= offered
    for word in ("suggest", "complete", "facet", "term", "vocabulary", "cardinality", "tags", "count"):
        assert not any(word in name for name in offered), word


def test_br75_the_command_line_counts_its_own(person: Person) -> None:
    """Totals, dry runs and audits at a terminal are of the scope's own records, whoever else has some."""
    mine = [person.remember(f"quartz {n}") for n in range(3)]
    for name in ("TENANT", "USER", "PROJECT", "SESSION", "AGENT", "WORKSPACE", "BRANCH"):
        for n in range(4):
            person.remember(f"quartz {CANARY} {n}", "--tag", CANARY, **{f"NSSTORE_{name}": CANARY})
    listed = person.json("list")
    assert listed["total"] == len(listed["items"]) == 3
    assert {hit["record_id"] for hit in person.json("search", "quartz", "-k", "100")["hits"]} == set(mine)
    for command in (
        ("list",),
        ("list", "--json"),
        ("search", "quartz"),
        ("history", mine[0]),
        ("state", "list"),
    ):
        done = person(*command)
        assert CANARY not in done.stdout + done.stderr
    assert person.json("forget", mine[0], "--dry-run")["count"] == 1
    done = person("forget", mine[0], "--dry-run")
    assert CANARY not in done.stdout + done.stderr
    whole = json.loads(
        person.ok("forget", "--whole", "session", "--dry-run", "--json", NSSTORE_SESSION=CANARY)
    )
    assert whole["records"] == 4
    assert person.json("list")["total"] == 3


def met(session: Session, ask: Callable[[Session], object]) -> str:
    """The steps of a call, whatever comes of it."""
    steps: list[str] = []
    with hooked(steps.append):
        try:
            ask(session)
        except NotVisible:
            steps.append("not visible")
    return " ".join(steps)


def test_br77_a_scope_that_is_there_and_one_that_is_not(world: World) -> None:
    """A first search elsewhere takes the same steps whether another scope is there or not."""
    with world.open() as store:
        for field in ("tenant_id", "user_id", "project_id"):
            there = bind(store, **{field: "there"})
            filled(there)
            keep(store, there)
        bind(store).remember("mine")

    asks: list[Callable[[Session], object]] = [
        lambda one: one.search("common"),
        lambda one: one.get("01934f2e-8b7a-7c3d-9e21-0123456789ab"),
        lambda one: one.list(),
        lambda one: one.search("common"),
    ]

    def steps_of(**scope: object) -> list[str]:
        def task(report: Report) -> None:
            with world.open() as store:
                warm = bind(store)
                warm.search("mine")
                session = bind(store, **scope)
                for ask in asks:
                    report(met(session, ask).encode())

        ended = in_child(task)
        assert ended.status == 0
        return [line.decode() for line in ended.lines]

    for field in ("tenant_id", "user_id", "project_id"):
        # the asker's own session is not there; another one, beside it, is or is not
        beside = steps_of(**{field: "there", "session_id": "new"})
        nowhere = steps_of(**{field: "nowhere", "session_id": "new"})
        assert all("not visible" in one[1] for one in (beside, nowhere))
        if field != "tenant_id":  # whose audit begins with its first event
            assert beside[1:] == nowhere[1:]


def test_br77_another_tenants_search_warms_nothing(store: OpenStore) -> None:
    """The same question takes the same steps, whether another tenant just asked it or nobody did."""
    session, other = bind(store), bind(store, tenant_id="evil")
    for one in (session, other):
        filled(one)
        keep(store, one)
        one.search("common number3")
    store.settle()

    def ask(one: Session) -> object:
        return one.search("common number3")

    alone = [met(session, ask) for _ in range(3)]
    after: list[str] = []
    for _ in range(3):
        other.search("common number3")
        after.append(met(session, ask))
    assert set(alone) == set(after)


def copies(world: World, cache: Path) -> dict[str, Path]:
    """Second copies of what a store holds, each as a directory that somebody might open as a store."""
    return {
        "quarantine": world.root / "quarantine",
        "cache": next(cache.iterdir()),
        "view": generations()[0],
        "memory": world.root / "memory",
        "trust home": next(world.trust.iterdir()),
        "trust": world.trust,
        "cut short": world.place / "cut",
        "archived": world.place / "archived",
    }


def test_br78_no_second_copy_is_opened_or_served(store: OpenStore, world: World, kept_views: Path) -> None:
    """Quarantine, views, a backup, a restore cut short, a renamed root: none opens, none is searched."""
    session = bind(store)
    mine = filled(session)
    keep(store, session)
    (genuine, *_) = sorted((world.root / "memory").rglob("*.md"))
    quarantine = world.root / "quarantine" / "q-1"
    quarantine.mkdir(mode=0o700, parents=True)
    for place in (quarantine, genuine.parent):
        copy = place / f"{genuine.stem}.corrupt-20261130.md"
        copy.write_bytes(genuine.read_bytes().replace(b"filler0", CANARY.encode()))
        copy.chmod(0o600)
    back_up(store, world.place / "backup")
    shutil.copytree(world.root, world.place / "archived")
    cut = world.place / "cut"
    shutil.copytree(world.root, cut)
    (cut / "store.json").unlink()
    for name, place in copies(world, kept_views).items():
        with pytest.raises(StoreError):
            nsstore.open(place, trust_home=world.trust)
        with pytest.raises(StoreError):
            nsstore.open(place, create=True, trust_home=world.trust)
        if place.is_dir() and name not in ("cut short", "archived"):
            assert not (place / "store.json").exists()
    for process in (store, world.open()):
        there = bind(process)
        assert ids(there, CANARY) == []
        assert sorted(ids(there, "common")) == sorted(mine)
        with pytest.raises((NotVisible, StoreError)):
            there.get(f"{genuine.stem}.corrupt-20261130")
    process.close()
    assert bind(store, tenant_id="evil").search("common").hits == ()


def test_br78_a_restored_store_keeps_the_rules(store: OpenStore, world: World) -> None:
    """What is restored is read under the same rules: each scope finds its own, and nothing forgotten."""
    sessions = [bind(store, **one) for one in ({}, *OTHERS)]
    for number, session in enumerate(sessions):
        session.remember(f"common {number}")
    gone = sessions[0].remember(f"common {CANARY}").record_id
    sessions[0].forget(gone)
    sessions[0].remember(f"common ends {CANARY}", ttl=0.001)
    back_up(store, world.place / "backup")
    assert (world.place / "backup").stat().st_mode & 0o777 == 0o600
    assert b"common 1" in (world.place / "backup").read_bytes()
    elsewhere = World(place=world.place / "elsewhere")
    elsewhere.place.mkdir()
    put_back(world.place / "backup", elsewhere)
    with elsewhere.open() as again:
        for number, scope in enumerate(({}, *OTHERS)):
            there = bind(again, **scope)
            found = {hit.text for hit in there.search(f"common {CANARY}", k=100).hits}
            plain = not scope or scope.keys() <= {"clearance", "task_id", "tool_context"}
            expected = {f"common {number}"} | ({"common 0", "common 11"} if plain else set[str]())
            assert found == expected
            assert {one.text for one in there.list().items} == expected
            with pytest.raises(NotVisible):
                there.get(gone)
        with pytest.raises((TypeError, StoreError)):
            bind_without(again, "tenant_id")


def test_br78_a_backup_is_no_store(person: Person) -> None:
    """The file of a backup is read by no verb but restore, and no verb runs on a store without a scope."""
    person.remember(f"quartz {CANARY}")
    backup = person.place / "backup"
    with quick_keys():
        person.ok("backup", str(backup), *unattended(person))
    before = tree(person.store, but=("audit",))
    for command in (("list",), ("search", "quartz"), ("check",), ("audit",)):
        done = person(*command, NSSTORE_STORE=str(backup))
        assert done.exit_code != 0
        assert CANARY not in done.stdout + done.stderr
        done = person(*command, NSSTORE_TENANT=None) if command != ("check",) else person("check")
        assert CANARY not in done.stdout + done.stderr
    done = person("import", str(backup))
    assert done.exit_code != 0
    assert person.json("list")["total"] == 1
    assert tree(person.store, but=("audit",)) == before
