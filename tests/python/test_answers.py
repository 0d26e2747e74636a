"""The pages of docs/answers/ are true: each program prints what stands below it."""

import re
import subprocess
import sys

import pytest
from example_page import ROOT

PAGES = ROOT / "docs" / "answers"
PROGRAM = re.compile(r"```python\n(.*?)```\n\n```text output\n(.*?)```", re.DOTALL)
PROGRAMS = {
    f"{page.stem}-{i}": found
    for page in sorted(PAGES.glob("*.md"))
    for i, found in enumerate(PROGRAM.findall(page.read_text()))
}


def said(program, folder):
    """What a program prints, and what it says when it fails; without the stack."""
    (folder / "app.py").write_text(program)
    done = subprocess.run(
        [sys.executable, "app.py"], cwd=folder, capture_output=True, text=True, check=False
    )
    message = done.stderr[done.stderr.find("error[") :] if "error[" in done.stderr else done.stderr
    return done.stdout + message


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_prints_what_the_page_shows(name, tmp_path):
    program, shown = PROGRAMS[name]
    assert said(program, tmp_path).rstrip() == shown.rstrip()


def test_every_page_is_in_the_list():
    listed = (PAGES / "README.md").read_text()
    pages = {page.name for page in PAGES.glob("*.md")} - {"README.md"}
    assert len(pages) == 5 and all(f"({name})" in listed for name in pages)
    assert len(PROGRAMS) >= 2 * len(pages)
