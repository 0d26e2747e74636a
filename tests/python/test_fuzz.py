"""No signature makes an op crash or hang: each is computed, or refused by a message that names the op.

pytest tests/python/test_fuzz.py --count 200        the full run
"""

import json
import pathlib
import subprocess
import sys

import pytest

from holdfast import _holdfast

CHILD = pathlib.Path(__file__).with_name("fuzz_child.py")
OPS = sorted(_holdfast.raw_ops())
CHUNK = 12


def run(ops, count, seed=1):
    """What went wrong: a text for each bad end. A child that dies is followed by another."""
    wrong = []
    left = list(ops)
    while left:
        done = subprocess.run(
            [sys.executable, str(CHILD), str(seed), str(count), *left],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=600,
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
        _, op, n = tried[-1]
        why = "hangs" if done.returncode == -14 else f"died with {done.returncode}"
        wrong.append({"op": op, "n": int(n), "why": why, "text": done.stderr[-500:]})
        left = left[left.index(op) + 1 :]
    return wrong


@pytest.mark.parametrize("start", range(0, len(OPS), CHUNK), ids=lambda i: OPS[i])
def test_bad_signatures_are_refused(start, request):
    wrong = run(OPS[start : start + CHUNK], request.config.getoption("--count"))
    assert not wrong, "\n".join(json.dumps(w, indent=1) for w in wrong[:10])
