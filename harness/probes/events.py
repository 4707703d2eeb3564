"""Looking for events in what a provider audited."""

from __future__ import annotations

from collections.abc import Mapping

from nsstore.harness.provider import Audited
from nsstore.harness.witness import Unproven, Witnessed

Happened = Mapping[str, object]


def require_event(provider: Witnessed, name: Audited | str | None, since: int = 0) -> tuple[Happened, ...]:
    """The events of a name behind the first ``since``; but that of a search each says why.

    Of a provider that tells no events nothing is asked. Raises :class:`Unproven` if there are none.
    """
    if "audits" not in provider.abilities:
        return ()
    assert name is not None, "a case about the audit says what it has to tell"
    wanted = Audited(name)
    found = [one for one in provider.audited()[since:] if one.get("event") == wanted.value]
    if not found:
        raise Unproven(f"the audit does not tell of it: no event {wanted.value}")
    if wanted is not Audited.SEARCHED and not all(one.get("reason") for one in found):
        raise Unproven(f"the audit tells of it without a reason: {wanted.value}")
    return tuple(found)
