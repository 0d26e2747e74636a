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
