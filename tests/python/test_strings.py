"""Strings put together, of several tensors and along axes."""

import pytest

import holdfast as tf

LETTERS = tf.constant([["a", "b"], ["c", "d"]])
strings = tf.strings


def test_strings_are_joined_element_by_element():
    both = strings.join([LETTERS, "x", LETTERS], "-").numpy().tolist()
    assert both == [[b"a-x-a", b"b-x-b"], [b"c-x-c", b"d-x-d"]]
    assert strings.join(["a", "b", "c"]).numpy() == b"abc"
    assert strings.join([tf.zeros([0], tf.string), "x"]).shape == (0,)
    assert tf.strings.join([]) == b""
    with pytest.raises(ValueError, match="StringJoin"):
        strings.join([LETTERS, tf.constant(["a", "b"])])
    with pytest.raises(TypeError, match="StringJoin"):
        strings.join([tf.constant(1), tf.constant(2)])


@pytest.mark.parametrize(
    ("axis", "expected"),
    [
        (None, b"abcd"),
        ([0, 1], b"acbd"),
        ([1, 0], b"abcd"),
        (0, [b"ac", b"bd"]),
        (-1, [b"ab", b"cd"]),
        ([], [[b"a", b"b"], [b"c", b"d"]]),
    ],
)
def test_axes_are_joined_in_the_order_they_are_named(axis, expected):
    found = strings.reduce_join(LETTERS, axis).numpy()
    assert (found.tolist() if hasattr(found, "tolist") else found) == expected
    late = tf.function(
        lambda x: strings.reduce_join(x, axis), input_signature=[tf.TensorSpec(None, tf.string)]
    )
    found = late(LETTERS).numpy()
    assert (found.tolist() if hasattr(found, "tolist") else found) == expected


def test_what_is_joined_over_nothing_is_empty():
    assert strings.reduce_join(tf.zeros([0, 2], tf.string), 0).numpy().tolist() == [b"", b""]
    assert strings.reduce_join(tf.constant("q")).numpy() == b"q"
    kept = strings.reduce_join(LETTERS, 0, keepdims=True, separator="+")
    assert kept.numpy().tolist() == [[b"a+c", b"b+d"]]
    for axis in (2, [0, 0]):
        with pytest.raises(ValueError, match="ReduceJoin"):
            strings.reduce_join(LETTERS, axis)
    old = tf.compat.v1.reduce_join(LETTERS, keep_dims=True)
    assert old.numpy().tolist() == [[b"abcd"]]
