"""A folder to import, a store beside it, and a session of it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from bench.world import Who, World, quick_place, unflushed
from nsstore import OpenStore, Session
from nsstore.exchange.import_folder import FolderReport, ImportFolder
from nsstore.root.named_folder import NamedFolder


class Place:
    """A store, a session of it, and a folder named ``vault``."""

    def __init__(self, place: Path, store: OpenStore) -> None:
        self.place = place
        self.vault = place / "vault"
        self.vault.mkdir()
        self.store = store
        self.session = Who().bind(store)

    def put(self, path: str, raw: bytes | str) -> Path:
        """A file of the vault, its folders made."""
        file = self.vault / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(raw.encode() if isinstance(raw, str) else raw)
        return file

    def take(
        self,
        session: Session | None = None,
        *,
        folder: Path | None = None,
        name: str = "vault",
        dry_run: bool = False,
        update: bool = False,
        encoding: str | None = None,
    ) -> FolderReport:
        """Import the vault, or another folder, into the session."""
        run = ImportFolder(
            self.store, session or self.session, name, dry_run=dry_run, update=update, encoding=encoding
        )
        with NamedFolder(str(folder or self.vault), "the folder") as opened:
            return run.run(opened, lambda _done, _total: None)

    def texts(self, session: Session | None = None) -> list[str]:
        """The current texts of the session, oldest first."""
        return [one.text for one in reversed((session or self.session).list(limit=1000).items)]


@pytest.fixture
def at() -> Iterator[Place]:
    """A place of its own for each test."""
    with quick_place() as place, unflushed(), World(place=place).make() as store:
        yield Place(place, store)
