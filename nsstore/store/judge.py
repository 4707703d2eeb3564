"""From one look at a namespace to a verdict: what is a member, what is kept out, and what closes it.

Pure but for the bytes of unlisted names, which ``prove`` reads; the rules are those of
``docs/design.md``, "Order of writes".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import msgspec

from nsstore import layout
from nsstore.incident import IncidentKind
from nsstore.ledger import Ledger, Line
from nsstore.record import Header
from nsstore.store.sealing import Unproven
from nsstore.store.survey import Survey

Prove = Callable[[str], Header]
"""Reads and proves an unlisted name; raises :class:`Unproven`."""
MakeLine = Callable[[Header], Line]
_UNSEALED: Final = (IncidentKind.UNTAGGED, IncidentKind.FORGED)


class Verdict(msgspec.Struct, kw_only=True):
    """What a namespace is at one look.

    ``closed`` is why nothing of it may be served; ``missing`` are members without a file;
    ``recovered`` are lines to write again for sealed records that continue the chain; ``strays``
    are names that are kept out; ``leftovers`` are names a dead writer left, to be set aside. A
    forgotten record that is not erased yet is none of these: whoever holds the namespace next does it.
    """

    ledger: Ledger
    closed: IncidentKind | None = None
    missing: frozenset[str] = frozenset()
    recovered: tuple[Line, ...] = ()
    strays: dict[str, IncidentKind] = msgspec.field(default_factory=dict[str, IncidentKind])
    leftovers: frozenset[str] = frozenset()
    behind: bool = False

    @property
    def plain(self) -> bool:
        """Whether anchor, ledger and directory agree in every point, and nothing is left to be done."""
        repairs = self.recovered or self.behind or self.leftovers or self.ledger.unfinished
        return not (self.closed or self.missing or self.strays or repairs)

    def leave_torn(self) -> None:
        """Count unlisted files without a valid seal as torn: a power cut can leave a name without its bytes.

        For a writer alone in a namespace whose anchor and chain agree; a damaged one keeps its evidence.
        """
        if self.closed is None and not self.missing:
            torn = {
                name
                for name, kind in self.strays.items()
                if kind in _UNSEALED and layout.is_record_name(name)
            }
            self.strays = {name: kind for name, kind in self.strays.items() if name not in torn}
            self.leftovers |= torn


def judge(survey: Survey, prove: Prove, line_of: MakeLine) -> Verdict:
    """Decide what one look means; a namespace that nobody wrote reads as empty."""
    ledger, anchor = survey.ledger, survey.anchor
    names = survey.names or frozenset[str]()
    verdict = Verdict(ledger=ledger)
    if survey.broken:
        verdict.closed = IncidentKind.CHAIN_BROKEN
        return verdict
    unlisted = names - {f"{known}.md" for known in (*ledger.members, *ledger.unfinished)}
    recovered = _sort_unlisted(verdict, unlisted, prove, line_of) if ledger.seq >= 0 else ()
    if ledger.seq < 0:
        verdict.strays = dict.fromkeys(unlisted, IncidentKind.STRAY)
    verdict.missing = frozenset(member for member in verdict.ledger.members if f"{member}.md" not in names)
    verdict.recovered = recovered
    if survey.anchor_broken:
        verdict.closed = IncidentKind.ANCHOR_BROKEN
    elif anchor is None:
        if verdict.ledger.members or verdict.ledger.forgotten:
            verdict.closed = IncidentKind.ANCHOR_BROKEN
    elif verdict.ledger.seq < anchor.seq:
        verdict.closed = IncidentKind.ROLLED_BACK
    elif anchor.head not in (verdict.ledger.macs[anchor.seq], verdict.ledger.given_up.get(anchor.seq)):
        verdict.closed = IncidentKind.CHAIN_BROKEN
    verdict.behind = verdict.closed is None and anchor is not None and anchor.seq < ledger.seq
    return verdict


def _sort_unlisted(
    verdict: Verdict, unlisted: frozenset[str], prove: Prove, line_of: MakeLine
) -> tuple[Line, ...]:
    """Tell crash orphans, which continue the chain one after the other, from everything else."""
    continuing: dict[tuple[int, str], Header] = {}
    for name in sorted(unlisted):
        record_id = layout.record_id_of(name)
        if record_id is None:
            verdict.strays[name] = IncidentKind.STRAY
            continue
        if record_id in verdict.ledger.void:
            verdict.leftovers |= {name}
            continue
        try:
            header = prove(name)
        except Unproven as why:
            verdict.strays[name] = why.kind
        else:
            continuing[header.seq, header.prev] = header
    recovered: list[Line] = []
    if continuing:
        verdict.ledger = verdict.ledger.copy()
    while (following := (verdict.ledger.seq + 1, verdict.ledger.head.hex())) in continuing:
        line = line_of(continuing.pop(following))
        verdict.ledger.apply(line)
        recovered.append(line)
    for (seq, _), header in continuing.items():
        name = f"{header.record_id}.md"
        if seq > verdict.ledger.seq + 1:
            verdict.leftovers |= {name}  # of a batch that a power cut broke off: never acknowledged
        else:
            verdict.strays[name] = IncidentKind.REPLAYED
    return tuple(recovered)
