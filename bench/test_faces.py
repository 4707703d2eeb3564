"""What an agent waits for: a search through the tools, and the hook at the start of a session."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from time import perf_counter

import anyio
import msgspec
import pytest
from mcp import Client, StdioServerParameters, types
from mcp.client.stdio import stdio_client

from bench.budgets import Verdict
from bench.disk import PROJECT
from bench.race import questions, some_texts, verdicts_of
from bench.test_writes import require_met
from bench.world import Who, World

pytestmark = pytest.mark.filterwarnings("ignore:the trust home lies:UserWarning")
AskTool = Callable[[str], Awaitable[types.CallToolResult]]
QUESTIONS = 40
ROUNDS = 6
PROCESSES = 40
SAID = b'{"session_id":"s-1","hook_event_name":"SessionStart","source":"startup"}'


def variables(world: World) -> dict[str, str]:
    """What a client passes on to what it starts: the whole scope of the typical session."""
    who = Who()
    named = {
        **{name: str(getattr(who, name)) for name in ("tenant", "user", "project", "session", "agent")},
        **{name: str(getattr(who, name)) for name in ("workspace", "branch", "baseline")},
        "store": str(world.root),
        "trust_home": str(world.trust),
        "cache_home": os.environ["NSSTORE_CACHE_HOME"],
    }
    # An installed program is compiled, as it is here from the second time on.
    plain = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**plain, **{f"NSSTORE_{name.upper()}": value for name, value in named.items()}}


def allowed(world: World, room: Path) -> tuple[dict[str, str], Path]:
    """A store of 1,000 records of a checkout that is bound to the project, as a person would have it."""
    world.make().close()
    env, place = variables(world), room / "tree"
    for name in ("WORKSPACE", "BRANCH", "BASELINE", "PROJECT"):
        del env[f"NSSTORE_{name}"]
    place.mkdir()
    who = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")
    git = ["git", "-C", str(place), *who]
    nsstore = [sys.executable, "-m", "nsstore"]
    for command in (
        [*git, "init", "-q"],
        [*git, "commit", "-q", "--allow-empty", "-m", "The beginning of the shop"],
        [*nsstore, "allow", "--project", "shop", "--unattended"],
    ):
        subprocess.run(command, env=env, cwd=place, check=True, capture_output=True)
    lines = "".join(msgspec.json.encode({"text": text}).decode() + "\n" for text in some_texts(990))
    lines += "".join(f'{{"text": "In the shop we always prefer way {number}."}}\n' for number in range(10))
    command = [*nsstore, "import", "-", "--source", "bench"]
    subprocess.run(command, env=env, cwd=place, check=True, capture_output=True, input=lines.encode())
    return env, place


async def race_tools(
    asked: Sequence[str], tools: Mapping[str, AskTool], rounds: int
) -> dict[str, list[float]]:
    """As :func:`bench.race.race`, of calls that are awaited."""
    times: dict[str, list[float]] = {name: [] for name in tools}
    order = list(tools.items())
    for number in range(rounds + 1):
        for question in asked:
            for name, ask in order:
                start = perf_counter()
                await ask(question)
                if number:
                    times[name].append(perf_counter() - start)
            order.append(order.pop(0))
    return times


def test_mcp_search(room: Path, world: World, verdicts: list[Verdict]) -> None:
    """A search through the tools with five hits, all proven and audited, against a tool that does nothing."""
    env, place = allowed(world, room)
    given = some_texts(990)
    servers = {
        "nsstore": StdioServerParameters(
            command=sys.executable, args=["-m", "nsstore", "mcp"], env=env, cwd=place
        ),
        "empty_call": StdioServerParameters(
            command=sys.executable, args=["-m", "bench.empty_tool"], env=env, cwd=PROJECT
        ),
    }

    async def run() -> dict[str, list[float]]:
        async with (
            Client(stdio_client(servers["nsstore"])) as ours,
            Client(stdio_client(servers["empty_call"])) as theirs,
        ):

            async def search(question: str) -> types.CallToolResult:
                found = await ours.call_tool("search", {"query": question})
                assert isinstance(found, types.CallToolResult)
                return found

            async def nothing(_: str) -> types.CallToolResult:
                found = await theirs.call_tool("nothing", {})
                assert isinstance(found, types.CallToolResult)
                return found

            first = await search(questions(given, 1)[0])
            assert first.structured_content is not None
            assert len(first.structured_content["memory"]) == 5
            tools: dict[str, AskTool] = {"nsstore": search, "empty_call": nothing}
            return await race_tools(questions(given, QUESTIONS), tools, ROUNDS)

    found = verdicts_of("mcp_search", anyio.run(run))
    verdicts.extend(found)
    require_met(found)


def in_turn(
    commands: Mapping[str, Sequence[str]], env: Mapping[str, str], place: Path, *, said: bytes, told: bytes
) -> dict[str, list[float]]:
    """Seconds of each command as a process, in turn; the first of each, which may compile, does not count.

    What ``nsstore`` prints holds ``told``.
    """
    times: dict[str, list[float]] = {name: [] for name in commands}
    for number in range(PROCESSES + 1):
        for name, command in commands.items():
            start = perf_counter()
            done = subprocess.run(command, input=said, env=env, cwd=place, capture_output=True, check=True)
            taken = perf_counter() - start
            assert (told in done.stdout) is (name == "nsstore")
            if number:
                times[name].append(taken)
    return times


BARE: tuple[str, ...] = (sys.executable, "-c", "import msgspec, tantivy")


def test_hook_start(room: Path, world: World, verdicts: list[Verdict]) -> None:
    """The hook recalls from a store of 1,000 records in a bound checkout, against Python with two imports."""
    env, place = allowed(world, room)
    # A client's own settings say by flags what no configuration does: a variable widens nothing there.
    flags = [f"--{name}={env[f'NSSTORE_{name.upper()}']}" for name in ("store", "tenant", "user", "agent")]
    hook = [sys.executable, "-m", "nsstore", "hook", "claude-code", "start", *flags]
    times = in_turn({"nsstore": hook, "bare_imports": BARE}, env, place, said=SAID, told=b"additionalContext")
    found = verdicts_of("hook_start", times)
    verdicts.extend(found)
    require_met(found)


def test_search_process(room: Path, world: World, verdicts: list[Verdict]) -> None:
    """A search from the command line in the same checkout, against Python with two imports."""
    env, place = allowed(world, room)
    question = questions(some_texts(1_000), 1)[0]
    search = [sys.executable, "-m", "nsstore", "search", "--json", question]
    times = in_turn({"nsstore": search, "bare_imports": BARE}, env, place, said=b"", told=b"record_id")
    found = verdicts_of("search_process", times)
    verdicts.extend(found)
    require_met(found)


def test_help_process(room: Path, verdicts: list[Verdict]) -> None:
    """The help of the program, against Python with click."""
    env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    commands = {
        "nsstore": [sys.executable, "-m", "nsstore", "--help"],
        "bare_click": [sys.executable, "-c", "import click"],
    }
    found = verdicts_of("help_process", in_turn(commands, env, room, said=b"", told=b"remember"))
    verdicts.extend(found)
    require_met(found)
