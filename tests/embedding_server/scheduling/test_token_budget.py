"""How much goes at once: less when memory runs out, and again as much as it bears."""

from hypothesis import given
from hypothesis import strategies as st

from embedding_server.scheduling.token_budget import FEWEST_PASSES, MOST_PASSES, TokenBudget

MOST = 4096
# Enough for every rise from a single token.
MANY_PASSES = 40 * FEWEST_PASSES


def run(budget: TokenBudget, memory: int, passes: int) -> int:
    """Run full passes on a device that bears so many padded tokens; returns how many ran out."""
    failed = 0
    for _ in range(passes):
        tokens = budget.tokens
        if tokens > memory:
            failed += 1
            budget.lower(tokens, is_alone=False)
        else:
            budget.succeed(tokens)
    return failed


def test_half_of_what_ran_out_is_left() -> None:
    budget = TokenBudget(MOST)
    budget.lower(4000, is_alone=False)
    assert budget.tokens == 2000
    # The other half of the same batch.
    budget.lower(2000, is_alone=False)
    assert budget.tokens == 1000
    budget.lower(2000, is_alone=False)
    assert budget.tokens == 1000


def test_a_text_that_ran_out_alone_says_less() -> None:
    budget = TokenBudget(MOST)
    budget.lower(3000, is_alone=True)
    assert budget.tokens == 2999
    budget.lower(5000, is_alone=True)
    assert budget.tokens == 2999


def test_one_token_is_always_left() -> None:
    budget = TokenBudget(1)
    budget.lower(1, is_alone=True)
    assert budget.tokens == 1


def test_it_rises_by_a_half_after_some_passes() -> None:
    budget = TokenBudget(MOST)
    budget.lower(200, is_alone=False)
    rises = [budget.succeed(100) for _ in range(FEWEST_PASSES)]
    assert rises == [False] * (FEWEST_PASSES - 1) + [True]
    assert budget.tokens == 150


def test_a_small_pass_says_nothing_of_memory() -> None:
    budget = TokenBudget(MOST)
    budget.lower(200, is_alone=False)
    assert not any(budget.succeed(49) for _ in range(MANY_PASSES))
    assert budget.tokens == 100


def test_a_step_too_far_is_taken_back_and_tried_more_rarely() -> None:
    budget = TokenBudget(MOST)
    budget.lower(200, is_alone=False)
    for passes in (FEWEST_PASSES, 2 * FEWEST_PASSES, 4 * FEWEST_PASSES):
        assert [budget.succeed(100) for _ in range(passes)].count(True) == 1
        budget.lower(150, is_alone=False)
        assert budget.tokens == 100


def test_memory_that_is_short_again_halves_it_again() -> None:
    budget = TokenBudget(MOST)
    budget.lower(200, is_alone=False)
    run(budget, 100, FEWEST_PASSES)
    budget.lower(80, is_alone=False)
    assert budget.tokens == 40


@given(short=st.integers(1, MOST - 1), passes=st.integers(0, 200))
def test_once_memory_is_back_all_of_it_is_used(short: int, passes: int) -> None:
    budget = TokenBudget(MOST)
    run(budget, short, passes)
    run(budget, MOST, MANY_PASSES + MOST_PASSES)
    assert budget.tokens == MOST


@given(memory=st.integers(1, MOST - 1))
def test_where_memory_stays_short_few_passes_fail_and_most_of_it_is_used(memory: int) -> None:
    budget = TokenBudget(MOST)
    run(budget, memory, MANY_PASSES)
    assert run(budget, memory, 4 * MOST_PASSES) <= 8
    # On trial it may be a half more than what is borne.
    assert memory / 2 < budget.tokens <= 1.5 * memory + 1
