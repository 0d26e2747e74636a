"""Callbacks: what they are told, what they write, how they change training."""

import http.server
import json
import struct
import threading

import numpy as np
import pytest

import holdfast as tf

keras = tf.keras
callbacks = keras.callbacks


def line(optimizer="sgd", **options):
    dense = keras.layers.Dense(1, kernel_initializer="zeros")
    model = keras.Sequential([keras.layers.Input((3,)), dense])
    model.compile(optimizer, "mse", **options)
    return model


def data(rows=24):
    x = np.random.default_rng(3).normal(size=(rows, 3)).astype(np.float32)
    return x, x.sum(1, keepdims=True)


class Told(callbacks.Callback):
    """Writes down what it is told."""

    def __init__(self):
        super().__init__()
        self.moments = []


def _note(name):
    def note(self, *args):
        self.moments.append((name, *(a for a in args if isinstance(a, int))))

    return note


for _name in [n for n in dir(callbacks.Callback) if n.startswith("on_")]:
    if _name not in ("on_batch_begin", "on_batch_end"):
        setattr(Told, _name, _note(_name))


def test_moments_come_in_keras_order():
    told = Told()
    x, y = data(8)
    line().fit(x, y, batch_size=4, epochs=1, verbose=0, validation_data=(x, y), callbacks=[told])
    assert told.moments == [
        ("on_train_begin",),
        ("on_epoch_begin", 0),
        ("on_train_batch_begin", 0),
        ("on_train_batch_end", 0),
        ("on_train_batch_begin", 1),
        ("on_train_batch_end", 1),
        ("on_test_begin",),
        ("on_test_batch_begin", 0),
        ("on_test_batch_end", 0),
        ("on_test_batch_begin", 1),
        ("on_test_batch_end", 1),
        ("on_test_end",),
        ("on_epoch_end", 0),
        ("on_train_end",),
    ]


def test_predictions_of_a_batch_are_told():
    seen = []

    class See(callbacks.Callback):
        def on_predict_batch_end(self, batch, logs=None):
            seen.append((batch, np.asarray(logs["outputs"]).shape))

    line().predict(data(6)[0], batch_size=4, verbose=0, callbacks=[See()])
    assert seen == [(0, (4, 1)), (1, (2, 1))]


def test_older_names_of_batches_are_called():
    seen = []

    class Old(callbacks.Callback):
        def on_batch_begin(self, batch, logs=None):
            seen.append(("begin", batch))

        def on_batch_end(self, batch, logs=None):
            seen.append(("end", batch, sorted(logs)))

    x, y = data(8)
    line().fit(x, y, batch_size=4, verbose=0, callbacks=[Old()])
    assert seen == [("begin", 0), ("end", 0, ["loss"]), ("begin", 1), ("end", 1, ["loss"])]


def test_functions_of_the_program_are_called():
    seen = []
    each = callbacks.LambdaCallback(
        on_epoch_end=lambda epoch, logs: seen.append(("epoch", epoch, sorted(logs))),
        on_batch_end=lambda batch, logs: seen.append(("batch", batch)),
        on_test_end=lambda logs: seen.append(("test", sorted(logs))),
        note=3,
    )
    assert each.note == 3
    x, y = data(8)
    line().fit(x, y, batch_size=4, verbose=0, validation_data=(x, y), callbacks=[each])
    assert seen == [
        ("batch", 0),
        ("batch", 1),
        ("test", ["loss"]),
        ("epoch", 0, ["loss", "val_loss"]),
    ]


@pytest.mark.parametrize("steps", [1, 2, 3, 8])
def test_hooks_are_called_once_for_several_steps(steps):
    told = Told()
    x, y = data(24)
    model = line(steps_per_execution=steps)
    assert model.steps_per_execution == steps
    model.fit(x, y, batch_size=4, verbose=0, callbacks=[told], shuffle=False)
    begins = [m[1] for m in told.moments if m[0] == "on_train_batch_begin"]
    ends = [m[1] for m in told.moments if m[0] == "on_train_batch_end"]
    assert begins == list(range(0, 6, steps))
    assert ends == [min(b + steps, 6) - 1 for b in begins]
    assert int(model.optimizer.iterations.numpy()) == 6
    # Nothing else changes.
    plain = line()
    plain.set_weights(model.get_weights())
    assert np.allclose(
        model.predict(x, batch_size=4, verbose=0), plain.predict(x, batch_size=4, verbose=0)
    )
    assert model.evaluate(x, y, batch_size=4, verbose=0) == pytest.approx(
        plain.evaluate(x, y, batch_size=4, verbose=0)
    )
    with pytest.raises(ValueError, match="steps_per_execution"):
        line(steps_per_execution=0)


def test_a_subclass_of_ours_reaches_its_base():
    class Loud(callbacks.EarlyStopping):
        def on_epoch_end(self, epoch, logs=None):
            super().on_epoch_end(epoch, logs)
            self.told = (epoch, self.wait)

    early = Loud(monitor="loss", min_delta=1e6, patience=2)
    x, y = data()
    history = line().fit(x, y, epochs=9, verbose=0, callbacks=[early])
    assert len(history.epoch) == 3 and early.stopped_epoch == 2 and early.told == (2, 2)
    assert early.best == pytest.approx(history.history["loss"][0])
    assert history.params == {"epochs": 9, "steps": 1, "verbose": 0}


def test_a_program_may_call_callbacks_itself(tmp_path):
    model = line()
    x, y = data()
    told = Told()
    several = callbacks.CallbackList(
        [told, callbacks.CSVLogger(tmp_path / "log.csv")],
        add_history=True,
        model=model,
        epochs=2,
        verbose=0,
    )
    several.on_train_begin()
    for epoch in range(2):
        several.on_epoch_begin(epoch)
        logs = model.train_on_batch(x, y, return_dict=True)
        several.on_epoch_end(epoch, {name: float(value) for name, value in logs.items()})
    several.on_train_end()
    assert [m[0] for m in told.moments].count("on_epoch_end") == 2
    history = several.callbacks[-1]
    assert isinstance(history, callbacks.History) and len(history.history["loss"]) == 2
    assert (tmp_path / "log.csv").read_text().splitlines()[0] == "epoch,loss,val_loss"


@pytest.mark.parametrize("schedule", [lambda e, r: r / 2, lambda e: 0.5 ** (e + 1), None])
def test_a_schedule_sets_rates(schedule):
    schedule = schedule or (lambda epoch, lr: np.float32(lr * 0.5))
    model = line(keras.optimizers.SGD(1.0))
    x, y = data()
    scheduler = callbacks.LearningRateScheduler(schedule)
    history = model.fit(x, y * 0, epochs=3, verbose=0, callbacks=[scheduler])
    assert history.history["learning_rate"] == [0.5, 0.25, 0.125]
    with pytest.raises((TypeError, ValueError), match="schedule"):
        model.fit(x, y, verbose=0, callbacks=[callbacks.LearningRateScheduler(lambda e: "fast")])
    with pytest.raises((TypeError, ValueError), match="schedule"):
        callbacks.LearningRateScheduler(3)


def test_checkpoints_go_by_patterns(tmp_path, capsys):
    x, y = data()
    model = line()
    model.fit(
        x,
        y,
        epochs=2,
        verbose=0,
        validation_data=(x, y),
        callbacks=[
            callbacks.ModelCheckpoint(tmp_path / "deep" / "{epoch:02d}-{val_loss:.2f}.keras"),
            callbacks.ModelCheckpoint(
                str(tmp_path / "best.weights.h5"),
                save_best_only=True,
                save_weights_only=True,
                verbose=1,
                initial_value_threshold=1e9,
            ),
        ],
    )
    names = sorted(p.name for p in (tmp_path / "deep").iterdir())
    assert [n[:2] for n in names] == ["01", "02"] and all(n.endswith(".keras") for n in names)
    assert "val_loss improved from 1000000000.00000 to" in capsys.readouterr().out
    again = keras.models.load_model(tmp_path / "deep" / names[1])
    assert np.array_equal(again.get_weights()[0], model.get_weights()[0])
    assert int(again.optimizer.iterations.numpy()) == 2
    best = callbacks.ModelCheckpoint(tmp_path / "b.keras", monitor="loss", save_best_only=True)
    history = model.fit(x, y, epochs=2, verbose=0, callbacks=[best])
    assert best.best == pytest.approx(min(history.history["loss"]))
    for wrong in ({"save_freq": "often"}, {"save_freq": 0}, {"mode": "up"}):
        with pytest.raises((TypeError, ValueError)):
            callbacks.ModelCheckpoint(tmp_path / "m.keras", **wrong)
    with pytest.raises((TypeError, ValueError), match="no number `nothing`"):
        model.fit(
            x, y, verbose=0, callbacks=[callbacks.ModelCheckpoint(tmp_path / "{nothing}.keras")]
        )


def test_training_goes_on_after_it_broke(tmp_path):
    x, y = data()

    class Breaks(callbacks.Callback):
        def on_epoch_begin(self, epoch, logs=None):
            if epoch == 2:
                raise RuntimeError("broken")

    model = line("adam")
    backup = callbacks.BackupAndRestore(tmp_path / "backup")
    with pytest.raises(RuntimeError, match="broken"):
        model.fit(x, y, epochs=4, verbose=0, callbacks=[backup, Breaks()])
    assert json.loads((tmp_path / "backup" / "training_metadata.json").read_text())["epoch"] == 2
    again = line("adam")
    history = again.fit(
        x, y, epochs=4, verbose=0, callbacks=[callbacks.BackupAndRestore(tmp_path / "backup")]
    )
    assert history.epoch == [2, 3] and int(again.optimizer.iterations.numpy()) == 4
    assert not (tmp_path / "backup").exists()
    unbuilt = keras.Sequential([keras.layers.Dense(1)])
    unbuilt.compile("sgd", "mse")
    with pytest.raises((TypeError, ValueError), match="not built"):
        unbuilt.fit(x, y, verbose=0, callbacks=[callbacks.BackupAndRestore(tmp_path / "b")])


def test_a_broken_backup_gives_way_to_the_one_before(tmp_path):
    x, y = data()
    backup = callbacks.BackupAndRestore(
        tmp_path, double_checkpoint=True, delete_checkpoint=False, save_freq="epoch"
    )
    line().fit(x, y, epochs=3, verbose=0, callbacks=[backup])
    (tmp_path / "latest.weights.h5").write_bytes(b"nothing of use")
    history = line().fit(x, y, epochs=4, verbose=0, callbacks=[backup])
    assert history.epoch == [2, 3]


def test_averages_of_weights_are_evaluated():
    x, y = data()
    model = line(keras.optimizers.SGD(0.3, use_ema=True, ema_momentum=0.5))
    seen = {}

    class Look(callbacks.Callback):
        def on_test_begin(self, logs=None):
            seen["tested"] = self.model.get_weights()[0].copy()

        def on_epoch_end(self, epoch, logs=None):
            seen["trained"] = self.model.get_weights()[0].copy()

    swap = callbacks.SwapEMAWeights()
    model.fit(x, y, epochs=2, verbose=0, validation_data=(x, y), callbacks=[swap, Look()])
    assert not np.allclose(seen["tested"], seen["trained"])
    end = model.get_weights()[0].copy()
    swap = callbacks.SwapEMAWeights(swap_on_epoch=True)
    model.fit(x, y, epochs=2, verbose=0, callbacks=[swap, Look()])
    assert np.allclose(seen["trained"], model.get_weights()[0]) and not np.allclose(
        end, model.get_weights()[0]
    )
    with pytest.raises((TypeError, ValueError), match="use_ema"):
        line().evaluate(x, y, verbose=0, callbacks=[callbacks.SwapEMAWeights()])


def varint(bytes_, at):
    value = shift = 0
    while True:
        byte = bytes_[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at


def fields(bytes_):
    """The fields of a protocol buffer: number and value."""
    at, out = 0, []
    while at < len(bytes_):
        key, at = varint(bytes_, at)
        if key & 7 == 0:
            value, at = varint(bytes_, at)
        else:
            size = {1: 8, 5: 4}.get(key & 7)
            if size is None:
                size, at = varint(bytes_, at)
            value, at = bytes_[at : at + size], at + size
        out.append((key >> 3, value))
    return out


def scalars(folder):
    """Tags, steps and values of the scalars of one file of events."""
    (path,) = folder.iterdir()
    bytes_, at, out = path.read_bytes(), 0, []
    while at < len(bytes_):
        (size,) = struct.unpack_from("<Q", bytes_, at)
        event = dict(fields(bytes_[at + 12 : at + 12 + size]))
        at += size + 16
        if 5 not in event:
            continue
        value = dict(fields(dict(fields(event[5]))[1]))
        tensor = dict(fields(value[8]))
        if tensor[1] == 1:
            out.append((value[1].decode(), event.get(2, 0), struct.unpack("<f", tensor[5])[0]))
    assert at == len(bytes_)
    return out


def test_numbers_for_tensorboard(tmp_path):
    x, y = data()
    model = line()
    history = model.fit(
        x,
        y,
        epochs=2,
        batch_size=8,
        verbose=0,
        validation_data=(x, y),
        callbacks=[callbacks.TensorBoard(tmp_path, update_freq="batch")],
    )
    train, test = scalars(tmp_path / "train"), scalars(tmp_path / "validation")
    losses = [(step, pytest.approx(v)) for step, v in enumerate(history.history["loss"])]
    assert [(s, v) for tag, s, v in train if tag == "epoch_loss"] == losses
    assert [s for tag, s, _ in train if tag == "batch_loss"] == [1, 2, 3, 4, 5, 6]
    assert [s for tag, s, _ in train if tag == "epoch_learning_rate"] == [0, 1]
    assert [s for tag, s, _ in test if tag == "evaluation_loss_vs_iterations"] == [3, 6]
    assert [s for tag, s, _ in test if tag == "epoch_loss"] == [0, 1]
    rare = tmp_path / "rare"
    model.fit(x, y, batch_size=8, verbose=0, callbacks=[callbacks.TensorBoard(rare, update_freq=2)])
    assert [s for tag, s, _ in scalars(rare / "train") if tag == "batch_loss"] == [2]
    for option in ("histogram_freq", "write_images", "embeddings_freq", "profile_batch"):
        with pytest.raises(NotImplementedError, match=option):
            callbacks.TensorBoard(tmp_path, **{option: True if option == "write_images" else 1})
    with pytest.raises((TypeError, ValueError), match="update_freq"):
        callbacks.TensorBoard(tmp_path, update_freq="never")


def test_a_server_is_told_the_numbers():
    got = []

    class Server(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            got.append((self.path, self.headers["Content-Type"], body))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *args):
            pass

    server = http.server.HTTPServer(("127.0.0.1", 0), Server)
    serving = threading.Thread(target=server.serve_forever)
    serving.start()
    try:
        root = f"http://127.0.0.1:{server.server_port}"
        x, y = data()
        line().fit(x, y, verbose=0, callbacks=[callbacks.RemoteMonitor(root, send_as_json=True)])
        line().fit(x, y, verbose=0, callbacks=[callbacks.RemoteMonitor(root, path="/at/")])
    finally:
        server.shutdown()
        serving.join()
        server.server_close()
    path, kind, body = got[0]
    assert (path, kind) == ("/publish/epoch/end/", "application/json")
    assert set(json.loads(body)) == {"epoch", "loss"}
    assert got[1][0] == "/at/" and got[1][2].startswith(b"data=%7B")
    with pytest.warns(UserWarning, match="could not reach"):
        line().fit(x, y, verbose=0, callbacks=[callbacks.RemoteMonitor(root)])


def test_a_loss_that_is_no_number_ends_training():
    x, y = data()
    y[0] = np.nan
    history = line().fit(
        x,
        y,
        batch_size=8,
        shuffle=False,
        epochs=3,
        verbose=0,
        callbacks=[callbacks.TerminateOnNaN()],
    )
    assert len(history.epoch) == 1
    with pytest.raises(tf.errors.InvalidArgumentError, match="finite"):
        line().fit(x, y, verbose=0, callbacks=[callbacks.TerminateOnNaN(raise_error=True)])


def test_one_line_per_epoch_has_no_bar(capsys):
    x, y = data()
    line().fit(x, y, epochs=2, batch_size=8, verbose=2)
    out = capsys.readouterr().out.splitlines()
    assert out[0] == "Epoch 1/2" and out[2] == "Epoch 2/2" and len(out) == 4
    assert out[1].startswith("3/3 - 0s - ") and "/step - loss: " in out[1] and "━" not in out[1]
    line().fit(x, y, batch_size=8, verbose=1, callbacks=[callbacks.ProgbarLogger()])
    out = capsys.readouterr().out.splitlines()
    assert len(out) == 1 and "━" in out[0]


def test_progress_goes_to_the_log_where_that_is_wanted(capsys, caplog):
    x, y = data()
    keras.config.disable_interactive_logging()
    try:
        with caplog.at_level("INFO", logger="holdfast"):
            line().fit(x, y, epochs=2, batch_size=8)
    finally:
        keras.config.enable_interactive_logging()
    assert capsys.readouterr().out == ""
    assert caplog.records[0].message == "Epoch 1/2"
    line().fit(x, y, batch_size=8)
    assert "loss" in capsys.readouterr().out


@pytest.mark.parametrize("steps_per_execution", [1, 2])
def test_a_callback_ends_evaluation_and_prediction(steps_per_execution):
    class Stopper(callbacks.Callback):
        seen = 0

        def on_test_batch_end(self, batch, logs=None):
            self.seen += 1
            self.model.stop_evaluating = batch >= 3

        def on_predict_batch_end(self, batch, logs=None):
            self.seen += 1
            self.model.stop_predicting = batch >= 3

    def endless(labels):
        while True:
            yield (
                (np.ones((2, 3), "f"), np.ones((2, 1), "f")) if labels else (np.ones((2, 3), "f"),)
            )

    model = line(steps_per_execution=steps_per_execution)
    for run in (model.evaluate, model.predict):
        stopper = Stopper()
        out = run(endless(run == model.evaluate), verbose=0, callbacks=[stopper])
        assert stopper.seen == 4 // steps_per_execution
    assert out.shape == (8, 1)
    # The next run begins anew.
    x, y = data()
    assert model.predict(x, verbose=0).shape == (24, 1) and model.evaluate(x, y, verbose=0) > 0


class Quality(tf.keras.metrics.Metric):
    """A metric whose class and name tell nothing."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.total = self.add_variable((), "zeros")

    def update_state(self, y_true, y_pred, sample_weight=None):
        self.total.assign_add(1.0)

    def result(self):
        return self.total


def trained_with(metric, callback, epochs=3):
    keras = tf.keras
    model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1, activation="sigmoid")])
    model.compile("sgd", "binary_crossentropy", metrics=[metric])
    x = np.random.default_rng(1).normal(size=(16, 2)).astype("float32")
    y = (x.sum(1) > 0).astype("float32")
    return model.fit(x, y, epochs=epochs, verbose=0, callbacks=[callback])


@pytest.mark.parametrize("kind", ["AUC", "Precision", "BinaryAccuracy", "BinaryIoU"])
def test_the_class_of_a_metric_tells_what_is_better(kind):
    """Whatever its name is: a small area under a curve was taken for the best one."""
    stopping = tf.keras.callbacks.EarlyStopping(monitor="quality", patience=9)
    history = trained_with(getattr(tf.keras.metrics, kind)(name="quality"), stopping)
    assert stopping.best == pytest.approx(max(history.history["quality"]))
    stopping = tf.keras.callbacks.EarlyStopping(monitor="accurate", patience=9)
    history = trained_with(tf.keras.metrics.MeanSquaredError(name="accurate"), stopping)
    assert stopping.best == pytest.approx(min(history.history["accurate"]))


def test_what_is_better_is_not_guessed():
    for callback in (
        tf.keras.callbacks.EarlyStopping(monitor="quality"),
        tf.keras.callbacks.ReduceLROnPlateau(monitor="quality"),
    ):
        with pytest.raises(ValueError, match='`mode` is "auto", and nothing tells whether'):
            trained_with(Quality(name="quality"), callback)
    stopping = tf.keras.callbacks.EarlyStopping(monitor="quality", mode="max")
    history = trained_with(Quality(name="quality"), stopping)
    assert stopping.best == max(history.history["quality"])


def test_a_function_is_no_class_that_tells():
    """One called `my_accuracy` was to become small."""

    def my_accuracy(y, p):
        return tf.abs(y - p)

    stopping = tf.keras.callbacks.EarlyStopping(monitor="my_accuracy", patience=9)
    history = trained_with(my_accuracy, stopping)
    assert stopping.best == pytest.approx(max(history.history["my_accuracy"]))

    def quality(y, p):
        return tf.abs(y - p)

    with pytest.raises(ValueError, match='`mode` is "auto", and nothing tells whether'):
        trained_with(quality, tf.keras.callbacks.EarlyStopping(monitor="quality"))
    of_loss = tf.keras.metrics.MeanMetricWrapper(tf.keras.losses.mae, name="accurate")
    stopping = tf.keras.callbacks.EarlyStopping(monitor="accurate", patience=9)
    history = trained_with(of_loss, stopping)
    assert stopping.best == pytest.approx(min(history.history["accurate"]))


def test_a_class_says_what_is_better():
    class Counted(Quality):
        def __init__(self, direction):
            super().__init__(name="quality")
            self._direction = direction

    for direction, best in (("up", max), ("down", min)):
        stopping = tf.keras.callbacks.EarlyStopping(monitor="quality", patience=9)
        history = trained_with(Counted(direction), stopping)
        assert stopping.best == best(history.history["quality"])


def test_what_callbacks_add_lasts_for_its_moment():
    seen = {"next": [], "end": []}

    class Adds(callbacks.Callback):
        def on_epoch_end(self, epoch, logs=None):
            logs["extra"] = 7.0

        def on_train_end(self, logs=None):
            seen["end"].append(sorted(logs))

    def look(epoch, logs):
        seen["next"].append(list(logs))

    model = line(weighted_metrics=["mse"], metrics=["mse"])
    x, y = data()
    after = callbacks.LambdaCallback(on_epoch_end=look)
    model.fit(x, y, epochs=2, verbose=0, validation_data=(x, y), callbacks=[Adds(), after])
    # In the order of names, those of the validation among the others.
    own = ["loss", "mse", "val_loss", "val_mse", "val_weighted_mse", "weighted_mse"]
    assert seen["next"] == [[*own, "extra"]] * 2
    assert seen["end"] == [own]


def test_a_history_is_one_dict_of_numbers_and_arrays():
    model = keras.Sequential([keras.layers.Input((3,)), keras.layers.Dense(2)])
    model.compile(
        "sgd", "mse", metrics=[keras.metrics.R2Score(class_aggregation=None, name="each")]
    )
    x, y = data()
    y = np.concatenate([y, -y], axis=1)
    recorded = callbacks.History()
    model.fit(x, y, epochs=2, verbose=0, callbacks=[recorded])
    each = recorded.history["each"]
    assert [type(one) for one in each] == [np.ndarray] * 2 and each[0].dtype == np.float32
    assert all(isinstance(one, float) for one in recorded.history["loss"])
    recorded.history["loss"].append(5.0)
    recorded.history["mine"] = [1]
    assert recorded.history["loss"][2:] == [5.0] and recorded.history["mine"] == [1]
    model.fit(x, y, epochs=1, verbose=0, callbacks=[recorded])
    assert recorded.history["loss"][2] == 5.0 and len(recorded.history["loss"]) == 4
    assert len(each) == 3 and recorded.history["mine"] == [1]
