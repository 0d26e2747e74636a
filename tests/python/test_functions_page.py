"""Each program of docs/functions.md prints what the page shows below it."""

import pathlib
import re
import subprocess
import sys

import pytest

PAGE = pathlib.Path(__file__).parents[2] / "docs" / "functions.md"
PAIR = re.compile(r"```python\n(.*?)```\n```text output\n(.*?)```", re.DOTALL)
PAIRS = PAIR.findall(PAGE.read_text())


def printed(program, folder):
    (folder / "app.py").write_text(program)
    done = subprocess.run(
        [sys.executable, "app.py"], cwd=folder, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_every_program_shows_its_output():
    assert len(PAIRS) == PAGE.read_text().count("```python") > 5


@pytest.mark.parametrize("program, shown", PAIRS, ids=range(len(PAIRS)))
def test_a_program_prints_what_is_shown(program, shown, tmp_path):
    assert printed(program, tmp_path) == shown
