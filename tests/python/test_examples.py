"""`tf.train.Example` and its kin, and how features become tensors; hostile bytes too."""

import copy
import pickle

import numpy as np
import pytest

import holdfast as tf

from_bytes = tf.train.Example.FromString


def ints(*values):
    return tf.train.Feature(int64_list=tf.train.Int64List(value=values))


def floats(*values):
    return tf.train.Feature(float_list=tf.train.FloatList(value=values))


def texts(*values):
    return tf.train.Feature(bytes_list=tf.train.BytesList(value=values))


def example(**features):
    return tf.train.Example(features=tf.train.Features(feature=features))


SAMPLE = example(a=ints(1, -2), b=floats(0.1, 2, 1e10), c=texts(b'go"at\n\xff', b""))


def test_a_message_comes_back_from_its_bytes():
    made = SAMPLE.SerializeToString()
    again = from_bytes(made)
    assert again == SAMPLE
    assert again.features.feature["a"].int64_list.value == [1, -2]
    assert again.features.feature["b"].float_list.value[0] == np.float32(0.1)
    assert list(again.features.feature["c"].bytes_list.value) == [b'go"at\n\xff', b""]
    assert SAMPLE.ByteSize() == len(made)
    assert copy.deepcopy(SAMPLE) == SAMPLE
    assert pickle.loads(pickle.dumps(SAMPLE)) == SAMPLE


def test_bytes_of_tensorflow_are_read():
    written = (
        b"\nK\n\x14\n\x01a\x12\x0f\x1a\r\n\x0b\x01\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01\n\x1d\n"
        b"\x01b\x12\x18\x12\x16\n\x14\xcd\xcc\xcc=\x00\x00\x00@\xf9\x02\x15P\x00\x00\xc0\x7f\x00\x00"
        b"\x80\x7f\n\x14\n\x01c\x12\x0f\n\r\n\tgo\"at\n\xff'\\\n\x00"
    )
    found = from_bytes(written)
    assert found.SerializeToString() == written
    assert found.features.feature["c"].bytes_list.value[0] == b"go\"at\n\xff'\\"
    assert str(found.features.feature["b"].float_list) == (
        "value: 0.1\nvalue: 2\nvalue: 1e+10\nvalue: nan\nvalue: inf\n"
    )
    assert str(found.features.feature["c"]) == (
        'bytes_list {\n  value: "go\\"at\\n\\377\\\'\\\\"\n  value: ""\n}\n'
    )


def test_a_message_reads_as_text():
    made = example(x=ints(3))
    assert str(made) == (
        "features {\n"
        "  feature {\n"
        '    key: "x"\n'
        "    value {\n"
        "      int64_list {\n"
        "        value: 3\n"
        "      }\n"
        "    }\n"
        "  }\n"
        "}\n"
    )


def test_lists_that_are_not_packed_are_read_too():
    packed = b"\x08\x05\x08\x06"  # field 1, twice, as numbers
    assert list(tf.train.Int64List.FromString(packed).value) == [5, 6]
    four = b"\x0d\x00\x00\x80?\x0d\x00\x00\x00@"
    assert list(tf.train.FloatList.FromString(four).value) == [1, 2]


def test_setting_something_inside_sets_the_fields_around_it():
    made = tf.train.Example()
    assert not made.HasField("features")
    assert made.features.feature.get("z") is None
    made.features.feature["z"].int64_list.value.extend([7, 8])
    assert made == example(z=ints(7, 8))
    feature = tf.train.Feature()
    assert feature.WhichOneof("kind") is None
    feature.int64_list.value.append(3)
    assert feature.WhichOneof("kind") == "int64_list"
    feature.float_list.value.append(3)
    assert feature.WhichOneof("kind") == "float_list"
    assert not feature.HasField("int64_list")
    empty = tf.train.Feature(int64_list=tf.train.Int64List(value=[]))
    assert empty.WhichOneof("kind") == "int64_list"
    assert tf.train.Feature.FromString(empty.SerializeToString()) == empty
    made.features.feature["y"].CopyFrom(floats(1))
    assert sorted(made.features.feature) == ["y", "z"]
    del made.features.feature["z"]
    assert made == example(y=floats(1))
    made.MergeFrom(example(x=ints(1)))
    assert sorted(made.features.feature) == ["x", "y"]
    made.ClearField("features")
    assert made == tf.train.Example()


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda: tf.train.Int64List(value=[1.5]), TypeError),
        (lambda: tf.train.Int64List(value=["a"]), TypeError),
        (lambda: tf.train.Int64List(value=[2**63]), ValueError),
        (lambda: tf.train.Int64List(value=3), TypeError),
        (lambda: tf.train.BytesList(value=["text"]), TypeError),
        (lambda: tf.train.FloatList(value=["x"]), TypeError),
        (lambda: tf.train.Feature(foo=3), ValueError),
        (lambda: tf.train.Feature(int64_list=3), TypeError),
        (lambda: setattr(tf.train.FloatList(), "value", [3]), AttributeError),
        (lambda: tf.train.Features().feature.__setitem__("a", ints(1)), ValueError),
    ],
)
def test_values_of_another_kind_are_refused(make, error):
    with pytest.raises(error):
        make()


def test_numbers_of_numpy_are_taken():
    made = example(i=ints(*np.arange(3)), f=floats(*np.array([1.5], "float64")), b=ints(True))
    assert list(made.features.feature["i"].int64_list.value) == [0, 1, 2]
    assert list(made.features.feature["f"].float_list.value) == [1.5]
    assert list(made.features.feature["b"].int64_list.value) == [1]


FIXED = tf.io.FixedLenFeature


def test_features_of_one_example_become_tensors():
    found = tf.io.parse_single_example(
        SAMPLE.SerializeToString(),
        {
            "a": FIXED([2], tf.int64),
            "b": FIXED((3, 1), tf.float32),
            "c": FIXED([2], tf.string),
            "none": FIXED([2], tf.float32, default_value=[1.0, 2.0]),
            "text": FIXED([], tf.string, default_value="d"),
            "steps": tf.io.FixedLenSequenceFeature([2], tf.int64, allow_missing=True),
        },
    )
    assert found["a"].numpy().tolist() == [1, -2]
    assert found["b"].shape == (3, 1)
    assert found["c"].numpy().tolist() == [b'go"at\n\xff', b""]
    assert found["none"].numpy().tolist() == [1, 2]
    assert found["text"].numpy() == b"d"
    assert found["steps"].shape == (0, 2)


def test_a_batch_of_examples_is_padded():
    batch = [example(x=ints(*range(n)), y=floats(n)).SerializeToString() for n in (2, 0, 4)]
    rules = {
        "x": tf.io.FixedLenSequenceFeature([], tf.int64, allow_missing=True, default_value=-1),
        "y": FIXED([], tf.float32),
    }
    found = tf.io.parse_example(batch, rules)
    assert found["x"].numpy().tolist() == [[0, 1, -1, -1], [-1] * 4, [0, 1, 2, 3]]
    assert found["y"].numpy().tolist() == [2, 0, 4]
    pairs = tf.io.FixedLenSequenceFeature([2], tf.int64, allow_missing=True)
    found = tf.io.parse_example(batch, {"x": pairs})["x"]
    assert found.numpy().tolist() == [[[0, 1], [0, 0]], [[0, 0]] * 2, [[0, 1], [2, 3]]]


def test_lists_of_features_become_tensors():
    made = tf.train.SequenceExample()
    made.context.feature["c"].int64_list.value.append(9)
    for pair in ([1, 2], [3, 4], [5, 6]):
        made.feature_lists.feature_list["l"].feature.add().int64_list.value.extend(pair)
    text = made.SerializeToString()
    assert tf.train.SequenceExample.FromString(text) == made
    steps = tf.io.FixedLenSequenceFeature([2], tf.int64)
    context, lists = tf.io.parse_single_sequence_example(
        text, {"c": FIXED([], tf.int64)}, {"l": steps}
    )
    assert context["c"].numpy() == 9
    assert lists["l"].numpy().tolist() == [[1, 2], [3, 4], [5, 6]]
    shorter = tf.train.SequenceExample()
    shorter.feature_lists.feature_list["l"].feature.add().int64_list.value.extend([7, 8])
    _, lists, lengths = tf.io.parse_sequence_example(
        [text, shorter.SerializeToString()], None, {"l": steps}
    )
    assert lists["l"].numpy().tolist() == [[[1, 2], [3, 4], [5, 6]], [[7, 8], [0, 0], [0, 0]]]
    assert lengths["l"].numpy().tolist() == [3, 1]
    missing = tf.io.FixedLenSequenceFeature([2], tf.float32, allow_missing=True)
    _, lists = tf.io.parse_single_sequence_example(text, None, {"q": missing})
    assert lists["q"].shape == (0, 2)
    with pytest.raises(tf.errors.InvalidArgumentError, match="`q` is missing"):
        tf.io.parse_single_sequence_example(text, None, {"q": steps})
    with pytest.raises(tf.errors.InvalidArgumentError, match="has 2 values, expected 3"):
        odd = tf.io.FixedLenSequenceFeature([3], tf.int64)
        tf.io.parse_single_sequence_example(text, None, {"l": odd})


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ({"a": FIXED([3], tf.int64)}, "`a` has 2 values, expected 3"),
        ({"a": FIXED([2], tf.float32)}, "`a` holds values of int64, expected float32"),
        ({"q": FIXED([2], tf.float32)}, "`q` is missing"),
        ({"q": FIXED([2], tf.float32, 1.0)}, "`q` has the default"),
        ({"a": FIXED([None], tf.int64)}, "known sizes"),
        ({"a": FIXED([], tf.int32)}, "int32, expected float32, int64 or string"),
        ({"a": tf.io.FixedLenSequenceFeature([], tf.int64)}, "allow_missing"),
        ({"a": 3}, "`a` of `features` is int"),
        ({}, "expected a dict"),
        (None, "expected a dict"),
    ],
)
def test_what_does_not_fit_is_told(rules, message):
    with pytest.raises(ValueError, match=message):
        tf.io.parse_single_example(SAMPLE.SerializeToString(), rules)


def test_an_example_of_a_batch_is_told_by_its_number():
    batch = [example(x=ints(1)).SerializeToString(), example(x=ints(1, 2)).SerializeToString()]
    with pytest.raises(tf.errors.InvalidArgumentError, match="`x` of example 1 has 2 values"):
        tf.io.parse_example(batch, {"x": FIXED([], tf.int64)})
    with pytest.raises(tf.errors.InvalidArgumentError, match="example 1, is no Example"):
        tf.io.parse_example([batch[0], b"junk"], {"x": FIXED([], tf.int64)})


def test_the_last_of_two_features_of_one_name_counts():
    twice = example(x=ints(1)).SerializeToString() + example(x=ints(2)).SerializeToString()
    found = tf.io.parse_single_example(twice, {"x": FIXED([], tf.int64)})
    assert found["x"].numpy() == 2
    assert list(from_bytes(twice).features.feature["x"].int64_list.value) == [2]


def test_examples_are_parsed_in_pipelines_and_functions(tmp_path):
    with tf.io.TFRecordWriter(str(tmp_path / "a")) as writer:
        for n in range(7):
            writer.write(example(x=floats(n, n + 1), y=ints(n)).SerializeToString())
    rules = {"x": FIXED([2], tf.float32), "y": FIXED([], tf.int64)}
    records = tf.data.TFRecordDataset(str(tmp_path / "a"))
    one = records.map(lambda r: tf.io.parse_single_example(r, rules)).batch(3)
    many = records.batch(3).map(lambda r: tf.io.parse_example(r, rules))
    assert one.element_spec["x"].shape.as_list() == [None, 2]
    assert many.element_spec["x"].shape.as_list() == [None, 2]
    for a, b in zip(one, many, strict=True):
        assert a["x"].numpy().tolist() == b["x"].numpy().tolist()
        assert a["y"].numpy().tolist() == b["y"].numpy().tolist()

    @tf.function(input_signature=[tf.TensorSpec(None, tf.string)])
    def parsed(text):
        return tf.io.parse_example(text, rules)["y"]

    whole = [r.numpy() for r in records]
    assert parsed(tf.constant(whole[3])).numpy() == 3
    assert parsed(tf.constant(whole)).numpy().tolist() == list(range(7))


def test_no_bytes_do_harm():
    rng = np.random.default_rng(1)
    sequence = tf.train.SequenceExample()
    for n in range(3):
        sequence.feature_lists.feature_list["a"].feature.add().int64_list.value.append(n)
    rules = {
        "a": tf.io.FixedLenSequenceFeature([], tf.int64, allow_missing=True),
        "b": tf.io.FixedLenSequenceFeature([], tf.float32, allow_missing=True),
        "c": tf.io.FixedLenSequenceFeature([], tf.string, allow_missing=True),
    }
    good = 0
    for start in (SAMPLE.SerializeToString(), sequence.SerializeToString()):
        for _ in range(3000):
            changed = bytearray(start)
            for place in rng.integers(0, len(changed), rng.integers(1, 4)):
                changed[place] = rng.integers(0, 256)
            text = bytes(changed[: rng.integers(1, len(changed) + 1)])
            for read in (
                lambda t: tf.io.parse_single_example(t, rules),
                lambda t: tf.io.parse_single_sequence_example(t, rules, {"a": rules["a"]}),
                from_bytes,
                tf.train.SequenceExample.FromString,
            ):
                try:
                    read(text)
                    good += 1
                except (tf.errors.InvalidArgumentError, tf.errors.DataLossError):
                    pass
    assert good > 0


def test_lengths_beyond_the_end_are_refused():
    for text in (b"\n\xff\xff\xff\xff\x7f", b"\n" + b"\xff" * 9 + b"\x01", b"\n" + b"\xff" * 11):
        with pytest.raises(tf.errors.DataLossError):
            from_bytes(text)
        with pytest.raises(tf.errors.InvalidArgumentError, match="no Example"):
            tf.io.parse_single_example(text, {"a": FIXED([], tf.int64, 0)})
    deep = b"\x0b" * 100_000  # groups inside of groups, which nobody writes
    with pytest.raises(tf.errors.DataLossError):
        from_bytes(deep)
