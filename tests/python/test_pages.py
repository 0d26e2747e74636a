"""A page of a code shows what the program on it really prints."""

import pathlib
import re
import subprocess
import sys

import pytest

PAGES = pathlib.Path(__file__).parents[2] / "docs" / "errors"

# Not: E0702, whose text holds the machine's memory; codes of a GPU; codes that nothing raises yet.
CODES = (
    "E0110 E0111 E0113 E0204 E0404 E0504 E0701 E0801 E0802 E0803 "
    "E1101 E1102 E1103 E1104 E1105 E1106 W0502 W0701 W0703"
).split()


def block(text, head):
    return re.search(rf"```{head}\n(.*?)```", text, re.S)[1]


def run(program, folder):
    (folder / "app.py").write_text(program)
    return subprocess.run(
        [sys.executable, "app.py"], cwd=folder, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("code", CODES)
def test_a_page_shows_the_real_output(code, tmp_path):
    page = (PAGES / f"{code}.md").read_text()
    said = run(block(page, "python"), tmp_path).stderr
    said = said[re.search(r"(error|warning)\[", said).start() :]
    assert said.rstrip() == block(page, "text output").rstrip()


@pytest.mark.parametrize("code", CODES)
def test_the_fixes_of_a_page_run_without_a_word(code, tmp_path):
    page = (PAGES / f"{code}.md").read_text().split("## Fixes")[1]
    for program in re.findall(r"```python\n(.*?)```", page, re.S):
        done = run(program, tmp_path)
        assert (done.returncode, done.stderr) == (0, "")
