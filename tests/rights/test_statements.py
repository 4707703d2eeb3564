"""A statement's bytes: one spelling, signed, of one store, within a year; and the golden lines."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import cast, get_args

import msgspec
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from bench.owning import TENANT, allowlisted, asker, granted, keeping, revoking
from nsstore.errors import InvalidInput
from nsstore.policy import Asker, Every, Kind, Opens, personal
from nsstore.rights import Accepted, Assurance, Kept, OwnerNamed, Statement
from nsstore.rights.statements import ZERO, Signed, read_signed, sign
from nsstore.trust import BadLine
from nsstore.trust.signer import Signer

GOLDEN = Path(__file__).parents[1] / "golden" / "rights_lines.jsonl"
STORE = bytes.fromhex("000102030405060708090a0b0c0d0e0f")
SIGNER = Signer(STORE, Ed25519PrivateKey.from_private_bytes(b"\x07" * 32))
AT = "2026-11-30T10:44:07.012345Z"
RECORD = "01934f2e-8b7a-7c3d-9e21-0123456789ab"
WIDE = msgspec.structs.replace(asker(), projects=Every(every="project"), agents=("claude", "human"))
SHARE = Opens(
    users=("Zoë", "bob"),
    sessions=(("conversation", "会話-1"), ("session", "s-2")),
    workspaces=("-", "w-2"),
    branches=("-", "feature/x"),
    baselines=("v1",),
    agents=("codex",),
    tool_contexts=("mcp:notes",),
    tasks=("T-2",),
)


def named(seq: int, at: str, prev: str) -> Statement:
    """The first statement of a list."""
    return OwnerNamed(
        seq=seq,
        at=at,
        by="Ada Lovelace",
        why="the owner's key was made",
        assurance=Assurance.PASSPHRASE,
        prev=prev,
        public=SIGNER.public,
    )


def accepting(seq: int, at: str, prev: str) -> Statement:
    """What gives up the losses of three namespaces."""
    return Accepted(
        seq=seq,
        at=at,
        by="ada",
        why="the disk",
        assurance=Assurance.CI,
        prev=prev,
        namespaces=3,
        events=41,
        records=1,
        digest="4d" * 32,
    )


def lines() -> Iterator[Signed]:
    """One list with every kind of statement, each chained to the one before."""
    prev = ZERO
    makers = (
        named,
        granted(tuple(sorted(Kind)[:4]), asker(), SHARE, days=365),
        granted((Kind.CROSS_SESSION,), asker(), Opens(sessions=Every(every="session"))),
        granted((Kind.PERSONAL,), WIDE, personal(WIDE)),
        granted(
            (Kind.LINEAGE, Kind.STATE_ACROSS_SESSIONS),
            WIDE,
            Opens(lineage=True, state_across_sessions=True),
        ),
        allowlisted(asker()),
        revoking(2),
        keeping({"scratch": 7, "standard": 36_525}, ("evidence",), (RECORD,), AT),
        accepting,
    )
    for seq, make in enumerate(makers):
        statement: Statement = make(seq, AT, prev)
        one = sign(STORE, SIGNER, statement)
        prev = one.digest.hex()
        yield one


def test_golden_lines() -> None:
    """The committed lines are written and read byte for byte: a change here is a change of the format."""
    written = [one.raw for one in lines()]
    assert b"".join(written) == GOLDEN.read_bytes()
    for one, raw in zip(lines(), GOLDEN.read_bytes().splitlines(keepends=True), strict=True):
        assert read_signed(STORE, SIGNER.public, raw) == one


def test_every_statement_is_documented() -> None:
    """The format names each kind and its own keys in their order, and no other; and each assurance."""
    text = (GOLDEN.parents[2] / "docs" / "format.md").read_text()
    section = text.partition("## Rights\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| `(\w+)` \| ((?:`\w+` ?)+) \|", section, re.MULTILINE)
    documented = {kind: tuple(re.findall(r"\w+", keys)) for kind, keys in rows}
    kinds: tuple[type[Statement], ...] = get_args(Statement)
    common = ("seq", "at", "by", "why", "assurance", "prev")
    shown = {str(kind.__struct_config__.tag): kind.__struct_fields__ for kind in kinds}
    assert shown == {kind: (*common, *keys) for kind, keys in documented.items()}
    (named,) = re.findall(r"`assurance` is one of ((?:`\w+` ?)+)", section)
    assert re.findall(r"\w+", named) == list(Assurance)
    for struct in (Asker, Opens):
        assert all(f"`{name}`" in section for name in struct.__struct_fields__)
    assert all(f"`{kind}`" in section for kind in Kind)


def test_every_changed_byte_is_refused() -> None:
    """No byte of a line can be changed, left out or added."""
    (raw,) = [one.raw for one in lines() if b'"personal"' in one.raw]
    for at in range(len(raw)):
        for other in (
            raw[:at] + bytes([raw[at] ^ 1]) + raw[at + 1 :],
            raw[:at] + raw[at + 1 :],
            raw[:at] + b" " + raw[at:],
        ):
            with pytest.raises(BadLine):
                read_signed(STORE, SIGNER.public, other)


def test_a_line_is_of_one_store_and_one_key() -> None:
    """The same line is none in another store, nor under another key."""
    raw = next(lines()).raw
    with pytest.raises(BadLine):
        read_signed(bytes(16), SIGNER.public, raw)
    with pytest.raises(BadLine):
        read_signed(STORE, Signer.new(STORE).public, raw)


def test_even_the_owner_writes_one_spelling() -> None:
    """A signed line in another spelling, of another kind, or with a field more is refused."""
    body = next(lines()).raw.partition(b',"sig"')[0]
    for other in (
        body.replace(b'"by"', b' "by"'),
        body.replace(b'"kind":"owner"', b'"kind":"root"'),
        body + b',"extra":1',
        body.replace(b',"seq":0', b',"seq":0,"seq":0'),
        body.replace(b'"passphrase"', b'"none"'),
        body.replace(b"2026-11-30T", b"2026-02-30T"),
    ):
        assert other != body
        raw = b'%b,"sig":"%b"}\n' % (other, SIGNER.sign(other).hex().encode())
        with pytest.raises(BadLine):
            read_signed(STORE, SIGNER.public, raw)


@pytest.mark.parametrize("days", [0, -1, 365.1, 4000])
def test_a_grant_lasts_at_most_a_year(days: float) -> None:
    """One that ends before it begins, or after 365 days, cannot be made."""
    with pytest.raises(InvalidInput, match="365 days"):
        granted((Kind.CROSS_AGENT,), asker(), Opens(agents=("codex",)), days)(1, AT, ZERO)


WRONG: dict[str, tuple[tuple[Kind, ...], Opens]] = {
    "nothing": ((), Opens()),
    "named and not opened": ((Kind.CROSS_SESSION,), Opens()),
    "opened and not named": ((Kind.CROSS_SESSION,), Opens(sessions=(("session", "s"),), agents=("codex",))),
    "a policy in a share": ((Kind.GROUP_SHARE, Kind.LINEAGE), Opens(users=("bob",), lineage=True)),
    "a share with oneself": ((Kind.GROUP_SHARE,), Opens(users=("alice",))),
    "personal and more": ((Kind.CROSS_SESSION, Kind.PERSONAL), personal(asker())),
    "personal and less": ((Kind.PERSONAL,), Opens(sessions=Every(every="session"))),
    "out of order": ((Kind.GROUP_SHARE, Kind.CROSS_SESSION), Opens(users=("bob",))),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_a_grant_is_called_is_what_it_opens(name: str) -> None:
    """A grant whose name and values differ cannot be made."""
    kinds, opens = WRONG[name]
    with pytest.raises(InvalidInput):
        granted(kinds, asker(), opens)(1, AT, ZERO)


@pytest.mark.parametrize(
    "wrong",
    [
        {"tenant": ("user", "acme")},
        {"tenant": ("tenant", "*")},
        {"days": (("standard", 0),)},
        {"days": (("standard", 36_526),)},
        {"days": (("legal_hold", 5),)},
        {"days": (("b", 5), ("a", 5))},
        {"days": (("a", 5), ("a", 6))},
        {"days": (("A", 5),)},
        {"held": ("legal_hold",)},
        {"held": ("b", "a")},
        {"held": ("*",)},
        {"released": ("x",)},
        {"released": (RECORD, RECORD)},
        {"trusted_until": "2026-02-30T10:44:07.012345Z"},
    ],
)
def test_a_retention_that_cannot_be_made(wrong: dict[str, object]) -> None:
    """No class twice, none for no time or for ever, no pattern, and nothing that loosens legal_hold."""
    right = {"seq": 1, "at": AT, "by": "ada", "why": "x", "assurance": Assurance.CI, "prev": ZERO}
    make = cast("Callable[..., Kept]", Kept)
    assert make(**right, tenant=TENANT, days=(("a", 1), ("b", 36_525)), held=("c",)).days[0] == ("a", 1)
    with pytest.raises(InvalidInput):
        make(**{**right, "tenant": TENANT, **wrong})


@pytest.mark.parametrize("pattern", ["*", "every", "s-*", "", " s", "none", "/", "%"])
def test_no_text_means_every_value(pattern: str) -> None:
    """A pattern or a placeholder is refused, and a text that reads like one is an id like any other."""
    if pattern == "every":
        assert Opens(agents=(pattern,)).agents == ("every",)
        return
    for field in ("users", "workspaces", "branches", "baselines", "agents", "tool_contexts", "tasks"):
        with pytest.raises(InvalidInput):
            cast("Callable[..., Opens]", Opens)(**{field: (pattern,)})
    for field in ("user", "tenant", "projects", "agents"):
        value: object = ("tenant", pattern) if field == "tenant" else (pattern,)
        with pytest.raises(InvalidInput):
            asker(**{field: pattern if field == "user" else value})


def test_every_value_is_named_by_its_own_dimension() -> None:
    """Every session is none of the other dimensions, and only a policy is for every project."""
    with pytest.raises(InvalidInput):
        Opens(sessions=Every(every="workspace"))
    with pytest.raises(InvalidInput):
        Opens(workspaces=Every(every="session"))
    with pytest.raises(InvalidInput):
        asker(projects=Every(every="session"))
    with pytest.raises(InvalidInput):
        granted((Kind.CROSS_AGENT,), WIDE, Opens(agents=("codex",)))(1, AT, ZERO)


@pytest.mark.parametrize("field", ["projects", "agents", "purposes"])
def test_a_subject_is_named_in_full(field: str) -> None:
    """A grant to no project, no agent or for no purpose cannot be made."""
    with pytest.raises(InvalidInput):
        asker(**{field: ()})
