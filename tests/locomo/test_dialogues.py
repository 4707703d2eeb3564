"""The conversations are read whole, and their evidence as annotated."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from bench.locomo.dialogues import DataMissingError, Dialogue, data_home, load, parse
from bench.locomo.trial import EXPECTED


def turn(turn_id: str, text: str, caption: str | None = None) -> dict[str, object]:
    """A turn as the files hold it, fields that are not read included."""
    said: dict[str, object] = {"speaker": "Ann", "dia_id": turn_id, "text": text, "img_url": ["x"]}
    return said if caption is None else said | {"blip_caption": caption}


def conversation(*questions: tuple[list[str], int]) -> Dialogue:
    """A conversation of two sessions and some questions, each of evidence and category."""
    asked = [{"question": "Who?", "answer": 5, "evidence": ids, "category": n} for ids, n in questions]
    return parse(
        "7",
        msgspec.json.encode(
            {
                "speaker_a": "Ann",
                "session_10": [turn("D10:1", "Last.")],
                "session_10_date_time": "2 pm on 2 May, 2023",
                "session_10_summary": "left out",
                "session_2": [turn("D2:1", "Hi."), turn("D2:2", "Look!", "a photo of a dog")],
                "session_2_date_time": "1 pm on 1 May, 2023",
                "session_3_date_time": "a date without a session",
                "events_session_2": {},
                "qa": asked,
            }
        ),
    )


def test_a_turn_is_speaker_words_caption_and_date() -> None:
    """What is remembered of a turn is four things, each on its line, and no more."""
    turns = conversation().sessions["session_2"]
    assert [(one.turn_id, one.session, one.text) for one in turns] == [
        ("D2:1", "session_2", "Ann: Hi.\n1 pm on 1 May, 2023"),
        ("D2:2", "session_2", "Ann: Look!\nimage: a photo of a dog\n1 pm on 1 May, 2023"),
    ]


def test_sessions_come_in_order_of_their_numbers() -> None:
    """Session 2 stands before session 10, and what only looks like a session is none."""
    assert list(conversation().sessions) == ["session_2", "session_10"]


@pytest.mark.parametrize(
    ("written", "read"),
    [
        (["D2:1"], ("D2:1",)),
        (["D10:1", "D2:2"], ("D10:1", "D2:2")),
        (["D2:1; D2:2"], ("D2:1", "D2:2")),
        (["D2:1 D2:2", "D2:1"], ("D2:1", "D2:2")),
        (["D2:1", "D9:9", "D", "D:2:1"], ("D2:1",)),
        (["D2:01", "D2:2"], ("D2:2",)),
    ],
)
def test_evidence_is_every_id_that_names_a_turn(written: list[str], read: tuple[str, ...]) -> None:
    """Several ids in one string count each, an id counts once, and one that names no turn is dropped."""
    (question,) = conversation((written, 1)).questions
    assert question.evidence == read


def test_questions_without_evidence_or_of_the_fifth_category_are_left_out() -> None:
    """Only categories 1 to 4 with evidence that names a turn are asked."""
    found = conversation(([], 1), (["D9:9"], 2), (["D2:1"], 5), (["D2:1"], 4)).questions
    assert [question.category for question in found] == [4]


def test_missing_data_names_the_variable(tmp_path: Path) -> None:
    """Where there are no conversations, the error says which variable to set."""
    with pytest.raises(DataMissingError, match="NSSTORE_DATA"):
        load(tmp_path)


def test_the_variable_names_the_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """``NSSTORE_DATA`` is where the data is looked for."""
    monkeypatch.setenv("NSSTORE_DATA", str(tmp_path))
    assert data_home() == tmp_path


def test_the_release_is_whole() -> None:
    """The ten conversations have exactly the turns, sessions and questions that the release has."""
    try:
        dialogues = load()
    except DataMissingError as missing:
        pytest.skip(str(missing))
    assert len(dialogues) == 10
    assert {
        "turns": sum(len(turns) for one in dialogues for turns in one.sessions.values()),
        "sessions": sum(len(one.sessions) for one in dialogues),
        "questions": sum(len(one.questions) for one in dialogues),
    } == EXPECTED
    assert EXPECTED == {"turns": 5882, "sessions": 272, "questions": 1535}
    for one in dialogues:
        texts = {turn.turn_id: turn.text for turns in one.sessions.values() for turn in turns}
        assert len(texts) == sum(map(len, one.sessions.values()))
        assert all(turn_id in texts for question in one.questions for turn_id in question.evidence)
