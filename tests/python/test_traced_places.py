"""What a traced function reads and leaves around it, without Python after its first call."""

import array
import collections
import copy
import dataclasses
import gc
import threading
import types
import weakref

import numpy as np
import pytest

import holdfast as tf

SCALE = 2.0
ONE = tf.constant(1.0)


class Slotted:
    __slots__ = ("__weakref__", "k")

    def __init__(self, k):
        self.k = k


class Hidden(Slotted):
    k = property(lambda self: 5.0)


@dataclasses.dataclass(frozen=True)
class Options:
    rate: float
    names: tuple = ("a",)


class Bag:
    """Whatever a test puts into it."""

    shared = 3.0

    def __init__(self, **parts):
        self.__dict__.update(parts)


def in_python(monkeypatch, kind=None):
    """The calls that went through Python from now on."""
    kind = kind or type(tf.function(lambda: None))
    seen, original = [], kind._slow_call

    def slow(self, *args, **kwargs):
        seen.append(self)
        return original(self, *args, **kwargs)

    monkeypatch.setattr(kind, "_slow_call", slow)
    return seen


def read_global(bag):
    return lambda x: x * SCALE


def read_item(bag):
    return lambda x: x * bag.items[1]


def read_last(bag):
    return lambda x: x * bag.items[-1]


def read_key(bag):
    return lambda x: x * bag.table["k"]


def read_chain(bag):
    return lambda x: x * bag.layers[1].table["w"][0]


def read_class(bag):
    return lambda x: x * bag.shared


def read_slot(bag):
    return lambda x: x * bag.slotted.k


def read_field(bag):
    return lambda x: x * bag.options.rate


def read_missing(bag):
    return lambda x: x * getattr(bag, "nothing", 4.0)


def read_length(bag):
    def f(x):
        for item in bag.items:
            x = x * item
        return x

    return f


def read_keys(bag):
    def f(x):
        for key in bag.table:
            x = x * bag.table[key]
        return x

    return f


def read_tuple(bag):
    return lambda x: x * bag.pair[0] + bag.pair[1]


def read_array(bag):
    return lambda x: x * bag.array


def read_variables(bag):
    def f(x):
        for w in bag.variables:
            x = x * w
        return x

    return f


def read_tensor(bag):
    return lambda x: x * bag.tensors[0]


def read_same(bag):
    return lambda x: x * bag.tensors[0] + bag.tensors[1]


def set_global(bag):
    global SCALE
    SCALE = 3.0


def change(path, value):
    def apply(bag):
        *steps, last = path
        for step in steps:
            bag = bag[step] if isinstance(bag, (list, dict)) else getattr(bag, step)
        if isinstance(bag, (list, dict)):
            bag[last] = value
        else:
            setattr(bag, last, value)

    return apply


READS = {
    "global": (read_global, set_global),
    "item": (read_item, change(("items", 1), 7.0)),
    "last item": (read_last, lambda bag: bag.items.append(7.0)),
    "key": (read_key, change(("table", "k"), 7.0)),
    "chain": (read_chain, change(("layers", 1, "table", "w"), (9.0,))),
    "another link": (read_chain, lambda bag: bag.layers.reverse()),
    "class": (read_class, lambda bag: setattr(Bag, "shared", 7.0)),
    "over the class": (read_class, change(("shared",), 8.0)),
    "slot": (read_slot, change(("slotted", "k"), 7.0)),
    "field": (read_field, change(("options",), Options(7.0))),
    "missing": (read_missing, change(("nothing",), 7.0)),
    "length": (read_length, lambda bag: bag.items.append(7.0)),
    "keys": (read_keys, change(("table", "more"), 7.0)),
    "tuple": (read_tuple, change(("pair",), (7.0, 8.0))),
    "longer tuple": (read_tuple, change(("pair",), (7.0, 8.0, 9.0))),
    "array": (read_array, lambda bag: bag.array.fill(7.0)),
    "variables": (read_variables, lambda bag: bag.variables.append(tf.Variable(7.0))),
    "another variable": (
        read_variables,
        lambda bag: change(("variables", 0), tf.Variable(7.0))(bag),
    ),
    "sign of zero": (read_item, change(("items", 1), -0.0)),
    "tensor": (read_tensor, change(("tensors", 0), tf.constant(7.0))),
    "two tensors": (read_same, change(("tensors", 1), tf.constant(7.0))),
}


@pytest.mark.parametrize("name", READS)
def test_what_is_read_is_looked_at_without_python(monkeypatch, name):
    monkeypatch.setattr(Bag, "shared", 3.0)
    monkeypatch.setitem(globals(), "SCALE", 2.0)
    bag = Bag(
        items=[2.0, 0.0 if name == "sign of zero" else 3.0, 4.0],
        table={"k": 2.0},
        layers=[Bag(table={"w": (3.0,)}), Bag(table={"w": (2.0,)})],
        slotted=Slotted(2.0),
        options=Options(2.0),
        pair=(2.0, 3.0),
        array=np.float32([2.0]),
        variables=[tf.Variable(2.0), tf.Variable(3.0)],
        tensors=[ONE, ONE],
    )
    make, alter = READS[name]
    plain = make(bag)
    f = tf.function(plain)
    f(ONE)
    seen = in_python(monkeypatch)
    for _ in range(2):
        np.testing.assert_array_equal(f(ONE), plain(ONE))
    assert not seen
    alter(bag)
    for _ in range(3):
        now, expected = f(ONE).numpy(), plain(ONE).numpy()
        np.testing.assert_array_equal(now, expected)
        np.testing.assert_array_equal(np.signbit(now), np.signbit(expected))
    assert len(seen) <= 1


def test_a_slot_that_a_class_hides_is_no_value_of_that_class():
    thing = Hidden.__new__(Hidden)
    f = tf.function(lambda x: x * thing.k)
    for _ in range(3):
        assert float(f(ONE)) == 5.0


def test_what_python_alone_can_read_is_asked_of_python_alone(monkeypatch):
    class Proxy:
        def __init__(self):
            object.__setattr__(self, "inner", {"k": 2.0})

        @property
        def __dict__(self):
            return self.inner

        def __getattr__(self, name):
            return self.inner[name]

    proxy = Proxy()
    f = tf.function(lambda x: x * proxy.k)
    f(ONE)
    f(ONE)
    assert float(f(ONE)) == 2.0
    proxy.inner["k"] = 5.0
    assert float(f(ONE)) == 5.0


# Stores.


class Model(tf.Module):
    def __init__(self):
        super().__init__()
        self.h, self.log, self.table = None, [], {}


class OwnWay:
    """Stores in a way of its own."""

    def __setattr__(self, name, value):
        object.__setattr__(self, name, value)


class Telling(Model):
    """A module with a way of its own around that of modules."""

    def __setattr__(self, name, value):
        super().__setattr__(name, value)


def store_attribute(thing):
    def f(x):
        thing.h = x * 2.0
        return thing.h

    return f


def store_pair(thing):
    def f(x):
        thing.h = (x * 2.0, {"b": x, "a": [x * 3.0, 1]})
        return x

    return f


def store_key(thing):
    def f(x):
        thing.table["last"] = x * 2.0
        return x

    return f


def append(thing):
    def f(x):
        thing.log.append(x * 2.0)
        return x

    return f


def store_if(thing):
    def f(x):
        if x > 3.0:
            thing.h = x * 2.0
        return x

    return f


@pytest.mark.parametrize("make", [store_attribute, store_pair, store_key, append, store_if])
@pytest.mark.parametrize("kind", [Model, Telling, OwnWay, types.SimpleNamespace])
def test_what_is_stored_is_stored_without_python(monkeypatch, make, kind):
    things = [kind(), kind()]
    for thing in things:
        if kind in (OwnWay, types.SimpleNamespace):
            thing.h, thing.log, thing.table = tf.constant(0.0), [], {}
        else:
            thing.h = tf.constant(0.0)
    plain, traced = make(things[0]), tf.function(make(things[1]))
    seen = in_python(monkeypatch)
    for value in (1.0, 5.0, 2.0, 7.0):
        x = tf.constant(value)
        assert float(plain(x)) == float(traced(x))
        states = [[each.h, each.log, each.table] for each in things]
        tf.nest.assert_same_structure(*states)
        ours, theirs = (list(map(float, tf.nest.flatten(state))) for state in states)
        assert ours == theirs
    assert len(seen) == 1


def test_lists_that_the_caller_gives_grow_by_each_call(monkeypatch):
    @tf.function
    def f(x, into, *, more):
        into.append(x * 2.0)
        more["k"] = x * 3.0
        return x

    f(ONE, [], more={})
    seen = in_python(monkeypatch)
    for value in (3.0, 4.0):
        into, more = [], {}
        f(tf.constant(value), into, more=more)
        assert float(into[0]) == value * 2.0
        assert float(more["k"]) == value * 3.0
    assert not seen


def test_a_store_into_what_is_gone_is_none():
    thing = Bag()
    reference = weakref.ref(thing)

    @tf.function
    def f(x):
        target = reference()
        if target is not None:
            target.h = x * 2.0
        return x

    f(ONE)
    assert float(thing.h) == 2.0
    del thing
    gc.collect()
    assert float(f(ONE)) == 1.0


# Concrete functions, and functions that had one first.


def test_a_concrete_function_first_leaves_the_function_as_fast(monkeypatch):
    f = tf.function(lambda x, k=2.0: x * k)
    one = f.get_concrete_function(tf.TensorSpec([], tf.float32))
    f(ONE)
    seen = in_python(monkeypatch)
    assert float(f(tf.constant(3.0))) == 6.0
    assert not seen
    assert f.experimental_get_tracing_count() == 1
    assert float(one(ONE)) == 2.0
    seen = in_python(monkeypatch, type(one))
    assert [float(y) for y in (one(ONE), one(x=ONE), one(ONE, 2.0), one(ONE, k=2.0))] == [2.0] * 4
    assert not seen
    with pytest.raises(ValueError, match="traced for"):
        one(ONE, 3.0)
    with pytest.raises(ValueError):
        one(tf.constant([1.0]))


@pytest.mark.parametrize("by", ["function", "concrete function"])
@pytest.mark.parametrize("cleared", [False, True])
def test_the_first_call_after_it_gives_values_to_what_the_trace_left(by, cleared):
    log, bag = [], Bag()

    @tf.function
    def f(x):
        bag.h = x * 2.0
        log.append(x * 3.0)
        return x

    one = f.get_concrete_function(tf.TensorSpec([], tf.float32))
    if cleared:
        log.clear()
    call = f if by == "function" else one
    for i, value in enumerate((1.0, 2.0, 3.0)):
        call(tf.constant(value))
        assert float(bag.h) == value * 2.0
        assert [float(t) for t in log] == [3.0 * v for v in (1.0, 2.0, 3.0)[: i + 1]]


def test_a_signature_says_all_that_a_concrete_method_needs():
    class M(tf.Module):
        @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
        def twice(self, x):
            return x * 2.0

    m = M()
    one = m.twice.get_concrete_function()
    for n in (1, 2, 2):
        assert one(tf.ones([n])).shape == [n]
        assert m.twice(tf.ones([n])).shape == [n]
    assert m.twice.experimental_get_tracing_count() == 1


def test_keyword_only_arguments_of_a_concrete_function():
    f = tf.function(lambda x, *, b, a=1.0, flag=True: x + 2.0 * a - b if flag else x)
    one = f.get_concrete_function(ONE, b=ONE, a=tf.constant(3.0))
    for _ in range(3):
        assert float(one(ONE, a=tf.constant(5.0), b=tf.constant(2.0))) == 9.0
        assert float(one(ONE, b=tf.constant(2.0), a=tf.constant(5.0), flag=True)) == 9.0


# Methods.


def test_instances_and_their_copies_have_traces_of_their_own(monkeypatch):
    class M:
        def __init__(self, k):
            self.k = k

        @tf.function
        def f(self, x, training=None):
            return x * self.k if training else x

    a = M(2.0)
    a.f(ONE, training=True)
    b = copy.copy(a)
    b.k = 3.0
    assert [float(m.f(ONE, training=True)) for m in (a, b, a, b)] == [2.0, 3.0, 2.0, 3.0]
    assert a.f is a.f is not b.f
    assert M.f is M.__dict__["f"]
    seen = in_python(monkeypatch)
    assert [float(m.f(ONE, True)) for m in (a, b)] == [2.0, 3.0]
    assert not seen
    assert float(copy.deepcopy(a).f(ONE, training=True)) == 2.0


# Lifetime and threads.


def gone(reference):
    gc.collect()
    return reference() is None


def test_functions_and_what_they_read_go_together():
    def make():
        bag = Bag(items=[tf.Variable(1.0)], table={"k": 2.0})

        @tf.function
        def f(x, k=bag, *more, d=None):
            bag.h = x * bag.items[0] * bag.table["k"]
            return bag.h

        bag.f = f
        f(ONE)
        f(ONE, bag)
        one = f.get_concrete_function(ONE)
        one(ONE)
        bag.one = one
        one(ONE)
        return weakref.ref(bag), weakref.ref(f), weakref.ref(one), weakref.ref(bag.items[0])

    assert all(map(gone, make()))


def test_a_variable_that_was_replaced_goes_with_its_trace():
    bag = Bag(w=tf.Variable(2.0))
    f = tf.function(lambda x: x * bag.w)
    f(ONE)
    f(ONE)
    old, bag.w = weakref.ref(bag.w), tf.Variable(3.0)
    assert float(f(ONE)) == 3.0
    for trace in f._traces:
        if trace.broken_guard() is not None:
            f._forget(trace)
    del trace
    assert gone(old)


def test_arguments_are_not_kept_alive():
    f = tf.function(lambda x, thing: x * thing.k)
    thing = Bag(k=2.0)
    f(ONE, thing)
    f(ONE, thing)
    reference = weakref.ref(thing)
    del thing
    assert gone(reference)
    assert float(f(ONE, Bag(k=3.0))) == 3.0


def test_threads_call_while_traces_come_and_go():
    bag = Bag(items=[2.0])
    P = collections.namedtuple("P", "x k")

    @tf.function
    def f(p, k=1.0, *more, scale=1.0):
        bag.h = p.x * p.k * k * scale
        return bag.h * bag.items[0]

    failures, done = [], threading.Event()

    def call(k):
        for i in range(300):
            x = tf.ones([1 + i % 3])
            got = f(P(x, k), 2.0, scale=float(i % 2 + 1))
            expected = np.full(1 + i % 3, k * 2.0 * (i % 2 + 1) * 2.0)
            if not np.array_equal(got, expected):
                failures.append((got, expected))

    def clear():
        while not done.wait(0.005):
            for trace in f._traces:
                f._forget(trace)

    threads = [threading.Thread(target=call, args=(float(k),)) for k in range(1, 4)]
    clearing = threading.Thread(target=clear)
    for thread in (*threads, clearing):
        thread.start()
    for thread in threads:
        thread.join()
    done.set()
    clearing.join()
    assert not failures


@pytest.mark.parametrize(
    "numbers",
    [
        lambda: bytearray(b"ab"),
        lambda: memoryview(bytearray(b"ab")),
        lambda: array.array("d", [97.0, 98.0]),
    ],
)
def test_numbers_that_change_in_their_place(numbers):
    held = numbers()
    first = tf.function(lambda x: x * float(held[0]))
    x = tf.constant(2.0)
    for _ in range(3):
        assert float(first(x)) == 194.0
    held[0] = type(held[0])(99)
    assert float(first(x)) == 198.0
    assert first.experimental_get_tracing_count() == 2


def test_what_an_argument_holds_that_is_known_by_itself():
    @tf.function
    def f(x, chosen, data):
        return x * float(len(chosen)) + (10.0 if 2 in chosen else 0.0) + float(data[0])

    x, chosen, data = tf.constant(2.0), {1}, bytearray(b"a")
    for _ in range(3):
        assert float(f(x, chosen, data)) == 99.0
    chosen.add(2)
    assert float(f(x, chosen, data)) == 111.0
    data[0] = 100
    assert float(f(x, chosen, data)) == 114.0
    assert f.experimental_get_tracing_count() == 3
