"""Programs end as they should while daemon threads are in the middle of our code.

Python ends such threads by unwinding them wherever they want its lock, which no frame of C++
stands: they have to wait for the end of the process instead.
"""

import os
import subprocess
import sys
import textwrap

import pytest

# What Python unwinds is still marked as in use by a sanitizer, which takes the next call for a fault.
pytestmark = pytest.mark.skipif(
    os.environ.get("HOLDFAST_PRESET", "release") != "release", reason="built with a sanitizer"
)

BODIES = {
    "a layer in Python": """
        class Own(tf.keras.layers.Dense):
            def call(self, x, training=None):
                return super().call(x)
        model = tf.keras.Sequential([Own(2)])
        model.me = model
        def work():
            model(x)
    """,
    "a trace": """
        def work():
            @tf.function
            def f(x):
                for i in tf.range(3):
                    if tf.reduce_sum(x) > tf.cast(i, tf.float32):
                        x = x + 1.0
                return x
            f(x)
    """,
    "Python in an op": """
        def work():
            tf.py_function(lambda a: a + 1, [x], tf.float32)
    """,
    "a gradient in Python": """
        v = tf.Variable(x)
        def work():
            @tf.custom_gradient
            def twice(a):
                return a * 2, lambda d: d * 2
            with tf.GradientTape() as tape:
                y = twice(v) @ v
            tape.gradient(y, v)
    """,
    "a session": """
        def work():
            with tf.Graph().as_default():
                p = tf.compat.v1.placeholder(tf.float32)
                q = tf.compat.v1.py_func(lambda a: a + 1, [p], tf.float32)
                with tf.compat.v1.Session() as session:
                    session.run(q, {p: 1.0})
    """,
    "a structure": """
        def work():
            tf.nest.map_structure(lambda a: a + 1, {"a": x, "b": [x, (x,)]})
    """,
    "an error": """
        def work():
            try:
                tf.matmul(x, tf.ones([3, 3]))
            except tf.errors.InvalidArgumentError:
                pass
    """,
}


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES.keys())
def test_a_program_ends_beside_threads_that_do_not(body, tmp_path):
    program = tmp_path / "program.py"
    program.write_text(f"""
import threading
import holdfast as tf
x = tf.ones([2, 2])
{textwrap.dedent(body)}
work()
def forever():
    while True:
        work()
for _ in range(2):
    threading.Thread(target=forever, daemon=True).start()
""")
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-W", "ignore", str(program)],
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, done.stderr
