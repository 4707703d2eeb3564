"""What `check` says first: the file that has to be put back, and how; and what it says of the rest."""

from collections.abc import Callable

import pytest

from tests.cli.conftest import Person
from tests.cli.test_check_verb import LEDGER, delete_ledger, empty_anchors, flip, forge_ledger_line


@pytest.mark.parametrize(
    ("harm", "file", "remedy"),
    [
        (flip, "memory/acme/ada/atlas/monday/", "mode 0600"),
        (delete_ledger, LEDGER, "mode 0600"),
        (forge_ledger_line, LEDGER, "mode 0600"),
        (empty_anchors, "memory/acme/ada/atlas/monday", "anchors/memory/acme/ada/atlas.anchors"),
    ],
    ids=lambda one: getattr(one, "__name__", None),
)
def test_the_cause_comes_first(
    person: Person, harm: Callable[[Person], None], file: str, remedy: str
) -> None:
    """The first finding is the file that has to be put back, with what to do; many kept out are one line."""
    for number in range(6):
        person.remember(f"more {number}")
    harm(person)
    first, *others = person.json("check")["findings"]
    assert first["path"].startswith(file)
    assert remedy in first["remedy"]
    shown = person("check").stdout.partition("\n\n")[2]
    assert shown.startswith(f"{first['kind']}: {first['path']}: ")
    assert remedy in shown.splitlines()[1]
    kept_out = [one for one in others if one["what"] == "kept out, never read"]
    if harm is delete_ledger:
        assert len(kept_out) > 5
        assert f"{len(kept_out)} names kept out, never read" in shown
    assert shown.count("kept out") <= 2


def test_what_is_put_back_proves_again(person: Person) -> None:
    """A namespace that lost its ledger opens again with the file that the first finding names."""
    person.remember("one")
    raw = (person.store / LEDGER).read_bytes()
    delete_ledger(person)
    done = person("list")
    assert done.exit_code == 6
    assert "`nsstore check` names what to put back" in done.stderr
    path = person.store / person.json("check")["findings"][0]["path"]
    path.write_bytes(raw)
    path.chmod(0o600)
    assert person("check").exit_code == 0
