"""Models that say themselves what training begins anew and tells of; metrics of several numbers."""

import numpy as np
import pytest

import holdfast as tf
from holdfast import keras

X = np.random.default_rng(0).normal(size=(24, 4)).astype("f")
Y = np.abs(X).sum(1, keepdims=True)


class Tracked(keras.Model):
    """Has a mean and a count of its own; `told` says which of them, and `gives` what a step says."""

    def __init__(self, told, gives, name="own"):
        super().__init__()
        self.dense = keras.layers.Dense(1, kernel_initializer="ones")
        self.mean, self.ever = keras.metrics.Mean(name=name), keras.metrics.Sum(name="ever")
        self.told, self.gives = told, gives

    @property
    def metrics(self):
        return self.told(self, super().metrics)

    def call(self, x):
        return self.dense(x)

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            loss = self.compute_loss(x, y, self(x, training=True))
        weights = self.trainable_variables
        self.optimizer.apply(tape.gradient(loss, weights), weights)
        return self.after(loss)

    def test_step(self, data):
        x, y = data
        return self.after(self.compute_loss(x, y, self(x, training=False)))

    def after(self, loss):
        self.mean.update_state(loss)
        self.ever.update_state(1.0)
        return self.gives(self, loss)


def fitted(model, **options):
    return model.fit(X, Y, batch_size=8, epochs=3, verbose=0, shuffle=False, **options).history


def losses():
    """The mean of the losses of each epoch, as the usual step tells it."""
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1, kernel_initializer="ones")])
    model.compile(keras.optimizers.SGD(0.1), "mse")
    return fitted(model)["loss"]


def test_what_a_class_leaves_out_of_its_metrics_is_neither_begun_anew_nor_told():
    model = Tracked(lambda m, _: [m.mean], lambda m, _: m.get_metrics_result())
    model.compile(keras.optimizers.SGD(0.1), "mse")
    assert model.metrics_names == ["own"]
    history = fitted(model)
    assert list(history) == ["own"]
    np.testing.assert_allclose(history["own"], losses(), rtol=1e-5)
    assert float(model.ever.result()) == 9
    assert list(model.metrics_variables) == list(model.mean.variables)
    assert isinstance(model.evaluate(X, Y, verbose=0), float)


def test_the_metrics_have_the_last_word_where_steps_tell_of_the_same_names():
    """A step may tell of its own batch, which is not the number of the epoch."""
    model = Tracked(lambda m, _: [m.mean], lambda _, loss: {"loss": loss}, name="loss")
    model.compile(keras.optimizers.SGD(0.1), "mse")
    np.testing.assert_allclose(fitted(model)["loss"], losses(), rtol=1e-5)
    weights = model.get_weights()
    by_hand = float(np.mean((X @ weights[0] + weights[1] - Y) ** 2))
    assert model.evaluate(X, Y, batch_size=8, verbose=0) == pytest.approx(by_hand, rel=1e-5)


def test_a_loss_that_no_step_has_told_is_the_steps_own():
    model = Tracked(lambda m, usual: usual[:1], lambda _, loss: {"loss": loss})
    model.compile(keras.optimizers.SGD(0.1), "mse")
    assert all(value > 0 for value in fitted(model)["loss"])


def test_steps_that_tell_of_other_names_are_told_as_they_are():
    model = Tracked(lambda m, _: [], lambda m, loss: {"z": m.mean.result(), "a": loss})
    model.compile(keras.optimizers.SGD(0.1), "mse")
    assert list(fitted(model)) == ["a", "z"]
    told = model.evaluate(X, Y, verbose=0, return_dict=True)
    assert model.evaluate(X, Y, verbose=0)[0] == pytest.approx(told["a"])


def test_the_usual_step_tells_of_the_metrics_that_a_class_says():
    class Own(keras.Model):
        def __init__(self):
            super().__init__()
            self.dense = keras.layers.Dense(1)
            self.seen, self.quiet = keras.metrics.Mean(name="seen"), keras.metrics.Mean(name="q")

        def call(self, x):
            return self.dense(x)

        @property
        def metrics(self):
            return [self.seen, *(m for m in super().metrics if m.name != "q")]

        def compute_loss(self, x=None, y=None, y_pred=None, sample_weight=None, training=True):
            self.seen.update_state(1.0)
            return super().compute_loss(x, y, y_pred, sample_weight)

    model = Own()
    model.compile("sgd", "mse", metrics=["mae"])
    assert sorted(fitted(model)) == ["loss", "mae", "seen"]
    # `super().metrics` has it too, and a list has a place for each.
    seen, loss, mae, again = model.evaluate(X, Y, verbose=0)
    assert seen == again == 1.0 and loss > 0 and mae > 0


def test_a_class_may_begin_its_metrics_anew_and_say_their_results_itself():
    class Own(keras.Sequential):
        resets = 0

        def reset_metrics(self):
            self.resets += 1

        def get_metrics_result(self):
            said = super().get_metrics_result()
            return {**said, "twice": 2 * said["loss"]}

    model = Own([keras.Input((4,)), keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    history = fitted(model, validation_data=(X, Y))
    assert model.resets == 6
    np.testing.assert_allclose(history["twice"], 2 * np.array(history["loss"]), rtol=1e-6)
    assert "val_twice" in history


def test_what_is_no_metric_is_refused_among_them():
    model = Tracked(lambda m, _: [m.dense], lambda m, loss: {"loss": loss})
    model.compile("sgd", "mse")
    with pytest.raises(TypeError, match="`metrics` has .*Dense.* in it"):
        fitted(model)


def test_metrics_inside_of_a_metric_are_not_told():
    class Both(keras.metrics.Metric):
        def __init__(self):
            super().__init__(name="both")
            self.first, self.second = keras.metrics.Mean(name="first"), keras.metrics.Mean()

        def update_state(self, value):
            self.first.update_state(value)
            self.second.update_state(value)

        def result(self):
            return self.first.result() + self.second.result()

    class Own(keras.Model):
        def __init__(self):
            super().__init__()
            self.dense, self.both = keras.layers.Dense(1), [Both()]

        def call(self, x):
            return self.dense(x)

        def compute_metrics(self, x, y, y_pred, sample_weight=None):
            self.both[0].update_state(2.0)
            return super().compute_metrics(x, y, y_pred, sample_weight)

    model = Own()
    model.compile("sgd", "mse")
    history = fitted(model)
    assert list(history) == ["both", "loss"] and history["both"] == [4, 4, 4]


class Parts(keras.metrics.Metric):
    """Says two numbers by names of their own."""

    def __init__(self, name="parts"):
        super().__init__(name=name)
        self.total = self.add_weight(name="total", shape=(), initializer="zeros")

    def update_state(self, y_true, y_pred, sample_weight=None):
        self.total.assign_add(tf.reduce_sum(y_pred))

    def result(self):
        return {"z": self.total, "b": self.total + 1.0}


class Sums(Parts):
    """Says a vector."""

    def update_state(self, y_true, y_pred, sample_weight=None):
        self.total.assign_add(1.0)

    def result(self):
        return tf.stack([self.total, self.total / 4.0])


def with_metrics(*metrics):
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)])
    model.compile("sgd", "mse", metrics=list(metrics))
    return model


def test_numbers_with_names_of_their_own_come_after_those_of_metrics():
    model = with_metrics(Parts(), "mae")
    told = model.evaluate(X, Y, verbose=0, return_dict=True)
    assert list(told) == ["b", "loss", "mae", "z"]
    assert model.evaluate(X, Y, verbose=0) == pytest.approx(
        [told[name] for name in ("loss", "mae", "b", "z")]
    )
    assert model.test_on_batch(X, Y) == pytest.approx(model.evaluate(X, Y, 24, verbose=0))


def test_a_log_and_the_line_of_progress_have_metrics_of_several_numbers(tmp_path, capsys):
    """They were left out of both."""
    log = keras.callbacks.CSVLogger(tmp_path / "log.csv")
    model = with_metrics(Sums("sums"))
    history = fitted(model, callbacks=[log])
    assert np.array(history["sums"]).tolist() == [[3, 0.75]] * 3
    lines = (tmp_path / "log.csv").read_text().splitlines()
    assert lines[0] == "epoch,loss,sums,val_loss,val_sums"
    assert lines[1] == f'0,{history["loss"][0]},"""[3.0, 0.75]""",NA,NA'
    capsys.readouterr()
    model.evaluate(X, Y, batch_size=8, verbose=2)
    assert capsys.readouterr().out.endswith(" - sums: 1.8750\n")  # their mean


def test_dicts_inside_of_what_a_step_tells_are_told_number_by_number():
    class Own(keras.Sequential):
        def train_step(self, data):
            said = super().train_step(data)
            return {**said, "parts": {"one": said["loss"], "two": 2 * said["loss"]}, "l": [1, 2]}

    model = Own([keras.Input((4,)), keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    history = fitted(model)
    assert sorted(history) == ["l", "loss", "one", "two"]
    np.testing.assert_allclose(history["two"], 2 * np.array(history["loss"]), rtol=1e-6)
    assert np.array(history["l"]).tolist() == [[1, 2]] * 3
    assert sorted(model.train_on_batch(X, Y, return_dict=True)) == ["l", "loss", "one", "two"]


def test_numbers_with_names_of_their_own_bear_no_outputs_name():
    inputs = keras.Input((4,))
    model = keras.Model(inputs, [keras.layers.Dense(1, name=name)(inputs) for name in "ac"])
    model.compile("sgd", "mse", metrics=[[Parts(), "mae"], ["mae"]])
    told = model.evaluate(X, [Y, Y], verbose=0, return_dict=True)
    assert list(told) == ["a_loss", "a_mae", "b", "c_loss", "c_mae", "loss", "z"]


def test_a_list_of_numbers_has_a_place_for_each_metric_of_a_name():
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(2, activation="softmax")])
    model.compile(
        "sgd",
        "sparse_categorical_crossentropy",
        metrics=["accuracy"],
        weighted_metrics=["accuracy"],
    )
    classes, weights = np.arange(24) % 2, np.linspace(0.1, 2.0, 24)
    told = model.evaluate(X, classes, sample_weight=weights, verbose=0, return_dict=True)
    assert list(told) == ["accuracy", "loss", "weighted_accuracy"]
    plain, weighted = told["accuracy"], told["weighted_accuracy"]
    assert plain != pytest.approx(weighted)
    listed = model.evaluate(X, classes, sample_weight=weights, verbose=0)
    assert listed == pytest.approx([told["loss"], plain, plain, weighted])
    of_batch = model.test_on_batch(X, classes, sample_weight=weights)
    assert of_batch == pytest.approx(listed) and all(isinstance(n, float) for n in of_batch)
