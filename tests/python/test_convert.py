"""What Python's and NumPy's values become as tensors."""

import array
import collections.abc

import numpy as np
import pytest

import holdfast as tf

ONE, HALF = tf.constant(1), tf.constant([0.5, 1.5])
STATE = tf.Variable([1.0, 2.0])


class Table:
    """Something like a data frame: NumPy can make an array of it."""

    def __init__(self, data):
        self.data = data

    def __array__(self, dtype=None, copy=None):
        return np.array(self.data, dtype)


class Row(collections.abc.Sequence):
    def __init__(self, *items):
        self.items = items

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.items[i]


FOUND = [
    # Lists of tensors and Variables are packed, and numbers follow them.
    ([HALF, STATE], "float32", [[0.5, 1.5], [1, 2]]),
    ((STATE, [1, 2]), "float32", [[1, 2], [1, 2]]),
    ([[1, 2], HALF], "float32", [[1, 2], [0.5, 1.5]]),
    ([[1, 2], [HALF[0], 3]], "float32", [[1, 2], [0.5, 3]]),
    ([[ONE, 2], [3, ONE]], "int32", [[1, 2], [3, 1]]),
    ([[HALF], [STATE]], "float32", [[[0.5, 1.5]], [[1, 2]]]),
    ([HALF, np.array([1, 2])], "float32", [[0.5, 1.5], [1, 2]]),
    # A list of NumPy's numbers is a list of numbers: ints are ints, and the first float decides.
    ([np.int64(1), 2], "int32", [1, 2]),
    ([1, np.int64(2)], "int32", [1, 2]),
    ([np.uint8(200)], "int32", [200]),
    ([np.int64(2**40), 1], "int64", [2**40, 1]),
    ([np.float64(1.5), 2], "float64", [1.5, 2]),
    ([np.float32(1.5), 2], "float32", [1.5, 2]),
    ([np.float16(1.5)], "float16", [1.5]),
    ([2, np.float64(1.5)], "float32", [2, 1.5]),
    ([1.5, np.int64(2)], "float32", [1.5, 2]),
    ([np.array([1, 2]), np.array([3, 4])], "int32", [[1, 2], [3, 4]]),
    ([np.array([1, 2]), np.array([1.5, 2.5])], "float32", [[1, 2], [1.5, 2.5]]),
    ([np.array([1.5, 2.5]), [1, 2]], "float64", [[1.5, 2.5], [1, 2]]),
    ([np.bool_(True), False], "bool", [True, False]),
    ([np.str_("a"), "b"], "string", [b"a", b"b"]),
    ([np.array(["a", "b"])], "string", [[b"a", b"b"]]),
    # NumPy alone keeps its dtype.
    (np.float64(1.5), "float64", 1.5),
    (np.array(5, np.int8), "int8", 5),
    (np.array([1, 2], ">i4"), "int32", [1, 2]),
    (np.array([[1.5], [2]], ">f8"), "float64", [[1.5], [2]]),
    (np.arange(6).reshape(2, 3).T[::-1], "int64", [[2, 5], [1, 4], [0, 3]]),
    (np.array(["a", b"b", "ü"], object), "string", [b"a", b"b", "ü".encode()]),
    (Table([[1.5, 2.5]]), "float64", [[1.5, 2.5]]),
    (Table(["a"]), "string", [b"a"]),
    ([Table([1, 2]), Table([3, 4])], "int64", [[1, 2], [3, 4]]),
    # Python's own sequences and buffers are sequences of Python's numbers.
    ([1, 2.5], "float32", [1, 2.5]),
    ([1, True], "int32", [1, 1]),
    ([2.5, True], "float32", [2.5, 1]),
    (range(3), "int32", [0, 1, 2]),
    (Row(Row(1), Row(2)), "int32", [[1], [2]]),
    (collections.deque([1, 2]), "int32", [1, 2]),
    (bytearray(b"ab"), "int32", [97, 98]),
    (memoryview(b"ab"), "int32", [97, 98]),
    (memoryview(np.arange(4.0).reshape(2, 2)), "float32", [[0, 1], [2, 3]]),
    (array.array("d", [1.5]), "float32", [1.5]),
    (array.array("b", [1]), "int32", [1]),
    (array.array("u", "ab"), "string", [b"a", b"b"]),
    (array.array("q", [2**40]), "int64", [2**40]),
    (2**31, "int64", 2**31),
    (float("inf"), "float32", float("inf")),
    (tf.TensorShape([]), "int32", []),
    (tf.TensorShape([2, 3]), "int32", [2, 3]),
    ([], "float32", []),
]


@pytest.mark.parametrize(("value", "dtype", "elements"), FOUND)
def test_what_it_becomes(value, dtype, elements):
    for made in (tf.constant(value), tf.convert_to_tensor(value)):
        assert made.dtype.name == dtype and made.numpy().tolist() == elements


GIVEN = [
    ([ONE, ONE], "float32", [1, 1]),
    ([ONE, 2], "int64", [1, 2]),
    ([[ONE], [2]], "float64", [[1], [2]]),
    ([HALF, STATE], "float64", [[0.5, 1.5], [1, 2]]),
    (True, "float32", 1),
    ([True, False], "int32", [1, 0]),
    ([np.int64(3)], "uint8", [3]),
    ([np.array([1, 2])], "float32", [[1, 2]]),
    (np.array([1.7, 2.2]), "int32", [1, 2]),  # an array by itself is cast, as NumPy does
    (np.float64(1.5), "float16", 1.5),
    (array.array("b", [1]), "float32", [1]),
    (2**63, "uint64", 2**63),
    (1e40, "float32", float("inf")),
    (Table([1, 2]), "float32", [1, 2]),
]


@pytest.mark.parametrize(("value", "dtype", "elements"), GIVEN)
def test_with_a_dtype(value, dtype, elements):
    made = tf.convert_to_tensor(value, dtype)
    assert made.dtype.name == dtype and made.numpy().tolist() == elements


def test_a_hint_is_a_wish():
    assert tf.convert_to_tensor(1, dtype_hint=tf.float32).dtype == tf.float32
    assert tf.convert_to_tensor(1.5, dtype_hint=tf.int32).dtype == tf.float32
    assert tf.convert_to_tensor("a", dtype_hint=tf.int32).dtype == tf.string
    assert tf.convert_to_tensor([1], tf.int64, dtype_hint=tf.float32).dtype == tf.int64


REFUSED = [
    (lambda: tf.constant(x for x in [1]), "E1104", "list"),
    (lambda: tf.constant(map(int, [1])), "E1104", "list"),
    (lambda: tf.constant({1, 2}), "E1104", "list"),
    (lambda: tf.constant({"a": 1}.values()), "E1104", "list"),
    (lambda: tf.constant({"a": 1}), "E1104", "of type dict"),
    (lambda: tf.constant(object()), "E1104", "of type object"),
    (lambda: tf.constant([1, None]), "E1104", "NoneType"),
    (lambda: tf.constant([1, "a"]), "E1104", "mixes int and str"),
    (lambda: tf.constant([True, 1]), "E1104", "mixes bool and int"),
    (lambda: tf.constant(np.datetime64("2020-01-01")), "E1104", "datetime64"),
    (lambda: tf.constant(np.array(["2020-01-01"], "datetime64[D]")), "E1104", "datetime64"),
    (lambda: tf.constant([np.timedelta64(3, "s")]), "E1104", "timedelta64"),
    (lambda: tf.constant(np.longdouble(1)), "E1104", "float128|longdouble"),
    (lambda: tf.constant(np.zeros(1, [("a", "i4")])), "E1104", "'a'"),
    (lambda: tf.constant([[1, 2], [3]]), "E1102", "ragged"),
    (lambda: tf.constant([np.float64(1.5)], tf.int32), "E1101", "int32"),
    (lambda: tf.constant([np.array([1.5])], tf.int32), "E1101", "int32"),
    (lambda: tf.concat([np.array([1]), np.array([1.5])], 0), "E1101", "int64"),
    (lambda: tf.convert_to_tensor([ONE, np.array(1.5)]), "E1101", "int32"),
    (lambda: tf.convert_to_tensor([ONE, HALF[0]]), "E1101", "int32"),
    (lambda: tf.constant([np.int64(300)], tf.uint8), "E1103", "uint8"),
    (lambda: tf.constant(300, tf.uint8), "E1103", "300"),
    (lambda: tf.constant(2**63), "E1103", "int64"),
    (lambda: tf.constant(-1, tf.uint64), "E1103", "uint64"),
    (lambda: tf.constant(1e40), "E1103", "float32"),
    (lambda: tf.constant([1e40]), "E1103", "float32"),
    (lambda: tf.constant(10**400, tf.float64), "E1103", "float64"),
    (lambda: tf.constant(1.5, tf.int32), "E1101", "int32"),
    (lambda: tf.constant("3", tf.float32), "E1104", "float32"),
]


@pytest.mark.parametrize(("make", "code", "says"), REFUSED)
def test_what_has_no_form(make, code, says):
    with pytest.raises(tf.errors.DiagnosticError, match=says) as caught:
        make()
    assert caught.value.code == code and " at 0x" not in str(caught.value)


def test_a_shape_that_is_partly_known_has_no_form():
    with pytest.raises(ValueError, match="not all its sizes are known"):
        tf.convert_to_tensor(tf.TensorShape([1, None]))


def test_lists_of_tensors_are_packed_in_a_function_too():
    @tf.function
    def f(x):
        return tf.convert_to_tensor([x, 2]), tf.convert_to_tensor([[x], [STATE[0]]], tf.float64)

    plain, wide = f(tf.constant(1.0))
    assert plain.numpy().tolist() == [1, 2] and wide.dtype == tf.float64
    assert wide.numpy().tolist() == [[1], [1]]


def test_numbers_that_are_stacked_meet():
    assert tf.stack([1, 2.5]).numpy().tolist() == [1, 2.5]
    assert tf.stack([1.5, tf.constant(1.0, tf.float64)]).dtype == tf.float64
    assert (HALF * True).numpy().tolist() == [0.5, 1.5]


@pytest.mark.parametrize(
    "program",
    [
        lambda: tf.constant([1, "a"]),
        lambda: tf.convert_to_tensor(None),
        lambda: tf.constant({"a": 1}),
        lambda: tf.convert_to_tensor(tf.constant(1), tf.float32),
        lambda: tf.constant("a", tf.float32),
        lambda: tf.constant(1.0) + None,
        lambda: None * tf.constant(1.0),
    ],
)
def test_what_is_no_tensor_is_a_type_error_and_a_value_error(program):
    with pytest.raises(TypeError) as caught:
        program()
    assert isinstance(caught.value, ValueError)
    assert caught.value.code in ("E1101", "E1104")


@pytest.mark.parametrize(
    "condition", [np.array([2, 0]), np.array([0.5, 0.0]), np.array([1, 0]) > 0]
)
def test_an_array_of_numbers_is_a_condition(condition):
    assert tf.where(condition, [1, 2], [3, 4]).numpy().tolist() == [1, 4]
    assert tf.where(condition).numpy().tolist() == [[0]]


def test_a_tensor_of_numbers_is_no_condition():
    with pytest.raises(TypeError):
        tf.where(tf.constant([1, 0]), [1, 2], [3, 4])


@pytest.mark.parametrize("dtype", [tf.string, tf.int32, tf.float64, tf.bool])
@pytest.mark.parametrize("shape", [(0,), (2, 0, 6)])
def test_an_array_of_no_objects_is_of_any_dtype(dtype, shape):
    made = tf.constant(np.empty(shape, object), dtype)
    assert (made.dtype, tuple(made.shape)) == (dtype, shape)


def test_a_tensor_converted_to_what_it_is_is_itself():
    t = tf.constant(10.0)
    assert tf.convert_to_tensor(t) is t
    assert tf.convert_to_tensor(t, tf.float32) is t
    with tf.Graph().as_default():
        symbol = tf.constant(1.0)
        assert tf.convert_to_tensor(symbol) is symbol
        assert tf.convert_to_tensor(t).graph is symbol.graph


MIXED = {
    "integers among floats": (lambda a, n: a + [n, n], [1.0, 2.0], 3, [4.0, 5.0]),
    "a wider float": (
        lambda a, x: tf.concat([a, [x]], 0),
        [1.0, 2.0],
        np.float64(0.5),
        [1, 2, 0.5],
    ),
    "a wider integer": (lambda a, n: a * [n, n], np.array([1, 2], "int64"), 3, [3, 6]),
    "lists in lists": (lambda a, n: a + [[n], [n]], [1.0, 2.0], 3, [[4, 5], [4, 5]]),
}


@pytest.mark.parametrize("case", MIXED, ids=str)
@pytest.mark.parametrize("traced", [False, True])
def test_a_list_that_holds_tensors_takes_the_dtype_of_the_other_operands(case, traced):
    function, first, other, wanted = MIXED[case]
    a, b = tf.constant(first), tf.constant(other)
    if traced:
        specs = [tf.TensorSpec(None, a.dtype), tf.TensorSpec(None, b.dtype)]
        function = tf.function(function, specs)
    found = function(a, b)
    assert found.dtype == a.dtype and found.numpy().tolist() == wanted


@pytest.mark.parametrize("other", [tf.constant(1.5), tf.constant(2**40)])
def test_a_list_of_tensors_loses_no_number_unasked(other):
    with pytest.raises(tf.errors.InvalidArgumentError, match="one dtype"):
        _ = tf.constant([1, 2]) + [other, other]


@pytest.mark.parametrize("wanted", ["uint64", "float16"])
def test_a_list_of_integers_keeps_signs_and_sizes(wanted):
    given = tf.constant(70000)
    with pytest.raises(tf.errors.InvalidArgumentError, match="one dtype|dtype"):
        _ = tf.constant([1, 2], wanted) + [given, given]
