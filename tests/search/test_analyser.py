"""What a text is found by, and that no text breaks the analyser."""

from __future__ import annotations

import time
import unicodedata
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from nsstore.errors import InvalidInput
from nsstore.search.analyser import MAX_QUERY_TERMS, MAX_WORD, query_terms, terms

any_text = st.text(st.characters(exclude_categories=()))


def found_by(text: str, query: str) -> bool:
    """Whether the text holds every term of the question, and the question has one."""
    wanted = query_terms(query)
    return bool(wanted) and set(wanted) <= set(terms(text))


@given(any_text)
@example("😀" * 32 + "\ud800")
@example("\udcff alpha")
@example("\x00")
@example("\uff9e\u0316" * 40)
def test_only_a_lone_surrogate_is_refused(text: str) -> None:
    """BR-54: every string has terms, except one with a lone surrogate, which is a typed error."""
    if any("\ud800" <= character <= "\udfff" for character in text):
        with pytest.raises(InvalidInput, match=r"\Aquery: a lone surrogate is not text\Z") as caught:
            terms(text)
        assert caught.value.__cause__ is None
        assert caught.value.__suppress_context__
    else:
        for term in terms(text):
            assert term
            assert not any(character.isspace() for character in term)


def test_refusal_names_the_field() -> None:
    """A surrogate in a record's title is refused by the name of the title, without the text."""
    with pytest.raises(InvalidInput, match=r"\Atitle: ") as caught:
        terms("secret \ud800", field="title")
    assert "secret" not in str(caught.value)


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=30))
def test_normal_forms_are_one_text(text: str) -> None:
    """BR-63: a text composed, decomposed or in compatibility forms has the same terms."""
    composed = terms(unicodedata.normalize("NFC", text))
    assert terms(unicodedata.normalize("NFD", text)) == composed


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("café", "cafe"),
        ("cafe", "CAFE\u0301"),
        ("die Straße", "strasse"),
        ("STRASSE", "straße"),
        ("İstanbul", "istanbul"),
        ("istanbul", "I\u0307stanbul"),
        ("Ærø smørrebrød", "aero smorrebrod"),
        ("Ελλάδα ΟΔΟΣ", "ελλαδα οδος"),
        ("η οδός", "οδοσ"),
        ("за\u0301мок ёлка", "замок елка"),  # noqa: RUF001 - Cyrillic is what this row is about
        ("مُحَمَّد أحمد", "محمد احمد"),
        ("co\u00adoperate", "cooperate"),
        ("q\u0303ux", "qux"),
        ("ｆｕｌｌ ｗｉｄｔｈ ﬁne", "full width fine"),  # noqa: RUF001 - full-width letters are meant
        ("She runs every day", "running"),
        ("fix in snake_case_name", "snake name"),
        ("release v1.2.3", "v1.2.3"),
        ("see https://a.example/b?c=d", "a.example"),
        ("class CamelCase", "camelcase"),
        ("commit 2fd4e1c67a2d28fced849ee1bb76e7391b93eb12", "2FD4E1C67A2D28FCED849EE1BB76E7391B93EB12"),
        ("sha256:" + "0a1b2c3d" * 8, "0a1b2c3d" * 8),
        ("sha512 " + "0a1b2c3d" * 16, "0a1b2c3d" * 16),
        ("認証システムの設計メモ", "認証"),
        ("認証システムの設計メモ", "設計"),
        ("認証システムの設計メモ", "証"),
        ("カﾞード", "ガード"),
        ("用户数据库迁移", "数据"),
        ("한국어검색시스템", "검색"),
        ("การทดสอบระบบ", "ทดสอบ"),
        ("テストtestテスト", "test"),
    ],
)
def test_forms_that_find_a_text(text: str, query: str) -> None:
    """BR-63: accents, normal forms, inflections, hashes and inner words of unspaced scripts are found."""
    assert found_by(text, query)


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("class CamelCase", "camel"),
        ("authentication", "authent-x"),
        ("alphabet", "alpha"),
        ("the plan", "the"),
        ("party 🎉", "🎉"),
        ("C++", "++"),
    ],
)
def test_forms_that_do_not_find_a_text(text: str, query: str) -> None:
    """The limits that the module states are the ones it has."""
    assert not found_by(text, query)


@given(st.text("認証システム設計データ검색한국ทดสอบ", min_size=2, max_size=30), st.data())
def test_any_pair_of_an_unspaced_text_is_found(text: str, data: st.DataObject) -> None:
    """BR-63: two neighbouring characters of Chinese, Japanese, Korean or Thai find their text."""
    start = data.draw(st.integers(0, len(text) - 2))
    assert set(terms(text[start : start + 2])) <= set(terms(text))


def test_stop_words_count_where_nothing_else_is() -> None:
    """A text of stop words only keeps them, on both sides; beside another word they are dropped."""
    assert found_by("To be, or not to be", "to be")
    assert found_by("who", "Who?")
    assert terms("who wrote the parser") == ["wrote", "parser"]


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("tenant_id:evil", "tenant id evil"),
        ("user_id:bob", "user id bob"),
        ("record_id:r1", "record id r1"),
        ("alpha OR tenant_id:evil", "alpha tenant id evil"),
        ("title:x body:y", "title x body y"),
        ("what's up?", "what s up"),
        ('"unbalanced', "unbalanced"),
        ("(((", ""),
        ("field:", "field"),
        (r"C:\Users", "C Users"),
        ("https://a.b/c", "https a b c"),
        ("a:b", "a b"),
        ("-alpha", "alpha"),
        ("NOT alpha", "alpha"),
        ("alpha AND beta", "alpha beta"),
        ("alpha^1e30", "alpha 1e30"),
        ("alph* al?ha alpha~2", "alph al ha alpha 2"),
        ("[a TO z] {1 TO 9}", "a z 1 9"),
        ("C++", "C"),
        ('{"a": [1]}', "a 1"),
        ("\x00alpha", "alpha"),
        ("alpha 😀 beta", "alpha beta"),
        ("\u202ealpha\u202c", "alpha"),
        ("/.*/", ""),
        ("*", ""),
        ("(" * 9_000 + "alpha", "alpha"),
    ],
)
def test_query_syntax_is_plain_words(query: str, words: str) -> None:
    """BR-52, BR-54: colons, quotes, brackets, operators and wildcards only separate words."""
    assert query_terms(query) == query_terms(words)


def test_words_that_look_like_operators_are_words() -> None:
    """BR-54: AND, OR and NOT alone are stop words like any other, and no error."""
    assert query_terms("AND") == ("and",)
    assert query_terms("NOT OR") == ("not", "or")


def test_long_words_count_up_to_a_limit() -> None:
    """A word above the limit is found by any word that begins with the same 512 characters."""
    word = "0a1b2c3d" * (MAX_WORD // 8)
    assert terms(word + "tail") == terms(word) == [word]
    assert terms("alpha " + word + "tail beta") == ["alpha", word, "beta"]
    assert terms(word[:-1]) != terms(word)


def test_question_terms_are_different_and_bounded() -> None:
    """A question counts each term once, in order, and the first 256 of them."""
    assert query_terms("beta alpha beta Alphas") == ("beta", "alpha")
    assert query_terms(" ".join(f"w{n}" for n in range(1000))) == tuple(
        f"w{n}" for n in range(MAX_QUERY_TERMS)
    )


@pytest.mark.parametrize(
    "unit",
    [
        "\u0300\u0316",
        "\uff9e\u0316\uff9f\u0316",
        "\u0591\u05b0",
        "a" + "\u0300\u0316" * 16,
        "y",
        "認",
        "\ufdfa",
        "word in a row ",
    ],
    ids=["marks", "halfwidth marks", "hebrew marks", "full runs", "one word", "han", "ligatures", "words"],
)
def test_hostile_texts_take_linear_time(unit: str) -> None:
    """A megabyte of the text that is worst for the normaliser or the stemmer ends within seconds.

    Quadratic, the marks and the one word would take from twenty seconds to half an hour.
    """
    text = unit * (1_000_000 // len(unit.encode()))
    before = time.perf_counter()
    terms(text)
    assert time.perf_counter() - before < 5


def test_threads_get_the_same_terms() -> None:
    """Eight threads that analyse at once get what one would."""
    texts = [f"running number {n} straße 認証 {'x' * n}" for n in range(600)]
    alone = [terms(text) for text in texts]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(terms, texts)) == alone
