"""What names a time in Korean and in Chinese, and the days it means; pure.

No blank tells where a word begins: what is no time (`五月天` is a band, `오늘날` means nowadays) is
kept out by the letters around it.
"""

import re
from datetime import date, timedelta
from typing import Final

from service.search.times import periods
from service.search.times.periods import Reading, Unit, table

_COUNTER: Final = re.compile(r"\s|个|個")

_HAN_DIGITS: Final = "〇一二三四五六七八九"
_SEASONS: Final = {
    "봄": 3, "여름": 6, "가을": 9, "겨울": 12, "春": 3, "夏": 6, "秋": 9, "冬": 12,
}  # fmt: skip
_WEEKDAYS: Final = ("월一", "화二", "수三", "목四", "금五", "토六", "일日天")
_NUMBERS: Final = {
    "한": 1, "하루": 1, "두": 2, "이틀": 2, "세": 3, "사흘": 3, "네": 4, "나흘": 4, "다섯": 5,
    "열": 10, "两": 2, "兩": 2,
}  # fmt: skip
_UNITS: Final[dict[str, Unit]] = {
    "일": "day", "틀": "day", "흘": "day", "루": "day", "주": "week", "달": "month", "월": "month",
    "년": "year", "해": "year", "天": "day", "日": "day", "周": "week", "週": "week", "期": "week",
    "拜": "week", "月": "month", "年": "year",
}  # fmt: skip
# Days and units that begin with no number: how many of which unit back, or the one that goes on.
_BACK: Final[dict[str, tuple[Unit, int]]] = {
    "오늘": ("day", 0), "어제": ("day", 1), "그저께": ("day", 2), "그제": ("day", 2),
    "이번주": ("week", 0), "지난주": ("week", 1), "저번주": ("week", 1),
    "지난주말": ("weekend", 1), "이번주말": ("weekend", 0),
    "이번달": ("month", 0), "지난달": ("month", 1), "저번달": ("month", 1),
    "올해": ("year", 0), "작년": ("year", 1), "지난해": ("year", 1), "재작년": ("year", 2),
    "今天": ("day", 0), "今日": ("day", 0), "昨天": ("day", 1), "昨日": ("day", 1),
    "昨晚": ("day", 1), "前天": ("day", 2),
    "本周": ("week", 0), "本星期": ("week", 0), "这周": ("week", 0), "这星期": ("week", 0),
    "上周": ("week", 1), "上星期": ("week", 1), "上周末": ("weekend", 1),
    "本月": ("month", 0), "这月": ("month", 0), "上月": ("month", 1),
    "今年": ("year", 0), "去年": ("year", 1), "前年": ("year", 2),
}  # fmt: skip

_HAN: Final = "[一二三四五六七八九十]"
_YEAR: Final = rf"(?P<year>(?:19|20)\d\d|[一二][九〇][{_HAN_DIGITS}]{{2}})"
_KOREAN_YEAR: Final = "(?P<said>재작년|작년|지난해|올해)"
_CHINESE_YEAR: Final = "(?P<said>去年|前年|今年)"
_HANGUL_COUNT: Final = r"(?P<count>\d{1,3}|한|두|세|네|다섯|열)"
_HAN_COUNT: Final = rf"(?P<count>\d{{1,3}}|[两兩]|{_HAN}{{1,3}})"


def _number(word: str) -> int:
    """Return the number of a word: 7, 十二, 二十一, 두. Raises ValueError for one that is none."""
    if word in _NUMBERS:
        return _NUMBERS[word]
    if word.isdecimal():
        return int(word)
    if "十" not in word:
        return int("".join(str(_HAN_DIGITS.index(digit)) for digit in word))
    tens, _, ones = word.partition("十")
    return 10 * (_number(tens) if tens else 1) + (_number(ones) if ones else 0)


def _year_of(match: re.Match[str], today: date) -> int | None:
    """Return the year that is said with a month or season: 2023年, 작년."""
    if match["year"]:
        return _number(match["year"])
    return today.year - _BACK[match["said"]][1] if match["said"] else None


def _date(match: re.Match[str], today: date) -> Reading:
    year = _year_of(match, today)
    month = _number(match["month"])
    if match["day"]:
        day = _number(match["day"])
        if year:
            return periods.day_of(date(year, month, day)), "firm"
        return periods.latest_day(today, month, day), "latest"
    if not 1 <= month <= 12:
        return None
    if year:
        return periods.months_from(year, month), "firm"
    return periods.latest_month(today, month), "latest"


def _year(match: re.Match[str], _: date) -> Reading:
    return periods.months_from(_number(match["year"]), 1, 12), "firm"


def _back(match: re.Match[str], today: date) -> Reading:
    word = _COUNTER.sub("", match[0]).replace("這", "这").replace("週", "周")
    unit, count = _BACK[word.replace("礼拜", "星期")]
    period = periods.before(today, unit, count) if count else periods.period_around(today, unit)
    return period, "firm"


def _ago(match: re.Match[str], today: date) -> Reading:
    count = _number(match["count"] or match["days"])
    return periods.before(today, _unit(match), count), "firm"


def _rolling(match: re.Match[str], today: date) -> Reading:
    return periods.up_to_today(today, _unit(match), _number(match["count"])), "firm"


def _unit(match: re.Match[str]) -> Unit:
    words = match.groupdict()
    word = words.get("unit") or words.get("days") or ""
    return _UNITS["주" if word == "주일" else word[-1]]


def _weekday(match: re.Match[str], today: date) -> Reading:
    number = next(n for n, names in enumerate(_WEEKDAYS) if match["weekday"] in names)
    if match["week"]:
        back = 7 * (match["week"][0] in "지저上")
        monday = periods.period_around(today, "week")[0]
        return periods.day_of(monday + timedelta(days=number - back)), "firm"
    if match.groupdict().get("last"):
        return periods.latest_weekday(today - periods.DAY, number), "firm"
    return periods.latest_weekday(today, number), "weekday"


def _season(match: re.Match[str], today: date) -> Reading:
    first_month, year = _SEASONS[match["season"]], _year_of(match, today)
    if year:
        return periods.months_from(year, first_month, 3), "firm"
    return periods.latest_season(today, first_month), "firm"


EASTERN: Final = table(
    # Korean.
    ((rf"(?<![\d.])(?:(?:{_YEAR}\s*년|{_KOREAN_YEAR})\s*)?(?P<month>\d{{1,2}})월(?!호)"
      r"(?:\s*(?P<day>\d{1,2})일)?"), _date),
    (rf"(?<![\d.]){_YEAR}\s*년(?!\s*(?:동안|간|전|후|대|이상|만|\d))", _year),
    ((r"(?<![가-힣])(?:오늘(?!날)|어제|그저께|그제(?!서|야)|(?:지난|저번|이번)\s?주(?!년|말)"
      r"|(?:이번|지난)\s?주말|(?:지난|저번|이번)\s?달|올해|작년|재작년|지난해)"
      r"(?!\s?(?:봄|여름|가을|겨울))"), _back),
    ((rf"(?<![\d.가-힣])(?:{_YEAR}\s*년|{_KOREAN_YEAR}|지난)\s?"
      r"(?P<season>봄|여름|가을|겨울)"), _season),
    ((r"(?<![가-힣])(?:(?P<week>(?:지난|저번|이번)\s?주\s?)|(?P<last>(?:지난|저번)\s?))?"
      r"(?P<weekday>[월화수목금토일])요일"), _weekday),
    ((rf"(?<![\d.,가-힣])(?:{_HANGUL_COUNT}\s?(?P<unit>일|주일?|달|개월|년|해)"
      r"|(?P<days>하루|이틀|사흘|나흘))\s?전(?!체|부(?!터)|국|화|자|문|반|세)"), _ago),
    ((rf"(?<![가-힣])(?:최근|지난)\s?{_HANGUL_COUNT}\s?(?P<unit>일|주일?|달|개월|년)(?!전)"),
     _rolling),
    # Chinese.
    ((rf"(?<![\d.第十])(?:(?:{_YEAR}\s*年|{_CHINESE_YEAR})\s*)?(?<![\d.第十一二三四五六七八九])"
      rf"(?P<month>\d{{1,2}}|{_HAN}{{1,2}})\s*月(?![天饼])"
      rf"(?:\s*(?P<day>\d{{1,2}}|{_HAN}{{1,3}})\s*[日号號])?"), _date),
    (rf"(?<![\d.]){_YEAR}\s*年(?!\s*[代前后後来來\d]|历史)", _year),
    ((r"今天|今日|昨天|昨日|昨晚|(?<!大)前天|本月|[这這上][个個]?月"
      r"|(?:本|[这這][个個]?|(?<!上)上[个個]?)(?:周|週|星期|礼拜)(?![末一二三四五六日天])"
      r"|(?<!上)上[个個]?[周週]末|(?:今年|去年|(?<![\d几数多年])前年)(?!的?[春夏秋冬])"), _back),
    (rf"(?:(?<![\d.]){_YEAR}\s*年|{_CHINESE_YEAR})的?(?P<season>[春夏秋冬])[天季]?", _season),
    ((r"(?P<week>(?<!上)上[个個]?|[这這][个個]?|本)?(?:周|週|星期|礼拜)"
      r"(?P<weekday>[一二三四五六日天])"), _weekday),
    ((rf"(?<![\d.,万亿千百第]){_HAN_COUNT}\s*[个個]?"
      r"(?P<unit>天|周|週|星期|礼拜|(?<=[个個])月|年)[之以]?前"), _ago),
    (rf"(?:最近|过去|過去|近){_HAN_COUNT}\s*[个個]?(?P<unit>天|周|週|月|年)", _rolling),
)  # fmt: skip
