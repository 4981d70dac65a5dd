"""Which memories fit a token budget; pure."""

from collections.abc import Mapping, Sequence

from service.records import Memory
from service.text.tokens import estimate_prompt_tokens


def pack(
    memories: Sequence[Memory], max_tokens: int, snippets: Mapping[str, str] | None = None
) -> list[Memory]:
    """Take memories in order while they fit the budget; one that does not is passed over.

    Where `snippets`, by id, are told in place of the contents, these are what costs.
    """
    left, taken = max_tokens, []
    for memory in memories:
        text = memory.content if snippets is None else snippets[memory.id]
        size = estimate_prompt_tokens(memory.title) + estimate_prompt_tokens(text)
        if size <= left:
            taken.append(memory)
            left -= size
    return taken
