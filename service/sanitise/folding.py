"""Folding: what a text says to a model that reads past disguises, in a few plain spellings."""

import base64
import binascii
import html
import re
import unicodedata
from typing import Final
from urllib.parse import unquote

# Runs that may be something encoded; how often one may be in another, and how many are looked at.
_BASE64: Final = re.compile(r"[A-Za-z0-9+/_-]{24,}={0,2}")
# The first two letters by themselves: found in a third of the time.
_HEX: Final = re.compile(r"[0-9A-Fa-f][0-9A-Fa-f][ :]?(?:[0-9A-Fa-f]{2}[ :]?){15,}")
_PERCENT: Final = re.compile(r"%[0-9A-Fa-f]{2}[^%]{0,40}%[0-9A-Fa-f]{2}")
_LAYERS: Final = 2
_MOST_RUN_CHARACTERS: Final = 20_000
_LEAST_PRINTABLE: Final = 0.95

_COMMENT: Final = re.compile(r"<!--[^<>]{0,500}-->|</?[A-Za-z][A-Za-z0-9]{0,10}[^<>]{0,200}>")
_EMPHASIS: Final = re.compile(r"[*`\\]+")
# Letters that stand alone, with the same mark between: i g n o r e, i.g.n.o.r.e
_SPACED: Final = re.compile(r"(?<![^\W_])[A-Za-z](?:[ ._*|/-]{1,3}[A-Za-z](?![A-Za-z])){5,}")
# Two of them, which such a run has and few texts do: found in a third of the time.
_TWO_ALONE: Final = re.compile(r"[ ._*|/-][A-Za-z][ ._*|/-]{1,3}[A-Za-z](?![A-Za-z])")
_GAP: Final = re.compile(r"[ ._*|/-]{1,3}")
_INVISIBLE: Final = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    "\u3164\ufe00-\ufe0f\ufeff\uffa0\U0001d173-\U0001d17a\U000e0100-\U000e01ef]"
)
_TAGS: Final = re.compile("[\U000e0000-\U000e007f]")
_TAG: Final = 0xE0000

# Letters of other scripts that look like Latin ones (Unicode TR 39, confusables), those in use.
_LOOKALIKES: Final = str.maketrans(
    "асԁеһіјӏорԛѕтѵхуԝкмнвгАВСЕНІЈКМОРЅТХУαβεηικνορτυχγωΑΒΕΖΗΙΚΜΝΟΡΤΥΧıɡɑℓⅼ",
    "acdehijlopqstvxywkmhbrABCEHIJKMOPsTXYabenikvoptuxywABEZHIKMNOPTYXigall",
)
_LEET: Final = str.maketrans("0134578@$", "oieastbas")
_LEET_WORD: Final = re.compile(r"(?<![\w@$])[A-Za-z0-9@$]{4,20}(?![\w@$])")
# So few words have such a sign, inside or in front, that most texts are done with after this. It
# begins with the sign, for these are fewer than letters.
_LEET_SIGN: Final = re.compile(
    r"[0134578@$](?:(?<=[A-Za-z].)[A-Za-z]|(?<!8)(?<![\w@$].)[A-Za-z]{3})"
)
_LEET_STARTS: Final = (
    "ignor",
    "disreg",
    "forget",
    "previous",
    "instruct",
    "prompt",
    "system",
    "reveal",
)


def spellings(text: str) -> list[str]:
    """Return a text folded and in lower case, and what is encoded or spelled out in it.

    The first is the whole text; each of the others is something that it hides.
    """
    plain = folded(text)
    found = [plain]
    hidden = (
        "".join(chr(ord(one) - _TAG) for one in _TAGS.findall(text)) if not text.isascii() else ""
    )
    found += [hidden] if hidden else []
    if "<" in plain:
        found.append(_COMMENT.sub("", plain))
    spaced = (
        [_GAP.sub("", one) for one in _SPACED.findall(plain)] if _TWO_ALONE.search(plain) else []
    )
    found += [" ".join(spaced)] if spaced else []
    if _LEET_SIGN.search(plain) and any(
        not word.isalpha() and word.translate(_LEET).lower().startswith(_LEET_STARTS)
        for word in _LEET_WORD.findall(plain)
    ):
        found.append(_LEET_WORD.sub(lambda word: word[0].translate(_LEET), plain))
    layer = [text]
    for _ in range(_LAYERS):
        layer = [inner for one in layer for inner in decoded(one)]
        found += [folded(one) for one in layer]
    return [one.lower() for one in found]


def folded(text: str) -> str:
    """Return a text in NFKC without invisible characters, look-alikes, entities and emphasis."""
    if "&" in text:
        text = html.unescape(text)
    if not text.isascii():
        text = unicodedata.normalize("NFKC", _TAGS.sub("", _INVISIBLE.sub("", text)))
        text = _without_accents(text).translate(_LOOKALIKES)
    return _EMPHASIS.sub("", text)


def decoded(text: str) -> list[str]:
    """Return what readable text stands encoded in base64, in hex or in percents."""
    runs = [one[:_MOST_RUN_CHARACTERS] for one in _BASE64.findall(text)]
    found = [_read(_of_base64(one)) for one in runs]
    found += [_read(_of_hex(one)) for one in _HEX.findall(text)]
    if "%" in text and _PERCENT.search(text):
        found.append(unquote(text))
    return [one for one in found if one]


def _of_base64(run: str) -> bytes:
    run = run.rstrip("=").replace("-", "+").replace("_", "/")
    try:
        return base64.b64decode(run[: len(run) - (len(run) % 4 == 1)] + "=" * (-len(run) % 4))
    except (binascii.Error, ValueError):
        return b""


def _of_hex(run: str) -> bytes:
    return bytes.fromhex(run.replace(":", " ")[:_MOST_RUN_CHARACTERS].strip()) if run else b""


def _read(data: bytes) -> str:
    """Return bytes as text if they read as one."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return ""
    printable = sum(one.isprintable() or one.isspace() for one in text)
    return text if text and printable >= _LEAST_PRINTABLE * len(text) else ""


def _without_accents(text: str) -> str:
    # Hangul would fall apart: only marks behind Latin letters are taken off.
    if not any("\u0300" <= one <= "\u036f" or "\u00c0" <= one <= "\u024f" for one in text):
        return text
    parts = unicodedata.normalize("NFD", text)
    return unicodedata.normalize("NFC", "".join(c for c in parts if not "\u0300" <= c <= "\u036f"))
