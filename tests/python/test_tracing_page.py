"""docs/tracing-inside.md is true: its program prints what it says, and what it names is where it says."""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "tracing-inside.md").read_text()


def test_the_program_prints_what_the_page_says(tmp_path):
    program = tmp_path / "cell.py"
    program.write_text(re.search(r"```python\n(.*?)```", PAGE, re.DOTALL)[1])
    done = subprocess.run([sys.executable, program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == re.search(r"print\(.*# (\S+)", PAGE)[1]


def test_the_files_and_functions_that_the_page_names_are_there():
    python = ROOT / "python"
    folders = [
        python,
        python / "holdfast",
        python / "holdfast/_tracing",
        python / "holdfast/_autograph",
    ]

    def found(name):
        return next((f / name for f in folders if (f / name).exists()), None)

    named = re.findall(r"`([\w/]+\.(?:py|cpp))`", PAGE)
    assert len(named) > 15 and [name for name in named if found(name) is None] == []
    pairs = re.findall(r"`([\w.:]+)`\s+\(`([\w/]+\.(?:py|cpp))`\)", PAGE)
    assert len(pairs) > 10
    for function, file in pairs:
        leaf = re.split(r"\.|::", function)[-1]
        assert re.search(rf"\b{leaf}\(|class {leaf}\b", found(file).read_text()), (function, file)
