"""docs/modules-and-checks.md is true: its program prints what it shows, and its C++ is that of the example."""

import os
import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "modules-and-checks.md").read_text()
EXAMPLE = ROOT / "build" / os.environ.get("HOLDFAST_PRESET", "release") / "example_module"


def block(head):
    return re.search(rf"```{head}\n(.*?)```", PAGE, re.DOTALL)[1]


def run(*command, **options):
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)


def test_the_python_program_prints_what_is_shown(tmp_path):
    (tmp_path / "app.py").write_text(block("python"))
    done = run(sys.executable, "app.py", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == block("text output")


def test_the_cpp_program_is_the_example():
    assert block("cpp") in (ROOT / "examples" / "cpp" / "module.cpp").read_text()


def test_the_module_with_state_is_the_example():
    assert block("cpp state") in (ROOT / "examples" / "cpp" / "state.cpp").read_text()


STATE = EXAMPLE.parent / "example_state"


@pytest.mark.skipif(not STATE.exists(), reason="the C++ examples are not built")
def test_state_is_left_behind_by_each_call():
    done = run(str(STATE))
    assert (done.returncode, done.stderr) == (0, "")
    said = done.stdout.splitlines()
    assert said[:4] == [
        "after call 0 the mean is [2 3]",
        "after call 1 the mean is [2.5 3.5]",
        "after call 2 the mean is [3.25 4.25]",
        "variables: 1",
    ]
    assert said[4] == "step: 2 traces"
    assert said[6].startswith("  2. attribute normalise/mean: was empty, now float32[2]")


@pytest.mark.skipif(not EXAMPLE.exists(), reason="the C++ examples are not built")
def test_the_example_trains_and_says_how_it_goes():
    done = run(str(EXAMPLE))
    assert (done.returncode, done.stderr) == (0, "")
    said = done.stdout.splitlines()
    assert said[0] == "net holds 4 variables"
    losses = [float(re.fullmatch(r"step \d+ loss (\S+)", line)[1]) for line in said[1:]]
    assert len(losses) == 5 and losses[-1] < 0.05 < losses[0]
