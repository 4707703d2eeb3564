"""The user's configuration: strict, small, and theirs alone."""

import os
from pathlib import Path

import pytest

from nsstore.errors import InvalidInput, Refused
from nsstore.host.clients import CLAUDE_CODE, CODEX, edits_for
from nsstore.host.config import Configuration, config_path, parsed, read_configuration, spelled


def test_where_it_is(tmp_path: Path) -> None:
    """The variable, else the XDG directory, else ~/.config; never a path that is not absolute."""
    assert config_path({"NSSTORE_CONFIG": "/x/c.toml", "XDG_CONFIG_HOME": "/y"}) == "/x/c.toml"
    assert config_path({"XDG_CONFIG_HOME": "/y"}) == "/y/nsstore/config.toml"
    assert config_path({}).endswith("/.config/nsstore/config.toml")
    with pytest.raises(InvalidInput):
        config_path({"NSSTORE_CONFIG": "c.toml"})
    assert read_configuration({"NSSTORE_CONFIG": str(tmp_path / "none")}) == Configuration()


@pytest.mark.parametrize("path", ["/a b", '/"q"\\', "/é\t", "/\x7f", "/\U0001f600"])
def test_what_is_written_is_read(path: str) -> None:
    """Whatever a path holds, the file says the same when it is read."""
    whole = Configuration(store=path, tenant="acme", user="ada", agent="human", session="terminal")
    assert parsed(spelled(whole)) == whole


@pytest.mark.parametrize(
    "text",
    [
        'project = "atlas"', 'branch = "main"', "user = 1", "user = ['a']", 'user = ""', "[user]",
        "=", "\xff",
        'tenant = "a"\ngroup = "b"', 'store = "notes"', 'user = "a"\nuser = "b"', "[" * 9999,
    ],
)  # fmt: skip
def test_anything_else_is_refused(text: str) -> None:
    """A key that is not known, a value that is no text, an empty one, both of a pair: each is refused."""
    with pytest.raises(InvalidInput):
        parsed(text.encode("latin-1"))


@pytest.mark.parametrize("how", ["file", "folder", "owner"])
def test_a_configuration_of_others_is_not_obeyed(tmp_path: Path, how: str) -> None:
    """What somebody else wrote, or could have, is refused with the rule and the way out."""
    folder = tmp_path / "nsstore"
    folder.mkdir()
    file = folder / "config.toml"
    file.write_text('user = "eve"\n')
    file.chmod(0o644)
    assert read_configuration({"NSSTORE_CONFIG": str(file)}).user == "eve"
    if how == "owner":
        if os.geteuid() != 0:
            pytest.skip("only root can give a file away")
        os.chown(file, 65_534, -1)
    else:
        (file if how == "file" else folder).chmod(0o777)
    with pytest.raises(Refused, match=r"configuration must be yours or root's.*chmod go-w"):
        read_configuration({"NSSTORE_CONFIG": str(file)})


@pytest.mark.parametrize("home", ["", ".", "home"])
def test_a_home_is_an_absolute_path(monkeypatch: pytest.MonkeyPatch, home: str) -> None:
    """HOME that leads wherever a program stands, or nowhere, is named, and no path is made of it."""
    monkeypatch.setenv("HOME", home)
    with pytest.raises(InvalidInput, match="HOME must be an absolute path"):
        config_path({})
    assert config_path({"NSSTORE_CONFIG": "/x/c.toml"}) == "/x/c.toml"
    for client in (CLAUDE_CODE, CODEX):
        with pytest.raises(InvalidInput, match="HOME must be an absolute path"):
            edits_for(client, ["/x"], {"NSSTORE_CONFIG": "/x/c.toml"})
