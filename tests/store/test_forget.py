"""Forgetting: what goes, what stays, who may, and that no byte of a text is left anywhere."""

import msgspec
import pytest

from bench.binding import bind, tree
from bench.world import World
from nsstore import Note, NotVisible, Refused
from nsstore.audit import read_events
from nsstore.ledger import read_line
from nsstore.scope import memory_namespace
from nsstore.store import Below, forget_below
from nsstore.trust.keyring import rotate
from tests.store.conftest import CANARY, TENANT, events, left, texts

pytestmark = pytest.mark.usefixtures("unflushed", "cache_beside")


def test_nothing_is_left(world: World) -> None:
    """After a forget no verb finds the record and no file holds a word of it: text, title or tag."""
    with world.open() as store:
        session = bind(store)
        stays = session.remember("quartz stays").record_id
        gone = session.remember(f"{CANARY} quartz", title="secret title", tags=["secrettag"]).record_id
        assert {hit.record_id for hit in session.search("quartz").hits} == {stays, gone}
        receipt = session.forget(gone)
        assert (receipt.records, receipt.count) == ((gone,), 1)
        for process in (store, world.open()):
            fresh = bind(process)
            assert texts(fresh) == ["quartz stays"]
            assert [hit.record_id for hit in fresh.search(f"{CANARY} quartz").hits] == [stays]
            assert not fresh.search("secret").hits
            for ask in (fresh.get, fresh.history, fresh.forget):
                with pytest.raises(NotVisible):
                    ask(gone)
        process.close()
        assert session.get(stays).text == "quartz stays"
    assert left(world, "secret title", "secrettag") == []


def test_the_receipt_leads_to_the_line(world: World) -> None:
    """Its proof is the MAC of the one ledger line that names exactly these records; the audit tells it."""
    with world.open() as store:
        session = bind(store)
        old = session.remember("old").record_id
        new = session.remember("new", supersedes=[old]).record_id
        receipt = session.forget(new)
        place = store.leaf(memory_namespace(session.envelope.scope)).place
        raws = (world.root / place.ledger).read_bytes().splitlines(keepends=True)
        (line,) = [one for one in raws if b'"event":"forgotten"' in one]
        found = read_line(store.trust.keys, place.chain, line)
        assert found.mac.hex() == receipt.proof
        assert getattr(found.event, "records", None) == receipt.records == (old, new)
        (event,) = events(store)
        assert (event.records, event.count, event.verb) == ((old, new), 2, "forget")
        assert event.scope is not None
        assert event.scope["session_id"] == session.envelope.scope.session_id


def test_what_it_took_the_place_of_goes_too(world: World) -> None:
    """Older versions go with a record, a newer one stays, and with ``only_this`` the older one is back."""
    with world.open() as store:
        session = bind(store)
        first = session.remember("first").record_id
        second = session.remember("second", supersedes=[first]).record_id
        third = session.remember("third", supersedes=[second]).record_id
        assert session.forget(third, dry_run=True).records == (first, second, third)
        assert session.forget(third, dry_run=True).proof is None
        assert session.forget(third, only_this=True).records == (third,)
        assert texts(session) == ["second"]
        assert session.search("second").hits
        fourth = session.remember("fourth", supersedes=[second]).record_id
        assert session.forget(second).records == (first, second)
        assert texts(session) == ["fourth"]
        assert [one.text for one in session.history(fourth)] == ["fourth"]


def test_a_dry_run_changes_nothing(world: World) -> None:
    """What a dry run says is what goes, and until then nothing is written but to the audit."""
    with world.open() as store:
        session = bind(store)
        old = session.remember("old").record_id
        new = session.remember("new", supersedes=[old]).record_id
        before = tree(world.root, but=("audit",))
        dry = session.forget(new, dry_run=True)
        all_of_it = forget_below(store, Below(tenant=TENANT), dry_run=True)
        assert tree(world.root, but=("audit",)) == before
        assert [one.records for one in all_of_it] == [dry.records]
        assert session.forget(new).records == dry.records


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("tenant_id", "evil"), ("user_id", "bob"), ("project_id", "other"), ("session_id", "s-2"),
        ("workspace_id", "w-2"), ("branch", "dev"), ("baseline", "v2"), ("agent_id", "codex"),
    ],
)  # fmt: skip
def test_who_may_not_read_it_may_not_forget_it(world: World, field: str, value: str) -> None:
    """To every other scope it is not visible, and it stays."""
    with world.open() as store:
        mine = bind(store).remember("mine").record_id
        other = bind(store, **{field: value})
        other.remember("theirs")
        with pytest.raises(NotVisible):
            other.forget(mine)
        assert bind(store).get(mine).text == "mine"


def test_of_another_branch(world: World) -> None:
    """A record of an allowed other branch is seen, as stale, and not forgotten from here."""
    with world.open() as store:
        old = bind(store, branch="old").remember("of old").record_id
        session = bind(store, allowed_branches=["main", "old"], branch="main")
        assert session.get(old).stale
        with pytest.raises(Refused) as refused:
            session.forget(old)
        assert refused.value.reason == "stale_branch"
        assert bind(store, branch="old").forget(old).count == 1


def test_what_is_held_is_refused(world: World) -> None:
    """What its class holds is not forgotten, neither itself nor as an older version; it is audited."""
    with world.open() as store:
        session = bind(store)
        held = session.remember("held", retention_class="legal_hold").record_id
        new = session.remember("new", supersedes=[held]).record_id
        for record_id in (held, new):
            with pytest.raises(Refused) as refused:
                session.forget(record_id)
            assert refused.value.reason == "legal_hold"
        with pytest.raises(Refused, match="1 record is held"):
            forget_below(store, Below(tenant=TENANT))
        assert session.history(new)[1].text == "held"
        assert session.forget(new, only_this=True).records == (new,)
        session.remember("other")
        (done,) = forget_below(store, Below(tenant=TENANT), leave_held=True)
        assert (len(done.records), done.held) == (1, 1)
        assert texts(session) == ["held"]
        denied = [one.reason for one in read_events(store.audit, TENANT) if one.event == "denied"]
        assert denied == ["legal_hold", "legal_hold"]


def test_a_key_of_what_is_forgotten(world: World) -> None:
    """Its idempotency key is refused for ever, for any content; to who could not read it the key is new."""
    note = Note(text=CANARY, idempotency_key="k", sensitivity="confidential")
    with world.open() as store:
        trusted = bind(store, clearance="confidential")
        trusted.forget(trusted.remember_many([note])[0].record_id)
    with world.open() as store:
        trusted = bind(store, clearance="confidential")
        for text in (CANARY, "something else"):
            with pytest.raises(Refused) as refused:
                trusted.remember_many([msgspec.structs.replace(note, text=text)])
            assert refused.value.reason == "forgotten"
        assert texts(trusted) == []
        for other in (bind(store), bind(store, workspace_id="w-2"), bind(store, agent_id="codex")):
            assert not other.remember("new", idempotency_key="k").replayed
    assert left(world) == []


def test_a_key_of_what_is_forgotten_after_a_rotation(world: World) -> None:
    """A new sealing key changes nothing about that."""
    with world.open() as store:
        session = bind(store)
        session.forget(session.remember("x", idempotency_key="k").record_id)
        rotate(store.trust.home)
    with world.open() as store, pytest.raises(Refused, match="forgotten"):
        bind(store).remember("x", idempotency_key="k")


def test_a_document(world: World) -> None:
    """A forgotten document is not there, in no version; another one under its key begins anew."""
    with world.open() as store:
        state = bind(store).state
        ids = tuple(state.put("plan", f"{CANARY} {number}").record_id for number in range(3))
        state.put("other", "other")
        bind(store, agent_id="codex").state.put("plan", "theirs")
        assert state.forget("plan").records == ids
        for ask in (state.get, state.history, state.forget):
            with pytest.raises(NotVisible):
                ask("plan")
        assert [one.text for one in state.list()] == ["other"]
        assert bind(store, agent_id="codex").state.get("plan").text == "theirs"
        state.put("plan", "anew", expect=None)
        assert [one.text for one in state.history("plan")] == ["anew"]
    assert left(world) == []


def test_no_ghost_takes_a_place_among_the_hits(world: World) -> None:
    """BR-22: of twenty that match the ten best are forgotten, and the ten others found, then and later."""
    with world.open() as store:
        session = bind(store)
        ids = {one.record_id for one in session.remember_many(f"quartz {'quartz ' * n}" for n in range(20))}
        best = {hit.record_id for hit in session.search("quartz", k=10).hits}
        for record_id in best:
            session.forget(record_id)
        assert {hit.record_id for hit in session.search("quartz", k=10).hits} == ids - best
    with world.open() as store:
        assert {hit.record_id for hit in bind(store).search("quartz", k=10).hits} == ids - best


def test_what_is_forgotten_weighs_nothing(world: World) -> None:
    """BR-62: scores and order are those of a scope in which the fifty forgotten records never were."""
    live = [f"{'quartz ' * n} and {'basalt ' * (5 - n)} {'filler ' * (n * 3)}" for n in range(1, 6)]
    with world.open() as store:
        plain, other = bind(store), bind(store, session_id="s-2")
        plain.remember_many(live)
        gone = other.remember_many(f"quartz quartz {n} {'gone ' * n}" for n in range(50))
        other.remember_many(live)
        other.search("quartz")
        for one in gone:
            other.forget(one.record_id)
        for words in ("quartz", "basalt quartz", "gone"):
            found = [[(hit.text, hit.score) for hit in who.search(words).hits] for who in (plain, other)]
            assert found[0] == found[1]
