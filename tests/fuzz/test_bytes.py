"""Any bytes in any file of root or trust home: the old answer, or one of the known kinds of error."""

import os
import shutil
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bench.attacks import AREAS, copied, remove
from bench.house import House, answers, reads, warm
from nsstore import Listing, OpenStore, StoreError
from nsstore.errors import KINDS

Change = Callable[[list[Path]], None]
numbers = st.integers(0, 2**32)


class Pristine:
    """A furnished store as it was, to be put back after each example."""

    def __init__(self, house: House) -> None:
        self.house = house
        with house.world.open() as store:
            self.before = warm(store, house)
        self.copies = [(copied(house, path), path) for path in (house.world.root, house.home)]

    def restore(self) -> None:
        """Put every byte back, in directories of the same identity."""
        for copy, path in self.copies:
            for old in path.iterdir():
                remove(old)
            for one in copy.iterdir():
                target = path / one.name
                shutil.copytree(one, target) if one.is_dir() else shutil.copy2(one, target)

    def files(self, top: Path) -> list[Path]:
        """Every file, in a fixed order."""
        return sorted(path for path in top.rglob("*") if path.is_file() and not path.is_symlink())


@pytest.fixture(scope="module")
def pristine(house: House) -> Iterator[Pristine]:
    """The store before any example."""
    made = Pristine(house)
    yield made
    made.restore()


def spot(path: Path, at: int) -> int:
    """A position in a file."""
    return at % max(1, path.stat().st_size)


def flip(which: int, at: int, bits: int) -> Change:
    """Change bits of one byte."""

    def change(files: list[Path]) -> None:
        path = files[which % len(files)]
        raw = bytearray(path.read_bytes() or b"\0")
        raw[at % len(raw)] ^= bits % 255 + 1
        path.write_bytes(raw)

    return change


def truncate(which: int, at: int) -> Change:
    """Cut a file anywhere."""

    def change(files: list[Path]) -> None:
        path = files[which % len(files)]
        os.truncate(path, spot(path, at))

    return change


def append(which: int, raw: bytes) -> Change:
    """Add bytes to a file."""

    def change(files: list[Path]) -> None:
        with files[which % len(files)].open("ab") as file:
            file.write(raw)

    return change


def insert(which: int, at: int, raw: bytes) -> Change:
    """Put bytes into a file."""

    def change(files: list[Path]) -> None:
        path = files[which % len(files)]
        old, cut = path.read_bytes(), spot(path, at)
        path.write_bytes(old[:cut] + raw + old[cut:])

    return change


def swap(one: int, other: int) -> Change:
    """Exchange two files."""

    def change(files: list[Path]) -> None:
        left, right = files[one % len(files)], files[other % len(files)]
        raw = left.read_bytes()
        left.write_bytes(right.read_bytes())
        right.write_bytes(raw)

    return change


def delete(which: int) -> Change:
    """Remove a file."""

    def change(files: list[Path]) -> None:
        files.pop(which % len(files)).unlink()

    return change


def duplicate(one: int, other: int, name: str) -> Change:
    """Copy a file beside another one, under a new name."""

    def change(files: list[Path]) -> None:
        copy = files[other % len(files)].parent / name
        copy.write_bytes(files[one % len(files)].read_bytes())
        copy.chmod(0o600)

    return change


def overwrite(which: int, raw: bytes) -> Change:
    """Put other bytes in the place of a file's."""

    def change(files: list[Path]) -> None:
        files[which % len(files)].write_bytes(raw)

    return change


names = st.sampled_from(
    ["019a2b3c-4d5e-7f60-8123-456789abcdef.md", "notes.txt", "s-1.log", "2030-01.jsonl", ".x", "keys.json.1"]
)
changes = st.lists(
    st.one_of(
        st.builds(flip, numbers, numbers, numbers),
        st.builds(truncate, numbers, numbers),
        st.builds(append, numbers, st.binary(min_size=1, max_size=600)),
        st.builds(insert, numbers, numbers, st.binary(min_size=1, max_size=9)),
        st.builds(swap, numbers, numbers),
        st.builds(delete, numbers),
        st.builds(duplicate, numbers, numbers, names),
        st.builds(overwrite, numbers, st.binary(max_size=300)),
    ),
    min_size=1,
    max_size=3,
)


def known(call: Callable[[], object]) -> object:
    """The result of a call, or the error if it is of a known kind."""
    try:
        return call()
    except StoreError as err:
        if type(err) not in KINDS:
            raise AssertionError(f"not a known kind: {err!r}") from err
        return err


def require_old_or_refused(pristine: Pristine, store: OpenStore) -> None:
    """Every verb of every scope gives the old answer or an error."""
    for found, old in pristine.before.items():
        session = found.who.bind(store)
        for area in AREAS:
            for verb, read in reads(session, found, area).items():
                answer = known(read)
                assert answer == old[verb] or isinstance(answer, StoreError), (found.who, verb, answer)


def require_writes(pristine: Pristine, store: OpenStore) -> None:
    """After one more write, every scope gives what it had and this one, or an error."""
    for found in pristine.before:
        session = found.who.bind(store)
        written = known(partial(session.remember, "one more quartz"))
        listed = known(partial(session.list, include_superseded=True))
        if isinstance(listed, Listing) and not isinstance(written, StoreError):
            assert [one.text for one in listed.items].count("one more quartz") == 1
            assert len(listed.items) == len(found.records) + 1


PROFILE = settings.get_profile(settings.get_current_profile_name())


# Each example writes a whole store: a third of the usual number.
@settings(max_examples=PROFILE.max_examples // 3, suppress_health_check=[HealthCheck.too_slow])
@given(top=st.sampled_from(["root", "root", "root", "trust"]), changed=changes)
def test_old_answers_or_known_errors(pristine: Pristine, top: str, changed: list[Change]) -> None:
    """Nothing is ever answered that was not written, warm or cold, and nothing ends in another exception."""
    house = pristine.house
    pristine.restore()
    store = house.world.open()
    try:
        for found in pristine.before:
            answers(found.who.bind(store), found)
        files = pristine.files(house.world.root if top == "root" else house.home)
        for change in changed:
            change(files)
        require_old_or_refused(pristine, store)
        fresh = known(house.world.open)
        if isinstance(fresh, OpenStore):
            require_old_or_refused(pristine, fresh)
            require_writes(pristine, fresh)
            known(fresh.close)
    finally:
        known(store.close)
