"""The user's configuration: strict, small, and theirs alone."""

from pathlib import Path

import pytest

from nsstore.errors import InvalidInput
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
