"""Settings that hold for every test."""

import os
from collections.abc import Iterator

import pytest
from hypothesis import settings

from bench import keeping
from bench.gated import green

# No deadline: a shared machine is slow now and then, and a slow example is not a wrong one.
settings.register_profile("local", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, database=None, print_blob=True)
settings.register_profile("long", deadline=None, max_examples=5_000)
settings.load_profile("ci" if os.environ.get("CI") else "local")


@pytest.fixture(scope="session", autouse=True)
def nobodys_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """No test, and no process that one starts, can write into the home of whoever runs it."""
    with pytest.MonkeyPatch.context() as patch:
        home = tmp_path_factory.mktemp("home")
        for name, folder in (
            ("HOME", home),
            ("XDG_STATE_HOME", home / "state"),
            ("XDG_CACHE_HOME", home / "cache"),
            ("XDG_CONFIG_HOME", home / "config"),
            ("NSSTORE_TRUST_HOME", home / "trust"),
        ):
            patch.setenv(name, str(folder))
        yield


@pytest.fixture(scope="session", autouse=True)
def green_gate() -> Iterator[None]:
    """The gate is green for this run, so that no store of it waits for a self-test."""
    with green():
        yield


@pytest.fixture
def quick_keys() -> Iterator[None]:
    """Make keys from passphrases at almost no cost."""
    with keeping.quick_keys():
        yield
