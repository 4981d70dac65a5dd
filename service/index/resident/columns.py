"""The fields that memories are filtered by, as arrays by row: a filter is a mask over them."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from service.index.resident.facts import Facts, Votes
from service.index.resident.labels import Labels
from service.index.resident.saved import Saved
from service.kinds import AUTOMATIC
from service.metadata import LABEL_FILTERS
from service.moments import micros_of
from service.records import Filters
from service.text.digests import digest

Mask = NDArray[np.bool_]
# Rows: the first so many, or some by their numbers.
Which = slice | NDArray[np.intp]

_FOREVER: Final = np.iinfo(np.int64).max
# A full array grows by a quarter: doubling would hold three times a large one while it copies.
_GROWTH: Final = 1.25
# A session's context, its decisions and a search ask for ten, again and again. A byte a memory.
_MOST_MASKS: Final = 16
_NOTHING: Final = np.zeros(0, np.bool_)
_OTHER_COLUMNS: Final = ("_tags", "subjects", "_is_archived", "_is_source", "_is_present")


def grown(array: NDArray[Any], size: int) -> NDArray[Any]:
    """Return the array with room for `size` rows; new room is zero."""
    if size <= len(array):
        return array
    room = max(size, int(len(array) * _GROWTH), 64)
    larger = np.zeros((room, *array.shape[1:]), array.dtype)
    larger[: len(array)] = array
    return larger


class Columns:
    """Filter fields by row, and which rows hold a memory at all."""

    def __init__(self) -> None:
        self._labels = {name: Labels() for name in LABEL_FILTERS}
        self._codes = {name: np.zeros(0, np.int32) for name in LABEL_FILTERS}
        # Memories with the same tags share one code: a filter by tags is a table over codes too.
        self._tag_sets = Labels()
        self._with_tag: dict[str, list[int]] = {}
        self._tags = np.zeros(0, np.int32)
        self._times = {
            name: np.zeros(0, np.int64) for name in ("occurred_at", "valid_from", "valid_until")
        }
        # The digest of a subject; 0 for none.
        self.subjects = np.zeros(0, np.int64)
        self._is_archived = np.zeros(0, np.bool_)
        self._is_source = np.zeros(0, np.bool_)
        # The summary that a memory is part of.
        self.summaries: dict[int, str] = {}
        # Of the few that somebody gave one: a search of an index without any is as before.
        self.votes: dict[int, Votes] = {}
        self._is_present = np.zeros(0, np.bool_)
        self._size = 0
        # Masks of the filters asked last, until something is put or a memory's time is over.
        self._masks: dict[Filters, tuple[int, Mask]] = {}
        # The filters that were asked for last, as they are: to compare all they say takes longer
        # than many an answer.
        self._latest: tuple[Filters | None, int, Mask] = (None, 0, _NOTHING)

    @property
    def present(self) -> Mask:
        """Which rows hold a memory; a view."""
        return self._is_present[: self._size]

    def standing(self, rows: Sequence[int]) -> NDArray[np.intp]:
        """Return those of the rows that a memory stands in, in their order."""
        here = np.array(rows, np.intp)
        here = here[here < self._size]
        return here[self._is_present[here]]

    def with_tag(self, tag: str, which: Which) -> Mask:
        """Return which of these rows hold a memory with a tag; no table is made where none does."""
        tags, sets = self._tags[which], self._with_tag.get(tag)
        return self._tag_sets.chosen(sets)[tags] if sets else np.zeros(len(tags), np.bool_)

    def in_session(self, rows: NDArray[np.intp]) -> Mask:
        """Return which of these rows hold a memory of a session."""
        outside = self._labels["session"].codes.get(None, -1)
        mask: Mask = self._codes["session"][rows] != outside
        return mask

    def counted(self) -> tuple[dict[str, int], int]:
        """Return how many memories there are of each kind, and how many are archived."""
        here, kinds = self.present, self._labels["kind"].codes
        counts = np.bincount(self._codes["kind"][: self._size][here], minlength=len(kinds))
        by_kind = {str(kind): n for kind, n in zip(kinds, counts.tolist(), strict=True) if n}
        return by_kind, int(np.count_nonzero(self._is_archived[: self._size] & here))

    @property
    def occurred_at(self) -> NDArray[np.int64]:
        """When each memory happened, in microseconds since 1970; a view."""
        return self._times["occurred_at"][: self._size]

    @property
    def bytes(self) -> int:
        """The memory held, without the labels."""
        columns: list[NDArray[Any]] = [*self._codes.values(), *self._times.values()]
        columns += [getattr(self, name) for name in _OTHER_COLUMNS]
        return sum(column.nbytes for column in columns)

    def save(self) -> Saved:
        """Return all that is held; labels and tags that no memory has any more are left out."""
        present = self.present
        facts: dict[str, Any] = {
            "size": self._size,
            "labels": {
                name: labels.used(self._codes[name][: self._size][present])
                for name, labels in self._labels.items()
            },
            "tag_sets": self._tag_sets.used(self._tags[: self._size][present]),
            "summaries": list(self.summaries.items()),
            "votes": [[row, *votes] for row, votes in self.votes.items()],
        }
        every: dict[str, NDArray[Any]] = {**self._codes, **self._times}
        every |= {name: getattr(self, name) for name in _OTHER_COLUMNS}
        columns = {name: column[: self._size].copy() for name, column in every.items()}
        return Saved(facts, {}, columns)

    @classmethod
    def restore(cls, saved: Saved) -> "Columns":
        """Return columns as they were saved; raises KeyError, ValueError, TypeError."""
        columns, facts = cls(), saved.facts
        columns._size = int(facts["size"])
        for name, labels in columns._labels.items():
            labels.codes = {value: code for code, value in enumerate(facts["labels"][name])}
        for number, tags in enumerate(facts["tag_sets"]):
            # A number stands for a set that nobody has: it is none of any tags.
            if isinstance(tags, int):
                columns._tag_sets.code(number)
            else:
                columns._tag_code(tuple(tags))
        columns.summaries = {int(row): str(key) for row, key in facts["summaries"]}
        columns.votes = {row: (helpful, unhelpful) for row, helpful, unhelpful in facts["votes"]}
        columns._codes = {name: saved.by_row[name] for name in columns._codes}
        columns._times = {name: saved.by_row[name] for name in columns._times}
        for name in _OTHER_COLUMNS:
            setattr(columns, name, saved.by_row[name])
        return columns

    def reserve(self, size: int) -> None:
        """Make room for rows below `size`."""
        self._codes = {name: grown(column, size) for name, column in self._codes.items()}
        self._times = {name: grown(column, size) for name, column in self._times.items()}
        for name in _OTHER_COLUMNS:
            setattr(self, name, grown(getattr(self, name), size))

    def put(self, rows: Sequence[int], facts: Sequence[Facts]) -> None:
        """Write what is known of memories into their rows."""
        if not rows:
            return
        self._forget_masks()
        self._size = max(self._size, max(rows) + 1)
        self.reserve(self._size)
        new_rows = np.array(rows)
        for position, (name, column) in enumerate(self._codes.items()):
            code = self._labels[name].code
            column[new_rows] = [code(one.labels[position]) for one in facts]
        self._tags[new_rows] = [self._tag_code(one.tags) for one in facts]
        self._times["occurred_at"][new_rows] = [one.occurred_at for one in facts]
        self._times["valid_from"][new_rows] = [
            one.occurred_at if one.valid_from is None else one.valid_from for one in facts
        ]
        self._times["valid_until"][new_rows] = [
            _FOREVER if one.valid_until is None else one.valid_until for one in facts
        ]
        self.subjects[new_rows] = [digest(one.subject) if one.subject else 0 for one in facts]
        self._is_archived[new_rows] = [one.is_archived for one in facts]
        self._is_source[new_rows] = [one.consolidated_into is not None for one in facts]
        for row, one in zip(rows, facts, strict=True):
            self._forget_few(row)
            if one.consolidated_into is not None:
                self.summaries[row] = one.consolidated_into
            if one.votes is not None:
                self.votes[row] = one.votes
        self._is_present[new_rows] = True

    def remove(self, row: int) -> None:
        """Take the memory of a row away."""
        self._forget_masks()
        self._is_present[row] = False
        self.subjects[row] = 0
        self._forget_few(row)

    def mask(self, filters: Filters, now: int) -> Mask:
        """Return which rows pass, as filters.surql says; not to be changed. `now` in microseconds.

        The wall between agents is not checked here: these rows are one agent's.
        """
        known, until, mask = self._latest
        if known is filters and until > now:
            return mask
        # Those that were asked for last stand last.
        until, mask = self._masks.pop(filters, (now, _NOTHING))
        if until <= now:
            until, mask = self._made(filters, now)
            if len(self._masks) >= _MOST_MASKS:
                del self._masks[next(iter(self._masks))]
        self._masks[filters] = until, mask
        self._latest = filters, until, mask
        return mask

    def passes(self, rows: NDArray[np.intp], filters: Filters, now: int) -> Mask:
        """Return which of some rows pass, as `mask` says it of all: a few are soon looked at."""
        mask = self._make_mask(filters, now, rows)
        self._keep_span(mask, filters, rows)
        return mask

    def _forget_few(self, row: int) -> None:
        self.summaries.pop(row, None)
        self.votes.pop(row, None)

    def _forget_masks(self) -> None:
        self._masks.clear()
        self._latest = (None, 0, _NOTHING)

    def _made(self, filters: Filters, now: int) -> tuple[int, Mask]:
        """Return until when the mask of some filters holds, and the mask.

        Each question may name another scope, tag or span: all but that is the mask of the same
        filters without it, which looks at columns of eight bytes a row and is kept.
        """
        every, whole = slice(self._size), filters.unnarrowed()
        if whole == filters:
            return self._until(filters, now), self._make_mask(filters, now, every)
        mask, common = self.mask(whole, now).copy(), whole.labels()
        labels = {name: told for name, told in filters.labels().items() if name not in common}
        self._keep_labels(mask, labels, filters, every)
        self._keep_span(mask, filters, every)
        return self._masks[whole][0], mask

    def _keep_span(self, mask: Mask, filters: Filters, which: Which) -> None:
        """Clear the rows of `which` that lie outside of the times asked for."""
        occurred = self._times["occurred_at"][which]
        if filters.since is not None:
            mask &= occurred >= micros_of(filters.since)
        if filters.until is not None:
            mask &= occurred <= micros_of(filters.until)

    def _until(self, filters: Filters, now: int) -> int:
        """Return when the next memory's time is over, in microseconds."""
        ends, stay = self._times["valid_until"][: self._size], filters.as_of or filters.with_ended
        return _FOREVER if stay else int(ends[ends > now].min(initial=_FOREVER))

    def _make_mask(self, filters: Filters, now: int, which: Which) -> Mask:
        """Return which of these rows pass, whenever they happened."""
        mask = self._is_present[which].copy()
        self._keep_labels(mask, filters.labels(), filters, which)
        moment = now if filters.as_of is None else micros_of(filters.as_of)
        if not filters.with_ended:
            mask &= self._times["valid_until"][which] > moment
        if filters.as_of is not None:
            mask &= self._times["valid_from"][which] <= moment
        if not filters.include_archived:
            hidden = self._is_archived[which]
            mask &= ~(hidden & ~self._is_source[which]) if filters.with_sources else ~hidden
        if filters.without_automatic and AUTOMATIC in self._with_tag:
            is_handoff = self._codes["kind"][which] == self._labels["kind"].codes.get("handoff", -1)
            mask &= ~(self.with_tag(AUTOMATIC, which) & is_handoff)
        return mask

    def _keep_labels(
        self, mask: Mask, asked: Mapping[str, Sequence[str]], filters: Filters, which: Which
    ) -> None:
        """Clear the rows of `which` whose labels, project and tags are not those asked for."""
        for name, values in asked.items():
            labels = self._labels[name]
            codes = [labels.codes[value] for value in {*values} & labels.codes.keys()]
            self._keep(mask, self._codes[name][which], labels, codes)
        if filters.project is not None:
            labels = self._labels["scope"]
            codes = [labels.codes[one] for one in (None, filters.project) if one in labels.codes]
            self._keep(mask, self._codes["scope"][which], labels, codes)
        if filters.tags:
            sets = [set(self._with_tag.get(tag, ())) for tag in filters.tags]
            self._keep(mask, self._tags[which], self._tag_sets, list(set.intersection(*sets)))

    @staticmethod
    def _keep(mask: Mask, column: NDArray[np.int32], labels: Labels, codes: list[int]) -> None:
        if len(codes) == 1:
            mask &= column == codes[0]
        elif len(codes) < len(labels.codes):
            mask &= labels.chosen(codes)[column] if codes else False

    def _tag_code(self, tags: tuple[str, ...]) -> int:
        known = len(self._tag_sets.codes)
        code = self._tag_sets.code(tuple(sorted(set(tags))))
        if code == known:
            for tag in set(tags):
                self._with_tag.setdefault(tag, []).append(code)
        return code
