"""Questions that ask for what a time held and no more: "what happened yesterday?"; pure."""

import re
from collections.abc import Sequence
from typing import Final

from service.search.times.times import Span
from service.text.cjk import has_cjk
from service.text.words import STOP_WORDS, query_words

# A longer one says what it is about.
_MOST_CHARACTERS: Final = 200
# Beside stop words: what asks for whatever there was, and tells nothing of it.
_ASKING: Final = STOP_WORDS | frozenset(
    """activities activity anything catch change changed changes chat chatted conversation
    conversations diary discuss discussed discussing done else entries entry event events everything
    find get give go going got happen happened happening happens hear heard journal know let like
    list log logged logs look memories memory mention mentioned mentioning new news note noted notes
    nothing occur occurred occurring overview place please read recall recap remember said say see
    session sessions show something speak spoke stuff summaries summarise summarize summary take
    taking talk talked talking tell thing things told took update updated updates us went work
    worked working write written wrote""".split()  # noqa: SIM905 - words, not a list
)
# One of these asks: "do it today" and "we talked yesterday" do not.
_ASKS: Final = re.compile(
    r"\b(?:what|who|where|anything|everything|news|catch|list|show|tell|recap|overview|summary"
    r"|summari[sz]e)\b|무슨|뭐|뭘|무엇|새로운|什[么麼]|哪些",
    re.IGNORECASE,
)
# So does what is written down, where nobody is told to have done or to do it: "notes from
# yesterday", "do you remember yesterday?", but not "I took notes today".
_ASKS_FOR: Final = re.compile(
    r"\A(?!.*\b(?:i|we|they|he|she|take|took|taking|write|wrote|add|log it)\b).*"
    r"\b(?:activity|diary|journal|logs?|notes?|entries|events?|memories|remember|recall|sessions?"
    r"|conversations?|updates?|changes)\b|기억|기록|메모|记得|記得|日志|日誌|笔记|筆記",
    re.IGNORECASE | re.DOTALL,
)
# Of "today's log".
_OF_IT: Final = re.compile(r"\A['’]s\b")
# The letters of such words in Korean and Chinese: 무슨 일이 있었어, 发生了什么.
_ASKING_CJK: Final = re.compile(
    r"[\W무슨일이있었어나지요죠니까습생겼났뭐뭘무엇를을했한것들바뀌뀐달라졌우리내제가는은에새로운얘기억록메모의해보여줘"
    r"发發生了什么麼事情做干幹些有新变變化聊说說谈談讨討论論过過改我们們大家都还還吗嗎呢的消息进進展工作哪记記得日志誌笔筆你您]*"
)
# What is seen alike from any day, and may stand in a text.
_DATE: Final = re.compile(
    r"\d{4}|\d\s?[월月]"
    r"|\b(?:jan|feb|mar|apr|may|june?|july?|aug|sep|oct|nov|dec)(?:[a-z]*)\b",
    re.IGNORECASE,
)


def dates_alone(question: str, spans: Sequence[Span]) -> str | None:
    """Return the dates of a question that asks for nothing but what its times held, "" for none.

    These alone may stand in a text: "last week" was another week when it was written. None for a
    question that asks for more, or names no time.
    """
    if not spans or len(question) > _MOST_CHARACTERS:
        return None
    rest = question
    for span in spans:
        before, _, after = rest.partition(span.text)
        rest = f"{before} {_OF_IT.sub('', after)}"
    # Nothing but a time asks for what it held.
    if rest.strip() and not (_ASKS.search(rest) or _ASKS_FOR.search(rest)):
        return None
    if has_cjk(rest):
        is_alone = _ASKING_CJK.fullmatch(rest) is not None
    else:
        # A text of nothing but stop words keeps them.
        is_alone = _ASKING.issuperset(query_words(rest).split())
    if not is_alone:
        return None
    return " ".join(span.text for span in spans if _DATE.search(span.text))
