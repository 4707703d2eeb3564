"""Which keys the ledgers of a store name, as they stand: nothing is proven here."""

from __future__ import annotations

import re
from typing import Final

from nsstore import layout
from nsstore.errors import StoreError
from nsstore.root import Root
from nsstore.store.namespaces import survey_names
from nsstore.store.survey import MAX_LEDGER

NAMED_KEY: Final = re.compile(rb',"mac":"1:([0-9a-f]{8}):[0-9a-f]{64}"}\n')


def keys_named(root: Root, path: str) -> frozenset[str]:
    """The ids of the keys that the lines of one ledger name; none where it does not open."""
    try:
        file = root.open_file(path)
        if file is None:
            return frozenset()
        with file:
            raw = file.read_at(0, min(file.size, MAX_LEDGER))
    except StoreError:
        return frozenset()  # `nsstore check` tells of it
    return frozenset(key_id.decode() for key_id in NAMED_KEY.findall(raw))


def all_keys_named(root: Root) -> frozenset[str]:
    """The ids of the keys that any ledger of a root names."""
    namespaces = survey_names(root).namespaces
    return frozenset[str]().union(*(keys_named(root, layout.ledger_path(ns)) for ns in namespaces))
