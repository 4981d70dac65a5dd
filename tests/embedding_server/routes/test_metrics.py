"""GET /metrics: what Prometheus reads is there, named, explained and counted."""

import httpx
from prometheus_client.parser import text_string_to_metric_families
from pydantic import SecretStr

from tests.embedding_server.edge import PREFIX, post, read_metrics, serve_gated

KEY = "a-key"


def test_it_is_in_the_text_format_and_everything_is_explained() -> None:
    with serve_gated() as (url, _):
        answer = httpx.get(f"{url}/metrics")
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/plain; version=")
    families = list(text_string_to_metric_families(answer.text))
    assert len(families) > 10
    for family in families:
        assert family.name.startswith(PREFIX)
        assert family.documentation.endswith(".")


def test_it_needs_the_key() -> None:
    with serve_gated(api_key=SecretStr(KEY)) as (url, _):
        assert httpx.get(f"{url}/metrics").status_code == 401
        headers = {"Authorization": f"Bearer {KEY}"}
        assert httpx.get(f"{url}/metrics", headers=headers).status_code == 200


def test_texts_and_the_stages_of_a_request_are_measured() -> None:
    with serve_gated() as (url, _):
        before = read_metrics(url)
        assert post(url, ["1", "2 3", "4"]).status_code == 200
        assert post(url, "5", encoding_format="base64").status_code == 200
        after = read_metrics(url)
    grown = {name: value - before.get(name, 0) for name, value in after.items()}
    assert grown["request_texts_count"] == 2
    assert grown["request_texts_sum"] == 4
    for stage in ("tokenize", "render"):
        assert grown[f'stage_duration_seconds_count{{stage="{stage}"}}'] == 2
        assert grown[f'stage_duration_seconds_sum{{stage="{stage}"}}'] > 0
    assert grown["request_duration_seconds_count"] == 2


def test_what_is_refused_unread_is_not_measured_as_work() -> None:
    with serve_gated() as (url, encoder):
        assert post(url, "1", dimensions=3).status_code == 400
        assert post(url, "1", model="other").status_code == 404
        metrics = read_metrics(url)
        assert encoder.texts == []
        assert metrics["request_texts_count"] == 0
        assert metrics['requests_total{status="400"}'] == 1
        assert metrics['requests_total{status="404"}'] == 1


def test_two_servers_in_one_process_count_apart() -> None:
    with serve_gated() as (first, _), serve_gated() as (second, _):
        post(first, "1")
        assert read_metrics(first)["request_texts_count"] == 1
        assert read_metrics(second)["request_texts_count"] == 0
