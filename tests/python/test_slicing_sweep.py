"""Random slices, read and written, beside NumPy."""

import random

import numpy as np
import pytest

import holdfast as tf

SEEDS = range(40)


def part(rng, size):
    """One item of a key for an axis of this size; an int only where there is something to take."""
    if size and rng.random() < 0.3:
        return rng.randrange(-size, size)
    step = rng.choice([None, 1, 2, 3, -1, -2, -5])
    ends = [None, *range(-size - 2, size + 3)]
    return slice(rng.choice(ends), rng.choice(ends), step)


def key_for(rng, shape, new_axes=True):
    """A key: ints, slices, at most one `...`, and new axes anywhere."""
    count = rng.randrange(len(shape) + 1)
    cut = rng.randrange(count + 1)
    sizes = [*shape[:cut], *shape[len(shape) - (count - cut) :]]
    dots = count < len(shape) and cut < count or rng.random() < 0.3
    items = [part(rng, size) for size in sizes]
    if dots:
        items.insert(cut, ...)
    elif cut < count:
        items = [part(rng, size) for size in shape[:count]]
    for _ in range(rng.choice([0, 0, 1, 2]) if new_axes else 0):
        items.insert(rng.randrange(len(items) + 1), tf.newaxis)
    return tuple(items) if len(items) != 1 or rng.random() < 0.5 else items[0]


def shapes(rng):
    return tuple(rng.choice([0, 1, 2, 3, 5]) for _ in range(rng.randrange(1, 5)))


def numbers(shape):
    return np.arange(np.prod(shape, dtype=int), dtype=np.float32).reshape(shape)


@pytest.mark.parametrize("seed", SEEDS)
def test_reading(seed):
    rng = random.Random(seed)
    for _ in range(10):
        x = numbers(shapes(rng))
        key = key_for(rng, x.shape)
        want = x[key]
        got = tf.constant(x)[key]
        assert got.shape == want.shape, key
        np.testing.assert_array_equal(got, want, str(key))
        np.testing.assert_array_equal(tf.Variable(x)[key], want)


@pytest.mark.parametrize("seed", SEEDS[:10])
def test_reading_in_a_function_of_open_sizes(seed):
    rng = random.Random(seed)
    x = numbers(shapes(rng))
    key = key_for(rng, x.shape)
    spec = tf.TensorSpec([None] * x.ndim, tf.float32)
    got = tf.function(lambda t: t[key], input_signature=[spec])(tf.constant(x))
    np.testing.assert_array_equal(got, x[key], str(key))


@pytest.mark.parametrize("seed", SEEDS[:20])
def test_the_gradient_is_where_the_slice_was(seed):
    rng = random.Random(seed)
    x = numbers(shapes(rng))
    key = key_for(rng, x.shape)
    t = tf.constant(x)
    with tf.GradientTape() as tape:
        tape.watch(t)
        y = tf.reduce_sum(t[key] * 3.0)
    want = np.zeros_like(x)
    want[key] = 3
    np.testing.assert_array_equal(tape.gradient(y, t), want, str(key))


@pytest.mark.parametrize("seed", SEEDS)
def test_writing(seed):
    rng = random.Random(seed)
    for _ in range(5):
        x = numbers(shapes(rng))
        key = key_for(rng, x.shape)
        v = tf.Variable(x)
        before = v.read_value()
        value = -1 - numbers(x[key].shape)
        if rng.random() < 0.3:
            value = np.float32(-7)
        assert v[key].assign(value) is v
        want = x.copy()
        want[key] = value
        np.testing.assert_array_equal(v, want, str(key))
        np.testing.assert_array_equal(before, x, "the value that was read before is another one")


def test_writing_with_bounds_that_are_tensors():
    v = tf.Variable(tf.zeros([2, 4]))

    @tf.function
    def put(row, first, value):
        v[row, first:].assign(value)

    put(tf.constant(1), tf.constant(2), tf.constant([5.0, 6.0]))
    put(tf.constant(0), tf.constant(-1), tf.constant([7.0]))
    assert v.numpy().tolist() == [[0, 0, 0, 7], [0, 0, 5, 6]]
    v[tf.constant(0), : tf.constant(2)].assign(9.0)
    assert v.numpy().tolist() == [[9, 9, 0, 7], [0, 0, 5, 6]]


def test_writing_in_a_graph():
    with tf.Graph().as_default():
        v = tf.Variable([1.0, 2.0, 3.0])
        change = v[1:].assign([5.0, 6.0])
        with tf.compat.v1.Session() as session:
            assert session.run(v).tolist() == [1, 2, 3]
            assert session.run(change).tolist() == [1, 5, 6]
            assert session.run(v).tolist() == [1, 5, 6]


def test_an_error_of_a_method_names_the_variable_and_the_value():
    weights = tf.Variable([1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="value") as caught:
        weights.assign_add([1.0, 1.0])
    assert "`weights` born here: Variable float32[3]" in str(caught.value)


@pytest.mark.parametrize("seed", SEEDS[:10])
@pytest.mark.parametrize("how", ["update", "add", "sub", "max", "min"])
def test_scattering(how, seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=rng.integers(1, 4, 3)).astype(np.float32)
    depth = int(rng.integers(1, 4))
    rows = rng.permutation(int(np.prod(x.shape[:depth])))[: int(rng.integers(1, 5))]
    indices = np.stack(np.unravel_index(rows, x.shape[:depth]), -1)
    updates = rng.normal(size=(len(rows), *x.shape[depth:])).astype(np.float32)
    want = x.copy()
    combine = {
        "update": lambda a, b: b,
        "add": np.add,
        "sub": np.subtract,
        "max": np.maximum,
        "min": np.minimum,
    }[how]
    at = tuple(indices.T)
    want[at] = combine(want[at], updates)
    got = getattr(tf, f"tensor_scatter_nd_{how}")(x, indices, updates)
    np.testing.assert_allclose(got, want, rtol=1e-6)
    v = tf.Variable(x)
    getattr(v, f"scatter_nd_{how}")(indices, updates)
    np.testing.assert_array_equal(v, got)


@pytest.mark.parametrize("how", ["update", "add", "sub", "max", "min", "mul", "div"])
@pytest.mark.parametrize("traced", [False, True])
def test_rows_of_a_variable(how, traced):
    x = np.array([[1.0, 2.0], [4.0, 8.0], [16.0, 32.0]], np.float32)
    rows, updates = [2, 0], np.array([[2.0, 64.0], [3.0, 1.0]], np.float32)
    v = tf.Variable(x)
    change = getattr(v, f"scatter_{how}")

    def run():
        change(tf.IndexedSlices(tf.constant(updates), tf.constant(rows)))

    (tf.function(run) if traced else run)()
    combine = {
        "update": lambda a, b: b,
        "add": np.add,
        "sub": np.subtract,
        "max": np.maximum,
        "min": np.minimum,
        "mul": np.multiply,
        "div": np.divide,
    }[how]
    x[rows] = combine(x[rows], updates)
    np.testing.assert_allclose(v, x, rtol=1e-6)


def test_a_row_that_comes_twice_is_changed_twice():
    v = tf.Variable([2.0, 3.0])
    twice = tf.IndexedSlices(tf.constant([10.0, 10.0]), tf.constant([0, 0]))
    assert v.scatter_mul(twice).numpy().tolist() == [200, 3]
    assert v.scatter_add(twice).numpy().tolist() == [220, 3]


@pytest.mark.parametrize("seed", SEEDS[:10])
def test_masks(seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=rng.integers(1, 4, 3)).astype(np.float32)
    depth = int(rng.integers(1, 4))
    mask = rng.random(x.shape[:depth]) < 0.5
    np.testing.assert_array_equal(tf.boolean_mask(x, mask), x[mask])
    np.testing.assert_array_equal(tf.constant(x)[tf.constant(mask)], x[mask])
    axis = 3 - depth
    mask = rng.random(x.shape[axis:]) < 0.5
    want = x[(slice(None),) * axis + (mask,)]
    np.testing.assert_array_equal(tf.boolean_mask(x, mask, axis=axis), want)


@pytest.mark.parametrize(
    ("key", "code"),
    [
        (5, "E1103"),
        (-4, "E1103"),
        ((0, 0, 0), "E1103"),
        ((..., ...), "E1103"),
        (slice(None, None, 0), "E1103"),
        ([0, 1], "E1104"),
        ("a", "E1104"),
        (1.5, "E1104"),
        (slice(1.5, None), "E1104"),
        (True, "E1104"),
    ],
)
def test_keys_that_are_refused(key, code):
    for holder in (tf.zeros([3, 4]), tf.Variable(tf.zeros([3, 4]))):
        with pytest.raises(tf.errors.DiagnosticError) as caught:
            holder[key]
        assert caught.value.code == code


@pytest.mark.parametrize("value", [[1.0, 2.0, 3.0], [[1.0], [2.0], [3.0]]])
def test_a_value_that_does_not_fit_is_refused(value):
    v = tf.Variable(tf.zeros([2, 4]))
    with pytest.raises(ValueError, match="slice") as caught:
        v[:, 1:3].assign(value)
    assert caught.value.code == "E1102" and not v.numpy().any()
