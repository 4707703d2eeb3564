"""Area 5 of the public bug reports, BR-72 to BR-74: foreign files, an audit that fails, forged lines."""

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from bench.binding import bind, tree
from bench.keeping import quick_keys
from bench.owning import Hand
from bench.world import World
from nsstore import OpenStore, StoreError
from nsstore.audit import read_events, verify
from nsstore.policy import Kind, Opens
from nsstore.store import Below
from tests.cases.conftest import filled, ids, keep
from tests.cli.conftest import Person, unattended

pytestmark = pytest.mark.usefixtures("kept_views")
ACME = ("tenant", "acme")


def test_br72_a_stray_is_in_no_view_that_is_made_anew(
    store: OpenStore, world: World, kept_views: Path
) -> None:
    """Files put in by hand, by whatever name or bytes, are in no view, nor in one made from nothing."""
    session = bind(store)
    mine = filled(session)
    keep(store, session)
    (genuine, *_) = sorted((world.root / "memory").rglob("*.md"))
    other = bind(store, session_id="s-2").remember("common of another session").record_id
    (foreign,) = (world.root / "memory").rglob(f"{other}.md")
    names = [f"019a2b3c-4d5e-7f60-8123-45678900000{n}.md" for n in range(3)]
    strays = {
        names[0]: genuine.read_bytes(),
        names[1]: genuine.read_bytes().replace(b"filler0", b"evil999"),
        names[2]: b"",
        foreign.name: foreign.read_bytes(),
        "notes.md": b"common",
        ".hidden.md": b"common",
        f"{genuine.stem}.md.tmp": genuine.read_bytes(),
        f"{genuine.stem}.MD": genuine.read_bytes(),
    }
    for name, raw in strays.items():
        (genuine.parent / name).write_bytes(raw)
        (genuine.parent / name).chmod(0o600)
    for turn in range(3):
        if turn:
            kept_views.rename(kept_views.with_name(f"cache{turn}"))
        with world.open() as fresh:
            there = bind(fresh)
            assert sorted(ids(there, "common")) == sorted(mine)
            assert sorted(ids(session, "common")) == sorted(mine)
            mine.append(there.remember("common and more").record_id)
            there.search("common")
            fresh.settle()
    assert ids(session, "evil999") == []
    told = {line.reason for line in read_events(store.audit, ACME) if line.incident}
    assert {"stray", "misplaced"} <= told


def as_directory(path: Path) -> None:
    """Put a directory in a file's place."""
    path.rename(path.with_name("aside"))
    path.mkdir(mode=0o700)


def as_link(path: Path) -> None:
    """Put a link in a file's place."""
    aside = path.parents[3] / "aside"
    path.rename(aside)
    path.symlink_to(aside)


def as_unwritable(path: Path) -> None:
    """Take the right to write a file, also from others."""
    path.chmod(0o444)


@pytest.mark.parametrize("way", [as_directory, as_link, as_unwritable])
def test_br73_without_an_audit_nothing_is_answered(world: World, way: Callable[[Path], None]) -> None:
    """With an audit that takes no event denied stays denied, and nothing else is answered."""
    with world.open() as store:
        mine = bind(store).remember("quartz").record_id
        theirs = bind(store, user_id="bob").remember("quartz").record_id
        bind(store, tenant_id="evil").remember("quartz")
    (audit,) = (world.root / "audit/tenants/acme").glob("*.jsonl")
    way(audit)
    before = tree(world.root / "memory")
    with world.open() as store:
        session = bind(store)
        calls: list[Callable[[], object]] = [
            *(partial(verb, theirs) for verb in (session.get, session.history, session.forget)),
            lambda: session.get(mine),
            session.list,
            lambda: session.search("quartz"),
            lambda: session.remember("x"),
            lambda: session.state.put("k", "x"),
        ]
        for _ in range(10):
            for call in calls:
                with pytest.raises(StoreError) as caught:
                    call()
                assert caught.value.kind in ("witness", "escape")
                assert str(world.place) not in str(caught.value)
        assert tree(world.root / "memory") == before
        assert bind(store, tenant_id="evil").list().total == 1


def test_br73_long_noise_from_the_command_line(person: Person) -> None:
    """Denied and refused commands by the hundred add short lines, and take nothing away."""
    genuine = [person.remember(f"quartz {n}") for n in range(5)]
    (audit,) = (person.store / "audit").rglob("*.jsonl")
    for turn in range(60):
        assert person("show", f"01934f2e-8b7a-7c3d-9e21-{turn:012x}").exit_code == 4
        assert person("show", "x" * 10_000).exit_code == 3
        assert person("list", "--user", "x" * 10_000).exit_code == 3
    raw = audit.read_bytes()
    assert max(len(line) for line in raw.splitlines()) < 2_000
    lines = [json.loads(line) for line in raw.splitlines()]
    written = [line["records"] for line in lines if line["event"] == "written"]
    assert written == [[one] for one in genuine]
    person.ok("audit", "verify")


MARK = "TEXT"
FORGED = [
    'bob"}\n{"event":"granted","seq":1}',
    "a\rb",
    "a\u2028b",
    "a\x1b[2Kb",
    "a\x00b",
    "a\x85b",
    "a\u202eb",
]


@pytest.mark.parametrize("text", FORGED)
def test_br74_no_word_forges_a_line(store: OpenStore, world: World, person: Person, text: str) -> None:
    """In texts, reasons, names and questions such characters are refused, or come out as one line."""
    session = bind(store)
    one = session.remember(text).record_id
    session.search(text)
    for refused in (
        lambda: session.remember("x", idempotency_key=text),
        lambda: session.remember("x", kind=text),
        lambda: session.state.put(text, "x"),
        lambda: session.remember("x", retention_class=text),
        lambda: Below(tenant=("tenant", text)),
    ):
        with pytest.raises(StoreError):
            refused()
    assert session.get(one).text == text
    for file in (*(world.root / "audit").rglob("*.jsonl"), *(world.root / "ledger").rglob("*.log")):
        for line in file.read_bytes().split(b"\n")[:-1]:
            assert isinstance(json.loads(line.rsplit(b" ", 1)[0] if not line.endswith(b"}") else line), dict)
            assert b"granted" not in line
    assert verify(store.audit, ACME).whole
    if "\x00" in text:
        return
    made = person.ok("remember", "-", given=text).strip()
    for command in (("show", made), ("list",), ("search", "--", text), ("audit",), ("history", made)):
        shown = person.ok(*command)
        assert "\x1b[2K" not in shown
        assert "\u202e" not in shown
        assert "\r" not in shown.replace("\r\n", "")
    for refused_words in (
        f"owner init --unattended --name {MARK}",
        f"forget -- {MARK}",
        f"list --user {MARK}",
    ):
        words = [text if word == MARK else word for word in refused_words.split()]
        assert person(*words).exit_code != 0


@pytest.mark.parametrize("text", FORGED)
def test_br74_no_reason_of_the_owner_forges_a_statement(store: OpenStore, world: World, text: str) -> None:
    """A statement whose scope or class holds such a character is refused, and the list stays whole."""
    hand = Hand.of(store)
    hand.grant(store, Kind.CROSS_AGENT, opens=Opens(agents=("codex",)))
    before = (world.root / "rights").rglob("*")
    kept = {path: path.read_bytes() for path in before if path.is_file()}
    with pytest.raises(StoreError):
        hand.grant(store, Kind.CROSS_AGENT, opens=Opens(agents=(text,)))
    with pytest.raises(StoreError):
        hand.keep(store, {text: 3})
    with pytest.raises(StoreError):
        hand.keep(store, held=[text])
    assert {path: path.read_bytes() for path in kept} == kept
    assert store.rights.standing().damage is None


def test_br74_no_name_and_no_why_forges_a_statement(person: Person) -> None:
    """At the command line a name or reason with such a character is refused, and nothing is written."""
    grant = ("owner", "grant", "cross_agent", "--tenant", "acme", "--user", "ada", "--project", "atlas")
    opens = ("--agent", "human", "--purpose", "recall", "--open-agent", "codex", "--days", "3")
    with quick_keys():
        for text in FORGED:
            assert person("owner", "init", "--name", text, *unattended(person)).exit_code == 3, text
        person.ok("owner", "init", "--name", "Ada", *unattended(person))
        before = tree(person.store / "rights")
        for text in FORGED:
            for flags in (
                ("--why", text),
                ("--why", "fine", "--agent", text),
                ("--why", "fine", "--user", text),
            ):
                assert person(*grant, *opens, *flags, *unattended(person)).exit_code == 3, (flags, text)
            assert person("owner", "revoke", "0", "--why", text, *unattended(person)).exit_code != 0
        assert tree(person.store / "rights") == before
        person.ok(*grant, *opens, "--why", 'it\'s "quoted" {and} é中', *unattended(person))
    lines = [one for file in (person.store / "rights").iterdir() for one in file.read_bytes().splitlines()]
    assert len(lines) == 2
