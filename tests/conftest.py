"""Settings that hold for every test."""

import os

from hypothesis import settings

# No deadline: a shared machine is slow now and then, and a slow example is not a wrong one.
settings.register_profile("local", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, database=None, print_blob=True)
settings.register_profile("long", deadline=None, max_examples=5_000)
settings.load_profile("ci" if os.environ.get("CI") else "local")
