"""Any constant of a graph may be fed: the value is used, or refused by name, and nothing else happens.

pytest tests/python/test_feed.py --count 200        every sample
"""

import json
import pathlib
import subprocess
import sys

import pytest
import samples

CHILD = pathlib.Path(__file__).with_name("feed_child.py")
FUNCTIONS = [f.record["name"] for f in samples.FUNCTIONS if f.record["samples"]]
CHUNK = 40


def run(functions, most, seed="1"):
    """What went wrong: a text for each bad end. A child that dies is followed by another."""
    wrong = []
    left = list(functions)
    while left:
        done = subprocess.run(
            [sys.executable, str(CHILD), seed, str(most), *left],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=900,
            check=False,
        )
        lines = done.stdout.splitlines()
        wrong += [json.loads(line) for line in lines if line.startswith("{")]
        if lines and lines[-1] == "done":
            break
        tried = [line.split() for line in lines if line.startswith("try ")]
        if not tried:
            wrong.append({"why": "the child died at once", "text": done.stderr[-500:]})
            break
        _, function, n, *what = tried[-1]
        why = "hangs" if done.returncode == -14 else f"died with {done.returncode}"
        wrong.append({"function": function, "n": int(n), "what": what, "why": why})
        left = left[left.index(function) + 1 :]
    return wrong


@pytest.mark.parametrize("start", range(0, len(FUNCTIONS), CHUNK), ids=lambda i: FUNCTIONS[i])
def test_a_fed_constant_is_used_or_refused_by_name(start, request):
    most = request.config.getoption("--count") // 2
    wrong = run(FUNCTIONS[start : start + CHUNK], most)
    assert not wrong, "\n".join(json.dumps(w, indent=1) for w in wrong[:10])
