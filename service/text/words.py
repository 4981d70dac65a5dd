"""Text to the words that the full-text index holds, and questions to the words to look for.

Code-like tokens stand whole and in parts: `src/app.py` gives `src/app.py app.py src app py`,
`app-2.3.1` gives `app-2.3.1 app 2.3.1`, `HTTPServer` gives `httpserver http server`, `C++` gives
`c++ c`. Runs of Han, Kana, Hangul, Thai and the like become pairs of letters, since no blank tells
where their words end.
"""

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from itertools import islice
from typing import Final

from service.caching import WordTable, cached_by_text
from service.text.combining_marks import run_of, without_optional
from service.text.unspaced import UNSPACED, UNSPACED_RUN, is_unspaced, pairs


def mark_behind(word: str, letter: str | None = None) -> str:
    """Return a pattern for the mark that a letter alone may have, C++ and F#, or nothing.

    `word` is what a class of characters holds of which words are made; none may stand behind it,
    behind `++` no `letter` of them: the slug of C++17 keeps its mark.
    """
    return (
        rf"(?:#(?<=(?<![{word}])[A-Za-z]#)(?!\+|#|[{word}])"
        rf"|\+\+(?<=(?<![{word}])[A-Za-z]\+\+)(?!\+|#|[{letter or word}]))?"
    )


_RUN: Final = run_of(rf"[^\W{UNSPACED}]")
_TOKEN: Final = re.compile(
    rf"{UNSPACED_RUN}|{_RUN}(?:[./:@#+\-_]+{_RUN})*" + mark_behind(rf"^\W{UNSPACED}")
)
# The same where all is ASCII, in two thirds of the time.
_ASCII_TOKEN: Final = re.compile(r"\w+(?:[./:@#+-]+\w+)*" + mark_behind(r"\w"), re.ASCII)
_MARKED: Final = re.compile(r"(?<!\w)([A-Za-z])(?:\+\+(?![^\W\d]|\+|#)|#(?!\w|\+|#))")
# What stays together inside a token: app.py, github.com, 2.3.1.
_PIECE: Final = run_of(r"[^\W_]")
_DOTTED: Final = re.compile(rf"{_PIECE}(?:\.{_PIECE})*")
_VERSION: Final = re.compile(r"[vV]\d")
# No quotation mark stands within its like: a thousand open ones would each be read to the end.
_QUOTED: Final = re.compile(
    r"\"([^\"]+)\"|\u201c([^\u201c\u201d]+)\u201d|\u201e([^\u201c-\u201e]+)[\u201c\u201d]"
    r"|\u00ab([^\u00ab\u00bb]+)\u00bb|\u00bb([^\u00ab\u00bb]+)\u00ab"
    r"|\u300c([^\u300c\u300d]+)\u300d|\u300e([^\u300e\u300f]+)\u300f"
)
_MOST_PHRASES: Final = 5
# So many quotes are looked at for that many phrases that say something.
_MOST_QUOTES: Final = 50
_CASE_PART: Final = re.compile(
    r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+|" + run_of(r"[^\W\d_A-Za-z]")
)
_LETTERS: Final = re.compile(run_of(r"[^\W\d_]"))
_POSSESSIVE: Final = re.compile(r"(?<=\w)['\u2019](?:s|t|re|ve|ll|d|m)\b", re.IGNORECASE)
# "Doesn't" tells as little as "does": its rest (doesn, won, don) is a rare word or another one.
_NEGATED: Final = re.compile(
    r"\b(?:\w{2,6}n['\u2019]t"
    r"|(?:do|does|did|is|are|was|were|has|have|had|ca|wo|could|would|should)nt)\b",
    re.IGNORECASE,
)
_PLURAL: Final = re.compile(r"[A-Z]{2,}s")  # GPUs, APIs: the stemmer keeps the s after a u
# A token longer than this is a hash, a URL or base64: nobody types it whole.
_LONGEST_CHARACTERS: Final = 100
# Past this a question is a pasted text; BM25 over its first words finds the same notes.
_MOST_QUERY_WORDS: Final = 48

STOP_WORDS: Final = frozenset(
    """a about after all also am an and any are as at be because been before being but by can could
    did do does doing during each for from had has have having he her here hers him his how i if in
    into is it its itself just me more most my no nor not now of off on once only or other our ours
    out over own same she should so some such than that the their theirs them then there these they
    this those through to too under until up us very was we were what when where which while who
    whom whose why will with would you your yours""".split()  # noqa: SIM905 - words, not a list
)


def fold(text: str) -> str:
    """Return `text` in one spelling: NFKC, and letters without their accents.

    The hyphens of typesetters, at which models' lines may not break either, are the keyboard's.
    """
    if text.isascii():
        return text
    one = unicodedata.normalize("NFKC", text).replace("\u2010", "-")  # of U+2011 too
    decomposed = unicodedata.normalize("NFD", one)
    return unicodedata.normalize("NFC", without_optional(decomposed))


@cached_by_text()
def index_words(text: str) -> str:
    """Return the words to index for `text`, in its order, separated by blanks."""
    return _words(text)


def memory_words(text: str, tags: Sequence[str]) -> str:
    """Return the words that a memory is found by: of its text, then those of tags that it lacks.

    Line breaks stand between: no phrase runs from the text into a tag, or from tag to tag.
    """
    parts = [index_words(text)]
    known = set(parts[0].split()) if tags else set()
    for tag in tags:
        lacking = [word for word in index_words(tag).split() if word not in known]
        parts += [" ".join(lacking)] if lacking else []
        known.update(lacking)
    return " \n ".join(filter(None, parts))


# One question is asked for its words by every signal and for every snippet.
@lru_cache(maxsize=64)
def query_words(text: str) -> str:
    """Return the words to look for, each once, stop words left out.

    A question of nothing but stop words keeps them: "who are you" must find "Who are you?".
    """
    words = list(dict.fromkeys((_words(_NEGATED.sub(" ", text)) or _words(text)).split()))
    content_words = [word for word in words if word not in STOP_WORDS]
    return " ".join((content_words or words)[:_MOST_QUERY_WORDS])


def quoted_phrases(text: str) -> list[str]:
    """Return what stands in double quotes in a question, as words in their order, each once.

    A memory holds such a phrase if its indexed words hold these, unstemmed, one after the other.
    """
    quotes = ("".join(match.groups("")) for match in islice(_QUOTED.finditer(text), _MOST_QUOTES))
    phrases = (" ".join(index_words(phrase).split()[:_MOST_QUERY_WORDS]) for phrase in quotes)
    return [phrase for phrase in dict.fromkeys(phrases) if phrase][:_MOST_PHRASES]


def plain_words(text: str) -> frozenset[str]:
    """Return those of its words that are the whole of their token, letters as a person writes them.

    Of a token of code several words say the same: where one stands, the others need not. Nor need
    the pairs of letters of a run without blanks, of which inflection changes some.
    """
    return frozenset(
        token.lower() for token in _tokens(text) if _is_plain(token) and not is_unspaced(token)
    )


def _words(text: str) -> str:
    return " ".join(filter(None, map(_WORDS_OF.__getitem__, _tokens(text))))


def _tokens(text: str) -> list[str]:
    folded = fold(text)
    if "'" in folded or "\u2019" in folded:
        folded = _POSSESSIVE.sub("", folded)
    return (_ASCII_TOKEN if folded.isascii() else _TOKEN).findall(folded)


def _words_of(token: str) -> str:
    """Return the words of one token, separated by blanks."""
    if is_unspaced(token):
        return " ".join(pairs(token))
    if len(token) <= _LONGEST_CHARACTERS and _is_plain(token):
        return token.lower()
    if _PLURAL.fullmatch(token):
        return token[:-1].lower()
    return " ".join(_whole_and_parts(token))


# The same words come again and again, in a log and in its summary.
_WORDS_OF: Final = WordTable(_words_of, 32_768)


def _is_plain(token: str) -> bool:
    if token.isalpha() and (token.islower() or token.istitle() or token.isupper()):
        return True
    # Scripts without capitals.
    return (
        not token.isascii() and token.lower() == token.upper() and bool(_LETTERS.fullmatch(token))
    )


def _whole_and_parts(token: str) -> tuple[str, ...]:
    whole = [token, token.rsplit("/", 1)[-1]]
    # Markdown's _emphasis_ and a name such as __init__ look alike: both are found either way.
    whole += [word.strip("_") for word in whole]
    dotted = _DOTTED.findall(token)
    pieces = [piece for word in dotted for piece in word.split(".")]
    whole += [*dotted, *pieces]
    whole += [word[1:] for word in whole if _VERSION.match(word)]
    parts = [part for piece in pieces for part in _split_by_case(piece)]
    # A single letter or digit of a longer token would match everywhere.
    shortest = min(2, len(token))
    words = dict.fromkeys(word.lower() for word in [*whole, *parts])
    found = [w for w in words if w.strip("_") and shortest <= len(w) <= _LONGEST_CHARACTERS]
    marked = _marked(token)
    return (*(word for word in found if word not in marked), *marked)


def _marked(token: str) -> dict[str, None]:
    """Return C++, and the C that it was in what is stored since before, of C++17 and C/C++ too."""
    letters = _MARKED.finditer(token)
    return dict.fromkeys(word.lower() for letter in letters for word in (letter[0], letter[1]))


def _split_by_case(piece: str) -> list[str]:
    return [piece[:-1]] if _PLURAL.fullmatch(piece) else _CASE_PART.findall(piece)
