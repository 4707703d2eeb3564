"""The owner at the terminal: where the key is, how it is unlocked, and what that is worth."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import click

from nsstore.cli.flags import a_file
from nsstore.cli.passphrase import passphrase_from, passphrase_option, unattended_option
from nsstore.cli.printing import named
from nsstore.errors import InvalidInput, Refused

if TYPE_CHECKING:
    from nsstore.rights import Assurance, Standing
    from nsstore.store import Store
    from nsstore.trust.signer import Signer

UNATTENDED: Final = ("file", "ci")
NOT_HERE: Final = "the owner's key is not in the trust home: --key says where it is"

key_option: Final = click.option(
    "--key", "key_file", metavar="FILE", shell_complete=a_file,
    help="Where the owner's sealed key is; else in the trust home.",
)  # fmt: skip
assurance_option: Final = click.option(
    "--assurance", type=click.Choice(UNATTENDED),
    help="Where nobody is asked, what stands for it: file if not given; only with --unattended.",
)  # fmt: skip
why_option: Final = click.option(
    "--why", required=True, metavar="TEXT", help="Why, for whoever reads the list."
)


class KeyFlags:
    """What a person said about the owner's key."""

    def __init__(
        self, key_file: str | None, passphrase_file: str | None, assurance: str | None, *, unattended: bool
    ) -> None:
        self.key_file = key_file
        self._passphrase_file = passphrase_file
        self._assurance = assurance
        self._unattended = unattended

    def assurance(self) -> Assurance:
        """What the owner's word is worth: asked for at a terminal, or not."""
        from nsstore.rights import Assurance

        if self._assurance is not None and not self._unattended:
            raise InvalidInput("--assurance goes with --unattended")
        if not self._unattended:
            return Assurance.PASSPHRASE
        return Assurance(self._assurance or "file")

    def passphrase(self, *, confirm: bool) -> str:
        """The passphrase of the key. Raises :class:`Refused` where nobody can be asked."""
        return passphrase_from(self._passphrase_file, unattended=self._unattended, confirm=confirm)

    def unlock(self, store: Store) -> Signer:
        """The owner's key of a store. Raises :class:`Refused` for another key or a wrong passphrase."""
        from nsstore.rights.signing import NO_OWNER, OTHER_KEY
        from nsstore.root.named import NamedFile
        from nsstore.trust.owner import KEY_FILE, OWNER_LIMIT
        from nsstore.trust.signer import unlock

        owner = store.rights.standing().owner
        if owner is None:
            raise Refused(NO_OWNER, reason="owner")
        if self.key_file is not None:
            with NamedFile(self.key_file, named(self.key_file, "the owner's key")) as opened:
                raw = opened.read_all(OWNER_LIMIT)
        else:
            raw = store.trust.home.read(KEY_FILE, OWNER_LIMIT) or b""
            if not raw:
                raise Refused(NOT_HERE, reason="owner")
        signer = unlock(raw, self.passphrase(confirm=False), store.trust.store_id)
        if signer.public != owner.public:
            raise Refused(OTHER_KEY, reason="owner")
        return signer


def with_key(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the flags of the owner's key; it gets them as one :class:`KeyFlags`."""

    @functools.wraps(command)
    def run(
        *args: Any,  # noqa: ANN401 - whatever the command gets beside
        key_file: str | None,
        passphrase_file: str | None,
        assurance: str | None,
        unattended: bool,
        **given: Any,  # noqa: ANN401 - as above
    ) -> None:
        command(*args, key=KeyFlags(key_file, passphrase_file, assurance, unattended=unattended), **given)

    decorated: Callable[..., None] = run
    for option in (assurance_option, passphrase_option, unattended_option, key_option):
        decorated = option(decorated)
    return decorated


def require_fit(standing: Standing) -> Standing:
    """Require an owner, and a list that is the one that was written. Raises :class:`Refused`."""
    from nsstore.rights.signing import NO_OWNER, UNFIT

    if standing.damage is not None:
        raise Refused(UNFIT, reason="rights")
    if standing.owner is None:
        raise Refused(NO_OWNER, reason="owner")
    return standing
