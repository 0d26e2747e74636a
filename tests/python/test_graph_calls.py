"""A function called in a graph does what it does when called at once: values, effects, checks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import holdfast as tf

v1 = tf.compat.v1

Body = Callable[[Any, list[float], Any], Any]  # of a variable, what Python saw, an argument


def _assigns(v: Any, seen: list[float], x: Any) -> Any:
    v.assign_add(x)
    return x * 2.0


def _gives_its_argument(v: Any, seen: list[float], x: Any) -> Any:
    v.assign(x)
    return x


def _gives_a_number(v: Any, seen: list[float], x: Any) -> Any:
    v.assign_sub(x)
    return 3.0


def _reads_around(v: Any, seen: list[float], x: Any) -> Any:
    before = v.read_value()
    v.assign_add(x)
    between = v.read_value()
    v.assign(between * 2.0)
    return {"before": before, "after": [v.read_value(), between]}


def _calls_python(v: Any, seen: list[float], x: Any) -> Any:
    def note(value: Any) -> None:
        seen.append(float(value))

    tf.py_function(note, [x], [])
    v.assign_add(x)
    tf.py_function(note, [v], [])
    return x + 1.0


def _calls_numpy(v: Any, seen: list[float], x: Any) -> Any:
    def note(value: Any) -> Any:
        seen.append(float(value))
        return value

    tf.numpy_function(note, [x], tf.float32)
    return x


def _branches(v: Any, seen: list[float], x: Any) -> Any:
    if x > 1.0:
        v.assign_add(x)
    else:
        v.assign_sub(x)
    return x


def _loops(v: Any, seen: list[float], x: Any) -> Any:
    for i in tf.range(3):
        v.assign_add(tf.cast(i, tf.float32) * x)
    return x


def _cond(v: Any, seen: list[float], x: Any) -> Any:
    tf.cond(x > 1.0, lambda: v.assign(x), lambda: v.assign(-x))
    return x + 1.0


def _while_loop(v: Any, seen: list[float], x: Any) -> Any:
    def body(i: Any) -> Any:
        v.assign_add(x)
        return [i + 1]

    tf.while_loop(lambda i: i < 4, body, [0])
    return x


def _switches(v: Any, seen: list[float], x: Any) -> Any:
    sides = [lambda k=k: v.assign_add(10.0**k) for k in range(4)]
    return tf.switch_case(tf.cast(x, tf.int32), sides)


def _calls_functions(v: Any, seen: list[float], x: Any) -> Any:
    @tf.function
    def inner(y: Any) -> Any:
        v.assign_add(y)
        return y * 3.0

    @tf.function
    def middle(y: Any) -> Any:
        inner(y)  # what it gives is not used
        return y

    return middle(x) + middle(x + 1.0)


def _maps(v: Any, seen: list[float], x: Any) -> Any:
    def row(y: Any) -> Any:
        v.assign_add(y)
        return y * x

    return tf.map_fn(row, tf.constant([1.0, 2.0]))


def _gives_slices(v: Any, seen: list[float], x: Any) -> Any:
    v.assign_add(x)
    return tf.IndexedSlices(tf.reshape(x, [1]), tf.constant([0]))


def _waits(v: Any, seen: list[float], x: Any) -> Any:
    with tf.control_dependencies([v.assign_add(x)]):
        return tf.identity(x)


def _takes_a_gradient(v: Any, seen: list[float], x: Any) -> Any:
    with tf.GradientTape() as tape:
        y = v * v * x
    v.assign_sub(tape.gradient(y, v))
    return y


BODIES = [value for name, value in sorted(globals().items()) if name.startswith("_")]
BODIES = [each for each in BODIES if getattr(each, "__module__", "") == __name__]


def _flat(result: Any) -> list[Any]:
    parts = tf.nest.flatten(result)
    out: list[Any] = []
    for part in parts:
        slices = hasattr(part, "indices") and hasattr(part, "values")
        out += [part.values, part.indices] if slices else [part]
    return out


def _at_once(body: Body, x: float) -> tuple[list[Any], float, list[float]]:
    v, seen = tf.Variable(5.0), list[float]()
    result = body(v, seen, tf.constant(x))
    return [np.asarray(part) for part in _flat(result)], float(v), seen


def _in_graph(body: Body, x: float, how: str) -> tuple[list[Any], float, list[float]]:
    seen: list[float] = []
    with tf.Graph().as_default(), v1.Session() as session:
        v = tf.Variable(5.0)
        given = v1.placeholder(tf.float32, [])
        function = tf.function(lambda y: body(v, seen, y))
        if how == "called in a function":
            inner = function
            function = tf.function(lambda y: inner(y))
        result = function(given)
        if how == "called in a branch":
            result = tf.cond(given > -1.0, lambda: function(given), lambda: function(given * 2.0))
        session.run(v1.global_variables_initializer())
        found = session.run(_flat(result), {given: x})
        return found, float(session.run(v)), seen


@pytest.mark.parametrize("how", ["called", "called in a function", "called in a branch"])
@pytest.mark.parametrize("body", BODIES, ids=lambda body: body.__name__[1:])
def test_a_call_in_a_graph_does_all_that_it_does_at_once(body: Body, how: str) -> None:
    if how == "called in a branch" and body is _gives_slices:
        pytest.skip("a branch gives tensors")
    for x in (1.0, 2.0):
        values, state, seen = _at_once(body, x)
        found = _in_graph(body, x, how)
        for mine, theirs in zip(found[0], values, strict=True):
            np.testing.assert_allclose(mine, theirs)
        assert found[1] == state
        assert found[2] == seen


@pytest.mark.parametrize("fetched", [0, 1])
def test_any_result_that_is_fetched_brings_all_effects(fetched: int) -> None:
    with tf.Graph().as_default(), v1.Session() as session:
        v, w = tf.Variable(1.0), tf.Variable(1.0)

        @tf.function
        def both() -> Any:
            v.assign_add(1.0)
            w.assign_add(2.0)
            return tf.constant(1.0), tf.constant(2.0)

        results = both()
        unused = both()
        session.run(v1.global_variables_initializer())
        session.run(results[fetched])
        assert session.run([v, w]) == [2.0, 3.0]
        assert unused is not None


def test_calls_that_are_not_fetched_do_nothing() -> None:
    with tf.Graph().as_default(), v1.Session() as session:
        v = tf.Variable(1.0)

        @tf.function
        def add(x: Any) -> Any:
            v.assign_add(x)
            return x

        first, second = add(tf.constant(1.0)), add(tf.constant(10.0))
        session.run(v1.global_variables_initializer())
        session.run(second)
        assert session.run(v) == 11.0
        session.run([first, second])
        assert session.run(v) == 22.0


def test_a_call_without_a_result_is_an_operation_of_its_name() -> None:
    with tf.Graph().as_default() as graph, v1.Session() as session:
        v = tf.Variable(1.0)

        @tf.function
        def nothing() -> None:
            v.assign_add(1.0)

        assert nothing() is None
        session.run(v1.global_variables_initializer())
        session.run(graph.get_operation_by_name("nothing"))
        assert session.run(v) == 2.0


def test_a_check_inside_a_called_function_runs_with_its_result() -> None:
    with tf.Graph().as_default(), v1.Session() as session:
        x = v1.placeholder(tf.float32, [])

        @tf.function
        def positive(y: Any) -> Any:
            tf.debugging.assert_positive(y)
            return y

        y = positive(x)
        assert session.run(y, {x: 1.0}) == 1.0
        with pytest.raises(tf.errors.InvalidArgumentError):
            session.run(y, {x: -1.0})


def test_a_concrete_function_brings_its_effects_along() -> None:
    v = tf.Variable(1.0)
    assert v is not None
    with tf.Graph().as_default(), v1.Session() as session:
        inside = tf.Variable(1.0)

        @tf.function(input_signature=[tf.TensorSpec([], tf.float32)])
        def add(x: Any) -> Any:
            inside.assign_add(x)
            return x

        y = add(v1.placeholder_with_default(2.0, []))
        session.run(v1.global_variables_initializer())
        assert session.run(y) == 2.0
        assert session.run(inside) == 3.0


def test_initial_values_of_variables_are_no_effect_of_a_call() -> None:
    with tf.Graph().as_default(), v1.Session() as session:
        held: list[Any] = []

        @tf.function
        def count() -> Any:
            if not held:
                held.append(tf.Variable(1.0))
            return held[0].assign_add(1.0)

        y = count()
        session.run(v1.global_variables_initializer())
        assert [float(session.run(y)) for _ in range(3)] == [2.0, 3.0, 4.0]


# What runs before what, from inside a branch or a body.


def _inside(where: str, given: Any, make: Callable[[], Any]) -> Any:
    if where == "branch":
        return tf.cond(given, make, lambda: tf.constant(0.0))
    if where == "other branch":
        return tf.cond(tf.logical_not(given), lambda: tf.constant(0.0), make)
    if where == "loop":
        return tf.while_loop(lambda i, y: i < 2, lambda i, y: (i + 1, make()), [0, 0.0])[1]
    if where == "branch in a branch":
        return _inside("branch", given, lambda: _inside("branch", given, make))
    if where == "branch in a loop":
        return _inside("loop", given, lambda: _inside("branch", given, make))
    if where == "map":
        return tf.map_fn(lambda _: make(), tf.constant([1.0, 2.0]))
    assert where == "case"
    return tf.case([(given, make)], default=lambda: tf.constant(0.0))


WHERE = [
    *("branch", "other branch", "loop", "branch in a branch", "branch in a loop", "map", "case"),
]


@pytest.mark.parametrize("kind", ["operation", "tensor"])
@pytest.mark.parametrize("where", WHERE)
def test_what_is_waited_for_inside_runs_though_it_is_outside(where: str, kind: str) -> None:
    with tf.Graph().as_default(), v1.Session() as session:
        v = v1.get_variable("v", initializer=1.0)
        given = v1.placeholder(tf.bool, [])
        assigned = v1.assign_add(v, 1.0)
        first = assigned.op if kind == "operation" else assigned

        def make() -> Any:
            with tf.control_dependencies([first]):
                return tf.constant(3.0) * 2.0

        y = _inside(where, given, make)
        session.run(v1.global_variables_initializer())
        np.testing.assert_array_equal(session.run(y, {given: True}), np.full(y.shape, 6.0))
        assert session.run(v) == 2.0


# Checks whose answer is known late.

LATE = [
    (lambda x: tf.debugging.assert_rank(x, 1), [1.0], 1.0),
    (lambda x: tf.debugging.assert_rank_at_least(x, 1), [1.0], 1.0),
    (lambda x: tf.debugging.assert_rank_in(x, [1, 2]), [1.0], 1.0),
    (lambda x: tf.debugging.assert_shapes([(x, ("N", "N"))]), [[1.0]], [[1.0, 2.0]]),
    (lambda x: tf.debugging.assert_shapes([(x, (..., 2))]), [1.0, 2.0], [1.0]),
    (lambda x: tf.debugging.assert_scalar(x), 1.0, [1.0]),
    (lambda x: tf.debugging.assert_positive(x), 1.0, -1.0),
    (lambda x: tf.debugging.assert_equal(x, 1.0), 1.0, 2.0),
    (lambda x: tf.debugging.assert_near(x, 1.0), 1.0, 2.0),
    (lambda x: tf.debugging.Assert(tf.reduce_all(x > 0.0), [x]), 1.0, -1.0),
    (lambda x: tf.debugging.check_numerics(x, "late"), 1.0, np.nan),
    (lambda x: tf.debugging.assert_all_finite(x, "late"), 1.0, np.inf),
    (lambda x: v1.assert_rank(x, 1, message="late"), [1.0], 1.0),
    (lambda x: v1.assert_rank_at_least(x, 1, message="late"), [1.0], 1.0),
    (lambda x: v1.assert_rank_in(x, [1], message="late"), [1.0], 1.0),
    (lambda x: v1.assert_shapes([(x, ("N",))], message="late"), [1.0], [[1.0]]),
]


@pytest.mark.parametrize("how", ["waited for", "in a function", "in a branch"])
@pytest.mark.parametrize(("check", "good", "bad"), LATE)
def test_a_check_of_what_is_known_late_is_made_late(
    check: Any, good: Any, bad: Any, how: str
) -> None:
    with tf.Graph().as_default(), v1.Session() as session:
        x = v1.placeholder(tf.float32)

        def checked() -> Any:
            with tf.control_dependencies([check(x)]):
                return tf.identity(x)

        if how == "in a function":
            y = tf.function(checked)()
        elif how == "in a branch":
            y = tf.cond(tf.size(x) > 0, checked, lambda: x)
        else:
            y = checked()
        np.testing.assert_array_equal(session.run(y, {x: good}), good)
        with pytest.raises((tf.errors.InvalidArgumentError, ValueError)):
            session.run(y, {x: bad})


@pytest.mark.parametrize("exclusive", [False, True])
def test_a_case_checks_its_predicates_when_they_are_known(exclusive: bool) -> None:
    with tf.Graph().as_default(), v1.Session() as session:
        x = v1.placeholder(tf.int32, [])
        pairs = [(x < 2, lambda: 1), (x < 3, lambda: 2)]
        with_default = tf.case(pairs, default=lambda: 3, exclusive=exclusive)
        without = tf.case(pairs, exclusive=exclusive)
        assert session.run([with_default, without], {x: 2}) == [2, 2]
        assert session.run(with_default, {x: 7}) == 3
        with pytest.raises(tf.errors.InvalidArgumentError):
            session.run(without, {x: 7})
        if exclusive:
            with pytest.raises(tf.errors.InvalidArgumentError):
                session.run(with_default, {x: 1})
        else:
            assert session.run([with_default, without], {x: 1}) == [1, 1]


@pytest.mark.parametrize("default", [False, True])
def test_a_switch_on_a_number_that_is_fed_takes_its_branch(default: bool) -> None:
    with tf.Graph().as_default(), v1.Session() as session:
        i, x = v1.placeholder(tf.int32, []), tf.constant(3.0)
        sides = {0: lambda: x, 1: lambda: x * x, 2: lambda: x * x * x}
        y = tf.switch_case(i, sides, default=(lambda: -x) if default else None)
        (slope,) = tf.gradients(y, x)
        last = (-3.0, -1.0) if default else (27.0, 27.0)
        wanted = {-1: last, 0: (3.0, 1.0), 1: (9.0, 6.0), 2: (27.0, 27.0), 3: last}
        for number, pair in wanted.items():
            assert tuple(session.run([y, slope], {i: number})) == pair


@pytest.mark.parametrize("call", [tf.py_function, tf.numpy_function, v1.py_func])
def test_python_code_that_gives_nothing_is_an_operation_to_run(call: Any) -> None:
    seen: list[float] = []
    with tf.Graph().as_default(), v1.Session() as session:
        x = v1.placeholder(tf.float32, [])
        noted = call(lambda value: seen.append(float(value)), [x], [])
        assert session.run(noted, {x: 2.0}) is None
        with tf.control_dependencies([noted]):
            y = x + 1.0
        assert session.run(y, {x: 3.0}) == 4.0
    assert seen == [2.0, 3.0]


@pytest.mark.parametrize("where", ["branch", "loop", "map", "fold"])
def test_a_variable_made_by_name_in_a_body_belongs_to_the_graph_around(where: str) -> None:
    with tf.Graph().as_default() as graph, v1.Session() as session:

        def doubled(x: Any) -> Any:
            with v1.variable_scope("body"):
                two = v1.get_variable("two", [], initializer=v1.constant_initializer(2.0))
                return x * two

        p, x = v1.placeholder(tf.bool, []), tf.constant([1.0, 2.0])
        if where == "branch":
            y = tf.cond(p, lambda: doubled(x), lambda: x)
        elif where == "loop":
            y = tf.while_loop(lambda i, x: i < 1, lambda i, x: (i + 1, doubled(x)), [0, x])[1]
        elif where == "map":
            y = tf.map_fn(doubled, x)
        else:
            y = tf.stack([tf.foldl(lambda a, b: doubled(a + b), x) - 4.0, 4.0])
        (two,) = graph.get_collection("variables")
        assert two.name == "body/two:0"
        session.run(v1.global_variables_initializer())
        np.testing.assert_array_equal(session.run(y, {p: True}), [2.0, 4.0])


def test_operations_that_branches_give_run_with_the_side_that_is_taken() -> None:
    with tf.Graph().as_default(), v1.Session() as session:
        v = v1.get_variable("v", initializer=1.0)
        p = v1.placeholder(tf.bool, [])
        done = tf.cond(p, lambda: tf.group(v1.assign_add(v, 5.0)), lambda: tf.no_op())
        session.run(v1.global_variables_initializer())
        session.run(done, {p: False})
        assert session.run(v) == 1.0
        session.run(done, {p: True})
        assert session.run(v) == 6.0


@pytest.mark.parametrize("check", ["assert_equal", "assert_less", "assert_greater"])
def test_a_check_of_constants_is_made_while_the_graph_is_written(check: str) -> None:
    with tf.Graph().as_default(), v1.Session() as session:
        ask = getattr(tf.debugging, check)
        good = {"assert_equal": (1, 1), "assert_less": (1, 2), "assert_greater": (2, 1)}[check]
        bad = {"assert_equal": (1, 2), "assert_less": (2, 1), "assert_greater": (1, 2)}[check]
        session.run(ask(*good))
        with pytest.raises(tf.errors.InvalidArgumentError, match="said so"):
            ask(*map(tf.constant, bad), message="said so")
        x = v1.placeholder(tf.int32, [])
        late = ask(x, bad[1])
        with pytest.raises(tf.errors.InvalidArgumentError):
            session.run(late, {x: bad[0]})


def test_a_single_value_has_the_shape_of_a_scalar_or_of_a_row_of_one() -> None:
    one, scalar = tf.ones([1]), tf.constant(5.0)
    tf.debugging.assert_shapes([(one, ()), (scalar, ()), (one, (1,)), (scalar, (1,))])
    tf.debugging.assert_shapes([(scalar, ("N",)), (one, ("N",))])
    with pytest.raises(ValueError, match="E1106"):
        tf.debugging.assert_shapes([(tf.ones([2]), ())])


def test_one_row_stands_for_any_number_of_rows_of_a_map() -> None:
    x, y = tf.constant([[1.0], [2.0], [3.0]]), tf.constant([[10.0]])
    for run in (lambda f: f, tf.function):
        found = run(lambda a, b: tf.vectorized_map(lambda r: r[0] + r[1], (a, b)))(x, y)
        np.testing.assert_array_equal(found, [[11.0], [12.0], [13.0]])


# Functions that functions of ours call back.


def _signed(a):
    if a > 0.0:
        return a * 2.0
    return -a


def _halved(a):
    while a > 1.0:
        a = a / 2.0
    return a


CALLED_BACK = {
    "map_fn": (lambda x: tf.map_fn(_signed, x), [2, 2, 8]),
    "map_fn_of_a_loop": (lambda x: tf.map_fn(fn=_halved, elems=x), [1, -2, 1]),
    "foldl": (lambda x: tf.foldl(lambda s, a: s + _signed(a), x, 0.0), 12),
    "scan": (lambda x: tf.scan(lambda s, a: s + _signed(a), x, 0.0), [2, 4, 12]),
    "cond": (lambda x: tf.cond(x[0] > 0.0, lambda: _signed(x[1]), lambda: x[0]), 2),
    "case": (lambda x: tf.case([(x[0] > 5.0, lambda: x[0])], lambda: _signed(x[1])), 2),
    "switch": (lambda x: tf.switch_case(tf.size(x) - 3, [lambda: _signed(x[1])]), 2),
    "map": (lambda x: tf.stack(list(map(_signed, [x[0], x[1]]))), [2, 2]),
}


@pytest.mark.parametrize("name", CALLED_BACK)
def test_what_is_called_back_is_converted_in_a_graph_too(name):
    f, expected = CALLED_BACK[name]
    x = tf.constant([1.0, -2.0, 4.0])
    np.testing.assert_array_equal(tf.function(f)(x), expected)
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        found = session.run(tf.function(f)(tf.constant([1.0, -2.0, 4.0])))
    np.testing.assert_array_equal(found, expected)
