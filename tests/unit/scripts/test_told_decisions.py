"""The script's own reading of decisions, and what of them it finds in a summary."""

from scripts.consolidation.told_decisions import (
    Kept,
    Loss,
    add_up,
    decision_sentences,
    facts_of,
    look_for_losses,
)

LOG = """# We decided a heading

Decided to use Redis
instead of Kafka. It rained.

- We chose v2.3.1; it holds.
- Written to `decisions.md`.
- JR: agreed on 12 %

```
decided = True
```

| model | chosen |

결정: SurrealDB를 쓴다。다른 일。
"""


def test_sentences_that_decide_are_found_across_lines_and_never_in_code() -> None:
    assert decision_sentences(LOG) == [
        "Decided to use Redis instead of Kafka.",
        "We chose v2.3.1; it holds.",
        "JR: agreed on 12 %",
        "model | chosen |",
        "결정: SurrealDB를 쓴다。",
    ]


def test_facts_are_numbers_names_spans_and_paths_as_written() -> None:
    text = "JR keeps 2,300 rows of MyTable in `a b()` and src/x/y.py on v2.3.1 for 12 % of Mina."
    assert facts_of(text) == {
        "JR", "2,300", "MyTable", "a b()", "src/x/y.py", "v2.3.1", "12 %", "Mina",
    }  # fmt: skip
    assert facts_of("The old one is slow.") == frozenset()


def test_a_fact_counts_only_whole() -> None:
    kept = look_for_losses("s", "- 2024-01-01: we chose v2.3.11", [("m", "We chose v2.3.1.")])
    assert kept == Kept(1, 1, 0, (Loss("s", "m", "We chose v2.3.1.", ("v2.3.1",)),))


def test_facts_on_different_lines_are_apart_and_not_lost() -> None:
    sources = [("m", "We chose Redis 7 over Kafka."), ("n", "Nothing here.")]
    together = look_for_losses("s", "- a\n- We chose Redis 7 over Kafka.", sources)
    assert together == Kept(1, 3, 0, ())
    assert look_for_losses("s", "- Redis 7\n- Kafka", sources) == Kept(1, 3, 1, ())


def test_sums_keep_every_loss() -> None:
    loss = Loss("s", "m", "We chose it.", ("it",))
    assert add_up([Kept(1, 2, 3, (loss,)), Kept(4, 5, 6, ())]) == Kept(5, 7, 9, (loss,))
    assert add_up([]) == Kept(0, 0, 0, ())
