"""What of decisions a summary kept, by a reading of our own that shares nothing with the service's.

A decision sentence is one with a word of a plain list; its facts are numbers, code spans, names
and paths by plain expressions. Pure.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

_DECIDES: Final = re.compile(
    r"\b(?:decid(?:e|ed|es|ing)|decisions?|chose|chosen|choosing|agreed|settled on|picked|opted|"
    r"adopt(?:s|ed|ing)?|reject(?:s|ed|ing)?|approved?|ruled out|instead of|go(?:es|ing)? with|"
    r"went with|will use|will keep|stays? on|switch(?:ed|es|ing)? to|switched|"
    r"migrat(?:e|ed|es|ing) to|replaced)\b|결정|선택|합의|확정|기로 했|决定|決定|选择|選擇|改用",
    re.IGNORECASE,
)
# Not what a file or a command is called.
_SPAN: Final = re.compile(r"`[^`]*`|\S+/\S+")
_FENCE: Final = re.compile(r"^\s*(?:```|~~~)")
_OPENS_BLOCK: Final = re.compile(r"^\s*(?:[-*+]\s+(?:\[[ xX]\]\s+)?|\d+[.)]\s+|>\s?|\|)")
_SENTENCE_END: Final = re.compile(r"(?<=[.!?])[\"')*_”]*\s+(?=[\"'(*_`“]*[A-Z0-9])|(?<=[。！？])")
_FACTS: Final = tuple(
    re.compile(pattern)
    for pattern in (
        r"`[^`\n]+`",
        # Paths: two parts or more, and what begins at the root or at home.
        r"(?<![\w/:])(?:~|\.{1,2})?/?[\w.-]*[A-Za-z_][\w.-]*(?:/[\w.-]*\w)+",
        # Numbers with what is glued to them: 2,300, v2.3.1, E1234, 4B, 19:02, 12 %.
        r"(?<![\w.])[A-Za-z]*\d(?:[\w.,:-]*\w)?(?:\s?%)?",
        r"\b[A-Z][A-Z0-9]+(?:[_-][A-Z0-9]+)*\b",
        r"\b[A-Z]?[a-z0-9]+(?:[A-Z][a-z0-9]*)+\b",
        # A capital that no beginning of a sentence asks for.
        r"(?<=[a-z0-9,;] )[A-Z][a-z]\w*",
    )
)


@dataclass(frozen=True, slots=True)
class Loss:
    """A decision sentence of a source, and the facts of it that its summary does not hold."""

    summary: str
    source: str
    sentence: str
    facts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Kept:
    """How many decision sentences and facts were looked for.

    `apart` counts the sentences whose facts stand all in the summary, but on no single line.
    """

    sentences: int
    facts: int
    apart: int
    losses: tuple[Loss, ...]


def decision_sentences(text: str) -> list[str]:
    """Return the sentences with a word that decides; those of code and headings are none."""
    found = [part for block in _blocks(text) for part in _SENTENCE_END.split(block)]
    return [sentence.strip() for sentence in found if _decides(sentence)]


def facts_of(text: str) -> frozenset[str]:
    """Return numbers, code spans, names, identifiers and paths as they are written."""
    joined = " ".join(text.split())
    return frozenset(
        fact.strip("`") for pattern in _FACTS for fact in pattern.findall(joined)
    )  # fmt: skip


def look_for_losses(summary: str, content: str, sources: Iterable[tuple[str, str]]) -> Kept:
    """Look for every fact of every decision sentence of the sources, (id, text), in a summary.

    `summary` is its id. A fact counts as held where it stands as written, whole.
    """
    whole = " ".join(content.split())
    lines = [" ".join(line.split()) for line in content.split("\n")]
    sentences = facts = apart = 0
    losses = []
    for source, text in sources:
        for sentence in decision_sentences(text):
            told = facts_of(sentence)
            lost = tuple(sorted(fact for fact in told if not _holds(whole, fact)))
            sentences, facts = sentences + 1, facts + len(told)
            if lost:
                losses.append(Loss(summary, source, sentence, lost))
            elif not any(all(_holds(line, fact) for fact in told) for line in lines):
                apart += 1
    return Kept(sentences, facts, apart, tuple(losses))


def add_up(every: Iterable[Kept]) -> Kept:
    """Return the sums over many summaries."""
    parts = list(every)
    return Kept(
        sum(one.sentences for one in parts),
        sum(one.facts for one in parts),
        sum(one.apart for one in parts),
        tuple(loss for one in parts for loss in one.losses),
    )


def _decides(sentence: str) -> bool:
    return _DECIDES.search(_SPAN.sub(" ", sentence)) is not None


def _holds(text: str, fact: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(fact)}(?!\w)", text) is not None


def _blocks(text: str) -> Iterator[str]:
    """Yield paragraphs, list items and rows of tables, each as one line."""
    block: list[str] = []
    is_code = False
    for line in [*text.split("\n"), ""]:
        if _FENCE.match(line):
            is_code = not is_code
        opens = _OPENS_BLOCK.match(line)
        if block and (not line.strip() or opens or is_code or line.startswith("#")):
            yield " ".join(block)
            block = []
        if line.strip() and not (is_code or _FENCE.match(line) or line.startswith("#")):
            block.append(line[opens.end() if opens else 0 :].strip())
