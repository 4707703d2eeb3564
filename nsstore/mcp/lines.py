"""Standard input, line by line, read by a thread that nobody has to wait for.

A read that waits cannot be called off. Were it one of the loop's own threads, a server whose answers nobody
reads, or that is told to end, would hang until its client said one more word.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from threading import Semaphore, Thread
from typing import Final

MOST: Final = 4 * 1024 * 1024
AHEAD: Final = 16
CHUNK: Final = 64 * 1024
Read = Callable[[int], bytes | None]


class Lines:
    """The lines of one reader; one of more than :data:`MOST` bytes is passed over, and never kept whole."""

    def __init__(self, read: Read) -> None:
        """``read`` gives what has come, at most so many bytes; nothing at the end."""
        self._read = read

    async def __aiter__(self) -> AsyncIterator[str]:
        """Each line as text; bytes that are none are replaced. At most :data:`AHEAD` are read ahead."""
        lines, room = asyncio.Queue[str | None](), Semaphore(AHEAD)
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
    read: Read, loop: asyncio.AbstractEventLoop, lines: asyncio.Queue[str | None], room: Semaphore
) -> None:
    """Hand each line to the loop as long as there is room, so that a flood waits outside."""
    try:
        for line in split(read):
            room.acquire()
            loop.call_soon_threadsafe(lines.put_nowait, line)
        loop.call_soon_threadsafe(lines.put_nowait, None)
    except RuntimeError:
        return  # the loop is gone, and nobody takes lines any more


def split(read: Read) -> Iterator[str]:
    """The complete lines of a reader, without those that are too long; what has no end is no line."""
    kept, too_long = bytearray(), False
    while chunk := _read(read):
        *ended, rest = chunk.split(b"\n")
        for part in ended:
            if not too_long and len(kept) + len(part) <= MOST:
                yield (bytes(kept) + part).decode("utf-8", "replace")
            kept.clear()
            too_long = False
        too_long = too_long or len(kept) + len(rest) > MOST
        if too_long:
            kept.clear()
        else:
            kept += rest


def _read(read: Read) -> bytes | None:
    """The next bytes; what can no longer be read has ended."""
    try:
        return read(CHUNK)
    except OSError:
        return None
