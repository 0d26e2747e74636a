"""Training that broke in the middle of an epoch goes on bit for bit: `BackupAndRestore`."""

import json

import numpy as np
import pytest

import holdfast as tf

keras = tf.keras
rng = np.random.default_rng(3)
x = rng.normal(size=(48, 3)).astype(np.float32)
y = (x @ rng.normal(size=(3, 1))).astype(np.float32)


class Breaks(keras.callbacks.Callback):
    """Ends training with an error behind so many batches of all epochs."""

    def __init__(self, at):
        super().__init__()
        self.left = at

    def on_train_batch_end(self, batch, logs=None):
        self.left -= 1
        if self.left == 0:
            raise RuntimeError("broken")


def model():
    keras.utils.set_random_seed(11)
    made = keras.Sequential(
        [
            keras.Input((3,)),
            keras.layers.Dense(8, "tanh"),
            keras.layers.Dropout(0.3),
            keras.layers.Dense(1),
        ]
    )
    made.compile("adam", "mse")
    return made


def slices():
    return tf.data.Dataset.from_tensor_slices((x, y))


def from_rows():
    return tf.data.Dataset.from_generator(
        lambda: zip(x, y, strict=True),
        output_signature=(tf.TensorSpec((3,)), tf.TensorSpec((1,))),
    )


SOURCES = {
    "shuffled arrays": lambda: {"x": x, "y": y, "batch_size": 4},
    "arrays in order": lambda: {"x": x, "y": y, "batch_size": 4, "shuffle": False},
    "a share of arrays": lambda: {"x": x, "y": y, "batch_size": 3, "validation_split": 0.25},
    "a shuffled dataset": lambda: {"x": slices().shuffle(48).batch(4).prefetch(2)},
    "a seeded shuffle": lambda: {"x": slices().shuffle(20, seed=5).batch(4)},
    "a parallel map": lambda: {
        "x": slices().shuffle(9).map(lambda a, b: (a * 2, b), num_parallel_calls=2).batch(4)
    },
    "a generator of a dataset": lambda: {"x": from_rows().shuffle(10).batch(4)},
    "steps of data without an end": lambda: {
        "x": slices().shuffle(48).repeat().batch(5),
        "steps_per_epoch": 12,
    },
    "weights by class": lambda: {
        "x": slices().map(lambda a, b: (a, tf.cast(b > 0, tf.int32))).shuffle(48).batch(4),
        "class_weight": {0: 1.0, 1: 3.0},
    },
}


@pytest.mark.parametrize("save_freq", [1, 5, "epoch"])
@pytest.mark.parametrize("name", SOURCES)
def test_what_is_trained_is_what_would_have_been(name, save_freq, tmp_path):
    whole = model()
    whole.fit(**SOURCES[name](), epochs=3, verbose=0)
    backup = keras.callbacks.BackupAndRestore(tmp_path / "b", save_freq=save_freq)
    with pytest.raises(RuntimeError, match="broken"):
        model().fit(**SOURCES[name](), epochs=3, verbose=0, callbacks=[backup, Breaks(17)])
    again = model()
    again.set_weights([np.zeros_like(w) for w in again.get_weights()])
    again.fit(**SOURCES[name](), epochs=3, verbose=0, callbacks=[backup])
    assert int(again.optimizer.iterations) == 36
    for ours, expected in zip(again.get_weights(), whole.get_weights(), strict=True):
        assert np.array_equal(ours, expected)
    for ours, expected in zip(again.optimizer.variables, whole.optimizer.variables, strict=True):
        assert np.array_equal(ours.numpy(), expected.numpy())


def test_several_steps_at_once_go_on_where_they_were(tmp_path):
    def several():
        made = model()
        made.compile("adam", "mse", steps_per_execution=4)
        return made

    data = {"x": x, "y": y, "batch_size": 4, "epochs": 3, "verbose": 0}
    whole = several()
    whole.fit(**data)
    backup = keras.callbacks.BackupAndRestore(tmp_path / "b", save_freq=4)
    with pytest.raises(RuntimeError, match="broken"):
        several().fit(**data, callbacks=[backup, Breaks(5)])
    again = several()
    again.fit(**data, callbacks=[backup])
    for ours, expected in zip(again.get_weights(), whole.get_weights(), strict=True):
        assert np.array_equal(ours, expected)


def test_the_callbacks_are_told_the_batches_that_are_left(tmp_path):
    backup = keras.callbacks.BackupAndRestore(tmp_path / "b", save_freq=5)
    with pytest.raises(RuntimeError, match="broken"):
        model().fit(x, y, batch_size=4, epochs=2, verbose=0, callbacks=[backup, Breaks(18)])
    told = []

    class Notes(keras.callbacks.Callback):
        def on_epoch_begin(self, epoch, logs=None):
            told.append(f"epoch {epoch}")

        def on_train_batch_end(self, batch, logs=None):
            told.append(batch)

    history = model().fit(x, y, batch_size=4, epochs=2, verbose=0, callbacks=[backup, Notes()])
    assert told == ["epoch 1", *range(3, 12)]
    assert history.epoch == [1] and np.isfinite(history.history["loss"]).all()


def test_a_generator_begins_its_epoch_anew(tmp_path):
    def batches():
        for i in range(100):
            yield x[i % 12 * 4 : i % 12 * 4 + 4], y[i % 12 * 4 : i % 12 * 4 + 4]

    steps = {"steps_per_epoch": 12, "epochs": 2, "verbose": 0}
    backup = keras.callbacks.BackupAndRestore(tmp_path / "b", save_freq=1)
    with pytest.raises(RuntimeError, match="broken"):
        model().fit(batches(), **steps, callbacks=[backup, Breaks(5)])
    again = model()
    again.fit(batches(), **steps, callbacks=[backup])
    assert int(again.optimizer.iterations) == 5 + 24  # its first five batches come twice


def test_data_that_changed_is_not_gone_on_with(tmp_path):
    backup = keras.callbacks.BackupAndRestore(tmp_path / "b", save_freq=1)
    with pytest.raises(RuntimeError, match="broken"):
        model().fit(slices().batch(4), verbose=0, callbacks=[backup, Breaks(5)])
    with pytest.raises(ValueError, match="was saved from the stages"):
        model().fit(slices().shuffle(48).batch(4), verbose=0, callbacks=[backup])
    with pytest.raises(ValueError, match="position"):
        model().fit(x, y, verbose=0, callbacks=[backup])
    (tmp_path / "b" / "latest.position").unlink()
    again = model()
    again.fit(x, y, batch_size=4, verbose=0, callbacks=[backup])
    assert int(again.optimizer.iterations) == 5 + 12


@pytest.mark.parametrize("part", ["steps", "position"])
def test_a_position_of_another_moment_is_not_used(part, tmp_path):
    backup = keras.callbacks.BackupAndRestore(tmp_path, save_freq=5, delete_checkpoint=False)
    with pytest.raises(RuntimeError, match="broken"):
        model().fit(x, y, batch_size=4, verbose=0, callbacks=[backup, Breaks(7)])
    state = json.loads((tmp_path / "training_metadata.json").read_text())
    assert (state["epoch"], state["batches"]) == (0, 5)
    state[part] = 3
    (tmp_path / "training_metadata.json").write_text(json.dumps(state))
    again = model()
    again.fit(x, y, batch_size=4, verbose=0, callbacks=[backup])
    assert int(again.optimizer.iterations) == 5 + 12
    (drawn,) = [v for v in again.variables if "seed_generator" in v.path]
    assert int(drawn[1]) == 12  # the streams begin anew, too
