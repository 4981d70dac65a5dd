"""Where the sentences of a text begin, in scripts with and without spaces."""

import re

from sentencex import get_sentence_boundaries  # type: ignore[import-untyped]

# The splitter's time grows with the square of a non-ASCII text's length: a million Chinese
# characters took 221 s at once and 0.6 s in windows of this size.
_WINDOW_CHARACTERS = 2_000
# sentencex 1.0.32 aborts on white space of more than one byte after an initial ("J.\u00a0X.").
_OTHER_SPACE = re.compile(r"[^\S\n ]")


def find_sentence_starts(text: str) -> list[int]:
    """Find the offsets at which sentences begin: ascending, the first is 0.

    The English rules are used for every language: they know the sentence marks of all scripts,
    and beyond them only English abbreviations.
    """
    flat = _OTHER_SPACE.sub(" ", text)
    starts = [0]
    position, is_inside_sentence = 0, True
    while position < len(flat):
        window = flat[position : position + _WINDOW_CHARACTERS]
        boundaries = [boundary["start_index"] for boundary in get_sentence_boundaries("en", window)]
        advance = len(window)
        if position + advance < len(flat) and len(boundaries) > 1:
            advance = boundaries.pop()  # it may go on behind the window
        first = 1 if is_inside_sentence else 0
        starts.extend(position + start for start in boundaries[first:])
        is_inside_sentence = advance == len(window)
        position += advance
    return starts
