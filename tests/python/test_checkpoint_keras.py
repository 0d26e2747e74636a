"""Checkpoints of models, optimizers and iterators: TensorFlow's and ours, also into what is made later."""

import base64
import gc
import json
import pathlib
import weakref
import zlib

import numpy as np
import pytest

import holdfast as tf

RECORDED = json.loads(
    (pathlib.Path(__file__).parents[1] / "recorded" / "keras_files.json").read_text()
)
layers = tf.keras.layers


def unpacked(folder, files, name="c"):
    for suffix, content in files.items():
        (folder / f"{name}{suffix}").write_bytes(zlib.decompress(base64.b64decode(content)))
    return str(folder / name)


def numbered(variable, i):
    size = int(np.prod(variable.shape))
    return np.array_equal(variable.numpy(), np.reshape(np.arange(size) / 8 + i, variable.shape))


def branches():
    left, right = tf.keras.Input((4,)), tf.keras.Input((4,))
    shared = layers.Dense(3)
    a, b = shared(left), shared(right)
    deep = layers.Dense(2)(layers.Dense(2)(b))
    joined = layers.BatchNormalization()(layers.Concatenate()([layers.Dense(2)(a), deep]))
    return tf.keras.Model([left, right], [layers.Dense(1)(joined), layers.Dense(2)(a)])


class Net(tf.keras.Model):
    """Nothing is built before the first call."""

    def __init__(self):
        super().__init__()
        self.first = layers.Dense(3)
        self.blocks = [layers.Dense(3), layers.BatchNormalization()]
        self.heads = {"a": layers.Dense(2), "b": layers.Dense(1)}

    def call(self, x):
        x = self.first(x)
        for block in self.blocks:
            x = block(x)
        return self.heads["a"](x) + self.heads["b"](x)


def train(model, optimizer, steps=1):
    for i in range(steps):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(model(tf.ones([2, 4]) * (i + 1.0)) ** 2)
        variables = model.trainable_variables
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
    return loss


def test_a_checkpoint_of_keras_is_restored(tmp_path):
    path = unpacked(tmp_path, RECORDED["checkpoint"])
    model, optimizer = branches(), tf.keras.optimizers.Adam(0.5)
    extra = {"a": [tf.Variable(0.0), tf.Variable([0.0])]}
    held = tf.train.Checkpoint(model=model, optimizer=optimizer, extra=extra)
    status = held.restore(path)
    assert all(numbered(v, i) for i, v in enumerate(model.variables))
    assert optimizer.iterations.numpy() == 7 and float(optimizer.learning_rate) == 0.25
    assert extra["a"][0].numpy() == 1.5 and held.save_counter.numpy() == 1
    with pytest.raises(AssertionError, match="optimizer/_variables"):
        status.assert_consumed()
    optimizer.build(model.trainable_variables)  # the slots get theirs now
    assert all(numbered(v, i) for i, v in enumerate(optimizer.variables[2:]))
    status.assert_consumed()


def test_slots_of_older_optimizers_are_restored(tmp_path):
    recorded = RECORDED["slots"]
    path = unpacked(tmp_path, recorded["files"])
    for build_first in (True, False):
        held = [tf.Variable([0.0, 0.0], name="a"), tf.Variable([[0.0]], name="b")]
        optimizer = tf.keras.optimizers.Adam(0.5)
        if build_first:
            optimizer.build(held)
        tf.train.Checkpoint(optimizer=optimizer, held=held).restore(path)
        optimizer.build(held)
        kept = optimizer.variables[2:]
        for i in range(2):
            assert np.allclose(kept[2 * i].numpy(), recorded["kept"][f"m/{i}"])
            assert np.allclose(kept[2 * i + 1].numpy(), recorded["kept"][f"v/{i}"])


def test_layers_that_are_not_built_get_their_values_when_they_are(tmp_path):
    model, optimizer = Net(), tf.keras.optimizers.Adam(0.1)
    train(model, optimizer, 3)
    path = tf.train.Checkpoint(model=model, optimizer=optimizer).save(tmp_path / "c")
    loss = train(model, optimizer, 2)
    other, beside = Net(), tf.keras.optimizers.Adam(0.7)
    status = tf.train.Checkpoint(model=other, optimizer=beside).restore(path)
    assert not other.weights
    with pytest.raises(AssertionError):
        status.assert_consumed()
    assert np.array_equal(train(other, beside, 2).numpy(), loss.numpy())
    status.assert_consumed()
    for mine, its in zip(other.weights, model.weights, strict=True):
        assert np.array_equal(mine.numpy(), its.numpy())


def test_what_is_made_while_a_function_is_traced_gets_its_values(tmp_path):
    model = Net()
    model(tf.ones([2, 4]))
    path = tf.train.Checkpoint(model).write(tmp_path / "c")
    other = Net()
    tf.train.Checkpoint(other).read(path)

    @tf.function
    def run(x):
        return other(x)

    assert np.allclose(run(tf.ones([2, 4])).numpy(), model(tf.ones([2, 4])).numpy(), rtol=1e-6)


def test_a_sequential_that_is_built_by_fit(tmp_path):
    def made():
        return tf.keras.Sequential([layers.Dense(3, activation="tanh"), layers.Dense(1)])

    x, y = np.ones((4, 2), "f4"), np.zeros((4, 1), "f4")
    model = made()
    model.compile("adam", "mse")
    model.fit(x, y, epochs=2, verbose=0)
    path = tf.train.Checkpoint(model=model).save(tmp_path / "c")
    wanted = model.fit(x, y, verbose=0).history["loss"]
    other = made()
    other.compile("adam", "mse")
    status = tf.train.Checkpoint(model=other).restore(path)
    assert other.fit(x, y, verbose=0).history["loss"] == wanted
    status.assert_consumed()


def test_lists_and_dicts_that_are_filled_later(tmp_path):
    save = tf.train.Checkpoint()
    save.listed = [tf.Variable(1.0)]
    save.listed.append(tf.Variable(2.0))
    save.mapped = {"one": save.listed[0]}
    save.mapped["two"] = save.listed[1]
    path = save.save(tmp_path / "lists")
    other = tf.train.Checkpoint()
    second = tf.Variable(0.0)
    other.mapped = {"two": second}
    other.restore(path)
    assert second.numpy() == 2
    given = []
    other.listed = given
    first, late = tf.Variable(0.0), tf.Variable(0.0)
    other.listed.append(first)
    assert first.numpy() == 1 and given[0] is first
    other.mapped["one"] = late
    assert late.numpy() == 0  # one object stands for a value, and `first` does


def test_a_module_whose_list_is_filled_in_its_build(tmp_path):
    class Tower(tf.keras.layers.Layer):
        def build(self, shape):
            self.floors = []
            for _ in range(3):
                self.floors.append(layers.Dense(4))

        def call(self, x):
            for floor in self.floors:
                x = floor(x)
            return x

    tower = Tower()
    tower(tf.ones([1, 4]))
    path = tf.train.Checkpoint(tower=tower).write(tmp_path / "c")
    other = Tower()
    status = tf.train.Checkpoint(tower=other).read(path)
    assert np.array_equal(other(tf.ones([1, 4])).numpy(), tower(tf.ones([1, 4])).numpy())
    status.assert_consumed()


def test_what_waits_keeps_nothing_alive(tmp_path):
    model = Net()
    model(tf.ones([2, 4]))
    path = tf.train.Checkpoint(model=model).write(tmp_path / "c")
    other = Net()
    tf.train.Checkpoint(model=other).read(path)
    alive = weakref.ref(other)
    del other
    gc.collect()
    assert alive() is None


def test_a_value_that_does_not_fit_is_told_when_the_layer_is_built(tmp_path):
    model = tf.keras.Sequential([layers.Dense(3)])
    model(tf.ones([1, 4]))
    path = tf.train.Checkpoint(model=model).write(tmp_path / "c")
    other = tf.keras.Sequential([layers.Dense(3)])
    tf.train.Checkpoint(model=other).read(path)
    with pytest.raises(ValueError, match="has shape"):
        other(tf.ones([1, 5]))


def test_an_iterator_goes_on_where_it_stood(tmp_path):
    def made():
        return iter(tf.data.Dataset.range(20).shuffle(10, seed=4).batch(3).repeat())

    def read(iterator, count):
        return [next(iterator).numpy().tolist() for _ in range(count)]

    iterator, step = made(), tf.Variable(0)
    read(iterator, 4)
    held = tf.train.Checkpoint(iterator=iterator, step=step)
    path = held.save(tmp_path / "c")
    wanted = read(iterator, 9)
    other = made()
    again = tf.train.Checkpoint(iterator=other, step=tf.Variable(5))
    again.restore(path).assert_consumed()
    assert read(other, 9) == wanted and again.step.numpy() == 0
    late = tf.train.Checkpoint(step=tf.Variable(0))
    late.restore(path)
    late.iterator = made()
    assert read(late.iterator, 9) == wanted


@pytest.mark.parametrize(
    "make",
    [
        lambda: tf.keras.optimizers.SGD(0.01, momentum=0.9),
        lambda: tf.keras.optimizers.RMSprop(0.01, momentum=0.5, centered=True),
        lambda: tf.keras.optimizers.Nadam(0.01, use_ema=True),
        lambda: tf.keras.optimizers.Adamax(0.01, gradient_accumulation_steps=2),
        lambda: tf.keras.optimizers.LossScaleOptimizer(tf.keras.optimizers.Adam(0.01)),
        lambda: tf.keras.optimizers.Ftrl(
            tf.keras.optimizers.schedules.ExponentialDecay(0.01, 2, 0.5)
        ),
    ],
)
def test_training_goes_on_as_if_it_had_never_stopped(make, tmp_path):
    tf.keras.utils.set_random_seed(6)
    model, optimizer = Net(), make()
    train(model, optimizer, 3)
    path = tf.train.Checkpoint(model=model, optimizer=optimizer).save(tmp_path / "c")
    other, beside = Net(), make()
    status = tf.train.Checkpoint(model=other, optimizer=beside).restore(path)
    train(model, optimizer, 3), train(other, beside, 3)
    status.assert_consumed()
    for mine, its in zip(other.weights, model.weights, strict=True):
        assert np.array_equal(mine.numpy(), its.numpy())


def test_names_are_those_of_keras(tmp_path):
    model, optimizer = branches(), tf.keras.optimizers.Adam(0.5)
    optimizer.build(model.trainable_variables)
    path = tf.train.Checkpoint(model=model, optimizer=optimizer).save(tmp_path / "c")
    keys = [key for key, _ in tf.train.list_variables(path)]
    ours = [key for key in keys if key.startswith("optimizer/_variables")]
    assert len(ours) == 2 * len(model.trainable_variables)
    assert "optimizer/_iterations/.ATTRIBUTES/VARIABLE_VALUE" in keys
    assert "optimizer/_learning_rate/.ATTRIBUTES/VARIABLE_VALUE" in keys
    recorded = unpacked(tmp_path, RECORDED["checkpoint"], "keras")

    def kept(prefix):
        return {
            key: shape
            for key, shape in tf.train.list_variables(prefix)
            if key.startswith("optimizer/_variables")
        }

    assert kept(path) == kept(recorded)


def test_metrics_are_kept(tmp_path):
    mean = tf.keras.metrics.Mean()
    mean.update_state([1.0, 2.0, 6.0])
    path = tf.train.Checkpoint(mean=mean).write(tmp_path / "c")
    other = tf.keras.metrics.Mean()
    tf.train.Checkpoint(mean=other).read(path)
    other.update_state([3.0])
    assert other.result().numpy() == 3
