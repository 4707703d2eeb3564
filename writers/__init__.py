"""Derives scope, path, id and time of every write from the envelope, never from the caller's metadata."""

if __name__ != "nsstore.writers":
    # A second name would make a second copy of every class, and checks by type would miss it.
    raise ImportError("import this package as nsstore.writers")
