"""Names that staged code sets for the first time, read after it: their value, or a word of ours."""

import pytest

import holdfast as tf


def in_two_loops(n, m):
    for i in tf.range(n):
        for j in tf.range(m):
            last = {"sum": i * 10 + j, "row": tf.ones([2]) * tf.cast(j, tf.float32)}
    return last


def in_three_loops(n):
    for i in tf.range(n):
        for j in tf.range(i):
            for k in tf.range(j):
                last = (i, j, k)
    return last


def in_a_while(n):
    i = 0
    while i < n:
        for j in tf.range(i):
            seen = j
        i += 1
    return seen


def not_in_each_iteration(x):
    for row in x:
        for j in tf.range(tf.cast(row, tf.int32)):
            found = row + tf.cast(j, tf.float32)
    return found


def after_another_loop(n):
    for i in tf.range(n):
        a = i
    for i in tf.range(n):
        for j in tf.range(tf.maximum(i - 1, 0)):
            a = j + 100
    return a


def test_a_loop_in_a_loop_sets_a_name():
    found = tf.function(in_two_loops)(tf.constant(3), tf.constant(2))
    assert found["sum"].numpy() == 21 and found["row"].numpy().tolist() == [1.0, 1.0]
    assert [t.numpy() for t in tf.function(in_three_loops)(tf.constant(4))] == [3, 2, 1]
    assert tf.function(in_a_while)(tf.constant(3)).numpy() == 1


def test_the_last_iteration_that_sets_it_counts():
    f = tf.function(not_in_each_iteration)
    assert f(tf.constant([2.0, 0.0, 0.0])).numpy() == 3.0
    assert f(tf.constant([0.0, 3.0, 0.0])).numpy() == 5.0
    g = tf.function(after_another_loop)
    assert g(tf.constant(2)).numpy() == 1  # as the first loop left it
    assert g(tf.constant(4)).numpy() == 101


def test_where_no_iteration_sets_it_a_check_says_so():
    for f, args in ((in_two_loops, (3, 0)), (in_two_loops, (0, 3)), (in_three_loops, (1,))):
        with pytest.raises(tf.errors.InvalidArgumentError, match="did not run to set it"):
            tf.function(f)(*map(tf.constant, args))


def test_gradients_go_through_both_loops():
    @tf.function
    def f(x):
        for i in tf.range(2):
            for j in tf.range(2):
                y = x * tf.cast(i + j, tf.float32)
        return y

    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    assert (y.numpy(), tape.gradient(y, x).numpy()) == (6.0, 2.0)


def in_a_branch_of_a_loop(x):
    for row in x:
        if row > 1.0:
            best = row
    return best


def in_a_branch_of_a_while(n):
    i = 0
    while i < n:
        if i == 2:
            best = {"at": i}
        i += 1
    return best["at"]


def in_a_loop_of_a_branch(n):
    if n > 0:
        for i in tf.range(n):
            best = i
    return best


@pytest.mark.parametrize(
    ("f", "x", "line"),
    [
        (in_a_branch_of_a_loop, [1.0, 2.0], "if row > 1.0:"),
        (in_a_branch_of_a_while, 4, "if i == 2:"),
        (in_a_loop_of_a_branch, 4, "if n > 0:"),
    ],
)
def test_one_side_of_a_branch_is_named(f, x, line):
    with pytest.raises(ValueError, match="`best` is set on one side") as caught:
        tf.function(f)(tf.constant(x))
    assert caught.value.code == "E0901" and line in str(caught.value)


# Jumps decide: who reads the name has its value, wherever the program would have had it.


def found_or_else(n):
    for i in tf.range(n):
        if i == 2:
            found = i * 10
            break
    else:
        found = -1
    return found


def found_further_inside(n):
    for i in tf.range(n):
        if i == 2:
            if n > 4:
                found = i * 10
            else:
                found = i
            break
    else:
        found = -1
    return found


def found_in_an_unrolled_loop(n):
    for i in range(4):
        if n == i:
            found = {"at": n, "twice": n * 2}
            break
    else:
        found = {"at": -1, "twice": -2}
    return found["at"] + found["twice"]


def found_by_each_iteration(n):
    out = 0
    for i in tf.range(4):
        j = 0
        while j < n:
            if j > i:
                got = j
                break
            j += 1
        else:
            got = -5
        out += got
    return out


@pytest.mark.parametrize(
    "program",
    [found_or_else, found_further_inside, found_in_an_unrolled_loop, found_by_each_iteration],
)
def test_a_loop_and_its_else_set_a_name(program):
    traced = tf.function(program)
    for n in (0, 1, 3, 5):
        assert int(traced(tf.constant(n))) == int(program(tf.constant(n)))


def set_before_break(n):
    for i in tf.range(n):
        if i > 2:
            found = i
            break
    return found


def set_unless_continue(n):
    for i in tf.range(n):
        if i < 3:
            continue
        found = i
    return found


@pytest.mark.parametrize("program", [set_before_break, set_unless_continue])
def test_a_name_is_refused_only_where_no_iteration_came_to_set_it(program):
    traced = tf.function(program)
    assert int(traced(tf.constant(4))) == 3
    with pytest.raises(tf.errors.InvalidArgumentError, match="`found` is read"):
        traced(tf.constant(2))
