"""Which older memories a new name touches."""

from service.links.links import _naming
from service.links.stored import StoredText
from service.names.names import Name, declared_name
from service.names.proper_nouns import proper_names
from service.records import Source


def _text(content: str, tags: tuple[str, ...] = ()) -> StoredText:
    return StoredText("", content, (), tags, (), Source(), "trusted", teaches=True)


def test_of_all_that_hold_the_words_those_that_mention_the_name_are_linked_anew() -> None:
    names = proper_names("We met at Blue Bunny, and Blue Bunny is closed.")
    texts = {
        "said": _text("They left Blue Bunny at noon."),
        "other order": _text("The bunny was blue."),
        "small": _text("A blue bunny ran past."),
        "apart": _text("Blue paint, says Bunny."),
    }
    assert _naming(names.values(), texts).keys() == {"said", "small"}


def test_a_name_that_is_a_word_too_is_mentioned_by_its_capital() -> None:
    name = Name("rush", "Rush", "proper", is_cased=True)
    texts = {"said": _text("We asked Rush."), "small": _text("There was a rush.")}
    assert _naming([name], texts).keys() == {"said"}


def test_a_tag_mentions_its_name() -> None:
    name = declared_name("crane", "tag")
    assert name is not None
    texts = {"tagged": _text("It was mended.", ("crane",)), "other": _text("It was painted.")}
    assert _naming([name], texts).keys() == {"tagged"}
