"""Only nsstore.root opens, names or removes files; everybody else asks it.

import-linter sees imports but not calls, so this reads the syntax tree of every module: a review of
what may touch the disk then reads one folder.
"""

import ast
import builtins
import io
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

HOUSE = Path(__file__).parents[2]
LINKED = ("search", "writers", "harness")

# What a module outside nsstore.root may use of these; everything else in them touches the disk,
# starts a program or runs text as code.
OPEN_TO_ALL: Final = {
    "builtins": frozenset(dir(builtins)) - {"open", "__import__", "eval", "exec", "compile", "breakpoint"},
    "importlib": frozenset({"metadata"}),  # the version of an installed package, found by its name
    "io": frozenset({"BytesIO", "StringIO", "TextIOBase"}),
    "os": frozenset(
        {
            "PathLike", "environ", "fsdecode", "fsencode", "fspath", "get_terminal_size", "getenv",
            "getpid", "isatty", "register_at_fork", "stat_result", "strerror", "urandom",
        }
    ),
    # Text only, but for these two: abspath asks where the process stands, expanduser who runs it.
    "os.path": frozenset(
        {"abspath", "basename", "commonpath", "dirname", "expanduser", "isabs", "join", "normpath", "split"}
    ),
}  # fmt: skip
SHUT: Final = frozenset(
    {
        "_io", "asyncio.subprocess", "bz2", "codecs", "ctypes", "dbm", "fcntl", "filecmp", "fileinput",
        "ftplib", "glob", "gzip", "http", "linecache", "logging.config", "logging.handlers", "lzma", "mmap",
        "multiprocessing", "ntpath", "pathlib", "pkgutil", "posix", "posixpath", "pty", "runpy", "shelve",
        "shutil", "socket", "socketserver", "sqlite3", "subprocess", "tarfile", "tempfile", "urllib.request",
        "webbrowser", "zipfile", "zipimport",
    }
)  # fmt: skip
# Methods that open a file whatever they are called on, and the faces of other packages that do.
OPENING_METHODS: Final = frozenset({"read_text", "write_text", "read_bytes", "write_bytes"})
OPENING_NAMES: Final = frozenset({"click.File", "click.open_file", "click.edit", "logging.FileHandler"})

_FTS: Final = "an example of somebody else's store, in memory, imported to time a provider beside it alone"
ALLOWED: Final[dict[tuple[str, str], str]] = {
    ("nsstore.cli.verbs", "importlib.import_module"): "a verb by the table of the program",
    ("nsstore.harness.examples.sqlite_fts", "sqlite3"): _FTS,
    ("nsstore.harness.examples.sqlite_fts", "sqlite3.connect"): _FTS,
}


class Doors(ast.NodeVisitor):
    """Collects what one module uses that touches the disk, by its full dotted name."""

    def __init__(self) -> None:
        self.found: set[tuple[int, str]] = set()
        self.names: dict[str, str] = {}

    def read(self, tree: ast.Module) -> set[tuple[int, str]]:
        """Learn what each name of the module stands for, then look at every use."""
        own = {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
        self.names = {name: f"builtins.{name}" for name in dir(builtins) if name not in own}
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    bound = alias.asname or alias.name.partition(".")[0]
                    self.names[bound] = alias.name if alias.asname else bound
            elif isinstance(node, ast.ImportFrom):
                for alias in node.names:
                    self.names[alias.asname or alias.name] = f"{node.module}.{alias.name}"
        self.visit(tree)
        return self.found

    def judge(self, node: ast.AST, name: str) -> None:
        """Note a full name that is a door."""
        parts = name.split(".")
        heads = [".".join(parts[:end]) for end in range(1, len(parts) + 1)]
        closed = False
        for head, part in zip(heads, [*parts[1:], ""], strict=True):
            if head in OPEN_TO_ALL and f"{head}.{part}" not in OPEN_TO_ALL:
                closed = part not in OPEN_TO_ALL[head]
        if closed or name in OPENING_NAMES or not SHUT.isdisjoint(heads):
            self.found.add((getattr(node, "lineno", 0), name))

    def full_name(self, node: ast.expr) -> str | None:
        """The dotted name an expression stands for, if it is one."""
        if isinstance(node, ast.Name):
            return self.names.get(node.id)
        if isinstance(node, ast.Attribute) and (base := self.full_name(node.value)):
            return f"{base}.{node.attr}"
        return None

    def visit_Import(self, node: ast.Import) -> None:
        """A shut module is a door as soon as it is imported."""
        for alias in node.names:
            if alias.name not in OPEN_TO_ALL:
                self.judge(node, alias.name)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        """A door may come in under any name, or as `*`."""
        for alias in node.names:
            if (name := f"{node.module}.{alias.name}") not in OPEN_TO_ALL:
                self.judge(node, name)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        """Every dotted use counts, called or not; the longest name is judged."""
        if name := self.full_name(node):
            self.judge(node, name)
        elif node.attr in OPENING_METHODS:
            self.found.add((node.lineno, f".{node.attr}"))
        else:
            self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> None:
        """A module handed around as a value could be opened anywhere, so it is a door itself."""
        if name := self.names.get(node.id):
            self.judge(node, name)


def doors(code: str) -> set[str]:
    """The doors that a piece of code uses."""
    return {name for _, name in Doors().read(ast.parse(code))}


def modules() -> Iterator[tuple[str, str]]:
    """Every module but those of nsstore.root, once, with its code."""
    for folder in ("nsstore", *LINKED):
        for file in sorted((HOUSE / folder).rglob("*.py")):
            parts = file.relative_to(HOUSE).with_suffix("").parts
            if parts[:2] == ("nsstore", "root") or (parts[0] == "nsstore" and parts[1] in LINKED):
                continue
            inside = parts if folder == "nsstore" else ("nsstore", *parts)
            yield ".".join(inside), file.read_text()


def test_only_root_touches_the_disk() -> None:
    """No module outside nsstore.root uses a door that is not in the table with its reason."""
    found = [
        f"{module}:{line} {door}"
        for module, code in modules()
        for line, door in sorted(Doors().read(ast.parse(code)))
        if (module, door) not in ALLOWED
    ]
    assert found == []


def test_no_exception_outlives_its_use() -> None:
    """Every row of the table is still used, and says why."""
    found = {(module, door) for module, code in modules() for door in doors(code)}
    assert ALLOWED.keys() - found == set()
    assert [row for row, reason in ALLOWED.items() if len(reason) < 20] == []


def test_the_reader_sees_real_code() -> None:
    """Read the same way, nsstore.root is full of doors, and the linked folders are read too."""
    inside = {door for file in (HOUSE / "nsstore" / "root").rglob("*.py") for door in doors(file.read_text())}
    assert {"os.open", "os.unlink"} <= inside
    assert {f"nsstore.{folder}.__init__" for folder in LINKED} <= {module for module, _ in modules()}


@pytest.mark.parametrize(
    ("code", "door"),
    [
        ("open('x')", "builtins.open"),
        ("import io\nio.open('x')", "io.open"),
        ("import io as i\ni.FileIO(3)", "io.FileIO"),
        ("import os\nos.open('x', 0)", "os.open"),
        ("import os as o\no.unlink('x')", "os.unlink"),
        ("from os import rename as r", "os.rename"),
        ("from os import *", "os.*"),
        ("import os\nremove = os.remove", "os.remove"),
        ("import os\ngetattr(os, 'mk' + 'dir')('x')", "os"),
        ("import os.path\nos.path.exists('x')", "os.path.exists"),
        ("from os.path import realpath", "os.path.realpath"),
        ("import os\nwith os.scandir('x') as names: list(names)", "os.scandir"),
        ("def late():\n    import shutil\n    shutil.rmtree('x')", "shutil"),
        ("import ctypes.util", "ctypes.util"),
        ("from fcntl import flock", "fcntl.flock"),
        ("from pathlib import Path\nPath('x').write_bytes(b'')", "pathlib.Path"),
        ("def f(given): return given.read_text()", ".read_text"),
        ("import builtins\nbuiltins.open('x')", "builtins.open"),
        ("import importlib\nimportlib.import_module('os')", "importlib.import_module"),
        ("__import__('os')", "builtins.__import__"),
        ("exec('import os')", "builtins.exec"),
        ("reader = open", "builtins.open"),
        ("import click\nclick.open_file('x')", "click.open_file"),
        ("from logging.handlers import RotatingFileHandler", "logging.handlers.RotatingFileHandler"),
    ],
)
def test_a_door_is_seen(code: str, door: str) -> None:
    """Each way to a file is noticed, whatever it is called and wherever it is hidden."""
    assert door in doors(code)


@pytest.mark.parametrize(
    "code",
    [
        "import os\nos.environ.get('HOME')\nos.urandom(16)",
        "def open(path): ...\nopen('x')",
        "from nsstore.root import tree\ntree.open('x')",
        "import nsstore\nnsstore.open('x')",
        "'a/b'.replace('/', '-')",
        "import io\nio.BytesIO(b'x')",
        "import os.path\nos.path.join('a', 'b')",
        "from os import path\npath.join('a', 'b')",
        "from importlib.metadata import version\nversion('nsstore')",
        "store.unlink('x')",
    ],
)
def test_what_opens_nothing_is_let_through(code: str) -> None:
    """Names that only look like doors are not reported."""
    assert doors(code) == set()


def test_the_tables_name_what_exists() -> None:
    """No allowed name is misspelt: a misspelt one would shut nothing and open nothing."""
    for name, module in {"os": os, "io": io, "builtins": builtins}.items():
        assert sorted(OPEN_TO_ALL[name] - set(dir(module))) == []
