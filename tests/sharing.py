"""Which tests share a process of pytest, and which come first, so that no process waits long."""

from typing import Final

from xdist.scheduler import LoadScopeScheduling

# Tests that share nothing, so that each goes to the process that is free. All others keep to the
# process of their file, for they share a service or a store.
_ALONE: Final = (
    "tests/acceptance/test_chaos.py",
    "tests/acceptance/test_command.py",
    "tests/acceptance/test_run.py",
    "tests/clients/test_openclaw.py",
    "tests/clients/test_openclaw_alone.py",
    "tests/clients/test_openclaw_connect.py",
    "tests/embedding_server/test_command.py",
    "tests/embedding_server/test_fuzz.py",
    "tests/integration/test_crash.py",
    "tests/integration/test_index_following.py",
    "tests/integration/test_ingest_graph.py",
    "tests/integration/test_remote_store.py",
)
# PyTorch and the packaged model take seconds to load: once is enough.
_TOGETHER: Final = {
    "tests/acceptance/test_golden.py": "model",
    "tests/acceptance/test_notes_recall.py": "model",
    "tests/acceptance/test_odd_questions.py": "model",
    "tests/acceptance/test_blue_bunny.py": "model",
    "tests/acceptance/test_command.py::test_another_model": "model",
    "tests/embedding_server/encoders/": "encoders",
    "tests/embedding_server/test_fuzz.py::test_the_real_model": "encoders",
    "tests/embedding_server/test_conformance.py": "encoders",
    "tests/embedding_server/test_openclaw_pattern.py": "encoders",
}
# The longest first, the unit tests of many small files last.
_FIRST: Final = (
    "tests/embedding_server/encoders/", "tests/embedding_server/test_conformance.py",
    "tests/embedding_server/test_openclaw_pattern.py", "tests/acceptance/test_golden.py",
    "tests/acceptance/test_blue_bunny.py", "tests/clients/", "tests/acceptance/test_command.py",
    "tests/integration/", "tests/acceptance/", "tests/embedding_server/", "tests/test_",
)  # fmt: skip


class SharingScheduler(LoadScopeScheduling):  # type: ignore[misc]
    """Hands out what `group_of` puts together, in the order it was collected."""

    def _split_scope(self, nodeid: str) -> str:
        return group_of(nodeid)


def group_of(nodeid: str) -> str:
    """Return the name that a test has in common with those of its process."""
    file = nodeid.partition("::")[0]
    groups = (group for start, group in _TOGETHER.items() if nodeid.startswith(start))
    return next(groups, nodeid if file in _ALONE else file)


def turn_of(nodeid: str) -> int:
    """Return when a test's turn is: the lower, the earlier."""
    turns = [turn for turn, start in enumerate(_FIRST) if nodeid.startswith(start)]
    return min(turns, default=len(_FIRST))
