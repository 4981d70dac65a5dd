"""Where work over texts is done: on the event loop while it is short, else in a thread."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, Final, ParamSpec, TypeVar

Given = ParamSpec("Given")
T = TypeVar("T")

# The slowest reader (names) takes 0.34 microseconds a character, a thread 0.11 ms to hand over and
# back (one core at rest): what is shorter than this blocks nobody for longer than a millisecond.
_MOST_CHARACTERS: Final = 1_000


async def read_texts(
    characters: int, read: Callable[Given, T], *args: Given.args, **named: Given.kwargs
) -> T:
    """Return what `read` gives; in a thread where it reads more than a thousand characters.

    The caller sees to it that nobody changes what it reads meanwhile.
    """
    if characters <= _MOST_CHARACTERS:
        return read(*args, **named)
    return await asyncio.to_thread(read, *args, **named)


async def in_thread_to_its_end(
    work: Callable[Given, T], *args: Given.args, **named: Given.kwargs
) -> T:
    """Do work in a thread; who is broken off meanwhile waits for its end: a thread goes on.

    For what must not be done beside what comes next.
    """
    return await to_its_end(asyncio.to_thread(work, *args, **named))


async def to_its_end(work: Coroutine[Any, Any, T]) -> T:
    """Do work that must not stay half done; who is broken off meanwhile waits for its end."""
    doing = asyncio.create_task(work)
    try:
        return await asyncio.shield(doing)
    except asyncio.CancelledError:
        await asyncio.wait([doing])
        raise


async def give_way() -> None:
    """Let all go first that is ready to run: what comes next holds the event loop for milliseconds.

    A search that is answered in RAM never waits by itself. A write, whose steps are short and many,
    would wait at each of them for whole searches.
    """
    await asyncio.sleep(0)
