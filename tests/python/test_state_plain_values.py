"""Plain values, containers without tensors and objects that are stored are stored by every call."""

import enum
import gc
import weakref

import holdfast as tf


class Holder:
    pass


class Mode(enum.Enum):
    FAST = 1
    SLOW = 2


def test_each_call_stores_the_plain_values_of_its_own_trace():
    holder, table = Holder(), [0, 0]
    holder.note = {"mode": None}

    @tf.function
    def f(x, mode, name):
        holder.mode = mode
        holder.name, holder.pair = name, (name, 1)
        holder.note["mode"] = name
        table[0] = 1 if mode is Mode.FAST else 2
        return x + 1

    x = tf.constant(1.0)
    for mode, name in [(Mode.FAST, "a"), (Mode.SLOW, "b"), (Mode.FAST, "a"), (Mode.SLOW, "b")]:
        f(x, mode, name)
        assert (holder.mode, holder.name, holder.pair) == (mode, name, (name, 1))
        assert holder.note == {"mode": name}
        assert table[0] == mode.value
    assert f.experimental_get_tracing_count() == 2


def test_a_tensor_is_replaced_by_none_in_each_call():
    holder = Holder()

    @tf.function
    def start(x):
        holder.best = x

    @tf.function
    def reset():
        holder.best = None

    for value in (1.0, 2.0, 3.0):
        start(tf.constant(value))
        assert float(holder.best) == value
        reset()
        assert holder.best is None


def test_a_place_that_is_read_is_emptied_after_that():
    holder = Holder()

    @tf.function
    def take(x):
        y = holder.value + x
        holder.value = None
        return y

    for value in (1.0, 2.0, 3.0):
        holder.value = tf.constant(value)
        assert float(take(tf.constant(10.0))) == 10.0 + value
        assert holder.value is None


def test_each_call_begins_a_list_and_a_dict_of_its_own():
    holder = Holder()

    @tf.function
    def reset():
        holder.history = []
        holder.options = {"k": 1, "inner": []}

    @tf.function
    def add(x):
        holder.history.append(x)

    kept = []
    for _ in range(3):
        reset()
        assert holder.history == []
        assert holder.options == {"k": 1, "inner": []}
        assert all(holder.history is not old for old in kept)
        kept.append(holder.history)
        add(tf.constant(1.0))
        add(tf.constant(2.0))
        holder.options["inner"].append(3)
        assert [float(x) for x in holder.history] == [1.0, 2.0]
    assert [len(each) for each in kept] == [2, 2, 2]


def test_an_empty_list_beside_a_tensor_is_a_new_one_in_each_call():
    holder = Holder()

    @tf.function
    def begin(x):
        holder.state = {"x": x, "log": []}

    begin(tf.constant(1.0))
    holder.state["log"].append("first")
    begin(tf.constant(2.0))
    assert float(holder.state["x"]) == 2.0
    assert holder.state["log"] == []


def test_containers_are_cleared_by_each_call():
    history, names, options = [1], set(), {"a": 1}

    @tf.function
    def reset():
        history.clear()
        names.clear()
        options.clear()
        names.add("new")

    for _ in range(3):
        reset()
        assert (history, names, options) == ([], {"new"}, {})
        history.append(1)
        names.add("other")
        options["b"] = 2


def test_each_call_stores_the_object_that_its_trace_chose_and_keeps_it_not_alive():
    holder, objects = Holder(), {"a": Holder(), "b": Holder()}

    @tf.function
    def choose(name):
        holder.current = objects[name]

    for name in ("a", "b", "a", "b"):
        choose(name)
        assert holder.current is objects[name]
    gone = weakref.ref(objects["a"])
    del objects["a"]
    gc.collect()
    assert gone() is None


def test_lists_variables_functions_and_constants_that_are_chosen_while_tracing():
    holder, lists = Holder(), ([tf.constant(1.0)], [tf.constant(2.0)])
    variables = tf.Variable(1.0), tf.Variable(2.0)

    @tf.function
    def f(x, first):
        holder.list = lists[0] if first else lists[1]
        holder.variable = variables[0] if first else variables[1]
        holder.kind, holder.code = (int, tf.nn.relu) if first else (float, tf.nn.tanh)
        holder.number = tf.constant(3 if first else 4)
        return holder.code(x) * holder.variable

    for first in (True, False, True, False):
        assert float(f(tf.constant(0.0), first)) == 0.0
        assert holder.list is lists[0 if first else 1]
        assert holder.variable is variables[0 if first else 1]
        assert (holder.kind, holder.code) == ((int, tf.nn.relu) if first else (float, tf.nn.tanh))
        assert int(holder.number) == (3 if first else 4)
    assert f.experimental_get_tracing_count() == 2


def test_what_is_counted_and_stored_again_is_stored_by_each_call():
    holder = Holder()
    holder.total = holder.left = 5

    @tf.function
    def f(x):
        holder.total = 0
        for i in range(3):
            holder.total += i
        holder.left -= 1
        holder.left = 7
        return x

    for _ in range(3):
        f(tf.constant(1.0))
        assert (holder.total, holder.left) == (3, 7)
        holder.total = holder.left = 100
    assert f.experimental_get_tracing_count() == 1


def test_a_count_that_nothing_else_reads_counts_traces():
    holder, log = Holder(), []
    holder.calls = 0

    @tf.function
    def f(x):
        holder.calls += 1
        log.append("traced")
        return x

    for _ in range(3):
        f(tf.constant(1.0))
    assert (holder.calls, log) == (1, ["traced"])


class Settings:
    def __init__(self, name):
        self.name, self.tags = name, [name]


def test_each_call_makes_an_object_of_plain_values():
    holder, kept = Holder(), []

    @tf.function
    def f(x, name):
        holder.settings = Settings(name)
        return x

    for name in ("a", "b", "a", "b"):
        f(tf.constant(1.0), name)
        assert (holder.settings.name, holder.settings.tags) == (name, [name])
        assert all(holder.settings is not old for old in kept)
        kept.append(holder.settings)
        holder.settings.tags.append("mine")
