"""`match` over a tensor decides as `if` does; orders and indices ask the graph."""

import enum

import pytest

import holdfast as tf


def same(f, *calls):
    traced = tf.function(f)
    for call in calls:
        arguments = [tf.constant(each) for each in call]
        assert float(traced(*arguments)) == float(f(*arguments))


def test_values_alternatives_names_and_guards():
    def f(x):
        match x:
            case 1:
                return x * 10
            case 2 | 3:
                y = x * 20
            case 4 if x > 5:
                y = x
            case n if n > 10:
                y = n - 10
            case 7 as seven:
                return seven + 100
            case _:
                y = -x
        return y

    same(f, (1,), (2,), (3,), (4,), (40,), (7,), (8,))


def test_a_subject_is_computed_once():
    log = []

    def f(x):
        def asked():
            log.append(x)
            return x * 2

        match asked():
            case 2:
                return x
            case 4:
                return x + 1
        return x + 2

    same(f, (1,), (2,), (3,))
    assert len(log) == 6


def test_a_match_in_a_loop_that_is_left():
    def f(xs):
        total = 0
        for x in xs:
            match x:
                case 0:
                    break
                case 1:
                    continue
                case other:
                    total += other
        return total

    same(f, ([2, 1, 3],), ([2, 0, 3],))


class Mode(enum.Enum):
    ADD = 1
    TAKE = 2


@pytest.mark.parametrize("mode", [Mode.ADD, Mode.TAKE, None, True, "add", ("scale", 3), {"by": 4}])
def test_subjects_of_python_decide_while_tracing(mode):
    def f(x):
        match mode:
            case Mode.ADD | "add":
                y = x + 1
            case Mode.TAKE:
                y = x - 1
            case None:
                y = x
            case True:
                y = x * 5
            case ("scale", by) | {"by": by}:
                y = x * by
        return y

    same(f, (1.0,), (-1.0,))


def test_the_extreme_by_a_key():
    def f(xs, middle):
        rows = [x * 2 for x in xs]
        near = min(rows, key=lambda row: (row - middle) ** 2)
        far = max(*rows, key=lambda row: tf.abs(row - middle))
        pairs = list(enumerate(rows))
        _, value = min(pairs, key=lambda pair: -pair[1])
        return near * 10000 + far * 100 + value

    same(f, ([3, 1, 2], 3), ([1, 5, 2], 9), ([1, 1, 1], 0))


def test_the_first_of_several_with_the_same_key():
    def f(a, b):
        first = min([a, b], key=lambda x: x * 0)
        last = max((a, b), key=lambda x: x * 0)
        return first * 10 + last

    same(f, (1, 2), (2, 1))


@pytest.mark.parametrize("reverse", [False, True])
def test_sorted_lists_of_tensors(reverse):
    def f(xs, middle):
        values = [x * 2 for x in xs]
        plain = sorted(values, reverse=reverse)
        near = sorted(values, key=lambda v: tf.abs(v - middle), reverse=reverse)
        pairs = sorted(enumerate(values), key=lambda pair: pair[1], reverse=reverse)
        rows = sorted([xs, xs + 5], key=lambda row: -row[0])
        total = 0
        for i, (a, b, (place, c)) in enumerate(zip(plain, near, pairs, strict=True)):
            total = total * 7 + a + 3 * b + 5 * place + c * i
        return total + rows[0][1] * 2 + rows[1][2]

    same(f, ([3, 1, 2], 3), ([1, 5, 2], 9), ([4, 4, 4], 0), ([2, 1, 2], 1))


def test_lists_are_sorted_where_they_are():
    kept = []

    def f(xs):
        values = [x * 2 for x in xs]
        values.sort()
        other = values
        if xs[0] > 1:
            values.sort(key=lambda v: -v)
        kept.sort(key=lambda v: (v - 3) ** 2)
        return values[0] * 10 + other[1] + kept[0]

    kept.extend([tf.constant(1), tf.constant(4), tf.constant(2)])
    same(f, ([3, 1, 2],), ([1, 5, 2],))
    assert [int(each) for each in kept] == [4, 2, 1]


def test_what_has_no_order_in_a_graph_is_refused():
    @tf.function
    def f(x):
        return sorted([x, x * 2.0], key=lambda v: (v, 1))[0]

    with pytest.raises(TypeError, match="E0201"):
        f(tf.constant(1.0))


def test_a_list_is_indexed_by_the_graph():
    rates = [0.1, 0.01, 0.5]

    def f(xs, i):
        values = [xs[0], xs[1] * 2, xs[2]]
        total = values[i] + rates[i] + (7.0, 8.0, 9.0)[i]
        for j in tf.range(3):
            total += values[-j] * rates[j]
        return total

    same(
        f, ([1.0, 2.0, 3.0], 0), ([1.0, 2.0, 3.0], 2), ([4.0, 2.0, 1.0], -1), ([1.0, 2.0, 3.0], -3)
    )
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.function(f)(tf.constant([1.0, 2.0, 3.0]), tf.constant(3))
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.function(f)(tf.constant([1.0, 2.0, 3.0]), tf.constant(-4))
