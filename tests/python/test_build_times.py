"""`scripts/build_times.py` counts the time of processors, not the time that jobs waited for each other."""

import subprocess
import sys

from example_page import ROOT

SCRIPT = ROOT / "scripts" / "build_times.py"


def told(folder, log, *options):
    lines = ["# ninja log v5", *("\t".join(map(str, line)) for line in log)]
    (folder / ".ninja_log").write_text("\n".join(lines) + "\n")
    command = [sys.executable, SCRIPT, folder, "--processors", "2", *options]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def test_jobs_that_run_at_once_share_the_processors(tmp_path):
    # Four jobs in ten seconds of two processors, then one alone.
    four = [(0, 10000, 0, f"CMakeFiles/lib.dir/{name}.cpp.o", "h") for name in "abcd"]
    out = told(tmp_path, [*four, (10000, 13000, 0, "CMakeFiles/tests.dir/e.o", "h")], "--by-target")
    assert "Compiled 5 files in 23 s" in out
    assert "20.0 s  lib\n" in out
    assert "3.0 s  tests\n" in out


def test_a_later_build_does_not_share_with_an_earlier_one(tmp_path):
    first = [(0, 4000, 0, f"CMakeFiles/lib.dir/{name}.cpp.o", "h") for name in "ab"]
    again = [(0, 3000, 0, f"CMakeFiles/lib.dir/{name}.cpp.o", "h") for name in "ac"]
    assert "Compiled 3 files in 10 s" in told(tmp_path, [*first, *again])
