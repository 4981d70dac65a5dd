"""Query files: every header keeps its promise, and the filters stand where they are called for."""

import re
from importlib.resources import files
from pathlib import Path

import pytest

from service.records import Filters
from service.store.queries import (
    GENERATED,
    Fragment,
    Query,
    checked,
    load_query,
    narrowed,
    transaction,
)

_SERVICE = Path(str(files("service")))
# Words that stand in several queries, and are none themselves.
_NAMED = re.findall(
    r"^-- with: (\S+)$",
    "\n".join(path.read_text(encoding="utf-8") for path in _SERVICE.rglob("*.surql")),
    re.MULTILINE,
)
_SHARED = frozenset(_SERVICE / f"{name}.surql" for name in _NAMED)
_FILES = sorted(path for path in _SERVICE.rglob("*.surql") if path not in _SHARED)
# Names that the language binds itself.
_OWN = frozenset({"parent", "this", "value", "input"})
_WRITING = re.compile(
    r"^\s*(?:CREATE|UPDATE|UPSERT|DELETE|INSERT|RELATE|REMOVE|DEFINE)\b", re.MULTILINE
)


def _load(path: Path) -> Query:
    room = path.parent.relative_to(_SERVICE.parent).as_posix().replace("/", ".")
    return load_query(room, path.stem)


def _place(path: Path) -> str:
    return path.relative_to(_SERVICE).as_posix()


def _code(text: str) -> str:
    return "\n".join(line for line in text.splitlines() if not line.startswith("--"))


def _bound(text: str) -> set[str]:
    """Return the variables of a query that nothing in it defines."""
    code = _code(text)
    defined = re.findall(r"\bLET \$(\w+)|\bFOR \$(\w+) IN", code)
    closures = re.findall(r"\|(\$\w+(?:, \$\w+)*)\|", code)
    given = {name for names in closures for name in re.findall(r"\w+", names)}
    used = set(re.findall(r"\$(\w+)", code))
    return used - _OWN - given - {name for names in defined for name in names}


def _write(folder: Path, **texts: str) -> str:
    """Write queries into a package of their own; returns its name."""
    package = f"queries_of_{abs(hash(folder))}"
    (folder / package).mkdir()
    for name, text in texts.items():
        (folder / package / f"{name}.surql").write_text(text, encoding="utf-8")
    return package


@pytest.mark.parametrize("path", _FILES, ids=_place)
def test_the_first_line_says_what_it_is(path: Path) -> None:
    assert re.match(
        r"-- (?!takes:|gives:|writes$|with:)[A-Z].*\.$", path.read_text().splitlines()[0]
    )


@pytest.mark.parametrize("path", _FILES, ids=_place)
def test_it_takes_what_it_binds(path: Path) -> None:
    query = _load(path)
    assert query.takes == _bound(query.text)


@pytest.mark.parametrize("path", _FILES, ids=_place)
def test_it_says_whether_it_writes_or_gives(path: Path) -> None:
    query = _load(path)
    assert query.writes == (_WRITING.search(_code(query.text)) is not None)
    assert query.writes or "\n-- gives: " in query.text


@pytest.mark.parametrize("path", _FILES, ids=_place)
def test_filters_take_the_place_of_their_line(path: Path) -> None:
    query, is_filtered = _load(path), "-- with: store/filters" in path.read_text()
    conditions = "".join(
        re.findall(r"    AND .*\n", (_SERVICE / "store/filters.surql").read_text())
    )
    assert "-- with:" not in query.text
    assert (conditions in query.text) == is_filtered
    assert (set(Filters().params()) <= query.takes) == is_filtered


@pytest.mark.parametrize("path", _FILES, ids=_place)
def test_rows_as_given_are_written_and_read_by_nobody(path: Path) -> None:
    """In between the store tells nothing of what it did, and no event sees a row go.

    Memories go so all the same: what their events take along went before them.
    """
    parts = _code(_load(path).text).split("OPTION IMPORT = ")
    assert [part[:4] for part in parts[1:]] == ["TRUE", "FALS"] * (len(parts) // 2)
    for part in parts[1::2]:
        assert set(re.findall(r"DELETE (\S+)", part)) <= {"$gone_memories"}
        writes = re.findall(r"\b(?:INSERT INTO|UPDATE \$|DELETE \$)", part)
        assert part.count("RETURN NONE") == len(writes)
        assert part.count("RETURN") == part.count("RETURN NONE")


def test_checked_is_a_query_whose_rows_are_not_as_given() -> None:
    text = "INSERT INTO a $a;\nOPTION IMPORT = TRUE;\nINSERT INTO b $b;\nOPTION IMPORT = FALSE;\n"
    assert checked(text) == "INSERT INTO a $a;\nINSERT INTO b $b;\n"
    assert "OPTION" not in checked(_load(_SERVICE / "writing/tables/memory.surql").text)


def test_the_filters_use_every_filter() -> None:
    text = (_SERVICE / "store" / "filters.surql").read_text() + GENERATED["fields/label_filters"]
    assert _bound(text) == set(Filters().params())


def test_name_text_and_flags_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    text = "-- One thing.\n-- takes: $id, $other_2\n-- writes\nDELETE $id WHERE a = $other_2;\n"
    package = _write(tmp_path, forget=text, plain="-- All.\n-- gives: id\nSELECT id FROM a;\n")
    assert load_query(package, "forget") == Query(
        "forget", text, frozenset({"id", "other_2"}), writes=True
    )
    assert load_query(package, "plain").takes == frozenset()
    assert not load_query(package, "plain").writes


def test_filters_are_put_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    package = _write(
        tmp_path, some="-- Some.\n-- takes: $x\nSELECT x WHERE\n-- with: store/filters\n;"
    )
    query = load_query(package, "some")
    assert query.takes == {"x", *Filters().params()}
    assert "AND trust_tier IN $trust" in query.text


def test_the_values_of_a_memory_are_put_in() -> None:
    values = (_SERVICE / "index" / "resident" / "memory_values.surql").read_text()
    values = values.replace("-- with: fields/labels", GENERATED["fields/labels"])
    for name in ("page", "same_moment"):
        query = load_query("service.index.resident", name)
        assert values in query.text
        assert query.takes == _bound(query.text)


def test_a_missing_file_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    package = _write(tmp_path, some="-- Some.\nSELECT x WHERE\n-- with: filtres\n;")
    for room, name in (("service.search", "no_such_query"), (package, "some")):
        with pytest.raises(FileNotFoundError):
            load_query(room, name)


ONE = Fragment(Query("one", "UPDATE $a;", frozenset("a"), writes=True), {"a": 1})


def test_fragments_become_one_transaction() -> None:
    two = Fragment(Query("two", "DELETE $b;", frozenset("b"), writes=True), {"b": 2})
    query, params = transaction("both", [ONE, two])
    assert query.text == "BEGIN;\nUPDATE $a;\nDELETE $b;\nCOMMIT;"
    assert query.writes
    assert (set(query.takes), params) == ({"a", "b"}, {"a": 1, "b": 2})


@pytest.mark.parametrize("params", [{}, {"a": 1, "b": 2}, {"b": 1}])
def test_a_forgotten_value_of_a_fragment_is_an_error(params: dict[str, int]) -> None:
    with pytest.raises(TypeError, match="query one takes"):
        transaction("both", [Fragment(ONE.query, params)])


def test_two_values_under_one_name_are_an_error() -> None:
    with pytest.raises(TypeError, match=r"different values"):
        transaction("both", [ONE, Fragment(ONE.query, {"a": 2})])


def test_the_line_of_a_filter_that_is_not_given_is_left_out() -> None:
    text = "SELECT * FROM memory WHERE true\n    AND kind = $kind\n    AND agent = $agent\nLIMIT 9;"
    query = Query("own", text, frozenset({"kind", "agent"}), writes=False)
    shorter, given = narrowed(query, {"kind": None, "agent": ""})
    assert shorter.text == "SELECT * FROM memory WHERE true\n    AND agent = $agent\nLIMIT 9;"
    assert (set(shorter.takes), given) == ({"agent"}, {"agent": ""})
    assert narrowed(query, {"kind": "note", "agent": ""})[0] == query
