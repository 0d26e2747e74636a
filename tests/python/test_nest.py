"""Structures are taken apart and put together as TensorFlow does it."""

import collections

import numpy as np
import pytest

import holdfast as tf

P = collections.namedtuple("P", "x y")
nest = tf.nest


def test_flatten_sorts_dicts_and_keeps_leaves():
    assert nest.flatten({"b": 1, "a": [2, (3, 4)]}) == [2, 3, 4, 1]
    assert (
        nest.flatten(P(1, [2])) == [1, 2]
        and nest.flatten("abc") == ["abc"]
        and nest.flatten(None) == [None]
    )
    assert len(nest.flatten(np.ones(3))) == 1 and len(nest.flatten(tf.constant([1, 2]))) == 1
    with pytest.raises(TypeError):
        nest.flatten({1: 2, "a": 3})


def test_what_is_nested():
    assert all(map(nest.is_nested, ([], (), {}, P(1, 2), range(2))))
    assert not any(map(nest.is_nested, (3, "a", b"a", {1}, np.ones(2), None, tf.constant([1]))))


def test_map_structure_keeps_types_and_order():
    twice = nest.map_structure(lambda a: 2 * a, collections.OrderedDict([("b", 1), ("a", [2])]))
    assert list(twice.items()) == [("b", 2), ("a", [4])]
    assert nest.map_structure(lambda a, b: a + b, P(1, [2]), P(3, [4])) == P(4, [6])
    counted = nest.map_structure(lambda a: a, collections.defaultdict(int, b=1))
    assert counted["missing"] == 0
    assert nest.map_structure(lambda a, b: a + b, [1], (2,), check_types=False) == [3]


def test_what_does_not_match_is_refused():
    with pytest.raises(ValueError, match=r"\[1, 2\] holds 2 parts, and the list \[1\] holds 1"):
        nest.map_structure(max, [1, 2], [1])
    with pytest.raises(TypeError, match=r"list \[1\] and the tuple \(1,\) are of two types"):
        nest.assert_same_structure([1], (1,))
    with pytest.raises(ValueError, match=r"keys of one are \['a'\], of the other \['b'\]"):
        nest.assert_same_structure({"a": 1}, {"b": 1})
    with pytest.raises(ValueError, match=r"the list \[4\] is nested, and the int 2 is a leaf"):
        nest.assert_same_structure([1, 2], [3, [4]])
    with pytest.raises(TypeError, match="callable"):
        nest.map_structure(3, [1])
    with pytest.raises(ValueError, match="check_types"):
        nest.map_structure(max, [1], [2], foo=3)


def test_pack_sequence_as():
    assert nest.pack_sequence_as({"b": 0, "a": [0, 0]}, [1, 2, 3]) == {"b": 3, "a": [1, 2]}
    assert (
        nest.pack_sequence_as(P(0, [0]), [1, 2]) == P(1, [2]) and nest.pack_sequence_as(0, [1]) == 1
    )
    for structure, flat in (([0], [1, 2]), (0, [1, 2])):
        with pytest.raises(ValueError, match=r"`flat_sequence` has 2: .*\[1, 2\]"):
            nest.pack_sequence_as(structure, flat)
    with pytest.raises(TypeError, match="sequence of leaves"):
        nest.pack_sequence_as([0], 3)


def test_classes_take_part_by_protocol():
    class Pair:
        def __init__(self, label, value):
            self.label, self.value = label, value

        def __tf_flatten__(self):
            return (self.label,), (self.value,)

        @classmethod
        def __tf_unflatten__(cls, metadata, components):
            return cls(metadata[0], components[0])

    made = nest.map_structure(lambda a: a + 1, Pair("n", [1, 2]))
    assert made.label == "n" and made.value == [2, 3]


def test_composites_are_leaves_or_taken_apart():
    rows = tf.IndexedSlices(tf.ones([2, 3]), tf.constant([0, 4]))
    whole = tf.IndexedSlices(tf.ones([2, 3]), tf.constant([0, 4]), tf.constant([5, 3]))
    both = {"a": rows, "b": (whole, 7)}
    assert [type(x).__name__ for x in tf.nest.flatten(both)] == [*["IndexedSlices"] * 2, "int"]
    flat = tf.nest.flatten(both, expand_composites=True)
    assert [getattr(x, "shape", x) for x in flat] == [(2, 3), (2,), (2, 3), (2,), (2,), 7]
    doubled = tf.nest.map_structure(lambda x: x * 2, both, expand_composites=True)
    assert doubled["a"].indices.numpy().tolist() == [0, 8]
    assert doubled["b"][0].dense_shape.numpy().tolist() == [10, 6]
    again = tf.nest.pack_sequence_as(both, flat, expand_composites=True)
    assert again["a"].dense_shape is None and again["b"][1] == 7
    with pytest.raises(ValueError, match="nested in different ways"):
        tf.nest.assert_same_structure(rows, whole, expand_composites=True)
    with pytest.raises(ValueError, match="has 6 leaves"):
        tf.nest.pack_sequence_as(both, flat[1:], expand_composites=True)
