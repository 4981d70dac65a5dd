"""BM25 of memories, alone or read together with their neighbours as one text; pure.

As in service/index/resident/text.py a word that stands tf times counts 1 + ln(tf).
"""

import numpy as np

from service.index.bm25 import DAMPED, K1, LONGEST_TEXT, B
from service.index.evidence import Evidence, Floats, RowNumbers


def bm25(evidence: Evidence, idf: Floats, reach: int) -> Floats:
    """Return the score of each candidate, read together with its neighbours within some steps."""
    average = max(1.0, evidence.corpus.words / max(1, evidence.corpus.documents))
    scores = np.empty(evidence.candidates, np.float32)
    score_texts(evidence, idf, min(reach, evidence.before.shape[1]), average, scores)
    return scores


def score_texts(
    evidence: Evidence, idf: Floats, reach: int, average: float, scores: Floats
) -> None:
    """Write the scores; `average` is the length of a memory."""
    counts, lengths = evidence.values["counts"], evidence.values["lengths"]
    before, after = evidence.before, evidence.after
    damped, longest, k1, b = DAMPED, LONGEST_TEXT, K1, B
    words = len(idf)
    usual, held = _usual_texts(before, after, reach), np.empty(words)
    for row in range(len(scores)):
        length, texts = float(lengths[row]), 1
        for word in range(words):
            held[word] = counts[row, word]
        for step in range(2 * reach):
            end = after[row, step - reach] if step >= reach else before[row, step]
            if end >= 0:
                texts += 1
                length += float(lengths[end])
                for word in range(words):
                    held[word] += counts[end, word]
        # A text at a chain's end is short for one with neighbours; one alone is not.
        norm = k1 * (1 - b + b * length / (average * (usual if texts > 1 else 1.0)))
        score = 0.0
        for word in range(words):
            times = int(held[word])
            count = damped[min(times, longest)]
            score += float(idf[word]) * (count * (k1 + 1) / (count + norm))
        scores[row] = score


def _usual_texts(before: RowNumbers, after: RowNumbers, reach: int) -> float:
    """Return of how many memories a text is made in the mean, of those of several."""
    several, texts = 0, 0
    for row in range(len(before)):
        near = 0
        for step in range(2 * reach):
            end = after[row, step - reach] if step >= reach else before[row, step]
            near += 1 if end >= 0 else 0
        if near:
            several += 1
            texts += 1 + near
    return float(texts) / several if several else 1.0
