"""The conversations and their questions, read where they lie; nothing of them is part of this project."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import msgspec

from bench.disk import PROJECT

VARIABLE: Final = "NSSTORE_DATA"
CATEGORIES: Final = range(1, 5)  # 5 asks for what was never said
_SESSION: Final = re.compile(r"\Asession_([0-9]+)\Z")
_TURN_ID: Final = re.compile(r"D[0-9]+:[0-9]+")


class DataMissingError(Exception):
    """The conversations are not where they are looked for; the message names the variable to set."""


class Turn(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One utterance; ``text`` is what is remembered of it."""

    turn_id: str
    session: str
    text: str


class Question(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A question and the turns that answer it: at least one, each once, in the order annotated."""

    text: str
    category: int
    evidence: tuple[str, ...]


class Dialogue(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One conversation: its sessions in order, each with its turns, and its questions."""

    name: str
    sessions: dict[str, tuple[Turn, ...]]
    questions: tuple[Question, ...]


class _Said(msgspec.Struct, frozen=True):
    speaker: str
    dia_id: str
    text: str
    blip_caption: str | None = None


class _Asked(msgspec.Struct, frozen=True):
    question: str
    category: int
    evidence: tuple[str, ...]


def data_home() -> Path:
    """The directory that holds ``locomo10``: ``$NSSTORE_DATA``, else ``../shared/data`` of the project."""
    named = os.environ.get(VARIABLE)
    return Path(named) if named else PROJECT.parent / "shared" / "data"


def load(home: Path | None = None) -> tuple[Dialogue, ...]:
    """Read every conversation under ``home`` (:func:`data_home` if left out), in the order of names.

    Raises :class:`DataMissingError` if there is none, ``msgspec.ValidationError`` on another shape.
    """
    folder = (data_home() if home is None else home) / "locomo10"
    files = sorted(folder.glob("*.json"))
    if not files:
        raise DataMissingError(f"no conversations in {folder}: set {VARIABLE} to the folder of locomo10")
    return tuple(parse(path.stem, path.read_bytes()) for path in files)


def parse(name: str, raw: bytes) -> Dialogue:
    """Read one conversation; ids in the evidence that name no turn are dropped, and questions without
    evidence or outside categories 1 to 4 with them.
    """
    fields = msgspec.json.decode(raw, type=dict[str, msgspec.Raw])
    numbers = sorted(int(found[1]) for found in map(_SESSION.match, fields) if found)
    sessions = {f"session_{number}": _turns(fields, f"session_{number}") for number in numbers}
    known = {turn.turn_id for turns in sessions.values() for turn in turns}
    asked = msgspec.json.decode(fields["qa"], type=tuple[_Asked, ...])
    questions = (
        Question(text=one.question, category=one.category, evidence=_evidence(one, known))
        for one in asked
        if one.category in CATEGORIES
    )
    return Dialogue(name=name, sessions=sessions, questions=tuple(one for one in questions if one.evidence))


def _turns(fields: Mapping[str, msgspec.Raw], session: str) -> tuple[Turn, ...]:
    """The turns of one session; speaker, words, caption of a shown image and date are each one line."""
    date = msgspec.json.decode(fields[f"{session}_date_time"], type=str)
    said = msgspec.json.decode(fields[session], type=tuple[_Said, ...])
    return tuple(Turn(turn_id=one.dia_id, session=session, text=_text(one, date)) for one in said)


def _text(said: _Said, date: str) -> str:
    caption = [] if said.blip_caption is None else [f"image: {said.blip_caption}"]
    return "\n".join([f"{said.speaker}: {said.text}", *caption, date])


def _evidence(asked: _Asked, known: set[str]) -> tuple[str, ...]:
    """Every turn id in the strings, several in one included, each once, if it names a turn."""
    named = (turn_id for entry in asked.evidence for turn_id in _TURN_ID.findall(entry))
    return tuple(dict.fromkeys(turn_id for turn_id in named if turn_id in known))
