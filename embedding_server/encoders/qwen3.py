"""What is special about Qwen3-Embedding: its prompt, its last token, its shortened vectors."""

from sentence_transformers import SentenceTransformer
from sentence_transformers.base.modules import Transformer
from sentence_transformers.sentence_transformer.modules import Pooling

from embedding_server.errors import CannotStart

DEFAULT_MODEL = "Qwen/Qwen3-Embedding-4B"
# The model card's range is 32 up to the full length, for all sizes.
MIN_DIMENSIONS = 32
END_TOKEN = "<|endoftext|>"  # noqa: S105 - a token of text, not of access
# No space after "Query:"; documents get nothing in front.
QUERY_PROMPT = (
    "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:"
)


def is_qwen3(transformer: Transformer) -> bool:
    """Tell whether the model is built as Qwen3, whatever its name."""
    return bool(transformer.config.model_type == "qwen3")


def check(model: SentenceTransformer) -> None:
    """Refuse a Qwen3 whose vector would not be that of the end token. Raises CannotStart.

    Both faults give plausible vectors that find little: folders without the pooling settings are
    averaged, and some library versions drop the tokenizer's template that adds the end token.
    """
    modes = [module.pooling_mode for module in model if isinstance(module, Pooling)]
    if modes != ["lasttoken"]:
        raise CannotStart(f"Qwen3 needs last-token pooling, but this folder has {modes}")
    last = model.tokenizer("A text.")["input_ids"][-1]
    if last != model.tokenizer.convert_tokens_to_ids(END_TOKEN):
        raise CannotStart(f"the tokenizer does not end a text with {END_TOKEN}")
