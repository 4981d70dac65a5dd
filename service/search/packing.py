"""Which memories fit a token budget; pure."""

from collections.abc import Sequence

from service.records import Memory
from service.text.tokens import estimate_prompt_tokens


def pack(memories: Sequence[Memory], max_tokens: int) -> list[Memory]:
    """Take memories in order while they fit the budget; one that does not is passed over."""
    left, taken = max_tokens, []
    for memory in memories:
        size = estimate_prompt_tokens(memory.title) + estimate_prompt_tokens(memory.content)
        if size <= left:
            taken.append(memory)
            left -= size
    return taken
