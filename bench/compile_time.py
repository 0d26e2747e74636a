"""What our headers cost a program that includes them: lines, and seconds of CPU to read them.

    python bench/compile_time.py [--cxx clang++-16] [HEADER...]

The first row is the README's program, the second the standard headers that a program like it includes anyway; then
`holdfast.h` and the headers that are named. Seconds are the least of several runs.
"""

import argparse
import pathlib
import re
import resource
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
USUAL = ("cstdio", "string", "vector")
RUNS = 5


def cpu_of(command: list[str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def measure(cxx: str, name: str, text: str, folder: pathlib.Path) -> None:
    source = folder / "measured.cpp"
    source.write_text(text)
    command = [cxx, "-std=c++20", "-I", str(ROOT), str(source)]
    read = subprocess.run([*command, "-E"], check=True, capture_output=True, text=True).stdout
    origin, ours, all_lines = "", 0, 0
    for line in read.splitlines():
        if mark := re.match(r'# \d+ "([^"]*)"', line):
            origin = mark[1]
        elif line.strip():
            all_lines += 1
            ours += f"{ROOT}/holdfast/" in origin
    seconds = min(cpu_of([*command, "-fsyntax-only"]) for _ in range(RUNS))
    print(f"{name:32} {all_lines:8} lines, {ours:6} of them ours {seconds:8.2f} s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cxx", default="g++")
    parser.add_argument("headers", nargs="*")
    asked = parser.parse_args()
    program = re.search(r"```cpp\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    assert program
    with tempfile.TemporaryDirectory() as folder:
        place = pathlib.Path(folder)
        measure(asked.cxx, "the README's program", program[1], place)
        usual = "".join(f"#include <{header}>\n" for header in USUAL)
        measure(asked.cxx, ", ".join(USUAL), usual, place)
        for header in ["holdfast/holdfast.h", "holdfast/fwd.h", *asked.headers]:
            measure(asked.cxx, header, f"#include <{header}>\n", place)


if __name__ == "__main__":
    main()
