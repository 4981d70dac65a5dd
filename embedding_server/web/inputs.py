"""A request's texts on their way to token ids, refused or cut where they are too long."""

from collections.abc import Iterator
from dataclasses import dataclass

from embedding_server.encoder import ModelCard
from embedding_server.errors import InputTooLong, RequestTooLong
from embedding_server.scheduling.admission import Permit
from embedding_server.serving.served_model import ServedModel
from embedding_server.web.protocol import EmbeddingRequest

# Text has three to six characters a token, and a token of sixteen is a rare one. The tokenizer
# must not see what is far beyond: 16 MB take it seconds and gigabytes, only to be refused.
MOST_CHARACTERS_PER_TOKEN = 16
# A model of few tokens may still be sent a document to cut.
LEAST_CHARACTER_LIMIT = 100_000
# Texts are tokenised and counted in portions, so that a request with too many tokens is refused
# before all of them exist, and a single query waits for one portion of a long list at most.
PORTION_TEXTS = 64
PORTION_CHARACTERS = 200_000


@dataclass(frozen=True, slots=True)
class PreparedTexts:
    """The texts with their prompt, none far too long, and the indexes of those that were cut."""

    texts: list[str]
    truncated: list[int]
    may_truncate: bool


@dataclass(frozen=True, slots=True)
class Tokenized:
    """The texts of a request as token ids, none too long, and which of them were cut."""

    tokens: list[list[int]]
    truncated: list[int]

    @property
    def used(self) -> int:
        """Count the tokens of all texts."""
        return sum(len(ids) for ids in self.tokens)


def prepare_texts(asked: EmbeddingRequest, card: ModelCard, *, truncate: bool) -> PreparedTexts:
    """Put the prompt in front of each text and look at its length in characters.

    `truncate` is what holds where the client says nothing of it.

    Raises InputTooLong, or InvalidRequest for an instruction that the model cannot follow. A cut
    here is never seen in the vector, unless the text has tokens of over sixteen characters.
    """
    may_truncate = truncate if asked.truncate is None else asked.truncate
    prompt = card.prompts.choose(asked.input_type, asked.instruction)
    texts = [prompt + text for text in asked.texts]
    limit = max(LEAST_CHARACTER_LIMIT, MOST_CHARACTERS_PER_TOKEN * card.max_tokens)
    long = [row for row, text in enumerate(texts) if len(text) > limit]
    if long and not may_truncate:
        size = f"{len(texts[long[0]]):,} characters, and more than {limit:,} are not read"
        raise _refuse_text(long[0], size, card)
    for row in long:
        texts[row] = texts[row][:limit]
    return PreparedTexts(texts, long, may_truncate=may_truncate)


async def tokenize_texts(
    prepared: PreparedTexts, model: ServedModel, max_request_tokens: int, permit: Permit
) -> Tokenized:
    """Return the token ids of each text, counted on the request's permit.

    Raises InputTooLong, RequestTooLong, or ServerBusy if there is no room for the tokens.
    """
    tokens: list[list[int]] = []
    truncated = set(prepared.truncated)
    used = 0
    for portion in _split(prepared.texts):
        first = len(tokens)
        found, cut = await _tokenize_portion(portion, first, model, prepared.may_truncate)
        added = sum(len(ids) for ids in found)
        used += added
        if used > max_request_tokens:
            raise RequestTooLong(
                f"The inputs have more than {max_request_tokens:,} tokens together, which is the "
                "most for one request. Send fewer texts at once.",
                param="input",
            )
        permit.add_tokens(added)
        tokens += found
        truncated.update(cut)
    return Tokenized(tokens, sorted(truncated))


async def _tokenize_portion(
    texts: list[str], first: int, model: ServedModel, may_truncate: bool
) -> tuple[list[list[int]], list[int]]:
    """Return token ids and the indexes of the texts that were cut; `first` is that of the first."""
    card = model.card
    tokens = await model.tokenize(texts)
    long = [row for row, ids in enumerate(tokens) if len(ids) > card.max_tokens]
    if long and not may_truncate:
        size = f"{len(tokens[long[0]])} tokens with prompt and special tokens"
        raise _refuse_text(first + long[0], size, card)
    if long:
        cut = await model.tokenize([texts[row] for row in long], card.max_tokens)
        for row, ids in zip(long, cut, strict=True):
            tokens[row] = ids
    return tokens, [first + row for row in long]


def _split(texts: list[str]) -> Iterator[list[str]]:
    portion: list[str] = []
    characters = 0
    for text in texts:
        is_full = len(portion) == PORTION_TEXTS or characters + len(text) > PORTION_CHARACTERS
        if portion and is_full:
            yield portion
            portion, characters = [], 0
        portion.append(text)
        characters += len(text)
    yield portion


def _refuse_text(row: int, size: str, card: ModelCard) -> InputTooLong:
    return InputTooLong(
        f"'input[{row}]' has {size}; {card.name} takes at most {card.max_tokens} tokens. "
        'Shorten it, or send "truncate": true.',
        param="input",
    )
