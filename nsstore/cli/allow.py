"""The owner's word about a checkout: which project it is, after a move too, and that it is none any more."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

import click

from nsstore.cli import printing
from nsstore.cli.flags import a_folder, json_option, store_option, store_path
from nsstore.errors import InvalidInput, Refused

if TYPE_CHECKING:
    from nsstore.host.checkouts import Checkout, Checkouts
    from nsstore.host.git import Facts

NOBODY: Final = (
    "which project a checkout is, the owner says at a terminal, and this is none: --unattended takes"
    " --project or --same-as"
)
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
@store_option
@json_option
def allow(
    *,
    path: str | None,
    project: str | None,
    same_as: str | None,
    end: bool,
    unattended: bool,
    store: str | None,
    as_json: bool,
) -> None:
    """Bind a checkout to a project, by your own word.

    PATH is a directory of the checkout; where this command stands if not given. It is bound with its
    device, inode and real path. The remote, or the directory's name, only proposes a project: the same
    for ssh and https, for clones and work trees. Nothing that lies in a repository binds it.
    """
    from nsstore.host.checkouts import checkouts_of
    from nsstore.host.git import facts_at, remote_of, top_of
    from nsstore.root.owned import directory_of, here

    if end + (project is not None) + (same_as is not None) > 1:
        raise InvalidInput("only one of --project, --same-as and --end may be given")
    place = directory_of(path or here(), "a checkout")
    top = top_of(place)
    facts = facts_at(top)
    with checkouts_of(store_path(store)) as checkouts:
        if end:
            _tell(_ended(checkouts, place), as_json=as_json, word="let go of")
            return
        moved = checkouts.moved(top)
        if same_as is not None:
            before, wanted = _like(checkouts, same_as, moved)
        elif project is not None:
            before, wanted = None, project
        elif unattended or not printing.somebody_answers():
            raise InvalidInput(HINT) if unattended else Refused(NOBODY, reason="unattended")
        else:
            before, wanted = _asked(checkouts, top, facts, moved)
        bound = checkouts.bind(
            top,
            wanted,
            remote=None if facts is None else remote_of(facts),
            versioned=is_versioned(top, facts),
            same_as=before,
        )
    _tell(bound, as_json=as_json, word="bound")


def is_versioned(top: str, facts: Facts | None) -> bool:
    """Whether git has to tell branch and baseline: also where it has no commit to tell of yet."""
    from nsstore.root.owned import has_name

    return facts is not None or has_name(top, ".git")


def _ended(checkouts: Checkouts, place: str) -> Checkout:
    bound = checkouts.find(place)
    if bound is None:
        raise InvalidInput("this directory is bound to no project")
    checkouts.end(bound)
    return bound


def _like(checkouts: Checkouts, same_as: str, moved: Checkout | None) -> tuple[Checkout | None, str]:
    """The moved checkout that comes along, if it is one, and the project that is meant."""
    known = checkouts.all()
    path = os.path.abspath(same_as)
    before = next((one for one in known if one.path in (path, same_as)), None)
    if before is not None:
        # Its workspace comes along only if it is not at work where it was: two would be one workspace.
        return (None if before.is_at(before.path) else before), before.project_id
    if any(one.project_id == same_as for one in known):
        return (moved if moved is not None and moved.project_id == same_as else None), same_as
    raise InvalidInput("--same-as names no checkout and no project that is bound: `nsstore allow --project`")


def _asked(
    checkouts: Checkouts, top: str, facts: Facts | None, moved: Checkout | None
) -> tuple[Checkout | None, str]:
    """What the owner answers; what the checkout proposes is shown as a proposal and as nothing else."""
    from nsstore.host.git import proposal, remote_of
    from nsstore.scope import check_id

    bound = checkouts.find(top)
    if bound is not None and bound.path == top:
        return None, bound.project_id
    printing.fields((("checkout", top), ("remote", None if facts is None else remote_of(facts))))
    if moved is not None and not moved.is_at(moved.path):
        printing.fields((("was bound as", f"{moved.project_id}, at {moved.path}"),))
        if click.confirm("The same checkout, moved here?", err=True):
            return moved, moved.project_id
    proposed = proposal(top, facts)
    try:
        check_id("project_id", proposed)
    except InvalidInput:
        proposed = ""
    if any(one.project_id == proposed for one in checkouts.all()):
        printing.note(f"what is remembered for {proposed} will be read here: only if you trust this checkout")
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
        printing.say(f"{word} {bound.path}: project {bound.project_id}, workspace {bound.workspace_id}")
