# What a change must pass, and what a person runs by hand. Tools come from .venv if it is there, else from PATH:
#   python3 -m venv .venv && .venv/bin/pip install -e '.[dev]' && .venv/bin/just

set positional-arguments
export PATH := justfile_directory() / ".venv/bin:" + env("PATH")

# everything a change must pass
default: check

check: lint types layers test

# ruff: rules and layout
lint:
    ruff check .
    ruff format --check .

# both type checkers, strict
types:
    mypy
    pyright

# the import contracts of pyproject.toml
layers:
    lint-imports

# the tests; arguments go to pytest
test *args:
    pytest "$@"

# writes and searches timed against their baselines, in one run
bench *args:
    pytest bench --benchmark-columns=min,median,iqr,max,rounds "$@"

# the benchmarks that take minutes to set up: 100,000 records, 10,000 namespaces
bench-long *args:
    pytest bench -m long --benchmark-columns=min,median,iqr,max,rounds "$@"

# every LoCoMo turn in, every question asked in its own sessions
locomo *args:
    python -m bench.locomo "$@"

# what a newcomer should see; non-zero if any of it is not so
demo:
    nsstore demo

# the image of a loop-mounted disk copied at each step of a write or a forget; needs root
powercut *args:
    python -m bench.powercut "$@"

# what does not fit in a check: other file systems, many kills, many examples
long *args:
    pytest -m "long or powercut" "$@"
    pytest tests/fuzz --hypothesis-profile=long "$@"

# the documents against the code
docs:
    pytest tests/house/test_docs.py tests/house/test_readme.py

# lay out the code and mend what ruff can
fmt:
    ruff format .
    ruff check --fix .
