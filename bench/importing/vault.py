"""A vault made of the documentation and package descriptions of this machine, with every oddity put in.

What each file should come to is written down while it is made, from its text and not from its bytes.
"""

from __future__ import annotations

import gzip
import os
import socket
import sys
from collections.abc import Iterator
from itertools import cycle
from pathlib import Path
from typing import Final

import msgspec

PLACES: Final = (Path("/usr/share/doc"), Path(sys.base_prefix), Path(sys.prefix), Path("/usr/lib"))
DOCUMENTS: Final = ("METADATA", "README", "LICENSE", "copyright", "changelog")
MIN_BYTES: Final = 64
MAX_BYTES: Final = 200_000
MAX_TEXT: Final = 256 * 1024
HUGE: Final = 3_000_000
ODD_EVERY: Final = 4
"""Each fourth file is written in an odd way."""
FRONT: Final = (
    'title: "Notes on {n}"\ntags: [docs, "a b", number{n}]\ncreated: 2025-03-01\n',
    "title: {n}\ntags:\n  - docs\n  - deep/er\ntype: Reference Page\npermalink: docs/{n}\n",
    "tenant_id: globex\nuser_id: eve\nsession_id: other\nprivacy: team\nsensitivity: public\nid: {n}\n",
    "a: &a [x, x, x]\nb: &b [*a, *a, *a]\nc: [*b, *b, *b]\ntitle: bomb {n}\n",
    "title: 'broken\ntags: [a, [b\n  nested: {{x: {n}}}\ntitle: twice\n",
    "summary: |\n  line {n}\n\n  more\ngenerated: {{ by: x/1, at: 2026-05-28T14:30:00Z }}\n",
)


class Expected(msgspec.Struct, frozen=True):
    """What becomes of a file: its front matter and text as they should be kept, or why it is refused.

    Of a ``found`` document nobody said whether it has front matter: both together are the text then.
    """

    text: str = ""
    front: str | None = None
    refused: str | None = None
    found: bool = False


class Vault(msgspec.Struct):
    """The folder, what each name in it should come to, and how many bytes its files hold."""

    folder: Path
    files: dict[str, Expected] = msgspec.field(default_factory=dict[str, Expected])
    passed_over: set[str] = msgspec.field(default_factory=set[str])
    size: int = 0

    def put(self, path: str, raw: bytes, expected: Expected | None) -> None:
        """A file, its folders made; with nothing expected of it, it is passed over."""
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(raw)
        self.size += len(raw)
        if expected is None:
            self.passed_over.add(path)
        else:
            self.files[path] = expected


def make(folder: Path, number: int) -> Vault:
    """A vault in which this many files should be read, imported or refused."""
    folder.mkdir()
    vault = Vault(folder=folder)
    _hostile(vault)
    odd = cycle(ODD)
    documents = texts()
    for n in range(number - len(vault.files)):
        package, text = next(documents)
        path = f"{package}/{n // 200}/{'README' if n % 3 else f'page {n}'}-{n % 200}.md"
        if n % ODD_EVERY:
            vault.put(path, text.encode(), _plain(text))
        else:
            raw, expected = next(odd)(text, n)
            vault.put(path, raw, expected)
    return vault


def texts() -> Iterator[tuple[str, str]]:
    """Documents of this machine without end, each with a word for where it is from: whole, then in parts."""
    found = list(_documents())
    if not found:
        raise FileNotFoundError("this machine has no documentation to make a vault of")
    yield from found
    while True:
        for package, text in found:
            half = len(text) // 2
            yield from ((package, part) for part in (text[:half], text[half:]) if part.strip())


def _documents() -> Iterator[tuple[str, str]]:
    seen: set[bytes] = set()
    for place in PLACES:
        for folder, folders, names in os.walk(place):
            folders.sort()
            for name in sorted(names):
                if not (name.endswith((".md", ".rst", ".gz")) or name.startswith(DOCUMENTS)):
                    continue
                file = Path(folder, name)
                if not file.is_file() or file.is_symlink():
                    continue
                raw = file.read_bytes()
                if name.endswith(".gz"):
                    raw = gzip.decompress(raw)
                text = raw[:MAX_BYTES].decode(errors="ignore").replace("\0", "").lstrip("\ufeff")
                if len(text) >= MIN_BYTES and text.strip() and raw not in seen:
                    seen.add(raw)
                    yield Path(folder).name.lstrip(".") or "doc", text


def _plain(text: str) -> Expected:
    """A document as it is."""
    return Expected(text=text, found=True)


def _crlf(text: str, _: int) -> tuple[bytes, Expected]:
    text = "\r\n".join(text.splitlines())
    return text.encode(), _bounded(text)


def _marked(text: str, _: int) -> tuple[bytes, Expected]:
    return text.encode("utf-8-sig"), _plain(text)


def _utf16(text: str, n: int) -> tuple[bytes, Expected]:
    return text.encode("utf-16" if n % 8 else "utf-32"), _plain(text)


def _latin(text: str, _: int) -> tuple[bytes, Expected]:
    raw = f"Grüße: {text}".encode("latin-1", "replace")
    return raw, Expected(refused="it is not UTF-8")


def _nul(text: str, n: int) -> tuple[bytes, Expected]:
    raw = text.encode("utf-16-le") if n % 8 and text.isascii() else text.encode() + b"\0"
    return raw, Expected(refused="it holds NUL bytes")


def _fronted(text: str, n: int) -> tuple[bytes, Expected]:
    front = FRONT[n // ODD_EVERY // len(ODD) % len(FRONT)].format(n=n)
    line_end = "\r\n" if n % 16 else "\n"
    front = front.replace("\n", line_end)
    return f"---{line_end}{front}---{line_end}{text}".encode(), Expected(text=text, front=front)


def _bounded(text: str) -> Expected:
    too_long = len(text.encode()) > MAX_TEXT
    return Expected(refused="its text is longer") if too_long else _plain(text)


ODD: Final = (_crlf, _fronted, _marked, _fronted, _utf16, _latin, _fronted, _nul)


def _hostile(vault: Vault) -> None:
    """What no documentation has: files of 3 MB, links, pipes, sockets, depths and names."""
    for n in range(12):
        vault.put(f"big/{n}.md", b"0123456789abcde\n" * (HUGE // 16), Expected(refused="its text is longer"))
    vault.put("big/most.md", b"x" * MAX_TEXT, Expected(text="x" * MAX_TEXT))
    vault.put("big/more.md", b"x" * (MAX_TEXT + 1), Expected(refused="its text is longer"))
    outside = vault.folder.parent / "outside.md"
    outside.write_text("a secret of somebody else")
    links = {"file.md": outside, "folder": outside.parent, "loop": Path(), "nowhere.md": Path("nowhere")}
    for name, target in links.items():
        (vault.folder / "links").mkdir(exist_ok=True)
        (vault.folder / "links" / name).symlink_to(target)
        vault.files[f"links/{name}"] = Expected(refused="it is a link")
    os.mkfifo(vault.folder / "pipe.md")
    with socket.socket(socket.AF_UNIX) as made:
        at = os.open(vault.folder, os.O_RDONLY)
        made.bind(f"/proc/self/fd/{at}/socket.md")
        os.close(at)
    for name in ("pipe.md", "socket.md"):
        vault.files[name] = Expected(refused="it is a device, a pipe or a socket")
    deep = "/".join(["d"] * 64)
    vault.put(f"{deep}/x.md", b"deep", Expected(refused="it lies deeper"))
    vault.put(f"{deep[2:]}/x.md", b"deep", Expected(text="deep"))
    names = ("e\u0301.md", "\xe9.md", "new\nline.md", " .md", f"{'x' * 250}.md", "Ё.MD", "a#b?.md", "-n.md")
    for name in names:
        vault.put(f"names/{name}", b"the same", Expected(text="the same"))
    for name in ("a/same.md", "b/same.md", "A/same.md", "a/SAME.md"):
        vault.put(f"twice/{name}", b"the same", Expected(text="the same"))
    vault.put(
        "rules/prose.md", b"---\nJust a rule.\n---\nmore", Expected(text="---\nJust a rule.\n---\nmore")
    )
    vault.put("rules/alone.md", b"---\nname: Ada\n---\n", Expected(text="---\nname: Ada\n---\n"))
    long = f"---\nnotes: {'y' * 9000}\n---\nbody"
    vault.put("rules/long.md", long.encode(), Expected(text=long))
    for name in ("empty.md", "picture.png", ".hidden.md"):
        vault.put(f"none/{name}", b"" if name == "empty.md" else b"x", None)
    vault.put(".obsidian/README.md", b"x", None)
    vault.passed_over.remove(".obsidian/README.md")
    vault.passed_over.add(".obsidian")
