"""Which namespaces and audits the disk of a store shows, by the names of its directories and ledgers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import msgspec

from nsstore import layout
from nsstore.errors import InvalidInput, StoreError
from nsstore.root import Root
from nsstore.scope import Area, Namespace

LEVELS: Final[dict[Area, tuple[str, ...]]] = {
    "memory": ("tenant", "user", "project", "session"),
    "state": ("tenant", "project", "workspace"),
}
MAX_LINE: Final = 64 * 1024
NOT_A_FOLDER: Final = "something that is no directory of the store stands where only those stand"
NO_NAME: Final = "a directory whose name is no id's"
UNNAMED: Final = "a namespace whose ledger does not say which it is"


class _First(msgspec.Struct):
    """What a first ledger line says of its ids; proven when the ledger is read."""

    ids: tuple[tuple[str, str], ...]


class Known(msgspec.Struct, kw_only=True):
    """Every namespace and audit that the disk shows, and the names that are neither, with what they are."""

    namespaces: tuple[Namespace, ...]
    audits: frozenset[str]
    strays: tuple[tuple[str, str], ...]


def survey_names(root: Root, tenant: tuple[str, str] | None = None) -> Known:
    """Read the names of a root. One that is no id's, or does not open, is a stray, and hides no other.

    With a ``tenant`` only what is below it is looked at.
    """
    only = None if tenant is None else layout.encode(*tenant)
    namespaces: set[Namespace] = set()
    strays: set[tuple[str, str]] = set()
    for area, levels in LEVELS.items():
        shown = {*_leaves(root, area, levels, strays, only), *_ledgers(root, area, levels, strays, only)}
        for components in sorted(shown):
            try:
                ns = named(root, area, components)
            except StoreError as err:
                strays.add((f"ledger/{area}/{'/'.join(components)}.log", str(err)))
                continue
            if ns is None:
                strays.add((f"ledger/{area}/{'/'.join(components)}.log", UNNAMED))
            else:
                namespaces.add(ns)
    audits = {components[0] for components in _leaves(root, "audit/tenants", ("tenant",), strays, only)}
    return Known(
        namespaces=tuple(sorted(namespaces, key=lambda ns: (ns.area, ns.dimensions))),
        audits=frozenset(audits),
        strays=tuple(sorted(strays)),
    )


def _leaves(
    root: Root, path: str, levels: tuple[str, ...], strays: set[tuple[str, str]], only: str | None = None
) -> Iterator[tuple[str, ...]]:
    """The directories of these levels below ``path``, as components; a name that is no id's is a stray.

    ``only`` is the one name of the first level that is looked at, if not all are.
    """
    try:
        folder = root.dir(path)
        if folder is None:
            return
        with folder:
            folders, names = folder.folders(), folder.names()
    except StoreError as err:
        strays.update(_closed(root, path, err))
        return
    strays.update((f"{path}/{name}", NOT_A_FOLDER) for name in set(names) - set(folders))
    for name in folders if only is None else {only}.intersection(folders):
        try:
            layout.decode(levels[0], name)
        except InvalidInput:
            strays.add((f"{path}/{name}", NO_NAME))
            continue
        if len(levels) == 1:
            yield (name,)
            continue
        for rest in _leaves(root, f"{path}/{name}", levels[1:], strays):
            yield (name, *rest)


def _closed(root: Root, path: str, err: StoreError) -> Iterator[tuple[str, str]]:
    """The directory that does not open: this one, or one above it; nothing if it is not there at all."""
    above, _, name = path.rpartition("/")
    if above:
        try:
            folder = root.dir(above)
            if folder is None:
                return
            with folder:
                if name not in folder.names():
                    return
        except StoreError as higher:
            yield from _closed(root, above, higher)
            return
    yield path, str(err)


def _ledgers(
    root: Root, area: Area, levels: tuple[str, ...], strays: set[tuple[str, str]], only: str | None
) -> Iterator[tuple[str, ...]]:
    """The namespaces that have a ledger file, as components."""
    for components in _leaves(root, f"ledger/{area}", levels[:-1], strays, only):
        path = "/".join(("ledger", area, *components))
        try:
            folder = root.dir(path)
            if folder is None:
                continue
            with folder:
                names = folder.names()
        except StoreError as err:
            strays.add((path, str(err)))
            continue
        for name in names:
            if name.endswith(".log"):
                yield (*components, name.removesuffix(".log"))


def named(root: Root, area: Area, components: tuple[str, ...]) -> Namespace | None:
    """The namespace of a path; where an id is too long for a path, its ledger says which.

    Raises :class:`InvalidInput` for components that no ids have, or what kept a ledger from opening.
    """
    pairs = [layout.decode(level, one) for level, one in zip(LEVELS[area], components, strict=True)]
    if None in pairs:
        file = root.open_file(f"ledger/{area}/{'/'.join(components)}.log")
        if file is None:
            return None
        with file:
            raw = file.read_at(0, MAX_LINE).partition(b"\n")[0]
        try:
            pairs = list(msgspec.json.decode(raw, type=_First).ids)
        except (msgspec.MsgspecError, RecursionError):
            return None
    found = Namespace(area=area, dimensions=tuple(pair for pair in pairs if pair is not None))
    return found if layout.record_dir(found) == "/".join((area, *components)) else None
