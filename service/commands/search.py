"""`graph-memory search`: an index of what answers first, then one memory whole."""

import asyncio
import json
from collections.abc import Sequence
from typing import Annotated, Final, cast

import typer

from service.access.origins import doubt_of
from service.client.answers import Hit, MemoryDetail, SearchAnswer
from service.client.options import SearchOptions
from service.client.sessions import PlaceOptions
from service.commands.connect import connect
from service.commands.given_options import Form, in_form, named
from service.commands.here import at_place
from service.commands.misused import Misused
from service.commands.shown import heading_of, source_of
from service.commands.terminal import (
    begin,
    end_with_nothing,
    printable,
    tell_json,
    tell_missing,
)
from service.settings import Settings

# What options of their own say.
_OWN: Final = frozenset({"agent", "project", "detail"})
_LISTS: Final = frozenset({"kinds", "types", "tags", "trust", "origins", "read_from"})
_SNIPPET_CHARS: Final = 120


@at_place
@in_form
def command(
    place: PlaceOptions,
    form: Form,
    query: Annotated[str | None, typer.Argument(help="The question, in plain words.")] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE",
            help="A field of POST /search: limit=10, kinds=decision,fact, since=2026-02-01, "
            "include_archived=true; may be repeated.",
        ),
    ] = None,
    detail: Annotated[
        str | None, typer.Option(metavar="ID", help="Show this memory whole, instead of a search.")
    ] = None,
    *,
    index: Annotated[
        bool, typer.Option("--index", help="Short lines only; read one with --detail.")
    ] = False,
) -> None:
    """Search, or show one memory; works with and without the service running."""
    if (query is None) == (detail is None):
        raise Misused("Write a question, or --detail with the id of a memory.")
    if detail is not None:
        memory = asyncio.run(_read(begin(), named(detail), place.get("agent")))
        (tell_json if form.is_json else _tell_whole)(memory)
        return
    choices: SearchOptions = {"detail": "index" if index else "full"}
    choices |= place  # type: ignore[typeddict-item]
    choices |= _fields(only or ())
    answer = asyncio.run(_search(begin(), query or "", choices))
    tell_missing(answer["receipt"])
    if form.is_json:
        tell_json(answer)
    if not answer["results"]:
        end_with_nothing("Nothing was found.")
    if form.is_json:
        return
    for number, hit in enumerate(answer["results"], 1):
        _tell_hit(number, hit, is_bold=not form.is_raw)


def _tell_hit(number: int, hit: Hit, *, is_bold: bool) -> None:
    """Print where it stands, below which headings, and its text where that was asked for."""
    head = f"{number}. [{hit['score']:.4f}] {source_of(hit)}"
    doubt = doubt_of(hit["trust_tier"])
    typer.secho(printable(head + (f"  {doubt}" if doubt else "")), bold=is_bold)
    _print(f"   id: {hit['id']}")
    text = hit.get("content")
    heading = heading_of(hit, text or "")
    if heading or text is None:
        _print(f"   {heading or ' '.join(hit['snippet'].split())[:_SNIPPET_CHARS]}")
    if text is not None:
        _print(f"\n{text.strip()}\n")


def _fields(told: Sequence[str]) -> SearchOptions:
    """Read `kinds=decision,fact` and `limit=3`; raises Misused."""
    read: dict[str, object] = {}
    for one in told:
        name, _, value = one.partition("=")
        if name not in SearchOptions.__annotations__ or name in _OWN or not value:
            names = ", ".join(sorted(SearchOptions.__annotations__.keys() - _OWN))
            raise Misused(f"--only {one!r}: write NAME=VALUE, with one of {names}.")
        try:
            read[name] = value.split(",") if name in _LISTS else json.loads(value)
        except ValueError:
            read[name] = value
    return cast("SearchOptions", read)


def _print(text: str) -> None:
    typer.echo(printable(text))


def _tell_whole(memory: MemoryDetail) -> None:
    _print(f"Source: {source_of(memory)}\nID: {memory['id']}")
    if memory["trust_tier"] != "trusted" or memory["origin"] == "untrusted":
        _print(f"Trust: {memory['trust_tier']}, of {memory['origin']} origin")
    if memory["archived_at"]:
        _print(f"Archived: {memory['archived_at'][:10]}")
    if heading := heading_of(memory, memory["content"]):
        _print(f"\n{heading}")
    _print(f"\n{memory['content'].strip()}")


async def _search(settings: Settings, query: str, choices: SearchOptions) -> SearchAnswer:
    async with connect(settings) as memory:
        return await memory.search(query, **choices)


async def _read(settings: Settings, id: str, agent: str | None) -> MemoryDetail:  # noqa: A002
    async with connect(settings) as memory:
        return await memory.read_memory(id, agent=agent)
