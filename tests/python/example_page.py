"""A page of docs/ whose programs are run, and the C++ example beside it."""

import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def run(*command, **options):
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)


class ExamplePage:
    """What a page shows: its blocks of code, by the words behind the fence."""

    def __init__(self, name):
        self._text = (ROOT / "docs" / name).read_text()

    def block(self, head):
        return re.search(rf"```{head}\n(.*?)```", self._text, re.DOTALL)[1]

    def check_python(self, folder):
        """The Python program prints what the page shows."""
        (folder / "app.py").write_text(self.block("python"))
        done = run(sys.executable, "app.py", cwd=folder)
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout == self.block("text output")

    def check_cpp(self, head, example):
        """The C++ program is part of the example."""
        assert self.block(head) in (ROOT / "examples" / "cpp" / example).read_text()


def built(example):
    """The program of a C++ example, which may not be built."""
    return ROOT / "build" / os.environ.get("HOLDFAST_PRESET", "release") / f"example_{example}"


def said_by(program):
    """The lines that a program says, if it ends well."""
    done = run(str(program))
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


def losses_in(lines):
    return [float(re.fullmatch(r"step \d+ loss (\S+)", line)[1]) for line in lines]
