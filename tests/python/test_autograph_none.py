"""A name, an attribute or an item that is a tensor or None, as the run decides, is so afterwards."""

import dataclasses

import numpy as np
import pytest

import holdfast as tf


def plain(value):
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items()}
    return value.numpy().tolist() if isinstance(value, tf.Tensor) else value


def check(f, *calls):
    """That a function gives the same traced as plain; inside of another traced function, too."""
    traced = tf.function(f)
    inside = tf.function(lambda *arguments: traced(*arguments))
    for call in calls:
        arguments = [tf.constant(each) for each in call]
        expected = plain(f(*arguments))
        assert plain(traced(*arguments)) == expected
        assert plain(inside(*arguments)) == expected


NOTHING = np.zeros([0], np.float32)


def test_the_best_of_a_loop():
    def f(xs):
        best, where = None, None
        for i in tf.range(tf.size(xs)):
            if best is None or xs[i] > best:
                best = xs[i]
                where = i
        return best, where

    check(f, ([1.0, 5.0, 2.0],), (NOTHING,), ([7.0],))


def test_a_branch_that_gives_none():
    def f(x):
        y = None
        if x > 0:
            y = x * 2
        z = x if y is None else y + 1
        return y, z

    check(f, (1.0,), (-1.0,))


def test_a_function_that_may_find_nothing():
    def find(xs, value):
        for i in tf.range(tf.size(xs)):
            if xs[i] == value:
                return i
        return None

    def f(xs, value):
        found = find(xs, value)
        if found is not None:
            return found * 10
        return -1

    check(find, ([1, 5], 5), ([1, 5], 7))
    check(f, ([1, 5], 5), ([1, 5], 7))


def test_iterations_that_set_it_back():
    def f(xs):
        run, count = None, 0
        for x in xs:
            if x < 0:
                run = None
            elif run is None:
                run = x
                count += 1
            else:
                run += x
        return run, count

    check(f, ([1, 2, -1, 4],), ([1, 2, -1],), ([-1],))


def test_one_name_takes_what_another_holds():
    def f(xs):
        before, now, total = None, None, 0.0
        for x in xs:
            before = now
            now = x
            if before is not None:
                total += before * now
        return before, now, total

    check(f, ([1.0, 2.0, 3.0],), ([1.0],), (NOTHING,))


def test_loops_in_loops():
    def f(rows):
        best = None
        for i in tf.range(tf.shape(rows)[0]):
            most = None
            for j in tf.range(tf.shape(rows)[1]):
                if most is None or rows[i, j] > most:
                    most = rows[i, j]
            if best is None or most < best:
                best = most
        return best

    check(f, ([[1, 5], [2, 3], [9, 9]],), (np.zeros([0, 2], np.int32),))


def test_a_while_loop_asks():
    def f(x):
        root, i = None, 0
        while root is None and i < 20:
            if i * i >= x:
                root = i
            i += 1
        return root, i

    check(f, (10,), (1000,))


def test_parts_of_dicts_and_tuples():
    def f(xs):
        state = {"best": None, "n": 0}
        pair = (None, 0)
        for x in xs:
            if state["best"] is None or x > state["best"]:
                state = {"best": x, "n": state["n"] + 1}
            pair = (x if pair[0] is None else pair[0] + x, pair[1] + 1)
        return state, pair

    check(f, ([1.0, 3.0, 2.0],), (NOTHING,))


def test_a_size_that_grows():
    def f(xs):
        rows = None
        for x in xs:
            rows = x[None] if rows is None else tf.concat([rows, x[None]], 0)
        return rows

    check(f, ([1.0, 2.0, 3.0],), (NOTHING,))


def test_elements_of_a_dataset():
    def f(n):
        last = None
        for x in tf.data.Dataset.range(n):
            last = x
        return last

    for n in (4, 0):
        assert plain(tf.function(f)(n)) == plain(f(n))


def test_a_gradient_goes_through():
    @tf.function
    def f(xs):
        with tf.GradientTape() as tape:
            tape.watch(xs)
            h = None
            for x in xs:
                h = x * x if h is None else h * x
            y = h * 2.0
        return tape.gradient(y, xs)

    np.testing.assert_allclose(f(tf.constant([2.0, 3.0, 4.0])), [96.0, 32.0, 24.0])
    np.testing.assert_allclose(f(tf.constant([2.0])), [8.0])


class Stopper:
    def __init__(self):
        self.best = self.stopped = None
        self.log = {"last": None}

    def run(self, losses):
        for i in tf.range(tf.size(losses)):
            if self.best is None or losses[i] < self.best:
                self.best = losses[i]
            else:
                self.stopped = i
                self.log["last"] = losses[i]
                break
        return i


def test_what_a_loop_leaves_in_attributes_and_items():
    mine, other = Stopper(), Stopper()
    traced = tf.function(mine.run)
    for losses in ([3.0, 2.0, 4.0], [1.5, 1.0, 0.5], [9.0]):
        assert plain(traced(tf.constant(losses))) == plain(other.run(tf.constant(losses)))
        assert plain(vars(mine)) == plain(vars(other))
        mine.stopped = other.stopped = None


def test_what_a_branch_leaves_in_attributes_and_items():
    holder, table = Stopper(), {"low": tf.constant(0.0)}
    holder.best = tf.constant(1.0)

    @tf.function
    def f(x):
        if x > 0:
            holder.best = None
            table["low"] = x
        else:
            holder.best = x
            table["low"] = None

    for value in (1.0, -3.0, 2.0, -4.0):
        f(tf.constant(value))
        left = [None, value] if value > 0 else [value, None]
        assert plain([holder.best, table["low"]]) == left


@dataclasses.dataclass
class Average:
    value: object = None

    def add(self, x):
        if self.value is None:
            self.value = x
        else:
            self.value = 0.5 * self.value + 0.5 * x


def test_an_object_that_begins_with_none():
    def f(xs):
        average = Average()
        for x in xs:
            average.add(x)
        return average.value

    check(f, ([1.0, 2.0, 4.0],), ([3.0],), (NOTHING,))


def test_using_none_stops_the_program():
    @tf.function
    def f(xs):
        best = None
        for x in xs:
            best = x
        return best + 1

    assert float(f(tf.constant([1.0, 2.0]))) == 3.0
    with pytest.raises(tf.errors.InvalidArgumentError, match="`best` has no value where") as said:
        f(tf.constant(NOTHING))
    assert "it is None: no iteration of the loop in line" in str(said.value)


def test_all_ways_to_ask_for_none():
    nothing = None

    def f(x):
        y = x if x != 0 else None
        asked = [
            y == None,
            y != None,
            y is nothing,
            y is not nothing,
            y in (None, 5.0),
            y not in [None],
            isinstance(y, tf.Tensor),
            isinstance(y, (type(None), str)),
        ]
        return [1 if each else 0 for each in asked]

    check(f, (1.0,), (0.0,), (5.0,))


def test_the_truth_of_what_may_be_none():
    def f(x):
        y = x if x < 2 else None
        z = y or tf.constant(7.0)
        w = 1.0
        if y:
            w = 2.0
        if not y and x > 0:
            w += 10.0
        return z, w

    check(f, (1.0,), (0.0,), (5.0,), (-3.0,))
