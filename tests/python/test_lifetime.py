"""Nothing global owns a function, a graph or a tensor: what the program drops is freed."""

import copy
import gc
import pickle
import weakref

import pytest

import holdfast as tf

SIDE = 64  # a square of this side is large enough for the ledger
BYTES = SIDE * SIDE * 4


def live_bytes():
    return tf.config.experimental.get_memory_info("CPU:0")["current"]


def gone(references):
    gc.collect()
    return [r() is None for r in references] == [True] * len(references)


class Holder:
    pass


class Layer(tf.Module):
    def __init__(self):
        super().__init__()
        self.weight = tf.Variable(tf.ones((SIDE, SIDE)))
        self.hidden = None

    @tf.function
    def call(self, x):
        self.hidden = x @ self.weight
        return self.hidden

    @tf.function
    def twice(self, x):
        return self.call(x) * 2.0


def made_and_dropped(make):
    """What `make` gives weak references to must be gone after it, and all memory with it."""
    make()  # what is made once and for all
    gc.collect()
    before = live_bytes()
    references = make()
    assert gone(references)
    assert live_bytes() == before


def test_a_function_goes_with_its_last_reference_without_a_collection():
    gc.collect()
    gc.disable()
    try:
        constant, variable = tf.ones((SIDE, SIDE)), tf.Variable(tf.ones((SIDE, SIDE)))
        f = tf.function(lambda x: x * constant + variable)  # noqa: F821 (deleted below)
        f(tf.ones((SIDE, SIDE)))
        f(tf.ones((1, SIDE)))
        kept = [f, f._traces[0], f._traces[0].concrete, constant, variable]
        references = [weakref.ref(x) for x in kept]
        del f, constant, variable, kept
        assert [r() for r in references] == [None] * 5
    finally:
        gc.enable()


def test_what_a_function_captured_goes_with_it():
    def make():
        constant, variable = tf.ones((SIDE, SIDE)), tf.Variable(tf.ones((SIDE, SIDE)))
        f = tf.function(lambda x: x @ constant + variable)
        f(tf.ones((SIDE, SIDE)))
        return [weakref.ref(x) for x in (f, constant, variable)]

    made_and_dropped(make)


def test_a_function_that_refers_to_itself_is_collected():
    def make():
        @tf.function
        def power(x, n):
            return x if n == 0 else power(x, n - 1) * 2.0

        power(tf.ones((SIDE, SIDE)), 3)
        return [weakref.ref(power)]

    made_and_dropped(make)


def test_an_instance_goes_with_its_traced_methods():
    def make():
        layer = Layer()
        layer.twice(tf.ones((SIDE, SIDE)))
        layer.call(tf.ones((SIDE, SIDE)))
        layer.call(tf.ones((SIDE, SIDE)))
        return [weakref.ref(x) for x in (layer, layer.weight, layer.hidden, layer.call)]

    made_and_dropped(make)


def test_a_method_outlives_the_name_of_its_instance():
    call = Layer().call
    gc.collect()
    assert float(call(tf.ones((1, SIDE)))[0, 0]) == SIDE


def test_each_instance_has_traces_of_its_own_even_where_they_are_equal():
    class Scale:
        def __init__(self, by):
            self.by = by

        def __eq__(self, other):
            return isinstance(other, Scale)

        def __hash__(self):
            return 1

        @tf.function
        def call(self, x):
            return x * self.by

    a, b = Scale(2.0), Scale(3.0)
    assert float(a.call(tf.constant(1.0))) == 2.0
    assert float(b.call(tf.constant(1.0))) == 3.0
    assert a.call is a.call
    assert a.call is not b.call


class Scaled:
    def __init__(self, by):
        self.by = by

    @tf.function
    def call(self, x):
        return x * self.by


@pytest.mark.parametrize(
    "duplicate", [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))]
)
def test_a_copy_of_an_instance_runs_its_own_method(duplicate):
    a = Scaled(2.0)
    a.call(tf.constant(1.0))
    b = duplicate(a)
    b.by = 5.0
    assert float(b.call(tf.constant(1.0))) == 5.0
    assert float(a.call(tf.constant(1.0))) == 2.0


def test_methods_of_objects_without_a_dict_and_of_classes():
    class Slotted:
        __slots__ = ("__weakref__", "by")

        @tf.function
        def call(self, x):
            return x * self.by

    class Named:
        by = 3.0

        @classmethod
        @tf.function
        def call(cls, x):
            return x * cls.by

    class Other(Named):
        by = 4.0

    slotted = Slotted()
    slotted.by = 2.0
    assert float(slotted.call(tf.constant(1.0))) == 2.0
    assert float(Named.call(tf.constant(1.0))) == 3.0
    assert float(Other.call(tf.constant(1.0))) == 4.0
    reference = weakref.ref(slotted)
    del slotted
    assert gone([reference])


def test_an_object_given_to_a_function_is_not_kept_by_it():
    @tf.function
    def f(x, holder):
        holder.value = x * 2.0
        return x

    def make():
        holder = Holder()
        f(tf.ones((SIDE, SIDE)), holder)
        f(tf.ones((SIDE, SIDE)), holder)
        return [weakref.ref(holder), weakref.ref(holder.value)]

    assert gone(make())
    for _ in range(5):
        make()
    assert len(f._traces) <= 2  # those of objects that are gone went when others were made


def test_guards_keep_no_holder_alive():
    def make():
        settings = Holder()
        settings.n, settings.inner = 3, Holder()
        settings.inner.by, settings.many = 2.0, [1, 2]

        def f(x):
            for _ in range(settings.n):
                x = x * settings.inner.by + settings.many[1]
            return x

        g = tf.function(f)
        g(tf.ones(3))
        return [weakref.ref(x) for x in (settings, settings.inner, f, g)]

    made_and_dropped(make)


def test_residuals_go_with_the_tape():
    weight = tf.Variable(tf.ones((SIDE, SIDE)))

    @tf.function
    def f(x):
        for _ in tf.range(5):
            x = tf.tanh(x @ weight)
        return tf.reduce_sum(x)

    def run():
        with tf.GradientTape() as tape:
            y = f(tf.ones((SIDE, SIDE)))
        during = live_bytes()
        return during, tape.gradient(y, weight)

    for _ in range(4):  # a plan learns from its first run, and keeps memory for the next one
        run()
    gc.collect()
    before = live_bytes()
    during, gradient = run()
    assert during >= before + 5 * BYTES
    assert live_bytes() == before + BYTES
    del gradient
    assert live_bytes() == before


def test_a_failed_trace_leaves_nothing():
    def make(error):
        constant, variable = tf.ones((SIDE, SIDE)), tf.Variable(tf.ones((SIDE, SIDE)))
        symbols = []

        @tf.function
        def f(x):
            y = x * constant + variable
            symbols.append(weakref.ref(y))
            raise error

        with pytest.raises(type(error)):
            f(tf.ones((SIDE, SIDE)))
        assert not f._traces
        return [weakref.ref(f), weakref.ref(constant), weakref.ref(variable)]

    made_and_dropped(lambda: make(ValueError("no")))
    made_and_dropped(lambda: make(KeyboardInterrupt()))


def test_a_failed_run_leaves_nothing_and_the_function_works():
    f = tf.function(lambda x, i: tf.gather(x * 2.0, i))
    x = tf.ones((SIDE, SIDE))
    f(x, tf.constant(0))

    def fail():
        with pytest.raises(tf.errors.InvalidArgumentError):
            f(x, tf.constant(SIDE))

    fail()  # plans settle: the memory of one run is kept for the next
    before = live_bytes()
    for _ in range(10):
        fail()
    assert live_bytes() == before
    assert float(f(x, tf.constant(1))[0]) == 2.0


def test_the_namespace_of_made_code_goes():
    def make():
        space = {"tf": tf, "mark": Holder(), "by": 2.0}
        exec(compile("def f(x):\n    return x * by\n", "<made>", "exec"), space)
        f = tf.function(space["f"])
        f(tf.ones(3))
        return [weakref.ref(x) for x in (space["mark"], space["f"], f)]

    made_and_dropped(make)


def test_a_thousand_retraces_stay_bounded():
    weight = tf.ones((SIDE, SIDE))
    f = tf.function(lambda x, n: x @ weight * n)
    x = tf.ones((1, SIDE))
    for i in range(200):
        f(x, float(i))
    before = live_bytes()
    for i in range(200, 1000):
        f(x, float(i))
    assert live_bytes() <= before
    assert f.experimental_get_tracing_count() == 1000
    assert len(f._traces) <= 128
    assert f.trace_report().startswith("<lambda>: 1000 traces\n  ... 872 earlier ones\n  873. ")


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096


def keeps_growing(work):
    """Whether each of three rounds of `work` adds a megabyte: what other tests left shows once."""
    for _ in range(3):
        before = resident()
        work()
        gc.collect()
        if resident() - before < 1 << 20:
            return False
    return True


@pytest.mark.parametrize("traced", [True, False])
def test_many_calls_do_not_grow_the_process(traced):
    variable = tf.Variable(tf.ones((4, 4)))
    f = lambda x: tf.reduce_sum(tf.tanh(x @ variable))
    f = tf.function(f) if traced else f
    x = tf.ones((4, 4))

    def run(times):
        for _ in range(times):
            f(x)

    run(20_000)
    assert not keeps_growing(lambda: run(200_000 if traced else 50_000))


def test_code_compiled_again_and_again_is_kept_once():
    source = "y = x * 2.0 + 1.0\nf = tf.function(lambda x: x * 2.0)\nf(x)\n"

    def run(times):
        for _ in range(times):
            exec(compile(source, "<again>", "exec"), {"tf": tf, "x": tf.ones(3)})

    run(300)
    gc.collect()
    codes = sum(type(o).__name__ == "Function" for o in gc.get_objects())
    assert not keeps_growing(lambda: run(1500))
    assert sum(type(o).__name__ == "Function" for o in gc.get_objects()) == codes


def test_a_recorded_call_keeps_nothing_that_little_arithmetic_gives_again():
    @tf.function
    def swish(x, w):
        z = x @ w
        return (z * tf.sigmoid(z)) @ w

    x, w = tf.fill((SIDE, SIDE), 0.5), tf.fill((SIDE, SIDE), 0.01)

    def recorded():
        with tf.GradientTape() as tape:
            tape.watch([x, w])
            y = swish(x, w)
        return tape, y

    recorded()  # the first call makes what the function itself keeps
    before = live_bytes()
    tape, y = recorded()
    assert live_bytes() - before == 3 * BYTES  # y, z and the sigmoid, but not their product
    dx, dw = tape.gradient(y, [x, w])
    with tf.GradientTape() as tape:
        tape.watch([x, w])
        y = swish.python_function(x, w)
    wanted = tape.gradient(y, [x, w])
    assert (dx.numpy() == wanted[0].numpy()).all() and (dw.numpy() == wanted[1].numpy()).all()
