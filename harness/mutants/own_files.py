"""nsstore with a fault in where records lie, what proves them, and what is left of them."""

# pyright: reportPrivateUsage=false
from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from nsstore import record
from nsstore.harness.mutants.mutant import fault_at
from nsstore.incident import IncidentKind
from nsstore.ledger.brief import Member
from nsstore.root import Dir
from nsstore.scope import Namespace
from nsstore.search.engine import Answer, Searcher
from nsstore.store.judge import Verdict
from nsstore.store.leaf import Leaf
from nsstore.store.proven import Proven, ProvenRecords
from nsstore.store.sealing import Unproven
from nsstore.store.survey import Place, Survey
from nsstore.trust import Chain, Keys

ENCODES: Final = "nsstore.layout.paths:encode"
TELLS: Final = "nsstore.store.witness:Witness.tell_all"
Encode = Callable[[str, str], str]
TellAll = Callable[..., dict[str, str]]


@fault_at(ENCODES, "AC04", "RL01")
def users_in_one_place(real: Encode) -> Encode:
    """Keeps the records of all users of a tenant in one place."""
    return lambda dimension, id_: real(dimension, "all" if dimension == "user" else id_)


@fault_at(ENCODES, "LK08")
def cleaned_path(real: Encode) -> Encode:
    """Makes one sign of every sign of a project that is no letter."""

    def encode(dimension: str, id_: str) -> str:
        return real(dimension, re.sub(r"\W", "-", id_) if dimension == "project" else id_)

    return encode


@fault_at(ENCODES, "LK08")
def path_without_capitals(real: Encode) -> Encode:
    """Spells the ids of tenants in a path without capitals."""
    return lambda dimension, id_: real(dimension, id_.lower() if dimension == "tenant" else id_)


@fault_at("nsstore.store.reading:prove", "RL06")
def reads_without_the_seal(real: object) -> object:
    """Takes a record for what it says where it is read."""
    del real

    def prove(keys: Keys, chain: Chain, ns: Namespace, name: str, raw: bytes) -> record.Record:
        del keys, chain, ns, name
        try:
            return record.decode(raw)
        except record.Malformed:
            raise Unproven(IncidentKind.FORGED) from None

    return prove


@fault_at("nsstore.store.proven:ProvenRecords.of", "RL06")
def proven_once(real: object) -> object:
    """Takes a record that was proven once for proven, whatever its file says by now."""
    del real

    def of(self: ProvenRecords, chain: Chain, record_id: str, raw: bytes) -> Proven | None:
        return self._known.get(record_id) or self._was_sealed(chain, record_id, raw)

    return of


@fault_at("nsstore.store.leaf:judge", "LK13")
def takes_back_what_was_forgotten(real: Callable[..., Verdict]) -> Callable[..., Verdict]:
    """Takes every record with a good seal for one that its writer died in."""

    def judge(survey: Survey, prove: Callable[[str], record.Header], line_of: object) -> Verdict:
        verdict = real(survey, prove, line_of)
        for name, kind in list(verdict.strays.items()):
            if kind is IncidentKind.REPLAYED:
                header = prove(name)
                verdict.ledger = verdict.ledger.copy()
                verdict.ledger.forgotten.pop(header.record_id, None)
                verdict.ledger.members[header.record_id] = Member(header.seq, header.seal)
                verdict.ledger.order = [*verdict.ledger.order, header.record_id]
                del verdict.strays[name]
        return verdict

    return judge


@fault_at("nsstore.store.erase:_unlink", "LK14")
def forgets_in_the_ledger_alone(real: object) -> object:
    """Notes that a record is forgotten, and leaves its file."""
    del real

    def unlink(folder: Dir, name: str, *, flush: bool) -> None:
        del folder, name, flush

    return unlink


@fault_at("nsstore.search.shelves:drop_all", "LK14", full=True)
def forgets_no_view(real: object) -> object:
    """Leaves the views on the disk as they are when a record is forgotten."""
    del real

    def drop_all(home: object, keys: object, chain: object) -> None:
        del home, keys, chain

    return drop_all


@fault_at("nsstore.search.engine:Searcher.search", "LK14", "RL01")
def keeps_answers(real: Callable[..., Answer]) -> Callable[..., Answer]:
    """Keeps every answer in a file of the cache home."""

    def search(self: Searcher, envelope: object, text: str, **given: object) -> Answer:
        answer = real(self, envelope, text, **given)
        home = self.views.home.open(make=True)
        if home is not None:
            raw = home.read("answers", 1 << 20) or b""
            home.replace("answers", raw + "\n".join(one.text for one in answer.hits).encode())
        return answer

    return search


@fault_at("nsstore.store.leaf:Leaf.unchanged", "LK15")
def never_looks_again(real: Callable[[Leaf], bool]) -> Callable[[Leaf], bool]:
    """Looks at a namespace once, and never sees what another process does to it."""
    return lambda self: self._ledger is not None or real(self)


def _silent(*kinds: IncidentKind) -> Callable[[TellAll], TellAll]:
    """What tells of incidents, but not of some."""

    def wrong(real: TellAll) -> TellAll:
        def tell_all(
            self: object, place: Place, found: dict[str, IncidentKind], **how: bool
        ) -> dict[str, str]:
            told = {what: kind for what, kind in found.items() if kind not in kinds}
            return dict.fromkeys(found, "untold") | real(self, place, told, **how)

        return tell_all

    return wrong


@fault_at(TELLS, "RL17")
def untagged_is_not_told(real: TellAll) -> TellAll:
    """Keeps to itself that something without a tag was met."""
    return _silent(IncidentKind.UNTAGGED)(real)


@fault_at(TELLS, "RL20")
def contamination_is_not_told(real: TellAll) -> TellAll:
    """Keeps to itself that a record of somewhere else was met."""
    return _silent(IncidentKind.REPLAYED, IncidentKind.MISPLACED, IncidentKind.STRAY)(real)
