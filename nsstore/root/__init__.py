"""Touches the disk: the one room that opens, makes, links, locks and removes files.

Every other room hands it a path relative to a :class:`Root` and gets back a checked descriptor.
"""

from nsstore.root.checks import NOT_OURS, SETTLED_NS, failure
from nsstore.root.flusher import flusher
from nsstore.root.folders import Dir
from nsstore.root.handles import READ, WRITE, File, NewFile
from nsstore.root.locks import LIMIT_SECONDS, RANGES, FileLock, FolderLock, RangeLock
from nsstore.root.opener import KernelOpener, Opener, WalkOpener
from nsstore.root.places import (
    check_path,
    holds,
    in_memory,
    in_repository,
    is_directory_at,
    is_free,
    is_there,
    lies_in_one_that_holds,
    overlap,
    real_path,
    remove_empty,
)
from nsstore.root.tree import Root

__all__ = [
    "LIMIT_SECONDS",
    "NOT_OURS",
    "RANGES",
    "READ",
    "SETTLED_NS",
    "WRITE",
    "Dir",
    "File",
    "FileLock",
    "FolderLock",
    "KernelOpener",
    "NewFile",
    "Opener",
    "RangeLock",
    "Root",
    "WalkOpener",
    "check_path",
    "failure",
    "flusher",
    "holds",
    "in_memory",
    "in_repository",
    "is_directory_at",
    "is_free",
    "is_there",
    "lies_in_one_that_holds",
    "overlap",
    "real_path",
    "remove_empty",
]
