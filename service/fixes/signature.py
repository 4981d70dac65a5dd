"""What an error says, without what changes from one time to the next; pure."""

import re
from typing import Final

from service.drafts.ids import digest

# Colours and the like of terminals.
_ESCAPES: Final = re.compile(r"\x1b\[[0-9;?]{0,20}[A-Za-z]")
# The last line of a traceback, and what other programs call an error; no sentence about one.
_RAISED: Final = re.compile(
    r"^(?:[\w.]{1,80}\.)?[A-Z]\w{0,60}(?:Error|Exception|Warning|Exit)\b"
    r"(?! (?:is|are|was|were|means|happens|occurs|can|may|will|and|or)\b).{0,400}"
)
_CALLED: Final = re.compile(
    r"\b(?:error|fatal|panic(?:ked)?|failed|failure|cannot|could not|not found|no such|undefined"
    r"|unresolved|denied|refused|segmentation fault|timed? ?out)\b|오류|에러|실패|错误|失败",
    re.IGNORECASE,
)
# Behind what says where it was, of programs that say so: asked last, as these name no test.
_PLACE: Final = r"(?:[A-Za-z]:)?[^\s:]{1,200}\.[A-Za-z]\w{0,9}:\d{1,9}"
_PLACED: Final = re.compile(
    rf"^(?:E\s{{2,20}}|Uncaught |Exception in thread \"[^\"]{{1,80}}\" |{_PLACE}: )"
    r"(?!AssertionError\b)(?:[\w.]{1,80}\.)?[A-Z]\w{0,60}(?:Error|Exception|Exit): \S"
    rf"|^{_PLACE}:\d{{1,9}}: (?![Ww]arning|[Nn]ote|[Ii]nfo|hint|remark)"
    # What make says of itself: of a command of its it tells an error's number.
    r"|^[^\s:]{1,200}(?::\d{1,9})?: \*\*\* .{1,250} Stop\.$",
)
# pytest's mark of what was raised: without it the error is the one that a traceback tells.
_MARK: Final = re.compile(r"^E\s{2,20}")
# Lines that only count, repeat how it ended, or say where an error was and not which.
_COUNTS: Final = re.compile(
    r"^\W{0,40}(?:\d{1,9} (?:failed|passed|errors?|warnings?)\b|command exited|exit code"
    r"|npm err(?:!|or)|process exited|=+|(?:found|collected) \d{1,9}|!{0,200} ?interrupted: \d"
    r"|importerror while (?:importing|loading) |_{2,200} error |error \S{1,200}\.py$)",
    re.IGNORECASE,
)
_PATHS: Final = re.compile(r"(?:[A-Za-z]:)?(?:[\w.@~+-]{0,100}[/\\]){1,40}([\w.@~+-]{1,100})")
_HEX: Final = re.compile(r"\b(?:0x)?[0-9a-f]{7,64}\b", re.IGNORECASE)
_NUMBERS: Final = re.compile(r"\d{1,40}(?:\.\d{1,40}){0,4}")
_SPACES: Final = re.compile(r"\s+")
_MOST_LINES: Final = 400
_MOST_CHARACTERS: Final = 300


def error_of(output: str) -> str | None:
    """Return the line of an output that says what is wrong; None where no line does."""
    lines = [_ESCAPES.sub("", line).strip() for line in output.splitlines()[-_MOST_LINES:]]
    lines = [line[:_MOST_CHARACTERS] for line in lines if line and not _COUNTS.match(line)]
    raised = [line for line in lines if _RAISED.match(line)]
    if raised:
        return raised[-1]
    called = next((line for line in lines if _CALLED.search(line)), None)
    return called or next((line for line in lines if _PLACED.match(line)), None)


def signature_of(error: str) -> str:
    """Return what an error is known by: its words without folders, numbers and hashes."""
    text = _PATHS.sub(r"\1", _MARK.sub("", _ESCAPES.sub("", error)))
    text = _NUMBERS.sub("0", _HEX.sub("#", text))
    return digest("error", _SPACES.sub(" ", text).strip().casefold())
