"""Standard input, line by line, read by a thread that nobody has to wait for.

A read that waits cannot be called off. Were it one of the loop's own threads, a server whose answers nobody
reads, or that is told to end, would hang until its client said one more word.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from threading import Semaphore, Thread
from typing import Final, NamedTuple

MOST: Final = 4 * 1024 * 1024
AHEAD: Final = 16
CHUNK: Final = 64 * 1024
EDGE: Final = 4096
Read = Callable[[int], bytes | None]


class Long(NamedTuple):
    """A line of more than :data:`MOST` bytes, which is never kept whole: how it begins, and how it ends."""

    head: bytes
    tail: bytes


class Lines:
    """The lines of one reader, as long as somebody goes through them."""

    def __init__(self, read: Read) -> None:
        """``read`` gives what has come, at most so many bytes; nothing at the end."""
        self._read = read

    async def __aiter__(self) -> AsyncIterator[bytes | Long]:
        """Each line. At most :data:`AHEAD` are read ahead."""
        lines, room = asyncio.Queue[bytes | Long | None](), Semaphore(AHEAD)
        pump = Thread(
            target=_pump,
            args=(self._read, asyncio.get_running_loop(), lines, room),
            name="nsstore input",
            daemon=True,
        )
        pump.start()
        while (line := await lines.get()) is not None:
            room.release()
            yield line


def _pump(
    read: Read, loop: asyncio.AbstractEventLoop, lines: asyncio.Queue[bytes | Long | None], room: Semaphore
) -> None:
    """Hand each line to the loop as long as there is room, so that a flood waits outside."""
    try:
        for line in split(read):
            room.acquire()
            loop.call_soon_threadsafe(lines.put_nowait, line)
        loop.call_soon_threadsafe(lines.put_nowait, None)
    except RuntimeError:
        return  # the loop is gone, and nobody takes lines any more


def split(read: Read) -> Iterator[bytes | Long]:
    """The complete lines of a reader, of those that are too long the ends; what has no end is no line."""
    kept, head = bytearray(), b""
    while chunk := _read(read):
        *ended, rest = chunk.split(b"\n")
        for part in ended:
            kept += part
            head = head or _head(kept)
            yield Long(head, bytes(kept[-EDGE:])) if head else bytes(kept)
            kept.clear()
            head = b""
        kept += rest
        head = head or _head(kept)
        if head:
            del kept[:-EDGE]


def _head(kept: bytearray) -> bytes:
    """How a line begins that is too long already; nothing for any other."""
    return bytes(kept[:EDGE]) if len(kept) > MOST else b""


def _read(read: Read) -> bytes | None:
    """The next bytes; what can no longer be read has ended."""
    try:
        return read(CHUNK)
    except OSError:
        return None
