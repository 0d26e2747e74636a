"""`tf.keras.losses` and `tf.keras.optimizers` in Python: classes, functions, and a program's own."""

import gc
import inspect
import json
import pathlib
import weakref

import numpy as np
import pytest

import holdfast as tf

losses, optimizers = tf.keras.losses, tf.keras.optimizers
schedules = optimizers.schedules
FIGURES = pathlib.Path(__file__).parent / "keras_reference"


def figures(name):
    read = json.loads((FIGURES / name).read_text())
    arrays = {key: array(value) for key, value in read["data"].items()}
    return arrays, read["cases"]


def array(said):
    values = [float(v) if isinstance(v, str) else v for v in said["values"]]
    return np.array(values, said["dtype"]).reshape(said["shape"])


def test_losses_give_what_keras_gives():
    arrays, cases = figures("losses.json")
    for case in cases:
        if "mask" in case:
            continue
        loss = getattr(losses, case["class"])(**case["config"])
        weight = arrays[case["sample_weight"]] if "sample_weight" in case else None
        got = loss(arrays[case["y_true"]], arrays[case["y_pred"]], sample_weight=weight)
        np.testing.assert_allclose(got, array(case["result"]), rtol=2e-5, atol=2e-6, err_msg=case)
        again = losses.deserialize(losses.serialize(loss))
        assert type(again) is type(loss)
        assert again.get_config() == loss.get_config()


def test_functions_give_the_loss_of_each_example():
    y, p = [[0.0, 1.0], [1.0, 1.0]], [[1.0, 1.0], [0.0, 3.0]]
    np.testing.assert_allclose(losses.mean_squared_error(y, p), [0.5, 2.5])
    assert losses.mse is losses.mean_squared_error is losses.get("mse")
    np.testing.assert_allclose(losses.huber(y, p, delta=0.5), [0.1875, 0.625])
    assert list(inspect.signature(losses.binary_crossentropy).parameters) == [
        "y_true",
        "y_pred",
        "from_logits",
        "label_smoothing",
        "axis",
    ]
    assert losses.serialize(losses.huber) == "huber"
    assert isinstance(losses.get("Huber"), losses.Huber)


@tf.keras.saving.register_keras_serializable("training")
class Weighted(losses.Loss):
    def __init__(self, factor=2.0, **options):
        super().__init__(**options)
        self.factor = factor

    def call(self, y_true, y_pred):
        return self.factor * tf.reduce_mean(tf.abs(y_true - y_pred), axis=-1)

    def get_config(self):
        return super().get_config() | {"factor": self.factor}


def test_a_loss_of_a_program_is_weighted_and_reduced():
    loss = Weighted(3.0, reduction="sum")
    assert loss.name == "weighted"
    got = loss([[1.0], [2.0]], [[0.0], [0.0]], sample_weight=[1.0, 0.5])
    assert float(got) == 6
    traced = tf.function(lambda y, p: loss(y, p))
    assert float(traced(tf.constant([[1.0]]), tf.constant([[3.0]]))) == 6
    again = losses.deserialize(losses.serialize(loss))
    assert type(again) is Weighted
    assert (again.factor, again.reduction) == (3.0, "sum")


def test_a_loss_may_change_what_its_base_computes():
    class Twice(losses.MeanSquaredError):
        def call(self, y_true, y_pred):
            return 2 * super().call(y_true, y_pred)

    assert float(Twice()([[1.0]], [[3.0]])) == 8


def test_labels_of_the_twin_are_told():
    with pytest.raises(ValueError, match="SparseCategoricalCrossentropy"):
        losses.CategoricalCrossentropy()([1, 2], [[0.1, 0.2, 0.7]] * 2)
    with pytest.raises(ValueError, match="use CategoricalCrossentropy"):
        losses.SparseCategoricalCrossentropy()([[0, 1, 0]] * 2, [[0.1, 0.2, 0.7]] * 2)


def test_optimizers_move_as_keras_moves():
    arrays, cases = figures("optimizers.json")
    for case in cases:
        if "class" not in case or "constraint" in case:
            continue
        config = dict(case["config"])
        rate = config.get("learning_rate")
        if isinstance(rate, dict):
            config["learning_rate"] = getattr(schedules, rate["class_name"])(**rate["config"])
        optimizer = getattr(optimizers, case["class"])(**config)
        matrix = tf.Variable(arrays["matrix"], name="matrix")
        vector = tf.Variable(arrays["vector"], name="vector")
        if "excluded" in case:
            optimizer.exclude_from_weight_decay(var_names=[case["excluded"]])
        values = []
        for step in range(5):
            gradients = [arrays["matrix_gradients"][step], arrays["vector_gradients"][step]]
            pairs = zip(map(tf.constant, gradients), [matrix, vector], strict=True)
            optimizer.apply_gradients(pairs)
            values += [matrix.numpy().ravel(), vector.numpy().ravel()]
        np.testing.assert_allclose(
            np.concatenate(values), array(case["values"]), rtol=1e-4, atol=1e-5, err_msg=case
        )
        assert [list(v.shape) for v in optimizer.variables] == case["shapes"]
        assert type(optimizers.deserialize(optimizers.serialize(optimizer))) is type(optimizer)


def test_a_rate_is_a_variable_that_steps_follow():
    optimizer = optimizers.SGD(1.0)
    v = tf.Variable(10.0)

    @tf.function
    def step():
        optimizer.apply_gradients([(tf.constant(1.0), v)])

    step()
    optimizer.learning_rate = 0.5
    step()
    optimizer.learning_rate.assign(0.25)
    step()
    assert v.numpy() == 8.25
    assert optimizer.iterations.numpy() == 3
    assert optimizer.get_config()["learning_rate"] == 0.25


class Warm(schedules.LearningRateSchedule):
    def __init__(self, start):
        self.start = start

    def __call__(self, step):
        return self.start * tf.cast(step + 1, tf.float32)

    def get_config(self):
        return {"start": self.start}


def test_a_schedule_of_a_program_and_a_function_say_rates():
    v = tf.Variable(0.0)
    optimizer = optimizers.SGD(Warm(0.5))
    for _ in range(3):
        optimizer.apply_gradients([(tf.constant(-1.0), v)])
    assert v.numpy() == 3
    assert float(optimizers.SGD(lambda: 0.25).learning_rate) == 0.25
    with pytest.raises(TypeError, match="follows a schedule"):
        optimizer.learning_rate = 0.1


class Momentum(optimizers.Optimizer):
    def __init__(self, learning_rate=0.1, momentum=0.5, **options):
        super().__init__(learning_rate=learning_rate, **options)
        self.momentum = momentum

    def build(self, variables):
        if self.built:
            return
        super().build(variables)
        self.means = [self.add_variable_from_reference(v, "mean") for v in variables]

    def update_step(self, gradient, variable, learning_rate):
        mean = self.means[self._get_variable_index(variable)]
        self.assign(mean, self.momentum * mean - learning_rate * gradient)
        self.assign_add(variable, mean)


@pytest.mark.parametrize("built_before", [False, True])
@pytest.mark.parametrize("traced", [False, True])
def test_an_optimizer_of_a_program_moves_as_it_says(built_before, traced):
    own, ours = Momentum(), optimizers.SGD(0.1, momentum=0.5)
    a, b = tf.Variable([1.0, 2.0], name="a"), tf.Variable([1.0, 2.0], name="a")
    if built_before:
        own.build([a])

    def step(g):
        own.apply_gradients([(g, a)])
        ours.apply_gradients([(g, b)])

    run = tf.function(step) if traced else step
    for i in range(3):
        run(tf.constant([1.0, float(i)]))
    np.testing.assert_allclose(a, b, rtol=1e-6)
    assert [v.path for v in own.variables][2:] == [f"{own.name}/a_mean"]
    assert len(own.variables) == 3


def test_rows_of_a_table_move_alone():
    table = tf.Variable(tf.ones([4, 2]))
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.gather(table, [1, 1, 3]))
    optimizers.SGD(1.0).apply_gradients([(tape.gradient(loss, table), table)])
    np.testing.assert_array_equal(table, [[1, 1], [-1, -1], [1, 1], [0, 0]])


def test_bad_uses_are_told():
    v = tf.Variable(1.0)
    with pytest.raises(ValueError, match="no gradient for any variable"):
        optimizers.Adam().apply_gradients([(None, v)])
    with pytest.raises(TypeError, match="does not have: `lr`"):
        optimizers.Adam(lr=0.1)
    with pytest.raises(TypeError, match="expected a number, a schedule or a function"):
        optimizers.SGD("fast")
    with pytest.raises(TypeError, match="has no `inner_optimizer`"):
        _ = optimizers.LossScaleOptimizer.__new__(optimizers.LossScaleOptimizer).iterations
    with pytest.raises(TypeError, match="got gradients without variables"):
        optimizers.SGD().apply([tf.constant(1.0)])
    with pytest.raises(ValueError, match="is not known"):
        optimizers.get("adamm")


def test_what_an_optimizer_holds_goes_with_it():
    optimizer = Momentum()
    optimizer.itself = optimizer
    v = tf.Variable(1.0)
    optimizer.apply_gradients([(tf.constant(1.0), v)])
    gone = weakref.ref(optimizer)
    del optimizer
    gc.collect()
    assert gone() is None


def test_an_optimizer_takes_one_name():
    """A model that was compiled with another one took the name of the usual one too."""
    keras = tf.keras
    keras.utils.clear_session()
    for optimizer, name in (("adam", "adam"), ("rmsprop", "rm_sprop"), ("rmsprop", "rm_sprop_1")):
        model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
        model.compile(optimizer, "mse")
        assert model.optimizer.name == name
    model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
    model.compile(loss="mse")
    assert model.optimizer.name == "rm_sprop_2"


class Earlier(tf.keras.Model):
    """A step as programs wrote it before Keras 3."""

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            y_pred = self(x, training=True)
            loss = self.compiled_loss(y, y_pred, regularization_losses=self.losses)
        slopes = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(slopes, self.trainable_variables, strict=True))
        self.compiled_metrics.update_state(y, y_pred)
        return {m.name: m.result() for m in self.metrics}


@pytest.mark.filterwarnings("ignore:`compiled_")
def test_steps_of_earlier_versions():
    keras = tf.keras
    x = np.random.default_rng(2).normal(size=(10, 3)).astype("float32")
    y = x.sum(1, keepdims=True)

    def trained(kind):
        inputs = keras.Input((3,))
        dense = keras.layers.Dense(1, kernel_initializer="ones", kernel_regularizer="l2")
        model = kind(inputs, dense(inputs))
        model.compile("sgd", "mse", metrics=["mae"])
        return model.fit(x, y, epochs=2, batch_size=4, shuffle=False, verbose=0).history

    wanted, got = trained(keras.Model), trained(Earlier)
    assert list(got) == list(wanted)
    for name in wanted:
        np.testing.assert_allclose(got[name], wanted[name], rtol=1e-5)


def test_results_of_metrics_have_the_names_that_training_tells():
    """Metrics of one name of two outputs were one."""
    keras = tf.keras
    inputs = keras.Input((3,))
    model = keras.Model(inputs, [keras.layers.Dense(1, name=name)(inputs) for name in "ab"])
    mae = keras.metrics.MeanAbsoluteError
    model.compile("sgd", "mse", metrics=[[mae(name="e")], [mae(name="e")]])
    x, y = np.ones((4, 3), "float32"), np.ones((4, 1), "float32")
    told = model.evaluate(x, [y, y], verbose=0, return_dict=True)
    now = model.get_metrics_result()
    assert sorted(now) == sorted(told) == ["a_e", "a_loss", "b_e", "b_loss", "loss"]
    for name in told:
        assert float(now[name]) == pytest.approx(told[name])


def test_classes_are_taken_for_what_they_make():
    """One that was given in the place of an object was called with the data."""
    keras = tf.keras

    class Ones(keras.initializers.Initializer):
        def __call__(self, shape, dtype=None, **kwargs):
            return tf.ones(shape, dtype)

    class Absolute(keras.losses.Loss):
        def call(self, y_true, y_pred):
            return tf.abs(y_true - y_pred)

    x, y = np.ones((4, 3), "float32"), np.ones((4, 1), "float32")
    for kind in (Ones, keras.initializers.Ones):
        dense = keras.layers.Dense(
            1,
            kernel_initializer=kind,
            kernel_regularizer=keras.regularizers.L2,
            kernel_constraint=keras.constraints.NonNeg,
        )
        assert dense(x).numpy().tolist() == [[3]] * 4
        assert isinstance(dense.kernel_regularizer, keras.regularizers.L2)
        assert isinstance(dense.kernel_constraint, keras.constraints.NonNeg)
    for loss, value in ((Absolute, 2), (keras.losses.MeanSquaredError, 4)):
        dense = keras.layers.Dense(1, kernel_initializer=keras.initializers.Ones)
        model = keras.Sequential([keras.Input((3,)), dense])
        model.compile("sgd", loss, metrics=[keras.metrics.MeanAbsoluteError])
        assert model.evaluate(x, y, verbose=0) == [value, 2]


@pytest.mark.parametrize("name", ["sgd", "adam", "rmsprop", "adagrad", "nadam", "lion", "ftrl"])
def test_a_row_that_is_looked_up_twice_moves_by_the_sum_of_its_gradients(name):
    table = np.random.default_rng(1).normal(size=(5, 3)).astype(np.float32)
    ids = np.array([0, 2, 2, 2, 4, 0])

    def moved(lookup):
        rows = tf.Variable(table)
        optimizer = optimizers.get({"class_name": name, "config": {"learning_rate": 0.1}})
        for _ in range(2):
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum(tf.square(lookup(rows) - 1.0))
            optimizer.apply_gradients([(tape.gradient(loss, rows), rows)])
        return rows.numpy()

    behind_one_hot = moved(lambda rows: tf.matmul(tf.one_hot(ids, 5), rows))
    looked_up = moved(lambda rows: tf.gather(rows, ids))
    np.testing.assert_allclose(looked_up, behind_one_hot, rtol=1e-5, atol=1e-6)
