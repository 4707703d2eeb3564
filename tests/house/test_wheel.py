"""What is installed is the tree: nothing left out, nothing added, under one name."""

import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path, PurePosixPath
from shutil import copy2, copytree, ignore_patterns

import pytest

HOUSE = Path(__file__).parents[2]
LINKED = ("search", "writers", "harness")
FOLDERS = ("nsstore", *LINKED)


def installed_names() -> set[str]:
    """Every source file of the tree, by the name it has once installed."""
    names: set[str] = set()
    for folder in FOLDERS:
        prefix = PurePosixPath("nsstore") / (folder if folder in LINKED else "")
        for file in (HOUSE / folder).rglob("*"):
            inner = file.relative_to(HOUSE / folder)
            through_link = folder == "nsstore" and inner.parts[0] in LINKED
            if file.suffix in {".py", ".typed"} and not through_link:
                names.add(str(prefix / inner.as_posix()))
    return names


def build(tree: Path, kind: str, out: Path) -> Path:
    """Build a wheel or an sdist of a tree as pip does, without a network."""
    code = f"import setuptools.build_meta as b, sys; b.build_{kind}(sys.argv[1])"
    done = subprocess.run(
        [sys.executable, "-c", code, str(out)], cwd=tree, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    (built,) = out.iterdir()
    return built


def contents(wheel: Path) -> set[str]:
    """What a wheel puts beside its metadata."""
    with zipfile.ZipFile(wheel) as archive:
        return {name for name in archive.namelist() if ".dist-info/" not in name}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel of a copy of the tree, so that building leaves nothing in the tree."""
    tree = tmp_path_factory.mktemp("tree")
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        copy2(HOUSE / name, tree)
    for folder in FOLDERS:
        copytree(HOUSE / folder, tree / folder, symlinks=True, ignore=ignore_patterns("__pycache__"))
    return build(tree, "wheel", tmp_path_factory.mktemp("wheel"))


def test_the_wheel_holds_exactly_the_tree(wheel: Path) -> None:
    """A wheel has every source file of the four folders and no other."""
    assert contents(wheel) == installed_names()


def test_the_sdist_makes_the_same_wheel(tmp_path: Path, wheel: Path) -> None:
    """A source archive, which carries no links, still makes the same wheel."""
    for name in ("out", "sdist", "again"):
        (tmp_path / name).mkdir()
    tree = tmp_path / "tree"
    copytree(HOUSE, tree, symlinks=True, ignore=ignore_patterns(".*", "__pycache__", "build", "*.egg-info"))
    archive = build(tree, "sdist", tmp_path / "sdist")
    with tarfile.open(archive) as opened:
        # Pythons before 3.11.4 know no filters, and later ones warn where none is chosen.
        opened.extraction_filter = getattr(tarfile, "data_filter", lambda member, _: member)
        opened.extractall(tmp_path / "out")
    (unpacked,) = (tmp_path / "out").iterdir()
    assert contents(build(unpacked, "wheel", tmp_path / "again")) == contents(wheel)


def test_every_module_of_the_wheel_imports(tmp_path: Path, wheel: Path) -> None:
    """The unpacked wheel alone imports whole, each module under its nsstore name."""
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path)
    modules = sorted(
        name.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        for name in contents(wheel)
        if name.endswith(".py")
    )
    code = (
        "import importlib, sys\n"
        "where = sys.argv[1]; sys.path.insert(0, where)\n"
        "for name in sys.argv[2:]:\n"
        "    file = importlib.import_module(name).__file__\n"
        "    assert file.startswith(where), (name, file)\n"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-W", "error", "-c", code, str(tmp_path), *modules],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_every_package_is_listed() -> None:
    """The list in pyproject.toml is the folders that hold code, each with an __init__.py."""
    files = [PurePosixPath(name) for name in installed_names() if name.endswith(".py")]
    packages = {str(file.parent).replace("/", ".") for file in files}
    with (HOUSE / "pyproject.toml").open("rb") as opened:
        listed = tomllib.load(opened)["tool"]["setuptools"]["packages"]
    assert listed == sorted(listed)
    assert set(listed) == packages
    assert {str(file.parent) for file in files if file.name == "__init__.py"} == {
        str(file.parent) for file in files
    }


def test_the_three_links_stand_in_the_tree() -> None:
    """A checkout shows one tree under one import name to whoever follows links."""
    for name in LINKED:
        link = HOUSE / "nsstore" / name
        assert link.is_symlink()
        assert link.readlink() == Path("..") / name


@pytest.mark.parametrize("folder", LINKED)
def test_a_second_import_name_is_refused(folder: str) -> None:
    """From the repository root `import search` fails and names nsstore.search."""
    done = subprocess.run(
        [sys.executable, "-c", f"import {folder}"], cwd=HOUSE, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert f"ImportError: import this package as nsstore.{folder}" in done.stderr
