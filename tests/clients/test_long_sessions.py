"""Many prompts in one session of the real programs: nothing twice, and the prompts' cache holds."""

import pytest

from tests.clients.conftest import Machine, clients
from tests.clients.long_session import fill, play, prompts
from tests.servers.running import RunningService

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("client", ["claude-code", "codex"])
def test_ten_prompts_repeat_nothing_and_change_nothing_that_stood_before(
    machine: Machine, memory: RunningService, client: str
) -> None:
    fill(machine, memory)
    told = play(machine, client, prompts(10))
    assert len(told.tokens) == 10
    assert told.repeats == []
    assert told.changed == []
    # The context at the start has 2,000 tokens at most, a prompt's block 900; small talk has none.
    assert 0 < told.tokens[0] < 2_900
    assert 0 < max(told.tokens[1:]) <= 900
    assert told.tokens[4] == told.tokens[9] == 0
    assert clients(memory)[client]["warning"] is None
