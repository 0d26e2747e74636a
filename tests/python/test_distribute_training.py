"""Variables, datasets and training under `tf.distribute` strategies of one device."""

import collections

import numpy as np
import pytest

import holdfast as tf

D = tf.distribute
Sync, Aggregation = tf.VariableSynchronization, tf.VariableAggregation
X = np.linspace(-1, 1, 24, dtype="float32").reshape(12, 2)
Y = (X[:, :1] * 2 - X[:, 1:]).astype("float32")


@pytest.fixture(params=["mirrored", "one device", "default"])
def strategy(request):
    if request.param == "default":
        return D.get_strategy()
    return D.MirroredStrategy() if request.param == "mirrored" else D.OneDeviceStrategy("/cpu:0")


def line():
    return tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(1)])


# -- variables


def test_variables_of_a_scope_are_variables(strategy):
    with strategy.scope():
        v = tf.Variable([1.0, 2.0], name="v")
    assert isinstance(v, tf.Variable) and v.name == "v:0"
    strategy.run(lambda: v.assign_add([1.0, 1.0]))
    np.testing.assert_array_equal(v + v, [4, 6])


def test_how_copies_are_kept_equal_is_as_the_strategy_does_it():
    assert tf.Variable(1.0).synchronization is Sync.AUTO
    with D.MirroredStrategy().scope():
        assert tf.Variable(1.0).synchronization is Sync.ON_WRITE
        read = tf.Variable(1.0, synchronization=Sync.ON_READ, aggregation=Aggregation.SUM)
        assert not read.trainable and read.synchronization is Sync.ON_READ
        with pytest.raises(ValueError, match="`counter` has `synchronization` NONE"):
            tf.Variable(1.0, synchronization=Sync.NONE, name="counter")
    with D.OneDeviceStrategy("/cpu:0").scope():
        assert tf.Variable(1.0).synchronization is Sync.AUTO
        assert tf.Variable(1.0, synchronization=Sync.NONE).synchronization is Sync.NONE


@pytest.mark.parametrize("aggregation", list(Aggregation))
def test_every_aggregation_of_one_copy_is_that_copy(aggregation):
    strategy = D.MirroredStrategy()
    with strategy.scope():
        for synchronization in (Sync.AUTO, Sync.ON_WRITE, Sync.ON_READ):
            v = tf.Variable(1.0, synchronization=synchronization, aggregation=aggregation)
            v.assign(2.0)
            strategy.run(v.assign_add, args=(3.0,))
            assert (float(v), v.aggregation) == (5.0, aggregation)


def test_choices_are_taken_as_members_numbers_or_none():
    v = tf.Variable(1.0, synchronization=3, aggregation=2)
    assert (v.synchronization, v.aggregation) == (Sync.ON_READ, Aggregation.MEAN)
    v = tf.Variable(1.0, synchronization=None, aggregation=None)
    assert (v.synchronization, v.aggregation) == (Sync.AUTO, Aggregation.NONE)


@pytest.mark.parametrize("argument", ["synchronization", "aggregation"])
@pytest.mark.parametrize("value", ["sum", "auto", 17, -1, True, 1.0, D.ReduceOp.SUM])
def test_other_choices_are_refused_by_name(argument, value):
    with pytest.raises(ValueError, match=f"`{argument}` is ") as caught:
        tf.Variable(1.0, **{argument: value})
    assert repr(value) in str(caught.value) and "ON" in str(caught.value)


def test_updates_by_the_extended_face(strategy):
    with strategy.scope():
        v = tf.Variable(1.0)
    changed = strategy.extended.update(v, lambda var, x, by=1.0: var.assign(x * by), args=(3.0,))
    assert float(changed) == float(v) == 3.0
    (each,) = strategy.extended.update(v, lambda var: var.read_value(), group=False)
    assert float(each) == 3.0
    assert float(strategy.extended.reduce_to("SUM", tf.constant(2.0), v)) == 2.0
    pairs = [(tf.constant(1.0), v), (tf.constant(2.0), v)]
    assert [float(x) for x in strategy.extended.batch_reduce_to("MEAN", pairs)] == [1, 2]
    with strategy.extended.colocate_vars_with(v):
        assert tf.Variable(0.0).device == v.device


def test_a_variable_belongs_to_the_strategy_that_made_it(strategy):
    plain = tf.Variable(0.0)
    with strategy.scope():
        made, weight = tf.Variable(0.0), tf.keras.layers.Dense(1)
        weight.build((None, 2))
    default, other = D.get_strategy(), D.MirroredStrategy(["/cpu:0"])
    for v in (made, weight.kernel):
        asked = [s.extended.variable_created_in_scope(v) for s in (strategy, default, other)]
        assert asked == [True, strategy is default, False]
    assert default.extended.variable_created_in_scope(plain)
    with pytest.raises(TypeError, match="expected a Variable"):
        strategy.extended.variable_created_in_scope(1.0)


def test_a_mirrored_variable_changes_under_its_own_strategy_or_none():
    mine, other = D.MirroredStrategy(["/cpu:0"]), D.MirroredStrategy(["/cpu:0"])
    with mine.scope():
        v = tf.Variable([0.0, 0.0])

    @tf.function
    def add():
        v.assign_add([1.0, 1.0])
        return v + 0.0

    with mine.scope():
        v.assign_add([1.0, 1.0])
    v.assign_add([1.0, 1.0])
    assert add().numpy().tolist() == [3.0, 3.0]
    assert mine.run(add).numpy().tolist() == [4.0, 4.0]
    changes = [
        lambda: v.assign([0.0, 0.0]),
        lambda: v.scatter_add(tf.IndexedSlices(tf.ones([1]), tf.constant([0]))),
        lambda: v[0].assign(2.0),
        lambda: tf.raw_ops.AssignSubVariableOp(resource=v.handle, value=[1.0, 1.0]),
        lambda: tf.keras.optimizers.SGD().apply([tf.ones([2])], [v]),
        add,  # traced before, where it was allowed
    ]
    was = v.numpy().tolist()
    for change in changes:
        for caught in (ValueError, RuntimeError):
            with pytest.raises(caught, match="E0704"):
                other.run(change)
        with other.scope(), pytest.raises(ValueError, match="E0704"):
            change()
        assert v.numpy().tolist() == was
    assert other.run(lambda: v + 1.0).numpy().tolist() == [x + 1 for x in was]
    assert add().numpy().tolist() == [x + 1 for x in was]


def test_variables_without_copies_change_anywhere():
    one, mirrored = D.OneDeviceStrategy("/cpu:0"), D.MirroredStrategy(["/cpu:0"])
    with one.scope():
        v = tf.Variable(0.0)
    for strategy in (one, mirrored, D.get_strategy()):
        strategy.run(lambda: v.assign_add(1.0))
    assert float(v) == 3.0


# -- datasets


def test_a_distributed_dataset_gives_all_elements_each_time(strategy):
    ds = tf.data.Dataset.range(5).batch(2)
    shared = strategy.experimental_distribute_dataset(ds, D.InputOptions())
    for _ in range(2):
        assert [list(b.numpy()) for b in shared] == [[0, 1], [2, 3], [4]]
    assert shared.element_spec == ds.element_spec
    it = iter(shared)
    assert list(next(it).numpy()) == [0, 1] and list(it.get_next().numpy()) == [2, 3]
    assert it.element_spec == ds.element_spec
    assert isinstance(shared, D.DistributedDataset) is (strategy is not D.get_strategy())
    assert isinstance(it, D.DistributedIterator) is (strategy is not D.get_strategy())
    assert not isinstance(iter(ds), D.DistributedIterator)


def test_named_tuples_stay_named(strategy):
    Pair = collections.namedtuple("Pair", "x y")
    ds = tf.data.Dataset.from_tensor_slices(Pair(X, Y)).batch(5)
    for pair in strategy.experimental_distribute_dataset(ds):
        assert pair.x.shape[1] == 2 and type(pair) is Pair


def test_a_function_makes_the_dataset_of_the_worker(strategy):
    seen = []

    def make(context):
        seen.append(repr(context))
        size = context.get_per_replica_batch_size(4)
        shards = context.num_input_pipelines, context.input_pipeline_id
        return tf.data.Dataset.range(6).shard(*shards).batch(size)

    shared = strategy.distribute_datasets_from_function(make)
    assert [list(b.numpy()) for b in shared] == [[0, 1, 2, 3], [4, 5]]
    assert seen == ["tf.distribute.InputContext(input pipeline id 0, total: 1)"]


def test_batches_that_replicas_cannot_share_are_refused():
    context = D.InputContext(num_input_pipelines=2, input_pipeline_id=1, num_replicas_in_sync=4)
    assert context.get_per_replica_batch_size(8) == 2
    with pytest.raises(ValueError, match="7"):
        context.get_per_replica_batch_size(7)


# -- iterators in traced functions


def test_each_run_of_a_trace_takes_the_next_element():
    it = iter(tf.data.Dataset.from_tensor_slices({"a": [1, 2, 3], "b": [1.0, 2.0, 3.0]}))

    @tf.function
    def step(iterator):
        element = next(iterator)
        return element["a"], element["b"] * 2

    assert [int(step(it)[0]) for _ in range(2)] == [1, 2]
    assert int(next(it)["a"]) == 3  # they share the position
    assert step.experimental_get_tracing_count() == 1
    with pytest.raises(tf.errors.OutOfRangeError, match="End of sequence"):
        step(it)
    with pytest.raises(tf.errors.OutOfRangeError):
        tf.function(lambda: it.get_next())()
    assert not issubclass(type(_index_error()), tf.errors.OutOfRangeError)


def test_one_trace_serves_all_iterators_of_a_kind():
    Pair = collections.namedtuple("Pair", "x y")
    ds = tf.data.Dataset.from_tensor_slices(Pair(np.arange(6.0), np.arange(6)))

    @tf.function
    def taken(it):
        return next(it).x

    @tf.function
    def step(it):
        return taken(it) + 10.0 * it.get_next().x

    @tf.function
    def rest(it):
        total = tf.constant(0.0, tf.float64)
        for pair in it:
            total += pair.x
        return total

    for _ in range(3):
        it = iter(ds)
        assert [float(step(it)), float(step(it)), float(rest(it))] == [10.0, 32.0, 9.0]
    assert [f.experimental_get_tracing_count() for f in (step, rest)] == [1, 1]
    other = tf.data.Dataset.from_tensor_slices(Pair(np.ones([4, 2]), np.arange(4)))
    assert step(iter(other)).shape == (2,)
    assert step.experimental_get_tracing_count() == 2

    it = iter(ds)
    closed = tf.function(lambda: next(it).x)  # one that is not an argument
    assert [float(closed()) for _ in range(3)] == [0, 1, 2]
    assert closed.experimental_get_tracing_count() == 1


def _index_error():
    with pytest.raises(IndexError) as caught:
        tf.gather(tf.zeros([2]), 5)
    return caught.value


def test_elements_are_taken_in_loops_and_branches_of_the_graph():
    @tf.function
    def total(iterator, count, extra):
        out = tf.constant(0, tf.int64)
        for _ in tf.range(count):
            out += next(iterator)
        if extra:
            out += 100 * next(iterator)
        return out

    it = iter(tf.data.Dataset.range(20))
    assert int(total(it, tf.constant(3), tf.constant(False))) == 3
    assert int(total(it, tf.constant(2), tf.constant(True))) == 7 + 500
    assert int(next(it)) == 6


# -- training


def test_a_loop_of_ones_own_trains_as_without_a_strategy(strategy):
    def train(strategy, run, reduce):
        model = line()
        model.set_weights([np.full((2, 1), 0.5, "float32"), np.zeros(1, "float32")])
        optimizer = tf.keras.optimizers.SGD(0.1, momentum=0.5)
        seen = tf.keras.metrics.Mean()

        def replica(batch):
            x, y = batch
            with tf.GradientTape() as tape:
                each = tf.keras.losses.mean_squared_error(y, model(x, training=True))
                loss = tf.nn.compute_average_loss(each, global_batch_size=4)
            slopes = tape.gradient(loss, model.trainable_variables)
            optimizer.apply_gradients(zip(slopes, model.trainable_variables))
            seen.update_state(each)
            return loss

        @tf.function
        def step(batch):
            return reduce("SUM", run(replica, args=(batch,)), axis=None)

        ds = tf.data.Dataset.from_tensor_slices((X, Y)).batch(4)
        ds = strategy.experimental_distribute_dataset(ds)
        losses = [float(step(batch)) for _ in range(3) for batch in ds]
        return losses, model.get_weights()[0], float(seen.result())

    with strategy.scope():
        mine = train(strategy, strategy.run, strategy.reduce)
    plain = train(D.get_strategy(), lambda f, args: f(*args), lambda how, value, axis: value)
    np.testing.assert_array_equal(mine[0], plain[0])
    np.testing.assert_array_equal(mine[1], plain[1])
    assert mine[2] == plain[2] and mine[0][-1] < mine[0][0]


def test_whole_epochs_and_iterators_inside_of_the_traced_function(strategy):
    weight = tf.Variable(0.0)

    def replica(batch):
        weight.assign_add(tf.reduce_sum(batch[0]))
        return tf.reduce_mean(batch[1])

    @tf.function
    def epoch(ds):
        total, count = 0.0, 0
        for batch in ds:
            each = strategy.run(replica, args=(batch,))
            total += strategy.reduce("MEAN", each, axis=None)
            count += 1
        return total / tf.cast(count, tf.float32)

    @tf.function
    def steps(it, count):
        total = 0.0
        for _ in tf.range(count):
            each = strategy.run(replica, args=(next(it),))
            total += strategy.reduce(D.ReduceOp.SUM, each, axis=None)
        return total

    ds = tf.data.Dataset.from_tensor_slices((X, Y)).batch(3)
    ds = strategy.experimental_distribute_dataset(ds)
    np.testing.assert_allclose(epoch(ds), Y.mean(), atol=1e-6)
    np.testing.assert_allclose(weight, X.sum(), atol=1e-5)
    wanted = sum(Y[i : i + 3].mean() for i in (0, 3))
    np.testing.assert_allclose(steps(iter(ds), tf.constant(2)), wanted, rtol=1e-5)


def test_models_train_under_a_scope_as_without(strategy):
    def history(scope):
        with scope:
            model = line()
            model.set_weights([np.full((2, 1), 0.5, "float32"), np.zeros(1, "float32")])
            model.compile(tf.keras.optimizers.Adam(0.1), "mse", metrics=["mae"])
        got = model.fit(X, Y, batch_size=4, epochs=3, shuffle=False, verbose=0).history
        return got, model.evaluate(X, Y, verbose=0), model.predict(X, verbose=0)

    mine = history(strategy.scope())
    plain = history(D.get_strategy().scope())
    assert mine[0] == plain[0] and mine[1] == plain[1]
    np.testing.assert_array_equal(mine[2], plain[2])


def test_a_model_knows_its_strategy_and_its_steps_run_on_a_replica():
    strategy = D.MirroredStrategy()
    seen = []

    class Layer(tf.keras.layers.Layer):
        def call(self, x):
            context = D.get_replica_context()
            seen.append((D.get_strategy(), context))
            return context.all_reduce("MEAN", x)

    class Model(tf.keras.Model):
        def __init__(self):
            super().__init__()
            self.inner, self.head = Layer(), tf.keras.layers.Dense(1)

        def call(self, x):
            return self.head(self.inner(x))

    for make in (Model, lambda: tf.keras.Sequential([Layer(), tf.keras.layers.Dense(1)])):
        for eager in (False, True):
            seen.clear()
            with strategy.scope():
                model = make()
                model.compile("sgd", "mse", run_eagerly=eager)
            assert model.distribute_strategy is strategy
            shared = strategy.experimental_distribute_dataset(
                tf.data.Dataset.from_tensor_slices((X, Y)).batch(4)
            )
            model.fit(shared, validation_data=shared, verbose=0)
            model.evaluate(shared, verbose=0)
            assert model.predict(shared, verbose=0).shape == (12, 1)
            model.train_on_batch(X, Y)
            model.predict_on_batch(X)
            assert seen and all(s is strategy and c is not None for s, c in seen)
    assert not D.has_strategy()
    assert line().distribute_strategy is D.get_strategy()


def test_training_under_another_strategy_is_refused():
    with D.MirroredStrategy().scope():
        model = line()
        model.compile("sgd", "mse")
    other = D.OneDeviceStrategy("/cpu:0")
    with other.scope(), pytest.raises(RuntimeError, match="another strategy"):
        model.fit(X, Y, verbose=0)
    assert np.isfinite(model.fit(X, Y, verbose=0).history["loss"][0])
