"""An agent's dictionary as the store has it: read anew only when another writer changed it."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from service.links import stored
from service.names.dictionary import Dictionary
from service.names.names import Name
from service.names.slugs import slug_of
from service.store.allocator import give_back
from service.store.database import Database


async def read_dictionary(db: Database, agent: str, known: Dictionary | None) -> Dictionary:
    """Return `known` if it is what the store has, else the agent's dictionary read anew."""
    version = int((await db.meta(["dictionary", agent])).get("version", 0))
    if known is not None and known.version == version:
        return known
    dictionary = await asyncio.to_thread(
        build_dictionary, await stored.dictionary_rows(db, agent), version
    )
    await give_back()
    return dictionary


def build_dictionary(rows: Sequence[Mapping[str, Any]], version: int = 0) -> Dictionary:
    """Return the dictionary that an agent's stored concepts make."""
    dictionary = Dictionary(version)
    # Declared concepts come first: their aliases win over learned names.
    for row in sorted(rows, key=lambda row: not row["is_declared"]):
        _add(dictionary, row["id"][1], row)
    for row in rows:
        for alias in () if row["is_declared"] else row["aliases"]:
            name = Name(row["id"][1], row["name"], row["kind"])
            if dictionary.may_abbreviate(slug_of(alias), name):
                dictionary.abbreviate(slug_of(alias), name.slug)
    for row in rows:
        for entry in row.get("merged") or ():
            dictionary.merge(entry["slug"], row["id"][1])
    return dictionary


def learn_rows(dictionary: Dictionary, rows: Sequence[Mapping[str, Any]]) -> None:
    """Teach the dictionary rows to be written; declared ones take spellings over from learned."""
    slugs = [row["id"].id[1] for row in rows]
    merged = dictionary.merged_into(*slugs)
    dictionary.remove(*slugs)
    for slug, row in zip(slugs, rows, strict=True):
        _add(dictionary, slug, row)
    for key, slug in merged.items():
        dictionary.merge(key, slug)


def _add(dictionary: Dictionary, slug: str, row: Mapping[str, Any]) -> None:
    name = Name(slug, row["name"], row["kind"], row["is_cased"])
    is_declared = row["is_declared"]
    # The aliases of a learned concept are its abbreviations.
    dictionary.add(name, row["aliases"] if is_declared else (), is_declared=is_declared)
