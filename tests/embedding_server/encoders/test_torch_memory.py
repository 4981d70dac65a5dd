"""Passes that really run out of memory: they are told apart and leave nothing behind."""

import weakref

import pytest
import torch

from embedding_server.encoder import MemoryExhausted
from embedding_server.encoders.torch_memory import is_shortage, run_within_memory

# More bytes than any machine can address, so that the allocator refuses at once.
TOO_MUCH = 10**17


def test_a_pass_that_fits_gives_its_result() -> None:
    assert run_within_memory(lambda: torch.ones(2).sum().item()) == 2


def test_a_real_refusal_of_the_cpu_allocator_is_a_shortage() -> None:
    with pytest.raises(MemoryExhausted, match="allocate"):
        run_within_memory(lambda: torch.empty(TOO_MUCH))


def test_a_real_refusal_of_python_is_a_shortage() -> None:
    with pytest.raises(MemoryExhausted, match="out of memory"):
        run_within_memory(lambda: bytearray(TOO_MUCH))


def test_the_tensors_of_the_pass_are_gone_when_it_is_said() -> None:
    made: list[weakref.ref[torch.Tensor]] = []

    def forward() -> None:
        activations = torch.ones(1000)
        made.append(weakref.ref(activations))
        (activations * torch.empty(TOO_MUCH)).sum()

    with pytest.raises(MemoryExhausted) as caught:
        run_within_memory(forward)
    assert made[0]() is None
    assert caught.value.__context__ is None


@pytest.mark.parametrize(
    "error",
    [
        torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 MiB."),
        RuntimeError("CUDA error: out of memory"),
        RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`"),
        RuntimeError("std::bad_alloc"),
        MemoryError(),
    ],
)
def test_the_words_for_a_shortage(error: MemoryError | RuntimeError) -> None:
    assert is_shortage(error)


@pytest.mark.parametrize(
    "words",
    ["CUDA error: device-side assert triggered", "CUDA error: an illegal memory access", "shape"],
)
def test_another_failure_stays_what_it_is(words: str) -> None:
    def forward() -> None:
        raise RuntimeError(words)

    with pytest.raises(RuntimeError, match=words):
        run_within_memory(forward)
