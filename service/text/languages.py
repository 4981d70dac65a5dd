# ruff: noqa: E501 - rows of tables
"""Which language a text is written in, by its smallest words; pure.

Every sentence is held together by a few words that tell nothing: half of what is read is the
commonest hundred. Here stand some of each language; what two share counts for both. A near relative
goes by the name of one: Norwegian is Swedish, Slovak is Czech, Catalan is Spanish. Korean, Chinese
and Japanese are told by their letters, see cjk.py.
"""

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import Final

from service.text.combining_marks import run_of

# Of a text's words so many are of the language that it is in, and so many different ones: "la la
# la" is a song. Of 600 help pages each in nine languages 44 to 94 in a hundred are known by these,
# two at most are taken for another language, and of 11,000 English texts none (by hand).
_LEAST_SHARE: Final = 0.12
_FEWEST: Final = 3

_WORD: Final = re.compile(run_of(r"[^\W\d_]"))
# It has no blanks, and its letters are nobody else's.
_THAI: Final = re.compile("[\u0e01-\u0e4e]+")
_LEAST_THAI: Final = 0.2

_SMALL_WORDS: Final[Mapping[str, str]] = {
    # English comes first: of equal counts it has the text.
    "": "the of and to is in that it was for with on are this be not you have from or by as at they we has will can if a i do me so no",
    "Arabic": "في من على أن إلى هذا هذه التي الذي عن مع لا ما كان أو هو هي ذلك كل ثم بعد قبل",
    "Czech": "a se na je v že do to pro není jsou nebo které která který jako byl byla jen tak ale při jeho už",
    "Dutch": "de het een en niet van voor op dat zijn wordt ook te bij naar heeft door aan worden kunt",
    "French": "le la les des et est une dans pour que qui sur pas nous avec du au ce sont par vous il elle cette",
    "German": "der das und ist nicht ein eine mit auf für von dem den zu wird wurde auch sich wir ich sind werden oder nach",
    "Greek": "και το να είναι της του την για με από τα στο που δεν θα οι των ένα στην τον μια",
    "Hebrew": "של את על לא עם זה הוא היא כי אני או כל גם אם אל יש אין היה שלי ניתן",
    "Hindi": "है के का की में और को से पर यह हैं कि एक नहीं था ने लिए इस भी या",
    "Indonesian": "dan yang di untuk dengan tidak ini itu dari pada ke akan atau dalam adalah kami saya bisa sudah oleh",
    "Italian": "il la le è una per che di con del della non un gli sono nel si alla dei ha stato anche abbiamo",
    "Persian": "و در به از که این را با برای است آن یک می شود تا یا بر خود هم کرد",
    "Polish": "nie się na w z i do to jest że od dla po jak lub oraz są przez można był która który",
    "Portuguese": "o os e é uma em para que por com da não um dos das ou ao foi são mais se está",
    "Russian": "и в не на что это с для по из как к от или но мы при если его я был",
    "Spanish": "el la los las y es una en para que por con del se no un lo al su está fue más",
    "Swedish": "och att det som är på en av för den inte har till om ett vi jag kan eller från var",
    "Turkish": "ve bir bu için ile da de çok olarak değil olan veya gibi daha en ne kadar",
    "Ukrainian": "і в не на що це з для та до як від або у за ми ви при якщо його",
    "Vietnamese": "và là của có không được cho trong một các này để với những đã hoặc khi bạn từ",
}  # fmt: skip


def _languages_by_word() -> dict[str, list[str]]:
    by_word = defaultdict(list)
    for language, words in _SMALL_WORDS.items():
        for word in words.split():
            by_word[word].append(language)
    return dict(by_word)


_LANGUAGES: Final = _languages_by_word()


def language_by_words(text: str) -> str | None:
    """Return the language that a text is in, in English; None for English and unknown ones."""
    if sum(map(len, _THAI.findall(text))) > _LEAST_THAI * len(text):
        return "Thai"
    words = _WORD.findall(unicodedata.normalize("NFC", text).lower())
    counts = Counter(language for word in words for language in _LANGUAGES.get(word, ()))
    if not counts:
        return None
    [(language, count)] = counts.most_common(1)
    different = {word for word in words if language in _LANGUAGES.get(word, ())}
    is_in_it = len(different) >= _FEWEST and count >= _LEAST_SHARE * len(words)
    return language if language and is_in_it else None
