"""The time as every sealed and audited time is spelled: ``YYYY-MM-DDTHH:MM:SS.ffffffZ``, UTC."""

from __future__ import annotations

import time

_second = (0, "1970-01-01T00:00:00")


def utc_now() -> str:
    """The system's time now, to the microsecond; it may go back, and nothing takes its order from it."""
    global _second  # noqa: PLW0603 - the last second's spelling; any thread may replace it by another's
    now = time.time_ns()
    seconds, spelled = _second
    if now // 1_000_000_000 != seconds:
        seconds = now // 1_000_000_000
        spelled = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds))
        _second = (seconds, spelled)
    return "%s.%06dZ" % (spelled, now // 1000 % 1_000_000)  # noqa: UP031 - twice as fast as an f-string here
