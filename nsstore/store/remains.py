"""What is left of a damaged store: plain files by their names, and what is known of its chains."""

from __future__ import annotations

from functools import cached_property

from nsstore import layout
from nsstore.errors import EscapeError, InvalidInput, SystemFailure
from nsstore.root import NOT_OURS, Dir, File, Root
from nsstore.store.namespaces import Known, survey_names
from nsstore.store.survey import Place
from nsstore.trust import Anchor, Anchors, Keys, NoValidSlot, cells_by_name
from nsstore.trust.cells import decode_cell
from nsstore.trust.stock import Stock

Tenant = tuple[str, str]


class Remains:
    """Reads what is left of a store, and nothing through a link.

    What is no file or directory of its own stays where it is, followed by nobody, and is among
    ``passed_by``. ``home`` is the trust home of this machine, if it has one for the store.
    """

    def __init__(self, root: Root, home: Root | None, stock: Stock, keys: Keys) -> None:
        self._root = root
        self._home = home
        self._stock = stock
        self._keys = keys
        self.passed_by: list[str] = []

    def close(self) -> None:
        """Let go of every descriptor."""
        self._root.close()
        if self._home is not None:
            self._home.close()

    @cached_property
    def known(self) -> Known:
        """The namespaces and audits that its names show."""
        return survey_names(self._root)

    def file(self, path: str) -> File | None:
        """The file of a name, or ``None`` for none."""
        try:
            return self._root.open_file(path)
        except (EscapeError, SystemFailure) as err:
            self._pass_by(path, err)
        return None

    def folder(self, path: str) -> Dir | None:
        """The directory of a name, or ``None`` for none."""
        try:
            return self._root.dir(path)
        except (EscapeError, SystemFailure) as err:
            self._pass_by(path, err)
        return None

    def tenant(self, component: str) -> Tenant | None:
        """Whose a component is; where the id is too long for a path, a namespace has to say so."""
        try:
            found = layout.decode("tenant", component)
        except InvalidInput:
            return None
        tenants = (ns.tenant for ns in self.known.namespaces)
        return found or next((one for one in tenants if layout.encode(*one) == component), None)

    def head_of(self, place: Place) -> Anchor | None:
        """The newest head that this machine knows of a chain, or else the backup. Raises NoValidSlot."""
        if self._home is not None:
            found = Anchors(self._home, self._keys).read(place.anchors, place.chain)
            if found is not None:
                return found
        for file in self._stock.anchors:
            cell = cells_by_name(file.cells).get(place.chain.name) if file.path == place.anchors else None
            if cell is not None:
                anchor = decode_cell(self._keys, place.chain, cell)
                if anchor is None:
                    raise NoValidSlot
                return anchor
        return None

    def _pass_by(self, path: str, err: EscapeError | SystemFailure) -> None:
        if isinstance(err, SystemFailure) and err.errno not in NOT_OURS:
            raise err
        if path not in self.passed_by:
            self.passed_by.append(path)
