"""What of a transcript stays on this machine: what tools did with files for which memory is off.

A call of a tool that names such a file goes without what it was given, and what came back from it
without its words; so does what names one on its way back, as a search through a folder does. Of a
line that is left out blanks stay, so that places in the transcript are what they were. Lines that
are no turns stay here altogether: programs repeat in them what tools read, without saying of what.

`graph-memory observe` has a copy of this file, byte for byte, and so have both plugins.
"""

import glob
import json
import os
import re
import shlex
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import suppress
from itertools import chain, islice
from typing import Any
from urllib.parse import unquote

# The lines that are turns, of all programs. A type that the service learns to read belongs here.
TURNS = {None, "user", "assistant", "attachment", "response_item", "message"}
# Summaries of what was said before, what a program says of its own, a sub-agent's turns.
NO_TURNS = ("isCompactSummary", "isMeta", "isSidechain")
# The parts of turns that are words.
WORDS = {None, "text", "input_text", "output_text"}
# What a tool was given, where the call is named, and what of both is kept.
GIVEN = ("input", "arguments", "action")
CALLS = ("tool_use_id", "call_id", "toolCallId", "tool_call_id", "call", "id")
KEPT = {
    *CALLS, "type", "role", "name", "tool", "status", "is_error", "isError", "exit", "failed",
    "timestamp", "at",
}  # fmt: skip
RESULTS = {"tool", "toolResult", "tool_result"}
# What an agent writes of its own accord: it names files and is none.
WRITTEN = {
    "content", "contents", "old_string", "new_string", "new_source", "old_str", "new_str", "text",
    "file_text", "insert_text", "prompt", "description", "subject", "todos", "plan", "explanation",
    "justification", "data",
}  # fmt: skip
# How a text begins that a program wrote in a person's place.
BY_PROGRAM = ("<", "# Context from my IDE setup:", "# Files mentioned by the user:")
WORD = re.compile(r"[^\0\s'\"`()<>|&;=,{}@:\[\]]+")
# What stands before a colon, as searches write where they found something, and whole lines.
BEGINNING = re.compile(r"^([^\0\n:]{1,300})(?::|$)", re.MULTILINE)
PATCH = re.compile(r"^\*\*\* (?:(?:Add|Update|Delete) File|Move to): (\S.*)", re.MULTILINE)
BEGIN_PATCH = "*** Begin Patch"
MOST_FOLDERS = 8
MOST_EXPANDED = 500
MOST_PATH = 4096
MOST_COMMAND = 20_000


class LeftOut:
    """A reader of one transcript, from a place on; `is_off` says for which paths memory is off.

    `before` gives lines before that place, for what comes back from a call that was read already.
    """

    def __init__(
        self, is_off: Callable[[str], bool], folder: str, before: Callable[[], Iterable[str]]
    ) -> None:
        self._ask = is_off
        self._folder = folder
        self._before = before
        self._known: dict[str, bool] = {}
        # Each call that was seen: whether it is left out, and the folders that it named.
        self._calls: dict[str, tuple[bool, list[str]]] = {}
        self._was_typed = False

    def of_text(self, text: str) -> str:
        """Return whole lines without what is left out, of as many bytes."""
        return "\n".join(map(self._of_line, text.split("\n")))

    def is_named(self, given: object, answer: object = None) -> bool:
        """Return whether what a tool was given, or what came back, names such a file."""
        is_left, folders = self._of_given(given)
        return is_left or any(self._is_told(one, folders) for _, one in texts_in(answer))

    def _of_line(self, line: str) -> str:
        told = kept = None
        # What cannot be read is read by nobody, and no line holds up those behind it.
        with suppress(Exception):
            told = json.loads(line.strip().lstrip("\ufeff") or "null")
            kept = self._of_turn(told) if isinstance(told, dict) else None
        if kept is told and kept is not None:
            return line
        size, short = len(line.encode()), "" if kept is None else written(kept)
        left = size - len(short.encode())
        return short + " " * left if left >= 0 else " " * size

    def _of_turn(self, told: dict[str, Any]) -> dict[str, Any] | None:
        """Return a line as it goes, itself where nothing is left out; None of one that stays."""
        kind, payload = told.get("type"), told.get("payload")
        inner = payload if isinstance(payload, dict) else told
        cwd = inner.get("cwd")
        if isinstance(cwd, str) and os.path.isabs(cwd):
            self._folder = cwd
        is_turn = kind in TURNS and not any(told.get(name) is True for name in NO_TURNS)
        if not is_turn or self._is_off(self._folder):
            return None
        if kind == "attachment":
            return told if "prompt" in as_dict(told.get("attachment")) else None
        if kind == "response_item":
            return with_inner(told, "payload", self._of_block(inner))
        if not isinstance(told.get("message"), dict):
            return as_dict(self._of_block(told)) or None
        # What a tool gave in full is read by nobody.
        whole = told.pop("toolUseResult", None)
        is_left = any(self._is_told(one, []) for _, one in texts_in(whole))
        kept = with_inner(told, "message", self._of_block(told["message"], is_left=is_left))
        return kept if kept is None or whole is None else dict(kept)

    def _of_block(self, block: Any, *, is_left: bool = False) -> Any:
        """Return a message or a part of one as it goes; None of one that stays."""
        if not isinstance(block, dict):
            return block
        if is_call(block):
            return self._of_call(block)
        if is_result(block):
            return self._of_result(block, is_left=is_left)
        if block.get("type") not in WORDS | TURNS:
            # Thoughts repeat what was read, and nobody reads them or pictures.
            return None
        return self._of_words(block, is_left=is_left)

    def _of_words(self, block: dict[str, Any], *, is_left: bool) -> dict[str, Any] | None:
        text = block.get("text", block.get("content"))
        if not isinstance(text, list):
            return None if isinstance(text, str) and self._is_by_program(text) else block
        parts = [self._of_block(part, is_left=is_left) for part in text]
        if all(kept is part for kept, part in zip(parts, text, strict=True)):
            return block
        kept = [part for part in parts if part is not None]
        return {**block, "content": kept} if kept else None

    def _of_call(self, block: dict[str, Any]) -> dict[str, Any]:
        found = next((block[name] for name in GIVEN if name in block), block)
        is_left, folders = self._of_given(found)
        if call := call_of(block):
            self._calls[call] = is_left, folders
        return only_kept(block) if is_left else block

    def _of_result(self, block: dict[str, Any], *, is_left: bool) -> dict[str, Any]:
        call = call_of(block)
        if call is not None and call not in self._calls:
            self._look_before(call)
        # Of a call that nobody finds it is not known what it read.
        was_left, folders = self._calls.get(call or "", (True, []))
        is_left = is_left or was_left
        for name, text in texts_in(block):
            is_left = is_left or (name not in KEPT and self._is_told(text, folders))
        return only_kept(block) if is_left else block

    def _look_before(self, call: str) -> None:
        folder, before = self._folder, self._before
        self._before = tuple
        for line in before():
            self._of_line(line)
        self._calls.setdefault(call, (True, []))
        self._folder = folder

    def _of_given(self, given: object) -> tuple[bool, list[str]]:
        """Return whether what a tool was given names a file that is left out, and its folders."""
        if isinstance(given, str):
            try:
                given = json.loads(given)
            except ValueError:
                # A tool that takes one text, such as a patch.
                given = {"command": given}
        words = [word for _, text in texts_in(given, left=WRITTEN) for word in words_of(text)]
        folders = [self._folder]
        for word in words:
            places = {placed(word, folder) for folder in folders}.difference(folders)
            folders += filter(os.path.isdir, places)
            del folders[MOST_FOLDERS:]
        files = expanded(words, folders)
        return any(self._is_off_at(one, folders) for one in chain(words, files)), folders

    def _is_told(self, text: str, folders: list[str]) -> bool:
        """Return whether a text that came back names a file that is left out."""
        words = {word.rstrip(".") for word in WORD.findall(text) if "/" in word or "." in word}
        words.update(BEGINNING.findall(text))
        return any(self._is_off_at(word, folders or [self._folder]) for word in words)

    def _is_by_program(self, text: str) -> bool:
        """Return whether a program wrote of such a file in a person's place.

        What a command printed that a person typed follows it in a text of its own.
        """
        if not text.lstrip().startswith(BY_PROGRAM):
            return False
        is_left = any(self._is_off_at(word, [self._folder]) for word in words_of(text))
        is_left = is_left or (self._was_typed and text.lstrip().startswith("<bash-std"))
        self._was_typed = is_left and text.lstrip().startswith("<bash-input")
        return is_left

    def _is_off_at(self, word: str, folders: list[str]) -> bool:
        names = [word, word[2:]] if word.startswith(("a/", "b/")) else [word]
        return any(self._is_off(placed(name, one)) for name in names if name for one in folders)

    def _is_off(self, path: str) -> bool:
        if (known := self._known.get(path)) is None:
            known = self._known[path] = self._ask(path)
        return known


def is_call(block: dict[str, Any]) -> bool:
    """Return whether something is the call of a tool."""
    is_named = "tool" in block or "command" in block
    return any(name in block for name in GIVEN) or (block.get("role") == "assistant" and is_named)


def is_result(block: dict[str, Any]) -> bool:
    """Return whether something is what came back from a call."""
    kind = block.get("type")
    return kind in RESULTS or block.get("role") in RESULTS or str(kind).endswith("_output")


def call_of(block: dict[str, Any]) -> str | None:
    """Return the name of a call."""
    return next((block[name] for name in CALLS if isinstance(block.get(name), str)), None)


def only_kept(block: dict[str, Any]) -> dict[str, Any]:
    """Return of a call, or what came back, that it was."""
    return {name: value for name, value in block.items() if name in KEPT}


def with_inner(told: dict[str, Any], name: str, inner: object) -> dict[str, Any] | None:
    """Return a line with what it holds as that goes; None where that stays."""
    if inner is None or inner is told[name]:
        return None if inner is None else told
    return {**told, name: inner}


def as_dict(value: object) -> dict[str, Any]:
    """Return a value that is an object; of another one an empty one."""
    return value if isinstance(value, dict) else {}


def texts_in(
    value: object, name: str = "", left: Collection[str] = ()
) -> Iterator[tuple[str, str]]:
    """Yield the texts in a value, however deep and in JSON in a text, each with its field's name.

    What is in fields that are `left` is none of them.
    """
    if isinstance(value, str):
        with suppress(ValueError):
            yield from texts_in(json.loads(value) if value.startswith("{") else None, name, left)
        yield name, value
    elif isinstance(value, list):
        for one in value:
            yield from texts_in(one, name, left)
    elif isinstance(value, dict):
        for field, one in value.items():
            if field not in left:
                yield from texts_in(one, field, left)


def words_of(text: str) -> list[str]:
    """Return what in a command, or another text that a tool was given, may be a path."""
    if BEGIN_PATCH in text:
        # What a patch writes names files and is none.
        text = "\n".join([text.partition(BEGIN_PATCH)[0], *PATCH.findall(text)])
    words = [text, *BEGINNING.findall(text), *WORD.findall(text)]
    # Slow, and of a text that a command writes no use; a quote of one may not be closed.
    with suppress(ValueError):
        words += shlex.split(text[:MOST_COMMAND])
    return [one for one in dict.fromkeys(words) if 0 < len(one) < MOST_PATH and "\0" not in one]


def expanded(words: Iterable[str], folders: list[str]) -> Iterator[str]:
    """Yield the files that patterns of a shell mean."""
    for word in words:
        if len(word) < 300 and glob.has_magic(word):
            for folder in folders:
                yield from islice(glob.iglob(placed(word, folder)), MOST_EXPANDED)


def placed(word: str, folder: str) -> str:
    """Return the path that a word means in a folder."""
    if word.startswith("file:"):
        word = unquote(word[5:])
    if "$" in word:
        word = os.path.expandvars(word)
    # Two slashes at a beginning are one for all programs that matter.
    return os.path.normpath("/" + os.path.join(folder, os.path.expanduser(word)).lstrip("/"))


def written(told: dict[str, Any]) -> str:
    """Return a line of JSON, as short as it can be."""
    text = json.dumps(told, ensure_ascii=False, separators=(",", ":"))
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(told, separators=(",", ":"))
    return text
