"""Turns text into terms, the same way for records and for questions.

A question is never parsed: quotes, colons, brackets and the words AND, OR, NOT only separate or
are words. ``docs/design.md`` section 6 asks for both. What can be found:

- words of any case, English words in any inflection (``running`` finds ``runs``);
- with or without accents, composed or not: ``cafe``, ``café``; ``strasse``, ``straße``;
  ``istanbul``, ``İstanbul``; Greek, Cyrillic and Arabic without accents and vowel signs too;
- hashes and other long words whole; of a word above 512 characters the first 512 count;
- ``snake_case`` and ``v1.2.3`` by their parts, ``CamelCase`` only whole;
- scripts written without spaces (Chinese, Japanese, Korean, Thai, Lao, Burmese, Khmer) by any inner
  character or pair of characters; in other scripts not by a part of a word;
- English stop words only in a text that holds nothing else;
- no punctuation, symbol or emoji.
"""

from __future__ import annotations

import re
import threading
import unicodedata
from itertools import islice, pairwise
from typing import Final

from nsstore.errors import InvalidInput
from nsstore.search import tantivy_door

MAX_WORD: Final = 512
"""Characters of one word that count. The stemmer is quadratic in a word, and no hash is longer."""

MAX_QUERY_TERMS: Final = 256
"""Different terms of one question that count, the first ones."""

# Canonical ordering is quadratic in a run of combining marks: 100 kB of them cost 15 s. Every
# character that can begin such a run is matched here (U+FF9E, U+FF9F fold to marks), surrogates are
# not, so that each one is refused; real text has no run of 32 that search would miss.
_MARK: Final = r"(?:[^\w\s\ud800-\udfff]|[\uff9e\uff9f])"
_LONG_RUN_OF_MARKS: Final = re.compile(rf"(?<!{_MARK})({_MARK}{{32}}){_MARK}+")

# Accents, the soft hyphen, Arabic vowel signs and tatweel: written or not, it is the same word.
_OPTIONAL_MARKS: Final = re.compile("[\u0300-\u036f\u00ad\u0640\u064b-\u065f\u0670]+")

# The stop words of the Snowball project, which wrote the stemmer. The 33 words tantivy calls
# "english" lack the words questions are made of (what, who, when, did): with them, questions find
# the turns that ask, not those that answer.
_STOP_WORDS: Final[str] = """
a about above after again against all am an and any are as at be because been before being below
between both but by cannot could did do does doing down during each few for from further had has
have having he her here hers herself him himself his how i if in into is it its itself me more most
my myself no nor not of off on once only or other ought our ours ourselves out over own same she
should so some such than that the their theirs them themselves then there these they this those
through to too under until up very was we were what when where which while who whom why will with
would you your yours yourself yourselves
"""

VERSION: Final = f"1; {tantivy_door.VERSION}"
"""Changes whenever a text can get other terms: what was indexed under another one is made anew."""

_UNSPACED: Final = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Burmese, Khmer
    "\u3005-\u3007\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"  # kana
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff\uac00-\ud7a3]+"  # Han, Hangul
)


class _Analysers(threading.local):
    """One set per thread: ``analyze`` borrows mutably, and only the GIL keeps two borrows apart."""

    def __init__(self) -> None:
        self.english = tantivy_door.splitter(stem=True)
        self.without_stop_words = tantivy_door.splitter(stop_words=_STOP_WORDS.split(), stem=True)
        self.words = tantivy_door.splitter(stem=False)


_analysers: Final = _Analysers()


def terms(text: str, *, field: str = "query") -> list[str]:
    """Return the terms of ``text`` in order, repeats included; any thread may call it.

    Raises ``InvalidInput``, naming ``field``, for a lone surrogate, which is no text; no other
    string raises. Time is linear in the text: 4 to 12 ms for 100 kB of words, below 100 ms for any.
    """
    if not text.isascii():
        text = _UNSPACED.sub(_characters_and_pairs, _fold(text))
    try:
        if len(text) > MAX_WORD and max(map(len, text.split()), default=0) > MAX_WORD:
            text = " ".join(word[:MAX_WORD] for word in _analysers.words(text))
        return _analysers.without_stop_words(text) or _analysers.english(text)
    except UnicodeEncodeError:
        # The original error would carry the text along.
        raise InvalidInput(f"{field}: a lone surrogate is not text") from None


def query_terms(text: str) -> tuple[str, ...]:
    """Return the different terms of a question, the first ``MAX_QUERY_TERMS``; raises as ``terms``."""
    return tuple(islice(dict.fromkeys(terms(text)), MAX_QUERY_TERMS))


def _fold(text: str) -> str:
    text = unicodedata.normalize("NFKD", _LONG_RUN_OF_MARKS.sub(r"\1", text.casefold()))
    return unicodedata.normalize("NFC", _OPTIONAL_MARKS.sub("", text))


def _characters_and_pairs(run: re.Match[str]) -> str:
    # Spaces around, so that a neighbouring word of another script stays a word of its own.
    found = run[0]
    pairs = (first + second for first, second in pairwise(found))
    return f" {' '.join((*found, *pairs))} "
