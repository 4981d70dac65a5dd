"""Masking secrets: whoever reads what is stored learns that there was one, and of which kind."""

# ruff: noqa: E501 - rows of a table

import re
from bisect import bisect_left
from collections import Counter
from math import log2
from typing import Final, NamedTuple

from service.sanitise.secret_rules import NAMED, NAMED_WORDS, SERVICE_WORDS, SERVICES, Rule

PRIVATE_KEY: Final = "private-key"
_MASK: Final = "[SECRET:{}]"
_MASK_BEGINS: Final = "[SECRET:"
_MOST_MASK: Final = 40
# As editors write an underscore in markdown; who reads a heading reads it without the backslash.
_ESCAPED: Final = "\\_"
# A mask may bring what stands behind it to light: then once more, until nothing is found.
_MOST_ROUNDS: Final = 4

# As it is, or as an address has it.
_LINE_OF_KEY: Final = r"-----{0}{1}(?:[A-Z0-9]{{1,20}}{1}){{0,3}}PRIVATE{1}KEY(?:{1}BLOCK)?-----"
_BEGIN: Final = re.compile(_LINE_OF_KEY.format("BEGIN", "(?:[ +]|%20)"))
_END: Final = re.compile(_LINE_OF_KEY.format("END", "(?:[ +]|%20)"))
# A key that was cut off: lines of it, quoted, indented or with the line ends of JSON or an address.
_BETWEEN: Final = r"(?:[\s>|#\"',+]|\\[nr]|%0[ADad]){0,24}"
_KEY_LINES: Final = re.compile(
    rf"{_BETWEEN}(?:(?:[A-Za-z0-9+/=]|%2[BFbf]|%3[Dd]){{16,}}{_BETWEEN})*"
)
_LETTERS_OF_KEY: Final = re.compile(r"[A-Za-z0-9+/]{16,}")
_MOST_KEY_CHARACTERS: Final = 20_000
_LEAST_KEY_CHARACTERS: Final = 48
_NO_LINE_END: Final = re.compile(r"[^\r\n]+")

_PLACEHOLDERS: Final = (
    "example", "placeholder", "changeme", "change-me", "change_me", "your", "xxxx", "****", "redacted",
    "dummy", "sample", "insert", "replace", "${", "{{", "$(", "...", "\u2026", "[secret:", "abcdef",
    "123456789", "<", "\u2022\u2022",
)  # fmt: skip
# Names of what passwords are made with, and passwords that say that they are one.
_NO_PASSWORDS: Final = frozenset(
    [
        "aes-128",
        "aes-256",
        "aes128",
        "aes256",
        "argon2",
        "argon2id",
        "argon2i",
        "base64",
        "bcrypt2",
        "md5",
        "oauth2",
        "pbkdf2",
        "sha1",
        "sha256",
        "sha512",
        "utf8",
        "utf-8",
        "p4ssw0rd",
        "password1",
        "password123",
        "passw0rd",
        "secret123",
        "test123",
        "test1234",
        "user1",
        "foo123",
        "abc123",
    ]
)
_URL_WORDS: Final = frozenset(
    [
        "admin",
        "pass",
        "passwd",
        "password",
        "postgres",
        "pw",
        "pwd",
        "root",
        "secret",
        "test",
        "token",
        "user",
        "username",
    ]
)
# `settings.token2`, `os.environ[...]`, `get_token(`, a path, an address: no value but its name.
_CODE: Final = re.compile(
    r"[A-Za-z_$]+(?:\.|->|::|\?\.)[A-Za-z_]+(?![A-Za-z0-9_]).*|[$%@/~.*&].*|https?:.*|[a-z_]+[0-9]?"
    r"|[A-Z]+_[A-Z0-9_]+|.*\(.*",
    re.DOTALL,
)
# A language model's name, such as gpt-4o-2024-08-06: its family, then numbers and such words alone.
# A phrase of other words may be a secret.
_MODEL: Final = re.compile(
    r"(?i:(?:openai/|anthropic/|google/|meta-llama/|mistralai/|qwen/|deepseek-ai/)?"
    r"(?:(?:chat)?gpt|o[1-9]|claude|gemini|gemma|llama|mistral|mixtral|qwen|deepseek|grok|text-embedding)"
    r"[0-9]{0,2}(?:[-.:@](?:20[0-9]{6}|v?[0-9]{1,4}[a-z]?|[0-9]{1,2}x[0-9]{1,3}b|audio|chat|coder|embedding|exp|fast|flash|haiku"
    r"|high|instruct|it|large|latest|lite|low|max|medium|mini|nano|opus|preview|pro|realtime|search|small|sonnet"
    r"|thinking|tts|transcribe|turbo|vision)){1,10})[.,;:!?]?"
)
_FORTY: Final = re.compile(r"(?<![A-Za-z0-9/+=_-])[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+=_-])")


class Masked(NamedTuple):
    """A text without its secrets, and the kinds of those that it had, one for each."""

    text: str
    kinds: tuple[str, ...] = ()


def mask_secrets(text: str) -> Masked:
    """Mask the secrets of a text as `[SECRET:kind]`; lines stay where they are.

    Of a private key's lines the line ends stay. To mask once more changes nothing.
    """
    if _ESCAPED in text:
        text = "\n".join(map(_unescaped, text.split("\n")))
    kinds: list[str] = []
    for _ in range(_MOST_ROUNDS):
        masked = _mask(text)
        if not masked.kinds:
            break
        text = masked.text
        kinds += masked.kinds
    return Masked(text, tuple(kinds))


def _unescaped(line: str) -> str:
    """Return a line as a reader of markdown sees its underscores, if one is of a secret."""
    plain = line.replace(_ESCAPED, "_")
    return plain if plain != line and len(_mask(plain).kinds) > len(_mask(line).kinds) else line


def _mask(text: str) -> Masked:
    lowered = text.lower()
    kinds: list[str] = []
    if "private" in lowered and "-----BEGIN" in text:
        text = _without_private_keys(text, kinds)
    named = {word for word in NAMED_WORDS if word in lowered}
    own = {word for word in SERVICE_WORDS if word in text}
    for rules, present in ((SERVICES, own), (NAMED, named)):
        for rule in rules if present else ():
            if not present.isdisjoint(rule.words):
                text = _masked_by(rule, text, kinds)
    if "aws-key" in kinds:
        text = _FORTY.sub(lambda found: _mask_of_pair(found, kinds), text)
    return Masked(text, tuple(kinds))


def _masked_by(rule: Rule, text: str, kinds: list[str]) -> str:
    parts, end = [], 0
    for found in rule.pattern.finditer(text):
        group = _group_of(found)
        if _is_secret(rule, found, found[group]) and not _is_in_mask(found):
            parts += [text[end : found.start(group)], _MASK.format(rule.kind)]
            end = found.end(group)
            kinds.append(rule.kind)
    return "".join([*parts, text[end:]]) if parts else text


def _is_in_mask(found: re.Match[str]) -> bool:
    """Say whether a match begins with the words of a mask."""
    start = found.start()
    before = found.string[max(0, start - _MOST_MASK) : start + len(_MASK_BEGINS) - 1]
    opened = before.rfind(_MASK_BEGINS)
    return opened >= 0 and "]" not in before[opened:]


def _group_of(found: re.Match[str]) -> int:
    """Return the number of the group that holds the secret."""
    groups = [n for name, n in found.re.groupindex.items() if name.startswith("secret")]
    return next((n for n in groups if found[n] is not None), 0)


def _is_secret(rule: Rule, found: re.Match[str], value: str) -> bool:
    if _is_placeholder(value):
        return False
    if rule.proof == "random":
        return _is_random(value)
    if rule.proof == "chosen":
        return _is_chosen(value)
    if rule.proof == "url":
        return value != found["user"] and value.lower() not in _URL_WORDS
    return len(set(value)) >= 8


def _is_placeholder(value: str) -> bool:
    lowered = value.lower()
    return any(word in lowered for word in _PLACEHOLDERS)


def _is_random(value: str) -> bool:
    """Say whether a value is as mixed as a key: of English words few have digits in them."""
    return (
        len(value) >= 16
        and " " not in value
        and any(map(str.isdigit, value))
        and any(map(str.isalpha, value))
        and _CODE.fullmatch(value) is None
        and _MODEL.fullmatch(value) is None
        and _entropy(value) >= 3.0
    )


def _is_chosen(value: str) -> bool:
    """Say whether a value may be a password: letters and digits, and no name in a program."""
    bare = value.rstrip(".,;:!?")
    return (
        len(bare) >= 6
        and any(map(str.isdigit, bare))
        and any(map(str.isalpha, bare))
        and bare.lower() not in _NO_PASSWORDS
        and "://" not in bare
        and (_CODE.fullmatch(bare) is None or (bare[0] in "$%@&*" and len(set(bare)) > 7))
    )


def _entropy(value: str) -> float:
    """Return Shannon's entropy in bits a character."""
    size = len(value)
    return -sum(n / size * log2(n / size) for n in Counter(value).values())


def _mask_of_pair(found: re.Match[str], kinds: list[str]) -> str:
    """Mask the other half of an AWS key, which looks like nothing when it stands alone."""
    value = found[0]
    if (
        value.isupper()
        or value.islower()
        or not any(map(str.isdigit, value))
        or _entropy(value) < 4
    ):
        return value
    kinds.append("aws-secret-key")
    return _MASK.format("aws-secret-key")


def _without_private_keys(text: str, kinds: list[str]) -> str:
    ends = [found.end() for found in _END.finditer(text)]
    parts, done = [], 0
    for begin in _BEGIN.finditer(text):
        if begin.start() < done:
            continue
        at = bisect_left(ends, begin.end())
        end = ends[at] if at < len(ends) else len(text) + _MOST_KEY_CHARACTERS
        if end - begin.start() > _MOST_KEY_CHARACTERS or _BEGIN.search(text, begin.end(), end):
            lines = _KEY_LINES.match(text, begin.end())
            end = lines.end() if lines else begin.end()
        letters = sum(map(len, _LETTERS_OF_KEY.findall(text, begin.end(), end)))
        if letters < _LEAST_KEY_CHARACTERS:
            continue
        lines_kept = _NO_LINE_END.sub("", text[begin.start() : end])
        parts += [text[done : begin.start()], _MASK.format(PRIVATE_KEY), lines_kept]
        done = end
        kinds.append(PRIVATE_KEY)
    return "".join([*parts, text[done:]])
