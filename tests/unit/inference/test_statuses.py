"""What an embedding server's answer means by its status and headers."""

import pytest

from service.inference.asking import Answer
from service.inference.statuses import PassingFailure, accepted


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("2", 2.0),
        ("0.5", 0.5),
        ("\u00b2", None),
        ("Wed, 21 Oct 2026 07:28:00 GMT", None),
        (".", None),
    ],
)
def test_how_long_to_wait_is_taken_where_it_is_a_number(header: str, seconds: float | None) -> None:
    """A digit that is no decimal one made a push fail with 500 which needs no vector."""
    with pytest.raises(PassingFailure) as raised:
        accepted(Answer(429, {"retry-after": header}, b"", is_on_new_connection=False))
    assert raised.value.wait_seconds == seconds
