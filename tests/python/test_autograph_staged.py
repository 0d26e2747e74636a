"""Branches over symbols give what eager code gives, and one trace serves all values."""

from __future__ import annotations

import inspect
import types

import numpy as np
import pytest

import holdfast as tf


def absolute(x):
    if x > 0:
        return x
    return -x


def three_ways(x):
    if x > 2:
        y = x * 2
    elif x > 0:
        y = x * 3
    else:
        y = -x
    return y + 1


def nested_ifs(x):
    y = x
    if x > 0:
        y = y + 1
        if x > 2:
            y = y * 10
        else:
            y = y - 5
        y = y + 0.5
    return y


def one_sided(x):
    y = x
    if x > 1:
        y = x * 100
    return y


def early_return_in_the_middle(x):
    if x > 0:
        if x > 2:
            return x * 10
        x = x + 1
    return x - 1


def many_returns(x):
    if x > 3:
        return x * 1
    if x > 2:
        return x * 2
    if x > 1:
        return x * 3
    return x * 4


def both_sides_return(x):
    if x > 1:
        return x, x + 1
    else:
        return -x, x * 2


def python_numbers(x):
    if x > 1:
        k = 2
        flag = True
    else:
        k = 3
        flag = False
    if flag:
        k = k + 1
    return x * tf.cast(k, tf.float32)


def same_number_on_both_sides(x):
    if x > 1:
        k, y = 2, x
    else:
        k, y = 2, -x
    return [y] * k


def temporary_names(x):
    if x > 1:
        t = x * 2
        u = t + 1
        y = u
    else:
        y = x
    return y


def reads_before_it_writes(x):
    t = x
    if x > 1:
        t = t + 1
        y = t
    else:
        t = t * 5
        y = t
    return y


def lists_and_dicts(x):
    if x > 1:
        d = {"a": x, "b": [x, x + 1]}
    else:
        d = {"a": -x, "b": [x, x]}
    return d["a"] + d["b"][1]


def conditional_expression(x):
    return (x if x > 1 else -x) + (1.0 if x > 2 else 0.0)


def logic(x):
    a = x > 0 and x < 3
    b = x > 2 or x < 1
    c = not a
    if a and not b or c:
        return x * 2
    return x


def chain(x):
    if 0 < x < 2 <= 3:
        return x * 7
    return x


def mixed_logic(x):
    flag = True
    if flag and x > 1:
        return x
    if not flag or x < 0:
        return x * 2
    return x * 3


def lazy_logic(x):
    values = tf.constant([1.0, 2.0, 3.0])
    i = tf.cast(x, tf.int32)
    if i < 3 and i >= 0 and values[i] > 1.0:
        return x * 100
    return x


def lengths(x):
    values = tf.stack([x, x])
    return len(values), max(x, 1.5), min(x, 1.0, 2.0)


def calls_helpers(x):
    def inner(y):
        if y > 1:
            return helper(y)
        return y

    return inner(x) + (lambda z: z * 2 if z > 1 else z)(x) + Shape(x).area()


def helper(y):
    total = tf.abs(y) + 1
    while total < 10:
        total = total * 2
    return total


class Shape:
    def __init__(self, side):
        self.side = side

    @property
    def large(self):
        return True if self.side > 1 else False  # noqa: SIM210

    def area(self):
        if self.large:
            return self.side * self.side
        return self.side * 0

    def __call__(self, y):
        if y > self.side:
            return y
        return self.side


def calls_objects(x):
    return Shape(x * 0 + 1)(x)


def local_object(x):
    box = Shape(x)
    if x > 1:
        box.side = x * 2
    for _ in tf.range(2):
        box.side = box.side + 1
    return box.side


def local_dict(x):
    table = {"n": x}
    if x > 1:
        table["n"] = x * 2
        table["m"] = x
    else:
        table["m"] = -x
    for i in tf.range(3):
        table["n"] += tf.cast(i, tf.float32)
    return table


def recursion_in_python(x, n=3):
    if n == 0:
        return x
    if x > 1:
        return recursion_in_python(x * 2, n - 1)
    return recursion_in_python(x + 1, n - 1)


def tries_around(x):
    y = x
    try:
        if x > 1:
            y = x * 2
    finally:
        y = y + 1
    with tf.name_scope("a"):
        if x > 2:
            return y
    return -y


def matches_python(x, kind="double"):
    match kind:
        case "double":
            if x > 1:
                return x * 2
            return x
        case _:
            return x


def closures_that_count(x):
    total, steps = x, 0

    def add(k):
        nonlocal total, steps
        total = total + k
        if k > 0:
            steps = steps + 1

    if x > 1:
        add(x)
    else:
        add(1.0)
    for i in tf.range(3):
        add(tf.cast(i, tf.float32))
    return total, steps


def sets_what_an_earlier_loop_set(x):
    for i in tf.range(3):
        last = tf.cast(i, tf.float32) + x
    for j in tf.range(2):
        last = last * 2 + tf.cast(j, tf.float32)
    return last


def sets_a_class_attribute(x):
    class Box:
        value = x

    if x > 1:
        Box.value = x * 2
    while Box.value < 10:
        Box.value = Box.value + 4
    return Box.value


def deep_nesting(x):
    y = x
    for i in tf.range(2):
        while y < 4:
            y = y + 1
            if y > 3:
                for j in tf.range(2):
                    y = y + tf.cast(i + j, tf.float32) if y > 3.5 else y * 2
                break
        else:
            y = y - 0.25
    return y


def sets_the_argument(x):
    while x > 1:
        x -= 1
    return x


VALUES = [-2.0, -0.5, 0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.5]


def programs(space):
    """The functions of one tensor that a module of tests defines."""
    return [
        value
        for name, value in list(space.items())
        if isinstance(value, types.FunctionType)
        and value.__module__ == space["__name__"]
        and next(iter(inspect.signature(value).parameters), "") == "x"
    ]


def as_numpy(result):
    return [np.asarray(leaf) for leaf in tf.nest.flatten(result)]


def same(program):
    """Traced code gives what eager code gives, and one trace serves all values."""
    traced = tf.function(program)
    for value in VALUES:
        x = tf.constant(value)
        expected, got = as_numpy(program(x)), as_numpy(traced(x))
        assert len(expected) == len(got)
        for a, b in zip(expected, got, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-6, err_msg=f"at {value}")
    assert traced.experimental_get_tracing_count() == 1


def gradient_of(function, value):
    x = tf.constant(value)
    with tf.GradientTape() as tape:
        tape.watch(x)
        leaves = [tf.reduce_sum(leaf) for leaf in tf.nest.flatten(function(x))]
        y = tf.add_n([tf.cast(leaf, tf.float32) for leaf in leaves])
    gradient = tape.gradient(y, x)
    return None if gradient is None else float(gradient)


def same_gradient(program):
    """So do their gradients."""
    traced = tf.function(program)
    for value in (-2.0, 0.5, 1.5, 2.5):
        assert gradient_of(traced, value) == pytest.approx(gradient_of(program, value)), value


PROGRAMS = programs(globals())


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_staged_branches_give_what_eager_code_gives(program):
    same(program)


DIFFERENTIABLE = [
    absolute,
    calls_helpers,
    conditional_expression,
    early_return_in_the_middle,
    lists_and_dicts,
    local_object,
    nested_ifs,
]


@pytest.mark.parametrize("program", DIFFERENTIABLE, ids=lambda f: f.__name__)
def test_gradients_flow_through_staged_branches(program):
    same_gradient(program)


# The lines of statements.


def test_what_a_statement_gives_is_born_at_its_own_line():
    seen = []
    first = test_what_a_statement_gives_is_born_at_its_own_line.__code__.co_firstlineno

    @tf.function
    def f(x):
        if x > 0:
            y = x * 2
        else:
            y = x * 3
        seen.append(("if", born(y)))
        if x > 1:
            z = y + 1
        elif x > 2:
            z = y + 2
        else:
            z = y + 3
        seen.append(("elif", born(z)))
        while z < 100:
            z = z * z
            z = z + 2
        seen.append(("while", born(z)))
        for i in tf.range(3):
            z += tf.cast(i, tf.float32)
            if z > 5:
                z -= 1
        seen.append(("for", born(z)))
        w = z if z > 3 else -z
        seen.append(("expression", born(w)))
        return tf.cond(
            w > 0,
            lambda: w * 2,
            lambda: w * 3,
        )

    def born(tensor):
        return tensor._born()["line"] - first

    f(tf.constant(1.5))
    assert seen == [("if", 6), ("elif", 11), ("while", 18), ("for", 22), ("expression", 27)]


def test_an_error_after_a_branch_speaks_of_the_line_of_the_branch():
    kept = []

    @tf.function
    def f(x):
        def side():
            kept.append(x * 2)
            return x

        y = tf.cond(x > 0, side, lambda: x + 1)
        return y + kept[0]

    with pytest.raises(tf.errors.InaccessibleTensorError) as caught:
        f(tf.constant(1.0))
    labels = {label.role: label.loc.source.strip() for label in caught.value.diagnostic.labels}
    assert labels["placed"] == "y = tf.cond(x > 0, side, lambda: x + 1)"
