"""Each call of a traced function leaves behind what eager code leaves, whichever trace it ran."""

from __future__ import annotations

import gc
import types
import weakref

import pytest

import holdfast as tf
from holdfast._tracing import recorder as recording

TABLE: dict = {}
KEPT: list = []
LATEST = None


@pytest.fixture(autouse=True)
def empty():
    """Whatever a test leaves in the module, the next one finds nothing."""
    global LATEST
    LATEST = None
    KEPT.clear()
    TABLE.clear()


class Config:
    pass


def traces(function):
    return function.experimental_get_tracing_count()


def test_an_attribute_is_stored_by_each_call():
    config = Config()

    @tf.function
    def f(x):
        config.h = x * 2
        config.pair = (x, "name", 3, {"deep": [x + 1]})
        return x

    for value in (1.0, 5.0):
        f(tf.constant(value))
        assert float(config.h) == value * 2
        assert config.pair[1:3] == ("name", 3)
        assert float(config.pair[3]["deep"][0]) == value + 1
    assert traces(f) == 1


def test_globals_cells_and_items_are_stored_by_each_call():
    cell = None
    table = {}

    @tf.function
    def f(x):
        global LATEST
        nonlocal cell
        LATEST = x + 1
        cell = x + 2
        table["a"] = x + 3
        table["a"] += x
        setattr(table_holder, "t", x + 4)  # noqa: B010 (this way, too)
        return x

    table_holder = types.SimpleNamespace()
    for value in (1.0, 5.0):
        f(tf.constant(value))
        found = [float(v) for v in (LATEST, cell, table["a"], table_holder.t)]
        assert found == [value + 1, value + 2, 2 * value + 3, value + 4]


def test_lists_grow_by_each_call():
    values, others = [], []

    @tf.function
    def f(x):
        KEPT.append(x * 2)
        values.extend([x, x + 1])
        others.insert(0, ("name", x))
        return x

    for value in (1.0, 2.0, 3.0):
        f(tf.constant(value))
    assert [float(v) for v in KEPT] == [2.0, 4.0, 6.0]
    assert [float(v) for v in values] == [1.0, 2.0, 2.0, 3.0, 3.0, 4.0]
    assert [(n, float(v)) for n, v in others] == [("name", 3.0), ("name", 2.0), ("name", 1.0)]
    assert traces(f) == 1


def test_plus_equals_grows_a_list():
    config = Config()
    config.values = []

    @tf.function
    def f(x):
        config.values += [x]
        alias = KEPT
        alias += [x * 10]
        return x

    for value in (1.0, 2.0):
        f(tf.constant(value))
    assert [float(v) for v in config.values] == [1.0, 2.0]
    assert [float(v) for v in KEPT] == [10.0, 20.0]


def test_a_list_that_is_cleared_first():
    @tf.function
    def f(x):
        KEPT.clear()
        KEPT.append(x)
        KEPT.append(x + 1)
        KEPT.pop()
        return KEPT[0] * 2

    for value in (1.0, 2.0, 3.0):
        assert float(f(tf.constant(value))) == value * 2
        assert [float(v) for v in KEPT] == [value]


def test_a_list_that_is_made_anew():
    config = Config()

    @tf.function
    def f(x):
        config.values = []
        config.values.append(x)
        config.values.append(x + 1)
        return x

    for value in (1.0, 2.0):
        f(tf.constant(value))
        assert [float(v) for v in config.values] == [value, value + 1]


def test_update_and_setdefault():
    table = {}

    @tf.function
    def f(x):
        table.update({"a": x}, b=x + 1)
        table.setdefault("c", x + 2)
        return x

    for value in (1.0, 2.0):
        f(tf.constant(value))
        assert (float(table["a"]), float(table["b"])) == (value, value + 1)
    assert float(table["c"]) == 3.0


def test_a_list_that_is_local_is_left_alone():
    def f(x):
        values = []
        values.append(x)
        return values[0]

    with recording.Recorder() as recorder:
        tf.autograph.convert(f)(1)
        assert recorder.stores == []


def test_state_that_each_call_reads_and_stores():
    config = Config()
    config.state = tf.constant(0.0)

    @tf.function
    def f(x):
        config.state = config.state + x
        return config.state

    assert [float(f(tf.constant(1.0))) for _ in range(3)] == [1.0, 2.0, 3.0]
    assert float(config.state) == 3.0
    assert traces(f) == 1


def test_a_store_in_a_branch_keeps_the_old_value_on_the_other_side():
    config = Config()
    config.h = tf.constant(-1.0)

    @tf.function
    def f(x):
        if x > 1:
            config.h = x * 2
        return config.h + 1

    results = [(float(f(tf.constant(v))), float(config.h)) for v in (0.5, 2.0, 0.5, 3.0)]
    assert results == [(0.0, -1.0), (5.0, 4.0), (5.0, 4.0), (7.0, 6.0)]


def test_a_store_in_a_branch_where_nothing_was():
    config = Config()

    @tf.function
    def f(x):
        if x > 1:
            config.h = x * 2
            config.mode = "hot"
            KEPT.append(x)
        else:
            config.mode = "cold"
        return x

    f(tf.constant(0.5))
    assert not hasattr(config, "h") and config.mode == "cold" and KEPT == []
    f(tf.constant(2.0))
    f(tf.constant(0.5))
    assert (float(config.h), config.mode) == (4.0, "cold")
    f(tf.constant(3.0))
    assert (float(config.h), config.mode) == (6.0, "hot")
    assert [float(v) for v in KEPT] == [2.0, 3.0]
    assert traces(f) == 1


def test_a_store_in_nested_branches():
    config = Config()

    @tf.function
    def f(x):
        if x > 0:
            if x > 2:
                config.h = x
            else:
                KEPT.append(x)
        else:
            config.h = -x
        return x

    seen = []
    for value in (1.0, 3.0, 1.5, -2.0):
        f(tf.constant(value))
        seen.append(float(getattr(config, "h", 0.0)))
    assert seen == [0.0, 3.0, 3.0, 2.0]
    assert [float(v) for v in KEPT] == [1.0, 1.5]


def test_a_python_value_that_only_one_side_stored_is_not_read():
    config = Config()
    config.mode = "cold"

    @tf.function
    def f(x):
        if x > 1:
            config.mode = "hot"
        return x if config.mode == "hot" else -x

    with pytest.raises(tf.errors.DiagnosticError) as caught:
        f(tf.constant(2.0))
    assert caught.value.code == "E0104"
    assert config.mode == "cold"


def test_stores_in_a_loop():
    config = Config()
    config.total = tf.constant(10.0)

    @tf.function
    def f(n):
        for i in tf.range(n):
            config.total = config.total + tf.cast(i, tf.float32)
            config.last = i
            TABLE["count"] = i
        return config.total

    assert float(f(tf.constant(4))) == 16.0
    assert (float(config.total), int(config.last), int(TABLE["count"])) == (16.0, 3, 3)
    assert float(f(tf.constant(0))) == 16.0
    assert (float(config.total), int(config.last)) == (16.0, 3)
    assert traces(f) == 1


def test_a_store_through_a_method_in_a_loop():
    class Meter:
        def __init__(self):
            self.sum = tf.constant(0.0)

        def update(self, x):
            self.sum = self.sum + x

    meter = Meter()

    @tf.function
    def f(xs):
        for x in xs:
            if x > 1:
                meter.update(x)
        return meter.sum

    assert float(f(tf.constant([1.0, 2.0, 3.0]))) == 5.0
    assert float(f(tf.constant([1.0, 2.0, 4.0]))) == 11.0
    assert float(meter.sum) == 11.0


def test_a_list_from_outside_grows_in_a_staged_loop():
    config = Config()
    config.values = [tf.constant(0.0)]

    @tf.function
    def f(n):
        for i in tf.range(n):
            config.values.append(tf.cast(i, tf.float32))
        return len(config.values), config.values[-1]

    assert [int(f(tf.constant(3))[0])] == [4]
    assert [float(v) for v in config.values] == [0.0, 0.0, 1.0, 2.0]
    count, last = f(tf.constant(2))
    assert (int(count), float(last)) == (6, 1.0)
    assert [float(v) for v in config.values] == [0.0, 0.0, 1.0, 2.0, 0.0, 1.0]


def test_a_call_that_fails_leaves_nothing_behind():
    config = Config()
    config.h = "before"

    @tf.function
    def f(x):
        config.h = x
        KEPT.append(x)
        config.new = x
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        f(tf.constant(1.0))
    assert config.h == "before" and KEPT == [] and not hasattr(config, "new")


def test_stores_hold_their_holders_weakly():
    class Holder:
        pass

    @tf.function
    def f(x, holder):
        holder().h = x
        return x

    holder = Holder()
    f(tf.constant(1.0), weakref.ref(holder))
    gone = weakref.ref(holder)
    del holder
    gc.collect()
    assert gone() is None


def test_unconverted_code_can_note_its_stores():
    class Noting:
        def __setattr__(self, name, value):
            recording.note_attribute_store(self, name, value)
            object.__setattr__(self, name, value)

    thing = Noting()

    @tf.autograph.experimental.do_not_convert
    def plain(x):
        thing.h = x * 2

    @tf.function
    def f(x):
        plain(x)
        return x

    for value in (1.0, 4.0):
        f(tf.constant(value))
        assert float(thing.h) == value * 2


@pytest.mark.parametrize("result", ["tensor", "dict", "nothing"])
def test_later_calls_with_stores_need_no_look_at_the_arguments(monkeypatch, result):
    box = types.SimpleNamespace(items={})

    @tf.function
    def f(x):
        box.last = x * 2.0
        box.items["last"] = x * 3.0
        return {"tensor": x, "dict": {"x": x, "n": 1}, "nothing": None}[result]

    f(tf.constant(1.0))
    slow = []
    monkeypatch.setattr(type(f), "_slow_call", lambda self, *args, **kwargs: slow.append(args))
    given = f(tf.constant(5.0))
    assert not slow
    assert box.last.numpy() == 10.0
    assert box.items["last"].numpy() == 15.0
    if result == "dict":
        assert given["x"].numpy() == 5.0
        assert given["n"] == 1
    else:
        assert given is None or given.numpy() == 5.0


class Settings(dict):
    """A dict with attributes, as configurations often are."""


@pytest.mark.parametrize("make", [types.SimpleNamespace, Settings, ValueError])
def test_objects_of_types_written_in_c_have_attributes_too(make):
    box = make()
    box.scale, box.seen = tf.constant(2.0), {}

    @tf.function
    def f(x):
        box.seen["last"] = x * box.scale
        return x

    f(tf.constant(1.0))
    box.scale = tf.constant(3.0)
    f(tf.constant(5.0))
    assert box.seen["last"].numpy() == 15.0


def test_a_tensor_that_moves_from_place_to_place_is_that_of_each_call():
    pair = types.SimpleNamespace(old=tf.constant(0.0), new=tf.constant(1.0), log=[])

    @tf.function
    def f(x):
        pair.old, pair.new = pair.new, pair.old + x
        pair.log.append(pair.old)
        return pair.old

    returned = [f(tf.constant(v)).numpy() for v in (1.0, 5.0, 3.0)]
    assert returned == [1.0, 1.0, 6.0]
    assert (pair.old.numpy(), pair.new.numpy()) == (6.0, 4.0)
    assert [t.numpy() for t in pair.log] == [1.0, 1.0, 6.0]
