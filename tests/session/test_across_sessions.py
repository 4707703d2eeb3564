"""A record of an earlier session is superseded and listed wherever rights open it, and only there."""

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from bench.owning import Hand, asker
from bench.world import Who, World
from nsstore import IntegrityError, NotVisible, OpenStore, Refused, Session
from nsstore.layout import record_path
from nsstore.policy import Every, Kind, Opens
from nsstore.scope import memory_namespace
from nsstore.store import Below, expire

EVERY = Opens(sessions=Every(every="session"))
NEVER = "01934f2e-8b7a-7c3d-9e21-0123456789ab"
ROOT, TOP = "a" * 40, "b" * 40


@pytest.fixture
def owned(tmp_path: Path) -> Iterator[tuple[OpenStore, Hand]]:
    """A store with an owner."""
    with World(place=tmp_path).make() as store:
        yield store, Hand.of(store)


def texts(session: Session) -> list[str]:
    """What a search finds."""
    return sorted(hit.text for hit in session.search("train", k=100).hits)


@pytest.mark.parametrize(("before", "after"), [("a", "z"), ("z", "a")])
@pytest.mark.parametrize("warm", [True, False])
def test_a_correction_takes_the_place(
    owned: tuple[OpenStore, Hand], before: str, after: str, *, warm: bool
) -> None:
    """Whoever may read both finds the correction alone; whoever may read one of them finds that."""
    store, hand = owned
    number = hand.grant(store, Kind.CROSS_SESSION, opens=EVERY)
    early, late, other = (Who(session=one).bind(store) for one in (before, after, "m"))
    other.remember("another train")
    old = early.remember("the train leaves on Thursdays").record_id
    if warm:
        assert len(texts(other)) == 2
    new = late.remember("the train leaves on Fridays", supersedes=[old]).record_id
    for session in (early, late, other):
        assert texts(session) == ["another train", "the train leaves on Fridays"]
        assert [one.record_id for one in session.history(old)] == [new, old]
        assert [one.record_id for one in session.history(new)] == [new, old]
        assert session.get(old).text == "the train leaves on Thursdays"
    hand.revoke(store, number)
    assert texts(early) == ["the train leaves on Thursdays"]
    assert texts(late) == ["the train leaves on Fridays"]
    assert texts(other) == ["another train"]
    assert [one.record_id for one in early.history(old)] == [old]


def test_what_is_not_open_is_not_superseded(owned: tuple[OpenStore, Hand]) -> None:
    """Without rights a record of another session, project or user is as absent as one that never was."""
    store, hand = owned
    me = Who(session="now").bind(store)
    ids = [
        Who(session="then").bind(store).remember("train").record_id,
        Who(session="now", project="other").bind(store).remember("train").record_id,
        Who(session="now", user="bob").bind(store).remember("train").record_id,
    ]
    for opened in (False, True):
        if opened:  # one session of the own project, and no other
            hand.grant(store, Kind.CROSS_SESSION, opens=Opens(sessions=(("session", "else"),)))
        said: dict[str, str] = {}
        for old in (*ids, NEVER):
            with pytest.raises(NotVisible) as caught:
                me.remember("mine", supersedes=[old])
            said[old] = str(caught.value)
        assert len(set(said.values())) == 1
        assert me.list().total == 0


def test_another_users_record_is_not_superseded(owned: tuple[OpenStore, Hand]) -> None:
    """A share opens reading: what another user wrote is never given a newer version by somebody else."""
    store, hand = owned
    theirs = Who(session="now", user="bob").bind(store).remember("train of bob").record_id
    hand.grant(store, Kind.GROUP_SHARE, opens=Opens(users=("bob",)))
    me = Who(session="now").bind(store)
    assert me.get(theirs).text == "train of bob"
    with pytest.raises(Refused, match="another user") as caught:
        me.remember("mine", supersedes=[theirs])
    assert caught.value.reason == "other_user"
    assert texts(me) == ["train of bob"]


def test_forgetting_a_correction_tells_what_is_back(owned: tuple[OpenStore, Hand]) -> None:
    """What another session holds is not forgotten from here: the receipt names what is current again."""
    store, hand = owned
    hand.grant(store, Kind.CROSS_SESSION, opens=EVERY)
    early, late = Who(session="a").bind(store), Who(session="z").bind(store)
    old = early.remember("the train leaves on Thursdays").record_id
    new = late.remember("the train leaves on Fridays", supersedes=[old]).record_id
    assert late.forget(new, dry_run=True).back == (old,)
    done = late.forget(new)
    assert (done.records, done.back) == ((new,), (old,))
    assert texts(late) == ["the train leaves on Thursdays"]
    newer = late.remember("the train leaves on Fridays", supersedes=[old]).record_id
    assert early.forget(old).back == ()
    assert late.forget(newer).back == ()
    assert texts(late) == []


@pytest.mark.parametrize("changed", [{"baseline": "v2"}, {"branch": "fix"}])
def test_a_chain_is_forgotten_along_the_codes_history(
    owned: tuple[OpenStore, Hand], changed: dict[str, str]
) -> None:
    """Where lineage makes an older version current, forgetting the newer one takes it too."""
    store, hand = owned
    who = Who(session="now", commit=ROOT)
    later = msgspec.structs.replace(who, commit=TOP, ancestors=(ROOT,), **changed)
    old = who.bind(store).remember("the train costs 5000").record_id
    hand.grant(store, Kind.LINEAGE, opens=Opens(lineage=True), to=asker(who))
    session = later.bind(store)
    new = session.remember("what the train costs is secret", supersedes=[old]).record_id
    assert set(session.forget(new, dry_run=True).records) == {old, new}
    assert set(session.forget(new).records) == {old, new}
    assert texts(session) == []
    assert texts(who.bind(store)) == []


def test_without_lineage_another_branchs_version_stays(owned: tuple[OpenStore, Hand]) -> None:
    """Of a commit that is no ancestor nothing is forgotten, and the refusal names the dimension."""
    store, hand = owned
    who = Who(session="now", commit=ROOT, branch="fix")
    old = who.bind(store).remember("train").record_id
    hand.grant(store, Kind.LINEAGE, opens=Opens(lineage=True), to=asker(who))
    hand.grant(store, Kind.CROSS_SESSION, opens=Opens(branches=("fix",), sessions=(("session", "x"),)))
    session = Who(session="now", commit=TOP).bind(store)
    assert [hit.record_id for hit in session.search("train").stale] == [old]
    with pytest.raises(Refused, match="another branch"):
        session.forget(old)
    assert texts(who.bind(store)) == ["train"]


def test_every_session_is_listed(owned: tuple[OpenStore, Hand]) -> None:
    """All that is current in the open sessions is listed newest first, page by page, and nothing else."""
    store, hand = owned
    sessions = [Who(session=f"s-{number}").bind(store) for number in range(3)]
    ids = [sessions[turn % 3].remember(f"train {turn}").record_id for turn in range(12)]
    Who(session="s-0", project="other").bind(store).remember("of another project")
    Who(session="s-0", user="bob").bind(store).remember("of another user")
    Who(session="s-0", agent="codex").bind(store).remember("of another agent")
    me = Who(session="s-1").bind(store)
    assert [one.record_id for one in me.list(every_session=True).items] == [ids[10], ids[7], ids[4], ids[1]]
    number = hand.grant(store, Kind.CROSS_SESSION, opens=EVERY)
    new = me.remember("train anew", supersedes=[ids[3], ids[4]]).record_id
    wanted = [new, *(one for one in reversed(ids) if one not in (ids[3], ids[4]))]
    listing = me.list(every_session=True)
    assert [one.record_id for one in listing.items] == wanted
    assert (listing.total, listing.older) == (11, 0)
    everything = me.list(every_session=True, include_superseded=True)
    assert {one.record_id for one in everything.items} == {new, *ids}
    pages: list[str] = []
    before = None
    while before is None or pages[-1] != wanted[-1]:
        page = me.list(every_session=True, limit=4, before=before)
        pages += [one.record_id for one in page.items]
        assert page.older == len(wanted) - len(pages)
        before = pages[-1]
    assert pages == wanted
    with pytest.raises(NotVisible):
        me.list(every_session=True, before=NEVER)
    hand.revoke(store, number)
    assert [one.record_id for one in me.list(every_session=True).items] == [
        new,
        ids[10],
        ids[7],
        ids[1],
    ]


def test_a_list_leaves_out_what_ended_or_is_damaged(owned: tuple[OpenStore, Hand]) -> None:
    """An expired record is in no list; a damaged session but the own one is left out whole, and told."""
    store, hand = owned
    hand.grant(store, Kind.CROSS_SESSION, opens=EVERY)
    then, me = Who(session="then").bind(store), Who(session="now").bind(store)
    whole = me.remember("train").record_id
    broken = then.remember("train that breaks").record_id
    then.remember("another train")
    me.remember("train that ends", ttl=0.05)
    assert me.list(every_session=True).total == 4
    while me.list(every_session=True).total == 4:
        pass
    assert not me.list(every_session=True).incomplete
    path = record_path(memory_namespace(then.envelope.scope), broken)
    file = Path(store.root.path) / path
    file.write_bytes(file.read_bytes().replace(b"breaks", b"broken"))
    listing = me.list(every_session=True)
    assert ([one.record_id for one in listing.items], listing.incomplete) == ([whole], True)
    with pytest.raises(IntegrityError):
        then.list(every_session=True)


def test_the_end_of_a_correction_brings_nothing_back(owned: tuple[OpenStore, Hand]) -> None:
    """An expired correction is erased only when what it corrected, in another session, is gone."""
    store, hand = owned
    hand.grant(store, Kind.CROSS_SESSION, opens=EVERY)
    early, late = Who(session="a").bind(store), Who(session="z").bind(store)
    old = early.remember("the train leaves on Thursdays").record_id
    new = late.remember("the train leaves on Fridays", supersedes=[old], ttl=0.05).record_id
    plain = late.remember("a train that ends", ttl=0.05).record_id
    while texts(late):
        pass
    below = Below(tenant=("tenant", "acme"))
    for dry_run in (True, False):
        (done,) = expire(store, below, dry_run=dry_run)
        assert (done.records, done.left) == ((plain,), 1)
    assert texts(late) == []
    early.forget(old)
    (done,) = expire(store, below)
    assert done.records == (new,)
    assert expire(store, below) == ()
