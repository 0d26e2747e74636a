"""Programs that fail say what their golden texts say, as text and as JSON, and their fixes help."""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import pytest

PROGRAMS = sorted((pathlib.Path(__file__).parents[1] / "diagnostics").glob("*.py"))
NAMES = [path.stem for path in PROGRAMS]


# Runs a program as it stands; the error that ends it goes to a file, in its JSON form.
LAUNCH = """
import os, runpy, sys
def ended(kind, error, trace):
    with open(os.environ["HOLDFAST_DIAG_JSON"], "a") as log:
        print(error.diagnostic.to_json(), file=log)
    sys.__excepthook__(kind, error, trace)
sys.excepthook = ended
runpy.run_path(sys.argv[1], run_name="__main__")
"""


def run(source, name, folder):
    """What a program writes to stderr, and the diagnostics it leaves as JSON."""
    (folder / name).write_text(source)
    log = folder / "said.json"
    log.unlink(missing_ok=True)
    done = subprocess.run(
        [sys.executable, "-c", LAUNCH, name],
        cwd=folder,
        env={**os.environ, "HOLDFAST_DIAG_JSON": str(log)},
        capture_output=True,
        text=True,
        check=False,
    )
    said = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
    return done, said


def message(stderr):
    found = re.search(r"(error|warning)\[", stderr)
    text = stderr[found.start() :].rstrip() + "\n" if found else ""
    return re.sub(
        r"took (some seconds|most of a minute|more than a minute)", "took less than a second", text
    )  # on a slow machine


def applied(source, edits):
    """The program with edits made, from the last line to the first."""
    lines = source.split("\n")
    for edit in sorted(edits, key=lambda e: (e["line"], e["col"]), reverse=True):
        at, line = edit["line"] - 1, lines[edit["line"] - 1]
        if not edit["old"]:
            lines[at] = edit["new"] + line
            continue
        col = edit["col"] - 1
        assert line.encode()[col:].decode().startswith(edit["old"])
        head = line.encode()[:col].decode()
        lines[at] = head + edit["new"] + line[len(head) + len(edit["old"]) :]
    return "\n".join(lines)


@pytest.mark.parametrize("path", PROGRAMS, ids=NAMES)
def test_a_program_says_what_its_golden_text_says(path, tmp_path):
    done, said = run(path.read_text(), path.name, tmp_path)
    text = message(done.stderr)
    assert text == path.with_suffix(".txt").read_text()

    first, *rest = text.splitlines()
    code = path.name[:5]
    assert re.match(rf"(error|warning)\[{code}\]: ", first)
    assert len(first) <= 100 and not first.endswith("…")
    assert len(rest) < 25
    assert not re.search(r"0x[0-9a-f]{6,}|site-packages|/tmp", text)

    one = said[-1]
    assert one["code"] == code == one["docs"] and one["schema"] == 1
    assert first.endswith(one["message"]) and one["rendered"].strip() == text.strip()
    assert sum(span["is_primary"] for span in one["spans"]) == 1
    assert all(span["file"].endswith(path.name) for span in one["spans"])
    assert one["why"] and 1 <= len(one["fixes"]) <= 2


@pytest.mark.parametrize("path", PROGRAMS, ids=NAMES)
def test_the_edits_of_a_fix_make_the_program_run(path, tmp_path):
    source = path.read_text()
    _, said = run(source, path.name, tmp_path)
    edited = [fix for fix in said[-1]["fixes"] if fix["edits"]]
    assert all(fix["edits"] for fix in said[-1]["fixes"] if fix["applicability"] == "tested")
    for fix in edited:
        done, left = run(applied(source, fix["edits"]), path.name, tmp_path)
        assert (done.returncode, left, message(done.stderr)) == (0, [], "")


if __name__ == "__main__":
    for program in PROGRAMS:
        with tempfile.TemporaryDirectory() as place:
            ended, _ = run(program.read_text(), program.name, pathlib.Path(place))
        program.with_suffix(".txt").write_text(message(ended.stderr))
