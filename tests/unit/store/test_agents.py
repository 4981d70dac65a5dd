"""Hub caps: above how many memories a concept links nothing."""

from service.store.agents import hub_caps


def test_a_share_of_the_store_up_to_a_bound() -> None:
    caps = hub_caps({"small": 50, "middle": 1_000, "large": 100_000}, 500, 0.1)
    assert caps == {"small": 10, "middle": 100, "large": 500}


def test_the_bound_wins_in_a_small_store_too() -> None:
    assert hub_caps({"new": 0}, 5, 0.1) == {"new": 5}
