"""`graph-memory ask`: what is known of a question, with its sources, or that nothing is."""

import asyncio
from collections.abc import Sequence
from typing import Annotated, Final, cast

import typer
from rich.text import Text

from service.client.answers import Hit, SearchAnswer
from service.client.options import SearchOptions
from service.client.sessions import PlaceOptions
from service.commands.connect import connect
from service.commands.given_options import Form, in_form
from service.commands.here import at_place
from service.commands.shown import heading_of, source_of
from service.commands.terminal import (
    answers,
    begin,
    end_with_nothing,
    printable,
    tell_json,
    tell_missing,
)
from service.settings import Settings

_MOST: Final = 20
# As likely as not. docs/recall.md tells how many unanswerable questions that turns away.
_SURE: Final = 0.5
# In shares of the best one's score.
_NEAR: Final = 0.6


@at_place
@in_form
def command(
    place: PlaceOptions,
    form: Form,
    question: Annotated[str, typer.Argument(help="The question, in plain words.")],
    sure: Annotated[
        float,
        typer.Option(
            min=0, max=1, help="How sure it must be that one of the first five answers it."
        ),
    ] = _SURE,
    limit: Annotated[int, typer.Option(min=1, max=_MOST, help="Most passages to quote.")] = 3,
) -> None:
    """Answer out of what is stored, word for word and with its source; nothing is made up.

    Ends with 3 where nothing is known.
    """
    choices = cast("SearchOptions", {"limit": limit, "min_confidence": sure, **place})
    answer = asyncio.run(_ask(begin(), question, choices))
    tell_missing(answer["receipt"])
    if form.is_json:
        tell_json(answer)
    if not answer["results"]:
        end_with_nothing(f"Nothing is known of that (confidence {answer['confidence']:.2f}).")
    if not form.is_json:
        console = answers(is_raw=form.is_raw)
        for hit in _near_the_best(answer["results"]):
            console.print(_passage(hit), soft_wrap=True)
        console.print(f"confidence {answer['confidence']:.2f}", style="dim", highlight=False)


def _near_the_best(hits: Sequence[Hit]) -> list[Hit]:
    """Return the passages that may answer it as well: a weak second one only distracts."""
    return [hit for hit in hits if hit["score"] >= _NEAR * hits[0]["score"]]


def _passage(hit: Hit) -> Text:
    heading = printable(heading_of(hit, hit["content"]))
    told = Text(f"{heading}\n" if heading else "", style="bold")
    told.append(" ".join(printable(hit["snippet"]).split()), style="not bold")
    told.append(f"\n   {printable(source_of(hit))}", style="cyan")
    if hit["origin"] == "untrusted":
        told.append("  untrusted", style="yellow")
    told.append(f"  {hit['id']}\n", style="dim")
    return told


async def _ask(settings: Settings, question: str, choices: SearchOptions) -> SearchAnswer:
    async with connect(settings) as memory:
        return await memory.search(question, **choices)
