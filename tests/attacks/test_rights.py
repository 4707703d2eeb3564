"""Whoever can write the root tries to open what the owner did not open, or closed again."""

import re
import shutil
import time
from collections.abc import Callable, Iterator

import pytest

from bench.child import Report, in_child
from bench.owned import CODEX, ME, OPENS, Scene, incidents, read
from bench.owning import TENANT, Hand, asker, granted
from bench.world import Who, World, quick_place
from nsstore.audit import EventKind, read_events
from nsstore.incident import IncidentKind
from nsstore.layout import RIGHTS_LIST
from nsstore.policy import Kind, Opens
from nsstore.rights import Assurance, OwnerNamed
from nsstore.rights.statements import ZERO, sign
from nsstore.trust.owner import KEY_FILE, OWNER_FILE, Owner, save_owner
from nsstore.trust.signer import Signer


@pytest.fixture
def scene() -> Iterator[Scene]:
    """A fresh scene."""
    with quick_place() as place:
        yield Scene.build(place)


def require_closed(scene: Scene, kind: IncidentKind) -> None:
    """A process that comes now reads its own scope and nothing more, and tells it once."""
    with scene.world.open() as store:
        before = incidents(store)
        assert read(store) == {scene.mine}
        assert ME.bind(store).get(scene.mine).text == "mine"
        assert read(store) == {scene.mine}
        assert incidents(store) == [*before, kind.value]
        assert store.rights.standing().damage is kind


def test_the_scene_is_open(scene: Scene) -> None:
    """Before anything is attacked, the grant opens the other agent's record, and nothing is told."""
    with scene.world.open() as store:
        assert read(store) == {scene.mine, scene.theirs}
        assert incidents(store) == []


def edited(scene: Scene) -> None:
    """Change a name in a signed line."""
    scene.write(*(line.replace(b'"agents":["codex"]', b'"agents":["rogue"]') for line in scene.lines()))


def widened(scene: Scene) -> None:
    """Change the expiry of a signed line."""
    scene.write(*(re.sub(rb'"expires":"20\d\d', b'"expires":"2099', line) for line in scene.lines()))


def forged(scene: Scene) -> None:
    """Append a grant that another key signed, chained as the next one would be."""
    with scene.world.open() as store:
        last = store.rights.standing().listing.last
        assert last is not None
        signer = Signer.new(store.trust.store_id)
        make = granted((Kind.CROSS_WORKSPACE,), asker(), Opens(workspaces=("w-2",)))
        made = make(last.statement.seq + 1, last.statement.at, last.digest.hex())
        scene.write(*scene.lines(), sign(store.trust.store_id, signer, made).raw)


def unsigned(scene: Scene) -> None:
    """Take the signature off a line."""
    scene.write(*(line.partition(b',"sig"')[0] + b"}\n" for line in scene.lines()))


def swapped_key(scene: Scene) -> None:
    """Write a whole list of one's own, with one's own key in front."""
    with scene.world.open() as store:
        store_id = store.trust.store_id
    signer = Signer.new(store_id)
    at, prev, made = "2026-11-30T10:00:00.000000Z", ZERO, list[bytes]()
    owner = OwnerNamed(
        seq=0,
        at=at,
        by="ada",
        why="mine now",
        assurance=Assurance.PASSPHRASE,
        prev=prev,
        public=signer.public,
    )
    first = sign(store_id, signer, owner)
    grant = granted((Kind.CROSS_AGENT,), asker(), OPENS, days=300)(1, at, first.digest.hex())
    made = [first.raw, sign(store_id, signer, grant).raw]
    scene.write(*made)


def key_in_the_root(scene: Scene) -> None:
    """Write a list of one's own, and the public key beside it in the root."""
    swapped_key(scene)
    shutil.copy(scene.home / OWNER_FILE, scene.list_file.parent / OWNER_FILE)


def other_stores(scene: Scene) -> None:
    """Put the list of another store of the same owner's in the place of this one's."""
    world = World(place=scene.world.place / "other")
    with world.make() as store:
        Hand.of(store).grant(store, Kind.CROSS_AGENT, opens=OPENS)
    shutil.copy(world.root / RIGHTS_LIST, scene.list_file)


def linked(scene: Scene) -> None:
    """Put a link to a copy in the place of the list."""
    copy = scene.world.place / "copy"
    scene.list_file.rename(copy)
    scene.list_file.symlink_to(copy)


def shut(scene: Scene) -> None:
    """Open the list to everybody, so that it is no file of the store any more."""
    scene.list_file.chmod(0o666)


BROKEN, GONE = IncidentKind.CHAIN_BROKEN, IncidentKind.ROLLED_BACK
ATTACKS: dict[str, tuple[Callable[[Scene], object], IncidentKind]] = {
    "edited": (edited, BROKEN),
    "expiry moved": (widened, BROKEN),
    "forged": (forged, BROKEN),
    "unsigned": (unsigned, BROKEN),
    "own key in front": (swapped_key, BROKEN),
    "own key in the root": (key_in_the_root, BROKEN),
    "another store's": (other_stores, BROKEN),
    "duplicated": (lambda scene: scene.write(*scene.lines(), scene.lines()[-1]), BROKEN),
    "reordered": (lambda scene: scene.write(*reversed(scene.lines())), BROKEN),
    "first line gone": (lambda scene: scene.write(*scene.lines()[1:]), BROKEN),
    "last line gone": (lambda scene: scene.write(*scene.lines()[:-1]), GONE),
    "last line torn": (lambda scene: scene.write(*scene.lines()[:-1], scene.lines()[-1][:-9]), GONE),
    "emptied": (lambda scene: scene.write(), GONE),
    "deleted": (lambda scene: scene.list_file.unlink(), GONE),
    "directory gone": (lambda scene: shutil.rmtree(scene.list_file.parent), GONE),
    "junk behind": (lambda scene: scene.write(*scene.lines(), b"junk\n"), BROKEN),
    "a link": (linked, IncidentKind.LINKED),
    "open to all": (shut, IncidentKind.LINKED),
}


@pytest.mark.parametrize("name", ATTACKS)
def test_a_list_that_is_not_the_one_written_opens_nothing(scene: Scene, name: str) -> None:
    """Whatever was done to the list, no grant opens anything, the audit says so, and own reading goes on."""
    attack, kind = ATTACKS[name]
    with scene.world.open() as before:
        assert read(before) == {scene.mine, scene.theirs}
        attack(scene)
        assert read(before) == {scene.mine}
        assert incidents(before) == [kind.value]
    with scene.world.open() as store:
        assert read(store) == {scene.mine}
        assert ME.bind(store).get(scene.mine).text == "mine"
        assert store.rights.standing().damage is kind
        assert store.rights.standing().rights.grants == ()


def test_a_revocation_that_was_deleted(scene: Scene) -> None:
    """Without its revocation the list is not the one the trust home knows: everything in it is closed."""
    with scene.world.open() as store:
        old = scene.lines()
        other = scene.hand.grant(store, Kind.CROSS_WORKSPACE, opens=Opens(workspaces=("w-2",)))
        scene.hand.revoke(store, scene.number)
        assert read(store) == {scene.mine}
        lines = scene.lines()
        scene.write(*lines[:-1])
        assert read(store) == {scene.mine}
        assert store.rights.standing().rights.grants == ()
        scene.write(*old)
    require_closed(scene, GONE)
    scene.write(*lines)
    with scene.world.open() as store:
        assert read(store) == {scene.mine}
        assert [one.number for one in store.rights.standing().rights.grants] == [other]


@pytest.mark.parametrize(
    "alike",
    [
        Who(user="Alice"),
        Who(user="аlice"),  # noqa: RUF001 - a Cyrillic letter, which is the point
        Who(user="alice2"),
        Who(agent="Claude"),
        Who(tenant="acme2"),
        Who(project="shop2"),
    ],
    ids=lambda who: f"{who.tenant}-{who.user.encode('unicode_escape').decode()}-{who.project}-{who.agent}",
)
def test_a_look_alike_gets_nothing(scene: Scene, alike: Who) -> None:
    """An asker whose name is like the grant's reads no record of anybody but its own."""
    other = Who(tenant=alike.tenant, user=alike.user, project=alike.project, agent="codex")
    with scene.world.open() as store:
        theirs = other.bind(store).remember("of the other agent").record_id
        assert theirs not in read(store, alike)
        assert scene.theirs not in read(store, alike)


def test_one_dimension_for_another(scene: Scene) -> None:
    """A grant of an agent opens no workspace, branch, session or user, and none of these is told apart."""
    with scene.world.open() as store:
        for who in (
            Who(agent="codex", workspace="w-2"),
            Who(agent="codex", branch="other"),
            Who(agent="codex", baseline="v0"),
            Who(agent="rogue"),
            Who(workspace="w-2"),
        ):
            who.bind(store).remember("closed")
        assert read(store) == {scene.mine, scene.theirs}


def test_a_list_without_an_owner(scene: Scene) -> None:
    """In a store that has no owner a list in the root is no list, and it is told."""
    world = World(place=scene.world.place / "ownerless")
    with world.make() as store:
        mine = ME.bind(store).remember("mine").record_id
        CODEX.bind(store).remember("theirs")
        (world.root / "rights").mkdir(mode=0o700)
        shutil.copy2(scene.list_file, world.root / RIGHTS_LIST)
        assert read(store) == {mine}
        assert incidents(store) == [IncidentKind.FORGED.value]


def test_another_public_key_in_the_trust_home(scene: Scene) -> None:
    """Even there, a key that did not sign the list opens nothing; and none at all opens nothing."""
    with scene.world.open() as store:
        stranger = Signer.new(store.trust.store_id)
        save_owner(store.trust.home, Owner(store_id=store.store_id, name="eve", public=stranger.public))
    require_closed(scene, BROKEN)
    (scene.home / OWNER_FILE).unlink()
    with scene.world.open() as store:
        assert read(store) == {scene.mine}
        assert store.rights.standing().damage is IncidentKind.ANCHOR_BROKEN
    (scene.home / OWNER_FILE).write_bytes(b"{}")
    (scene.home / OWNER_FILE).chmod(0o600)
    with scene.world.open() as store:
        assert read(store) == {scene.mine}


def test_a_broken_head(scene: Scene) -> None:
    """A cell in the trust home that proves nothing closes every grant."""
    head = scene.home / "anchors" / "rights" / "statements.anchors"
    head.write_bytes(bytes(b ^ 1 for b in head.read_bytes()[:-32]) + head.read_bytes()[-32:])
    with scene.world.open() as store:
        assert read(store) == {scene.mine}
        assert store.rights.standing().damage is not None


def test_a_revocation_is_seen_by_a_process_that_runs(scene: Scene) -> None:
    """What one process revokes is closed to the next call of another, and what it grants is open."""
    with scene.world.open() as store:
        session = ME.bind(store)
        assert session.list().total == 2
        time.sleep(0.02)
        assert session.list().total == 2

        def revoke(report: Report) -> None:
            with scene.world.open() as mine:
                scene.hand.revoke(mine, scene.number)
            report(b"revoked")

        def grant(report: Report) -> None:
            with scene.world.open() as mine:
                scene.hand.grant(mine, Kind.CROSS_AGENT, opens=OPENS)
            report(b"granted")

        assert in_child(revoke).lines == (b"revoked",)
        assert session.list().total == 1
        time.sleep(0.02)
        assert session.list().total == 1
        assert in_child(grant).lines == (b"granted",)
        assert session.list().total == 2


def test_statements_are_audited(scene: Scene) -> None:
    """The tenant's audit has each grant and revocation, durable and by number."""
    with scene.world.open() as store:
        scene.hand.revoke(store, scene.number)
        events = [(one.event, one.reason) for one in read_events(store.audit, TENANT)]
    assert (EventKind.GRANTED, "statement 1") in events
    assert (EventKind.REVOKED, "statement 2") in events
    assert EventKind.GRANTED.security
    assert EventKind.REVOKED.security


def test_the_private_key_lies_nowhere_in_the_root(scene: Scene) -> None:
    """Neither the key nor its public half is a file of the root."""
    names = {path.name for path in scene.world.root.rglob("*")}
    assert not names & {KEY_FILE, OWNER_FILE}
