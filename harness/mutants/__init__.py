"""Stores that leak, each by one small fault: what the suite has to turn red for."""

from nsstore.harness.mutants import (
    own_answers,
    own_files,
    own_rights,
    own_rows,
    plain_answers,
    plain_records,
    plain_scopes,
)
from nsstore.harness.mutants.mutant import MUTANTS, Mutant

ROOMS = (own_answers, own_files, own_rights, own_rows, plain_answers, plain_records, plain_scopes)
"""Where mutants stand: importing one notes what is in it."""

__all__ = ["MUTANTS", "ROOMS", "Mutant"]
