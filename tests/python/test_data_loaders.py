"""The files that well-known datasets come in, through the sources that all files are read by."""

import gzip
import struct

import numpy as np
import pytest

import holdfast as tf

Dataset = tf.data.Dataset
G = np.random.default_rng(5)


def write_idx(path, array, packed=False):
    """MNIST's and Fashion-MNIST's: four bytes of kind and rank, the sizes, the numbers."""
    head = struct.pack(">HBB", 0, 8, array.ndim) + struct.pack(f">{array.ndim}I", *array.shape)
    data = head + array.astype(np.uint8).tobytes()
    path.write_bytes(gzip.compress(data) if packed else data)
    return str(path)


@pytest.mark.parametrize("packed", [False, True])
def test_images_and_labels_in_idx_files(tmp_path, packed):
    images = G.integers(0, 256, (7, 28, 28)).astype(np.uint8)
    labels = G.integers(0, 10, 7).astype(np.uint8)
    kind = "GZIP" if packed else None
    pixels = tf.data.FixedLengthRecordDataset(
        write_idx(tmp_path / "images", images, packed), 28 * 28, 16, compression_type=kind
    ).map(lambda r: tf.reshape(tf.io.decode_raw(r, tf.uint8), [28, 28]))
    numbers = tf.data.FixedLengthRecordDataset(
        write_idx(tmp_path / "labels", labels, packed), 1, 8, compression_type=kind
    ).map(lambda r: tf.reshape(tf.io.decode_raw(r, tf.uint8), []))
    ds = Dataset.zip(pixels, numbers).batch(3)
    found = list(ds.as_numpy_iterator())
    assert [len(y) for _, y in found] == [3, 3, 1]
    np.testing.assert_array_equal(np.concatenate([x for x, _ in found]), images)
    np.testing.assert_array_equal(np.concatenate([y for _, y in found]), labels)
    assert ds.element_spec[0].shape.as_list() == [None, 28, 28]


@pytest.mark.parametrize("label_bytes", [1, 2])  # CIFAR-10, and CIFAR-100 with its two labels
def test_cifar_in_binary_files(tmp_path, label_bytes):
    labels = G.integers(0, 10, (5, label_bytes)).astype(np.uint8)
    planes = G.integers(0, 256, (5, 3, 32, 32)).astype(np.uint8)
    names = []
    for i, part in enumerate((slice(0, 3), slice(3, 5))):  # several files, as batches 1 to 5 are
        name = tmp_path / f"data_batch_{i}.bin"
        rows = np.concatenate([labels[part], planes[part].reshape(-1, 3072)], axis=1)
        name.write_bytes(rows.tobytes())
        names.append(str(name))

    def parse(record):
        values = tf.io.decode_raw(record, tf.uint8)
        image = tf.transpose(tf.reshape(values[label_bytes:], [3, 32, 32]), [1, 2, 0])
        return image, values[:label_bytes]

    ds = tf.data.FixedLengthRecordDataset(names, 3072 + label_bytes).map(parse, 2)
    found = list(ds.as_numpy_iterator())
    np.testing.assert_array_equal([x for x, _ in found], planes.transpose(0, 2, 3, 1))
    np.testing.assert_array_equal([y for _, y in found], labels)


@pytest.mark.parametrize("kind", ["png", "jpg"])
def test_a_folder_of_images_for_each_class(tmp_path, kind):
    wanted = {}
    for label, name in enumerate(["cats", "dogs"]):
        (tmp_path / name).mkdir()
        for i in range(3):
            image = np.full((6, 8, 3), 40 * i + 100 * label, np.uint8)
            coded = (tf.io.encode_png if kind == "png" else tf.io.encode_jpeg)(image)
            (tmp_path / name / f"{i}.{kind}").write_bytes(coded.numpy())
            wanted[f"{name}/{i}"] = (label, image)

    def parse(path):
        name = tf.strings.split(path, "/")[-2]
        image = tf.io.decode_image(tf.io.read_file(path), channels=3, expand_animations=False)
        return tf.cast(name == "dogs", tf.int32), image

    files = Dataset.list_files(str(tmp_path / "*" / f"*.{kind}"), shuffle=False)
    found = list(files.map(parse, num_parallel_calls=2).as_numpy_iterator())
    assert [int(label) for label, _ in found] == [label for label, _ in wanted.values()]
    for (_, image), (_, made) in zip(found, wanted.values(), strict=True):
        np.testing.assert_allclose(image.astype(int), made.astype(int), atol=2)
    by_keras = tf.keras.utils.image_dataset_from_directory(
        str(tmp_path), image_size=(6, 8), batch_size=4, shuffle=False
    )
    assert by_keras.class_names == ["cats", "dogs"]
    images, labels = (np.concatenate(part) for part in zip(*by_keras.as_numpy_iterator()))
    np.testing.assert_array_equal(labels, [0, 0, 0, 1, 1, 1])
    np.testing.assert_allclose(images, [made for _, made in wanted.values()], atol=2)


def test_columns_of_a_csv_file(tmp_path):
    path = tmp_path / "titanic.csv"
    path.write_text("survived,age,class\n0,22.0,Third\n1,38.0,First\n1,,Second\n")
    by_name = tf.data.experimental.make_csv_dataset(
        str(path), 2, label_name="survived", num_epochs=1, shuffle=False, column_defaults=None
    )
    features, labels = next(iter(by_name))
    assert labels.numpy().tolist() == [0, 1]
    assert features["class"].numpy().tolist() == [b"Third", b"First"]
    kinds = [tf.int32, tf.constant([-1.0]), tf.string]
    rows = tf.data.experimental.CsvDataset(str(path), kinds, header=True)
    assert [(int(s), float(a), c.numpy()) for s, a, c in rows] == [
        (0, 22.0, b"Third"),
        (1, 38.0, b"First"),
        (1, -1.0, b"Second"),
    ]


def test_arrays_of_an_npz_file(tmp_path):
    x, y = G.standard_normal((10, 4)).astype(np.float32), np.arange(10)
    np.savez(tmp_path / "mnist.npz", x_train=x, y_train=y)
    with np.load(tmp_path / "mnist.npz") as file:
        ds = Dataset.from_tensor_slices((file["x_train"], file["y_train"])).shuffle(10, seed=1)
    found = sorted(ds.as_numpy_iterator(), key=lambda pair: pair[1])
    np.testing.assert_array_equal([a for a, _ in found], x)
    np.testing.assert_array_equal([b for _, b in found], y)


def test_lines_of_texts_with_their_labels(tmp_path):
    texts = {"cowper.txt": "sing\nthe wrath\n\n", "derby.txt": "of Peleus' son\n"}
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    labeled = [
        tf.data.TextLineDataset(str(tmp_path / name)).map(lambda line, i=i: (line, i))
        for i, name in enumerate(texts)
    ]
    both = labeled[0].concatenate(labeled[1]).filter(lambda line, _: tf.strings.length(line) > 0)
    assert [(line, int(i)) for line, i in both.as_numpy_iterator()] == [
        (b"sing", 0),
        (b"the wrath", 0),
        (b"of Peleus' son", 1),
    ]
    for name in ("neg", "pos"):
        (tmp_path / "all" / name).mkdir(parents=True)
        (tmp_path / "all" / name / "1.txt").write_text(f"so {name}")
    found = tf.keras.utils.text_dataset_from_directory(str(tmp_path / "all"), shuffle=False)
    (texts, labels), *rest = found.as_numpy_iterator()
    assert texts.tolist() == [b"so neg", b"so pos"] and labels.tolist() == [0, 1] and not rest
