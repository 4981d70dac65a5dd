"""One look for every progress bar."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)


@contextmanager
def progress_bar(
    console: Console, description: str, total: int | None = None
) -> Iterator[Callable[..., None]]:
    """Show a bar until the end; yields what moves it: `completed`, `total` or `advance`.

    It tells the time that is left where the total is known from the beginning, else the time since.
    Where nobody looks there is none: it would leave an empty line, which cron sends as a mail.
    """
    time = TimeElapsedColumn() if total is None else TimeRemainingColumn()
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), time
    is_hidden = not console.is_terminal
    with Progress(*columns, console=console, transient=True, disable=is_hidden) as progress:
        yield partial(progress.update, progress.add_task(description, total=total))
