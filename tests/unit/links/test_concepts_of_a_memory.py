"""Which concepts a memory is linked with, by what it gives on purpose."""

from datetime import UTC, datetime

from service.drafts.drafts import Draft
from service.links.links import find_concepts
from service.names.dictionary import Dictionary
from service.names.names import Name

_GIVEN = Draft(
    id="a",
    agent="main",
    content="Where templates are.",
    title="",
    kind="note",
    type="semantic",
    occurred_at=datetime(2026, 2, 13, tzinfo=UTC),
    concepts=("C++ guide",),
)


def test_a_name_that_an_older_store_has_without_its_mark_stays_linked() -> None:
    dictionary = Dictionary()
    assert find_concepts(dictionary, _GIVEN) == set()
    dictionary.add(Name("c_guide", "C++ guide", "link"))
    assert find_concepts(dictionary, _GIVEN) == {"c_guide"}
    dictionary.add(Name("c++_guide", "C++ guide", "link"))
    assert find_concepts(dictionary, _GIVEN) == {"c++_guide"}
