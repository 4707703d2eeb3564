"""The time as every sealed and audited time is spelled: ``YYYY-MM-DDTHH:MM:SS.ffffffZ``, UTC."""

from __future__ import annotations

import time
from functools import lru_cache


def utc_now() -> str:
    """The system's time now, to the microsecond; it may go back, and nothing takes its order from it."""
    seconds, nanoseconds = divmod(time.time_ns(), 1_000_000_000)
    return f"{_second(seconds)}.{nanoseconds // 1000:06d}Z"


@lru_cache(maxsize=4)
def _second(seconds: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds))
