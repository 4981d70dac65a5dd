"""Texts in arrays against a plain list of them, and concepts made of them."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.index.resident import texts
from service.index.resident.concepts import Concepts
from service.index.resident.texts import NumberedTexts
from service.records import Concept
from service.text.digests import digest
from tests.effort import examples

NAMES = ["", "a", "b", "graph", "그래프", "\ud800", "a b", "c"]

steps = st.lists(
    st.tuples(
        st.sampled_from(["number", "number", "forget", "pack", "restore"]), st.sampled_from(NAMES)
    ),
    max_size=30,
)


@settings(max_examples=examples(200))
@given(steps, st.booleans())
def test_a_text_keeps_its_number_until_it_is_forgotten(
    history: list[tuple[str, str]], has_one_digest: bool
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        if has_one_digest:
            patch.setattr(texts, "digest", lambda _: 7)
            patch.setattr(texts, "digest_of_name", lambda _: 7)
        numbered, held = NumberedTexts(), dict[str, int]()
        size = 0
        for step, text in history:
            if step == "number":
                held.setdefault(text, size)
                assert numbered.number(text) == held[text]
                size = max(size, held[text] + 1)
            elif step == "forget" and text in held:
                numbered.forget(held.pop(text))
            elif step in {"pack", "restore"}:
                numbered.pack()
                numbered = NumberedTexts.restore(numbered.save()) if step == "restore" else numbered
        assert len(numbered) == size
        assert {text: numbered.find(text) for text in NAMES} == {
            text: held.get(text) for text in NAMES
        }
        assert {numbered[number]: number for number in held.values()} == held


def test_what_is_forgotten_is_in_no_array() -> None:
    numbered = NumberedTexts()
    numbers = [numbered.number(text) for text in ("first", "secret", "third")]
    numbered.pack()
    before = numbered.save()
    numbered.forget(numbers[1])
    numbered.pack()
    after = numbered.save()
    assert b"secret" in before.arrays["texts/flat"].tobytes()
    assert b"secret" not in after.arrays["texts/flat"].tobytes()
    gone = {*before.arrays["digests"].tolist()} - {*after.arrays["digests"].tolist()}
    assert gone == {digest("secret")}


def test_a_concept_is_what_was_put_last_whether_or_not_it_was_asked_for() -> None:
    concepts = Concepts("main")
    for slug in ("box", "server", "kettle"):
        concepts.put(slug, slug.title(), 2)
    number = concepts.number("server")
    assert concepts[number] == Concept(("main", "server"), "Server", 2)
    concepts.put("server", "SERVER", 3)
    assert concepts[number] == Concept(("main", "server"), "SERVER", 3)
    concepts.remove("kettle")
    unheard = concepts.number("unheard")
    assert concepts[unheard] is None
    concepts.pack(concepts._memories[:0])
    restored = Concepts.restore("main", concepts.save())
    for held in (concepts, restored):
        assert (held.count, len(list(held))) == (2, 2)
        assert held[number] == Concept(("main", "server"), "SERVER", 3)
        assert (held.find("kettle"), held.find("unheard")) == (None, None)
        held.put("kettle", "Kettle", 1)
        assert held.number("kettle") == 4
    assert concepts[number] is concepts[number]
