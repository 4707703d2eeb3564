"""One person's store has one owner's key, however many set it up at once."""

from pathlib import Path

import pytest

import nsstore
from nsstore.errors import Refused
from nsstore.host.personal import has_owner, make_owner
from nsstore.rights import Assurance
from nsstore.trust.owner import KEY_FILE


def test_the_slower_of_two_keeps_its_hands_off_the_key(tmp_path: Path) -> None:
    """Who comes second is told to run setup again: the key of the first stays, and nothing is given up."""
    with nsstore.open(tmp_path / "kept" / "store", create=True) as store:
        assert not has_owner(store)
        make_owner(store, "ada", Assurance.FILE, "correct horse")
        key = store.trust.home.read(KEY_FILE, 10_000)
        with pytest.raises(Refused, match="run it again") as refused:
            make_owner(store, "ada", Assurance.FILE, "battery staple")
        assert "anew" not in str(refused.value)
        assert store.trust.home.read(KEY_FILE, 10_000) == key
