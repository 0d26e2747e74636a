"""Statements over symbols give what eager code gives, and one trace serves all values."""

from __future__ import annotations

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


def while_loop(x):
    n = 0
    while x < 100:
        x = tf.abs(x) * 2 + 1
        n += 1
    return x, n


def while_with_break(x):
    i = 0
    while i < 10:
        x = x + 1
        if x > 4:
            break
        i += 1
    return x, i


def while_true(x):
    while True:
        x = x + 1
        if x > 5:
            return x * 2


def while_with_continue(x):
    i = 0
    total = x * 0
    while i < 6:
        i += 1
        if x > 2:
            continue
        total = total + x
    return total


def while_with_else(x):
    while x < 4:
        x = x + 1
        if x > 3.2:
            break
    else:
        x = x * 1000
    return x


def while_walrus(x):
    x = tf.abs(x) + 1
    while (y := x * 2) < 20:
        x = y
    return x, y


def for_over_rows(x):
    rows = tf.stack([x, x + 1, x + 2])
    total = 0.0
    for row in rows:
        total = total + row * row
    return total


def for_over_tf_range(x):
    total = tf.constant(0)
    for i in tf.range(tf.cast(x, tf.int32) + 3):
        total += i
    return total


def for_over_python_range_of_a_symbol(x):
    n = tf.cast(x, tf.int32) + 2
    total = 0
    for i in range(n):
        total += i
    for i in range(1, n, 2):
        total += i * 100
    return total


def for_with_break(x):
    found = tf.constant(-1)
    for i in tf.range(10):
        if tf.cast(i, tf.float32) > x:
            found = i
            break
    return found


def for_with_return(x):
    for i in tf.range(5):
        if tf.cast(i, tf.float32) > x:
            return i
    return tf.constant(-1)


def for_with_continue(x):
    total = 0.0
    for i in tf.range(6):
        value = tf.cast(i, tf.float32)
        if value < x:
            continue
        total += value
    return total


def for_with_else(x):
    y = x
    for i in tf.range(3):
        if tf.cast(i, tf.float32) > x:
            break
    else:
        y = y * 10
    return y


def nested_loops(x):
    total = 0
    for i in tf.range(4):
        for j in tf.range(4):
            if j > i:
                break
            if tf.cast(i + j, tf.float32) > x:
                continue
            total += i * 10 + j
    return total


def return_from_nested_loops(x):
    for i in tf.range(4):
        for j in tf.range(4):
            if tf.cast(i * j, tf.float32) > x:
                return i * 10 + j
    return -1


def enumerated(x):
    rows = tf.stack([x, x * 2, x * 3])
    total = 0.0
    for i, row in enumerate(rows, 1):
        total += tf.cast(i, tf.float32) * row
    return total


def zipped(x):
    a, b = tf.stack([x, x + 1]), tf.stack([x * 2, x * 3])
    total = 0.0
    for p, q in zip(a, b):  # noqa: B905
        total += p * q
    for i, (p, q) in enumerate(zip(a, b)):  # noqa: B905
        total += tf.cast(i, tf.float32) * p * q
    return total


def last_row(x):
    for row in tf.stack([x, x + 1]):
        y = row * 2
    return y, row


def python_loop_with_a_symbolic_exit(x):
    total = x * 0
    for k in range(5):
        if x < k:
            break
        total = total + k
    return total


def python_loop_with_a_symbolic_return(x):
    for k in [1.0, 2.0, 3.0]:
        if x < k:
            return x * k
    return x


def python_loop_over_a_list_of_tensors(x):
    total = x * 0
    for y in [x, x + 1, x + 2]:
        if y > 2:
            total = total + y
    return total


def becomes_symbolic(x):
    i = 0
    total = x
    while i < 3:
        total = total + 1
        i = i + 1
    s = 0.0
    while s < 5:
        s = s + tf.abs(x) + 1
    return total, s


def list_stacked(x):
    values = []
    for i in tf.range(3):
        values.append(x * tf.cast(i, tf.float32))
    return tf.stack(values)


def list_with_a_beginning(x):
    values = [x]
    for i in tf.range(3):
        values.append(values[-1] + tf.cast(i, tf.float32))
    return tf.stack(values), len(values), values[1]


def list_concatenated(x):
    values = []
    for i in tf.range(3):
        values.append([x, tf.cast(i, tf.float32)])
    return tf.concat([tf.reshape(v, [-1]) for v in [x]], 0)


def list_of_rows_joined(x):
    values = []
    for i in tf.range(3):
        values.append(tf.stack([x, tf.cast(i, tf.float32)]))
    return tf.concat(values, 0), tf.stack(values, axis=1), tf.add_n(values), tf.concat(values, axis=-1)


def list_in_a_branch_of_a_loop(x):
    values = []
    for i in tf.range(5):
        if tf.cast(i, tf.float32) > x:
            values.append(i)
    return len(values)


def list_in_nested_loops(x):
    values = []
    for i in tf.range(3):
        for j in tf.range(2):
            values.append(x + tf.cast(i * 2 + j, tf.float32))
    return tf.stack(values)


def lists_in_a_dict(x):
    values = {"a": [], "b": []}
    for i in tf.range(3):
        values["a"].append(x)
        values["b"].append(i)
    return tf.stack(values["a"]), tf.stack(values["b"])


def walks_through_a_list_that_grew(x):
    values = []
    for i in tf.range(3):
        values.append(x + tf.cast(i, tf.float32))
    total = 0.0
    for value in values:
        total += value
    return total


def list_made_in_the_body(x):
    total = 0.0
    for i in tf.range(3):
        values = []
        values.append(x)
        values.append(tf.cast(i, tf.float32))
        total += tf.add_n(values)
    return total


def both_sides_append(x):
    values = []
    if x > 1:
        values.append(x)
    else:
        values.append(-x)
    return values[0]


def grows_in_shape(x):
    values = tf.zeros([0])
    for _ in tf.range(tf.cast(x, tf.int32) + 2):
        values = tf.concat([values, [x]], 0)
    return values


def tuple_as_a_loop_variable(x):
    state = (x, {"n": tf.constant(0)})
    while state[0] < 10:
        state = (state[0] + 3, {"n": state[1]["n"] + 1})
    return state


def int64_counter(x):
    n = tf.cast(x, tf.int64)
    i = 0
    while i < n:
        i = i + tf.constant(1, tf.int64)
    return i


def array(x):
    ta = tf.TensorArray(tf.float32, size=3)
    for i in tf.range(3):
        ta = ta.write(i, x + tf.cast(i, tf.float32))
    return ta.stack()


def array_in_a_branch(x):
    ta = tf.TensorArray(tf.float32, size=0, dynamic_size=True)
    if x > 1:
        ta = ta.write(0, x)
    else:
        ta = ta.write(0, -x).write(1, x)
    return ta.stack()


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


def sets_the_argument(x):
    while x > 1:
        x -= 1
    return x


PROGRAMS = [
    value
    for name, value in list(globals().items())
    if type(value) is type(absolute) and value.__module__ == __name__ and name != "helper"
]
VALUES = [-2.0, -0.5, 0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.5]


def as_numpy(result):
    return [np.asarray(leaf) for leaf in tf.nest.flatten(result)]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_staged_code_gives_what_eager_code_gives(program):
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
        y = tf.add_n([tf.cast(tf.reduce_sum(leaf), tf.float32) for leaf in tf.nest.flatten(function(x))])
    gradient = tape.gradient(y, x)
    return None if gradient is None else float(gradient)


@pytest.mark.parametrize(
    "program",
    [
        absolute, nested_ifs, early_return_in_the_middle, lists_and_dicts, conditional_expression,
        while_loop, while_true, for_over_rows, list_stacked, list_with_a_beginning, array,
        python_loop_with_a_symbolic_return, local_object, calls_helpers,
    ],
    ids=lambda f: f.__name__,
)  # fmt: skip
def test_gradients_flow_through_staged_code(program):
    traced = tf.function(program)
    for value in (-2.0, 0.5, 1.5, 2.5):
        assert gradient_of(traced, value) == pytest.approx(gradient_of(program, value)), value
