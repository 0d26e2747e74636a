"""Lists as raw ops: what they give, what they refuse, and their gradients."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import holdfast as tf

raw = tf.raw_ops


def _empty(shape: Any = -1, most: int = -1) -> Any:
    return raw.EmptyTensorList(element_shape=shape, max_num_elements=most, element_dtype=tf.float32)


def _stack(handle: Any, **options: Any) -> Any:
    return raw.TensorListStack(
        input_handle=handle, element_shape=-1, element_dtype=tf.float32, **options
    )


def _rows(x: Any) -> Any:
    return raw.TensorListFromTensor(tensor=x, element_shape=-1)


def _pop(x: Any) -> Any:
    handle, last = raw.TensorListPopBack(
        input_handle=_rows(x), element_shape=-1, element_dtype=tf.float32
    )
    return tf.reduce_sum(_stack(handle) * 2.0) + tf.reduce_sum(last * 3.0)


def _gather(x: Any) -> Any:
    return raw.TensorListGather(
        input_handle=_rows(x), indices=[1, 0, 1], element_shape=-1, element_dtype=tf.float32
    )


def _scatter(x: Any) -> Any:
    return _stack(raw.TensorListScatter(tensor=x, indices=[1, 0], element_shape=[2]))


def _scatter_v2(x: Any) -> Any:
    handle = raw.TensorListScatterV2(
        tensor=x, indices=[3, 1], element_shape=tf.constant([2]), num_elements=5
    )
    return _stack(handle)


def _split(x: Any) -> Any:
    handle = raw.TensorListSplit(tensor=tf.reshape(x, [4]), element_shape=-1, lengths=[1, 3])
    joined, lengths = raw.TensorListConcatV2(
        input_handle=handle,
        element_shape=[None],
        leading_dims=tf.zeros([0], tf.int64),
        element_dtype=tf.float32,
    )
    return joined * tf.cast(lengths[1], tf.float32)


def _joined(x: Any) -> Any:
    handle = raw.TensorListConcatLists(
        input_a=_rows(x), input_b=_rows(x * 2.0), element_dtype=tf.float32
    )
    return _stack(handle)


WANTED = {
    _pop: lambda x: np.sum(x[0] * 2.0) + np.sum(x[1] * 3.0),
    _gather: lambda x: x[[1, 0, 1]],
    _scatter: lambda x: x[[1, 0]],
    _scatter_v2: lambda x: np.stack([x[0] * 0, x[1], x[0] * 0, x[0], x[0] * 0]),
    _split: lambda x: x.reshape(4) * 3.0,
    _joined: lambda x: np.concatenate([x, x * 2.0]),
}


@pytest.mark.parametrize("staged", [False, True])
@pytest.mark.parametrize("program", WANTED, ids=lambda f: f.__name__[1:])
def test_parts_of_lists_and_their_gradients(program: Any, staged: bool) -> None:
    def run(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = program(x)
            loss = tf.reduce_sum(y * y)
        return y, tape.gradient(loss, x)

    x = np.array([[1.0, 2.0], [3.0, 4.0]], "float32")
    y, slope = (tf.function(run) if staged else run)(tf.constant(x))
    np.testing.assert_allclose(y, WANTED[program](x))
    step = np.zeros_like(x)
    for i in np.ndindex(*x.shape):
        d = np.zeros_like(x)
        d[i] = 0.5
        step[i] = np.sum(WANTED[program](x + d) ** 2) - np.sum(WANTED[program](x - d) ** 2)
    np.testing.assert_allclose(slope, step, rtol=1e-4)


@pytest.mark.parametrize(
    "call",
    [
        lambda: raw.TensorListPushBack(
            input_handle=raw.TensorListPushBack(input_handle=_empty(most=1), tensor=1.0),
            tensor=2.0,
        ),
        lambda: raw.TensorListPopBack(
            input_handle=_empty(), element_shape=-1, element_dtype=tf.float32
        ),
        lambda: raw.TensorListPushBack(input_handle=_empty([2]), tensor=1.0),
        lambda: raw.TensorListSetItem(input_handle=_rows(tf.ones([2])), index=2, item=1.0),
        lambda: raw.TensorListFromTensor(tensor=tf.ones([2, 3]), element_shape=[2]),
        lambda: raw.TensorListSplit(tensor=tf.ones([3]), element_shape=-1, lengths=[1, 1]),
        lambda: raw.TensorListSplit(tensor=tf.ones([3]), element_shape=-1, lengths=[4, -1]),
        lambda: raw.TensorListScatter(tensor=tf.ones([2]), indices=[-1, 0], element_shape=-1),
        lambda: raw.TensorListScatter(tensor=tf.ones([2]), indices=[0], element_shape=-1),
        lambda: raw.TensorListScatter(
            tensor=tf.ones([1]), indices=tf.constant([1 << 62]), element_shape=-1
        ),
        lambda: _stack(_rows(tf.ones([2])), num_elements=3),
        lambda: raw.TensorListGather(
            input_handle=_empty(), indices=[0], element_shape=-1, element_dtype=tf.float32
        ),
    ],
)
def test_what_does_not_fit_a_list_is_refused(call: Any) -> None:
    with pytest.raises(tf.errors.DiagnosticError, match="E11"):
        call()


def test_what_is_added_to_a_list_is_refused_in_its_name():
    of = tf.raw_ops.TensorListFromTensor
    floats = of(tensor=tf.ones([2, 3]), element_shape=[3])
    with pytest.raises(TypeError, match="TensorListAdd: element 0 is float32.3. in one list"):
        tf.raw_ops.TensorListAdd(
            x=floats, y=of(tensor=tf.ones([2, 3], tf.int32), element_shape=[3])
        )
    with pytest.raises(ValueError, match="TensorListAdd: element 0"):
        tf.raw_ops.TensorListAdd(x=floats, y=of(tensor=tf.ones([2, 1]), element_shape=[1]))


def test_joining_no_elements_needs_to_know_their_rows():
    def joined(element_shape, asked):
        handle = raw.EmptyTensorList(
            element_shape=element_shape, max_num_elements=4, element_dtype=tf.float32
        )
        return raw.TensorListConcatV2(
            input_handle=handle,
            element_shape=asked,
            leading_dims=tf.constant([], tf.int64),
            element_dtype=tf.float32,
        )[0]

    assert joined([-1, 3, 2], [-1, -1, 2]).shape == (0, 3, 2)
    assert joined(tf.constant(-1), [5, 2]).shape == (0, 2)
    for element_shape, asked in (([2], [-1, 2]), (tf.constant(-1), tf.constant(-1)), ([2, -1], -1)):
        with pytest.raises(tf.errors.InvalidArgumentError, match="TensorListConcatV2"):
            joined(element_shape, asked)


@pytest.mark.parametrize("pieces", [["", ""], "2", 3, 1.5, None])
def test_a_split_says_how_many_pieces_there_are(pieces):
    arguments = {"value": [1.0, 2.0, 3.0], "size_splits": [1, 2], "axis": 0}
    assert len(raw.SplitV(**arguments, num_split=2)) == 2
    with pytest.raises((tf.errors.InvalidArgumentError, TypeError), match="num_split|SplitV"):
        raw.SplitV(**arguments, num_split=pieces)


def test_scalars_are_not_joined():
    array = tf.TensorArray(tf.int32, size=2).unstack([1, 2])
    with pytest.raises(tf.errors.InvalidArgumentError, match="TensorListConcat of scalars"):
        array.concat()
