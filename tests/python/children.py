"""Programs that try a list of things, one after the other, and may die of one."""

import json
import subprocess
import sys


def run(child, names, *arguments, timeout):
    """What went wrong: a text for each bad end. A child that dies is followed by another.

    A child prints `try NAME N ...` before each try, a line of JSON for what it finds, `done` at last.
    """
    wrong = []
    left = list(names)
    while left:
        done = subprocess.run(
            [sys.executable, str(child), *map(str, arguments), *left],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=timeout,
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
        _, name, n, *what = tried[-1]
        why = "hangs" if done.returncode == -14 else f"died with {done.returncode}"
        wrong.append(
            {"tried": name, "n": int(n), "what": what, "why": why, "text": done.stderr[-500:]}
        )
        left = left[left.index(name) + 1 :]
    return wrong
