"""A trace serves as long as what it read is as it was, and tensors are read at each call."""

from __future__ import annotations

import gc
import random
import types
import weakref

import numpy as np
import pytest

import holdfast as tf
from holdfast._tracing import random_draws
from holdfast._tracing import recorder as recording

K = 4
TENSOR = tf.constant(2.0)
OTHER = TENSOR
PAIR = (1, 2.0)
STATE = (tf.constant(1.0), tf.constant(2.0))
NAMES = ["a", "b"]
TABLE = {"rate": 0.5, "deep": {"n": 1}}
ARRAY = np.ones(2, np.float32)
CALLS = 0


class Config:
    scale = 2.0

    def __init__(self):
        self.rate = 0.5
        self.layers = [1.0, 2.0]

    def apply(self, x):
        return x * self.scale * self.rate

    @property
    def double(self):
        return self.rate * 2


class Slotted:
    __slots__ = ("__weakref__", "value")


@pytest.fixture(autouse=True)
def same_globals():
    """Whatever a test does to the module, the next one finds it as it was written."""
    space = globals()
    before = {k: v for k, v in space.items() if k.isupper()}
    copies = {k: v.copy() for k, v in before.items() if isinstance(v, (list, dict))}
    deep = dict(TABLE["deep"])
    scale, apply = Config.scale, Config.apply
    yield
    space.update(before)
    for name, copy in copies.items():
        thing = space[name]
        thing.clear()
        thing.extend(copy) if isinstance(thing, list) else thing.update(copy)
    TABLE["deep"] = deep
    ARRAY[:] = 1
    Config.scale, Config.apply = scale, apply


def traces(function):
    return function.experimental_get_tracing_count()


def check(function, *changes, expect):
    """Calls `function(1.0)` before and after each change; (values, traces) must be as expected."""
    x = tf.constant(1.0)
    found = [(float(function(x)), traces(function))]
    found[0] = (float(function(x)), traces(function))
    for change in changes:
        change()
        found.append((float(function(x)), traces(function)))
    assert found == expect


def set_global(name, value):
    return lambda: globals().__setitem__(name, value)


# Guards.


def test_a_number_is_a_guard():
    check(
        tf.function(lambda x: x + K),
        set_global("K", 10),
        set_global("K", 4),
        set_global("K", 4.5),
        expect=[(5.0, 1), (11.0, 2), (5.0, 2), (5.5, 3)],
    )


def test_true_is_not_one():
    check(
        tf.function(lambda x: x + (1.0 if K is True else 2.0)),
        set_global("K", True),
        set_global("K", 1),
        expect=[(3.0, 1), (2.0, 2), (3.0, 3)],
    )


def test_a_tuple_is_compared_by_value_and_type():
    def f(x):
        return x * PAIR[0] + PAIR[1]

    check(
        tf.function(f),
        set_global("PAIR", (int("1"), 2.0)),  # equal, and another object
        set_global("PAIR", (2, 2.0)),
        expect=[(3.0, 1), (3.0, 1), (4.0, 2)],
    )


def test_a_tensor_is_read_at_each_call():
    check(
        tf.function(lambda x: x * TENSOR),
        set_global("TENSOR", tf.constant(3.0)),
        set_global("TENSOR", tf.constant(5.0)),
        expect=[(2.0, 1), (3.0, 1), (5.0, 1)],
    )


def test_a_tensor_of_another_kind_is_another_trace():
    def f(x):
        return tf.reduce_sum(x * tf.cast(TENSOR, tf.float32))

    check(
        tf.function(f),
        set_global("TENSOR", tf.constant([3.0, 1.0])),
        set_global("TENSOR", tf.constant(7)),
        set_global("TENSOR", 2.5),
        expect=[(2.0, 1), (4.0, 2), (7.0, 3), (2.5, 4)],
    )


def test_one_tensor_in_two_places_may_become_two():
    check(
        tf.function(lambda x: x * TENSOR - OTHER),
        set_global("TENSOR", tf.constant(3.0)),
        set_global("OTHER", tf.constant(4.0)),
        expect=[(0.0, 1), (1.0, 2), (-1.0, 2)],
    )


def test_tensors_in_a_tuple_are_read_at_each_call():
    def f(x):
        a, b = STATE
        return x * a + b

    traced, x = tf.function(f), tf.constant(1.0)
    assert float(traced(x)) == 3.0
    set_global("STATE", (tf.constant(5.0), tf.constant(7.0)))()
    assert float(traced(x)) == 12.0
    assert traces(traced) == 1


def test_attributes_of_objects_and_classes():
    config = Config()
    check(
        tf.function(lambda x: config.apply(x) + config.double),
        lambda: setattr(config, "rate", 1.0),
        lambda: setattr(Config, "scale", 3.0),
        lambda: setattr(config, "scale", 10.0),
        lambda: setattr(Config, "apply", lambda self, x: x),
        expect=[(2.0, 1), (4.0, 2), (5.0, 3), (12.0, 4), (3.0, 5)],
    )


def test_an_attribute_that_holds_a_tensor():
    config = Config()
    config.rate = tf.constant(0.5)
    check(
        tf.function(lambda x: config.apply(x)),
        lambda: setattr(config, "rate", tf.constant(4.0)),
        expect=[(1.0, 1), (8.0, 1)],
    )


def test_a_slot():
    thing = Slotted()
    thing.value = 2.0
    check(
        tf.function(lambda x: x * thing.value),
        lambda: setattr(thing, "value", 3.0),
        lambda: setattr(thing, "value", tf.constant(5.0)),
        lambda: setattr(thing, "value", tf.constant(6.0)),
        expect=[(2.0, 1), (3.0, 2), (5.0, 3), (6.0, 3)],
    )


def test_another_object_under_the_same_name():
    holder = types.SimpleNamespace(config=Config())
    other = Config()
    other.rate = 3.0
    check(
        tf.function(lambda x: holder.config.apply(x)),
        lambda: setattr(holder, "config", other),
        expect=[(1.0, 1), (6.0, 2)],
    )


def test_a_cell():
    n = 2.0

    def f(x):
        return x * n

    def change():
        nonlocal n
        n = 3.0

    check(tf.function(f), change, expect=[(2.0, 1), (3.0, 2)])


def test_a_function_that_is_defined_again():
    space = types.ModuleType("space")
    space.helper = lambda x: x + 1
    check(
        tf.function(lambda x: space.helper(x)),
        lambda: setattr(space, "helper", lambda x: x + 2),
        expect=[(2.0, 1), (3.0, 2)],
    )


def test_entries_of_a_dict_that_were_read():
    check(
        tf.function(lambda x: x * TABLE["rate"]),
        lambda: TABLE.__setitem__("other", 1),
        lambda: TABLE.__setitem__("rate", 2.0),
        lambda: TABLE["deep"].__setitem__("n", 5),
        expect=[(0.5, 1), (0.5, 1), (2.0, 2), (2.0, 2)],
    )


def test_entries_that_were_looked_for():
    def f(x):
        if "extra" in TABLE:
            return x * 100
        return x * TABLE.get("bonus", 1.0) * TABLE["deep"]["n"]

    check(
        tf.function(f),
        lambda: TABLE.__setitem__("unrelated", 1),
        lambda: TABLE.__setitem__("bonus", 3.0),
        lambda: TABLE["deep"].__setitem__("n", 2),
        lambda: TABLE.__setitem__("extra", 0),
        expect=[(1.0, 1), (1.0, 1), (3.0, 2), (6.0, 3), (100.0, 4)],
    )


def test_the_length_of_a_list_only_where_it_was_asked():
    check(
        tf.function(lambda x: x + (1.0 if NAMES[0] == "a" else 0.0)),
        lambda: NAMES.append("c"),
        lambda: NAMES.__setitem__(0, "z"),
        expect=[(2.0, 1), (2.0, 1), (1.0, 2)],
    )
    check(
        tf.function(lambda x: x * len(NAMES)),
        lambda: NAMES.append("d"),
        expect=[(3.0, 1), (4.0, 2)],
    )


def test_walking_through_a_list_asks_for_all_of_it():
    config = Config()

    def f(x):
        for factor in config.layers:
            x = x * factor
        return x

    check(
        tf.function(f),
        lambda: config.layers.append(5.0),
        lambda: config.layers.__setitem__(0, 2.0),
        expect=[(2.0, 1), (10.0, 2), (20.0, 3)],
    )


def test_a_list_of_tensors_given_to_an_op():
    values = [tf.constant(1.0), tf.constant(2.0)]
    check(
        tf.function(lambda x: x * tf.add_n(values)),
        lambda: values.__setitem__(0, tf.constant(5.0)),
        lambda: values.append(tf.constant(1.0)),
        expect=[(3.0, 1), (7.0, 1), (8.0, 2)],
    )


def test_an_alias_of_a_list_is_the_list():
    config = Config()

    def f(x):
        layers = config.layers
        return x * (layers + [1.0])[1]

    check(tf.function(f), lambda: config.layers.__setitem__(1, 9.0), expect=[(2.0, 1), (9.0, 2)])


def test_an_array_that_changes_where_it_is():
    check(
        tf.function(lambda x: x * tf.reduce_sum(ARRAY)),
        lambda: ARRAY.__setitem__(0, 5.0),
        expect=[(2.0, 1), (6.0, 2)],
    )


def test_what_the_trace_made_itself_is_no_guard():
    def f(x):
        config = Config()
        config.rate = 2.0
        table = {"n": 1.0}
        table["n"] += config.rate
        scale = 3.0

        def inner(y):
            return y * scale * table["n"]

        return config.apply(inner(x))

    traced = tf.function(f)
    for _ in range(3):
        assert float(traced(tf.constant(1.0))) == 36.0
        gc.collect()
    assert traces(traced) == 1


def test_names_of_builtins_and_installed_modules_are_no_guards():
    with recording.Recorder() as recorder:
        tf.autograph.convert(lambda x: np.sqrt(len([x])) + tf.constant(1.0))(1)
    assert [each.how for each in recorder.guards] == ["function"]  # of the lambda itself


def test_a_guard_tells_what_changed():
    with recording.Recorder() as recorder:
        tf.autograph.convert(lambda: K)()
    (guard,) = recorder.finished_guards()
    assert guard.location.describe() == "global `K`"
    assert (guard.was, guard.now(), guard.holds()) == (4, 4, True)
    set_global("K", 5)()
    assert (guard.was, guard.now(), guard.holds()) == (4, 5, False)
    assert recorder.finished_guards().check() is guard
    assert guard.at.loc()["line"] > 0


def test_guards_keep_nothing_alive():
    config, other = Config(), Config()
    other.config = config
    holder = weakref.ref(other)
    traced = tf.function(lambda x, holder=holder: holder().config.apply(x))
    assert float(traced(tf.constant(1.0))) == 1.0
    gone = weakref.ref(config), weakref.ref(other)
    del config, other
    gc.collect()
    assert gone[1]() is None


# Counters and flags.


def test_a_counter_that_nothing_reads_counts_traces():
    def f(x):
        global CALLS
        CALLS += 1
        return x

    traced = tf.function(f)
    for _ in range(4):
        traced(tf.constant(1.0))
    assert (CALLS, traces(traced)) == (1, 1)
    traced(tf.constant([1.0]))
    assert (CALLS, traces(traced)) == (2, 2)


def test_a_counter_that_is_read_is_a_guard():
    def f(x):
        global CALLS
        CALLS += 1
        return x * CALLS

    traced = tf.function(f)
    assert [float(traced(tf.constant(1.0))) for _ in range(3)] == [1.0, 2.0, 3.0]


def test_a_flag_that_a_trace_sets_is_seen_by_the_next_call():
    config = Config()
    config.built = False

    @tf.function
    def f(x):
        if not config.built:
            config.built = True
            return x * 0
        return x

    assert [float(f(tf.constant(1.0))) for _ in range(3)] == [0.0, 1.0, 1.0]
    assert traces(f) == 2


# Random numbers.


@pytest.mark.parametrize(
    "draw", [lambda: random.random(), lambda: np.random.rand()], ids=["python", "numpy"]
)
def test_a_random_number_drawn_while_tracing_warns(draw, capsys):
    with recording.Recorder(), random_draws.watch_random("noisy"):
        tf.autograph.convert(draw)()
    text = capsys.readouterr().err
    assert "W0604" in text and "noisy" in text and "tf.random" in text
    assert "test_locations.py" in text


def test_no_random_number_no_warning(capsys):
    with recording.Recorder(), random_draws.watch_random("quiet"):
        tf.autograph.convert(lambda: K)()
    assert capsys.readouterr().err == ""


def test_a_random_number_that_fills_a_variable_once_is_no_frozen_number(capsys):
    class Lazy:
        weights = None

    lazy = Lazy()

    @tf.function
    def f(x):
        if lazy.weights is None:
            lazy.weights = tf.Variable(np.random.rand(3), dtype=tf.float32)
        return x * lazy.weights

    np.testing.assert_array_equal(f(tf.constant(2.0)), 2 * lazy.weights.numpy())
    assert capsys.readouterr().err == ""


def test_a_random_number_in_a_variable_of_each_call_is_frozen(capsys):
    @tf.function
    def f(x):
        local = tf.Variable(np.random.rand(3), dtype=tf.float32)
        return x * local

    f(tf.constant(2.0))
    assert "W0604" in capsys.readouterr().err
