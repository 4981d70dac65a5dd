"""`graph-memory show`: one memory whole, and what it hangs together with."""

import asyncio
from typing import Annotated

import typer
from rich.text import Text
from rich.tree import Tree

from service.access.origins import doubt_of
from service.client.answers import MemoryDetail, Neighbour, SourceMemory
from service.commands.connect import connect
from service.commands.given_options import Form, in_form, named
from service.commands.here import Agent, find_place
from service.commands.shown import source_of
from service.commands.terminal import answers, begin, printable, tell_json
from service.settings import Settings


@in_form
def command(
    form: Form,
    id: Annotated[str, typer.Argument(help="The memory's id.")],  # noqa: A002
    agent: Agent = None,
) -> None:
    """Show one memory whole: where it is from, what it mentions, what came before and after."""
    place = find_place(agent, "none")
    memory = asyncio.run(_read(begin(), named(id), place.get("agent")))
    if form.is_json:
        tell_json(memory)
        return
    console = answers(is_raw=form.is_raw)
    console.print(Text(printable(memory["title"]) or memory["id"], style="bold"), soft_wrap=True)
    console.print(Text(_facts(memory), style="dim"), soft_wrap=True)
    console.print(Text(f"\n{printable(memory['content'].strip())}\n"), soft_wrap=True)
    if tree := tree_of(memory):
        console.print(tree)


def _facts(memory: MemoryDetail) -> str:
    told = [source_of(memory), memory["id"]]
    told += [memory["kind"]] if memory["source"]["uri"] else []
    told += [f"scope {memory['scope']}"] if memory["scope"] else []
    told += [f"#{tag}" for tag in memory["tags"]]
    told += [memory["trust_tier"]] if memory["trust_tier"] != "trusted" else []
    told += [f"archived {memory['archived_at'][:10]}"] if memory["archived_at"] else []
    told.append(f"worth {memory['worth']['score']:.2f}")
    return printable(" · ".join(told))


def tree_of(memory: MemoryDetail) -> Tree | None:
    """Return what a memory hangs together with as a tree; None where it stands alone."""
    tree = Tree(Text("hangs together with", style="bold"))
    for name, beside in (("before", memory["before"]), ("after", memory["after"])):
        for one in beside:
            tree.add(_line(f"{name} → ", "magenta", one))
    for source in memory["derived_from"]:
        tree.add(_line("made of → ", "yellow", source))
    for concept in memory["concepts"]:
        more = (concept["memories"] or 1) - 1
        others = f"  and {more:,} more" if more else ""
        told = Text(printable(concept["name"]), style="cyan")
        tree.add(told.append(others, style="dim"))
    return tree if tree.children else None


def _line(edge: str, style: str, one: Neighbour | SourceMemory) -> Text:
    told = Text(edge, style=style)
    told.append(" ".join(printable(one["title"]).split()) or one["id"])
    if doubt := doubt_of(one.get("trust_tier")):
        told.append(f"  {doubt}", style="yellow")
    return told.append(f"  {one['id']}", style="dim")


async def _read(settings: Settings, id: str, agent: str | None) -> MemoryDetail:  # noqa: A002
    async with connect(settings) as memory:
        return await memory.read_memory(id, agent=agent)
