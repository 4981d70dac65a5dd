"""The rooms of the house from the ground up, and the imports between them as the code has them.

A room is a folder, or a module at the top of its package. A module imports from its own room and
from lower ones, never from a higher one; nothing else says what may import what.
"""

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final

REPOSITORY: Final = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, slots=True)
class Room:
    """One room; a pure one does no I/O and imports pure rooms only."""

    name: str
    is_pure: bool


def _rooms(text: str) -> tuple[tuple[Room, ...], ...]:
    """Read a table: rooms of one line are equally high and know nothing of each other."""
    lines = [line.split() for line in text.strip().splitlines()]
    return tuple(
        tuple(Room(name.removesuffix("*"), name.endswith("*")) for name in line) for line in lines
    )


# Each line is higher than the one before; * marks a pure room.
ROOMS: Final[Mapping[str, tuple[tuple[Room, ...], ...]]] = {
    "service": _rooms("""
        caching* compiled* kinds* moments* plurals* redaction* settling stages* threads version*
        errors* late_pattern*
        access*
        field_types*
        metadata*
        records* limits sanitise*
        settings
        text*
        transcripts*
        names* worth*
        store
        inference
        index*
        index.database index.resident
        drafts*
        links
        writing.tables
        writing
        web
        projects
        sessions intents opt_outs recurrences clients
        search.times*
        search.signals*
        search.fusion*
        search.refine
        search
        readers
        jobs
        ingest
        memories documents concepts keys grants audit working_memory fixes
        trust decisions handoff session_context observe
        context session_end
        cascade
        reflect
        consolidate.summary*
        consolidate recall graph hooks
        operate
        client
        mcp.offered
        mcp
        opening
        app
        commands
        __main__
    """),
    "embedding_server": _rooms("""
        errors* vectors* instruments*
        prompts*
        encoder* settings*
        encoders
        scheduling*
        serving
        web
        routes
        app
        command
        __main__
    """),
}
RANKS: Final[Mapping[str, int]] = {
    f"{package}.{room.name}": rank
    for package, table in ROOMS.items()
    for rank, line in enumerate(table)
    for room in line
}
PURE: Final = frozenset(
    f"{package}.{room.name}"
    for package, table in ROOMS.items()
    for line in table
    for room in line
    if room.is_pure
)


@dataclass(frozen=True)
class Module:
    """One module: its dotted name and its text."""

    name: str
    text: str

    @cached_property
    def tree(self) -> ast.Module:
        """The syntax tree."""
        return ast.parse(self.text)

    @cached_property
    def nodes(self) -> list[ast.AST]:
        """Every node of the syntax tree, the module itself first."""
        return list(ast.walk(self.tree))

    @property
    def room(self) -> str:
        """The room it stands in, with its package's name."""
        return room_of(self.name)


def room_of(module: str) -> str:
    """Return the room of a module by its dotted name: its folder, or itself at the top."""
    package, _, rest = module.partition(".")
    folder = rest.rpartition(".")[0]
    return f"{package}.{folder or rest}"


def read_modules() -> list[Module]:
    """Return every module of the packages, by name; the `__init__` of each among them."""
    paths = [path for package in ROOMS for path in sorted((REPOSITORY / package).rglob("*.py"))]
    return [
        Module(".".join(p.relative_to(REPOSITORY).with_suffix("").parts), p.read_text("utf-8"))
        for p in paths
    ]


def imported(module: Module, names: frozenset[str]) -> Iterator[tuple[int, str]]:
    """Yield line and dotted name of every import; one of ours (`names`) as a module."""
    for node in module.nodes:
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                yield node.lineno, full if full in names else str(node.module)


def room_imports(modules: list[Module]) -> dict[tuple[str, str], int]:
    """Return how many imports lead from one room to another, by both."""
    names = frozenset(module.name for module in modules)
    found: dict[tuple[str, str], int] = {}
    for module in modules:
        for _, name in imported(module, names):
            if name in names and room_of(name) != module.room:
                pair = (module.room, room_of(name))
                found[pair] = found.get(pair, 0) + 1
    return found
