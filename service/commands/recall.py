"""`graph-memory recall`: what hangs together with a question, drawn as a tree of ways there."""

import asyncio
from typing import Annotated, Final, cast

import typer
from rich.text import Text
from rich.tree import Tree

from service.access.origins import doubt_of
from service.client.answers import ConceptStep, MemoryStep, RecallAnswer, RecalledMemory, TimeStep
from service.client.options import RecallOptions
from service.client.sessions import PlaceOptions
from service.commands.connect import connect
from service.commands.given_options import Form, in_form
from service.commands.here import at_place
from service.commands.shown import source_of
from service.commands.terminal import (
    answers,
    begin,
    end_with_nothing,
    printable,
    tell_json,
    tell_missing,
)
from service.settings import Settings

_MOST_HOPS: Final = 4
_MOST_RESULTS: Final = 50
_TITLE_CHARS: Final = 90


@at_place
@in_form
def command(
    place: PlaceOptions,
    form: Form,
    query: Annotated[str, typer.Argument(help="The question, in plain words.")],
    hops: Annotated[
        int, typer.Option(min=1, max=_MOST_HOPS, help="How far to walk from the best hits.")
    ] = 2,
    limit: Annotated[
        int, typer.Option(min=1, max=_MOST_RESULTS, help="Most memories to show.")
    ] = 10,
) -> None:
    """Follow the threads from the best hits: what is connected, and by which path."""
    choices = cast("RecallOptions", {"hops": hops, "limit": limit, **place})
    answer = asyncio.run(_recall(begin(), query, choices))
    tell_missing(answer["receipt"])
    if form.is_json:
        tell_json(answer)
    if not answer["results"]:
        end_with_nothing("Nothing was found.")
    if not form.is_json:
        console = answers(is_raw=form.is_raw)
        for tree in trees_of(answer):
            console.print(tree)


def trees_of(answer: RecallAnswer) -> list[Tree]:
    """Return a tree for each memory that a path begins at, in the order of the results.

    A branch is a step along a concept or in time; a memory that is no result of its own is dim.
    """
    results = {one["id"]: one for one in answer["results"]}
    trees: dict[str, Tree] = {}
    branches: dict[tuple[str, ...], Tree] = {}
    for result in answer["results"]:
        way: tuple[str, ...] = ()
        edge = Text()
        for step in result["path"] or [_as_step(result)]:
            if "memory" not in step:
                edge += _edge(step)
                continue
            here = cast("MemoryStep", step)
            above, way = way, (*way, here["memory"])
            if way not in branches:
                label = edge + _label(here, results.get(here["memory"]))
                branches[way] = branches[above].add(label) if above else Tree(label)
                if not above:
                    trees[here["memory"]] = branches[way]
            edge = Text()
    return list(trees.values())


def _as_step(result: RecalledMemory) -> MemoryStep:
    return {
        "memory": result["id"], "title": result["title"], "trust_tier": result["trust_tier"],
    }  # fmt: skip


def _edge(step: ConceptStep | TimeStep) -> Text:
    if step["edge"] == "follows":
        return Text(f"{step['direction']} → ", style="magenta")
    return Text(f"{printable(step['concept'])} → ", style="cyan")


def _label(step: MemoryStep, result: RecalledMemory | None) -> Text:
    title = " ".join(printable(step["title"]).split())[:_TITLE_CHARS] or step["memory"]
    doubt = doubt_of(step.get("trust_tier"))
    if result is None:
        told = Text(title, style="dim")
        return told.append(f"  {doubt}", style="yellow") if doubt else told
    label = Text(title, style="bold")
    label.append(f"  {result['score']:.2f}", style="green")
    label.append(f"  {printable(source_of(result))}", style="dim")
    if doubt:
        label.append(f"  {doubt}", style="yellow")
    return label


async def _recall(settings: Settings, query: str, choices: RecallOptions) -> RecallAnswer:
    async with connect(settings) as memory:
        return await memory.graph_recall(query, **choices)
