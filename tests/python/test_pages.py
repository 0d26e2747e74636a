"""A page of a code shows what the program on it really prints."""

import pathlib
import re
import subprocess
import sys

import pytest

import holdfast as tf
from holdfast._messages import explain as pages

PAGES = pathlib.Path(__file__).parents[2] / "docs" / "errors"

# E0702: its text holds the machine's memory. E0705 to W0707, but W0703: they need a GPU. E1301, E1302: a file that somebody
# else made. E1501: a signal. E1599: a bug.
NOT_RUN = {"E0702", "E0705", "E0706", "W0704", "W0707", "E1301", "E1302", "E1501", "E1599"}

ALL = [known["name"] for known in tf._holdfast.codes()]
CODES = [code for code in ALL if code not in NOT_RUN]


@pytest.mark.parametrize("code", ALL)
def test_every_code_has_a_page_that_explain_shows(code):
    page = (PAGES / f"{code}.md").read_text()
    assert pages.explain(code) == page
    assert page.startswith(f"# {code}: ")
    parts = ["## The program", "## What it says", "## Why", "## Fixes", "## When it is our bug"]
    places = [page.find(part) for part in parts]
    if code in CODES:
        assert places == sorted(places) and places[0] > 0


def test_every_page_is_of_a_code_and_in_the_index():
    index = pages.explain()
    for page in PAGES.glob("*.md"):
        assert page.stem in ALL or page.stem == "README"
        assert page.stem == "README" or f"{page.stem}  " in index


def test_the_table_of_codes_is_that_of_the_codes():
    text = (PAGES.parent / "diagnostics.md").read_text()
    rows = re.findall(r"^\| \[(\w+)\]\(errors/\1\.md\) \| (.*) \| (.*) \|$", text, re.MULTILINE)
    for known, (name, when, caught) in zip(tf._holdfast.codes(), rows, strict=True):
        assert (name, when) == (known["name"], known["headline"])
        classes = [c.removeprefix("tf.errors.") for c in re.findall("`([^`]*)`", caught)]
        wanted = [c for c in (known["status"], *known["bases"].split(",")) if c]
        assert classes == ([] if caught == "a warning" else wanted)
        assert (caught == "a warning") == name.startswith("W")


def block(text, head):
    return re.search(rf"```{head}\n(.*?)```", text, re.DOTALL)[1]


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
    for program in re.findall(r"```python\n(.*?)```", page, re.DOTALL):
        done = run(program, tmp_path)
        assert (done.returncode, done.stderr) == (0, "")
