"""Links in what others lay out: whether a name is a directory itself, and where a link leads."""

from __future__ import annotations

import os
import stat


def is_folder_itself(path: str) -> bool:
    """Whether a name is a directory, and no link to one."""
    try:
        return stat.S_ISDIR(os.lstat(path).st_mode)
    except (OSError, ValueError):
        return False


def leads_out(folder: str, name: str) -> bool:
    """Whether a name in a directory is a link to somewhere else, or cannot be looked at.

    The names on the way to it are not looked at.
    """
    path = os.path.join(folder, name)
    try:
        if not stat.S_ISLNK(os.lstat(path).st_mode):
            return False
    except (FileNotFoundError, NotADirectoryError):
        return False
    except (OSError, ValueError):
        return True
    return not lies_in(path, folder)


def lies_in(path: str, folder: str) -> bool:
    """Whether a path leads to a directory or into it."""
    real, around = os.path.realpath(path), os.path.realpath(folder)
    return os.path.commonpath((real, around)) == around
