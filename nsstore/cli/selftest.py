"""Self-test: whether this build keeps scopes apart on this machine; search is closed where it does not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from nsstore.cli import printing
from nsstore.cli.exits import FOUND_WRONG
from nsstore.cli.flags import a_file, json_option, store_option, store_path
from nsstore.errors import InvalidInput

if TYPE_CHECKING:
    from nsstore.opening import Tested

SHOWN = 12


@click.command()
@click.option(
    "--out",
    metavar="FILE",
    shell_complete=a_file,
    help="Write the result to a new file, for NSSTORE_GATE to name, instead of into the trust home.",
)
@store_option
@json_option
def selftest(*, out: str | None, store: str | None, as_json: bool) -> None:
    """Test whether this build keeps scopes apart here.

    The quick part of the acceptance suite runs in a scratch folder of the store's. Opening a store does that
    by itself for a build, or a file system, of which no result is known; this does it in any case, and takes
    the place of what was known. Without a store it runs where the store will be, or where temporary files
    are. Search is closed until it is green.
    """
    from nsstore.opening import selftest as test

    try:
        path = store_path(store)
    except InvalidInput:  # nobody named a store: an image is being made
        path = None
    tested = test(path, out=out)
    if as_json:
        printing.emit(tested)
    else:
        _show(tested, out)
    if tested.unkept is not None:
        printing.note(f"the result could not be kept in the trust home: {tested.unkept}")
    if not tested.result.green:
        click.get_current_context().exit(FOUND_WRONG)


def _show(tested: Tested, out: str | None) -> None:
    result = tested.result
    build = result.fingerprint
    printing.fields(
        {
            "code": build.code[:SHOWN],
            "suite": build.suite[:SHOWN],
            "python": build.python,
            "engines": f"tantivy {build.tantivy.split()[0]}, msgspec {build.msgspec.split()[0]}",
            "file system": build.filesystem,
        }.items()
    )
    printing.say()
    for case in result.failed:
        printing.say(f"failed: {case}", bold=True)
    passed = printing.count(result.passed, "case")
    if result.green:
        printing.say(f"green: {passed} passed", bold=True)
    else:
        printing.say(f"red: {passed} passed, {len(result.failed)} failed; search is closed", bold=True)
    if out is not None:
        printing.note("NSSTORE_GATE names the file to whoever opens a store")
