"""Commands in one spelling, and whether they passed; pure.

Agents seldom run a command as such: they go to a folder first, set a variable, join the streams
and look at the last lines only. Then the exit code is that of `tail`, and the output must tell.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from service.fixes.signature import error_of

_SPACES: Final = re.compile(r"\s+")
_BEFORE: Final = re.compile(
    r"^(?:(?:env|time|nice|sudo|command)\s|timeout\s\S{1,10}\s"
    r"|[A-Za-z_]\w{0,60}=(?:'[^']{0,200}'|\"[^\"]{0,200}\"|[^\s'\"]{0,200})\s)"
)
_JOINED: Final = re.compile(r"\s?(?:2>\s?&1|2>\s?/dev/null)(?=\s|$)")
# `; echo "exit=$?"`: what was the exit code stands in the last line then.
_ECHOED: Final = re.compile(r"\s?;\s?echo\s[^;|&]{0,80}\$\?[^;|&]{0,20}$")
_LAST_NUMBER: Final = re.compile(r"(\d{1,3})\D{0,3}$")
# Filters that show the end of an output, or all of it, and those that show some lines.
_ENDS: Final = frozenset({"tail", "cat", "tee"})
_LINES: Final = frozenset(
    "head grep rg egrep fgrep sed awk sort uniq wc jq less more cut tr column".split()  # noqa: SIM905
)
# "0 failed": an error that is none.
_NONE: Final = re.compile(r"\b(?:0|no) (?:failed|failures?|errors?|warnings?)\b", re.IGNORECASE)
# What a program says at its end that failed, whatever else it says.
_FAILS: Final = re.compile(
    r"^(?:E\s{2,}|FAILED\b|FAIL[: ]|--- FAIL|BUILD FAILED|npm (?:ERR!|error)|panicked at)"
    r"|\berror(?:\[\w{1,10}\])?:|\berror TS\d|\*\*\* .{0,200}(?:Error \d| Stop\.$)"
    r"|\b[1-9]\d{0,6} (?:failed|errors?)\b|^fatal: |^Traceback ",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class Command:
    """A command in one spelling, and by what its outcome is known."""

    text: str
    shows_end: bool = False
    shows_lines: bool = False
    echoes: bool = False

    def outcome(self, output: str, *, failed: bool | None) -> bool | None:
        """Return whether it failed, None where nobody can tell.

        `failed` is what the program says of the whole line that it ran.
        """
        if self.echoes:
            code = _LAST_NUMBER.search(output.rstrip()[-100:])
            return int(code[1]) != 0 if code else None
        if self.shows_lines:
            return None
        if not self.shows_end or failed:
            return failed
        output = _NONE.sub("", output)
        if _FAILS.search(output):
            return True
        return None if not output.strip() or error_of(output) else False


def command_of(line: str) -> Command:
    """Return a command as it is compared: without where it ran, and what only shows its output."""
    text = _SPACES.sub(" ", line).strip()
    while text.startswith("cd ") and (rest := text.partition(" && ")[2]):
        text = rest
    while found := _BEFORE.match(text):
        text = text[found.end() :]
    bare = _ECHOED.sub("", text)
    echoes, text = bare != text, bare
    first, *filters = _piped(text)
    names = {one.split(" ", 1)[0] for one in filters}
    if filters and not names <= _ENDS | _LINES:
        return Command(text, echoes=echoes)
    shows_lines = bool(names & _LINES)
    first = _JOINED.sub("", first).strip()
    return Command(first, bool(filters) and not shows_lines, shows_lines, echoes)


def _piped(text: str) -> Iterator[str]:
    """Yield the parts of a pipeline; a line with something behind it is one part."""
    quote, start, parts = "", 0, []
    for place, character in enumerate(text):
        if quote:
            quote = "" if character == quote else quote
        elif character in "'\"":
            quote = character
        elif character == "|" and "|" not in text[place - 1 : place] + text[place + 1 : place + 2]:
            parts.append(text[start:place].strip())
            start = place + 1
        elif parts and character in ";&" and text[place - 1] != ">":
            return iter([text])
    return iter([*parts, text[start:].strip()])
