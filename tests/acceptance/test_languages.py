"""Notes in other languages than the model reads: told once, and bridged by the user's aliases."""

import time
from pathlib import Path
from typing import Any

import httpx
import pytest

from service.inference.translations import TRANSLATIONS
from tests.conftest import Start
from tests.effort import amount
from tests.servers.running import running_service

pytestmark = pytest.mark.soak

# The same from RAM and from the database, which takes longer: both in the soak.
ENGINES = ("resident", "database")[: amount("bridging engines")]
KOREAN = "데이터베이스 마이그레이션은 금요일 밤에 끝났고 담당은 민수였다."
CHINESE = "数据库迁移由李娜负责，已于周五完成。"
ENGLISH_NOTE = "The database migration needs a backup first."
OTHERS = (
    "The database of the library is closed on Sundays.", "The migration of birds starts in autumn.",
    "점심은 비빔밥이었다.", "회의는 월요일로 미뤘다.", "今天的会议推迟了。",
    "The soup was cooked at noon.",
)  # fmt: skip
ALIASES = """[[concept]]
name = "database migration"
aliases = ["데이터베이스 마이그레이션", "数据库迁移"]
"""


def _store(client: httpx.Client, *texts: str) -> None:
    for text in texts:
        assert client.post("/memories", json={"text": text}).is_success


def _warnings(folder: Path, url: str, looks: int = 100) -> list[str]:
    """Return what a new start warns of, which needs a moment."""
    with running_service(data_dir=folder, embedding_url=url) as service:
        for _ in range(looks):
            answer = service.client.get("/health/ready")
            assert (answer.status_code, answer.json()["status"]) == (200, "ready")
            if told := answer.json()["warnings"]:
                return list(told)
            time.sleep(0.05)
    return []


def _fill(folder: Path, url: str, *texts: str) -> None:
    with running_service(data_dir=folder, embedding_url=url) as service:
        assert service.client.get("/health/ready").json()["warnings"] == []
        _store(service.client, *texts)


@pytest.mark.parametrize("language", ["German", "Polish", "Russian", "Hindi", "Thai"])
def test_a_model_that_reads_english_alone_is_told_of_for(
    tmp_path: Path, minilm_url: str, language: str
) -> None:
    _fill(tmp_path, minilm_url, " ".join(TRANSLATIONS[language]), ENGLISH_NOTE)
    [told] = _warnings(tmp_path, minilm_url)
    assert f"memories in {language}," in told


def test_a_model_that_does_not_read_the_notes_is_told_of(tmp_path: Path, minilm_url: str) -> None:
    _fill(tmp_path, minilm_url, KOREAN, *OTHERS)
    [told] = _warnings(tmp_path, minilm_url)
    assert "memories in Chinese and Korean" in told
    assert "all-MiniLM-L6-v2" in told
    assert "multilingual" in told
    assert "aliases" in told


def test_english_notes_give_no_warning(tmp_path: Path, minilm_url: str) -> None:
    _fill(tmp_path, minilm_url, ENGLISH_NOTE, *OTHERS[:2])
    assert _warnings(tmp_path, minilm_url, looks=10) == []


def _found(client: httpx.Client, question: str) -> list[dict[str, Any]]:
    answer = client.post("/search", json={"query": question, "limit": 2})
    return list(answer.json()["results"])


def _find(client: httpx.Client, question: str) -> list[str]:
    return [hit["content"] for hit in _found(client, question)]


def _walk(client: httpx.Client, question: str) -> list[str]:
    """Return what /graph-recall reaches over the concept, in any language."""
    answer = client.post("/graph-recall", json={"query": question, "hops": 1, "limit": 2})
    return [
        hit["content"]
        for hit in answer.json()["results"]
        if any("concept" in step for step in hit["path"])
    ]


@pytest.mark.parametrize("search_engine", ENGINES)
@pytest.mark.parametrize(
    ("note", "question"),
    [
        (KOREAN, "who did the database migration?"),
        (CHINESE, "데이터베이스 마이그레이션"),
        (ENGLISH_NOTE, "데이터베이스 마이그레이션에는 뭐가 필요했지?"),
    ],
)
def test_a_note_is_found_by_an_alias_that_no_note_holds(
    tmp_path: Path, minilm_url: str, search_engine: str, note: str, question: str
) -> None:
    declared = tmp_path / "concepts.toml"
    declared.write_text(ALIASES, encoding="utf-8")
    # Declared, no longer declared, and declared again: each start brings the store in line.
    for file in (declared, None, declared):
        with running_service(
            data_dir=tmp_path / "data", embedding_url=minilm_url, search_engine=search_engine,
            concepts_file=file,
        ) as service:  # fmt: skip
            _store(service.client, note, *OTHERS)
            best = _found(service.client, question)[0]
            is_found = best["content"] == note and "coverage" in best["signals"]
            assert is_found is (file is not None), (file, best)


@pytest.mark.parametrize("search_engine", ENGINES)
@pytest.mark.parametrize("foreign", [KOREAN, CHINESE])
def test_aliases_bridge_languages(
    start: Start, tmp_path: Path, minilm_url: str, search_engine: str, foreign: str
) -> None:
    declared = tmp_path / "concepts.toml"
    declared.write_text(ALIASES, encoding="utf-8")
    questions = {
        "what does the database migration need?": foreign,
        "데이터베이스 마이그레이션" if foreign == KOREAN else "数据库迁移": ENGLISH_NOTE,
    }
    for file, is_bridged in ((declared, True), (None, False)):
        service = start(
            embedding_url=minilm_url, search_engine=search_engine, concepts_file=file,
            data_dir=tmp_path / f"bridged {is_bridged}",
        )  # fmt: skip
        _store(service.client, foreign, ENGLISH_NOTE, *OTHERS)
        for question, beyond in questions.items():
            assert (beyond in _find(service.client, question)) is is_bridged, question
            assert (beyond in _walk(service.client, question)) is is_bridged, question
