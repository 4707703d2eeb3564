"""A provider by its name, as a person gives it: ``module:factory``, or nsstore itself."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from importlib.metadata import EntryPoint
from typing import Final, cast

from nsstore.errors import InvalidInput
from nsstore.harness.provider import Provider
from nsstore.root.scratch import scratch

OWN: Final = "nsstore"
NAMED: Final = "a provider is named as module:factory, as in adapter:make"
ASKED: Final = ("scope_properties", "remember", "search", "close")
"""What every provider has."""


@contextmanager
def provider_of(name: str) -> Generator[Callable[[], Provider]]:
    """What makes new and empty providers of this name; what nsstore itself needs for it is gone afterwards.

    Raises :class:`InvalidInput` for a name that leads to none, and says what is in the way.
    """
    if name != OWN:
        yield _checked(name, _loaded(name))
        return
    from nsstore.harness.own import makes  # noqa: PLC0415 - a whole store, only where it is tried

    with scratch("accept") as folder:
        yield makes(folder)


def _loaded(name: str) -> Callable[[], object]:
    """The factory itself, looked up as an entry point of a package would be."""
    try:
        point = EntryPoint(name="provider", value=name, group="nsstore")
        module = point.module
    except (AttributeError, ValueError):
        raise InvalidInput(NAMED) from None
    if not point.attr:
        raise InvalidInput(NAMED)
    try:
        found: object = point.load()
    except ModuleNotFoundError as err:
        if err.name is None or not f"{module}.".startswith(f"{err.name}."):
            raise InvalidInput(f"{module} needs a module that is not here: {err.name}") from None
        raise InvalidInput(f"there is no module {module}, neither installed nor in this directory") from None
    except AttributeError:
        raise InvalidInput(f"{module} has no {point.attr}") from None
    except Exception as err:  # noqa: BLE001 - somebody else's module may raise anything
        raise InvalidInput(f"{module} could not be imported: {type(err).__name__}: {err}") from None
    if not callable(found):
        raise InvalidInput(f"{name} must be a function or a class that makes a provider")
    return cast("Callable[[], object]", found)


def _checked(name: str, make: Callable[[], object]) -> Callable[[], Provider]:
    """The factory, if what it makes is a provider: one is made, looked at and closed."""
    try:
        made = make()
    except Exception as err:  # noqa: BLE001 - somebody else's factory may raise anything
        raise InvalidInput(f"{name} made nothing: {type(err).__name__}: {err}") from None
    lacks = [method for method in ASKED if not callable(getattr(made, method, None))]
    if lacks:
        raise InvalidInput(f"{name} made a {type(made).__name__}, which has no {' and no '.join(lacks)}")
    cast("Provider", made).close()
    return cast("Callable[[], Provider]", make)
