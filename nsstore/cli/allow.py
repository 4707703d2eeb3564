"""The owner's word about a checkout: which project it is, after a move too, and that it is none any more."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

import click

from nsstore.cli import printing
from nsstore.cli.asker import Asker, of_tenant
from nsstore.cli.flags import a_folder
from nsstore.errors import InvalidInput, Refused

if TYPE_CHECKING:
    from nsstore.host.allowing import Allowing
    from nsstore.host.checkouts import Checkout, Checkouts

NOBODY: Final = (
    "which project a checkout is, the owner says at a terminal, and this is none: --unattended takes"
    " --project or --same-as"
)
AWAY: Final = (
    "this is another directory than the checkout that was bound at {}: it shares the project, and has a"
    " workspace of its own"
)
SAME: Final = "Still the same checkout?"
MOVED: Final = "The same checkout, moved here?"
HINT: Final = "nothing in a checkout says which project it is: give --project, or --same-as"


@click.command()
@click.argument("path", required=False, shell_complete=a_folder)
@click.option("--project", metavar="ID", help="The project; else it is asked for.")
@click.option(
    "--same-as",
    metavar="PATH|PROJECT",
    help="A bound checkout that was moved here, by its old path, or the project of another.",
)
@click.option("--end", is_flag=True, help="Let go of the checkout; what was remembered stays.")
@click.option("--unattended", is_flag=True, help="Do not ask: the flags say it.")
@of_tenant
def allow(
    asker: Asker,
    *,
    path: str | None,
    project: str | None,
    same_as: str | None,
    end: bool,
    unattended: bool,
    as_json: bool,
) -> None:
    """Bind a checkout to a project, by your own word.

    PATH is a directory of the checkout; where this command stands if not given. It is bound with its
    device, inode, time of birth and real path. The remote, or the directory's name, only proposes a
    project: the same for ssh and https, for clones and work trees. Nothing that lies in a repository binds
    it. The audit of your tenant is told.
    """
    from nsstore.host.allowing import Allowing, Word, can_bind
    from nsstore.host.git import top_of
    from nsstore.host.unknown import HOLDS
    from nsstore.root.owned import directory_of, here

    if end + (project is not None) + (same_as is not None) > 1:
        raise InvalidInput("only one of --project, --same-as and --end may be given")
    place = directory_of(path or here(), "a checkout")
    top = top_of(place)
    asked = not unattended and printing.somebody_answers()
    word = Word(tenant=asker.tenant(), user=asker.user(), asked=asked)
    with asker.open() as opened:
        allowing = Allowing(opened, word)
        if end:
            _tell(_ended(allowing, place), as_json=as_json, word="let go of")
            return
        if not can_bind(top, opened.root.path):
            raise InvalidInput(HOLDS.format(top))
        moved = allowing.checkouts.moved(top)
        if same_as is not None:
            before, wanted = _like(allowing.checkouts, same_as, top, moved)
        elif project is not None:
            still = moved is not None and (moved.path, moved.project_id) == (top, project)
            before, wanted = (moved if still else None), project
        elif not asked:
            raise InvalidInput(HINT) if unattended else Refused(NOBODY, reason="unattended")
        else:
            before, wanted = _asked(allowing.checkouts, top, moved)
        bound = allowing.bind(top, wanted, same_as=before)
    _tell(bound, as_json=as_json, word="bound")


def _ended(allowing: Allowing, place: str) -> Checkout:
    bound = allowing.checkouts.find(place)
    if bound is None:
        raise InvalidInput("this directory is bound to no project")
    allowing.end(bound)
    return bound


def _like(
    checkouts: Checkouts, same_as: str, top: str, moved: Checkout | None
) -> tuple[Checkout | None, str]:
    """The moved checkout that comes along, if it is one, and the project that is meant."""
    from nsstore.root.owned import identity

    known = checkouts.all()
    path = os.path.abspath(same_as)
    before = next((one for one in known if one.path in (path, same_as)), None)
    if before is not None:
        # Its workspace comes along only if it is not at work where it was: two would be one workspace. One
        # that is not there may only be away, on a disk that is not mounted: this must be the very directory.
        if before.is_at(before.path):
            return None, before.project_id
        same = before.was(top, identity(top))
        if not same:
            printing.note(AWAY.format(before.path))
        return (before if same else None), before.project_id
    if any(one.project_id == same_as for one in known):
        return (moved if moved is not None and moved.project_id == same_as else None), same_as
    raise InvalidInput("--same-as names no checkout and no project that is bound: `nsstore allow --project`")


def _asked(checkouts: Checkouts, top: str, moved: Checkout | None) -> tuple[Checkout | None, str]:
    """What the owner answers; what the checkout proposes is shown as a proposal and as nothing else."""
    from nsstore.host.allowing import proposed_project
    from nsstore.host.checkouts import READ_HERE
    from nsstore.host.git import facts_at, remote_of
    from nsstore.scope import check_id

    bound = checkouts.find(top)
    if bound is not None and bound.path == top:
        return None, bound.project_id
    facts = facts_at(top)
    printing.fields((("checkout", top), ("remote", None if facts is None else remote_of(facts))))
    if moved is not None and not moved.is_at(moved.path):
        printing.fields((("was bound as", f"{moved.project_id}, at {moved.path}"),))
        if click.confirm(SAME if moved.path == top else MOVED, err=True):
            return moved, moved.project_id
    proposed = proposed_project(checkouts.all(), top, facts)
    if checkouts.opens(top, proposed):
        printing.note(READ_HERE.format(proposed))
    while True:
        answer: str = click.prompt("Project", default=proposed or None, err=True)
        try:
            return None, check_id("project_id", answer)
        except InvalidInput as err:
            printing.note(str(err))


def _tell(bound: Checkout, *, as_json: bool, word: str) -> None:
    told = {"project": bound.project_id, "path": bound.path, "workspace": bound.workspace_id}
    if as_json:
        printing.emit(told)
    else:
        line = f"{bound.path}: project {bound.project_id}, workspace {bound.workspace_id}"
        printing.say(line, mark=word, indent=len(word) + 1)
