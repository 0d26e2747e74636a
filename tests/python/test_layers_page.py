"""docs/layers.md is true: its program prints what it shows, and its C++ is that of the example."""

import os
import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "layers.md").read_text()
EXAMPLE = ROOT / "build" / os.environ.get("HOLDFAST_PRESET", "release") / "example_layers"


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
    assert block("cpp") in (ROOT / "examples" / "cpp" / "layers.cpp").read_text()


@pytest.mark.skipif(not EXAMPLE.exists(), reason="the C++ examples are not built")
def test_the_example_trains_and_says_how_it_goes():
    done = run(str(EXAMPLE))
    assert (done.returncode, done.stderr) == (0, "")
    said = done.stdout.splitlines()
    losses = [float(re.fullmatch(r"step \d+ loss (\S+)", line)[1]) for line in said]
    assert len(losses) == 5 and losses[-1] < 0.1 < losses[0]
