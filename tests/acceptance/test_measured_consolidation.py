"""What the measuring script does with a store, over real HTTP."""

from pathlib import Path

from scripts.consolidation.store import Store
from scripts.consolidation.trials import measure_size
from scripts.generated.logs import Logs
from tests.servers.running import RunningService

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "notes" / "memory"


def test_generated_logs_are_consolidated_as_shown(service: RunningService) -> None:
    store = Store(service.client, "measured-logs")
    store.write_logs(Logs(40).entries())
    done = store.consolidate_as_shown()
    told = done.compacted()
    assert len(done.before) == 40
    assert told.joined.memories == done.shown.memories > 20
    assert told.joined.memories >= told.with_a_line >= told.summaries.memories
    assert told.unlike_shown == 0
    assert len(done.after) == 40 - told.joined.memories + told.summaries.memories
    assert told.kept.sentences > 0
    assert store.consolidate_as_shown().shown.plan is None


def test_a_job_is_followed_to_its_end(service: RunningService) -> None:
    store = Store(service.client, "measured-job")
    store.write_logs(Logs(40).entries())
    told = store.run_job()
    assert told.seconds > 0
    assert told.counts <= 40
    assert store.show().plan is None


def test_a_folder_of_notes_is_stored_as_dated_logs(service: RunningService) -> None:
    figures = measure_size(Store(service.client, "measured-notes"), EXAMPLE)
    assert figures.name == "notes/memory"
    told = figures.compacted
    assert figures.before.memories == told.joined.memories + told.alone
    assert figures.after.memories == told.summaries.memories + told.alone
    assert told.kept.sentences > 0
