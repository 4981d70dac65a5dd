"""A text names a file by as much of its path as it tells."""

from pathlib import PurePosixPath

import pytest

from service.text.file_names import names_file

RATES = PurePosixPath("/home/ann/shop/src/billing/config.py")


@pytest.mark.parametrize(
    "text",
    [
        "config.py holds the rates.",
        "The rates are in `config.py`.",
        "The rates are in config.py.",
        "billing/config.py:12:5 raises",
        "./billing/config.py",
        "../billing/config.py",
        "src\\billing\\config.py",
        "/srv/other-checkout/src/billing/config.py",
        "~/shop/billing/config.py",
        "@/billing/config.py",
        "Look at @billing/config.py!",
        "@config.py",
        "@/config.py",
        "$BILLING/config.py",
        "C:\\shop\\billing\\config.py",
        "https://example.com/shop/blob/main/src/billing/config.py",
        "src/*/config.py",
        "config.py는 세율을 담는다.",
        "请看config.py",
        "auth/config.py and billing/config.py differ.",
        "--- a/src/billing/config.py",
        "--- /dev/null\n+++ b/src/billing/config.py",
        "diff --git a/billing/config.py b/billing/rates.py",
    ],
)
def test_a_file_is_named_by_the_end_of_its_path(text: str) -> None:
    assert names_file(text, RATES)


@pytest.mark.parametrize(
    "text",
    [
        "auth/config.py holds the keys.",
        "src/auth/config.py",
        "old/billing/config.py",
        "b/billing/config.py",
        "+++ b/src/auth/config.py",
        "--- b/billing/config.py",
        "/home/ann/shop/src/auth/config.py",
        "@/auth/config.py",
        "@auth/config.py",
        "~/auth/config.py",
        "webconfig.py needs a port.",
        "config.pyi has the types.",
        "config.py.bak is old.",
        "config.py/notes.md",
        "The configuration is in Python.",
    ],
)
def test_a_namesake_elsewhere_is_another_file(text: str) -> None:
    assert not names_file(text, RATES)


@pytest.mark.parametrize("name", ["[id].tsx", "보고서.md", "my notes.md"])
def test_a_name_of_other_characters_is_looked_for_as_it_is(name: str) -> None:
    path = PurePosixPath("/srv/app") / name
    assert names_file(f"In app/{name} stands how.", path)
    assert not names_file("In app/index.tsx stands how.", path)


def test_a_path_that_is_shorter_than_what_is_told_is_its_end() -> None:
    assert names_file("shop/src/billing/config.py", PurePosixPath("billing/config.py"))


@pytest.mark.parametrize("text", ["~/.zshrc sets the path.", "It is in $HOME/.zshrc."])
def test_a_file_of_a_home_is_named_by_whoever_lives_there(text: str) -> None:
    assert names_file(text, PurePosixPath("/home/ann/.zshrc"))


@pytest.mark.parametrize("name", ["$page.tsx", "@types.ts", "~draft.md"])
def test_a_name_may_begin_as_a_root_does(name: str) -> None:
    assert names_file(f"In {name} stands how.", PurePosixPath("/srv/app") / name)
    assert names_file(f"In app/{name} stands how.", PurePosixPath("/srv/app") / name)
