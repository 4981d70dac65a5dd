"""Measure which languages a model reads: how near translations lie, in shares of paraphrases.

    scripts/measure_languages.py

Of the model that EMBEDDING_MODEL names, all-MiniLM-L6-v2 by default, loaded into this process. The
service warns below .4 (service/inference/languages.py).
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from embedding_server.encoder import Encoder
from embedding_server.encoders.opening import open_encoder
from embedding_server.settings import Settings
from service.inference.languages import share_of
from service.inference.translations import ENGLISH, PARAPHRASES, TRANSLATIONS
from service.records import Vector


def main() -> None:
    """Load the model, print a line for each language, the nearest first."""
    argparse.ArgumentParser(description=__doc__.splitlines()[0]).parse_args()
    encoder = open_encoder(Settings())
    english, paraphrases = embed(encoder, ENGLISH), embed(encoder, PARAPHRASES)
    shares = {
        language: share_of(english, paraphrases, embed(encoder, texts))
        for language, texts in TRANSLATIONS.items()
    }
    for language in sorted(shares, key=lambda language: -shares[language]):
        print(f"{language:<12}{shares[language]:6.3f}")


def embed(encoder: Encoder, texts: Sequence[str]) -> list[Vector]:
    """Return the vectors of texts, of unit length."""
    made = encoder.encode(encoder.tokenize(texts))
    return [vector / np.linalg.norm(vector) for vector in made]


if __name__ == "__main__":
    main()
