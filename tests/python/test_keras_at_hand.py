"""What programs need beside layers: `keras.utils`, `keras.datasets`, `keras.backend`, `keras.tree`."""

import collections
import gzip
import json
import os
import pickle
import tarfile

import numpy as np
import pytest

import holdfast as tf

keras = tf.keras
utils = keras.utils


# Arrays.


def test_classes_become_rows():
    np.testing.assert_array_equal(utils.to_categorical([0, 2, 1]), np.eye(3)[[0, 2, 1]])
    assert utils.to_categorical(np.zeros((4, 5, 1)), 7).shape == (4, 5, 7)
    found = utils.to_categorical(tf.constant([[1], [0]]), 3)
    np.testing.assert_array_equal(found, np.eye(3)[[1, 0]])
    with pytest.raises(ValueError, match="expected classes"):
        utils.to_categorical(["a"])
    with pytest.raises((ValueError, IndexError), match="class 5, and there are 3"):
        utils.to_categorical([5], 3)


def test_rows_get_the_norm_one():
    x = np.array([[3.0, 4.0], [0.0, 0.0]])
    np.testing.assert_allclose(utils.normalize(x), [[0.6, 0.8], [0, 0]])
    np.testing.assert_allclose(utils.normalize(x, axis=0, order=1), [[1, 1], [0, 0]])


def test_sequences_get_one_length():
    rows = [[1], [2, 3], [4, 5, 6]]
    pad = keras.preprocessing.sequence.pad_sequences
    assert pad is utils.pad_sequences
    assert pad(rows).tolist() == [[0, 0, 1], [0, 2, 3], [4, 5, 6]]
    assert pad(rows, padding="post", value=-1).tolist() == [[1, -1, -1], [2, 3, -1], [4, 5, 6]]
    assert pad(rows, 2).tolist() == [[0, 1], [2, 3], [5, 6]]
    assert pad(rows, 2, truncating="post").tolist() == [[0, 1], [2, 3], [4, 5]]
    assert pad([[[1, 2]], [[3, 4], [5, 6]]], dtype="float32").shape == (2, 2, 2)
    assert pad([["a"], ["b", "c"]], dtype=object, value="-").tolist() == [["-", "a"], ["b", "c"]]
    assert pad([[1, 2]], maxlen=0).shape == (1, 0)
    with pytest.raises(ValueError, match=r"`sequences\[1\]` is 3"):
        pad([[1], 3])
    with pytest.raises(ValueError, match="`padding`"):
        pad(rows, padding="left")


def test_seeds_make_draws_repeat():
    import random

    def draws():
        return random.random(), np.random.rand(), float(tf.random.normal([]))

    utils.set_random_seed(812)
    first = draws()
    utils.set_random_seed(812)
    assert draws() == first
    with pytest.raises((ValueError, IndexError), match="`seed` is -1"):
        utils.set_random_seed(-1)


def test_a_bar_counts_and_averages(capsys):
    bar = utils.Progbar(4, verbose=2)
    for i in range(4):
        bar.update(i + 1, [("loss", float(i)), ("lr", 0.5)])
    line = capsys.readouterr().out
    assert line.startswith("4/4 - ") and line.endswith("- loss: 3.0000 - lr: 0.5000\n")
    bar = utils.Progbar(2, interval=0)
    bar.add(1, [("loss", 4.0)])
    bar.add(1)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2 and lines[0].startswith("1/2 ") and "loss: 4.0000" in lines[1]
    assert "\r" not in "".join(lines) and "\x1b" not in "".join(lines)
    with pytest.raises(ValueError, match="not both"):
        utils.Progbar(2, stateful_metrics=["a"], stateless_metrics=["b"])


def test_batches_come_by_their_number():
    class Numbers(utils.PyDataset):
        def __len__(self):
            return 3

        def __getitem__(self, index):
            return index * 10

    assert list(Numbers()) == [0, 10, 20] and Numbers(workers=2).num_batches == 3
    assert utils.Sequence is utils.PyDataset
    with pytest.raises(Exception, match="`PyDataset` has no `__getitem__`"):
        utils.PyDataset()[0]
    assert utils.unpack_x_y_sample_weight((1, 2)) == (1, 2, None)
    assert utils.pack_x_y_sample_weight(1, 2) == (1, 2) and utils.pack_x_y_sample_weight([1]) == (
        [1],
    )


def test_images_and_arrays():
    image = pytest.importorskip("PIL.Image")
    pixels = np.arange(2 * 3 * 3).reshape(2, 3, 3).astype("float32")
    made = utils.array_to_img(pixels, scale=False)
    assert made.size == (3, 2) and isinstance(made, image.Image)
    np.testing.assert_array_equal(utils.img_to_array(made), pixels)
    with pytest.raises(ValueError, match="expected 1, 3 or 4"):
        utils.array_to_img(np.zeros((2, 2, 2)))


# Custom objects.


def test_names_are_known_inside_of_a_scope():
    class Twice(keras.layers.Layer):
        def call(self, x):
            return x * 2

    def doubled(x):
        return x * 2

    config = keras.layers.serialize(Twice(name="t"))
    with utils.custom_object_scope({"Twice": Twice, "doubled": doubled}):
        assert utils.get_custom_objects()["Twice"] is Twice
        assert type(keras.layers.deserialize(config)) is Twice
        layer = keras.layers.Dense(2, activation="doubled")
        assert layer(tf.ones([1, 3])).shape == (1, 2)
    assert "Twice" not in utils.get_custom_objects()
    with pytest.raises(ValueError, match="not known"):
        keras.layers.deserialize(config)
    with pytest.raises(ValueError, match="expected a class or a function"):
        utils.get_custom_objects()["x"] = 3


def test_a_registered_function_has_a_name_in_configs():
    @utils.register_keras_serializable("mine")
    def cubed(x):
        return x**3

    assert utils.get_registered_name(cubed) == "mine>cubed"
    assert utils.get_registered_object("mine>cubed") is cubed
    layer = keras.layers.Dense(2, activation=cubed)
    again = keras.layers.Dense.from_config(layer.get_config())
    np.testing.assert_allclose(again.activation(tf.constant(2.0)), 8.0)


# Structures.


def test_trees_of_other_forms_are_refused():
    """Lists went as tuples, and keys as other keys."""
    tree = keras.tree
    pair = collections.namedtuple("pair", "a b")
    same = [({"a": 1, "b": 2}, collections.OrderedDict(b=1, a=2)), ([None], [1]), ((), ())]
    for one, other in same:
        tree.assert_same_structure(one, other)
        tree.map_structure(lambda x, y: y, one, other)
    unlike = [([1], (1,)), ({"a": 1}, {"b": 1}), (pair(1, 2), (1, 2)), ([1], [[1]]), ([], ())]
    for one, other in unlike:
        for refused in (
            lambda one=one, other=other: tree.assert_same_structure(one, other),
            lambda one=one, other=other: tree.map_structure(lambda x, y: y, one, other),
            lambda one=one, other=other: tree.map_structure(lambda x, *y: x, one, one, other),
        ):
            with pytest.raises(ValueError, match="nested in different ways"):
                refused()
    with pytest.raises(ValueError, match="keys"):
        tree.map_structure_up_to({"a": 0}, str, {"b": 1})
    with pytest.raises(ValueError, match="different ways"):
        tree.map_structure_up_to([0, 0], str, ([1], 2))


def test_names_of_classes():
    for kind in (keras.layers.Dense, keras.losses.MeanSquaredError, keras.Sequential):
        assert keras.utils.get_registered_name(kind) == kind.__name__


def test_weights_that_are_not_made_are_not_counted():
    """There were none, as of a layer without weights."""
    for layer in (keras.layers.Dense(2), keras.Sequential([keras.layers.Dense(1)])):
        with pytest.raises(ValueError, match="is not built yet"):
            layer.count_params()
        layer.build((None, 3))
        assert layer.count_params() > 0


def test_trees():
    tree = keras.tree
    nested = {"b": [1, (2, 3)], "a": 4}
    assert tree.flatten(nested) == [4, 1, 2, 3]
    assert tree.flatten_with_path(nested)[2] == (("b", 1, 0), 2)
    assert tree.map_structure(lambda x: x + 1, nested) == {"b": [2, (3, 4)], "a": 5}
    assert tree.lists_to_tuples(nested) == {"b": (1, (2, 3)), "a": 4}
    assert tree.map_structure_up_to({"b": 0, "a": 0}, str, nested)["b"] == "[1, (2, 3)]"
    assert tree.map_shape_structure(len, {"x": (None, 3), "y": [2]}) == {"x": 2, "y": 1}
    turned = tree.traverse(lambda x: tuple(x) if isinstance(x, list) else None, nested)
    assert turned["b"] == (1, (2, 3))
    assert tree.traverse(lambda x: tree.MAP_TO_NONE if x == 4 else None, nested)["a"] is None
    assert tree.pack_sequence_as(nested, [9, 8, 7, 6]) == {"b": [8, (7, 6)], "a": 9}
    tree.assert_same_paths({"x": 1}, {"x": 2})
    with pytest.raises(ValueError, match="only in the first"):
        tree.assert_same_paths({"x": 1}, {"y": 2})


# What holds for all.


def test_numbers_that_hold_for_all():
    backend = keras.backend
    assert backend.epsilon() == keras.config.epsilon() == 1e-7
    backend.set_epsilon(1e-4)
    try:
        assert keras.config.epsilon() == 1e-4
    finally:
        backend.set_epsilon(1e-7)
    assert backend.floatx() == "float32"
    backend.set_floatx("float64")
    try:
        assert keras.ops.zeros(2).dtype == "float64"
        assert keras.layers.Dense(2).dtype == "float64"
    finally:
        backend.set_floatx("float32")
    assert keras.mixed_precision.dtype_policy().name == "float32"
    with pytest.raises(ValueError, match="expected a dtype of floats"):
        backend.set_floatx("int32")
    assert backend.image_data_format() == "channels_last" and backend.backend() == "tensorflow"
    assert keras.config.is_traceback_filtering_enabled()


def test_older_names_work():
    backend = keras.backend
    x = np.array([[1.0, -2.0], [3.0, 4.0]], np.float32)
    assert backend.int_shape(keras.Input((3, None))) == (None, 3, None)
    np.testing.assert_allclose(backend.mean(x, axis=1), x.mean(1))
    np.testing.assert_allclose(backend.batch_dot(x, x), (x * x).sum(1, keepdims=True))
    three = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    four = np.arange(16, dtype=np.float32).reshape(2, 4, 2)
    np.testing.assert_allclose(backend.batch_dot(three, four), three @ four)
    np.testing.assert_allclose(backend.clip(x, 0, 3), x.clip(0, 3))
    v = backend.variable(x)
    backend.set_value(v, x + 1)
    np.testing.assert_allclose(backend.get_value(v), x + 1)
    assert backend.get_uid("a") == 1 and backend.get_uid("a") == 2
    np.testing.assert_allclose(backend.switch(x > 0, x, -x), abs(x))
    assert backend.result_type("int32", float) == "float32"


def test_names_begin_anew():
    utils.clear_session()
    assert keras.layers.Dense(1).name == "dense"
    assert keras.layers.Dense(1).name == "dense_1"
    keras.backend.clear_session()
    assert keras.layers.Dense(1).name == "dense"


def test_inputs_behind_symbols():
    a, b = keras.Input((2,), name="a"), keras.Input((2,), name="b")
    c = keras.layers.Dense(2)(a) + b
    assert utils.is_keras_tensor(c) and not utils.is_keras_tensor(tf.ones(2))
    assert [t.name.partition(":")[0] for t in utils.get_source_inputs(c)] == ["a", "b"]


# Files of the cache.


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("KERAS_HOME", str(tmp_path))
    folder = tmp_path / "datasets"
    folder.mkdir()
    return folder


def test_a_missing_file_is_named(cache):
    with pytest.raises(ValueError) as caught:
        keras.datasets.mnist.load_data()
    text = str(caught.value)
    assert str(cache / "mnist.npz") in text and "tf-keras-datasets/mnist.npz" in text


def test_files_are_checked_and_unpacked(cache):
    (cache / "words.txt").write_text("hello")
    md5 = "5d41402abc4b2a76b9719d911017c592"
    path = utils.get_file("words.txt", "https://x.org/words.txt", file_hash=md5)
    assert path == str(cache / "words.txt")
    with pytest.raises(ValueError, match="is not the one that is wanted"):
        utils.get_file("words.txt", "https://x.org/words.txt", md5_hash=md5[::-1])
    with tarfile.open(cache / "pack.tar.gz", "w:gz") as tar:
        tar.add(cache / "words.txt", "inner/words.txt")
    folder = utils.get_file(origin="https://x.org/pack.tar.gz", extract=True)
    assert os.path.isfile(os.path.join(folder, "inner", "words.txt"))
    with pytest.raises(tf.errors.DiagnosticError, match="fetches no files"):
        utils.get_file("words.txt", "https://x.org/words.txt", force_download=True)


def test_mnist_and_its_fashion(cache):
    x, y = np.arange(3 * 28 * 28, dtype=np.uint8).reshape(3, 28, 28), np.array([7, 8, 9], np.uint8)
    np.savez(cache / "mnist.npz", x_train=x, y_train=y, x_test=x[:1], y_test=y[:1])
    (a, b), (c, d) = keras.datasets.mnist.load_data()
    np.testing.assert_array_equal(a, x)
    assert b.tolist() == [7, 8, 9] and c.shape == (1, 28, 28) and d.tolist() == [7]
    folder = cache / "fashion-mnist"
    folder.mkdir()
    for part in ("train", "t10k"):
        (folder / f"{part}-labels-idx1-ubyte.gz").write_bytes(gzip.compress(bytes(8) + y.tobytes()))
        (folder / f"{part}-images-idx3-ubyte.gz").write_bytes(
            gzip.compress(bytes(16) + x.tobytes())
        )
    (a, b), _ = keras.datasets.fashion_mnist.load_data()
    np.testing.assert_array_equal(a, x)
    (folder / "t10k-images-idx3-ubyte.gz").write_bytes(gzip.compress(bytes(16)))
    with pytest.raises(ValueError, match="expected 3 images"):
        keras.datasets.fashion_mnist.load_data()


@pytest.mark.parametrize("protocol", [2, 4])
def test_batches_of_cifar(cache, protocol):
    folder = cache / "cifar-10-batches-py-target" / "cifar-10-batches-py"
    folder.mkdir(parents=True)
    data = np.arange(2 * 3072, dtype=np.uint8).reshape(2, 3072)
    names = [f"data_batch_{i}" for i in range(1, 6)] + ["test_batch"]
    for i, name in enumerate(names):
        held = {b"data": data, b"labels": [i, 9], b"batch_label": b"x"}
        (folder / name).write_bytes(pickle.dumps(held, protocol=protocol))
    (x, y), (x_test, _) = keras.datasets.cifar10.load_data()
    assert x.shape == (10, 32, 32, 3) and y[:, 0].tolist() == [0, 9, 1, 9, 2, 9, 3, 9, 4, 9]
    np.testing.assert_array_equal(x_test, data.reshape(2, 3, 32, 32).transpose(0, 2, 3, 1))
    other = cache / "cifar-100-python-target" / "cifar-100-python"
    other.mkdir(parents=True)
    for name in ("train", "test"):
        held = {b"data": data, b"fine_labels": [77, 3], b"coarse_labels": [1, 0]}
        (other / name).write_bytes(pickle.dumps(held, protocol=protocol))
    assert keras.datasets.cifar100.load_data()[0][1].tolist() == [[77], [3]]
    assert keras.datasets.cifar100.load_data("coarse")[1][1].tolist() == [[1], [0]]


class _Harmful:
    def __reduce__(self):
        return os.system, ("touch /tmp/holdfast_was_here",)


def test_a_file_that_would_run_code_is_refused(cache):
    folder = cache / "cifar-10-batches-py-target" / "cifar-10-batches-py"
    folder.mkdir(parents=True)
    for harmful in (_Harmful(), {b"data": _Harmful()}, np.array([_Harmful()], dtype=object)):
        (folder / "data_batch_1").write_bytes(pickle.dumps(harmful))
        with pytest.raises(ValueError, match="asks for `(posix|nt).system`"):
            keras.datasets.cifar10.load_data()
    for text in (b"", b"\x80\x04", pickle.dumps([1]), pickle.dumps(getattr), b"cbuiltins\neval\n."):
        (folder / "data_batch_1").write_bytes(text)
        with pytest.raises(ValueError):
            keras.datasets.cifar10.load_data()
    assert not os.path.exists("/tmp/holdfast_was_here")


def test_an_array_file_that_would_run_code_is_refused(cache):
    held = np.empty(1, dtype=object)
    held[0] = _Harmful()
    np.savez(cache / "imdb.npz", x_train=held, y_train=[0], x_test=held, y_test=[0])
    with pytest.raises(ValueError, match="asks for"):
        keras.datasets.imdb.load_data()
    (cache / "reuters.npz").write_bytes(b"no archive")
    with pytest.raises(ValueError, match="no .npz file"):
        keras.datasets.reuters.load_data()


def _texts(*rows):
    out = np.empty(len(rows), dtype=object)
    out[:] = [list(row) for row in rows]
    return out


def test_texts_as_numbers_of_words(cache):
    x = _texts([1, 2, 3], [4, 50], [6, 7, 8, 9], [2])
    np.savez(cache / "imdb.npz", x_train=x, y_train=[0, 1, 0, 1], x_test=x, y_test=[1, 0, 1, 0])
    np.savez(cache / "reuters.npz", x=x, y=[3, 4, 5, 6])
    order = np.arange(4)
    np.random.RandomState(113).shuffle(order)
    (a, b), _ = keras.datasets.imdb.load_data()
    assert [list(row) for row in a] == [
        [1, *[w + 3 if w + 3 < 53 else 2 for w in x[i]]] for i in order
    ]
    assert b.tolist() == [[0, 1, 0, 1][i] for i in order]
    (a, _), _ = keras.datasets.imdb.load_data(
        num_words=8, start_char=None, index_from=0, oov_char=None
    )
    assert [list(row) for row in a] == [[w for w in x[i] if w < 8] for i in order]
    (a, b), (c, d) = keras.datasets.reuters.load_data(test_split=0.5)
    assert len(a) == len(c) == 2 and sorted([*b, *d]) == [3, 4, 5, 6]
    assert len(keras.datasets.reuters.get_label_names()) == 46
    (cache / "imdb_word_index.json").write_text(json.dumps({"the": 1}))
    assert keras.datasets.imdb.get_word_index() == {"the": 1}
    with pytest.raises((ValueError, IndexError), match="no text is that short"):
        keras.datasets.imdb.load_data(maxlen=1)


def test_prices_of_houses(cache):
    x, y = np.arange(80.0).reshape(10, 8), np.arange(10.0)
    np.savez(cache / "california_housing.npz", x=x, y=y)
    np.savez(cache / "boston_housing.npz", x=x, y=y)
    for loader in (keras.datasets.california_housing, keras.datasets.boston_housing):
        (a, b), (_, d) = loader.load_data(test_split=0.3)
        assert a.shape == (7, 8) and d.shape == (3,)
        np.testing.assert_array_equal(a[:, 0], b * 8)
        assert sorted([*b, *d]) == list(y)
    with pytest.raises(ValueError, match='expected "large" or "small"'):
        keras.datasets.california_housing.load_data("medium")
