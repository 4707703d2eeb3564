# What a change must pass, and what a person runs by hand. Tools come from .venv if it is there, else from PATH:
#   python3 -m venv .venv && .venv/bin/pip install -e '.[dev]' && .venv/bin/just

set positional-arguments
export PATH := justfile_directory() / ".venv/bin:" + env("PATH")

# everything a change must pass
default: check

check: lint types layers test accept

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

# every case of the isolation suite, against this tree; arguments go to `nsstore accept`
accept *args:
    nsstore accept --full "$@"

# writes and searches timed against their baselines, in one run, whose figures are kept in .bench/now.json
bench *args:
    pytest bench --benchmark-columns=min,median,iqr,max,rounds --json .bench/now.json "$@"

# the benchmarks that take minutes to set up: 100,000 records, 10,000 namespaces
bench-long *args:
    pytest bench -m long --benchmark-columns=min,median,iqr,max,rounds "$@"

# the last run, or the given files, beside the last release and the budgets, and a page with their history
bench-report *args:
    python -m bench.history "$@"

# every budget in one run, as the figures of this version; bench/releases/README.md says on which machine
bench-release *args:
    pytest bench -m "long or not long" --benchmark-columns=min,median,iqr,max,rounds \
        --json "bench/releases/$(python -c 'import nsstore; print(nsstore.__version__)').json" "$@"

# every LoCoMo turn in, every question asked in its own sessions
locomo *args:
    python -m bench.locomo "$@"

# what a newcomer should see; non-zero if any of it is not so
demo:
    nsstore demo

# the image of a loop-mounted disk copied at each step of a write or a forget; needs root
powercut *args:
    python -m bench.powercut "$@"

# which case of the suite catches which leaky store; non-zero if one is not caught; arguments are their names
mutants *args:
    python -m nsstore.harness.mutants "$@"

# each line of what decides, proves and opens changed, one at a time: which change no test notices.
# Needs the extra `mutation`; arguments go to `mutmut run`, as in `just mutation "nsstore.policy*"`
mutation *args:
    CI=true mutmut run --max-children 1 "$@"
    mutmut results

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
