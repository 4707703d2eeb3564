"""What a repository could bring along for a client to set: it widens nothing of who asks.

Clients set the variables that settings checked into a repository name, for the hooks and servers that they
start. So where a client's name is given, the scope is what its user's own settings say as flags, the
configuration, the bound checkout and git. A variable may name the session, or lower the clearance; any other
has to say what holds anyway. And no place of the user's own may lie in the checkout itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from nsstore.errors import InvalidInput, Refused
from nsstore.host.config import VARIABLE, WHAT, config_path
from nsstore.host.git import top_of
from nsstore.host.inference import NAMES, PAIRS, STORE, Inferred, variable
from nsstore.root import real_path
from nsstore.root.links import lies_in
from nsstore.root.owned import own_home
from nsstore.search.home import VARIABLE as CACHE_VARIABLE
from nsstore.search.home import base as cache_base
from nsstore.trust.home import VARIABLE as TRUST_VARIABLE
from nsstore.trust.home import WHAT as TRUST_WHAT
from nsstore.trust.home import base

NARROW: Final = frozenset({"session", "conversation"})
LOWEST: Final = "public"
DEFAULTS: Final = {"clearance": "internal", "purpose": "recall"}
"""What holds where nobody says otherwise."""
OTHERWISE: Final = (
    "{} says otherwise than the user's own settings, the checkout and git, and with a client no variable"
    " counts against these, since a repository can set it: unset it, or let the user give a flag in the"
    " client's own settings"
)
IGNORED: Final = (
    "; {} does not count here, since a repository can set it: the user gives a flag in the client's own"
    " settings"
)
INSIDE: Final = (
    "{} lies in the checkout itself, where a repository could bring it along: keep it elsewhere. {}, HOME and"
    " XDG_{}_HOME say where"
)


def uncarried(environ: Mapping[str, str]) -> Mapping[str, str]:
    """The variables without those of the scope and the store, but for what narrows and what is empty."""
    dropped = {variable(name) for name in NAMES if _is_carried(name, environ)}
    return {name: value for name, value in environ.items() if name not in dropped} if dropped else environ


def ignored(missing: Iterable[str], environ: Mapping[str, str]) -> str:
    """Which variables would say what is missing, and why they do not; empty if there are none."""
    names = [variable(one) for name in missing for one in (name, PAIRS.get(name, "")) if one]
    found = ", ".join(name for name in names if name in environ)
    return IGNORED.format(found) if found else ""


def require_same(known: Inferred, flags: Mapping[str, str | None], environ: Mapping[str, str]) -> None:
    """Refuse a variable that says otherwise than what is known without it. Raises :class:`InvalidInput`."""
    for name in NAMES:
        said = any(flags.get(one) is not None for one in (name, PAIRS.get(name, "")))
        if said or not _is_carried(name, environ):
            continue
        value, holds = environ[variable(name)], known[name] or DEFAULTS.get(name)
        if name == STORE and holds is not None:
            value, holds = real_path(value), real_path(holds)
        if value != holds:
            raise InvalidInput(OTHERWISE.format(variable(name)))


def require_apart(directory: str, environ: Mapping[str, str]) -> None:
    """Refuse a place of the user's own in the checkout around a directory, whoever bound it or not.

    The user's home may be one: no repository has that in it. Raises :class:`Refused`.
    """
    top = top_of(directory)
    home = own_home()
    if home is not None and lies_in(home, top):
        return
    for place, what, name, kind in (
        (config_path(environ), WHAT, VARIABLE, "CONFIG"),
        (base(None), TRUST_WHAT, TRUST_VARIABLE, "STATE"),
        (cache_base(), "the cache home", CACHE_VARIABLE, "CACHE"),
    ):
        if lies_in(place, top):
            raise Refused(INSIDE.format(what, name, kind), reason="in_checkout")


def _is_carried(name: str, environ: Mapping[str, str]) -> bool:
    value = environ.get(variable(name), "")
    return bool(value) and name not in NARROW and (name, value) != ("clearance", LOWEST)
