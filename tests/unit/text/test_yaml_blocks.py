"""Front matter that is not quite YAML: what is read of it, what stays text, what is told."""

import pytest

from service.text.front_matter import FrontMatter, Preface, read_front_matter


def _read(block: str) -> Preface:
    return read_front_matter(["---", *block.split("\n"), "---", "body"])


@pytest.mark.parametrize(
    "broken",
    [
        "cover: [a, b", "cover: {a: b", 'cover: "it', "cover: 'it", "cover:no", "just words",
        "a: &x 1\nb: *x", "a: [[[[[[[[[[x]]]]]]]]]]", 'a: "\\U11111111"', "kind: note\nkind: fact",
    ],
)  # fmt: skip
@pytest.mark.parametrize("is_first", [True, False])
def test_fields_beside_a_broken_one_are_read_and_all_stays_text(
    broken: str, *, is_first: bool
) -> None:
    sound = "title: Fix: the login\nscope: private\ntags:\n- a\n- b"
    # Words that follow a list belong to its last item.
    rest = "\nid: 7\n"
    preface = _read(f"{broken}\n{sound}" if is_first else f"{sound}{rest}{broken}")
    read = preface.front_matter
    assert (read.title, read.scope, read.tags) == ("Fix: the login", "private", ("a", "b"))
    assert preface.line_count == 0
    assert [told.partition(": ")[0] for told in preface.warnings] == ["front matter kept as text"]
    assert (
        preface.warnings[0]
        .split("read of it: ")[1]
        .startswith(
            "kind, title, scope, tags" if is_first and "kind" in broken else "title, scope, tags"
        )
    )


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("tags: [a, b", FrontMatter(title="T", tags=("a", "b"))),
        ("tags: [a, b  # mine", FrontMatter(title="T", tags=("a", "b"))),
        ("tags: [a,\n  b,", FrontMatter(title="T", tags=("a", "b"))),
        ('scope: "lab', FrontMatter(title="T", scope="lab")),
        ("scope: 'lab", FrontMatter(title="T", scope="lab")),
        ("tags: {a", FrontMatter(title="T")),
    ],
)
def test_a_list_or_a_quote_without_its_end_ends_with_its_field(
    written: str, read: FrontMatter
) -> None:
    for block in (f"{written}\ntitle: T", f"title: T\n{written}"):
        preface = _read(block)
        assert (preface.front_matter, preface.line_count) == (read, 0)
        assert len(preface.warnings) == 1


def test_of_a_field_that_stands_twice_the_last_is_read_and_both_stay_text() -> None:
    preface = _read("title: A\ntags: [a]\nTitle: B\nmore: 1\nmore: 2")
    assert preface.front_matter == FrontMatter(title="B", tags=("a",))
    assert (preface.line_count, preface.warnings) == (
        0, ("front matter kept as text: title more than once; read of it: title, tags",),
    )  # fmt: skip
    assert _read("title: A\nmore: 1\nmore: 2").warnings == ()


@pytest.mark.parametrize("name", ["tags", "Tags", "tag"])
@pytest.mark.parametrize(
    "written",
    [" #a #b", " #a, #b", " [#a, #b]", "\t#a #b ", "\n- #a\n- #b", "\n  - a\n  - #b  \n  - '#a'"],
)
def test_tags_with_their_mark_are_no_remarks(name: str, written: str) -> None:
    preface = _read(f"{name}:{written}\ntitle: T")
    assert preface == Preface(FrontMatter(title="T", tags=("a", "b")), preface.line_count)
    assert preface.line_count > 0


@pytest.mark.parametrize(
    "written", ["tags: # mine\n- a", "tags: a #b", "tags:\n- a # b", "aliases:\n- #no\ntags: a"]
)
def test_remarks_beside_tags_stay_remarks(written: str) -> None:
    assert _read(written).front_matter == FrontMatter(tags=("a",))


def test_quotes_of_a_word_processor_are_quotes() -> None:
    read = _read("title: “A b”\ntags: [“a”, ‘b’, „c“]\naliases: “x” and “y”\nscope: it’s")
    assert read.front_matter == FrontMatter(
        title="A b", tags=("a", "b", "c"), aliases=("“x” and “y”",), scope="it’s"
    )


def test_a_list_with_what_is_no_yaml_has_no_brackets_in_its_names() -> None:
    assert _read("tags: [@a, b]").front_matter == FrontMatter(tags=("@a", "b"))


@pytest.mark.parametrize("fence", ["---", "+++"])
def test_a_front_matter_without_an_end_is_told(fence: str) -> None:
    preface = read_front_matter([fence, "title: T", "", "# H", "body"])
    assert (preface.front_matter, preface.line_count) == (FrontMatter(), 0)
    assert preface.warnings == ("front matter kept as text: no line --- ends it",)
    assert read_front_matter([fence, "", "Title: T"]).warnings == ()
    assert read_front_matter([fence]).warnings == ()
