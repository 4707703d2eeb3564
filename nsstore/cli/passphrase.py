"""A passphrase: asked for at the terminal, or, unattended, from a file that only the caller may read."""

from __future__ import annotations

import click

from nsstore.cli import printing
from nsstore.cli.flags import a_file
from nsstore.errors import InvalidInput, Refused

MAX_PASSPHRASE = 4096

unattended_option = click.option(
    "--unattended", is_flag=True, help="Do not ask: the passphrase comes from --passphrase-file."
)
passphrase_option = click.option(
    "--passphrase-file", metavar="FILE", shell_complete=a_file,
    help="A file that only you may read, or a descriptor, as /dev/fd/3; only with --unattended.",
)  # fmt: skip


def _asked(*, confirm: bool) -> str:
    """What somebody types, twice for a new one; a short or mistyped one is asked for again."""
    from nsstore.trust.backup import MIN_PASSPHRASE

    def ask(question: str) -> str:
        answer: str = click.prompt(question, hide_input=True, err=True)
        return answer

    if not confirm:
        return ask("Passphrase")
    while True:
        chosen = ask(f"New passphrase (at least {MIN_PASSPHRASE} characters)")
        if len(chosen) < MIN_PASSPHRASE:
            printing.note(f"that is shorter than {MIN_PASSPHRASE} characters: once more")
        elif ask("The same again") != chosen:
            printing.note("the two are not the same: once more")
        else:
            return chosen


def passphrase_from(file: str | None, *, unattended: bool, confirm: bool) -> str:
    """The passphrase, asked for at the terminal, or from a file that only the caller may read."""
    if not unattended:
        if file is not None:
            raise InvalidInput("--passphrase-file goes with --unattended")
        if not printing.somebody_answers():
            raise Refused(
                "a passphrase is asked for at a terminal, and this is none: --unattended reads it from"
                " --passphrase-file",
                reason="unattended",
            )
        return _asked(confirm=confirm)
    if file is None:
        raise InvalidInput("--unattended needs --passphrase-file")
    from nsstore.root.named import NamedFile

    with NamedFile(file, printing.named(file, "the passphrase file")) as opened:
        if not opened.private:
            raise InvalidInput("the passphrase file is open to other users: make it 0600")
        raw = opened.read_all(MAX_PASSPHRASE)
    try:
        return raw.decode().removesuffix("\n")
    except UnicodeDecodeError:
        raise InvalidInput("the passphrase file must be UTF-8") from None
