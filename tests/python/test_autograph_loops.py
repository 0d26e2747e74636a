"""Loops over symbols give what eager code gives, and one trace serves all values."""

from __future__ import annotations

import pytest
from test_autograph_staged import programs, same, same_gradient

import holdfast as tf


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
    for p, q in zip(a, b):
        total += p * q
    for i, (p, q) in enumerate(zip(a, b)):
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


def list_of_lists_that_nobody_reads(x):
    values = []
    for i in tf.range(3):
        values.append([x, tf.cast(i, tf.float32)])
    return x


def list_of_rows_joined(x):
    values = []
    for i in tf.range(3):
        values.append(tf.stack([x, tf.cast(i, tf.float32)]))
    joined = tf.concat(values, 0), tf.concat(values, axis=-1)
    return joined, tf.stack(values, axis=1), tf.add_n(values)


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


PROGRAMS = programs(globals())


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_staged_loops_give_what_eager_code_gives(program):
    same(program)


DIFFERENTIABLE = [
    array,
    for_over_rows,
    list_stacked,
    list_with_a_beginning,
    python_loop_with_a_symbolic_return,
    while_loop,
    while_true,
]


@pytest.mark.parametrize("program", DIFFERENTIABLE, ids=lambda f: f.__name__)
def test_gradients_flow_through_staged_loops(program):
    same_gradient(program)
