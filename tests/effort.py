"""How much the tests do that draw at random or storm: little in the gate, more in the soak.

scripts/test is the gate, which draws the same every time, and so is pytest alone; with --whole it
leaves no test out. scripts/soak draws from a seed. tests/README.md is this table for readers:
`python -m tests.effort` prints it.
"""

import os
from dataclasses import dataclass
from random import Random
from typing import Final

_EFFORT: Final = os.environ.get("GRAPH_MEMORY_EFFORT", "gate")
IS_SOAK: Final = _EFFORT == "soak"
IS_WHOLE: Final = _EFFORT in {"whole", "soak"}
SEED: Final = int(os.environ.get("GRAPH_MEMORY_SEED", "0")) if IS_SOAK else 0


@dataclass(frozen=True, slots=True)
class Amount:
    """A number of the tests; `before` is what every run did when there was one effort only."""

    tests: str
    what: str
    before: int
    gate: int
    soak: int


AMOUNTS: Final = {
    "examples": Amount(
        "every other property (`@given`)", "examples, in percent of what the test names", 100, 25,
        300,
    ),
    "random stores": Amount(
        "integration/test_engines_agree.py", "stores, each asked before and after it changes",
        10, 3, 25,
    ),
    "lawful stores": Amount(
        "integration/test_ranking_laws.py", "stores for each law of ranking", 10, 4, 25
    ),
    "plays at the walls": Amount(
        "acceptance/test_walls_at_random.py", "plays of 50 operations for each engine", 200, 3, 200
    ),
    "echoes": Amount(
        "acceptance/test_observe.py", "turns of each format in which all that was given comes back",
        20, 10, 1000,
    ),
    "plays of provenance": Amount(
        "acceptance/test_provenance_at_random.py", "plays of 40 operations for each engine",
        100, 3, 100,
    ),
    "plays of ledgers": Amount("integration/test_ledgers.py", "plays of 60 steps", 20, 4, 40),
    "histories": Amount("integration/test_ingest_graph.py", "histories for each engine", 12, 4, 30),
    "steps": Amount("integration/test_ingest_graph.py", "steps in a history", 12, 12, 16),
    "plays of files": Amount(
        "integration/test_files_at_random.py", "plays of 40 operations", 30, 3, 30
    ),
    "kills": Amount("integration/test_crash.py", "kills of one scan", 4, 2, 6),
    "rude requests": Amount(
        "embedding_server/test_fuzz.py", "times that 500 drawn requests are sent", 20, 4, 30
    ),
    "rude requests of a model": Amount(
        "embedding_server/test_fuzz.py", "requests to the real model", 200, 200, 400
    ),
    "requests of an operation": Amount(
        "acceptance/test_openapi.py",
        "requests drawn from each operation's description, beside its bounds", 12, 1, 60,
    ),
    "upgrades": Amount(
        "integration/test_upgrade.py", "stores whose bringing over is killed five times", 4, 1, 4
    ),
    "files": Amount("acceptance/test_many_files.py", "files in the folder", 1000, 300, 1000),
    "hostile text": Amount(
        "unit/text/test_markdown_bounds.py", "percent of the length, and of the time given",
        100, 25, 100,
    ),
    "golden engines": Amount(
        "acceptance/test_golden.py", "engines that are asked all questions", 2, 1, 2
    ),
    "notes engines": Amount(
        "acceptance/test_notes_recall.py", "engines that are asked all questions", 1, 1, 2
    ),
    "odd engines": Amount(
        "acceptance/test_odd_questions.py", "engines that are asked odd questions", 1, 1, 2
    ),
    "bridging engines": Amount(
        "acceptance/test_languages.py", "engines whose aliases bridge languages", 1, 1, 2
    ),
    "chaos rounds": Amount("acceptance/test_chaos.py", "rounds of faults", 1, 1, 8),
    "made-up agents": Amount(
        "acceptance/test_bounds.py", "agents that are made up", 40, 20, 500
    ),
    "near rows": Amount(
        "unit/index/resident/test_vectors.py", "rows among which neighbours are hard to tell",
        20_000, 6_000, 20_000,
    ),
}  # fmt: skip


# Processes that start again and again, and libraries that take seconds to load. By the beginning
# of a test's name, below tests/.
LEFT_OUT: Final = (
    "acceptance/test_audit.py::test_the_command_shows_the_lines_of_a_store_at_rest",
    "acceptance/test_key_commands.py::test_an_address_for_other_machines_needs_a_key_first",
    "integration/test_audit_log.py::test_a_killed_service_keeps_what_is_a_second_old_and_every_deletion",
    "integration/test_private_files.py::test_every_file_stays_private_through_writes_a_kill_and_a_restart",
    "acceptance/test_command.py::test_a_consolidation_from_a_shell_goes_through",
    "acceptance/test_command.py::test_a_consolidation_from_a_shell_shows_its_plan",
    "acceptance/test_command.py::test_a_scan_from_a_shell_goes_through",
    "acceptance/test_command.py::test_another_model_is_refused",
    "acceptance/test_graph_report.py::test_the_command_prints_the_report_of_the_running_service[d",
    "acceptance/test_key_commands.py::test_trust_from_a_shell_tells_first_and_does_with_yes",
    "acceptance/test_key_commands.py::test_keys_from_a_shell_with_and_without_a_service",
    "acceptance/test_key_commands.py::test_what_is_wrong_is_told_in_one_line",
    "acceptance/test_switching.py::test_a_store_of_the_other_engine_is_refused_and_switched",
    "embedding_server/encoders/test_opening.py::test_the_settings_choose_the_encoder[device='cpu'",
    "embedding_server/encoders/test_opening.py::test_without_onnx_runtime_torch_serves",
    "embedding_server/test_command.py::test_a_model_that_cannot_be_loaded",
    "integration/test_crash.py::test_a_consolidation_job_that_is_killed",
    "integration/test_crash.py::test_a_consolidation_that_is_killed",
    "integration/test_crash.py::test_a_batch_that_is_killed",
    "integration/test_crash.py::test_a_merge_of_concepts_that_is_killed_goes_on_by_itself",
    "integration/test_crash.py::test_links_to_a_new_name_that_are_killed_go_on_by_themselves",
    "acceptance/test_load_writers.py::test_copies_of_one_text_are_all_found_by_words_and_by_meaning",
    "acceptance/test_key_commands.py::test_a_unix_socket_is_its_users_alone",
    "acceptance/test_command.py::test_a_second_process_on_the_store_stops_and_leaves_the_first_alone",
    "acceptance/test_graph_report.py::test_the_command_prints_the_report_of_the_running_service[resident",
    "integration/test_clocks.py::test_a_start_with_a_clock_behind_the_last_run_finds_what_it_writes[d",
    "integration/test_hostile_embedder.py::test_what_drips_comes_to_an_end_once_it_is_well",
    "clients/test_openclaw.py::test_in_the_slot_its_search_answers_and_one_line_takes_it_back[2026.6",
    "clients/test_openclaw.py::test_switched_off_by_one_line_nothing_is_told_and_nothing_kept",
    "clients/test_openclaw.py::test_the_lines_of_the_guide_put_it_in_and_out",
    "clients/test_openclaw.py::test_two_agents_of_a_gateway_are_kept_apart_by_a_key_with_least_rights",
    "clients/test_openclaw.py::test_what_is_ignored_is_neither_told_nor_kept",
    "clients/test_openclaw.py::test_what_is_told_in_one_session_is_known_once_in_the_next[2026.6",
    "clients/test_openclaw.py::test_while_the_service_is_away_turns_go_on_and_captures_wait_their_turn",
    "clients/test_openclaw_alone.py::test_its_own_search_has_its_vectors_from_our_embedding_server",
    "clients/test_openclaw_connect.py::test_by_choice_it_stands_in_the_slot_and_other_plugins_stay",
    "clients/test_openclaw_connect.py::test_connected_it_remembers_and_disconnected_nothing_is_left[2026.6",
    "clients/test_openclaw_connect.py::test_its_key_is_good_for_its_agents_alone_and_what_waits_is_sent",
    "clients/test_openclaw_connect.py::test_settings_with_comments_are_left_alone_and_found_once_a_person",
)


def is_left_out(nodeid: str) -> bool:
    """Say whether a test is left out of the gate."""
    return nodeid.removeprefix("tests/").startswith(LEFT_OUT)


def amount(name: str) -> int:
    """Return how much to do of what AMOUNTS calls by this name."""
    return AMOUNTS[name].soak if IS_SOAK else AMOUNTS[name].gate


def examples(number: int) -> int:
    """Return how many examples a property gets that names this number."""
    return max(1, number * amount("examples") // 100)


def chance(own: int) -> Random:
    """Return a source of random numbers: a test's own in the gate, by the seed in the soak."""
    return Random(own + SEED)


def table() -> str:
    """Return the table in Markdown."""
    rows = [
        f"| {a.tests} | {a.what} | {a.before} | {a.gate} | {a.soak} |" for a in AMOUNTS.values()
    ]
    head = ["| Tests | What | Before | Gate | Soak |", "|---|---|---|---|---|"]
    only = [f"- `{name}`" for name in LEFT_OUT]
    told = "In the soak and with `--whole`, for they take many seconds, most to start processes:"
    return "\n".join([*head, *rows, "", told, "", *only]) + "\n"


if __name__ == "__main__":
    print(table(), end="")  # noqa: T201 - what it is for
