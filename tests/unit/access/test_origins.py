"""Whose words a memory has: the way in says so, and nothing raises it."""

from itertools import product

import pytest

from service.access.caller import LOCAL, Caller
from service.access.errors import Forbidden
from service.access.origins import (
    ORIGINS,
    Origin,
    is_raised,
    lower_tier,
    lowest,
    origin_of,
    tier_of,
)
from service.records import TRUST_TIERS


@pytest.mark.parametrize("sender", ORIGINS)
def test_what_is_called_somebody_elses_is_untrusted_whoever_sends_it(sender: Origin) -> None:
    assert origin_of(sender, "push") == sender
    assert origin_of(sender, "push", "trusted") == sender
    for kind in ("web", "tool", "tool-output", "email"):
        assert origin_of(sender, kind, "trusted") == "untrusted"
    assert origin_of(sender, "push", "untrusted") == "untrusted"


def test_a_merge_has_the_lowest_of_its_sources() -> None:
    for one, other in product(ORIGINS, repeat=2):
        merged = lowest((one, other))
        assert merged == lowest((other, one))
        assert ORIGINS.index(merged) == min(ORIGINS.index(one), ORIGINS.index(other))


def test_only_what_is_untrusted_follows_to_another_tier() -> None:
    assert {origin: tier_of(origin) for origin in ORIGINS} == {
        "untrusted": "untrusted", "agent": "trusted", "system": "trusted", "owner": "trusted",
    }  # fmt: skip


def test_tiers_are_in_order() -> None:
    for one, other in product(TRUST_TIERS, repeat=2):
        assert is_raised(one, other) == (TRUST_TIERS.index(one) < TRUST_TIERS.index(other))
        assert lower_tier(one, other) in {one, other}
        assert not is_raised(lower_tier(one, other), one)


def test_only_an_admin_says_more_than_what_follows() -> None:
    writer = Caller("1", "writer", frozenset({"read", "write"}))
    assert writer.check_tier(None, "untrusted") == "untrusted"
    assert writer.check_tier("quarantined", "untrusted") == "quarantined"
    assert LOCAL.check_tier("trusted", "untrusted") == "trusted"
    for tier, follows in [("trusted", "untrusted"), ("untrusted", "quarantined")]:
        with pytest.raises(Forbidden, match=follows):
            writer.check_tier(tier, follows)
