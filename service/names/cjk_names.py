"""Names in Korean, Chinese and Japanese text, where no capital marks them: by what stands beside.

The tables are small on purpose: a surname is in them if it is among the most common ones (the
censuses of Korea, 2015, and of China, 2010) and does not also begin common words.
"""

import re
from collections.abc import Iterator
from typing import Final

from service.text.cjk import HAN, HANGUL, KATAKANA

_KOREAN_SURNAMES: Final = "김이박최정강조윤장임한오서신권황안송류전홍문양손배백허남심노"
_KOREAN_TITLES: Final = (
    "씨|님|사장|팀장|부장|과장|차장|대리|이사|전무|상무|대표|회장|원장|교수|박사|선생|기자|의원|"
    "감독|작가|변호사"
)
_CHINESE_SURNAMES: Final = (
    "王李张張刘劉陈陳杨楊赵趙黄黃周吴吳徐孙孫胡朱郭罗羅郑鄭梁谢謝宋许許邓鄧韩韓冯馮曹彭曾萧蕭"
    "董袁潘蒋蔣蔡余杜叶葉苏蘇魏吕呂丁沈姚卢盧姜崔钟鍾谭譚陆陸汪范廖贾賈邹鄒邱侯尹薛"
)
_CHINESE_TITLES: Final = (
    "先生|女士|小姐|老师|老師|教授|博士|经理|經理|总监|總監|主任|董事长|董事長|总裁|總裁|院长|"
    "院長|校长|校長|局长|局長|部长|部長|律师|律師|医生|醫生|工程师|工程師"
)
# 정보팀, 고객사, 서울대: an office, not a person.
_OFFICES: Final = "팀사부과실국처청회자대"
_PERSON: Final = re.compile(
    rf"(?<![{HANGUL}])([{_KOREAN_SURNAMES}][{HANGUL}]{{2}})(?<![{_OFFICES}])"
    rf"(?= ?(?:{_KOREAN_TITLES}))"
    rf"|([{_CHINESE_SURNAMES}][{HAN}]{{1,2}})(?={_CHINESE_TITLES})"
    rf"|(?<![{KATAKANA}])([{KATAKANA}]{{3,12}})(?=さん|氏|様)"
    rf"|(?<![{HAN}])([{HAN}]{{2,4}})(?=氏[ぁ-ん])"
)
_WORK: Final = re.compile(r"《([^《》\n]{1,40})》|『([^『』\n]{1,40})』")
_QUOTED: Final = re.compile(r"[「“]([^「」“”\s,.!?、。，！？；：…]{2,16})[」”]")
# What stands between a Chinese name and the words before it, which no blank parts.
_FUNCTION_LETTERS: Final = (
    "的了在去和与與是我你他她们們这這那到从從对對把被为為向及或等也都就由给給"
    "一二三两兩几幾家个個某些各每另该該其所"
)
_OWN_LETTER: Final = f"(?:(?![{_FUNCTION_LETTERS}])[{HAN}])"
# Two letters before 公司 mostly say its trade: 石油公司 is any oil company.
_ORGANISATION: Final = re.compile(
    rf"(?<![{HANGUL}])([{HANGUL}]{{2,10}}(?:대학교|은행|병원|연구소|고등학교|박물관|그룹))"
    rf"|({_OWN_LETTER}{{3,8}}公司|{_OWN_LETTER}{{2,8}}"
    r"(?:大学|大學|银行|銀行|集团|集團|医院|醫院|研究所|研究院|博物馆|博物館))"
    rf"|株式会社([{HAN}{KATAKANA}]{{2,12}})"
)


def certain_names(text: str) -> Iterator[tuple[str, str]]:
    """Yield (name, kind) of the persons with a title and of the works in title marks.

    These are names at their first use: 김민수 팀장, 张伟经理, 《红楼梦》.
    """
    for pattern, kind in ((_PERSON, "person"), (_WORK, "work")):
        for match in pattern.finditer(text):
            yield "".join(match.groups("")), kind


def possible_names(text: str) -> Iterator[str]:
    """Yield what is a name if a second memory uses it: words in quotes and organisations."""
    for pattern in (_QUOTED, _ORGANISATION):
        for match in pattern.finditer(text):
            yield "".join(match.groups(""))
