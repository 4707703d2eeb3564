"""A store with one fault: what it gets wrong, and which cases have to notice."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Final

import msgspec

from nsstore.harness.mutants.strict import Strict
from nsstore.harness.own import makes
from nsstore.harness.provider import Provider

Wrong = Callable[..., object]
"""Makes the faulty function of the real one."""


class Fault(msgspec.Struct, frozen=True, kw_only=True):
    """A place in the code of nsstore, as ``module:name`` or ``module:Class.name``, and what stands there."""

    at: str
    wrong: Wrong


class Mutant(msgspec.Struct, frozen=True, kw_only=True):
    """A leaky store by its name, what it ``breaks`` in one sentence, and the ``ids`` that must fail for it.

    It is nsstore itself with ``faults`` in it, or a ``plain`` store of a few lines. ``full`` says that a
    quick run has too little time to notice.
    """

    name: str
    breaks: str
    ids: frozenset[str]
    faults: tuple[Fault, ...] = ()
    plain: type[Strict] | None = None
    full: bool = False

    def makes(self, folder: str) -> Callable[[], Provider]:
        """What makes one new store after the other, beneath a folder if it needs one."""
        return self.plain if self.plain is not None else makes(folder)

    @contextmanager
    def at_work(self) -> Generator[None]:
        """Put the faults in their places, and what was there back again."""
        undone: list[tuple[object, str, object]] = []
        _forget_answers()
        try:
            for fault in self.faults:
                owner, name = _place(fault.at)
                real: object = vars(owner)[name]
                undone.append((owner, name, real))
                setattr(owner, name, fault.wrong(real))
            yield
        finally:
            for owner, name, real in reversed(undone):
                setattr(owner, name, real)
            _forget_answers()


MUTANTS: Final[dict[str, Mutant]] = {}


def caught_by(*ids: str, full: bool = False) -> Callable[[type[Strict]], type[Strict]]:
    """Note a plain store that leaks, and the cases that must fail for it."""

    def note(leaky: type[Strict]) -> type[Strict]:
        _note(f"plain.{_named(leaky)}", leaky.__doc__, ids, full=full, plain=leaky)
        return leaky

    return note


def fault_at(at: str, *ids: str, full: bool = False) -> Callable[[Wrong], Wrong]:
    """Note what makes a faulty function for one place of nsstore, and the cases that must fail with it."""

    def note(wrong: Wrong) -> Wrong:
        return faults_at({at: wrong}, *ids, full=full)(wrong)

    return note


def faults_at(places: dict[str, Wrong], *ids: str, full: bool = False) -> Callable[[Wrong], Wrong]:
    """As :func:`fault_at`, where one fault takes several places to be one."""

    def note(told: Wrong) -> Wrong:
        faults = tuple(Fault(at=at, wrong=wrong) for at, wrong in places.items())
        _note(f"own.{_named(told)}", told.__doc__, ids, full=full, faults=faults)
        return told

    return note


def _note(
    name: str,
    told: str | None,
    ids: tuple[str, ...],
    *,
    full: bool,
    faults: tuple[Fault, ...] = (),
    plain: type[Strict] | None = None,
) -> None:
    assert name not in MUTANTS, f"two mutants are called {name}"
    assert told, f"{name} does not say what it breaks"
    assert ids, f"{name} does not say what has to notice"
    MUTANTS[name] = Mutant(name=name, breaks=told, ids=frozenset(ids), faults=faults, plain=plain, full=full)


def _named(told: Wrong | type[Strict]) -> str:
    """What a mutant is called: by its own name, in small letters."""
    small = (f"_{one.lower()}" if one.isupper() else one for one in told.__name__)
    return "".join(small).strip("_").replace("__", "_")


def _forget_answers() -> None:
    """Let go of what functions of nsstore remember of their answers: with a fault these are others."""
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] == "nsstore":
            for one in list(vars(module).values()):
                forget: object = getattr(one, "cache_clear", None)
                if callable(forget):
                    forget()


def _place(at: str) -> tuple[object, str]:
    module, _, path = at.partition(":")
    owner: object = sys.modules[module]
    *outer, name = path.split(".")
    for one in outer:
        owner = getattr(owner, one)
    return owner, name
