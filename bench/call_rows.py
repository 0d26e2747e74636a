"""Rows of calls: a traced function of one small op, in every way one is called, and what one does with a Variable."""

import collections
import itertools

CALLS = 300  # a turn; the first row is what the others are compared with
Two = collections.namedtuple("Two", "a b")
SCALES = [1.0, 2.0, 3.0]


def of_tensorflow(tf):
    """The rows for anything that speaks TensorFlow: names, and functions without arguments."""
    x, y = tf.constant([1.0, 2.0, 3.0]), tf.constant([3.0, 2.0, 1.0])

    @tf.function
    def plain(x):
        return x + 1.0

    @tf.function
    def scaled(x, k=2.0):
        return x * k

    @tf.function
    def summed(*xs):
        return xs[0] + xs[1]

    @tf.function
    def of_dict(d):
        return d["a"] + d["b"]

    @tf.function
    def of_named(p):
        return p.a + p.b

    @tf.function
    def by_item(x):
        return x * SCALES[1]

    class Model(tf.Module):
        def __init__(self, count):
            super().__init__()
            self.weights = [tf.Variable([1.0, 2.0, float(i)]) for i in range(count)]
            self.h = x

        @tf.function
        def call(self, x, training=None):
            for w in self.weights:
                x = x * w
            return x + 1.0 if training else x

        @tf.function
        def read(self, x):
            for _ in self.weights:  # each is looked at by each call, and computes nothing
                pass
            return x + 1.0

        @tf.function
        def plain(self, x):
            return x + 1.0

        @tf.function
        def store(self, x):
            self.h = x + 1.0
            return self.h

    both, pair, few, many = {"a": x, "b": y}, Two(x, y), Model(3), Model(13)
    concrete = tf.function(lambda x: x + 1.0).get_concrete_function(x)
    later = tf.function(lambda x: x + 1.0)
    first = later.get_concrete_function(tf.TensorSpec([3]))
    yield "f(x)", lambda: plain(x)
    yield "default parameter", lambda: scaled(x)
    yield "keyword", lambda: scaled(x, k=2.0)
    yield "`*args`", lambda: summed(x, y)
    yield "dict of two tensors", lambda: of_dict(both)
    yield "named tuple of two tensors", lambda: of_named(pair)
    yield "guard on an item of a list", lambda: by_item(x)
    yield "method of a Module, three variables, `training=True`", lambda: few.call(x, training=True)
    yield "the same, thirteen variables", lambda: many.call(x, training=True)
    yield "method that looks at three variables", lambda: few.read(x)
    yield "the same, thirteen variables, looked at", lambda: many.read(x)
    yield "concrete function", lambda: concrete(x)
    yield "f(x) after `get_concrete_function`", lambda first=first: later(x)
    yield "method of a Module", lambda: few.plain(x)
    yield "the same, which stores `self.h`", lambda: few.store(x)
    # Not traced: a Variable beside a tensor.
    v = tf.Variable([1.0, 2.0, 3.0])
    yield "`x + y`, not traced", lambda: x + y
    yield "`v + 1.0`", lambda: v + 1.0
    yield "`v + x`", lambda: v + x
    yield "`v.read_value()`", lambda: v.read_value()
    yield "`v.assign(x)`", lambda: v.assign(x)
    yield "`v.assign_add(x)`", lambda: v.assign_add(x)
    yield "`module.h`", lambda: few.h


def in_turns(tf, clock, rounds):
    """The least seconds of one call of each row; all rows take turns."""
    rows = dict(of_tensorflow(tf))
    best = dict.fromkeys(rows, 1e30)
    for _, (name, call) in itertools.product(range(rounds), rows.items()):
        begin = clock()
        for _ in range(CALLS):
            call()
        best[name] = min(best[name], (clock() - begin) / CALLS)
    return best
