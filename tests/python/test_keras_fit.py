"""Training: compile, fit, evaluate, predict, callbacks, steps of one's own."""

import gc
import threading
import time
import weakref

import numpy as np
import pytest

import holdfast as tf

keras = tf.keras


def classes(rows=64, seed=0):
    """Points of two classes that a line parts."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(rows, 4)).astype(np.float32)
    return x, (x.sum(1) > 0).astype(np.int64)


def classifier(**options):
    model = keras.Sequential([keras.layers.Dense(8, activation="relu"), keras.layers.Dense(2)])
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(keras.optimizers.Adam(0.05), loss, metrics=["accuracy"], **options)
    return model


def test_fit_learns_and_gives_the_numbers_of_each_epoch():
    keras.utils.set_random_seed(1)
    x, y = classes(128)
    model = classifier()
    history = model.fit(x, y, epochs=15, batch_size=16, validation_split=0.25, verbose=0)
    assert list(history.history) == ["accuracy", "loss", "val_accuracy", "val_loss"]
    assert history.epoch == list(range(15)) and model.history is history
    assert history.history["loss"][-1] < history.history["loss"][0] / 2
    assert history.history["val_accuracy"][-1] > 0.85
    loss, accuracy = model.evaluate(x, y, verbose=0)
    scores = model.predict(x, verbose=0)
    assert scores.shape == (128, 2) and isinstance(scores, np.ndarray)
    assert accuracy == pytest.approx((scores.argmax(1) == y).mean())
    named = model.evaluate(x, y, verbose=0, return_dict=True)
    assert named == {"loss": pytest.approx(loss), "accuracy": pytest.approx(accuracy)}


def test_a_step_is_that_of_a_loop_by_hand():
    x, y = classes(32)
    model = classifier()
    model(x)
    start = model.get_weights()
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    optimizer = keras.optimizers.Adam(0.05)
    model.fit(x, y, epochs=3, batch_size=32, shuffle=False, verbose=0)
    fitted = model.get_weights()
    model.set_weights(start)
    for _ in range(3):
        with tf.GradientTape() as tape:
            value = loss(y, model(x, training=True))
        slopes = tape.gradient(value, model.trainable_variables)
        optimizer.apply_gradients(zip(slopes, model.trainable_variables, strict=True))
    for got, want in zip(fitted, model.get_weights(), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("eagerly", [False, True])
def test_eager_and_traced_training_agree(eagerly):
    x, y = classes(32)
    keras.utils.set_random_seed(3)
    model = classifier(run_eagerly=eagerly)
    losses = model.fit(x, y, epochs=2, batch_size=8, shuffle=False, verbose=0).history["loss"]
    keras.utils.set_random_seed(3)
    other = classifier(run_eagerly=not eagerly)
    again = other.fit(x, y, epochs=2, batch_size=8, shuffle=False, verbose=0).history["loss"]
    np.testing.assert_allclose(losses, again, rtol=1e-4)


def test_data_of_many_kinds():
    x, y = classes(40)
    model = classifier()
    pairs = [(x[i : i + 10], y[i : i + 10]) for i in range(0, 40, 10)]

    class Batches(keras.utils.PyDataset):
        def __len__(self):
            return len(pairs)

        def __getitem__(self, i):
            return pairs[i]

    dataset = tf.data.Dataset.from_tensor_slices((x, y)).batch(10)
    for data in (dataset, Batches(), iter(pairs)):
        history = model.fit(data, epochs=1, verbose=0)
        assert np.isfinite(history.history["loss"][0])
    endless = (pairs[i % 4] for i in range(10**6))
    model.fit(endless, steps_per_epoch=3, epochs=2, verbose=0)
    model.fit(x.tolist(), y, epochs=1, verbose=0)
    assert model.predict(dataset, verbose=0).shape == (40, 2)


def test_several_inputs_and_outputs():
    left, right = keras.Input((3,), name="left"), keras.Input((2,), name="right")
    both = keras.layers.concatenate([left, right])
    value = keras.layers.Dense(1, name="value")(both)
    kind = keras.layers.Dense(2, activation="softmax", name="kind")(both)
    model = keras.Model([left, right], [value, kind])
    model.compile(
        "sgd",
        {"value": "mse", "kind": "sparse_categorical_crossentropy"},
        loss_weights={"value": 0.5, "kind": 2.0},
        metrics={"kind": ["accuracy"]},
    )
    inputs = {"left": np.ones((8, 3)), "right": np.ones((8, 2))}
    logs = model.fit(inputs, [np.zeros((8, 1)), np.zeros(8)], verbose=0, batch_size=8).history
    assert set(logs) == {"loss", "value_loss", "kind_loss", "kind_accuracy"}
    whole = 0.5 * logs["value_loss"][0] + 2 * logs["kind_loss"][0]
    assert logs["loss"][0] == pytest.approx(whole, rel=1e-5)


def test_weights_of_examples_and_of_classes():
    x, y = classes(16)
    model = classifier()
    zero = model.evaluate(x, y, sample_weight=np.zeros(16), verbose=0)[0]
    assert zero == 0.0
    before = model.get_weights()
    model.fit(x, y, class_weight={0: 0.0, 1: 0.0}, epochs=1, verbose=0)
    for got, want in zip(model.get_weights(), before, strict=True):
        np.testing.assert_array_equal(got, want)


class Told(keras.callbacks.Callback):
    def __init__(self):
        super().__init__()
        self.seen = []

    def on_train_begin(self, logs=None):
        self.seen.append("train")

    def on_epoch_begin(self, epoch, logs=None):
        self.seen.append(f"epoch {epoch}")

    def on_train_batch_end(self, batch, logs=None):
        assert "loss" in logs
        self.seen.append(f"batch {batch}")

    def on_epoch_end(self, epoch, logs=None):
        self.seen.append(sorted(logs))
        logs["extra"] = 7.0

    def on_train_end(self, logs=None):
        self.seen.append("end")


def test_callbacks_are_told_in_order_and_may_stop():
    x, y = classes(16)
    model = classifier()
    told = Told()
    history = model.fit(x, y, epochs=1, batch_size=8, verbose=0, callbacks=[told])
    assert told.seen == ["train", "epoch 0", "batch 0", "batch 1", ["accuracy", "loss"], "end"]
    assert told.model is model and history.history["extra"] == [7.0]

    def stop(epoch, logs):
        model.stop_training = epoch == 1

    stopping = keras.callbacks.LambdaCallback(on_epoch_end=stop)
    assert len(model.fit(x, y, epochs=9, verbose=0, callbacks=[stopping]).epoch) == 2


def test_callbacks_of_ours(tmp_path):
    x, y = classes(32)
    model = classifier()
    path = tmp_path / "log.csv"
    rates = keras.callbacks.LearningRateScheduler(lambda epoch: 0.1 / (epoch + 1))
    best = keras.callbacks.ModelCheckpoint(tmp_path / "best.keras", monitor="loss",
                                           save_best_only=True)  # fmt: skip
    stop = keras.callbacks.EarlyStopping(monitor="loss", patience=1, min_delta=100.0)
    done = model.fit(
        x,
        y,
        epochs=9,
        verbose=0,
        callbacks=[rates, best, stop, keras.callbacks.CSVLogger(str(path))],
    )
    assert len(done.epoch) == 2  # nothing improves by a hundred
    np.testing.assert_allclose(done.history["learning_rate"], [0.1, 0.05], rtol=1e-6)
    assert path.read_text().startswith("epoch,accuracy,") and len(path.read_text().split()) == 3
    assert (tmp_path / "best.keras").exists()
    slower = keras.callbacks.ReduceLROnPlateau(monitor="loss", factor=0.5, patience=1,
                                               min_delta=100.0)  # fmt: skip
    model.fit(x, y, epochs=3, verbose=0, callbacks=[slower])
    assert float(np.asarray(model.optimizer.learning_rate)) < 0.05


def test_a_step_of_ones_own():
    class Own(keras.Model):
        def __init__(self):
            super().__init__()
            self.dense = keras.layers.Dense(1)
            self.seen = keras.metrics.Mean(name="seen")

        def call(self, x, training=None):
            return self.dense(x)

        def train_step(self, data):
            x, y = data
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean((self(x, training=True) - y) ** 2)
            slopes = tape.gradient(loss, self.trainable_variables)
            self.optimizer.apply_gradients(zip(slopes, self.trainable_variables, strict=True))
            self.seen.update_state(loss)
            return {"seen": self.seen.result()}

    x, _ = classes(32)
    model = Own()
    model.compile(keras.optimizers.SGD(0.1))
    seen = model.fit(x, x[:, :1], epochs=6, verbose=0).history["seen"]
    assert seen[-1] < seen[0] / 2  # and begins anew in each epoch
    assert [m.name for m in model.metrics][-1] == "seen"


def test_losses_of_layers_are_part_of_the_loss():
    class Penalty(keras.layers.Layer):
        def call(self, x):
            self.add_loss(3.0)
            return x

    model = keras.Sequential([Penalty(), keras.layers.Dense(1, kernel_regularizer="l2")])
    model.compile("sgd", "mse")
    logs = model.evaluate(np.zeros((4, 2)), np.zeros((4, 1)), verbose=0)
    assert logs > 3.0


@pytest.mark.parametrize(
    ("use", "message"),
    [
        (lambda m, x, y: keras.Sequential([keras.layers.Dense(1)]).fit(x, y), "not compiled"),
        (lambda m, x, y: m.fit(x, y[:3]), "3 examples, and `x` has 16"),
        (lambda m, x, y: m.fit(x, y, batch_size=0), "`batch_size` is 0"),
        (lambda m, x, y: m.fit(x, y, validation_split=1.5), "validation_split"),
        (lambda m, x, y: m.fit(x, y, callbacks=[3]), "expected callbacks"),
        (lambda m, x, y: m.fit(x, np.eye(2)[y]), "labels are probabilities"),
        (lambda m, x, y: m.compile("adamm"), '"adamm" is not known'),
        (lambda m, x, y: m.fit(None), "`x` is missing"),
    ],
)
def test_bad_uses_are_told(use, message):
    x, y = classes(16)
    with pytest.raises((TypeError, ValueError), match=message):
        use(classifier(), x, y)


def test_a_trained_model_goes_when_it_is_dropped():
    x, y = classes(16)
    model = classifier()
    model.fit(x, y, epochs=1, verbose=0)
    gone = weakref.ref(model), weakref.ref(model.layers[0])
    del model
    gc.collect()
    assert [ref() for ref in gone] == [None, None]


def test_a_lambda_reads_variables_in_each_call():
    outside = tf.Variable(1.0)
    model = keras.Sequential([keras.layers.Lambda(lambda x: x * outside)])
    assert model(tf.ones([1, 2])).numpy().tolist() == [[1.0, 1.0]]
    outside.assign(3.0)
    assert model.predict(np.ones((1, 2)), verbose=0).tolist() == [[3.0, 3.0]]
    with pytest.raises(NotImplementedError, match="has no config"):
        model.get_config()


@pytest.mark.parametrize("workers", [1, 3])
def test_batches_are_made_by_several_workers(workers):
    threads = set()

    class Rows(keras.utils.PyDataset):
        def __len__(self):
            return 12

        def __getitem__(self, index):
            threads.add(threading.get_ident())
            time.sleep(0.002)
            return np.full((2, 4), index, np.float32), np.zeros(2, np.int64)

    model = keras.Sequential([keras.layers.Dense(2)])
    seen = model.predict(Rows(workers=workers, max_queue_size=4), verbose=0)
    assert seen.shape == (24, 2)
    order = model.predict(np.repeat(np.arange(12), 2)[:, None] * np.ones((1, 4)), verbose=0)
    assert np.allclose(seen, order, atol=1e-5)
    assert (threading.get_ident() in threads) == (workers == 1)
    with pytest.raises(NotImplementedError, match="use_multiprocessing"):
        model.predict(Rows(use_multiprocessing=True), verbose=0)


def test_classes_weigh_in_batches_of_datasets_too():
    x, y = classes(32)
    weights = {0: 0.25, 1: 4.0}
    start = None
    losses = []
    for data in ((x, y), (tf.data.Dataset.from_tensor_slices((x, y)).batch(8),)):
        model = classifier()
        model(x)
        start = start or model.get_weights()
        model.set_weights(start)
        history = model.fit(
            *data,
            batch_size=None if len(data) == 1 else 8,
            class_weight=weights,
            shuffle=False,
            epochs=2,
            verbose=0,
        )
        losses.append(history.history["loss"])
    assert losses[0] == pytest.approx(losses[1], rel=1e-5)


def test_a_generator_that_is_used_up_ends_training_with_a_warning(capfd):
    def once():
        for _ in range(3):
            yield np.ones((4, 4), "f"), np.zeros(4, "i")

    history = classifier().fit(once(), epochs=3, verbose=0)
    text = capfd.readouterr().err
    assert "warning[W1403]" in text and "ended after epoch 1 of 3" in text
    assert history.epoch == [0] and len(history.history["loss"]) == 1


def test_data_without_a_batch_is_told_of(capfd):
    """It was an error; in `fit`, data to validate on that was empty ended the training."""
    x, y = classes()
    batches = tf.data.Dataset.from_tensor_slices((x, y)).batch(4)
    history = classifier().fit(batches.take(0), epochs=3, verbose=0)
    assert "warning[W1403]: `fit` trained nothing" in capfd.readouterr().err
    assert history.epoch == [] and history.history == {}
    model = classifier()
    assert model.evaluate(batches.take(0), verbose=0) == []
    assert "warning[W1403]: `evaluate` has nothing to tell" in capfd.readouterr().err
    assert model.evaluate(iter(()), verbose=0, return_dict=True) == {}
    history = model.fit(batches, validation_data=batches.take(0), epochs=2, verbose=0).history
    assert len(history["loss"]) == 2 and not any(name.startswith("val_") for name in history)
    with pytest.raises((TypeError, ValueError), match="no batch"):
        model.predict(batches.take(0), verbose=0)


def test_fewer_steps_of_evaluation_than_were_asked_for_are_told_of(capfd):
    x, y = classes()
    model = classifier()
    told = model.evaluate(x[:8], y[:8], batch_size=4, steps=2, verbose=0)
    assert "W1403" not in capfd.readouterr().err
    assert model.evaluate(x[:8], y[:8], batch_size=4, steps=3, verbose=0) == told
    assert "`evaluate` ended after step 2 of 3" in capfd.readouterr().err
    assert len(model.predict(x[:8], batch_size=4, steps=5, verbose=0)) == 8
    assert "`predict` ended after step 2 of 5" in capfd.readouterr().err


def test_an_epoch_of_fewer_steps_than_were_asked_for_is_told_of(capfd):
    x, y = classes()
    classifier().fit(x[:8], y[:8], batch_size=4, steps_per_epoch=2, epochs=2, verbose=0)
    assert "W1403" not in capfd.readouterr().err
    history = classifier().fit(x[:8], y[:8], batch_size=4, steps_per_epoch=3, epochs=2, verbose=0)
    text = capfd.readouterr().err
    assert "warning[W1403]" in text and "epoch 1 of 2 ended after step 2 of 3" in text
    assert history.epoch == [0, 1]


def test_the_mean_of_the_loss_is_among_the_metrics_from_the_start():
    model = classifier()
    assert model.metrics[0].name == "loss" and model.metrics_names == ["loss", "accuracy"]
    x, y = classes()
    model.fit(x, y, verbose=0)
    assert [m.name for m in model.metrics] == model.metrics_names == ["loss", "accuracy"]


@pytest.mark.parametrize("eagerly", [False, True])
def test_metrics_that_a_model_holds_are_in_its_logs(eagerly):
    class Own(keras.Model):
        def __init__(self):
            super().__init__()
            self.dense = keras.layers.Dense(2)
            self.twice = keras.metrics.Mean(name="twice")

        def call(self, x):
            return self.dense(x)

        def compute_loss(self, x=None, y=None, y_pred=None, sample_weight=None):
            loss = super().compute_loss(x, y, y_pred, sample_weight)
            self.twice.update_state(2.0 * loss)
            return loss

    x, y = np.ones((8, 3), "f"), np.ones((8, 2), "f")
    model = Own()
    model.compile("sgd", "mse", run_eagerly=eagerly)
    for logs in (
        model.evaluate(x, y, verbose=0, return_dict=True),
        {k: v[0] for k, v in model.fit(x, y, verbose=0).history.items()},
        model.train_on_batch(x, y, return_dict=True),
    ):
        assert sorted(logs) == ["loss", "twice"]
        assert logs["twice"] == pytest.approx(2 * logs["loss"], rel=1e-6)


@pytest.mark.parametrize("trailing", [(), (1,), (3,)])
def test_weights_of_classes_are_refused_where_steps_have_classes_of_their_own(trailing):
    steps = keras.layers.Dense(3, activation="softmax")
    model = keras.Sequential([keras.Input((7, 2)), steps])
    model.compile("sgd", "categorical_crossentropy" if trailing == (3,) else "crossentropy")
    x = np.ones((4, 7, 2), np.float32)
    y = np.arange(28).reshape(4, 7) % 3
    y = np.eye(3)[y] if trailing == (3,) else y.reshape(4, 7, *trailing)
    weights = {0: 1.0, 1: 2.0, 2: 0.5}
    for run in (
        lambda: model.fit(x, y, class_weight=weights, verbose=0),
        lambda: model.train_on_batch(x, y, class_weight=weights),
    ):
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"E1102.*class_weight.*\[4,7"):
            run()
