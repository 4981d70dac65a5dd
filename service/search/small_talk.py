"""Small talk: what a user types that no memory can answer, in English, Korean and Chinese; pure.

Precision first. A text is small talk only if it is made of the phrases below and nothing else;
with one word more, a digit, or words and a question mark, memories are searched.
"""

import re
import unicodedata
from typing import Final

_MARKS: Final = re.compile(r"[^\w']+")

_MOST_CHARACTERS: Final = 60
_WITHOUT_WORDS: Final = re.compile(r"[\W_]*")
# Marks of a question, of code, paths, handles and quantities.
_TELLING: Final = re.compile(r"[?\uff1f\d`/\\_@#<>={}\[\]$%*]")
_LENGTHENED: Final = re.compile(r"([^\W\d])\1{2,}")

_ENGLISH: Final = """
hi/hey/hello/yo/howdy/greetings/hi there/hey there/hello there/hi all/hello everyone
good morning/good afternoon/good evening/good night/good day/morning/nice to meet you
bye/bye bye/goodbye/good bye/see you/see ya/see you later/see you soon/see you tomorrow/cheers
have a nice day/have a good day/have a good one/take care/good luck
thanks/thank you/thx/ty/tysm/many thanks/thanks a lot/thanks a million/thanks so much/thanks again
thank you so much/thank you very much/thank you again/much appreciated/appreciated/i appreciate it
appreciate it/thanks for your help/thanks for the help/thank you for your help/thanks in advance
ok/okay/okey/okie/k/kk/alright/all right/right/sure/sure thing/of course/certainly/absolutely
yes/yeah/yea/yep/yup/yes please/please/no/nope/nah/no thanks/no thank you/indeed/exactly/agreed
fine/good/great/nice/cool/perfect/awesome/excellent/amazing/wonderful/fantastic/brilliant/lovely
neat/sweet/super/wow/very good/very nice/so good/so cool/that is great/that's great/that's fine
that's good/that's perfect/that's right/that works/works for me/fine by me/fine with me/all good
got it/gotcha/i got it/understood/i understand/i see/makes sense/that makes sense/noted
sounds good/sounds great/looks good/looks great/looks good to me/lgtm/fair enough/true
well done/good job/great job/nice job/good work/great work/nice work/nice one/you rock
no problem/no worries/not a problem/np/you're welcome/you are welcome/my pleasure/never mind
nevermind/sorry/my bad/oops/go on/go ahead/please go on/please go ahead/continue/please continue
carry on/keep going/proceed/please proceed/let's go/let's do it/do it/next/then/so/well/and
lol/rofl/lmao/haha/hahaha/hehe/hihi/hm/hmm/uh/um/ah/aha/oh/ooh/whoa/yay/hooray/phew/ugh
"""
_KOREAN: Final = """
안녕/안녕하세요/안녕하십니까/안녕히 계세요/안녕히 가세요/반가워/반가워요/반갑습니다/좋은 아침
좋은 아침이에요/잘 자/잘자/잘 자요/수고/수고해/수고했어/수고했어요/수고하세요/수고하셨습니다
수고하셨어요/고생했어/고생하셨습니다/고마워/고마워요/고맙습니다/고맙다/감사/감사해/감사해요
감사합니다/감사드립니다/땡큐/정말/진짜/너무/아주/대단히/매우/네/넵/넹/예/응/웅/어/그래/그래요
그렇군/그렇군요/그렇구나/맞아/맞아요/맞습니다/아니/아니요/아니오/아냐/괜찮아/괜찮아요/괜찮습니다
좋아/좋아요/좋습니다/좋네/좋네요/좋다/굿/최고/최고야/최고예요/대박/멋져/멋지다/멋져요/훌륭해
훌륭해요/훌륭합니다/알겠어/알겠어요/알겠습니다/알았어/알았어요/알았습니다/오케이/오키/확인
확인했어/확인했어요/확인했습니다/이해했어/이해했어요/이해했습니다/잘했어/잘했어요/잘하셨습니다
계속/계속해/계속해요/계속해줘/계속해 줘/계속해주세요/계속해 주세요/계속하세요/진행해/진행해줘
진행해 줘/진행해주세요/진행해 주세요/부탁해/부탁해요/부탁드려요/부탁드립니다/미안/미안해/미안해요
죄송합니다/죄송해요/하하/하하하/헤헤/히히/ㅋ/ㅋㅋ/ㅎ/ㅎㅎ/ㅇㅇ/ㅇㅋ/ㄱㅅ/ㄳ/ㄴㄴ/ㄱㄱ/ㅠ/ㅠㅠ/ㅜ
ㅜㅜ/음/아/오/와/우와/아하
"""
_CHINESE: Final = """
你好/您好/大家好/嗨/哈喽/哈啰/早/早安/早上好/上午好/中午好/下午好/晚上好/晚安/再见/再會/拜拜/回头见/明天见/幸会
谢谢/謝謝/谢谢你/謝謝你/谢谢您/謝謝您/多谢/多謝/非常感谢/非常感謝/十分感谢/感谢/感謝/太感谢了/辛苦了/辛苦你了/麻烦你了
好/好的/好吧/好呀/好啊/好嘞/行/行吧/可以/可以的/嗯/嗯嗯/哦/噢/喔/啊/呀/是/是的/对/對/对的/對的/没错/沒錯/当然/當然/不/不是
不用/不用了/不要/没有/沒有/明白/明白了/知道了/我知道了/收到/了解/了解了/懂了/我懂了/没问题/沒問題/没事/沒事/没关系/沒關係
不客气/不客氣/不用谢/不用謝/继续/繼續/请继续/請繼續/继续吧/继续说/接着说/请/請/不错/不錯/很好/非常好/太好了/真好/真棒
太棒了/棒/厉害/厲害/赞/讚/完美/真的/哈哈/哈哈哈/呵呵/嘿嘿/嘻嘻/哇/抱歉/对不起/對不起/不好意思/加油/就这样/好极了
"""


def _plain(text: str) -> str:
    """Return a text in one spelling: a blank for each run of marks, "yesss" as "yes"."""
    letters = unicodedata.normalize("NFC", text).casefold().replace("\u2019", "'")
    return _LENGTHENED.sub(r"\1", _MARKS.sub(" ", letters)).strip()


def _any_of(phrases: str) -> str:
    plain = {_plain(phrase) for phrase in phrases.replace("\n", "/").split("/")} - {""}
    return "|".join(map(re.escape, sorted(plain, key=lambda phrase: (-len(phrase), phrase))))


# Chinese runs on without a blank: "好的谢谢". The longest phrase is taken, and nothing tried twice.
_SMALL_TALK: Final = re.compile(
    rf"(?:(?:(?:{_any_of(_ENGLISH)}|{_any_of(_KOREAN)})\b|{_any_of(_CHINESE)}) ?)++"
)


def is_small_talk(text: str) -> bool:
    """Return whether a text is a greeting, thanks, an acknowledgement or emoji, and no more."""
    if _WITHOUT_WORDS.fullmatch(text):
        return True
    if len(text) > _MOST_CHARACTERS or _TELLING.search(text):
        return False
    return _SMALL_TALK.fullmatch(_plain(text)) is not None
