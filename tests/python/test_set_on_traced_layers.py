"""What is set on Keras' own objects holds for the next call of every function that was traced before."""

import gc
import threading
import weakref

import attribute_fuzz_child
import numpy as np
import pytest

import holdfast as tf
from holdfast.keras import layers, losses, optimizers, regularizers

X = np.array([[1.0, -2.0, 3.0], [0.5, 4.0, -1.0]], np.float32)
Y = np.zeros([2, 1], np.float32)


def traced(code):
    made = tf.function(code)
    for _ in range(3):
        made(tf.constant(X))
    assert made.experimental_get_tracing_count() == 1  # to build is no change
    return made


def near(got, wanted):
    np.testing.assert_allclose(np.asarray(got), np.asarray(wanted), rtol=1e-5, atol=1e-6)


def ones(*shape):
    return tf.Variable(tf.ones(shape))


def embedding():
    return tf.keras.Sequential([layers.Rescaling(0.0), layers.Embedding(5, 2)])


@pytest.mark.parametrize(
    ("make", "change"),
    [
        (lambda: layers.Dense(2), lambda d: setattr(d, "kernel", ones(3, 2))),
        (lambda: layers.Dense(2), lambda d: setattr(d, "bias", ones(2))),
        (lambda: layers.Dense(2), lambda d: setattr(d, "activation", tf.abs)),
        (lambda: layers.Dense(2), lambda d: setattr(d, "activation", layers.ReLU(max_value=0.25))),
        (lambda: layers.LeakyReLU(0.1), lambda d: setattr(d, "negative_slope", 0.9)),
        (lambda: layers.Rescaling(2.0), lambda d: setattr(d, "offset", 1.0)),
        (lambda: layers.Softmax(), lambda d: setattr(d, "axis", 0)),
        (lambda: layers.LayerNormalization(), lambda d: setattr(d, "epsilon", 3.0)),
        (lambda: layers.BatchNormalization(), lambda d: setattr(d, "epsilon", 3.0)),
        (lambda: layers.BatchNormalization(), lambda d: setattr(d, "moving_mean", ones(3))),
        (
            lambda: layers.Normalization(mean=1.0, variance=4.0),
            lambda d: setattr(d, "invert", True),
        ),
        (embedding, lambda m: setattr(m.layers[1], "embeddings", ones(5, 2))),
        (lambda: layers.Dense(2), lambda d: setattr(d, "dtype_policy", "mixed_bfloat16")),
        (lambda: tf.keras.Sequential([layers.ReLU()]), lambda m: m.add(layers.Rescaling(3.0))),
        (
            lambda: tf.keras.Sequential([layers.ReLU(), layers.Rescaling(3.0)]),
            lambda m: m.pop(),
        ),
        (
            lambda: tf.keras.Sequential([layers.Reshape((3, 1)), layers.SimpleRNN(2)]),
            lambda m: setattr(m.layers[1].cell, "recurrent_kernel", ones(2, 2)),
        ),
        (
            lambda: tf.keras.Sequential([layers.Reshape((3, 1)), layers.LSTM(2)]),
            lambda m: setattr(m.layers[1].cell, "recurrent_activation", tf.nn.relu),
        ),
    ],
)
def test_a_call_goes_by_what_was_set(make, change):
    layer = make()
    f = traced(lambda x: layer(x))
    before = f(tf.constant(X)).numpy()
    change(layer)
    now = f(tf.constant(X))
    near(tf.cast(now, tf.float32), tf.cast(layer(tf.constant(X)), tf.float32))
    assert now.shape != before.shape or not np.allclose(tf.cast(now, tf.float32), before)


def test_random_layers_training_and_momentum():
    drop, norm = layers.Dropout(0.0), layers.BatchNormalization()
    dropped = traced(lambda x: drop(x, training=True))
    drop.rate = 0.999
    assert np.count_nonzero(dropped(tf.ones([2, 3]))) == 0
    f = traced(lambda x: norm(x, training=True))
    norm.momentum = 0.0
    f(tf.constant(X))
    near(norm.moving_mean, X.mean(0))
    norm.trainable = False
    near(f(tf.constant(X)), norm(tf.constant(X), training=True))
    near(norm.moving_mean, X.mean(0))


def test_options_that_traced_code_reads():
    layer = layers.LeakyReLU(0.5)
    f = traced(lambda x: x * layer.negative_slope)
    layer.negative_slope = 0.25
    near(f(tf.constant(X)), X * 0.25)
    dense = layers.Dense(2)
    dense.build((None, 3))
    g = traced(lambda x: x @ dense.kernel if dense.trainable else x)
    dense.kernel = ones(3, 2)
    near(g(tf.constant(X)), X @ np.ones([3, 2]))
    dense.trainable = False
    near(g(tf.constant(X)), X)


def test_what_is_as_it_was_finds_its_trace_again():
    layer = layers.LeakyReLU(0.5)
    f = traced(lambda x: layer(x))
    for slope in (0.25, 0.5, 0.25, 0.5):
        layer.negative_slope = slope
        near(f(tf.constant(X)), np.where(X > 0, X, X * slope))
    assert f.experimental_get_tracing_count() == 2
    layer.trainable = False  # nothing that a call goes by
    f(tf.constant(X))
    assert f.experimental_get_tracing_count() == 2


def test_values_of_variables_need_no_trace():
    dense = layers.Dense(2)
    f = traced(lambda x: dense(x))
    dense.kernel.assign(tf.ones([3, 2]))
    dense.set_weights([np.full([3, 2], 2.0), np.ones(2)])
    near(f(tf.constant(X)), X @ np.full([3, 2], 2.0) + 1)
    assert f.experimental_get_tracing_count() == 1


def test_functions_inside_gradients_and_branches():
    layer = layers.LeakyReLU(0.5)
    inner = traced(lambda x: layer(x))
    outer = traced(lambda x: inner(x) + 1.0)

    @tf.function
    def slopes(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = inner(x)
        return tape.gradient(y, x)

    @tf.function
    def staged(x):
        if tf.reduce_sum(x) > 0:
            return layer(x)
        return x

    @tf.function
    def through_concrete(x):
        return inner.get_concrete_function(x)(x)

    x = tf.constant(X)
    for f in (slopes, staged, through_concrete):
        f(x)
    layer.negative_slope = 0.25
    leaky = np.where(X > 0, X, X * 0.25)
    near(outer(x), leaky + 1)
    near(slopes(x), np.where(X > 0, 1.0, 0.25))
    near(staged(x), leaky)
    near(through_concrete(x), leaky)


def test_a_concrete_function_goes_on():
    layer = layers.LeakyReLU(0.5)
    f = traced(lambda x: layer(x))
    concrete = f.get_concrete_function(tf.constant(X))
    layer.negative_slope = 0.25
    near(concrete(tf.constant(X)), np.where(X > 0, X, X * 0.5))
    assert f.get_concrete_function(tf.constant(X)) is not concrete


def test_code_that_sets_an_option_itself():
    layer = layers.LeakyReLU(0.5)

    @tf.function
    def f(x):
        y = layer(x)
        layer.negative_slope = 0.25
        return y

    near(f(tf.constant(X)), np.where(X > 0, X, X * 0.5))
    for _ in range(3):
        near(f(tf.constant(X)), np.where(X > 0, X, X * 0.25))
    assert f.experimental_get_tracing_count() == 2


def fitted(**compiled):
    dense = layers.Dense(1, use_bias=False, kernel_initializer="ones")
    model = tf.keras.Sequential([tf.keras.Input((3,)), dense])
    model.compile(**{"optimizer": "sgd", "loss": "mse", **compiled})
    model.fit(X, Y, verbose=0)
    model.predict(X, verbose=0)
    model.evaluate(X, Y, verbose=0)
    return model, dense


@pytest.mark.parametrize("optimizer", ["sgd", "adam"])
def test_the_loops_go_by_a_weight_that_was_set(optimizer):
    model, dense = fitted(optimizer=optimizer)
    old = dense.kernel.numpy()
    before, dense.kernel = dense.kernel, tf.Variable(tf.fill([3, 1], 2.0))
    near(model.predict(X, verbose=0), X @ np.full([3, 1], 2.0))
    near(model.evaluate(X, Y, verbose=0), np.mean((X @ np.full([3, 1], 2.0)) ** 2))
    model.fit(X, Y, verbose=0)
    assert not np.allclose(dense.kernel.numpy(), 2.0)
    near(before, old)
    kept = dense.kernel.numpy()
    model.train_on_batch(X, Y)
    assert not np.allclose(dense.kernel.numpy(), kept)


def test_frozen_layers_losses_optimizers_and_penalties():
    loss, sgd = losses.Huber(delta=1.0), optimizers.SGD(0.1)
    model, dense = fitted(optimizer=sgd, loss=loss)
    dense.trainable = False
    kept = dense.kernel.numpy()
    with pytest.warns(UserWarning, match="no trainable weights"):
        model.fit(X, Y, verbose=0)
    near(dense.kernel, kept)
    dense.trainable = True
    loss.delta = 0.125
    near(model.evaluate(X, Y, verbose=0), losses.Huber(0.125)(Y, model(X)))
    sgd.clipvalue = 0.001
    before = dense.kernel.numpy()
    model.train_on_batch(X, Y)
    assert 0 < np.abs(dense.kernel.numpy() - before).max() <= 1.001e-4

    rule = regularizers.L2(0.0)
    model = tf.keras.Sequential([layers.Dense(1, kernel_regularizer=rule)])
    model.compile("sgd", "mse")
    plain = model.evaluate(X, Y, verbose=0)
    rule.l2 = 1.0
    near(model.evaluate(X, Y, verbose=0), plain + np.sum(model.layers[0].kernel.numpy() ** 2))


def test_a_rate_that_is_set_needs_no_trace():
    model, dense = fitted()
    step = model.__dict__["_steps"]["train_step"]
    count = step.experimental_get_tracing_count()
    for rate in (0.1, 0.01, 0.0):
        model.optimizer.learning_rate = rate
        model.train_on_batch(X, Y)
    kept = dense.kernel.numpy()
    model.train_on_batch(X, Y)
    near(dense.kernel, kept)
    assert step.experimental_get_tracing_count() == count


def test_reports_and_warnings_name_what_was_set(capsys):
    layer = layers.LeakyReLU(0.5, name="leaky")
    f = traced(lambda x: layer(x))
    for i in range(4):
        layer.negative_slope = 0.25 * i
        f(tf.constant(X))
    warned = capsys.readouterr().err
    assert "W0601" in warned and "`layer.negative_slope` was 0.5, now 0.75" in warned, warned
    assert "2. layer.negative_slope: was 0.5, now 0.0" in f.trace_report()
    model, dense = fitted()
    dense.kernel = tf.Variable(tf.ones([3, 1]), name="other")
    model.predict(X, verbose=0)
    report = model.__dict__["_steps"]["predict_step"].trace_report()
    assert f"`kernel` of layer `{dense.name}`: was the Variable" in report and "other" in report


def test_layers_made_inside_and_elsewhere_are_no_reason_to_trace_again():
    f = traced(lambda x: layers.Rescaling(2.0)(x))
    for i in range(20):
        made = layers.Rescaling(1.0)
        made.scale = float(i)
        near(f(tf.constant(X)), X * 2)
    assert f.experimental_get_tracing_count() == 1


def test_a_trace_holds_no_layer():
    layer = [layers.Dense(2)]
    f = traced(lambda x: layer[0](x))
    gone = weakref.ref(layer[0])
    layer[0] = layers.Dense(2)
    f(tf.constant(X))
    gc.collect()
    assert gone() is None


def test_threads_agree_in_the_end():
    layer = layers.LeakyReLU(0.5)
    f = traced(lambda x: layer(x))

    def change():
        for i in range(100):
            layer.negative_slope = 0.25 * (1 + i % 2)

    other = threading.Thread(target=change)
    other.start()
    for _ in range(100):
        got = f(tf.constant(X)).numpy()
        assert any(np.allclose(got, np.where(X > 0, X, X * s)) for s in (0.25, 0.5))
    other.join()
    near(f(tf.constant(X)), np.where(X > 0, X, X * 0.5))


def test_a_weight_that_changed_after_training_is_trained_by_the_next_step():
    model = attribute_fuzz_child.compiled()
    x, y = tf.ones([2, 3]), tf.zeros([2, 2])
    model.fit(x, y, verbose=0)
    model.layers[0].kernel = other = tf.Variable(tf.ones([3, 2]))
    model.fit(x, y, verbose=0)
    assert not np.allclose(other.numpy(), 1.0)


def moved(variable, train):
    before = variable.numpy()
    train()
    return not np.allclose(variable.numpy(), before)


@pytest.mark.parametrize("optimizer", ["sgd", "adam"])
def test_a_frozen_weight_holds_for_the_next_step(optimizer):
    dense = layers.Dense(1, kernel_initializer="ones")
    model = tf.keras.Sequential([tf.keras.Input((3,)), dense])
    model.compile(optimizer, "mse")
    steps = (lambda: model.fit(X, Y, verbose=0), lambda: model.train_on_batch(X, Y))
    for train in steps:
        dense.kernel.trainable = True
        assert moved(dense.kernel, train)
        dense.kernel.trainable = False
        assert model.trainable_variables == [dense.bias]
        assert not moved(dense.kernel, train) and moved(dense.bias, train)


def test_traced_code_goes_by_frozen_weights():
    dense = layers.Dense(2, kernel_regularizer="l2")
    listed = traced(lambda x: dense(x)[0, 0] * 0 + len(dense.trainable_variables))
    asked = traced(lambda x: tf.constant(1.0 if dense.kernel.trainable else 0.0))
    penalty = traced(lambda x: tf.constant(float(len(dense.losses))))
    x = tf.constant(X)
    for trained in (False, True):
        dense.kernel.trainable = trained
        assert [float(f(x)) for f in (listed, asked, penalty)] == [1 + trained, trained, trained]


def test_a_method_that_an_object_gets_is_called_by_both_languages():
    class Mine(layers.Dense):
        pass

    for dense in (layers.Dense(2), Mine(2)):
        model = tf.keras.Sequential([dense])
        f = tf.function(lambda x, model=model: model(x))
        usual = f(tf.constant(X)).numpy()
        dense.call = lambda inputs: inputs * 5.0
        for call in (dense, model, f):
            near(call(tf.constant(X)), X * 5)
        del dense.call
        near(f(tf.constant(X)), usual)


def test_a_method_on_an_object_may_call_the_one_of_its_class():
    dense = layers.Dense(2)
    f = tf.function(lambda x: dense(x))
    usual, own = f(tf.constant(X)).numpy(), dense.call
    dense.call = lambda x: own(x) + 1.0
    near(f(tf.constant(X)), usual + 1)
    dense.call = tf.function(own)
    near(f(tf.constant(X)), usual)
    near(dense(tf.constant(X)), usual)


def test_layers_make_their_weights_by_an_add_weight_of_the_program():
    made = []

    class Halved(layers.Dense):
        def add_weight(self, *args, **kwargs):
            made.append(kwargs["name"])
            variable = super().add_weight(*args, **kwargs)
            variable.assign(variable / 2)
            return variable

    dense = Halved(2, kernel_initializer="ones", kernel_regularizer="l2")
    near(dense(tf.constant(X)), X @ np.full([3, 2], 0.5))
    assert made == ["kernel", "bias"] and len(dense.losses) == 1

    class Wrong(layers.Dense):
        def add_weight(self, *args, **kwargs):
            return 1.0

    with pytest.raises(TypeError, match="`add_weight` gave 1.0, expected a Variable"):
        Wrong(2)(tf.constant(X))
