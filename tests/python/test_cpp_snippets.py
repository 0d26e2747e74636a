"""What C++ programmers write at first: it compiles without a warning and gives the right value, or the
compiler's message says what to write instead.
"""

import os
import pathlib
import re
import shlex
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = ROOT / "tests" / "snippets"
PRESET = os.environ.get("HOLDFAST_PRESET", "release")
BUILD = ROOT / "build" / PRESET
CXX = os.environ.get("HOLDFAST_CXX", "g++")
CAREFUL = shlex.split("-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror")

pytestmark = pytest.mark.skipif(
    PRESET != "release", reason="the programs are built without sanitizers"
)


@pytest.mark.parametrize("name", ["tensors", "programs"])
def test_snippets_compile_and_give_the_right_values(name, tmp_path):
    program = tmp_path / name
    libraries = ["-L", BUILD, "-lholdfast", f"-Wl,-rpath,{BUILD}", "-pthread"]
    command = [CXX, "-std=c++20", *CAREFUL, "-I", ROOT, FOLDER / f"{name}.cpp", *libraries, "-o", program]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    done = subprocess.run([program], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stdout
    count = len(re.findall("(?m)^SNIPPET", (FOLDER / f"{name}.cpp").read_text()))
    assert f"{count} snippets, 0 failed" in done.stdout and count > 100


def test_what_is_refused_says_what_to_write(tmp_path):
    """A message is all that the compiler says from an error in a line to the next one's."""
    lines = (FOLDER / "refused.cpp").read_text().splitlines()
    wanted = {n: s.split("  // ")[1] for n, s in enumerate(lines, 1) if s.startswith("void ")}
    assert len(wanted) >= 15
    # Without the words, which the compiler would show with the line.
    source = tmp_path / "refused.cpp"
    source.write_text("\n".join(line.split("  // ")[0] for line in lines))
    command = [CXX, "-std=c++20", "-fsyntax-only", "-ferror-limit=0" if "clang" in CXX else "-fmax-errors=0", "-I", ROOT, source]  # fmt: skip
    text = subprocess.run(command, capture_output=True, text=True, check=False).stderr
    # A failed assertion of a header is told before the error of the line that it names.
    pieces = re.split(rf"(?m)^(?={re.escape(str(source))}:\d+:\d+: error)", text)
    said: dict[int, str] = {}
    for piece in pieces:
        for line in {int(n) for n in re.findall(rf"{re.escape(str(source))}:(\d+):", piece)}:
            said[line] = said.get(line, "") + piece
    missing = {
        n: (words, said.get(n)) for n, words in wanted.items() if words not in said.get(n, "")
    }
    assert not missing
