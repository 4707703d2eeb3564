"""Ranks inside an index that holds exactly the records the request may read."""

if __name__ != "nsstore.search":
    # A second name would make a second copy of every class, and checks by type would miss it.
    raise ImportError("import this package as nsstore.search")
