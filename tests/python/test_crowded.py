"""A machine that others use too: the team has as many threads as there are cores for it, and computes the same."""

import contextlib
import os
import subprocess
import sys

import pytest

needs_affinity = pytest.mark.skipif(
    not hasattr(os, "sched_setaffinity"), reason="no system call that binds a process to cores"
)

CHAIN = """
import os, time
import numpy as np
import holdfast as tf
w = tf.constant([[((i * 37 + j * 11) % 13 - 6) / 64.0 for j in range(160)] for i in range(160)])
@tf.function
def chain(x):
    for _ in range(6):
        x = tf.tanh(tf.matmul(x, w)) + 0.125 * x
    return x
def run(seconds):
    x = w
    end = time.monotonic() + seconds
    count = 0
    while count < 20 or time.monotonic() < end:
        x = chain(x)
        count += 1
        if count == 20:
            kept = x.numpy()
    return kept
"""


@contextlib.contextmanager
def crowd():
    busy = "import time\nend = time.monotonic() + 60\nwhile time.monotonic() < end: pass"
    others = [
        subprocess.Popen([sys.executable, "-c", busy]) for _ in range(2 * (os.cpu_count() or 1))
    ]
    try:
        yield
    finally:
        for one in others:
            one.kill()
            one.wait()


def child(code):
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout.split()


@needs_affinity
def test_a_process_bound_to_one_core_has_one_thread():
    core = min(os.sched_getaffinity(0))
    code = f"import os; os.sched_setaffinity(0, {{{core}}})\n"
    code += "import holdfast as tf; print(tf._holdfast.num_threads())"
    assert child(code) == ["1"]


def test_crowded_steps_give_the_same_bits_and_the_process_ends():
    code = CHAIN + "once = run(0.0)\nprint(np.array_equal(run(1.5), once), 'end')"
    with crowd():
        assert child(code) == ["True", "end"]


def test_a_child_that_is_forked_while_the_team_rests_goes_on_with_one_thread():
    code = (
        CHAIN
        + """
first = run(0.5)
pid = os.fork()
if pid == 0:
    same = np.allclose(run(0.0), first, atol=1e-5)
    os._exit(0 if same and tf._holdfast.num_threads() == 1 else 3)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), np.array_equal(run(0.2), first))
"""
    )
    with crowd():
        assert child(code) == ["0", "True"]
