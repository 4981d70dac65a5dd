"""Forward passes of torch that do not fit into memory: told apart, and cleaned up after."""

import re
from collections.abc import Callable
from typing import TypeVar

import torch

from embedding_server.encoder import MemoryExhausted

Result = TypeVar("Result")

# torch has a class of its own only for its CUDA allocator. The CPU allocator, CUDA itself, cuBLAS
# and C++ fail with a RuntimeError whose words differ.
SHORTAGE = re.compile(r"out of memory|can't allocate memory|_ALLOC_FAILED|bad_alloc", re.IGNORECASE)


def run_within_memory(forward: Callable[[], Result]) -> Result:
    """Return what `forward` returns. Raises MemoryExhausted when it runs out of memory.

    Nothing of the pass is held then, neither by the exception nor by CUDA's cache.
    """
    try:
        return forward()
    except (MemoryError, RuntimeError) as error:
        if not is_shortage(error):
            raise
        words = str(error).splitlines()
    # Not in the except block: the error's traceback keeps the frames of the pass alive, and these
    # their tensors. Without CUDA the call does nothing.
    torch.cuda.empty_cache()
    raise MemoryExhausted(words[0] if words else "out of memory")


def is_shortage(error: MemoryError | RuntimeError) -> bool:
    """Tell whether the error means that memory has run out."""
    is_known = isinstance(error, MemoryError | torch.OutOfMemoryError)
    return is_known or SHORTAGE.search(str(error)) is not None
