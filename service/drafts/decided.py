"""Which sections tell a decision, which stand around one, and which do not hold any more; pure."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from service.drafts.kinds import DEFAULT_PLACES, is_place_of_one_file, kind_of
from service.kinds import KINDS
from service.text.markdown import Document, Section

_DECISION: Final = "decision"
_AROUND: Final = "note"
# Of a record whose parts have headings, the part that says what was decided.
_DECIDING: Final = frozenset(
    {"decision", "decision outcome", "the decision", "entscheidung", "decisión"}
    | {"결정", "决定", "決定"}
)
_STATUS: Final = frozenset({"status", "estado", "상태", "状态", "状態", "狀態"})
_HELD: Final = frozenset(
    {"accepted", "approved", "decided", "angenommen", "akzeptiert", "beschlossen"}
    | {"aceptada", "aceptado", "aprobada", "aprobado"}
    | {
        "승인",
        "승인됨",
        "채택",
        "채택됨",
        "확정",
        "已接受",
        "已采纳",
        "已採納",
        "已批准",
        "已通过",
        "已通過",
    }
)
_NOT_YET: Final = frozenset(
    {"draft", "proposed", "entwurf", "vorgeschlagen", "borrador", "propuesta", "propuesto"}
    | {"초안", "제안", "제안됨", "검토", "草案", "草稿", "提议", "提議", "提案"}
)
# `Superceded` is how a widespread tool writes it.
_NO_MORE: Final = frozenset(
    {"rejected", "withdrawn", "deprecated", "obsolete", "replaced", "superseded", "superceded"}
    | {"abgelehnt", "verworfen", "ersetzt", "abgelöst", "veraltet", "rechazada", "rechazado"}
    | {"obsoleta", "obsoleto", "reemplazada", "reemplazado", "sustituida", "sustituido"}
    | {"폐기", "폐기됨", "대체", "대체됨", "반려", "반려됨", "철회", "철회됨", "거부됨"}
    | {
        "已废弃",
        "已廢棄",
        "废弃",
        "廢棄",
        "已取代",
        "已被取代",
        "已替代",
        "已拒绝",
        "已拒絕",
        "已撤回",
        "已过时",
        "已過時",
    }
)
_NOT_HELD: Final = _NOT_YET | _NO_MORE
# What held, and what took its place: `~~Accepted~~ Superseded by ADR-5`.
_STRUCK: Final = re.compile(r"~~[^~]{1,80}~~")
# `Accepted, superseded by ADR-9`.
_REPLACED: Final = re.compile(
    r"[\W_]{1,5}(?:(?:and|but|later|now|since|then)\s)?(superseded|superceded|replaced)\sby\b",
    re.IGNORECASE,
)
_FIRST_WORD: Final = re.compile(r"[\W_]{0,9}([^\W\d_]{1,40})")
_STATUS_LINE: Final = re.compile(
    r"[\s*_>-]{0,9}(?:status|estado|상태|状态|狀態)[*_]{0,3}[:：][\W_]{0,9}([^\W\d_]{1,40})",
    re.IGNORECASE,
)
_LISTED: Final = re.compile(r"^[ \t]{0,8}(?:[-*+][ \t]|\||[0-9]{1,9}[.)][ \t])", re.MULTILINE)

_Path = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ToldSection:
    """A section and its kind; `is_outdated` where a status says that it does not hold any more."""

    section: Section
    kind: str
    is_outdated: bool = False


def told_sections(
    parsed: Document, uri: str, kind: str | None, places: Mapping[str, str]
) -> list[ToldSection]:
    """Return each section with its kind: the caller's, else the front matter's, else the place's.

    Where that makes decisions of them, what stands around one is a note: see `is_decision`. The
    section below a heading `Decision` is called by the heading above it, which names what was
    decided. What does not hold any more says in its title which status tells that: in a file of
    decisions any, in others that of the front matter. `places` (pattern to kind) are tried before
    the built-in table.
    """
    table = (*places.items(), *DEFAULT_PLACES)
    found = kind or (parsed.kind if parsed.kind in KINDS else kind_of(uri, table))
    if kind is None and found == _DECISION:
        record = _Record(parsed, is_list=is_place_of_one_file(uri, table))
        return [record.told(section) for section in parsed.sections]
    status = _last_status([parsed.status], _FIRST_WORD)
    if status not in _NO_MORE:
        return [ToldSection(section, found) for section in parsed.sections]
    return [
        ToldSection(_marked(section, section.title or parsed.title, status), found, True)
        for section in parsed.sections
    ]


def _marked(section: Section, title: str, status: str) -> Section:
    return replace(section, title=f"{title} ({status})" if title else status)


class _Record:
    """A document of decisions: `is_list` where it is known to hold more than one."""

    def __init__(self, parsed: Document, *, is_list: bool) -> None:
        paths = [section.heading_path for section in parsed.sections]
        self._title = parsed.title
        self._paths = frozenset(paths)
        self._is_list = is_list
        self._deciding = {path[:at] for path in paths for at in _places(path, _DECIDING)}
        self._status = dict(_statuses(parsed))

    def is_decision(self, section: Section) -> bool:
        """Say whether a section tells a decision that holds.

        Below a heading that has a heading `Decision` under it only that one's text does. None does
        whose status says that it is not decided or not any more, nor the status itself, nor the
        words in front of a list of decisions.
        """
        path = section.heading_path
        if self._fault(path):
            return False
        entry = self._entry(path)
        if entry is not None:
            return self._decides(path, len(entry))
        return not (path and _is_one_of(path[-1], _STATUS)) and not self._introduces(section)

    def told(self, section: Section) -> ToldSection:
        """Return a section with its kind, called by the heading above it where it is `Decision`."""
        *above, own = section.heading_path or ("",)
        is_deciding = _is_one_of(own, _DECIDING)
        title = (above[-1] if above else self._title) if is_deciding else ""
        title = title or section.title or self._title
        fault = self._fault(section.heading_path)
        kind = _DECISION if self.is_decision(section) else _AROUND
        if fault in _NO_MORE or (fault and is_deciding):
            return ToldSection(_marked(section, title, fault), kind, fault in _NO_MORE)
        return ToldSection(replace(section, title=title) if is_deciding else section, kind)

    def _fault(self, path: _Path) -> str | None:
        """Return the status of what is above, or of this, that lets no decision hold."""
        words = (self._status.get(path[:at], "") for at in range(len(path) + 1))
        return next((word for word in words if word in _NOT_HELD), None)

    def _entry(self, path: _Path) -> _Path | None:
        """Return the nearest path above, or this one, that has a heading `Decision` below it."""
        above = (path[:at] for at in range(len(path), -1, -1))
        return next((one for one in above if one in self._deciding), None)

    def _decides(self, path: _Path, depth: int) -> bool:
        """Say whether a path is that heading `Decision`, or below one without words of its own."""
        if len(path) <= depth or not _is_one_of(path[depth], _DECIDING):
            return False
        return len(path) == depth + 1 or path[: depth + 1] not in self._paths

    def _introduces(self, section: Section) -> bool:
        """Say whether these are words below the title of a list, which itself stands below."""
        path = section.heading_path
        if not self._is_list or len(path) > 1 or _LISTED.search(section.content):
            return False
        others = self._paths - {(), path}
        return bool(others) and all(other[: len(path)] == path for other in others)


def _statuses(parsed: Document) -> Iterator[tuple[_Path, str]]:
    """Yield of what is below which heading a status tells, and its word."""
    if word := _last_status([parsed.status], _FIRST_WORD):
        yield (), word
    for section in parsed.sections:
        path, lines = section.heading_path, section.content.splitlines()
        is_status = bool(path) and _is_one_of(path[-1], _STATUS)
        if path and (word := _last_status(path[-1:], _STATUS_LINE)):
            yield path[:-1], word
        if word := _last_status(lines, _FIRST_WORD if is_status else _STATUS_LINE):
            yield path[:-1] if is_status else path, word


def _last_status(lines: Sequence[str], words: re.Pattern[str]) -> str | None:
    """Return the word of the last line with a status; None without one."""
    found = (words.match(_STRUCK.sub("", line)) for line in reversed(lines))
    told = (_replaced(match) or match[1].casefold() for match in found if match)
    return next((word for word in told if word in _HELD or word in _NOT_HELD), None)


def _replaced(status: re.Match[str]) -> str | None:
    """Return what became of a decision that its line first calls accepted; None if that holds."""
    replaced = _REPLACED.match(status.string, status.end(1))
    return replaced[1].casefold() if replaced else None


def _places(path: _Path, names: frozenset[str]) -> list[int]:
    return [at for at, heading in enumerate(path) if _is_one_of(heading, names)]


def _is_one_of(heading: str, names: frozenset[str]) -> bool:
    return heading.lstrip("0123456789.) ").rstrip(" :：").casefold() in names
