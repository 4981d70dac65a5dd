"""The attacks, by the number of their finding."""

from collections.abc import Callable, Mapping
from typing import Final

from scripts.attacks import (
    clock,
    contract,
    deleted,
    ends_of_time,
    entries,
    forged_source,
    full_disk,
    hidden_neighbours,
    hung_embedder,
    large_documents,
    line_numbers,
    long_words,
    many_searches,
    scan_for_another,
    slow_senders,
    swapped_links,
    swapped_model,
    times_within_a_second,
    unknown_agents,
)
from scripts.attacks.arena import Arena
from scripts.attacks.figures import Figure

ATTACKS: Final[Mapping[int, Callable[[Arena], list[Figure]]]] = {
    1: line_numbers.attack,
    2: entries.attack,
    3: times_within_a_second.attack,
    4: clock.attack,
    5: unknown_agents.attack,
    6: long_words.attack,
    7: many_searches.attack,
    8: hung_embedder.attack,
    9: swapped_model.attack,
    10: scan_for_another.attack,
    11: deleted.attack,
    12: ends_of_time.attack,
    13: swapped_links.attack,
    14: large_documents.attack,
    15: full_disk.attack,
    16: forged_source.attack,
    17: hidden_neighbours.attack,
    18: slow_senders.attack,
    19: contract.attack,
}
