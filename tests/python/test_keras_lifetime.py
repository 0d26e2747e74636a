"""A model that nobody has any more is gone at once, with all that it trained with."""

import gc
import weakref

import numpy as np
import pytest

import holdfast as tf

K = tf.keras


class Own(K.Model):
    def __init__(self):
        super().__init__()
        self.first = K.layers.Dense(5, activation="relu")
        self.second = K.layers.Dense(3)

    def call(self, x):
        return self.second(self.first(x))


class OwnStep(Own):
    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            loss = self.compute_loss(y=y, y_pred=self(x, training=True))
        self.optimizer.apply_gradients(
            zip(
                tape.gradient(loss, self.trainable_variables), self.trainable_variables, strict=True
            )
        )
        return {"loss": loss}


def sequential():
    return K.Sequential(
        [K.Input((4,)), K.layers.Dense(5), K.layers.Dropout(0.1), K.layers.Dense(3)]
    )


def functional():
    x = K.Input((4,))
    return K.Model(x, K.layers.Dense(3)(K.layers.BatchNormalization()(x)))


@pytest.fixture
def no_collector():
    gc.collect()
    gc.disable()
    yield
    gc.enable()


X = np.random.default_rng(0).normal(size=(12, 4)).astype("float32")
Y = np.arange(12) % 3


def trained(make):
    model = make()
    model.compile(
        "adam", K.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"]
    )
    model.fit(X, Y, batch_size=4, epochs=2, verbose=0)
    model.evaluate(X, Y, verbose=0)
    model.predict(X, verbose=0)
    return model


@pytest.mark.parametrize("make", [sequential, functional, Own, OwnStep])
@pytest.mark.usefixtures("no_collector")
def test_a_trained_model_goes_with_its_last_name(make):
    model = trained(make)
    parts = [weakref.ref(o) for o in (model, model.layers[-1], model.optimizer, model.history)]
    del model
    assert [one() for one in parts] == [None] * 4


@pytest.mark.usefixtures("no_collector")
def test_a_history_shows_its_model_while_there_is_one():
    model = trained(sequential)
    history = model.history
    assert history.model is model
    assert history.history["loss"]
    del model
    assert history.model is None


def test_models_that_come_and_go_leave_nothing_behind():
    def resident():
        with open("/proc/self/status") as f:
            return next(int(line.split()[1]) for line in f if line.startswith("VmRSS"))

    for _ in range(20):
        trained(sequential)
    gc.collect()
    before = resident()
    for _ in range(60):
        trained(sequential)
    gc.collect()
    assert resident() - before < 4096, "kilobytes more after 60 models"


def own_function(make):
    """A layer of a function that leads back to it."""
    layer = make(lambda x: x * layers[0].weight)
    layer.weight, layers = 2.0, [layer]
    layer(X)
    return [layer]


def own_loss():
    model = sequential()
    model.compile("sgd", lambda y, p: tf.reduce_mean((y - p) ** 2) * len(model.layers))
    model.evaluate(X, np.zeros((12, 3)), verbose=0)
    return [model]


def own_metric():
    model = sequential()
    model.compile("sgd", "mse", metrics=[lambda y, p: tf.reduce_mean(p) * len(model.layers)])
    model.fit(X, np.zeros((12, 3)), verbose=0)
    return [model]


def own_schedule():
    class Constant(K.optimizers.schedules.LearningRateSchedule):
        def __call__(self, step):
            return 0.1

    rate = Constant()
    rate.used_by = K.optimizers.Adam(rate)
    return [rate, rate.used_by]


@pytest.mark.parametrize(
    "make",
    [
        lambda: own_function(lambda f: K.layers.Lambda(f)),
        lambda: own_function(lambda f: K.layers.Dense(1, activation=f)),
        lambda: own_function(lambda f: K.layers.Dense(1, kernel_regularizer=f)),
        lambda: own_function(lambda f: K.layers.Dense(1, kernel_constraint=f)),
        own_loss,
        own_metric,
        own_schedule,
    ],
)
def test_what_leads_back_to_its_holder_is_collected(make):
    gone = [weakref.ref(each) for each in make()]
    gc.collect()
    assert [each() for each in gone] == [None] * len(gone)
