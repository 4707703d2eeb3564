"""Paging through a session while it changes."""

import pytest

from nsstore.exchange import paging
from nsstore.exchange.paging import every
from tests.exchange.conftest import Place


def test_each_record_comes_once(at: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """Newest first, page by page, each record comes once."""
    monkeypatch.setattr(paging, "PAGE", 3)
    for number in range(10):
        at.session.remember(str(number))
    found = [one.text for one in every(at.session, include_superseded=True)]
    assert found == [str(number) for number in reversed(range(10))]


@pytest.mark.parametrize("gone", [3, 4, 5, 7, 8])
def test_what_is_forgotten_meanwhile_takes_nothing_else(
    at: Place, monkeypatch: pytest.MonkeyPatch, gone: int
) -> None:
    """A record that goes while the pages are read, even one where a page ended, hides no other."""
    monkeypatch.setattr(paging, "PAGE", 2)
    ids = [at.session.remember(str(number)).record_id for number in range(10)]
    found: list[str] = []
    for one in every(at.session, include_superseded=True):
        found.append(one.text)
        if len(found) == 6:
            at.session.forget(ids[gone])
    expected = [str(number) for number in reversed(range(10)) if number != gone or number > 3]
    assert found == expected
