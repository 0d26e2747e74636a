"""Threads that need each other's locks and the interpreter's never wait for each other."""

import subprocess
import sys

import pytest

BEGIN = """
import sys, threading, time
import holdfast as tf

sys.setswitchinterval(1e-5)

def together(*works):
    start, errors = threading.Barrier(len(works)), []

    def go(work):
        start.wait()
        try:
            work()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=go, args=[work]) for work in works]
    for t in threads: t.start()
    for t in threads: t.join()
    if errors: raise errors[0]

@tf.custom_gradient
def slow(x):
    def grad(dy):
        for _ in range(5): time.sleep(0.005)  # lets others in
        return dy * x * 3.0
    return x * x, grad

def gradient_of(f, x=2.0):
    x = tf.constant(x)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    return float(tape.gradient(y, x))

def second_of(f, x=2.0):
    x = tf.constant(x)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = f(x)
        g = inner.gradient(y, x)
    return float(outer.gradient(g, x))
"""

# Each is run in a process of its own, that is ended if it hangs.
PROGRAMS = {
    "a plain call while another thread writes the gradient": """
for _ in range(5):
    f = tf.function(lambda x: slow(x) * 2.0)
    x = tf.constant(1.0)
    for _ in range(3): f(x)  # planned and small: it is run without letting others in
    together(lambda: gradient_of(f), *[lambda: [f(x) for _ in range(300)]] * 3)
assert gradient_of(f) == 12.0
""",
    "many first gradients of one function": """
for _ in range(5):
    f = tf.function(lambda x: slow(x) * 2.0)
    f(tf.constant(1.0))
    together(*[lambda: gradient_of(f)] * 8)
assert gradient_of(f) == 12.0
""",
    "first and second gradients of one function": """
for _ in range(5):
    f = tf.function(lambda x: slow(x) * 2.0)
    together(*[lambda: second_of(f)] * 4, *[lambda: gradient_of(f)] * 4, lambda: f(tf.constant(1.0)))
assert second_of(f) == 6.0
""",
    "a first call whose values escape, beside others": """
class Box: pass
for _ in range(5):
    box = Box()
    def g(x):
        box.h = x * 2.0
        return slow(x) * 2.0
    f = tf.function(g)
    f.get_concrete_function(tf.TensorSpec([], tf.float32))
    together(*[lambda: gradient_of(f)] * 6)
assert gradient_of(f) == 12.0
""",
    "a function with a variable of its own and Python code": """
@tf.function
def f(x):
    total = tf.Variable(0.0)
    for _ in tf.range(2):
        total.assign_add(tf.py_function(lambda y: (time.sleep(0.001), y * 2.0)[1], [x], tf.float32))
    return total.read_value()
together(*[lambda: [f(tf.constant(1.0)) for _ in range(10)]] * 6)
assert float(f(tf.constant(1.0))) == 4.0
""",
    "a variable whose update fails while others read it": """
v = tf.Variable(tf.ones(3), shape=[None])
f = tf.function(lambda d: v.assign_add(d), input_signature=[tf.TensorSpec([None])])
def fails():
    for _ in range(50):
        try:
            f(tf.ones(2))
        except tf.errors.InvalidArgumentError:
            continue
        raise AssertionError
together(fails, fails, *[lambda: [v.numpy() for _ in range(2000)]] * 3)
""",
    "sessions that initialise by Python code": """
v1 = tf.compat.v1
for _ in range(5):
    with tf.Graph().as_default():
        start = tf.py_function(lambda: (time.sleep(0.01), 3.0)[1], [], tf.float32)
        start.set_shape([])
        v = v1.get_variable("v", initializer=start)
        y = v * 2.0
        sess = v1.Session()
    together(*[lambda: sess.run(y)] * 6)
    assert float(sess.run(y)) == 6.0
""",
}


@pytest.mark.parametrize("what", PROGRAMS)
def test_nobody_waits_for_ever(what):
    done = subprocess.run(
        [sys.executable, "-c", BEGIN + PROGRAMS[what]],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_a_gradient_that_asks_for_itself_is_refused():
    import holdfast as tf

    @tf.custom_gradient
    def asking(x):
        def grad(dy):
            with tf.init_scope():
                one = tf.constant(1.0)
                with tf.GradientTape() as tape:
                    tape.watch(one)
                    y = f(one)
                return dy * tape.gradient(y, one)

        return x * x, grad

    f = tf.function(lambda x: asking(x))
    x = tf.constant(1.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        with pytest.raises(tf.errors.UnimplementedError, match="while it is being written"):
            f(x)
