"""Setup is undone byte for byte where nobody wrote since, else by what was added alone, else not at all."""

import json
import os
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

import nsstore
from nsstore.errors import InvalidInput, Refused
from nsstore.host import journal as journals
from nsstore.host.clients import CLAUDE_CODE, CLIENTS, CODEX, configuration_edit, edits_for
from nsstore.host.config import Configuration
from nsstore.host.journal import Entry, journal_of, planned, undo, write
from nsstore.root import Root
from nsstore.root.owned import replace_owned

PROGRAM = ["/opt/my tools/nsstore"]
FILES = {
    ".claude.json": '{"numStartups": 3, "projects": {"/x": {"mcpServers": {}}}, "oauth": "\\u00e9"}',
    ".claude/settings.json": '{\n  "hooks": {\n    "SessionStart": [{"hooks": []}]\n  },\n  "x": 1\n}\n',
    ".codex/config.toml": 'model = "x"  # mine\r\n\r\n[mcp_servers.other]\ncommand = "y"',
}


def places(home: Path) -> dict[str, str]:
    """Where things are of somebody with this home, who said nothing of the configuration."""
    return {
        "NSSTORE_CONFIG": f"{home}/.config/nsstore/config.toml",
        "NSSTORE_TRUST_HOME": os.environ["NSSTORE_TRUST_HOME"],
        "NSSTORE_CACHE_HOME": f"{os.environ['XDG_CACHE_HOME']}/nsstore",
    }


@pytest.fixture
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The home of somebody who uses both clients."""
    home = tmp_path / "user"
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    for name, text in FILES.items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_bytes(text.encode())
        (home / name).chmod(0o640)
    return home


@pytest.fixture
def trust(tmp_path: Path) -> Iterator[Root]:
    """The trust home of a store."""
    with nsstore.open(tmp_path / "kept" / "store", create=True) as store:
        yield store.trust.home


def snapshot(home: Path) -> dict[str, tuple[int, bytes | None]]:
    """Every file and directory of a home, with its mode and its bytes."""
    return {
        str(one.relative_to(home)): (one.stat().st_mode, one.read_bytes() if one.is_file() else None)
        for one in home.rglob("*")
    }


def set_up(trust: Root, client: str) -> tuple[Entry, ...]:
    """Write everything for a client."""
    entries = planned(edits_for(client, PROGRAM, {}))
    write(trust, client, entries)
    return entries


def take_back(trust: Root, client: str) -> list[str]:
    """Undo everything for a client."""
    journal = journal_of(trust, client)
    assert journal is not None
    return undo(trust, client, journal)


@pytest.mark.parametrize("client", [CLAUDE_CODE, CODEX])
def test_undo_is_byte_for_byte(user: Path, trust: Root, client: str) -> None:
    """Files, modes and directories are what they were; the journal is gone; nothing private is readable."""
    before = snapshot(user)
    entries = set_up(trust, client)
    assert snapshot(user) != before
    assert {Path(one.edit.path).stat().st_mode & 0o777 for one in entries if one.before} == {0o640}
    assert os.stat(f"{trust.path}/setup-{client}.json").st_mode & 0o777 == 0o600
    take_back(trust, client)
    assert snapshot(user) == before
    assert journal_of(trust, client) is None


def test_a_home_without_the_client_is_left_as_it_was(
    tmp_path: Path, trust: Root, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where no client ever ran, files and directories are made, and all are gone again."""
    monkeypatch.setenv("HOME", str(tmp_path / "fresh"))
    (tmp_path / "fresh").mkdir()
    for client in CLIENTS:
        set_up(trust, client)
    for client in CLIENTS:
        take_back(trust, client)
    assert snapshot(tmp_path / "fresh") == {}


def test_what_claude_code_reads(user: Path, trust: Root) -> None:
    """The server stands for the user, the hooks beside the others, the words quoted for a shell."""
    set_up(trust, "claude-code")
    servers = json.loads((user / ".claude.json").read_text())
    assert servers["mcpServers"]["nsstore"] == {
        "type": "stdio", "command": PROGRAM[0], "env": places(user),
        "args": ["mcp", "--client", "claude-code", "--agent", "claude-code"],
    }  # fmt: skip
    assert servers["projects"] == {"/x": {"mcpServers": {}}}
    hooks = json.loads((user / ".claude/settings.json").read_text())["hooks"]
    assert [len(hooks["SessionStart"]), len(hooks["SessionEnd"])] == [2, 1]
    command = hooks["SessionStart"][1]["hooks"][0]["command"]
    said = " ".join(f"{name}={place}" for name, place in places(user).items())
    assert command == f"env {said} '/opt/my tools/nsstore' hook claude-code start --agent claude-code"
    skill = (user / ".claude/skills/nsstore/SKILL.md").read_text()
    assert skill.startswith("---\nname: nsstore\ndescription: ")


def test_variables_that_say_where_things_are_go_along(user: Path) -> None:
    """A client started elsewhere, or under a checkout's variables, finds the user's places as they are."""
    environ = {"NSSTORE_TRUST_HOME": "/a b", "NSSTORE_USER": "xyzzy", "CLAUDE_CONFIG_DIR": f"{user}/c"}
    texts = [one.made(None).decode() for one in edits_for("claude-code", PROGRAM, environ)]
    assert json.loads(texts[0])["mcpServers"]["nsstore"]["env"]["NSSTORE_TRUST_HOME"] == "/a b"
    assert f"env NSSTORE_CONFIG={user}/.config/nsstore/config.toml 'NSSTORE_TRUST_HOME=/a b' " in texts[1]
    (codex,) = (one for one in edits_for("codex", PROGRAM, environ) if one.path.endswith(".toml"))
    server = tomllib.loads(codex.made(None).decode())["mcp_servers"]["nsstore"]
    assert server["env"] == places(user) | {"NSSTORE_TRUST_HOME": "/a b"}
    assert server["args"] == ["mcp", "--client", "codex", "--agent", "codex", "--session", "codex"]
    assert "xyzzy" not in "".join(texts)
    assert {one.path.startswith(f"{user}/c/") for one in edits_for("claude-code", PROGRAM, environ)} == {True}
    with pytest.raises(InvalidInput, match="CODEX_HOME"):
        edits_for("codex", PROGRAM, {"CODEX_HOME": "c"})


def test_a_second_setup_writes_nothing(user: Path, trust: Root) -> None:
    """What holds everything already is not written again."""
    assert user.is_dir()
    for client in CLIENTS:
        set_up(trust, client)
        assert planned(edits_for(client, PROGRAM, {})) == ()


def test_what_others_wrote_since_stays(user: Path, trust: Root) -> None:
    """A client that wrote its files anew keeps what it wrote; only what setup added goes."""
    for client in CLIENTS:
        set_up(trust, client)
    servers = json.loads((user / ".claude.json").read_text())
    servers["numStartups"] = 4
    (user / ".claude.json").write_text(json.dumps(servers))
    codex = user / ".codex/config.toml"
    codex.write_text("# new\n" + codex.read_bytes().decode() + '\n[mcp_servers.third]\ncommand = "z"\n')
    for client in CLIENTS:
        take_back(trust, client)
    expected = json.loads(FILES[".claude.json"])
    expected["numStartups"] = 4
    assert json.loads((user / ".claude.json").read_text()) == expected
    assert (user / ".claude/settings.json").read_bytes() == FILES[".claude/settings.json"].encode()
    assert "nsstore" not in codex.read_text()
    assert "third" in codex.read_text()


@pytest.mark.parametrize(
    ("client", "name", "change"),
    [
        ("claude-code", ".claude.json", ('"mcp"', '"mcp", "-v"')),
        ("claude-code", ".claude/settings.json", ("claude-code start", "claude-code start -v")),
        ("claude-code", ".claude/settings.json", ("{", "{{")),
        ("claude-code", ".claude/skills/nsstore/SKILL.md", ("Notes are advice", "Notes are law")),
        ("codex", ".codex/config.toml", ('args = ["mcp"', 'args = ["-v", "mcp"')),
    ],
)
def test_what_was_changed_is_not_undone(
    user: Path, trust: Root, client: str, name: str, change: tuple[str, str]
) -> None:
    """One file that cannot be told apart, and nothing at all is written; file and remedy are named."""
    old, new = change
    set_up(trust, client)
    (user / name).write_bytes((user / name).read_bytes().replace(old.encode(), new.encode(), 1))
    before = snapshot(user)
    with pytest.raises(Refused, match=name) as refused:
        take_back(trust, client)
    assert refused.value.reason == "changed_since"
    assert snapshot(user) == before
    (user / name).write_bytes((user / name).read_bytes().replace(new.encode(), old.encode(), 1))
    take_back(trust, client)
    assert journal_of(trust, client) is None


def test_a_file_that_was_removed_since_stays_away(user: Path, trust: Root) -> None:
    """What somebody removed, file or entry, is not brought back."""
    set_up(trust, "claude-code")
    (user / ".claude/settings.json").unlink()
    servers = json.loads((user / ".claude.json").read_text())
    del servers["mcpServers"]
    (user / ".claude.json").write_text(json.dumps(servers))
    take_back(trust, "claude-code")
    assert not (user / ".claude/settings.json").exists()
    assert json.loads((user / ".claude.json").read_text()) == servers


def test_a_setup_that_was_cut_short_is_undone(
    user: Path, trust: Root, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After any file, what was written until then goes back to what it was."""
    before = snapshot(user)
    done: list[str] = []

    def stop(path: str, raw: bytes, old: bytes | None, what: str) -> None:
        if len(done) == limit:
            raise KeyboardInterrupt
        done.append(path)
        real(path, raw, old, what)

    real = replace_owned
    for limit in range(3):  # noqa: B007 - `stop` reads it
        done.clear()
        monkeypatch.setattr(journals, "replace_owned", stop)
        with pytest.raises(KeyboardInterrupt):
            set_up(trust, "claude-code")
        monkeypatch.setattr(journals, "replace_owned", real)
        take_back(trust, "claude-code")
        assert snapshot(user) == before


def test_a_link_stays_a_link(user: Path, trust: Root) -> None:
    """Settings that are kept elsewhere and linked to are written where they are, and put back there."""
    kept = user / "dotfiles.json"
    (user / ".claude/settings.json").rename(kept)
    (user / ".claude/settings.json").symlink_to(kept)
    set_up(trust, "claude-code")
    assert (user / ".claude/settings.json").is_symlink()
    assert "SessionEnd" in kept.read_text()
    take_back(trust, "claude-code")
    assert kept.read_bytes() == FILES[".claude/settings.json"].encode()


def test_the_other_client_keeps_the_configuration(user: Path, trust: Root) -> None:
    """What both need goes only with the second one, and then it is as before the first."""
    environ = {"NSSTORE_CONFIG": f"{user}/nsstore.toml"}
    before = snapshot(user)
    for client in CLIENTS:
        own = configuration_edit(Configuration(tenant="acme", user="ada"), environ)
        edits = edits_for(client, PROGRAM, {})
        write(trust, client, planned([*edits, *([own] if own is not None else [])]))
    for client in CLIENTS:
        assert (user / "nsstore.toml").exists()
        journal = journal_of(trust, client)
        assert journal is not None
        undo(trust, client, journal, shared=[f"{user}/nsstore.toml"])
    assert snapshot(user) == before


def test_a_configuration_is_added_to(user: Path) -> None:
    """What the user set stays; what is missing is added; what says something else is refused."""
    environ = {"NSSTORE_CONFIG": f"{user}/nsstore.toml"}
    (user / "nsstore.toml").write_text('user = "ada" # me')
    edit = configuration_edit(Configuration(tenant="acme", user="ada"), environ)
    assert edit is not None
    new = edit.made((user / "nsstore.toml").read_bytes())
    assert new.startswith(b'user = "ada" # me\n')
    assert new.endswith(b'tenant = "acme"\n')
    with pytest.raises(InvalidInput, match="user"):
        configuration_edit(Configuration(user="eve"), environ)


def test_a_file_that_changes_meanwhile_is_not_overwritten(user: Path, trust: Root) -> None:
    """Between the plan and the write somebody else wrote: theirs stays, and it is told."""
    entries = planned(edits_for("claude-code", PROGRAM, {}))
    (user / ".claude/settings.json").write_text("{}")
    with pytest.raises(Refused, match="meanwhile"):
        write(trust, "claude-code", entries)
    assert (user / ".claude/settings.json").read_text() == "{}"
    take_back(trust, "claude-code")
    assert (user / ".claude.json").read_bytes() == FILES[".claude.json"].encode()


def test_what_another_setup_keeps_is_not_overwritten(user: Path, trust: Root) -> None:
    """Of two setups that were planned at once the second one changes nothing, and is told what to do."""
    before = snapshot(user)
    first = planned(edits_for("claude-code", PROGRAM, {}))
    second = first[1:]
    write(trust, "claude-code", first)
    after = snapshot(user)
    with pytest.raises(Refused, match="run it again") as refused:
        write(trust, "claude-code", second)
    assert refused.value.retryable
    assert snapshot(user) == after
    take_back(trust, "claude-code")
    assert snapshot(user) == before


def test_a_dangling_link_is_put_back(user: Path, trust: Root) -> None:
    """Settings that were a link to nothing are that again: the file that was made goes, the link stays."""
    (user / ".claude.json").unlink()
    (user / ".claude.json").symlink_to("elsewhere/claude.json")
    set_up(trust, "claude-code")
    assert "nsstore" in (user / "elsewhere" / "claude.json").read_text()
    take_back(trust, "claude-code")
    assert (user / ".claude.json").is_symlink()
    assert not (user / "elsewhere").exists()
