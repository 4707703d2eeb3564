"""Area 4 of the public bug reports, BR-52, BR-54, BR-61 and BR-63: words, ids and the query language."""

import json
import re
import unicodedata
from collections.abc import Callable
from pathlib import Path
from unittest.mock import patch

import pytest

from bench.binding import bind
from bench.owning import Hand
from bench.world import World
from nsstore import InvalidInput, NotVisible, OpenStore
from nsstore.audit import read_events
from nsstore.policy import Every, Kind, Opens
from nsstore.store import Below, forget_below
from tests.cases.conftest import filled, ids, keep
from tests.cli.conftest import Person

pytestmark = pytest.mark.usefixtures("kept_views")

LANGUAGE = [
    *("tenant_id:evil", "user_id:bob", "alpha OR tenant_id:evil", "title:quartz body:basalt", "tags:blue"),
    *(
        "record:{id}",
        "record_id:{id}",
        "terms:quartz",
        "seq:1",
        "length:[0 TO 99]",
        "seq:[* TO *]",
        "*:*",
        "*",
    ),
    *('"quartz basalt"~5', "+quartz -basalt", "quartz AND NOT basalt", "quartz^9 basalt^0.1", "/qua.*/"),
    *(
        "qua*",
        "terms: IN [quartz basalt]",
        "(quartz OR (basalt))",
        "terms:/.*/",
        "_exists_:terms",
        "quartz~2",
    ),
]


@pytest.mark.parametrize("mode", ["in memory", "kept", "several sessions"])
def test_br52_a_question_addresses_no_field(store: OpenStore, mode: str) -> None:
    """Whatever a query language would make of it, a question is its words: same hits, scores and order."""
    mine = bind(store)
    for field, value in (("tenant_id", "evil"), ("user_id", "bob"), ("agent_id", "bob"), ("branch", "evil")):
        bind(store, **{field: value}).remember("alpha quartz evil bob", title="quartz", tags=["blue"])
    receipts = mine.remember_many(
        ["alpha quartz", "basalt and quartz", "evil words", "basalt", "bob says tenant id"]
    )
    if mode == "kept":
        filled(mine)
        keep(store, mine)
    if mode == "several sessions":
        Hand.of(store).grant(store, Kind.CROSS_SESSION, opens=Opens(sessions=Every(every="session")))
        bind(store, session_id="s-2").remember_many(["quartz alpha alpha", "evil tenant"])
    readable = {one.record_id for one in mine.list(limit=1000).items}
    for pattern in LANGUAGE:
        question = pattern.format(id=receipts[0].record_id)
        plain = re.sub(r"[^A-Za-z0-9.]|(?<!\d)\.|\.(?!\d)", " ", question).replace(".", " ")
        asked, words = (mine.search(one, k=100) for one in (question, plain))
        assert [(hit.record_id, hit.score) for hit in asked.hits] == [
            (hit.record_id, hit.score) for hit in words.hits
        ], question
        if mode != "several sessions":
            assert {hit.record_id for hit in asked.hits} <= readable
        assert all(hit.provenance.scope["tenant_id"] == "acme" for hit in asked.hits)
    assert ids(mine, receipts[0].record_id) == []
    assert ids(mine, "*") == ids(mine, "*:*") == ids(mine, "claude main shop world alice") == []


PASTED = [
    *("what's up?", "AND", '"unbalanced', "(((", "field:", "C:\\Users", "https://a.b/c", "a:b", "-alpha"),
    *(
        "NOT alpha",
        "alpha^1e30",
        "C++",
        "alpha~",
        "[alpha TO",
        "{alpha",
        "alpha)",
        "alpha && beta || !",
        "\\",
    ),
    *("🙂 alpha 🙂", "🙂", "שלום alpha עולם", "\u202ealpha\u202c", '{"a": [1], "alpha": null}', "\x00alpha"),
    *(
        "alpha\x00beta",
        "\x00",
        "",
        " ",
        "\t\n",
        "alpha" * 3000,
        "(" * 9000,
        '"' * 9001,
        "a:" * 5000,
        "alpha *",
    ),
    "Traceback (most recent call last):\n" + '  File "/srv/x.py", line 3, in <module> alpha\n' * 150,
    "-" * 5000 + "alpha",
]


@pytest.mark.parametrize("kept", [False, True], ids=["in memory", "kept"])
def test_br54_any_text_is_a_question(store: OpenStore, kept: object) -> None:
    """Logs, paths, code and brackets by the thousand raise nothing and find what their words find."""
    session = bind(store)
    for text in PASTED:
        session.remember(text or "empty")
    session.remember("something else")
    if kept:
        filled(session)
        keep(store, session)
    for text in PASTED:
        words = re.sub(r"[^\w\s]|_", " ", text)
        found, expected = session.search(text, k=100), session.search(words, k=100)
        assert [(hit.record_id, hit.score) for hit in found.hits] == [
            (hit.record_id, hit.score) for hit in expected.hits
        ], text[:40]
        if re.search(r"\w", words):
            assert text in {hit.text for hit in found.hits}, text[:40]
        else:
            assert found.hits == ()


def test_br54_a_lone_surrogate_is_refused(store: OpenStore) -> None:
    """It is a typed refusal wherever text is taken, and nothing of it is written."""
    session = bind(store)
    taking: list[Callable[[str], object]] = [
        session.search,
        session.remember,
        lambda bad: session.remember("x", title=bad),
        lambda bad: session.remember("x", tags=[bad]),
        lambda bad: session.remember("x", ext={"k": bad}),
        lambda bad: session.state.put("k", bad),
        session.state.get,
    ]
    for bad in ("\ud800", "alpha \udfff", "x" * 5000 + "\udc80"):
        for take in taking:
            with pytest.raises(InvalidInput):
                take(bad)
    assert session.list().total == 0


def test_br54_the_command_line_takes_it_too(person: Person) -> None:
    """Each such text is searched from a terminal as it is, by its words."""
    mine = person.remember("alpha beta")
    for text in PASTED:
        if "\x00" not in text and len(text) < 10_000:
            found = json.loads(person.ok("search", "--json", "--", text))
            expected = [mine] if re.search(r"\b(alpha|beta)\b", text) else []
            assert [hit["record_id"] for hit in found["hits"]] == expected, text[:40]
    assert person("search", "--", "\udcff").exit_code == 3


KEYS = ["rec-1", "rec-2", "REC-1", "rec", "1", "the", "rec-1 ", "rec 1", "rec-11", "r" * 80, "r" * 79 + "s"]


def test_br61_one_key_is_one_document(store: OpenStore) -> None:
    """Documents whose keys share words, case or beginnings are changed and forgotten one at a time."""
    state = bind(store).state
    keys = [key for key in KEYS if key == key.strip()]
    for key in keys:
        state.put(key, f"first of {key}")
    for key in keys:
        before = {one.key: one.text for one in state.list()}
        state.put(key, f"second of {key}")
        assert {one.key: one.text for one in state.list()} == {**before, key: f"second of {key}"}
    left = set(keys)
    for key in keys:
        assert state.forget(key).count == 2
        left.discard(key)
        assert {one.key for one in state.list()} == left
        with pytest.raises(NotVisible):
            state.get(key)


@pytest.mark.parametrize("kept", [False, True], ids=["in memory", "kept"])
def test_br61_one_id_is_one_record(store: OpenStore, kept: object) -> None:
    """Of ids that begin alike, and of records that name each other's ids, one is changed at a time."""
    session = bind(store)
    made = [one.record_id for one in session.remember_many(f"quartz {n}" for n in range(12))]
    namer = session.remember("quartz that names " + " ".join(made)).record_id
    if kept:
        filled(session)
        keep(store, session)
    assert made[0][:8] == made[1][:8]
    for wrong in (made[0].upper(), made[0][:-1], made[0] + " ", made[0][:8], made[0].replace("-", "")):
        with pytest.raises(InvalidInput):
            session.forget(wrong)
    left = {*made, namer}
    for number, one in enumerate(made):
        left.discard(one)
        if number % 2:
            left.add(session.remember(f"quartz newer {number}", supersedes=[one]).record_id)
        else:
            assert session.forget(one).records == (one,)
        assert set(ids(session, "quartz")) == left
        assert {item.record_id for item in session.list(limit=1000).items if "quartz" in item.text} == left
        assert ids(session, made[-1])[0] == namer


def test_br61_one_scope_is_forgotten_at_a_time(store: OpenStore) -> None:
    """Sessions, projects and users whose names share words or case are forgotten one at a time."""
    names = ["rec-1", "rec-2", "REC-1", "rec", "1", "the", "rec 1", "r" * 80]
    sessions = {name: bind(store, user_id=name) for name in names}
    for name, session in sessions.items():
        session.remember(f"quartz of {name}")
    for number, name in enumerate(names):
        (done,) = forget_below(store, Below(tenant=("tenant", "acme"), user=name))
        assert len(done.records) == 1
        for other, session in sessions.items():
            gone = names.index(other) <= number
            assert len(session.search("quartz").hits) == session.list().total == (0 if gone else 1)


HASH40, HASH64 = "9f2c1e7ab0d34c58e6f7a1b2c3d4e5f60718293a", "ab12" * 16
FORMS = {
    "认证系统的设计备忘": ["认证", "设计", "备忘", "系统"],
    "認証システムの設計メモ": ["認証", "設計", "システム", "ｼｽﾃﾑ"],
    "데이터베이스를 설정했습니다": ["베이", "설정", "데이터"],
    "ระบบยืนยันตัวตน": ["ยืน", "ตัวตน"],
    "قاعدة البيانات": ["البيانات", "قَاعِدَة"],
    "Die Straße ist grün, café à Zürich": ["strasse", "STRASSE", "grun", "grün", "cafe", "zurich", "café"],
    "İstanbul": ["istanbul", "ISTANBUL", "İSTANBUL"],
    f"commit {HASH40}": [HASH40, HASH40.upper()],
    f"sha256 {HASH64}": [HASH64],
    "see https://docs.example.org/a/path?x=1": ["https://docs.example.org/a/path?x=1", "docs.example.org"],
    "snake_case_name": ["snake_case_name", "snake", "case name"],
    "CamelCaseName": ["camelcasename", "CamelCaseName"],
    "release v1.2.3": ["v1.2.3", "v1"],
    "\ufb01le \uff26\uff35\uff2c\uff2c": ["file", "full"],
}


@pytest.mark.parametrize("kept", [False, True], ids=["in memory", "kept"])
@pytest.mark.parametrize("where", ["text", "title", "tags"])
def test_br63_what_is_written_is_found(store: OpenStore, kept: object, where: str) -> None:
    """Inner words of unspaced scripts, hashes, other forms and accents find their record, in every field."""
    session = bind(store)

    def remember(text: str) -> str:
        if where == "text":
            return session.remember(text).record_id
        text = unicodedata.normalize("NFC", text)  # labels are NFC; what is not is refused
        if where == "title":
            return session.remember("-", title=text).record_id
        return session.remember("-", tags=[text]).record_id

    made = {text: remember(text) for text in FORMS}
    if kept:
        filled(session)
        keep(store, session)
    for text, questions in FORMS.items():
        for question in questions:
            for form in ("NFC", "NFD"):
                found = ids(session, unicodedata.normalize(form, question), k=3)
                assert made[text] in found, (text, question, form)


def test_br63_both_normal_forms_find_each_other(store: OpenStore) -> None:
    """A text written composed and one written decomposed answer the same question alike."""
    session = bind(store)
    texts = [unicodedata.normalize(form, "Café Zürich 데이터") for form in ("NFC", "NFD")]
    made = {session.remember(text).record_id for text in texts}
    for question in ("café", "cafe\u0301", "데이", unicodedata.normalize("NFD", "데이터")):
        hits = session.search(question).hits
        assert {hit.record_id for hit in hits} == made
        assert len({hit.score for hit in hits}) == 1
    assert [one.text for one in session.list().items] == texts[::-1]


def analysed_otherwise(*_: object) -> tuple[list[str], list[str], list[str]]:
    """The terms that another analyser makes of any text."""
    return ["other"], [], []


def test_br63_another_analyser_begins_anew(store: OpenStore, world: World, kept_views: Path) -> None:
    """A view whose terms another analyser made is never asked with the words of this one, but made again."""
    session = bind(store)
    mine = filled(session)
    with (
        patch("nsstore.search.fold.VERSION", "0; of another time"),
        patch("nsstore.search.matches.analysed", analysed_otherwise),
    ):
        keep(store, session)
    (manifest,) = kept_views.glob("*/views/*/*/manifest")
    assert b"0; of another time" in manifest.read_bytes()
    for _ in range(3):
        with world.open() as fresh:
            late = bind(fresh)
            assert sorted(ids(late, "common")) == sorted(mine)
            assert len(ids(late, "filler7")) == 1
            assert ids(late, "other") == []
            fresh.settle()
    assert b"0; of another time" not in manifest.read_bytes()
    events = {line.reason for line in read_events(store.audit, ("tenant", "acme")) if line.incident}
    assert "view_damaged" not in events
