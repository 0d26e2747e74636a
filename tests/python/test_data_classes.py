"""Objects of data classes are elements, as tuples are: with classes and values of their own."""

import dataclasses
from typing import Any

import numpy as np
import pytest

import holdfast as tf

Dataset = tf.data.Dataset


@dataclasses.dataclass
class Masked:
    """A value that is tensors, and a fact that is none."""

    value: Any
    kind: str = "plain"

    def __tf_flatten__(self):
        return (self.kind,), (self.value,)

    @classmethod
    def __tf_unflatten__(cls, metadata, components):
        return cls(*components, *metadata)


@dataclasses.dataclass
class Pair:
    first: Any
    second: Any

    def __tf_flatten__(self):
        return (), (self.first, self.second)

    @classmethod
    def __tf_unflatten__(cls, _, components):
        return cls(*components)


def pairs(n=4):
    return Dataset.range(n).map(lambda x: Pair(x, (x * 2, Masked(x * 3, "third"))))


def plain(value):
    return tf.nest.map_structure(
        lambda t: t.to_list() if isinstance(t, tf.RaggedTensor) else t.numpy().tolist(), value
    )


def number(x):
    return Pair(x, (x * 2, Masked(x * 3, "third")))


def test_their_specs_are_objects_of_specs():
    scalar = tf.TensorSpec([], tf.int64)
    assert pairs().element_spec == Pair(scalar, (scalar, Masked(scalar, "third")))
    row = Dataset.from_tensors(Masked(tf.constant([1, 2]), "row"))
    assert row.element_spec == Masked(tf.TensorSpec([2], tf.int32), "row")


def test_stages_hand_them_on():
    assert list(map(plain, pairs())) == list(map(number, range(4)))
    ds = pairs().cache().shuffle(3, seed=1).prefetch(2).repeat(2).batch(3).unbatch()
    assert sorted(plain(e).first for e in ds) == [0, 0, 1, 1, 2, 2, 3, 3]
    assert all(e.second[1].kind == "third" for e in ds)
    both = pairs(1).concatenate(pairs(2).skip(1)).enumerate()
    assert [plain(e) for _, e in both] == [number(0), number(1)]
    assert plain(pairs().take(1).get_single_element()) == number(0)
    assert [e.first for e in pairs(2).as_numpy_iterator()] == [0, 1]


def test_functions_get_and_give_them():
    assert [plain(e).first for e in pairs().filter(lambda p: p.first > 1)] == [2, 3]
    thirds = pairs().flat_map(lambda p: Dataset.from_tensors(p.second[1]).repeat(2))
    assert [plain(e) for e in thirds.take(3)] == [Masked(v, "third") for v in (0, 0, 3)]
    zero = np.int64(0)
    total = pairs().reduce(Pair(zero, zero), lambda s, p: Pair(s.first + p.first, s.second + 1))
    assert plain(total) == Pair(6, 4)
    sums = pairs().scan(zero, lambda s, p: (s + p.first, Pair(s, p.first)))
    assert [plain(e) for e in sums][-1] == Pair(3, 3)
    grouped = pairs().group_by_window(lambda p: p.first % 2, lambda _, w: w.batch(2), 2)
    assert [plain(e).first for e in grouped] == [[0, 2], [1, 3]]

    @tf.function
    def whole(ds):
        out = tf.constant(0, tf.int64)
        for p in ds:
            out += p.first + p.second[1].value
        return out

    assert int(whole(pairs())) == 24


def test_sources_take_them():
    rows = Dataset.from_tensor_slices(Pair([1, 2], {"b": [3.0, 4.0]}))
    assert [plain(e) for e in rows] == [Pair(1, {"b": 3.0}), Pair(2, {"b": 4.0})]
    spec = Pair(tf.TensorSpec([], tf.int32), tf.RaggedTensorSpec([None, None], tf.int32))
    ragged = tf.ragged.constant([[1], [2, 3]])
    ds = Dataset.from_generator(lambda: iter([Pair(1, ragged)]), output_signature=spec)
    assert [plain(e) for e in ds] == [Pair(1, [[1], [2, 3]])]
    assert [plain(e) for e in Dataset.zip(Pair(Dataset.range(2), pairs()))] == [
        Pair(0, number(0)),
        Pair(1, number(1)),
    ]


def test_windows_of_them_are_objects_of_datasets():
    firsts = pairs().window(2).flat_map(lambda w: w.first.batch(2))
    assert [plain(e) for e in firsts] == [[0, 1], [2, 3]]


def test_composites_in_them_are_batched():
    ds = Dataset.range(3).map(lambda x: Pair(tf.ragged.stack([tf.range(x)]), x)).batch(3)
    assert [plain(e) for e in ds] == [Pair([[[]], [[0]], [[0, 1]]], [0, 1, 2])]


def test_files_do_not_hold_them(tmp_path):
    with pytest.raises(NotImplementedError, match="E1105.*`save` of elements with Pair"):
        pairs().save(str(tmp_path / "there"))


def test_a_position_goes_on_with_them():
    it = iter(pairs().shuffle(4, seed=2).prefetch(2))
    next(it)
    other = iter(pairs().shuffle(4, seed=2).prefetch(2))
    other.restore(it.save())
    assert list(map(plain, it)) == list(map(plain, other))


def test_a_dataset_and_an_iterator_have_specs_of_their_own():
    ds = pairs()
    assert tf.type_spec_from_value(ds) == tf.data.DatasetSpec(ds.element_spec)
    assert tf.type_spec_from_value(iter(ds)) == tf.data.IteratorSpec(ds.element_spec)
