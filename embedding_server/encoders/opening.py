"""The choice of the encoder that the settings ask for."""

import importlib

from embedding_server.encoders import hashing
from embedding_server.encoders.encoder import Encoder
from embedding_server.errors import CannotStart
from embedding_server.settings import Settings


def open_encoder(settings: Settings) -> Encoder:
    """Load the model that the settings name and check that it works. Raises CannotStart."""
    if settings.model == hashing.NAME:
        return hashing.HashingEncoder()
    # Loaded by name, because it brings torch: several seconds and hundreds of megabytes that
    # the hashing encoder must not cost, and that an installation without torch does not have.
    try:
        module = importlib.import_module("embedding_server.encoders.sentence_transformer")
    except ModuleNotFoundError as error:
        raise CannotStart(
            f"the package {error.name!r} is missing; install graph-memory[embeddings], "
            f"or set EMBEDDING_MODEL={hashing.NAME} to try the server without a model"
        ) from error
    encoder: Encoder = module.open_sentence_transformer(settings)
    return encoder
