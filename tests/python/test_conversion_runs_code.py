"""Values whose conversion runs the program's code, and texts and lists that can be no value."""

import numpy as np
import pytest

import holdfast as tf
from holdfast import _holdfast


class Shrinking:
    """An element whose conversion takes all out of the list it is in."""

    def __init__(self, items):
        self.items = items

    def __array__(self, dtype=None, copy=None):
        self.items.clear()
        return np.ones(3, "float32")

    def __index__(self):
        self.items.clear()
        return 1


class Looking(Shrinking):
    @property
    def dtype(self):
        self.items.clear()
        return np.dtype("float32")


@pytest.mark.parametrize("kind", [Shrinking, Looking])
def test_a_list_that_changes_while_it_becomes_a_tensor_is_refused(kind):
    items = []
    items.extend(kind(items) for _ in range(50))
    with pytest.raises(TypeError, match="a list of 50 elements has 0 while it becomes a tensor"):
        tf.constant(items)


@pytest.mark.parametrize("kind", [Shrinking, Looking])
def test_a_list_of_tensors_may_change_while_it_is_read(kind):
    items = []
    items.extend(kind(items) for _ in range(50))
    assert tf.stack(items).shape == [1, 3]


def test_sizes_may_change_while_they_are_read():
    items = []
    items.extend(Shrinking(items) for _ in range(50))
    assert tf.zeros(items).shape == [1]


class Endless:
    """A sequence of sequences."""

    def __len__(self):
        return 1

    def __getitem__(self, i):
        if i:
            raise IndexError
        return Endless()


@pytest.mark.parametrize("function", [tf.constant, tf.reduce_sum, lambda x: tf.concat(x, 0)])
def test_a_sequence_without_end_is_refused(function):
    with pytest.raises(RecursionError):
        function(Endless())


def holding_itself(kind):
    one = kind()
    if kind is list:
        one.append(one)
    else:
        one["a"] = one
    return one


@pytest.mark.parametrize("kind", [list, dict])
def test_a_structure_that_holds_itself_is_refused(kind):
    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    for function in (model.predict, model, tf.data.Dataset.from_tensors):
        with pytest.raises((RecursionError, TypeError)):
            function(holding_itself(kind))


class OfItself:
    """A spec of datasets whose elements are of that spec."""

    @property
    def element_spec(self):
        return self


class Emptying:
    """A spec that takes all out of the dict it is in when it is read."""

    def __init__(self, within):
        self.within = within

    @property
    def dtype(self):
        self.within.clear()
        return tf.float32

    shape = tf.TensorShape([])


def test_a_spec_that_holds_itself_is_refused():
    with pytest.raises(RecursionError):
        _holdfast.data_promised(OfItself())
    with pytest.raises(RecursionError):
        _holdfast.data_promised(holding_itself(dict))


def test_a_spec_that_changes_while_it_is_read_is_no_end():
    spec = {}
    spec.update({str(i): Emptying(spec) for i in range(50)})
    assert _holdfast.data_promised(spec).element_spec is not None


NO_TEXT = "\ud800"  # half of a pair: no encoding has it


@pytest.mark.parametrize(
    "call",
    [
        lambda: tf.add(1, 2, **{NO_TEXT: 3}),
        lambda: tf.add(1.0, 2.0, name=NO_TEXT),
        lambda: tf.Variable(1.0, name=NO_TEXT),
        lambda: tf.raw_ops.Abs(x=1.0, name=NO_TEXT),
        lambda: tf.raw_ops.NoOp(name=NO_TEXT),
        lambda: tf.random.Generator.from_seed(1, alg=NO_TEXT),
        lambda: tf.data.Dataset.from_tensors({NO_TEXT: 1}),
        lambda: _holdfast.data_promised({NO_TEXT: tf.TensorSpec([], tf.float32)}),
    ],
)
def test_a_name_that_no_encoding_has_is_refused(call):
    with pytest.raises((UnicodeError, TypeError, ValueError)):
        call()


def test_a_long_text_in_a_message_ends_with_a_whole_letter():
    for text, shown in (("ä" * 60, "ä" * 28), ("a" + "ä" * 60, "a" + "ä" * 27)):
        with pytest.raises(TypeError) as refused:
            tf.reduce_sum([1.0], keepdims=text)
        assert f"got '{shown}... of type str" in refused.value.diagnostic.headline


class Sized:
    """Claims to be an array of elements of any size."""

    def __init__(self, itemsize):
        self.dtype = type("dtype", (), {"kind": "f", "itemsize": itemsize})


@pytest.mark.parametrize("itemsize", ["four", None, 2**80])
def test_what_says_no_size_of_its_elements_is_no_array(itemsize):
    with pytest.raises(TypeError):
        tf.constant(Sized(itemsize))
