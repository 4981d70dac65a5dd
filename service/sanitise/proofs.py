"""Proofs: what is asked of a value before it is taken for a secret."""

# ruff: noqa: E501 - rows of a table

import base64
import binascii
import re
from collections import Counter
from collections.abc import Callable, Mapping
from math import log2
from typing import Final

_PLACEHOLDERS: Final = (
    "example", "placeholder", "changeme", "changeit", "change-me", "change_me", "****", "redacted",
    "dummy", "sample", "insert", "replace", "${", "{{", "$(", "...", "\u2026", "[secret:", "abcdef",
    "123456789", "<", "\u2022\u2022",
)  # fmt: skip
# As long tokens have these by chance, they must be written as words are.
_SHORT_PLACEHOLDERS: Final = ("your", "Your", "YOUR", "xxxx", "XXXX")
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
        "hmac-sha256",
        "sha-1",
        "sha-256",
        "sha-384",
        "sha-512",
        "sha1",
        "sha256",
        "sha3-256",
        "sha384",
        "sha512",
        "utf8",
        "utf-8",
        "wpa2",
        "wpa2-psk",
        "wpa3-sae",
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
# A salt has all marks, those of placeholders too; no phrase has so many different ones.
_MARKS_OF_SALT: Final = 24
# What manuals write in the place of a password, or behind its option.
_WORDS_FOR_PASSWORDS: Final = ("pass", "pwd", "token", "secret", "apikey", "api-key", "api_key")
_WORDS_OF_MANUALS: Final = frozenset(
    (
        "argument", "arguments", "because", "before", "command", "community", "credential",
        "credentials", "default", "disabled", "enabled", "foobar", "instead", "option", "optional",
        "options", "parameter", "parameters", "private", "prompt", "prompts", "public", "required",
        "should", "string", "strings", "switch", "usage", "username", "value", "values", "variable",
        "without",
    )
)  # fmt: skip
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
# A run of letters with digits in it: words with numbers at their ends are names of things.
_RUN: Final = re.compile(r"(?=[A-Za-z]{0,40}[0-9])(?=[0-9]{0,40}[A-Za-z])[A-Za-z0-9]{12,}")
# `settings.token2`, `os.environ[...]`, `get_token(`, a path, an address: no value but its name.
_CODE: Final = re.compile(
    r"[A-Za-z_$]+(?:\.|->|::|\?\.)[A-Za-z_]+(?![A-Za-z0-9_]).*|[$%@/~.*&].*|https?:.*|[a-z_]+[0-9]?"
    r"|[A-Z]+_[A-Z0-9_]+|.*\(.*",
    re.DOTALL,
)
# How long a password is, and not which: `8-character`, `90-day`, `10-stellig`.
_MEASURE: Final = re.compile(
    r"(?i:[0-9]{1,4}-(?:bits?|bytes?|char(?:acter)?s?|days?|digits?|letters?|words?|stellig\w{0,3}))"
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


# The commonest words of four letters: of four groups of a password none is one, or one by chance.
_FOUR_LETTERS: Final = frozenset(
    """
    able acid aged also anti area army away baby back ball bank base bath bear beat been beer bell belt bend best bill bird
    blow blue boat body bomb bond bone book boom born boss both bowl bulk burn bush busy call calm came camp card care case
    cash cast cell chat chip city clip club coal coat code cold come cook cool cope copy core cost crew crop dark data date
    dawn days dead deal dean dear debt deep deny desk dial died diet disc disk does done door dose down draw drew drop drug
    dual duke dust duty each earn ease east easy edge else even ever evil exit face fact fail fair fall farm fast fate fear
    feed feel feet fell felt file fill film find fine fire firm fish five flat flow food foot ford form fort four free from
    fuel full fund gain game gate gave gear gene gift girl give glad goal goes gold golf gone good gray grew grey grow gulf
    hair half hall hand hang hard harm hate have head hear heat held hell help here hero high hill hire hold hole holy home
    hope host hour huge hung hunt hurt idea inch into iron item join jump jury just keen keep kept kick kill kind king knee
    knew know lack lady laid lake land lane last late lead left less life lift like line link list live load loan lock logo
    long look lord lose loss lost love luck made mail main make male many mark mass mean meat meet menu mere mile milk mill
    mind mine miss mode mood moon more most move much must name navy near neck need news next nice nine none nose note okay
    once only onto open oral over pace pack page paid pain pair palm park part pass past path peak pick pink pipe plan play
    plot plug plus poll pool poor port post pull pure push race rail rain rank rare rate read real rear rely rent rest rice
    rich ride ring rise risk road rock role roll roof room root rose rule rush safe said sake sale salt same sand save seat
    seed seek seem seen self sell send sent sept ship shop shot show shut sick side sign site size skin slip slow snow soft
    soil sold sole some song soon sort soul spot star stay step stop such suit sure take tale talk tall tank tape task team
    tech tell tend term test text than that them then they thin this thus till time tiny told toll tone tool tour town tree
    trip true tune turn twin type unit upon used user vary vast very vice view vote wage wait wake walk wall want ward warm
    wash wave ways weak wear week well went were west what when whom wide wife wild will wind wine wing wire wise wish with
    wood word wore work yard yeah year your zero zone
    """.split()  # noqa: SIM905 - one a line were as long as the rest
)


def is_proved(value: str, proof: str, user: str | None = None) -> bool:
    """Say whether a value is what a rule's proof asks for, and no placeholder.

    `user` is whom a rule names beside the secret: `url` and `basic` look at it.
    """
    if proof == "salt" and len(set(value)) >= _MARKS_OF_SALT:
        return True
    if _is_placeholder(value):
        return False
    return _is_for(user, value) if proof == "url" else _PROOFS[proof](value)


def _is_placeholder(value: str) -> bool:
    lowered = value.lower()
    return any(word in lowered for word in _PLACEHOLDERS) or any(
        word in value for word in _SHORT_PLACEHOLDERS
    )


def _is_random(value: str) -> bool:
    """Say whether a value is as mixed as a key: of English words few have digits in them."""
    return (
        len(value) >= 16
        and " " not in value
        and any(map(str.isdigit, value))
        and any(map(str.isalpha, value))
        and _CODE.fullmatch(value) is None
        and _MODEL.fullmatch(value) is None
        and entropy(value) >= 3.0
    )


def _is_key(value: str) -> bool:
    """Say whether a value is random, and no words that are joined by dashes or dots."""
    return _is_random(value) and _RUN.search(value) is not None


def _is_chosen(value: str) -> bool:
    """Say whether a value may be a password: letters and digits, and no name in a program."""
    bare = value.rstrip(".,;:!?")
    return (
        len(bare) >= 6
        and any(map(str.isdigit, bare))
        and any(map(str.isalpha, bare))
        and bare.lower() not in _NO_PASSWORDS
        and _MEASURE.fullmatch(bare) is None
        and "://" not in bare
        and (_CODE.fullmatch(bare) is None or (bare[0] in "$%@&*" and len(set(bare)) > 7))
    )


def _is_placed(value: str) -> bool:
    """Say whether a value may be a password, of letters or digits alone too: no word for one."""
    bare = value.rstrip(".,;:!?")
    lowered = bare.lower()
    return _is_chosen(value) or (
        len(bare) >= 6
        and bare.isascii()
        and not bare.isupper()
        and lowered not in _NO_PASSWORDS
        and lowered not in _WORDS_OF_MANUALS
        and not any(word in lowered for word in _WORDS_FOR_PASSWORDS)
        and _MEASURE.fullmatch(bare) is None
        and "://" not in bare
        and (bare.isalpha() or _CODE.fullmatch(bare) is None)
    )


def entropy(value: str) -> float:
    """Return Shannon's entropy in bits a character."""
    size = len(value)
    return -sum(n / size * log2(n / size) for n in Counter(value).values())


def _is_for(user: str | None, password: str) -> bool:
    """Say whether a password may be one: it is neither its user's name nor such a word."""
    return password != user and password.lower() not in _URL_WORDS


def _is_basic(value: str) -> bool:
    """Say whether a value is a user and a password, as HTTP's Basic writes them."""
    try:
        plain = base64.b64decode(value, validate=True).decode("utf-8")
    except (binascii.Error, ValueError):
        return False
    user, colon, password = plain.partition(":")
    return (
        bool(colon)
        and plain.isprintable()
        and len(password) >= 3
        and not _is_placeholder(password)
        and _is_for(user, password)
    )


def _is_varied(value: str) -> bool:
    return len(set(value)) >= 8


def _is_letters(value: str) -> bool:
    """Say whether four times four letters are no words of a sentence."""
    groups = value.lower().replace("-", " ").split(" ")
    return len(set(value)) >= 8 and sum(group in _FOUR_LETTERS for group in groups) < 2


def _is_mixed(value: str) -> bool:
    """Say whether capitals, small letters and digits are mixed in a value: in few words they are."""
    kinds = (str.isupper, str.islower, str.isdigit)
    return _is_varied(value) and all(any(map(kind, value)) for kind in kinds)


_PROOFS: Final[Mapping[str, Callable[[str], bool]]] = {
    "prefix": _is_varied, "salt": _is_varied, "random": _is_random, "chosen": _is_chosen,
    "placed": _is_placed, "basic": _is_basic, "mixed": _is_mixed,
    "key": _is_key, "letters": _is_letters,
}  # fmt: skip
