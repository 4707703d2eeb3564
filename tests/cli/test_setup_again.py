"""`nsstore setup` once more, elsewhere, and for clients it does not know: only what is missing is done."""

import json
import shlex
from pathlib import Path

import pytest

from tests.cli.at_terminal import answer
from tests.cli.test_allow_verb import told
from tests.cli.test_setup_verb import PASSPHRASE, SCREEN, Newcomer, newcomer, own
from tests.host.conftest import git, repository
from tests.host.test_journal import snapshot

__all__ = ["newcomer"]

AGAIN = ("setup", "claude-code")
KNOWN = ("--tenant", "acme")
SECRET = [("characters): ", PASSPHRASE), ("again: ", PASSPHRASE)]


def flat(shown: str) -> str:
    """What was shown, wherever the terminal broke it."""
    return " ".join(shown.split())


def test_nothing_is_missing(newcomer: Newcomer) -> None:
    """Where everything is there it says so and stops: nobody is asked, nothing is proposed or changed."""
    newcomer.ok(*newcomer.unattended())
    before = snapshot(newcomer.home)
    code, shown = answer(newcomer, newcomer.atlas, AGAIN, [])
    assert code == 0
    assert "already" in shown
    assert "bind" not in shown
    assert newcomer(*AGAIN).exit_code == 0
    assert "already" in newcomer.ok(*AGAIN, "--unattended")
    assert newcomer.json(*AGAIN, "--unattended")["checkout"]["project"] == "atlas"
    assert snapshot(newcomer.home).keys() == before.keys()
    assert newcomer.statements()[-1]["number"] == 1


def test_only_what_is_missing_is_proposed(newcomer: Newcomer) -> None:
    """For a second client in a bound checkout there is one question: whether to go on."""
    newcomer.ok(*newcomer.unattended())
    screen = [("this up?", "y"), ("Passphrase: ", PASSPHRASE)]
    code, shown = answer(newcomer, newcomer.atlas, ["setup", "codex"], screen)
    assert code == 0, shown
    assert "Enter keeps" not in shown
    assert "- bind" not in shown
    assert "nsstore's configuration" not in shown
    assert "claude-code, codex and human" in flat(shown)


def test_a_bound_checkout_needs_no_project(newcomer: Newcomer) -> None:
    """Where nobody is asked, --project is demanded of a checkout that is not bound yet, and of no other."""
    newcomer.ok(*newcomer.unattended())
    newcomer.ok("setup", "codex", *newcomer.unlock)
    newcomer.ok("allow", "--end")
    done = newcomer("setup", "codex", *newcomer.unlock)
    assert (done.exit_code, "--project" in done.stderr) == (3, True)
    newcomer.ok("allow", "--project", "other", "--unattended")
    done = newcomer("setup", "codex", "--project", "atlas", *newcomer.unlock)
    assert (done.exit_code, "is other already" in done.stderr) == (3, True)


def test_each_step_is_what_is_done(newcomer: Newcomer) -> None:
    """A file that is not there yet is written, one that is is added to, and only that one is kept."""
    code, shown = answer(newcomer, newcomer.atlas, AGAIN, [*SCREEN, ("this up?", "n")])
    assert code == 130
    steps = flat(shown)
    assert f"add to the servers of Claude Code ({newcomer.home}/.claude.json)" in steps
    for what in ("the skill", "the settings of Claude Code", "nsstore's configuration"):
        assert f"write a new file: {what} (" in steps


def test_at_home_no_checkout_is_bound(newcomer: Newcomer) -> None:
    """Run where the store is, setup says so and goes on without a checkout; with --project it stops first."""
    code, shown = answer(newcomer, newcomer.home, AGAIN, [*SCREEN[:4], ("this up?", "y"), *SECRET])
    assert code == 0, shown
    assert f"{newcomer.home} contains the store" in flat(shown)
    assert "`nsstore allow`" in flat(shown)
    assert "--unattended" not in shown
    assert newcomer.json("scope")["values"]["project"]["source"] == "missing"
    code, shown = answer(newcomer, newcomer.home, AGAIN, [])
    assert (code, "already" in shown) == (0, True)
    code, shown = answer(newcomer, newcomer.home, [*AGAIN, "--project", "atlas"], [])
    assert (code, "--no-checkout" in shown) == (3, True)


@pytest.mark.parametrize("given", [(), ("--project", "atlas")])
def test_at_home_a_script_says_that_it_means_it(
    newcomer: Newcomer, monkeypatch: pytest.MonkeyPatch, given: tuple[str, ...]
) -> None:
    """Where nobody is asked, a directory that holds the store stops it, by its own reason."""
    monkeypatch.chdir(newcomer.home)
    args = newcomer.unattended("--store", str(newcomer.home / "store"))
    at = args.index("--project")
    done = newcomer(*args[:at], *args[at + 2 :], *given)
    assert done.exit_code == 3
    assert "contains the store" in done.stderr
    assert "--no-checkout" in done.stderr
    assert own(newcomer).keys() == {".claude.json"}


def test_there_is_nothing_to_undo(newcomer: Newcomer) -> None:
    """A second undo, and one of nothing, say so, with a store that is named and with none."""
    newcomer.ok(*newcomer.unattended())
    for line in newcomer.ok("setup", "--undo").splitlines():
        if "nsstore allow" in line:  # the configuration is gone by now, so the whole command is told
            newcomer.ok(*shlex.split(line.partition("nsstore ")[2]))
    assert newcomer("allow", "--end", *KNOWN, "--store", str(newcomer.store)).exit_code == 3
    for more in ((), ("--store", str(newcomer.store))):
        done = newcomer("setup", "--undo", *more)
        assert done.exit_code == 3
        assert "nothing to undo" in done.stderr
        assert "which store" not in done.stderr


def test_one_more_agent_is_named(newcomer: Newcomer) -> None:
    """What an agent of --agent remembers, its next session finds; a later one is added by a new policy."""
    newcomer.ok(*newcomer.unattended("--agent", "cursor"))
    record_id = newcomer.remember("x", "--agent", "cursor", "--session", "one")
    assert newcomer("show", record_id, "--agent", "cursor", "--session", "two").exit_code == 0
    assert newcomer("show", record_id, "--agent", "zed").exit_code == 4
    newcomer.ok(*AGAIN, "--agent", "zed", *newcomer.unlock)
    assert newcomer("show", record_id, "--agent", "zed").exit_code == 0
    assert newcomer(*AGAIN, "--agent", "*", *newcomer.unlock).exit_code == 3


def test_any_other_client(newcomer: Newcomer) -> None:
    """Nothing of a client's is touched; what is printed starts a server whose agent the policy names."""
    args = newcomer.unattended()
    args[args.index("claude-code")] = "other"
    assert newcomer(*args).exit_code == 3
    done = newcomer.json(*args, "--agent", "my-agent")
    assert "my-agent" in newcomer.statements()[-1]["to"]
    (server,) = done["servers"]
    assert server["args"][-5:] == ["other", "--agent", "my-agent", "--session", "my-agent"]
    assert {name for name in own(newcomer) if name.endswith((".json", ".toml", ".md"))} == {
        ".claude.json", ".config/nsstore/config.toml",
    }  # fmt: skip
    shown = newcomer.ok("setup", "other", "--agent", "my-agent", "--agent", "two", *newcomer.unlock)
    assert [json.loads(line)["args"][-1] for line in shown.splitlines() if line.startswith("{")] == [
        "my-agent", "two",
    ]  # fmt: skip
    assert newcomer.json(*args[:2], "--unattended", "--agent", "my-agent")["undo"] == done["undo"]
    newcomer.ok(*shlex.split(done["undo"])[1:])
    assert set(own(newcomer)) == {".claude.json"}


def test_the_json_of_the_guide(newcomer: Newcomer) -> None:
    """The guide's setup of any client names the agent of its JSON, and so that agent's sessions share."""
    guide = (Path(__file__).parents[2] / "docs" / "guides" / "one-agent.md").read_text()
    part = guide[guide.index("## MCP") :]
    command = shlex.split(part[part.index("nsstore setup other") :].splitlines()[0], comments=True)[1:]
    line = next(line for line in part.splitlines() if line.startswith("{"))
    wanted = json.loads(line)
    (server,) = newcomer.json(*command, *newcomer.unattended()[2:])["servers"]
    assert server["args"][-len(wanted["args"]) :] == wanted["args"]
    flags = wanted["args"][3:]
    record_id = newcomer.remember("x", *flags)
    assert newcomer("show", record_id, *flags[:2], "--session", "another").exit_code == 0


def test_what_setup_binds_the_audit_is_told(newcomer: Newcomer) -> None:
    """Setup binds as allow does: one event of the tenant, and none when nothing is bound."""
    newcomer.ok(*newcomer.unattended())
    newcomer.ok(*AGAIN, "--unattended")
    (event,) = told(newcomer)
    assert (event["event"], event["reason"]) == ("granted", "unattended")
    assert (event["scope"]["user_id"], event["scope"]["project_id"]) == ("ada", "atlas")


def test_a_moved_checkout_is_the_same(newcomer: Newcomer) -> None:
    """Set up again where the checkout was moved to, its project is proposed and its workspace comes along."""
    newcomer.ok(*newcomer.unattended())
    before = newcomer.json("scope")["values"]["workspace"]["value"]
    moved = newcomer.atlas.rename(newcomer.place / "moved")
    code, shown = answer(newcomer, moved, AGAIN, [("checkout [atlas]", ""), ("this up?", "y")])
    assert code == 0, shown
    assert f"that was at {newcomer.atlas}, to atlas" in flat(shown)
    assert newcomer.json("allow", str(moved), "--end")["workspace"] == before


def test_another_checkout_of_the_repository_proposes_its_project(
    newcomer: Newcomer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A work tree and a clone propose the project that the owner gave the first one."""
    newcomer.ok(*newcomer.unattended())
    tree, place = newcomer.place / "tree", newcomer.place
    git(newcomer.atlas, "worktree", "add", "-q", "-b", "x", str(tree))
    clone = repository(place / "clone", "https://example.com/acme/atlas")
    code, shown = answer(newcomer, tree, ["allow"], [("Project [atlas]", "")])
    assert (code, "only if you trust" in shown) == (0, True)
    code, shown = answer(newcomer, clone, AGAIN, [("checkout [atlas]", ""), ("this up?", "y")])
    assert (code, "only if you trust" in flat(shown)) == (0, True)
    for where in (newcomer.atlas, tree, clone):
        monkeypatch.chdir(where)
        assert newcomer.json("scope")["values"]["project"] == {"value": "atlas", "source": "checkout"}
