"""What a passage of markdown names by a mark of its own: [[wikilinks]] and #tags."""

import re

from service.text.combining_marks import COMBINING

_BACKTICKS = re.compile(r"`+")
# 200: no name is longer, and the bound keeps a row of unclosed brackets linear.
_WIKILINK = re.compile(r"(!?)\[\[([^\[\]\n]{1,200})\]\]")
# Neither the "#" of C# nor that of "C# in Depth" begins a heading.
_HEADING = re.compile(r"#(?!(?<=\b[A-Za-z]#)(?:\s|$))")
_NOTE = re.compile(r"^(?:.*/)?([^/]+)\.md$", re.IGNORECASE)
_MEDIA = re.compile(r"\.(?!md$)\w{1,5}$", re.IGNORECASE)
# After white space only: neither "C#", "page.html#part" nor "[text](#part)" is a tag; and not
# before a bracket: "#map(&:id)" is a method. "#c++" and "#c#" are.
_TAG = re.compile(
    rf"(?:^|(?<=\s))#([A-Za-z](?:\+\+|#)|[^\W\d_][\w{COMBINING}/-]{{1,99}})(?=[\s.,;:!?)\]]|$)",
    re.MULTILINE,
)
_COLOUR = re.compile(r"(?:[0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})", re.IGNORECASE)


def find_wikilinks(text: str) -> list[str]:
    """Find the targets of [[target]], [[target|label]] and [[target#heading]], outside code.

    Embedded media (![[plan.png]]) are not links; an embedded note is one. [[people/kit.md]] leads
    to the note kit; [[TCP/IP]] may be no path.
    """
    targets = []
    for match in _WIKILINK.finditer(_blank_code_spans(text)):
        reference = match[2].split("|", 1)[0].removesuffix("\\")  # a table escapes its "|"
        target = _HEADING.split(reference, maxsplit=1)[0].strip()
        label = match[2].partition("|")[2].strip()
        if label and target.removesuffix(".md").endswith(f"/{label}"):
            target = label  # so Obsidian writes the path of a note: [[projects/Cargo|Cargo]]
        if target and not (match[1] and _MEDIA.search(target)):
            targets.append(_NOTE.sub(r"\1", target))
    return targets


def find_tags(text: str) -> list[str]:
    """Find inline #tags outside code: a letter first, at least two characters, no colour."""
    tags = (match[1].rstrip("/-") for match in _TAG.finditer(_blank_code_spans(text)))
    return [tag for tag in tags if len(tag) > 1 and not _COLOUR.fullmatch(tag)]


def read_heading_text(text: str) -> str:
    """Write each wikilink of a heading as a reader sees it: its label, else its target."""
    return _WIKILINK.sub(lambda match: match[2].rsplit("|", 1)[-1].strip(), text)


def _blank_code_spans(text: str) -> str:
    """Replace each code span by a space: from a run of backticks to the next of equal length."""
    runs = list(_BACKTICKS.finditer(text))
    if not runs:
        return text
    closing = _match_runs([len(run[0]) for run in runs])
    kept, position, index = [], 0, 0
    while index < len(runs):
        is_escaped = text[runs[index].start() - 1 : runs[index].start()] == "\\"
        end = None if is_escaped else closing[index]
        if end is None:
            index += 1
            continue
        kept.append(text[position : runs[index].start()])
        position, index = runs[end].end(), end + 1
    return " ".join([*kept, text[position:]])


def _match_runs(lengths: list[int]) -> list[int | None]:
    """Give for each run the index of the next one as long, in one pass from the right."""
    nearest: dict[int, int] = {}
    closing: list[int | None] = []
    for index in range(len(lengths) - 1, -1, -1):
        closing.append(nearest.get(lengths[index]))
        nearest[lengths[index]] = index
    return closing[::-1]
