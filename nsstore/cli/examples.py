"""An example or more for each command, as its help shows them; a test runs every one, in this order.

ID stands for the id of a record, which `nsstore list` shows.
"""

from __future__ import annotations

from typing import Final

import click

EXAMPLES: Final[dict[str, tuple[str, ...]]] = {
    "setup": ("nsstore setup claude-code", "nsstore setup other --agent my-agent", "nsstore setup --undo"),
    "init": ("nsstore init ~/notes",),
    "demo": ("nsstore demo",),
    "allow": (
        "nsstore allow",
        "nsstore allow ~/borealis --project borealis",
        "mv ~/borealis ~/new && nsstore allow ~/new --same-as ~/borealis",
    ),
    "scope": ("nsstore scope", "nsstore scope --session tuesday --json"),
    "remember": (
        'nsstore remember "The release train leaves on Thursdays." --kind decision',
        'git log -1 --format=%B | nsstore remember - --title "The last commit"',
    ),
    "search": ("nsstore search When does the release leave?", "nsstore search -k 3 --json release train"),
    "list": ("nsstore list -n 20", "nsstore list --all --json"),
    "show": ("nsstore show ID", "nsstore show ID --text > note.txt"),
    "edit": ("EDITOR=nano nsstore edit ID",),
    "update": ('nsstore update ID "The release train leaves on Fridays."',),
    "history": ("nsstore history ID",),
    "forget": (
        "nsstore forget ID --dry-run",
        "nsstore forget ID",
        "nsstore forget --whole session --dry-run",
    ),
    "state put": (
        'nsstore state put plan "Ship on Thursday." --if-absent',
        "nsstore state put todo - < todo.txt",
    ),
    "state get": ("nsstore state get plan", "nsstore state get todo --text"),
    "state list": ("nsstore state list",),
    "state history": ("nsstore state history plan",),
    "state forget": ("nsstore state forget todo --dry-run", "nsstore state forget todo"),
    "audit": ("nsstore audit -n 20", "nsstore audit verify", "nsstore audit --json > audit.jsonl"),
    "expire": ("nsstore expire --dry-run", "nsstore expire"),
    "check": ("nsstore check", "nsstore check -v"),
    "selftest": ("nsstore selftest", "nsstore selftest --out ~/gate"),
    "accept": (
        "nsstore accept --html accept.html",
        "nsstore accept --provider nsstore.harness.examples.plain_dict:make",
        "nsstore accept --only AC03 -v",
        "nsstore accept --time",
    ),
    "import": ("nsstore import ~/vault --dry-run", "nsstore import notes.jsonl --source notes"),
    "export": ("nsstore export ~/atlas-bundle", "nsstore export - > atlas.jsonl"),
    "keys backup": ("nsstore keys backup ~/keys.backup",),
    "keys restore": ("nsstore keys restore ~/keys.backup",),
    "keys rotate": ("nsstore keys rotate",),
    "owner init": ("nsstore owner init --name Ada --store ~/notes",),
    "owner grant": (
        """nsstore owner grant cross_session --every-session --tenant acme \\
    --user ada --project atlas --agent codex --purpose recall \\
    --days 30 --why "one memory for all its sessions\"""",
        """nsstore owner grant personal --every-project --tenant acme --user ada \\
    --agent codex --purpose recall --days 365 --why "my other agent\"""",
    ),
    "owner list": ("nsstore owner list",),
    "owner show": ("nsstore owner show 1",),
    "owner revoke": ('nsstore owner revoke 2 --why "the review is done"',),
    "owner explain": ("nsstore owner explain", "nsstore owner explain ID"),
    "owner who-can-read": ("nsstore owner who-can-read ID",),
    "owner accept": ("nsstore owner accept --dry-run",),
    "owner retention set": ('nsstore owner retention set --tenant acme --keep standard=365 --why "law"',),
    "owner retention show": ("nsstore owner retention show --tenant acme",),
    "owner retention list": ("nsstore owner retention list",),
    "backup": ("nsstore backup ~/memory.backup",),
    "move": ("mv ~/notes ~/elsewhere && nsstore move --store ~/elsewhere",),
    "mcp": ("nsstore mcp --client claude-code",),
    "hook claude-code start": ("""echo '{"session_id": "tuesday"}' | nsstore hook claude-code start""",),
    "hook claude-code end": ("""echo '{"session_id": "tuesday"}' | nsstore hook claude-code end""",),
    "restore": ("nsstore restore ~/memory.backup ~/restored",),
}


def show_examples(verb: str, command: click.Command) -> None:
    """Let the help of a verb, and of those below it, end with its examples."""
    if verb in EXAMPLES:
        lines = (part for line in EXAMPLES[verb] for part in line.split("\n"))
        command.epilog = "\n".join(("\b", "Examples:", *(f"  {part}" for part in lines)))
    if isinstance(command, click.Group):
        for name, below in command.commands.items():
            show_examples(f"{verb} {name}", below)
