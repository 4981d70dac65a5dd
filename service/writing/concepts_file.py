"""The user's own concepts: concepts.toml, kept in the store beside the learned ones."""

import asyncio
import tomllib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Final

from service.errors import InvalidRequest
from service.index.engine import Engine
from service.links import stored
from service.links.change import Change, Declared
from service.links.stored import Mentioning
from service.names.names import Name, common_as_word, declared_name
from service.names.slugs import slug_of, tokens_of
from service.store.database import Database
from service.store.queries import load_query
from service.writing.pipeline import Pipeline, commit
from service.writing.tables.concept import concept_row

DECLARED: Final = load_query(__package__, "declared")

Pair = tuple[str, str]


@dataclass(frozen=True, slots=True)
class ConceptFile:
    """What a concepts file says: names with their aliases, and the edges between them."""

    names: Mapping[str, Name]
    aliases: Mapping[str, tuple[str, ...]]
    related: frozenset[Pair]
    isa: frozenset[Pair]


def parse_concepts(text: str) -> ConceptFile:
    """Read a concepts file (TOML, `[[concept]]` tables); raises InvalidRequest with the line.

    Names that stand only in `is_a` or `related_to` become concepts too, an alias there stands for
    its concept. Pairs of `related` are in ascending order, those of `isa` read (narrower, broader).
    """
    names: dict[str, Name] = {}
    aliases: dict[str, tuple[str, ...]] = {}
    tables = _tables(text)
    for table in tables:
        name = _name(table.get("name"), str(table.get("kind") or "declared"))
        names[name.slug] = name
        aliases[name.slug] = (*aliases.get(name.slug, ()), *_strings(table, "aliases"))
    owners = _owners(names, aliases)
    edges: dict[str, set[Pair]] = {"related_to": set(), "is_a": set()}
    for table in tables:
        slug = _name(table["name"], "declared").slug
        for edge, pairs in edges.items():
            for other in (_name(text, "declared") for text in _strings(table, edge)):
                far = owners.get(other.slug, other.slug)
                if far not in names:
                    names[far] = other
                if far != slug:
                    pairs.add((slug, far))
    related = {(min(pair), max(pair)) for pair in edges["related_to"]}
    return ConceptFile(names, aliases, frozenset(related), frozenset(edges["is_a"]))


def _tables(text: str) -> list[Mapping[str, Any]]:
    try:
        tables = tomllib.loads(text).get("concept", [])
    except tomllib.TOMLDecodeError as error:
        raise InvalidRequest(f"The concepts file is not TOML: {error}.") from error
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise InvalidRequest("In the concepts file, write each concept as a [[concept]] table.")
    return tables


def _owners(names: Mapping[str, Name], aliases: Mapping[str, tuple[str, ...]]) -> dict[str, str]:
    """Return the concept that each alias leads to; an alias of two would mean neither."""
    owners: dict[str, str] = {}
    for slug, spellings in aliases.items():
        for spelling in spellings:
            owner = owners.setdefault(slug_of(spelling), slug)
            rival = slug_of(spelling) if slug_of(spelling) in names else owner
            if slug != rival:
                msg = (
                    f"In the concepts file, {spelling!r} means both {names[slug].name!r} and "
                    f"{names[rival].name!r}: leave it to one of them."
                )
                raise InvalidRequest(msg)
    return owners


async def declare_concepts(pipeline: Pipeline, path: Path | None, agent: str) -> None:
    """Bring an agent's declared concepts in line with the file; nothing happens when they are.

    Memories that mention a changed concept, by its old or its new spellings, are linked anew.
    Raises InvalidRequest for a file that cannot be read or holds a mistake.
    """
    file = parse_concepts(await asyncio.to_thread(_read, path, pipeline) if path else "")
    if _differences(agent, file, await _read_declared(pipeline.db, agent, file)) is not None:
        # What is pushed or merged before its turn is linked anew as well.
        in_turn = partial(_declare, pipeline.engine, file)
        await commit(pipeline, Change(agent, in_turn=in_turn))


async def _declare(engine: Engine, file: ConceptFile, db: Database, change: Change) -> Change:
    """Add to a change what a file says that is not stored yet."""
    differences = _differences(change.agent, file, await _read_declared(db, change.agent, file))
    if differences is None:
        return change
    relink = await _affected(db, engine, change.agent, file, differences.flags)
    return replace(
        change, relink=frozenset(relink.keys), unlinked=relink.unlinked, declared=differences
    )


async def _read_declared(db: Database, agent: str, file: ConceptFile) -> Mapping[str, Any]:
    """Return what is declared by now, and what was merged into what the file names."""
    now: Mapping[str, Any] = await db.run(DECLARED, agent=agent, slugs=sorted(_spellings(file)))
    return now


def _differences(agent: str, file: ConceptFile, now: Mapping[str, Any]) -> Declared | None:
    """Return what is to be declared, and what no more; None where all of it is stored."""
    rows = {row["id"][1]: row for row in now["concepts"]}
    changed = {slug for slug in file.names if not _is_stored(file, slug, rows.get(slug))}
    undeclared = rows.keys() - file.names.keys()
    taken = _taken(agent, _spellings(file), now["merged"])
    edges = replace(_edge_changes(file, now), taken=taken)
    if not changed and not undeclared and edges == Declared():
        return None
    concepts = [
        concept_row(agent, file.names[slug], file.aliases.get(slug, ()), is_declared=True)
        for slug in sorted(changed)
    ]
    concepts += [
        concept_row(agent, Name(slug, rows[slug]["name"], "heading", rows[slug]["is_cased"]))
        for slug in sorted(undeclared)
    ]
    return replace(edges, concepts=tuple(concepts))


def _read(path: Path, pipeline: Pipeline) -> str:
    try:
        text = path.expanduser().read_text(encoding="utf-8")
        return pipeline.sanitiser.mask(text)
    except OSError as error:
        raise InvalidRequest(f"{path} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise InvalidRequest(f"{path} is not UTF-8: save it as UTF-8.") from error


def _spellings(file: ConceptFile) -> set[str]:
    """Return the slugs of all names and aliases of a file."""
    aliases = {slug_of(alias) for aliases in file.aliases.values() for alias in aliases}
    return aliases | file.names.keys()


def _is_stored(file: ConceptFile, slug: str, row: Mapping[str, Any] | None) -> bool:
    name = file.names[slug]
    told = name.name, name.is_cased, file.aliases.get(slug, ())
    return row is not None and (row["name"], row["is_cased"], tuple(row["aliases"])) == told


def _taken(
    agent: str, declared: Collection[str], merged: Iterable[tuple[Sequence[str], Sequence[str]]]
) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return the spellings that had been merged into concepts and that the file declares now."""
    olds = {key[1]: {*slugs} & {*declared} for key, slugs in merged if key[0] == agent}
    return tuple((slug, tuple(sorted(taken))) for slug, taken in sorted(olds.items()))


def _edge_changes(file: ConceptFile, now: Mapping[str, Any]) -> Declared:
    related = {(key[1], key[2]) for key in now["related"]}
    isa = {(key[1], key[2]) for key in now["isa"]}
    return Declared(
        related=tuple(sorted(file.related - related)),
        isa=tuple(sorted(file.isa - isa)),
        gone_related=tuple(sorted(related - file.related)),
        gone_isa=tuple(sorted(isa - file.isa)),
    )


async def _affected(
    db: Database, engine: Engine, agent: str, file: ConceptFile, slugs: Collection[str]
) -> Mentioning:
    """Return the memories that mention, or may mention, these concepts.

    A name or an alias may have been a concept of its own, another's abbreviation, or merged into
    another, and known by tags that stand in no text.
    """
    aliases = [alias for slug in slugs for alias in file.aliases.get(slug, ())]
    spellings = {*slugs, *map(slug_of, aliases)}
    owners = set(spellings)
    for row in await stored.dictionary_rows(db, agent):
        known = {*map(slug_of, row["aliases"]), *(old["slug"] for old in row["merged"] or ())}
        owners |= set() if known.isdisjoint(spellings) else {row["id"][1]}
    linked = await engine.referencing(agent, owners)
    names = [file.names[slug].name for slug in slugs if slug in file.names]
    found = await stored.mentioning(engine, agent, [*names, *aliases])
    return found._replace(keys=found.keys | linked)


def _name(value: object, kind: str) -> Name:
    name = declared_name(value, kind) if isinstance(value, str) else None
    if name is None:
        msg = (
            f"The concepts file has no usable name in {value!r}: give at least two letters, and no "
            "word as common as `it` (an alias in capitals may be one)."
        )
        raise InvalidRequest(msg)
    return replace(name, is_cased=common_as_word(tokens_of(name.name)))


def _strings(table: Mapping[str, Any], key: str) -> list[str]:
    values = table.get(key, [])
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        msg = f"In the concepts file, {key} of {table.get('name')!r} must be a list of strings."
        raise InvalidRequest(msg)
    return values
