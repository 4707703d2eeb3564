"""An agent lives through one conversation, session by session, and is asked about it afterwards."""

from __future__ import annotations

import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

import anyio
import pytest
from mcp import Client, StdioServerParameters, types
from mcp.client.stdio import stdio_client

import nsstore
from bench.locomo.across import ASKING, LEAST_ACROSS, asker
from bench.locomo.dialogues import DataMissingError, Dialogue, load
from bench.locomo.trial import TENANT, scope_of
from bench.owning import Hand, granted, revoking
from bench.world import World
from nsstore.policy import Every, Kind, Opens

pytestmark = pytest.mark.long
Done = TypeVar("Done")
OWNER = ("tenant", TENANT)
K = 10
# One conversation is a small sample: the ten together reach 0.60.
LEAST_OF_ONE = LEAST_ACROSS - 0.1


@pytest.fixture(scope="module")
def dialogue() -> Dialogue:
    """The first conversation."""
    try:
        return load()[0]
    except DataMissingError as missing:
        pytest.fail(str(missing))


class Agent:
    """Starts a server for each session, as its client does, and lets go of it at the session's end."""

    def __init__(self, world: World, dialogue: Dialogue) -> None:
        self.world = world
        self.dialogue = dialogue

    def session(self, session: str, talking: Callable[[Client], Awaitable[Done]]) -> Done:
        """Run one session with a server of its own."""
        scope = scope_of(self.dialogue, session)
        named = {
            **{name.removesuffix("_id"): value for name, value in scope.items()},
            "agent": "human",
            **dict.fromkeys(("workspace", "branch", "baseline"), "-"),
            "store": str(self.world.root),
            "trust_home": str(self.world.trust),
            "cache_home": str(self.world.place / "cache"),
        }
        env = {**os.environ, **{f"NSSTORE_{name.upper()}": value for name, value in named.items()}}
        server = StdioServerParameters(command=sys.executable, args=["-m", "nsstore", "mcp"], env=env)

        async def run() -> Done:
            async with Client(stdio_client(server)) as client:
                return await talking(client)

        return anyio.run(run)


async def call(client: Client, tool: str, **given: object) -> dict[str, Any]:
    """The structured result of a call that succeeds."""
    found = await client.call_tool(tool, given)
    assert isinstance(found, types.CallToolResult)
    assert not found.is_error, found
    structured: dict[str, Any] | None = found.structured_content
    assert structured is not None
    return structured


def test_a_conversation_lived_through(
    dialogue: Dialogue, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every turn is remembered in its session, nothing crosses ungranted, and the evidence is found granted.

    The tools find for each question what the library finds for it, in the same order.
    """
    monkeypatch.setenv("NSSTORE_CACHE_HOME", str(tmp_path / "cache"))
    world = World(place=tmp_path)
    world.make().close()
    agent, turns = Agent(world, dialogue), dict[str, str]()

    for session, said in dialogue.sessions.items():

        async def live(client: Client, said: Any = said) -> None:  # noqa: ANN401 - bound now, not later
            for turn in said:
                kept = await call(client, "remember", text=turn.text)
                turns[kept["record_id"]] = turn.turn_id

        agent.session(session, live)
    assert len(turns) == sum(map(len, dialogue.sessions.values()))

    async def ask(client: Client) -> list[list[str]]:
        answers = [await call(client, "search", query=one.text, k=K) for one in dialogue.questions]
        return [[hit["record_id"] for hit in answer["memory"]] for answer in answers]

    async def ask_once(client: Client) -> int:
        return len((await call(client, "search", query=dialogue.questions[0].text, k=K))["memory"])

    assert agent.session(ASKING, ask_once) == 0
    scope = scope_of(dialogue, ASKING)
    with world.open() as store:
        hand = Hand.of(store)
        opens = Opens(sessions=Every(every="session"))
        grant = store.rights.state(hand.signer, OWNER, granted((Kind.CROSS_SESSION,), asker(scope), opens))
        bound = store.bind(
            tenant_id=scope["tenant_id"],
            user_id=scope["user_id"],
            project_id=scope["project_id"],
            session_id=scope["session_id"],
            agent_id="human",
            workspace_id=nsstore.NA,
            branch=nsstore.NA,
            baseline=nsstore.NA,
            source_tool="test",
            purpose="recall",
        )
        expected = [[hit.record_id for hit in bound.search(one.text, k=K).hits] for one in dialogue.questions]
    ranked = agent.session(ASKING, ask)
    assert ranked == expected
    shares = [
        sum(turn_id in {turns[one] for one in found} for turn_id in question.evidence)
        / len(question.evidence)
        for question, found in zip(dialogue.questions, ranked, strict=True)
    ]
    recall = sum(shares) / len(shares)
    assert recall >= LEAST_OF_ONE
    with world.open() as store:
        store.rights.state(hand.signer, OWNER, revoking(grant.seq))
    assert agent.session(ASKING, ask_once) == 0
