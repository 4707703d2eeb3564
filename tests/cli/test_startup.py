"""The program is there at once: what it does not need yet it does not import."""

import os
import subprocess
import sys

import pytest

HEAVY = ("msgspec", "tantivy", "rich", "cryptography", "uuid_utils", "nsstore.session", "nsstore.store")


def imported(*args: str, **env: str) -> set[str]:
    """The heavy modules that a run of the program imports."""
    code = (
        "import sys\n"
        "from nsstore.cli.main import main\n"
        f"sys.argv[1:] = {list(args)!r}\n"
        "try:\n    main()\n"
        "except SystemExit:\n    pass\n"
        f"print('imported', *(name for name in {HEAVY!r} if name in sys.modules), file=sys.stderr)\n"
    )
    given = {**os.environ, **env}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=given)
    return set(done.stderr.splitlines()[-1].split()[1:])


@pytest.mark.parametrize(
    "args", [("--help",), ("search", "--help"), ("keys", "backup", "--help"), ("--version",)]
)
def test_help_needs_no_library(args: tuple[str, ...]) -> None:
    """--help and --version import neither msgspec nor tantivy, rich or cryptography."""
    assert imported(*args) == set()


def test_a_usage_error_needs_no_library() -> None:
    """A mistyped command is refused before anything is imported."""
    assert imported("serach", "x") == set()


def test_json_needs_no_rich(tmp_path: object) -> None:
    """A command with --json imports what it needs and no rich."""
    found = imported("init", f"{tmp_path}/store", "--json", NSSTORE_TRUST_HOME=f"{tmp_path}/trust")
    assert "nsstore.store" in found
    assert "rich" not in found


def test_the_library_comes_with_its_first_use() -> None:
    """`import nsstore` alone imports nothing heavy, and each public name is there when it is asked for."""
    code = (
        "import sys, nsstore\n"
        "assert 'msgspec' not in sys.modules\n"
        "assert all(hasattr(nsstore, name) for name in nsstore.__all__)\n"
        "assert set(nsstore.__all__) <= set(dir(nsstore))\n"
        "assert nsstore.open.__name__ == 'open_store'\n"
        "assert not hasattr(nsstore, 'nothing')\n"
        "from nsstore import store\n"
        "assert store.__name__ == 'nsstore.store'\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
