"""`tf.distribute` over one device: scopes, replicas, reductions, and what is refused."""

import copy
import subprocess
import sys
import threading

import numpy as np
import pytest

import holdfast as tf

D = tf.distribute
KINDS = {
    "mirrored": D.MirroredStrategy,
    "named": lambda: D.MirroredStrategy(["/cpu:0"]),
    "one device": lambda: D.OneDeviceStrategy("/cpu:0"),
    "central": D.experimental.CentralStorageStrategy,
}


@pytest.fixture(params=list(KINDS))
def strategy(request):
    return KINDS[request.param]()


def test_a_strategy_has_one_replica_on_one_device(strategy):
    assert strategy.num_replicas_in_sync == 1
    assert len(strategy.extended.worker_devices) == 1
    assert strategy.extended.worker_devices == strategy.extended.parameter_devices
    assert strategy.cluster_resolver is None
    assert isinstance(strategy, D.Strategy)
    assert copy.deepcopy(strategy) is strategy


def test_what_is_in_force_outside_inside_and_in_a_replica(strategy):
    default = D.get_strategy()
    assert not D.has_strategy() and not D.in_cross_replica_context()
    assert D.get_replica_context().strategy is default

    def told():
        context = D.get_replica_context()
        assert context.strategy is strategy and not D.in_cross_replica_context()
        assert D.has_strategy() and D.get_strategy() is strategy
        assert context.num_replicas_in_sync == 1
        return context.replica_id_in_sync_group

    with strategy.scope() as entered:
        assert entered is strategy is D.get_strategy()
        assert D.has_strategy() and D.in_cross_replica_context()
        assert D.get_replica_context() is None
        assert int(strategy.run(told)) == 0
        with strategy.scope():  # the same one may be entered again
            assert D.get_strategy() is strategy
        assert D.get_strategy() is strategy
    assert D.get_strategy() is default
    assert int(strategy.run(told)) == 0  # `run` needs no scope
    assert not D.has_strategy()


def test_a_scope_ends_with_its_block_also_when_that_fails(strategy):
    with pytest.raises(KeyError), strategy.scope():
        raise KeyError
    assert not D.has_strategy()

    def fails():
        raise KeyError

    with pytest.raises(KeyError):
        strategy.run(fails)
    assert D.get_replica_context().strategy is D.get_strategy()


def test_a_thread_begins_in_no_scope(strategy):
    seen = []
    with strategy.scope():
        thread = threading.Thread(target=lambda: seen.append(D.has_strategy()))
        thread.start()
        thread.join()
    assert seen == [False]


def test_scopes_end_in_the_reverse_order(strategy):
    outer, inner = strategy.scope(), strategy.scope()
    outer.__enter__()
    inner.__enter__()
    with pytest.raises(RuntimeError, match="reverse order"):
        outer.__exit__(None, None, None)
    inner.__exit__(None, None, None)
    outer.__exit__(None, None, None)
    assert not D.has_strategy()


def test_run_hands_over_arguments_and_gives_what_the_function_gives(strategy):
    assert strategy.run(lambda: None) is None
    assert strategy.run(lambda: "text") == "text"
    assert strategy.run(lambda a, b: a - b, args=[5], kwargs={"b": 2}) == 3
    doubled = tf.function(lambda x: {"twice": x * 2})
    assert float(strategy.run(doubled, args=(tf.constant(3.0),))["twice"]) == 6.0
    strategy.run(lambda x: x, args=(1,), options=D.RunOptions())


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda s: s.run(3), "expected a function"),
        (lambda s: s.run(abs, args=1), "`args` is of type int, expected a tuple"),
        (lambda s: s.run(abs, args=(1,), kwargs=[1]), "`kwargs` is of type list"),
        (lambda s: s.run(abs, args=(1,), options=3), "RunOptions"),
        (lambda s: s.reduce("MIN", 1.0, axis=None), "`reduce_op` is 'MIN'"),
        (lambda s: s.reduce(None, 1.0, axis=0), "`reduce_op` is None"),
        (lambda s: s.reduce("SUM", [1.0], axis="0"), "`axis` is '0'"),
        (lambda s: s.gather(tf.zeros([2]), axis=None), "`axis` is None"),
        (lambda s: s.experimental_distribute_dataset([1, 2]), "got a list, expected a tf.data"),
        (lambda s: s.distribute_datasets_from_function(lambda _: 3), "got a int, expected"),
        (lambda s: s.distribute_datasets_from_function(3), "expected a function"),
        (lambda s: s.extended.update(3, abs), "expected a Variable"),
    ],
)
def test_wrong_arguments_are_named(strategy, call, says):
    with pytest.raises((TypeError, ValueError), match="E1104") as caught:
        call(strategy)
    assert says in str(caught.value)


def test_reductions_over_replicas_and_axes(strategy):
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    for op in (D.ReduceOp.SUM, "sum", D.ReduceOp.MEAN, "Mean"):
        np.testing.assert_array_equal(strategy.reduce(op, x, axis=None), x)
    np.testing.assert_array_equal(strategy.reduce("SUM", x, axis=0), [4, 6])
    np.testing.assert_array_equal(strategy.reduce("SUM", x, axis=-1), [3, 7])
    np.testing.assert_array_equal(strategy.reduce("MEAN", x, axis=0), [2, 3])
    np.testing.assert_array_equal(strategy.reduce("MEAN", x, axis=(0, 1)), 2.5)
    np.testing.assert_array_equal(strategy.reduce("SUM", [x, x], axis=0), 2 * x)
    mean = strategy.reduce("MEAN", tf.constant([1, 2]), axis=0)
    assert (float(mean), mean.dtype) == (1.5, tf.float64)
    half = strategy.reduce("MEAN", tf.constant([1, 2], tf.float16), axis=0)
    assert (float(half), half.dtype) == (1.5, tf.float16)
    nested = strategy.reduce("SUM", {"a": x, "b": (x, x)}, axis=None)
    np.testing.assert_array_equal(nested["b"][1], x)
    with pytest.raises(ValueError, match="axis"):
        strategy.reduce("SUM", tf.constant(1.0), axis=0)


def test_a_mirrored_reduction_gives_tensors_and_the_default_one_what_it_got():
    assert isinstance(D.MirroredStrategy().reduce("SUM", 1.0, axis=None), tf.Tensor)
    assert D.get_strategy().reduce("SUM", 1.0, axis=None) == 1.0
    rows = tf.IndexedSlices(tf.ones([1, 2]), tf.constant([3]))
    assert D.MirroredStrategy().reduce("SUM", rows, axis=None) is rows


def test_reduce_ops():
    assert [each.name for each in D.ReduceOp] == ["SUM", "MEAN"]
    assert D.ReduceOp("SUM") is D.ReduceOp.SUM
    convert = D.ReduceOp.from_variable_aggregation
    assert convert(tf.VariableAggregation.MEAN) is D.ReduceOp.MEAN
    with pytest.raises(ValueError, match="NONE"):
        convert(tf.VariableAggregation.NONE)


def test_gather_and_local_results(strategy):
    x = tf.constant([[1.0, 2.0]])
    np.testing.assert_array_equal(strategy.gather(x, axis=0), x)
    assert strategy.experimental_local_results((x, 1)) == ((x, 1),)
    assert strategy.experimental_local_results(None) == (None,)


def test_values_of_a_function_go_into_run(strategy):
    seen = []

    def value(context):
        seen.append((context.replica_id_in_sync_group, context.num_replicas_in_sync))
        return tf.constant(3.0), {"k": tf.constant(4.0)}

    given = strategy.experimental_distribute_values_from_function(value)
    assert seen == [(0, 1)]
    assert float(strategy.run(lambda a: a[0] * a[1]["k"], args=(given,))) == 12.0
    assert float(strategy.reduce("SUM", given[0], axis=None)) == 3.0
    assert float(strategy.experimental_local_results(given[0])[0]) == 3.0
    assert float(strategy.experimental_local_results(given)[0][1]["k"]) == 4.0
    step = tf.function(lambda a: strategy.run(lambda p: p["k"] + 1.0, args=(a,)))
    assert float(step(given[1])) == 5.0


def test_what_a_replica_asks_of_its_strategy(strategy):
    def replica(x):
        context = D.get_replica_context()

        def merged(inner, value, scale=1.0):
            assert inner is strategy and D.in_cross_replica_context()
            return inner.reduce("SUM", value * scale, axis=None)

        total = context.all_reduce("SUM", {"x": x, "y": 2.0})
        wide = context.all_gather(x, axis=0)
        return total, wide, context.merge_call(merged, args=(x,), kwargs={"scale": 3.0})

    x = tf.constant([1.0, 2.0])
    for run in (strategy.run, tf.function(lambda f, args: strategy.run(f, args=args))):
        total, wide, merged = run(replica, args=(x,))
        np.testing.assert_array_equal(total["x"], x)
        assert float(total["y"]) == 2.0
        np.testing.assert_array_equal(wide, x)
        np.testing.assert_array_equal(merged, 3 * x)


def test_gradients_pass_all_reduce(strategy):
    w = tf.Variable(3.0)

    def replica():
        with tf.GradientTape() as tape:
            y = D.get_replica_context().all_reduce("MEAN", w * w)
        return tape.gradient(y, w)

    assert float(strategy.run(replica)) == 6.0


def test_the_default_replica_works_too():
    context = D.get_replica_context()
    assert float(context.all_reduce("SUM", 2.0)) == 2.0
    assert context.merge_call(lambda s, a: (s is D.get_strategy(), a), args=(1,)) == (True, 1)
    default = D.get_strategy()
    with default.scope() as entered:
        assert entered is default and not D.has_strategy()
        assert default.run(lambda x: x + 1, args=(1,)) == 2


def test_a_replica_that_is_not_speaking_is_refused(strategy):
    kept = strategy.run(D.get_replica_context)
    with pytest.raises(RuntimeError, match="no replica is speaking"):
        kept.all_reduce("SUM", 1.0)
    with pytest.raises(RuntimeError, match="merge_call"):
        kept.merge_call(lambda s: None)


def test_strategies_do_not_nest(strategy):
    other = D.OneDeviceStrategy("/cpu:0")
    with strategy.scope():
        for call in (
            lambda: other.scope().__enter__(),
            lambda: other.run(lambda: 1),
            lambda: other.reduce("SUM", 1.0, axis=None),
            lambda: D.experimental_set_strategy(other),
        ):
            with pytest.raises(RuntimeError, match="E1105") as caught:
                call()
            assert type(strategy).__name__ in str(caught.value)
    assert not D.has_strategy()


def test_what_speaks_for_all_replicas_is_refused_inside_of_one(strategy):
    for call in (
        lambda: strategy.reduce("SUM", 1.0, axis=None),
        lambda: strategy.run(lambda: 1),
        lambda: strategy.gather(tf.zeros([1]), axis=0),
        lambda: strategy.scope().__enter__(),
    ):
        with pytest.raises(RuntimeError, match="merge_call"):
            strategy.run(call)
    assert not D.has_strategy()


def test_a_strategy_for_the_rest_of_the_program(strategy):
    try:
        D.experimental_set_strategy(strategy)
        assert D.get_strategy() is strategy and D.in_cross_replica_context()
        assert strategy.run(lambda: D.in_cross_replica_context()) is False
    finally:
        D.experimental_set_strategy(None)
    assert not D.has_strategy()
    with pytest.raises(TypeError, match="expected a tf.distribute.Strategy"):
        D.experimental_set_strategy("mirrored")


def test_a_trace_that_asks_is_made_anew_where_the_answer_is_another(strategy):
    @tf.function
    def told(x):
        return x * 10.0 if D.in_cross_replica_context() else x

    one = tf.constant(1.0)
    assert float(told(one)) == 1.0
    with strategy.scope():
        assert [float(told(one)) for _ in range(2)] == [10.0, 10.0]
    assert float(told(one)) == 1.0
    assert float(strategy.run(told, args=(one,))) == 1.0
    assert told.experimental_get_tracing_count() == 3

    @tf.function
    def whole(x):
        return strategy.run(lambda y: y + 1.0 if D.has_strategy() else y, args=(x,))

    assert [float(whole(one)) for _ in range(3)] == [2.0, 2.0, 2.0]
    assert whole.experimental_get_tracing_count() == 1


def test_branches_over_tensors_in_what_run_runs(strategy):
    @tf.function
    def step(x):
        def replica(y):
            if tf.reduce_sum(y) > 0:
                out = y * 2
            else:
                out = -y
            for _ in tf.range(2):
                out += 1
            return out

        return strategy.run(replica, args=(x,))

    assert [float(step(tf.constant(v))) for v in (3.0, -3.0)] == [8.0, 5.0]


@pytest.mark.parametrize(
    "make",
    [
        lambda: D.experimental.CentralStorageStrategy(["/cpu:0", "/cpu:1"]),
        lambda: D.MultiWorkerMirroredStrategy(),
        lambda: D.experimental.MultiWorkerMirroredStrategy(),
        lambda: D.ParameterServerStrategy(None),
        lambda: D.TPUStrategy(),
        lambda: D.cluster_resolver.TFConfigClusterResolver(),
        lambda: D.cluster_resolver.SimpleClusterResolver({}),
        lambda: D.coordinator.ClusterCoordinator(None),
    ],
)
def test_several_devices_and_machines_say_what_works(make):
    with pytest.raises(NotImplementedError, match="E1105") as caught:
        make()
    assert "MirroredStrategy" in str(caught.value) or "CentralStorage" in str(caught.value)
    assert "one" in str(caught.value)


def test_other_strategies_can_be_asked_for():
    assert not isinstance(D.MirroredStrategy(), (D.TPUStrategy, D.MultiWorkerMirroredStrategy))


def test_a_program_that_looks_for_tpus_finds_none():
    with pytest.raises(ValueError, match="there is no TPU"):
        D.cluster_resolver.TPUClusterResolver()
    with pytest.raises(ValueError, match="'grpc://1'"):
        D.cluster_resolver.TPUClusterResolver.connect(tpu="grpc://1")


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: D.MirroredStrategy("/cpu:0"), 'MirroredStrategy(["/cpu:0"])'),
        (lambda: D.MirroredStrategy(["/cpu:0", "/device:CPU:0"]), "names /cpu:0 twice"),
        (lambda: D.MirroredStrategy(3), "`devices` is int"),
        (lambda: D.MirroredStrategy(["nothing"]), "'nothing' is no device name"),
        (lambda: D.MirroredStrategy(cross_device_ops="nccl"), "CrossDeviceOps"),
        (lambda: D.OneDeviceStrategy("nothing"), "'nothing' is no device name"),
        (lambda: D.OneDeviceStrategy(["/cpu:0"]), "the name of one device"),
        (lambda: D.OneDeviceStrategy("/job:localhost"), "names no device"),
        (lambda: D.HierarchicalCopyAllReduce(num_packs=-1), "num_packs"),
        (lambda: D.experimental.CommunicationOptions(implementation="post"), '"NCCL"'),
    ],
)
def test_devices_that_are_none_are_named(make, says):
    with pytest.raises((TypeError, ValueError)) as caught:
        make()
    assert says in str(caught.value)


def test_an_absent_device_is_replaced_with_a_warning_or_refused(capfd):
    made = D.OneDeviceStrategy("/gpu:63")
    assert "GPU:63 was asked for and is absent" in capfd.readouterr().err
    assert "CPU:0" in made.extended.worker_devices[0]
    assert "CPU:0" in D.MirroredStrategy(["/gpu:63"]).extended.worker_devices[0]
    tf.config.set_soft_device_placement(False)
    try:
        with pytest.raises(ValueError, match="GPU:63 was asked for and is absent"):
            D.MirroredStrategy(["/gpu:63"])
    finally:
        tf.config.set_soft_device_placement(True)


def test_the_base_class_and_methods_of_version_1_are_refused(strategy):
    with pytest.raises(NotImplementedError, match="can't be made"):
        D.Strategy(None)
    with pytest.raises(NotImplementedError, match="make_dataset_iterator"):
        strategy.make_dataset_iterator(None)
    with pytest.raises(AttributeError, match="nothing"):
        strategy.nothing  # noqa: B018


def test_ways_of_reducing_are_taken_and_work_on_one_value():
    for kind in (D.ReductionToOneDevice, D.NcclAllReduce, D.HierarchicalCopyAllReduce):
        way = kind()
        assert isinstance(way, D.CrossDeviceOps)
        D.MirroredStrategy(cross_device_ops=way)
        assert float(way.reduce("SUM", 2.0, None)) == 2.0
        assert [float(v) for v in way.batch_reduce("MEAN", [(1.0, None), (2.0, None)])] == [1, 2]


def test_an_iterator_that_a_function_makes_gives_the_elements(strategy):
    shared = strategy.experimental_distribute_dataset(tf.data.Dataset.range(3))

    @tf.function
    def first_two(dataset):
        elements = iter(dataset)
        return next(elements), next(elements)

    assert [int(n) for n in first_two(shared)] == [0, 1]


# -- several devices

SEVERAL = """
import holdfast as tf
import numpy as np
D = tf.distribute
cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
tf.config.experimental.set_device_policy("silent")
s = D.MirroredStrategy(["/CPU:0", "/CPU:1"])
assert s.num_replicas_in_sync == 2 and len(s.extended.worker_devices) == 2
with s.scope():
    v = tf.Variable([1.0, 2.0])
    model = tf.keras.Sequential([tf.keras.Input((1,)), tf.keras.layers.Dense(1)])

def scaled(x):
    here = D.get_replica_context()
    assert here.strategy is s and here.num_replicas_in_sync == 2
    y = x * v * tf.cast(here.replica_id_in_sync_group + 1, tf.float32)
    return y, {"on": y.device, "is": here.devices[0]}

def lists(*values):
    return [np.asarray(value).tolist() for value in values]

def refused(code, call):
    try:
        call()
    except Exception as error:
        assert error.code == code, error
        assert len(str(error).splitlines()[0]) <= 100 and "…" not in str(error).splitlines()[0]
    else:
        raise AssertionError("not refused")

given, places = s.run(scaled, args=(tf.constant(3.0),))
assert [p[-5:] for p in places["on"].values] == ["CPU:0", "CPU:1"]
assert places["on"].values == places["is"].values
assert lists(*given.values) == [[3, 6], [6, 12]]
both = s.reduce("SUM", given, axis=None), s.reduce("MEAN", given, axis=None), s.gather(given, 0)
assert lists(*both) == [[9, 18], [4.5, 9], [3, 6, 6, 12]]
assert lists(s.reduce("SUM", given, axis=0), s.reduce("MEAN", given, axis=0)) == [27, 6.75]
assert lists(*s.experimental_local_results(given)) == [[3, 6], [6, 12]]
assert s.experimental_local_results(7) == (7,) and s.experimental_local_results(None) == (None,)
assert lists(*s.experimental_local_results(tf.constant(2.0))) == [2]
assert s.experimental_local_results(places) == tuple(
    {"on": places["on"].values[i], "is": places["is"].values[i]} for i in range(2)
)
for way in (D.ReductionToOneDevice("/CPU:1"), D.NcclAllReduce(), D.HierarchicalCopyAllReduce()):
    assert lists(way.reduce("SUM", given, None), way.reduce("MEAN", given, None)) == lists(*both[:2])
    assert lists(*way.batch_reduce("SUM", [(given, None), (2.0, None)])) == [[9, 18], 2]
    placed = way.reduce("SUM", given, "/CPU:1").device
    assert placed[-5:] == "CPU:1", placed
assert float(s.reduce("MEAN", tf.constant(2.0), axis=None)) == 2.0
refused("E1104", lambda: s.reduce("SUM", tf.constant(2.0), axis=None))
assert s.run(lambda: ("a", 3, None)) == ("a", 3, None)
own = s.experimental_distribute_values_from_function(lambda c: c.replica_id_in_sync_group * 10)
assert s.run(lambda x: x + 1, args=(own,)).values == (1, 11)

@tf.function
def total(x):
    each, _ = s.run(scaled, args=(x,))
    return s.reduce("SUM", each, axis=None)

assert lists(total(tf.constant(1.0)), total(tf.constant(2.0))) == [[3, 6], [6, 12]]

@tf.function
def nested(x):
    return s.run(lambda x: {"a": x * 2.0, "b": (scaled(x)[0], "text")}, args=(x,))

for x in (1.0, 2.0, 3.0):
    found = nested(tf.constant(x))
    assert lists(*found["a"].values, *found["b"][0].values) == [2 * x, 2 * x, [x, 2 * x], [2 * x, 4 * x]]
    assert lists(s.reduce("SUM", found["a"], None), s.gather(found["b"][0], 0)) == [
        4 * x, [x, 2 * x, 2 * x, 4 * x]
    ]

@tf.function
def following(values):
    return s.run(lambda x: x + 1.0, args=(values,)), s.reduce("SUM", values, axis=None)

for x in (1.0, 2.0):
    own = s.experimental_distribute_values_from_function(
        lambda c: tf.constant(x) * (c.replica_id_in_sync_group + 1.0)
    )
    more, summed = following(own)
    assert lists(*more.values, summed) == [x + 1, 2 * x + 1, 3 * x]
assert following.experimental_get_tracing_count() == 1
assert tf.nest.flatten({"a": own}) == [own]
assert [y.shape for y in s.run(lambda: model(tf.ones((2, 1)))).values] == [(2, 1), (2, 1)]
with s.scope():
    v.assign_add([1.0, 1.0])
v.assign_add([1.0, 1.0])
assert lists(v) == [[3, 4]]
for change in (lambda: v.assign([0.0, 0.0]), lambda: tf.function(v.assign)([0.0, 0.0])):
    refused("E1105", lambda: s.run(change))
assert lists(v) == [[3, 4]]
of = D.get_replica_context
refused("E1105", lambda: s.run(lambda: of().all_reduce("SUM", 1.0)))
refused("E1105", lambda: s.run(lambda: of().all_gather(tf.ones([1]), 0)))
refused("E1105", lambda: s.run(lambda: of().merge_call(lambda s: 1)))
refused("E1105", lambda: s.experimental_distribute_dataset(tf.data.Dataset.range(4).batch(2)))
refused("E1105", lambda: s.distribute_datasets_from_function(lambda c: tf.data.Dataset.range(4)))
model.compile("sgd", "mse")
x = np.ones((4, 1), "float32")
refused("E1105", lambda: model.fit(x, x, verbose=0))
refused("E1105", lambda: model.predict(x, verbose=0))
norm = tf.keras.layers.BatchNormalization(synchronized=True)
norm.build((None, 3))
refused("E1105", lambda: s.run(lambda: norm(tf.ones([4, 3]), training=True)))
refused("E1105", tf.function(lambda: s.run(lambda: norm(tf.ones([4, 3]), training=True))))
assert s.run(lambda: norm(tf.ones([4, 3]), training=False)).values[1].shape == (4, 3)
D.MirroredStrategy(["/CPU:0"]).run(lambda: norm(tf.ones([4, 3]), training=True))

other = D.MirroredStrategy(["/CPU:0", "/CPU:1"])
refused("E0704", lambda: other.run(lambda: v.assign([0.0, 0.0])))
print("done")
"""


def test_replicas_on_several_devices_compute_one_after_the_other():
    done = subprocess.run(
        [sys.executable, "-c", SEVERAL], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "done\n", "")


def test_a_variable_of_a_graph_is_itself_once_there_are_strategies():
    tf.distribute.MirroredStrategy(["/CPU:0"])
    with tf.Graph().as_default() as graph:
        v = tf.compat.v1.get_variable("v", initializer=1.0)
        assert graph.get_collection("variables") == [v]
        assert v.graph is graph and v.op.name == "v"
        with tf.compat.v1.Session() as session:
            session.run(v.initializer)
            assert session.run(v.assign_add(1.0)) == 2.0
