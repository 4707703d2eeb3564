"""Ten thousand Markdown files of other people's writing, imported: and what was told of the rest."""
