"""Files of images, texts and sounds: read from folders, and written as texts."""

import numpy as np
import pytest

import holdfast as tf

U = tf.keras.utils


@pytest.fixture
def pictures(tmp_path):
    for k, name in enumerate(("cats", "dogs")):
        (tmp_path / name).mkdir()
        for i in range(3 + k):
            image = np.full((6 + i, 8, 3), 40 * i + k, "uint8")
            tf.io.write_file(str(tmp_path / name / f"{i}.png"), tf.io.encode_png(image))
    (tmp_path / "cats" / "notes.txt").write_text("no picture")
    return tmp_path


def test_images_of_folders(pictures, capsys):
    ds = U.image_dataset_from_directory(pictures, image_size=(4, 5), batch_size=3, shuffle=False)
    assert capsys.readouterr().out == "Found 7 files belonging to 2 classes.\n"
    assert ds.class_names == ["cats", "dogs"]
    assert len(ds.file_paths) == 7
    assert ds.element_spec == (
        tf.TensorSpec([None, 4, 5, 3], tf.float32),
        tf.TensorSpec([None], tf.int32),
    )
    images = np.concatenate([x.numpy() for x, _ in ds])
    assert np.concatenate([y.numpy() for _, y in ds]).tolist() == [0, 0, 0, 1, 1, 1, 1]
    assert images[:, 0, 0, 0].tolist() == [0, 40, 80, 1, 41, 81, 121]


def test_labels_and_layouts(pictures):
    made = U.image_dataset_from_directory(
        pictures, label_mode="categorical", color_mode="grayscale", batch_size=None, verbose=False
    )
    assert made.element_spec[0].shape.as_list() == [256, 256, 1]
    assert {tuple(y.numpy()) for _, y in made} == {(1.0, 0.0), (0.0, 1.0)}
    binary = U.image_dataset_from_directory(pictures, label_mode="binary", verbose=False)
    assert next(iter(binary))[1].shape.as_list() == [7, 1]
    plain = U.image_dataset_from_directory(
        pictures, labels=None, data_format="channels_first", image_size=(4, 4), verbose=False
    )
    assert plain.element_spec.shape.as_list() == [None, 3, 4, 4]
    for how in ("crop_to_aspect_ratio", "pad_to_aspect_ratio"):
        ds = U.image_dataset_from_directory(
            pictures, image_size=(4, 4), verbose=False, **{how: True}
        )
        assert next(iter(ds))[0].shape.as_list() == [7, 4, 4, 3]


def test_parts_for_training_and_validation(pictures):
    options = {"validation_split": 0.3, "seed": 5, "batch_size": None, "verbose": False}
    train, test = U.image_dataset_from_directory(pictures, subset="both", **options)
    assert (len(train), len(test)) == (5, 2)
    assert not set(train.file_paths) & set(test.file_paths)
    alone = U.image_dataset_from_directory(pictures, subset="validation", **options)
    assert alone.file_paths == test.file_paths


@pytest.mark.parametrize(
    "wrong",
    [
        {"label_mode": "words"},
        {"color_mode": "cmyk"},
        {"interpolation": "sharp"},
        {"image_size": 3.5},
        {"labels": [1, 2]},
        {"labels": "all"},
        {"class_names": ["cats", "birds"]},
        {"validation_split": 0.2},
        {"validation_split": 2.0, "subset": "training", "seed": 1},
        {"validation_split": 0.2, "subset": "training"},
        {"crop_to_aspect_ratio": True, "pad_to_aspect_ratio": True},
        {"data_format": "first"},
    ],
)
def test_what_is_refused(pictures, wrong):
    with pytest.raises(tf.errors.InvalidArgumentError):
        U.image_dataset_from_directory(pictures, verbose=False, **wrong)


def test_empty_folders_and_other_formats(pictures, tmp_path):
    with pytest.raises(tf.errors.InvalidArgumentError, match="no files"):
        U.text_dataset_from_directory(pictures / "dogs", labels=None, verbose=False)
    with pytest.raises(tf.errors.UnimplementedError, match="format"):
        U.image_dataset_from_directory(pictures, format="grain")


def test_texts_of_folders(tmp_path):
    for name, text in (("a", "one two"), ("b", "three")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "0.txt").write_text(text)
    ds = U.text_dataset_from_directory(tmp_path, shuffle=False, verbose=False)
    ((texts, labels),) = ds
    assert texts.numpy().tolist() == [b"one two", b"three"]
    assert labels.numpy().tolist() == [0, 1]
    cut = U.text_dataset_from_directory(tmp_path, max_length=3, shuffle=False, verbose=False)
    assert next(iter(cut))[0].numpy().tolist() == [b"one", b"thr"]


def sound(samples, channels=1):
    return (
        np.sin(np.arange(samples * channels) / 7).reshape(samples, channels).astype("float32") / 2
    )


def test_wav_files():
    text = tf.audio.encode_wav(sound(100, 2), 8000)
    back, rate = tf.audio.decode_wav(text)
    assert int(rate) == 8000
    np.testing.assert_allclose(back, sound(100, 2), atol=1 / 32768)
    cut = tf.audio.decode_wav(text, desired_channels=1, desired_samples=150)
    assert cut.audio.shape.as_list() == [150, 1]
    assert not cut.audio.numpy()[100:].any()
    more = tf.audio.decode_wav(text, desired_channels=3).audio.numpy()
    np.testing.assert_array_equal(more[:, 1], more[:, 2])
    loud = tf.audio.decode_wav(tf.audio.encode_wav([[2.0], [-2.0], [float("nan")]], 1)).audio
    assert loud.numpy().ravel().tolist() == [32767 / 32768, -1.0, 0.0]
    whole = text.numpy()
    for broken in (b"", b"RIFF", whole[:60], whole.replace(b"fmt ", b"fmu "), b"x" * 100):
        with pytest.raises(tf.errors.InvalidArgumentError, match="WAV"):
            tf.audio.decode_wav(broken)
    with pytest.raises(tf.errors.InvalidArgumentError, match="sample_rate"):
        tf.audio.encode_wav(sound(3), 0)


def test_sounds_of_folders(tmp_path):
    for k, name in enumerate(("high", "low")):
        (tmp_path / name).mkdir()
        for i in range(2):
            path = str(tmp_path / name / f"{i}.wav")
            tf.io.write_file(path, tf.audio.encode_wav(sound(10 + 5 * i + k), 100))
    load = U.audio_dataset_from_directory
    ((padded, labels),) = load(tmp_path, shuffle=False, verbose=False)
    assert padded.shape.as_list() == [4, 16, 1]
    assert labels.numpy().tolist() == [0, 0, 1, 1]
    ((fixed, _),) = load(tmp_path, output_sequence_length=12, shuffle=False, verbose=False)
    assert fixed.shape.as_list() == [4, 12, 1]
    ((ragged, _),) = load(tmp_path, ragged=True, shuffle=False, verbose=False)
    assert ragged.row_lengths().numpy().tolist() == [10, 15, 11, 16]
    with pytest.raises(tf.errors.UnimplementedError, match="sampling_rate"):
        load(tmp_path, sampling_rate=50)


def test_letters_for_bytes():
    texts = tf.constant([b"", b"a", b"ab", b"abc", b"\xff\xfe\xfd?"])
    assert tf.io.encode_base64(texts).numpy().tolist() == [b"", b"YQ", b"YWI", b"YWJj", b"__79Pw"]
    assert tf.io.encode_base64(texts, pad=True).numpy()[1] == b"YQ=="
    for pad in (False, True):
        back = tf.io.decode_base64(tf.io.encode_base64(texts, pad))
        assert back.numpy().tolist() == texts.numpy().tolist()
    for wrong in (b"a", b"a+/=", b"====="):
        with pytest.raises(tf.errors.InvalidArgumentError, match="base 64"):
            tf.io.decode_base64([wrong])


@pytest.mark.parametrize(
    "dtype", ["float32", "float64", "int32", "int64", "uint8", "bool", "complex64", "float16"]
)
def test_tensors_as_text(dtype):
    x = tf.cast(tf.reshape(tf.range(6), [2, 3]), dtype)
    text = tf.io.serialize_tensor(x)
    back = tf.io.parse_tensor(text, dtype)
    np.testing.assert_array_equal(back, x)
    empty = tf.io.parse_tensor(tf.io.serialize_tensor(x[:0]), dtype)
    assert empty.shape.as_list() == [0, 3]
    proto = tf.make_tensor_proto(x).SerializeToString()
    np.testing.assert_array_equal(tf.io.parse_tensor(proto, dtype), x)


def test_texts_and_damaged_tensors():
    words = tf.constant([["a", ""], ["ü", "b"]])
    back = tf.io.parse_tensor(tf.io.serialize_tensor(words), tf.string)
    assert back.numpy().tolist() == words.numpy().tolist()
    # TensorFlow's own lists of values: float_val, and one value for all.
    packed = b"\x08\x01\x12\x04\x12\x02\x08\x02\x2a\x08\x00\x00\x80?\x00\x00\x00@"
    assert tf.io.parse_tensor(packed, tf.float32).numpy().tolist() == [1.0, 2.0]
    filled = b"\x08\x03\x12\x04\x12\x02\x08\x03\x3a\x01\x07"
    assert tf.io.parse_tensor(filled, tf.int32).numpy().tolist() == [7, 7, 7]
    good = tf.io.serialize_tensor([1.0, 2.0]).numpy()
    for broken in (good[:-1], b"\xff" * 9, b"\x08\x01\x12\x04\x12\x02\x08\x7f"):
        with pytest.raises(tf.errors.InvalidArgumentError, match="tensor"):
            tf.io.parse_tensor(broken, tf.float32)
    with pytest.raises(tf.errors.InvalidArgumentError, match="dtype"):
        tf.io.parse_tensor(good, tf.int32)


def test_batches_of_examples(tmp_path):
    def example(n):
        feature = {
            "x": tf.train.Feature(int64_list=tf.train.Int64List(value=[n])),
            "y": tf.train.Feature(float_list=tf.train.FloatList(value=[n / 2])),
        }
        return tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString()

    path = str(tmp_path / "a.rec")
    texts = tf.data.Dataset.from_tensor_slices([example(n) for n in range(5)])
    tf.data.experimental.TFRecordWriter(path).write(texts)
    features = {
        "x": tf.io.FixedLenFeature([], tf.int64),
        "y": tf.io.FixedLenFeature([], tf.float32),
    }
    ds = tf.data.experimental.make_batched_features_dataset(
        path, 2, features, label_key="y", num_epochs=1, shuffle=False
    )
    found = [(x["x"].numpy().tolist(), y.numpy().tolist()) for x, y in ds]
    assert found == [([0, 1], [0.0, 0.5]), ([2, 3], [1.0, 1.5]), ([4], [2.0])]
    endless = tf.data.experimental.make_batched_features_dataset(path, 4, features, shuffle_seed=1)
    assert endless.element_spec["x"].shape.as_list() == [4]
    assert len(list(endless.take(5))) == 5
    with pytest.raises(tf.errors.InvalidArgumentError, match="label_key"):
        tf.data.experimental.make_batched_features_dataset(path, 2, features, label_key="z")


def test_images_are_changed_at_random_as_keras_changes_them(pictures, capsys):
    make = tf.keras.preprocessing.image.ImageDataGenerator
    x = (np.arange(24) % 7).reshape(2, 3, 4, 1).astype("float32")
    recorded = [  # Keras' first batch for the seed
        (
            {"rotation_range": 40, "rescale": 0.5},
            [
                [1.262, 2.185, 2.99, 0.584],
                [2.303, 1.314, 1.58, 0.185],
                [1.631, 0.272, 1.531, 2.036],
            ],
        ),
        (
            {
                "width_shift_range": 0.3,
                "height_shift_range": 0.3,
                "zoom_range": 0.4,
                "shear_range": 20.0,
                "horizontal_flip": True,
                "vertical_flip": True,
            },
            [[1.462, 0.407, 3.892, 6.0], [1.641, 0.586, 4.914, 5.43], [3.744, 3.088, 2.177, 2.177]],
        ),
        (
            {"rotation_range": 60, "fill_mode": "constant", "cval": 9.0},
            [[9.0, 9.0, 9.0, 9.0], [9.0, 2.559, 4.053, 9.0], [9.0, 0.958, 3.928, 1.619]],
        ),
    ]
    for options, expected in recorded:
        batches = make(**options).flow(x, [10, 20], batch_size=1, seed=3)
        image, label = next(batches)
        np.testing.assert_allclose(image[0, :, :, 0], expected, atol=6e-4)
        assert label.tolist() == [20]
        assert next(batches)[1].tolist() == [10]
        assert len(batches) == 2
    folder = make(rescale=1 / 255.0).flow_from_directory(pictures, (4, 5), batch_size=3, seed=1)
    assert "Found" in capsys.readouterr().out
    images, labels = next(folder)
    assert images.shape == (3, 4, 5, 3) and images.dtype == labels.dtype == np.float32
    assert images.max() <= 1 and (labels.sum(1) == 1).all()
    assert sorted(folder.class_indices) == list(folder.class_indices)
    ds = tf.data.Dataset.from_generator(
        lambda: make().flow_from_directory(pictures, (4, 5), batch_size=2),
        output_types=(tf.float32, tf.float32),
        output_shapes=([None, 4, 5, 3], [None, len(folder.class_indices)]),
    )
    assert next(iter(ds))[0].shape[0] <= 2
    for wrong in ({"zca_whitening": True}, {"fill_mode": "wrap"}, {"width_shift_range": 3}):
        with pytest.raises(NotImplementedError):
            make(**wrong)
    with pytest.raises(ValueError, match="no images"):
        make().flow(x[:0])
