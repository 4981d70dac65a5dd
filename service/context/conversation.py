"""Which messages of a conversation fit, and what is taken out of those that do not; pure."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from service.observe.cues import statements
from service.session_context.packing import Budget

_SENTENCE_END: Final = re.compile(r"(?<=[.!?。！？])\s|\n")
_MOST_LINE: Final = 200
_CUT: Final = "\u2026"


@dataclass(frozen=True, slots=True)
class Message:
    """Something that was said; `role` is whatever its program calls who said it."""

    role: str
    content: str


def take_recent(messages: Sequence[Message], room: Budget) -> tuple[list[Message], int]:
    """Return the last messages that fit, in their order, and how many before them do not.

    Whole, and without a gap; only the last of all is cut where it alone is too long, at its front,
    as its end says what is wanted.
    """
    taken: list[Message] = []
    for message in reversed(messages):
        if not room.spend(_told(message)):
            break
        taken.append(message)
    if not taken and messages and (short := _cut(messages[-1], room)):
        taken.append(short)
    taken.reverse()
    return taken, len(messages) - len(taken)


def extract_of(messages: Sequence[Message], room: Budget) -> list[str]:
    """Return lines that tell what was said, in its order: the latest that fit.

    Of each message its first sentence, and what a person said to be kept.
    """
    lines = [line for message in messages for line in _lines_of(message)]
    kept = [line for line in reversed(lines) if room.spend(line)]
    return kept[::-1]


def _lines_of(message: Message) -> list[str]:
    said = [one.text for one in statements(message.content)]
    first = _SENTENCE_END.split(message.content.strip(), maxsplit=1)[0].strip()
    # A sentence that is to be kept stands whole.
    own = [] if not first or first in said else [_short(first)]
    return [f"- {message.role}: {' '.join(line.split())}" for line in (*own, *said)]


def _cut(message: Message, room: Budget) -> Message | None:
    low, high = 0, len(message.content)
    while low < high:
        middle = (low + high + 1) // 2
        if room.fits(_told(_last(message, middle))):
            low = middle
        else:
            high = middle - 1
    short = _last(message, low)
    return short if low and room.spend(_told(short)) else None


def _last(message: Message, characters: int) -> Message:
    kept = message.content[len(message.content) - characters :]
    return Message(message.role, f"{_CUT}{kept}")


def _told(message: Message) -> str:
    return f"{message.role}: {message.content}"


def _short(line: str) -> str:
    return line if len(line) <= _MOST_LINE else f"{line[:_MOST_LINE].rstrip()}{_CUT}"
