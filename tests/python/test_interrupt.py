"""Ctrl-C ends what runs, at once; signals, threads and forks harm nothing."""

import os
import signal
import subprocess
import sys
import threading

import pytest

import holdfast as tf

HEAD = """\
import signal
import sys
import threading
import time
import holdfast as tf

# Started in the background, a program inherits that Ctrl-C is ignored; here it is not.
signal.signal(signal.SIGINT, signal.default_int_handler)

@tf.function
def count(n):
    i = tf.constant(0)
    while i < n:
        i += 1
    return i

def interrupted(work):
    print("ready", flush=True)
    try:
        work()
    except KeyboardInterrupt:
        print("interrupted", int(count(tf.constant(5))), flush=True)

"""

LONG = 2_000_000_000
PROGRAMS = {
    "a loop": f"count(tf.constant(3))\ninterrupted(lambda: count(tf.constant({LONG})))\n",
    "a first call": f"interrupted(lambda: count(tf.constant({LONG})))\n",
    "many steps": """\
@tf.function
def chain(x):
    for _ in range(2000):
        x = tf.matmul(x, x) * 1e-3
    return x

chain(tf.ones((2, 2)))
one = chain.get_concrete_function(tf.ones((600, 600)))
interrupted(lambda: [one(tf.ones((600, 600))) for _ in range(1000)])
""",
    "eager code": """\
def forever():
    x = tf.ones((600, 600))
    while True:
        x = tf.matmul(x, x) * 1e-3

interrupted(forever)
""",
    "one large product": """\
x = tf.ones((5000, 5000), tf.int64)
interrupted(lambda: [tf.matmul(x, x, transpose_a=i % 2 > 0) for i in range(100)])
""",
    "large steps": """\
@tf.function
def products(x):
    for _ in range(100):
        x = tf.matmul(x, x)
    return x

x = tf.ones((2500, 2500), tf.int64)
interrupted(lambda: products(x))
""",
    "a gradient": f"""\
weight = tf.Variable(1.0)

@tf.function
def power(n):
    i, x = tf.constant(0), weight * 1.0
    while i < n:
        i, x = i + 1, x * 1.0000001
    return x

def gradient(n):
    with tf.GradientTape() as tape:
        y = power(n)
    return tape.gradient(y, weight)

gradient(tf.constant(3))
interrupted(lambda: gradient(tf.constant({LONG})))
""",
}


def start(tmp_path, text):
    program = tmp_path / "program.py"
    program.write_text(HEAD + text)
    return subprocess.Popen(
        [sys.executable, str(program)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        bufsize=1,
    )


@pytest.mark.parametrize("name", PROGRAMS)
def test_ctrl_c_ends_it_and_functions_work_afterwards(tmp_path, name):
    child = start(tmp_path, PROGRAMS[name])
    patience = threading.Timer(60, child.kill)  # one that does not end is ended, and seen
    patience.start()
    try:
        assert child.stdout.readline() == "ready\n"
        threading.Event().wait(0.5)
        child.send_signal(signal.SIGINT)
        assert child.stdout.readline() == "interrupted 5\n"
        assert child.wait(60) == 0, child.stderr.read()
    finally:
        patience.cancel()
        child.kill()
        child.communicate()


def test_a_handler_that_runs_during_matrix_products_harms_nothing(tmp_path):
    child = start(
        tmp_path,
        """\
calls = []
signal.signal(signal.SIGALRM, lambda *_: calls.append(1))
signal.setitimer(signal.ITIMER_REAL, 0.002, 0.002)
x, end = tf.ones((500, 500)), time.monotonic() + 1
while time.monotonic() < end:
    y = tf.matmul(x, x)
signal.setitimer(signal.ITIMER_REAL, 0)
print(bool(calls), float(tf.reduce_min(y)), float(tf.reduce_max(y)))
""",
    )
    out, err = child.communicate(timeout=120)
    assert (child.returncode, out) == (0, "True 500.0 500.0\n"), err


def test_a_program_ends_while_a_thread_still_computes(tmp_path):
    child = start(
        tmp_path,
        f"""\
def go():
    while True:
        tf.matmul(tf.ones((300, 300)), tf.ones((300, 300)))
        count(tf.constant(1000))

for _ in range(3):
    threading.Thread(target=go, daemon=True).start()
threading.Thread(target=lambda: count(tf.constant({LONG})), daemon=True).start()
time.sleep(0.5)
print("end", flush=True)
""",
    )
    out, err = child.communicate(timeout=120)
    assert (child.returncode, out, err) == (0, "end\n", "")


@pytest.mark.parametrize("inside", ["", "    if tf.constant(True):\n    "])
def test_a_staged_loop_waits_for_what_another_thread_does(tmp_path, inside):
    child = start(
        tmp_path,
        f"""\
flag = tf.Variable(1)

@tf.function
def wait():
    turns = tf.constant(0)
{inside}    while flag < 1:
    {inside and "    "}    turns += 1
    return turns

wait(), wait()
flag.assign(0)
waiting = threading.Thread(target=wait)
waiting.start()
time.sleep(0.2)
flag.assign(1)
waiting.join()
print("end", flush=True)
""",
    )
    try:
        out, err = child.communicate(timeout=60)
    finally:
        child.kill()
    assert (child.returncode, out, err) == (0, "end\n", "")


def answers(product, convolution, rows):
    x = tf.ones((100, 100))
    return (
        float(product(x)),
        float(convolution(tf.ones((2, 16, 16, 4)), tf.ones((3, 3, 4, 4)))),
        float(rows(tf.ones((200, 500)))),
    )


@pytest.mark.parametrize("busy", [0, 3])
def test_a_forked_child_computes(busy):
    functions = (
        tf.function(lambda x: tf.reduce_sum(x @ x)),
        tf.function(lambda x, k: tf.reduce_sum(tf.nn.conv2d(x, k, 1, "SAME"))),
        tf.function(lambda x: tf.reduce_sum(tf.tanh(x) + tf.sort(x))),
    )
    expected = answers(*functions)
    stop = threading.Event()

    def go():
        while not stop.is_set():
            answers(*functions)

    threads = [threading.Thread(target=go) for _ in range(busy)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(10):
            child = os.fork()
            if child == 0:
                signal.alarm(60)  # one that hangs is ended, and seen
                new = tf.function(lambda x: x * 3.0)
                right = answers(*functions) == expected and float(new(tf.constant(2.0))) == 6.0
                os._exit(0 if right else 1)
            assert os.waitpid(child, 0)[1] == 0
    finally:
        stop.set()
        for thread in threads:
            thread.join()
