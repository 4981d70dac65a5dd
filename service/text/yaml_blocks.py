"""YAML as people write it above their notes: what of it is none is read as far as it goes."""

import re
from collections import Counter
from collections.abc import Collection, Iterator
from itertools import pairwise

import yaml

# Real front matter has some hundred characters; PyYAML reads about 100,000 characters a second.
_MAX_CHARACTERS = 20_000
_MAX_DEPTH = 8
# A mask of a secret begins as a list of YAML does: with `old: [SECRET:token] (revoked)` a note lost
# its scope. While it is read the mask has brackets that mean nothing there.
_MASK = re.compile(r"\[(SECRET:[a-z-]{1,40})\]")
_WORD_OF_MASK = re.compile("\ue000(SECRET:[a-z-]{1,40})\ue001")
# `title: Fix: the login`, `title: [WIP] plan`, `- @home`, `twitter: @me` below `author:`: what
# people and programs write, and is no YAML.
_LINE = re.compile(r"^([ \t]*(?:\w[\w -]{0,60}:|-))[ \t]+(\S.*)$", re.MULTILINE)
# What is YAML for sure needs no look of its own: PyYAML is slow to begin.
_PLAIN_VALUE = re.compile(r"\w(?:[^:\n]|:(?=\S))*")
# Where one field ends and the next begins.
_FIELD = re.compile(r"^(\w[\w -]{0,60}):(?=\s|$)", re.MULTILINE)
# `tags: #a #b`, `tags: [#a]` and `- #a` below `tags:` are remarks of YAML; nobody means them so.
_TAGS = re.compile(r"^tags?:[ \t]*(?:[^\s-].*|(?:\n[ \t]*-[ \t].*)+)", re.MULTILINE | re.IGNORECASE)
_HASHED = re.compile(
    r"(:|-)[ \t]+((?:\[[ \t]*)?#[^\s#,\]']+(?:[ \t,]+#[^\s#,\]']+)*\]?)[ \t]*$", re.MULTILINE
)
# What a list or a text was most likely to be closed with, and is not.
_CLOSINGS = ("]", "}", '"', "'")


class UnreadableError(ValueError):
    """A block cannot be used as a whole; the text says why, `values` what was read of it."""

    def __init__(self, reason: str, values: dict[str, object] | None = None) -> None:
        super().__init__(reason)
        self.values = values or {}


def check_size(block: str) -> None:
    """Raise UnreadableError for what is longer than any real front matter."""
    if len(block) > _MAX_CHARACTERS:
        raise UnreadableError(f"{len(block)} characters, at most {_MAX_CHARACTERS} are read")


def with_masks(text: str) -> str:
    """Give a text that was read its masks of secrets as they were written."""
    return _WORD_OF_MASK.sub(r"[\1]", text)


def read_yaml(block: str, fields: Collection[str]) -> object:
    """Read YAML with every scalar as the string it is written as.

    So a title `2026` and a tag `no` stay words, an impossible date spoils nothing but itself,
    and nothing can be constructed but strings, lists and mappings. Raises UnreadableError, with
    those of `fields` that can be read each by itself, where the whole cannot.
    """
    check_size(block)
    block = _MASK.sub("\ue000\\1\ue001", _TAGS.sub(_with_hashes, block))
    if twice := _stand_twice(block, fields):
        raise UnreadableError(f"{', '.join(twice)} more than once", _load_fields(block, fields))
    try:
        values = _load(block)
    except UnreadableError as error:
        raise UnreadableError(str(error), _load_fields(block, fields)) from error
    except yaml.YAMLError as error:
        values = _load_as_written(block, fields)
        if values is None:
            raise UnreadableError(_describe(error), _load_fields(block, fields)) from error
    except (ValueError, OverflowError) as error:
        # PyYAML's scanner lets these through for escapes like "\U11111111".
        reason = "invalid escape in a string"
        raise UnreadableError(reason, _load_fields(block, fields)) from error
    return {} if values is None or values == "" else values


def _with_hashes(tags: re.Match[str]) -> str:
    return _HASHED.sub(r"\1 '\2'", tags[0])


def _load(block: str) -> object:
    _check_shape(block)
    values: object = yaml.BaseLoader(block).get_single_data()
    return values


def _load_as_written(block: str, fields: Collection[str]) -> dict[str, object] | None:
    """Read what is no YAML, tabs as blanks and each broken line as it is written, if that helps.

    It gives None unless a field is among it that is read: a text between two rules is no loss.
    """
    try:
        values = _load(_LINE.sub(_quoted, block.expandtabs(2)))
    except (yaml.YAMLError, ValueError, OverflowError):
        return None
    if isinstance(values, dict) and any(str(key).casefold() in fields for key in values):
        return values
    return None


def _stand_twice(block: str, fields: Collection[str]) -> list[str]:
    counts = Counter(name for name, _ in _fields_in(block))
    return [name for name, count in counts.items() if count > 1 and name in fields]


def _load_fields(block: str, fields: Collection[str]) -> dict[str, object]:
    """Read each field by itself, of equal ones the last; those that cannot be read are left out."""
    written = {name: text for name, text in _fields_in(block) if name in fields}
    read = {name: _load_field(text, fields) for name, text in written.items()}
    return {name: value for name, value in read.items() if value is not None}


def _fields_in(block: str) -> Iterator[tuple[str, str]]:
    """Yield the fields of a mapping as they are written, each by its name in small letters."""
    found = [(match.start(), match[1].casefold()) for match in _FIELD.finditer(block)]
    for (start, name), (end, _) in pairwise((*found, (len(block), ""))):
        yield name, block[start:end]


def _load_field(text: str, fields: Collection[str]) -> object:
    values = _load_alone(text) or _load_as_written(text, fields)
    for closing in _CLOSINGS:
        values = values or _load_alone(f"{text.rstrip()}\n{closing}")
    return next(iter(values.values())) if values and len(values) == 1 else None


def _load_alone(text: str) -> dict[str, object] | None:
    try:
        values = _load(text)
    except (yaml.YAMLError, ValueError, OverflowError):
        return None
    return values if isinstance(values, dict) else None


def _quoted(line: re.Match[str]) -> str:
    if _PLAIN_VALUE.fullmatch(line[2]) or not _is_broken(line[0].strip()):
        # So a remark behind it (`draft  # for now`) stays one.
        return line[0]
    value = line[2].rstrip().replace("'", "''")
    return f"{line[1]} '{value}'"


def _is_broken(line: str) -> bool:
    """Say whether a line is no YAML whatever follows: `[a,` may go on, `[a] b` may not."""
    try:
        _load(line)
    except yaml.MarkedYAMLError as error:
        return error.problem_mark is not None and error.problem_mark.index < len(line)
    except (yaml.YAMLError, ValueError, OverflowError):
        return False
    return False


def _check_shape(block: str) -> None:
    depth = 0
    for event in yaml.parse(block, Loader=yaml.BaseLoader):
        if isinstance(event, yaml.AliasEvent):
            # A dozen lines of aliases can stand for 2^40 elements, or for themselves.
            raise UnreadableError("YAML aliases are not read")
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > _MAX_DEPTH:
            raise UnreadableError(f"nested deeper than {_MAX_DEPTH}")


def _describe(error: yaml.YAMLError) -> str:
    if isinstance(error, yaml.MarkedYAMLError) and error.problem_mark:
        return f"{error.problem or 'broken YAML'}, line {error.problem_mark.line + 2}"
    return "broken YAML"
