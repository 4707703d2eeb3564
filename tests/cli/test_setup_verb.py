"""`nsstore setup`: one screen or a row of flags, and an agent remembers; its files are put back by --undo."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.at_terminal import answer
from tests.cli.conftest import SCOPE, Person
from tests.host.conftest import git, repository
from tests.host.test_journal import snapshot

PASSPHRASE = "correct horse battery"
FLAGS = ("--tenant", "acme", "--user", "ada", "--session", "terminal", "--project", "atlas")


class Newcomer(Person):
    """Somebody with a fresh home, standing in a checkout, who has no store yet."""

    def __init__(self, place: Path, patch: pytest.MonkeyPatch) -> None:
        super().__init__(place)
        self.home, self.atlas = place / "user", repository(place / "atlas", "git@example.com:acme/atlas.git")
        self.home.mkdir()
        (self.home / ".claude.json").write_text('{"numStartups": 3}')
        self.secret = place / "passphrase"
        self.secret.write_text(PASSPHRASE)
        self.secret.chmod(0o600)
        self.env |= dict.fromkeys(SCOPE, None)
        self.env |= {"NSSTORE_STORE": None, "NSSTORE_TRUST_HOME": None, "HOME": str(self.home)}
        for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"):
            self.env[name] = None
        patch.chdir(self.atlas)

    def unattended(self, *more: str) -> list[str]:
        """The arguments that set Claude Code up with nobody asked."""
        store = ("--store", str(self.store))
        return ["setup", "claude-code", *FLAGS, *store, *self.unlock, *more]

    @property
    def unlock(self) -> tuple[str, ...]:
        """The flags that give the passphrase."""
        return ("--unattended", "--passphrase-file", str(self.secret))

    def statements(self) -> list[dict[str, Any]]:
        """What the owner's list says."""
        found: list[dict[str, Any]] = json.loads(self("owner", "list", "--json").stdout)
        return found


@pytest.fixture
def newcomer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Newcomer:
    """Somebody new."""
    return Newcomer(tmp_path, monkeypatch)


def own(newcomer: Newcomer) -> dict[str, tuple[int, bytes | None]]:
    """The files of a home, but those of the store, its trust home and its views."""
    found = snapshot(newcomer.home)
    return {name: one for name, one in found.items() if not name.startswith((".local", ".cache"))}


SCREEN = [("Store [", ""), ("Tenant [", ""), ("User [", ""), ("yourself [", ""), ("checkout [", "")]


def test_one_command_and_it_works(newcomer: Newcomer) -> None:
    """After setup a note is remembered and found with no flag, across sessions, and check is content."""
    done = newcomer.json(*newcomer.unattended())
    assert done["made"] is True
    assert done["checkout"] == {"path": str(newcomer.atlas), "project": "atlas"}
    record_id = newcomer.remember("The train leaves on Thursdays.")
    agent = ("--agent", "claude-code", "--session", "another")
    assert newcomer.json("show", record_id, *agent)["text"] == "The train leaves on Thursdays."
    assert newcomer("show", record_id, "--agent", "stranger").exit_code == 4
    assert newcomer("check").exit_code == 0


def test_one_policy_is_signed(newcomer: Newcomer) -> None:
    """The list holds the key and one personal policy of this user, for these agents, with its assurance."""
    newcomer.ok(*newcomer.unattended("--days", "30"))
    key, policy = newcomer.statements()
    assert (key["what"], policy["what"], policy["assurance"]) == ("owner", "personal", "file")
    assert "claude-code" in policy["to"]
    assert "codex" not in policy["to"]


def test_undo_puts_back(newcomer: Newcomer) -> None:
    """The client's files and the configuration are as before, byte for byte; what is remembered stays."""
    before = snapshot(newcomer.home)
    done = newcomer.json(*newcomer.unattended())
    record_id = newcomer.remember("The train leaves on Thursdays.")
    assert (newcomer.home / ".claude/skills/nsstore/SKILL.md").exists()
    newcomer.ok(*done["undo"].split()[1:])
    assert own(newcomer) == before
    assert newcomer("setup", "claude-code", "--undo", "--store", str(newcomer.store)).exit_code == 3
    scope = ("--store", str(newcomer.store), "--tenant", "acme", "--user", "ada", "--session", "terminal")
    assert newcomer("show", record_id, *scope).exit_code == 0


def test_a_second_setup_changes_nothing(newcomer: Newcomer) -> None:
    """Done again, nothing is signed, bound or written; undone once, all is as before the first."""
    before = (newcomer.home / ".claude.json").read_bytes()
    newcomer.ok(*newcomer.unattended())
    kept = snapshot(newcomer.home)
    assert "already" in newcomer.ok("setup", "claude-code", "--project", "atlas", "--unattended")
    assert snapshot(newcomer.home).keys() == kept.keys()
    assert len(newcomer.statements()) == 2
    newcomer.ok("setup", "claude-code", "--undo")
    assert (newcomer.home / ".claude.json").read_bytes() == before


def test_a_moved_program_is_set_up_anew(newcomer: Newcomer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nsstore is elsewhere by now, the client's files say so, and undo still goes all the way."""
    before = (newcomer.home / ".claude.json").read_bytes()
    newcomer.ok(*newcomer.unattended())
    other = newcomer.place / "bin" / "nsstore"
    other.parent.mkdir()
    other.write_text("#!/bin/sh\n")
    other.chmod(0o755)
    monkeypatch.setattr(sys, "argv", [str(other)])
    newcomer.ok("setup", "claude-code", "--project", "atlas", "--unattended")
    servers = json.loads((newcomer.home / ".claude.json").read_text())["mcpServers"]
    assert servers["nsstore"]["command"] == str(other)
    assert newcomer.json("scope")["values"]["user"]["source"] == "configuration"
    newcomer.ok("setup", "claude-code", "--undo")
    assert (newcomer.home / ".claude.json").read_bytes() == before


def test_a_second_client_asks_its_right(newcomer: Newcomer) -> None:
    """Another agent needs the owner's word: a policy that names both; the configuration stays for it."""
    newcomer.ok(*newcomer.unattended())
    codex = ("setup", "codex", "--project", "atlas")
    assert newcomer(*codex, "--unattended").exit_code == 3
    newcomer.ok(*codex, *newcomer.unlock)
    assert all(agent in newcomer.statements()[-1]["to"] for agent in ("claude-code", "codex", "human"))
    record_id = newcomer.remember("x", "--agent", "codex")
    assert newcomer("show", record_id, "--agent", "claude-code").exit_code == 0
    newcomer.ok("setup", "claude-code", "--undo")
    assert newcomer.json("scope")["values"]["user"]["source"] == "configuration"
    newcomer.ok("setup", "--undo")
    assert newcomer.json("scope")["values"]["user"]["source"] == "missing"


def test_everything_is_undone_at_once(newcomer: Newcomer) -> None:
    """Without a client, --undo puts back what was written for each; setting up needs one."""
    before = snapshot(newcomer.home)
    newcomer.ok(*newcomer.unattended())
    newcomer.ok("setup", "codex", "--project", "atlas", *newcomer.unlock)
    assert len(newcomer.json("setup", "--undo")["undone"]) == 6
    assert own(newcomer) == before
    assert newcomer("setup", "--store", str(newcomer.store)).exit_code == 3


@pytest.mark.parametrize("missing", ["--tenant", "--user", "--session", "--project", "--store"])
def test_unattended_nothing_is_made_up(newcomer: Newcomer, missing: str) -> None:
    """Where nobody is asked every value has its flag; a missing one is named, and nothing is made."""
    args = newcomer.unattended()
    at = args.index(missing)
    done = newcomer(*args[:at], *args[at + 2 :])
    assert done.exit_code == 3
    assert missing in done.stderr
    assert not newcomer.store.exists()
    assert set(snapshot(newcomer.home)) == {".claude.json"}


def test_a_passphrase_comes_from_a_terminal_or_a_private_file(newcomer: Newcomer) -> None:
    """Neither standard input nor a file that others may read gives it, and then nothing is made."""
    bare = [one for one in newcomer.unattended() if one not in newcomer.unlock]
    assert newcomer(*bare, given=f"{PASSPHRASE}\n{PASSPHRASE}\n").exit_code == 5
    assert newcomer(*bare, "--unattended", given=f"{PASSPHRASE}\n").exit_code == 3
    newcomer.secret.chmod(0o644)
    assert newcomer(*newcomer.unattended()).exit_code == 3
    assert not newcomer.store.exists()


def test_one_screen_at_the_terminal(newcomer: Newcomer) -> None:
    """Enter keeps every proposal, the passphrase is typed twice and never shown, and the undo is printed."""
    secret = [("characters): ", PASSPHRASE), ("again: ", PASSPHRASE)]
    screen = [*SCREEN, ("this up?", "y"), *secret]
    code, shown = answer(newcomer, newcomer.atlas, ["setup", "claude-code"], screen)
    assert code == 0, shown
    assert "[example.com/acme/atlas]" in shown
    assert "Undo: nsstore setup claude-code --undo" in shown
    assert PASSPHRASE not in shown
    told = {name: one["value"] for name, one in newcomer.json("scope")["values"].items()}
    assert (told["tenant"], told["project"]) == ("personal", "example.com/acme/atlas")
    assert told["store"] == str(newcomer.home / ".local/share/nsstore")
    assert newcomer.statements()[-1]["assurance"] == "passphrase"


def test_no_is_no(newcomer: Newcomer) -> None:
    """Whoever does not agree at the end has changed nothing."""
    before = snapshot(newcomer.home)
    screen = [*SCREEN, ("this up?", "n")]
    code, shown = answer(newcomer, newcomer.atlas, ["setup", "claude-code"], screen)
    assert code == 130
    assert "nothing is changed" in shown
    assert snapshot(newcomer.home) == before


def test_a_file_without_a_place_stops_it_first(newcomer: Newcomer) -> None:
    """Settings that are no JSON are named before anything is made."""
    (newcomer.home / ".claude").mkdir()
    (newcomer.home / ".claude/settings.json").write_text("{")
    done = newcomer(*newcomer.unattended())
    assert done.exit_code == 5
    assert "settings.json" in done.stderr
    assert not newcomer.store.exists()


def test_an_archive_proposes_and_gets_nothing(newcomer: Newcomer, monkeypatch: pytest.MonkeyPatch) -> None:
    """After setup, a repository that names the private remote is bound to nothing and says nothing."""
    newcomer.ok(*newcomer.unattended())
    monkeypatch.chdir(repository(newcomer.place / "evil", "git@example.com:acme/atlas.git"))
    values = newcomer.json("scope")["values"]
    assert {values[name]["source"] for name in ("project", "workspace", "branch", "baseline")} == {"missing"}


def test_work_trees_branches_and_merges(newcomer: Newcomer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Under the policy memory follows the history: onto a new branch, into a work tree, back by a merge."""
    newcomer.ok(*newcomer.unattended())
    first = newcomer.remember("on main")
    tree = newcomer.place / "tree"
    git(newcomer.atlas, "worktree", "add", "-q", "-b", "feature/x", str(tree))
    newcomer.ok("allow", str(tree), "--same-as", "atlas", "--unattended")
    monkeypatch.chdir(tree)
    (tree / "b").write_text("b")
    git(tree, "add", "b")
    git(tree, "commit", "-q", "-m", "b")
    assert newcomer("show", first).exit_code == 0
    second = newcomer.remember("on the branch")
    monkeypatch.chdir(newcomer.atlas)
    assert newcomer("show", second).exit_code == 4
    git(newcomer.atlas, "merge", "-q", "--no-ff", "-m", "m", "feature/x")
    assert newcomer("show", second).exit_code == 0


def test_home_is_no_checkout(newcomer: Newcomer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the store would lie inside the checkout, nothing is bound, and that is told."""
    monkeypatch.chdir(newcomer.home)
    args = newcomer.unattended()
    args[args.index("--store") + 1] = str(newcomer.home / "store")
    done = newcomer(*args)
    assert done.exit_code == 3
    assert "--no-checkout" in done.stderr
    at = args.index("--project")
    newcomer.ok(*args[:at], *args[at + 2 :], "--no-checkout")


def test_a_known_project_is_told_before_it_is_bound(newcomer: Newcomer) -> None:
    """Where Enter would let a clone read what is remembered already, the screen says what that means."""
    newcomer.ok(*newcomer.unattended())
    newcomer.ok("allow", "--end")
    newcomer.ok("allow", "--project", "example.com/acme/atlas", "--unattended")
    evil = repository(newcomer.place / "evil", "git@example.com:acme/atlas.git")
    screen = [("checkout [", ""), ("this up?", "n")]
    _, shown = answer(newcomer, evil, ["setup", "claude-code"], screen)
    assert "only if you trust this checkout" in " ".join(shown.split())
    _, shown = answer(newcomer, newcomer.atlas, ["setup", "claude-code"], [])
    assert "only if you trust this checkout" not in " ".join(shown.split())


@pytest.mark.parametrize("home", [".", "", "home"])
def test_a_relative_home_is_refused(newcomer: Newcomer, home: str) -> None:
    """Where HOME leads into the checkout, or nowhere, nothing is written, and it is named."""
    newcomer.env |= {"HOME": home, "NSSTORE_TRUST_HOME": str(newcomer.trust)}
    newcomer.env["NSSTORE_CONFIG"] = str(newcomer.place / "config.toml")
    before = snapshot(newcomer.atlas)
    done = newcomer(*newcomer.unattended())
    assert done.exit_code == 3
    assert "HOME must be an absolute path" in done.stderr
    assert snapshot(newcomer.atlas) == before
    assert not newcomer.store.exists()


def test_of_two_setups_at_once_both_end_well(newcomer: Newcomer) -> None:
    """Whoever comes second is not pointed at what gives rights up, and its key takes no other's place."""
    before = own(newcomer)
    env = {name: value for name, value in {**os.environ, **newcomer.env}.items() if value is not None}
    command = [sys.executable, "-m", "nsstore", *newcomer.unattended()]
    running = [subprocess.Popen(command, env=env, stderr=subprocess.PIPE, text=True) for _ in range(3)]
    told = [one.communicate(timeout=120)[1] for one in running]
    ends = [one.returncode for one in running]
    assert 0 in ends, told
    assert all("again" in text and "anew" not in text for text, code in zip(told, ends, strict=True) if code)
    newcomer.ok(*newcomer.unattended())
    assert [one["what"] for one in newcomer.statements()].count("owner") == 1
    newcomer.ok("owner", "revoke", "1", "--why", "over", *newcomer.unlock)
    newcomer.ok("setup", "claude-code", "--undo")
    assert own(newcomer) == before
