"""Strings one by one: lengths, letters, parts, numbers."""

import numpy as np
import pytest

import holdfast as tf

WORDS = [["hello", "wörld"], ["abc", "日本語x"]]


def values(tensor):
    return np.asarray(tensor.numpy()).tolist()


def texts(*words):
    return [word.encode() for word in words]


def test_lengths_are_of_bytes_or_of_characters():
    assert values(tf.strings.length(WORDS)) == [[5, 6], [3, 10]]
    assert values(tf.strings.length(WORDS, unit="UTF8_CHAR")) == [[5, 5], [3, 4]]
    assert tf.strings.length("").dtype == tf.int32


def test_letters_and_white_space():
    given = ["Ab Cü\n", "", "  \t x y\v "]
    assert values(tf.strings.lower(given)) == texts("ab cü\n", "", "  \t x y\v ")
    assert values(tf.strings.upper(given)) == texts("AB Cü\n", "", "  \t X Y\v ")
    assert values(tf.strings.strip(given)) == texts("Ab Cü", "", "x y")


def test_parts_begin_at_either_end():
    assert values(tf.strings.substr("hello", 1, 2)) == b"el"
    assert values(tf.strings.substr("hello", -3, 2)) == b"ll"
    assert values(tf.strings.substr("hello", 3, 100)) == b"lo"
    assert values(tf.strings.substr("hello", 5, 1)) == b""
    assert values(tf.strings.substr("hello", 1, -1)) == b"ello"
    parts = tf.strings.substr(WORDS, 1, 2, unit="UTF8_CHAR")
    assert values(parts) == [texts("el", "ör"), texts("bc", "本語")]
    each = tf.strings.substr(WORDS, [[0, 1], [2, 3]], [[1, 2], [3, 3]])
    assert values(each) == [texts("h", "ö"), texts("c", "本")]


def test_numbers_are_read():
    assert values(tf.strings.to_number(["1", "-2.5", " 3 ", "+7", "1e3"])) == [1, -2.5, 3, 7, 1000]
    assert values(tf.strings.to_number(["1e50", "-1e50"])) == [np.inf, -np.inf]
    assert values(tf.strings.to_number("12345678901", tf.int64)) == 12345678901
    assert tf.strings.to_number("1", tf.float64).dtype == tf.float64


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: tf.strings.substr(["ab", "a"], 2, 1), "`pos` is 2, and string 1 has 1 bytes"),
        (lambda: tf.strings.substr("abc", -4, 1), "`pos` is -4"),
        (lambda: tf.strings.substr(["a", "b"], [0, 0, 0], 1), "the shape of `input`"),
        (lambda: tf.strings.to_number(["1", "x"]), 'string 1 is "x", which is no float32'),
        (lambda: tf.strings.to_number("1.5", tf.int32), "no int32"),
        (lambda: tf.strings.to_number("2147483648", tf.int32), "no int32"),
        (lambda: tf.strings.to_number("1", tf.uint8), "out_type"),
        (lambda: tf.strings.length("a", unit="WORD"), "unit"),
        (lambda: tf.strings.lower("a", encoding="utf-8"), "encoding"),
    ],
)
def test_what_does_not_fit_is_told(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_strings_are_changed_in_pipelines():
    made = tf.data.Dataset.from_tensor_slices([" 1", "2 "]).map(
        lambda text: tf.strings.to_number(tf.strings.strip(text), tf.int32)
    )
    assert [int(each) for each in made] == [1, 2]
