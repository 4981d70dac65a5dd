"""Spellings that become another concept's, and those that become concepts of their own again."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Final

from service.index.engine import Engine
from service.links import stored
from service.names.dictionary import Dictionary
from service.names.names import Name
from service.names.slugs import slug_of
from service.store.database import Database

# Memories linked anew in one transaction: its time grows with the square of their number
# (docs/decisions/0009).
MOST_RELINKED: Final = 256

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Merged:
    """A concept as it was before it was merged `into` another (slugs), by the deed called `run`.

    `apart` names the concepts that it was not to be merged with.
    """

    slug: str
    name: str
    kind: str
    is_cased: bool
    into: str
    run: str
    apart: tuple[str, ...] = ()

    @classmethod
    def read(cls, row: Row) -> "Merged":
        """Take in what stands in field `merged` of table `concept`."""
        same = {field.name: row[field.name] for field in fields(cls)}
        return cls(**{**same, "apart": tuple(row["apart"])})

    def row(self) -> dict[str, Any]:
        """Return what stands in field `merged` of table `concept`."""
        return {**asdict(self), "apart": list(self.apart)}

    def named(self) -> Name:
        """Return it as the dictionary knows names."""
        return Name(self.slug, self.name, self.kind, self.is_cased)


@dataclass(frozen=True, slots=True)
class Regroup:
    """What is asked: that the concepts `merge` become one with `slug`, by the deed called `run`.

    Or that those of `part`, which were merged into it, become concepts of their own again. With
    neither, that what is left of the last of these goes on.
    """

    slug: str
    merge: tuple[str, ...] = ()
    part: tuple[str, ...] = ()
    run: str = ""


@dataclass(frozen=True, slots=True)
class Regrouped:
    """What becomes of it: the spellings that `moved`, and what to write and to link anew.

    `rows` tell of concepts, by `slug`, what their fields `merged` and `apart` are from now on.
    `names` are concepts again, `shorts` abbreviations that may mean something else now. `relink`
    are the memories that may mention something else, those of `slugs`; if they are many, `later`
    are those that wait for the next transaction: until then the concepts `slugs` stay, whatever
    mentions them. `was_waiting`: this one goes on with an earlier one.
    """

    moved: tuple[Merged, ...] = ()
    rows: tuple[Row, ...] = ()
    names: tuple[Name, ...] = ()
    shorts: frozenset[str] = frozenset()
    slugs: frozenset[str] = frozenset()
    relink: frozenset[str] = frozenset()
    later: frozenset[str] = frozenset()
    was_waiting: bool = False
    slug: str = ""

    @property
    def waiting_slugs(self) -> frozenset[str]:
        """The concepts that stay for a later transaction, mentioned or not."""
        return self.slugs if self.later else frozenset()

    @property
    def over_slugs(self) -> frozenset[str]:
        """The concepts whose memories are all linked anew with this transaction.

        And the one that they became, or were: with none of them left it may be nobody's by now.
        """
        return frozenset() if self.later or not self.slug else self.slugs | {self.slug}


NOTHING_REGROUPED: Final = Regrouped()


async def regroup(
    db: Database, engine: Engine, dictionary: Dictionary, agent: str, asked: Regroup
) -> Regrouped:
    """Teach the dictionary what is asked; concepts that are gone or declared by now stay out.

    The caller holds the agent's turn to write, so that what is read here still stands when it is
    written. Many memories are linked anew in several transactions: what is merged or parted is so
    for all of them from the first one on, and what is left is stored, to be gone on with.
    """
    waiting = await stored.relinking(db, agent, asked.slug)
    known = await stored.concept_rows(db, agent, {asked.slug, *asked.merge, *asked.part})
    made = NOTHING_REGROUPED
    if asked.slug in known and (asked.merge or asked.part):
        made = (_part if asked.part else _merge)(dictionary, asked, known)
    if not made.moved and waiting is None:
        return NOTHING_REGROUPED
    slugs, after = {entry.slug for entry in made.moved}, ""
    if made.moved:
        names = slugs.union([asked.slug], *(_merged_slugs(row) for row in made.rows))
        made = replace(made, shorts=frozenset(await stored.shorts_of(db, agent, names)))
    elif waiting is not None:
        after = waiting["after"]
    slugs |= {asked.slug} if asked.part else set()
    slugs |= set(waiting["slugs"]) if waiting is not None else set()
    keys = sorted(key for key in await engine.referencing(agent, slugs) if key > after)
    return replace(
        made, slug=asked.slug, slugs=frozenset(slugs), relink=frozenset(keys[:MOST_RELINKED]),
        later=frozenset(keys[MOST_RELINKED:]), was_waiting=waiting is not None,
    )  # fmt: skip


def _merged_slugs(row: Row) -> set[str]:
    return {entry["slug"] for entry in row["merged"]}


def _merge(dictionary: Dictionary, asked: Regroup, known: Mapping[str, Row]) -> Regrouped:
    stays = known[asked.slug]
    others = [known[slug] for slug in asked.merge if slug in known and slug != asked.slug]
    others = [row for row in others if not row["is_declared"]]
    moved = tuple(
        Merged(
            row["id"][1], row["name"], row["kind"], row["is_cased"], asked.slug, asked.run,
            tuple(row["apart"]),
        )
        for row in others
    )  # fmt: skip
    # What the user declares as an alias needs no note of ours, and no undo: the file says it.
    aliases = {slug_of(alias) for alias in stays["aliases"]} if stays["is_declared"] else set()
    entries = [entry for row in others for entry in map(Merged.read, row["merged"])]
    entries += [entry for entry in moved if entry.slug not in aliases]
    entries = [entry for entry in entries if entry.slug != asked.slug]
    for entry in entries:
        dictionary.merge(entry.slug, asked.slug)
    apart = {slug for row in (stays, *others) for slug in row["apart"]}
    apart -= {entry.slug for entry in (*entries, *moved)}
    merged = {entry.slug: entry for entry in (*map(Merged.read, stays["merged"]), *entries)}
    rows = [_row(asked.slug, merged.values(), apart)]
    # Until the last of their memories is linked anew they are read again after a crash: what was
    # merged into them leads there no more.
    rows += [_row(row["id"][1], (), row["apart"]) for row in others if row["merged"]]
    return Regrouped(moved, tuple(rows))


def _part(dictionary: Dictionary, asked: Regroup, known: Mapping[str, Row]) -> Regrouped:
    stays = known[asked.slug]
    entries = {entry.slug: entry for entry in map(Merged.read, stays["merged"])}
    parted = [entries[slug] for slug in asked.part if slug in entries and slug not in known]
    slugs = {entry.slug for entry in parted}
    under: dict[str, list[Merged]] = {slug: [] for slug in (asked.slug, *sorted(slugs))}
    for entry in entries.values():
        if entry.slug not in slugs:
            under[_holder(entry, entries, slugs) or asked.slug].append(entry)
    for entry in parted:
        dictionary.part(entry.named(), [spelling.slug for spelling in under[entry.slug]])
    rows = [_row(asked.slug, under[asked.slug], slugs.union(stays["apart"]))]
    rows += [
        _row(e.slug, under[e.slug], slugs.union(e.apart, (asked.slug, e.into)) - {e.slug})
        for e in parted
    ]
    return Regrouped(tuple(parted), tuple(rows), tuple(entry.named() for entry in parted))


def _holder(entry: Merged, entries: Mapping[str, Merged], parted: Collection[str]) -> str | None:
    """Return the first concept, of those parted, that an entry had become one with."""
    passed = set[str]()
    # An older version could leave a circle.
    while entry.into not in parted and entry.into in entries and entry.into not in passed:
        passed.add(entry.into)
        entry = entries[entry.into]
    return entry.into if entry.into in parted else None


def _row(slug: str, merged: Iterable[Merged], apart: Iterable[str]) -> dict[str, Any]:
    return {"slug": slug, "merged": [entry.row() for entry in merged], "apart": sorted(apart)}
