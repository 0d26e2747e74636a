"""Threads of pipelines end: with the process, with the interpreter, in forked children, by Ctrl-C."""

import os
import signal
import subprocess
import sys
import textwrap
import time

import pytest

PROGRAMS = {
    "an iterator that a global holds": """
        it = iter(Dataset.from_generator(numbers, output_types=tf.int64).prefetch(4))
        next(it)
    """,
    "one that only a cycle holds": """
        class Node: pass
        node = Node()
        node.node = node
        node.it = iter(Dataset.from_generator(numbers, output_types=tf.int64).prefetch(4))
        next(node.it)
        del node
    """,
    "a generator that sleeps": """
        def sleeping():
            yield 1
            time.sleep(1000)
        it = iter(Dataset.from_generator(sleeping, output_types=tf.int64).prefetch(4))
        next(it)
    """,
    "a daemon thread that reads": """
        it = iter(Dataset.from_generator(numbers, output_types=tf.int64).map(lambda x: x).prefetch(4))
        threading.Thread(target=lambda: [None for _ in it], daemon=True).start()
        time.sleep(0.1)
    """,
    "python code in a map": """
        ds = Dataset.range(10**9).map(lambda x: tf.py_function(lambda v: v + 1, [x], tf.int64))
        it = iter(ds.prefetch(4).prefetch(4))
        next(it)
    """,
}

BEGIN = """
import os, sys, threading, time
import holdfast as tf
Dataset = tf.data.Dataset
def numbers():
    i = 0
    while True:
        yield i
        i += 1
"""


def run(program):
    text = BEGIN + textwrap.dedent(program) + "\nprint('done', flush=True)\n"
    return subprocess.run(
        [sys.executable, "-c", text], capture_output=True, text=True, timeout=120, check=False
    )


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_process_ends_quietly_with(name):
    done = run(PROGRAMS[name])
    assert (done.returncode, done.stdout, done.stderr) == (0, "done\n", "")


@pytest.mark.skipif(
    os.environ.get("HOLDFAST_PRESET") == "tsan",
    reason="ThreadSanitizer ends a forked child that begins threads",
)
def test_a_forked_child_is_told_and_can_begin_anew():
    done = run("""
        it = iter(Dataset.range(100).prefetch(2))
        next(it)
        child = os.fork()
        if child == 0:
            try:
                next(it)
            except tf.errors.UnimplementedError as e:
                print("forked" in str(e))
            del it
            print([int(x) for x in Dataset.range(3).prefetch(1)], flush=True)
            os._exit(0)
        os.waitpid(child, 0)
        print(int(next(it)))
    """)
    assert done.stdout == "True\n[0, 1, 2]\n1\ndone\n", done.stderr
    assert done.returncode == 0


@pytest.mark.parametrize("ahead", ["", ".prefetch(2)"])
def test_ctrl_c_ends_an_element_that_never_comes(ahead):
    text = (
        BEGIN
        + f"""
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # whatever it was inherited as
ds = Dataset.range(5).repeat().filter(lambda x: x > 10){ahead}
try:
    print("begin", flush=True)
    next(iter(ds))
except KeyboardInterrupt:
    print("stopped", flush=True)
"""
    )
    child = subprocess.Popen(
        [sys.executable, "-c", text], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        assert child.stdout.readline() == "begin\n"
        time.sleep(0.5)
        os.kill(child.pid, signal.SIGINT)
        out, err = child.communicate(timeout=60)
    finally:
        child.kill()
    assert (out, err, child.returncode) == ("stopped\n", "", 0)
