"""What a trace knows of shapes, and symbols where Python meets them."""

import numpy as np
import pytest

import holdfast as tf

ANY = tf.TensorSpec([None, None])
ROWS = tf.TensorSpec([None, 3])
X = np.arange(6, dtype=np.float32).reshape(2, 3)


def shapes_of(body, signature=ROWS):
    """The static shapes of what `body` gives, which must also run."""
    seen = []

    def note(x):
        result = body(x)
        seen.extend(r.shape.as_list() if r.shape.rank is not None else None for r in result)
        return result

    f = tf.function(note, input_signature=[signature], autograph=False)
    for symbol, value in zip(seen, f(X), strict=False):
        assert symbol is None or tf.TensorShape(symbol).is_compatible_with(value.shape)
    return seen


def test_sizes_are_followed_through_arithmetic_and_rearranging():
    found = shapes_of(
        lambda x: [
            tf.reshape(x, [tf.shape(x)[0], 3, 1]),
            tf.reshape(x, tf.concat([tf.shape(x)[:1], [1, 3]], 0)),
            tf.reshape(x, [-1, tf.shape(x)[1] // 3]),
            tf.zeros([tf.shape(x)[0], tf.shape(x)[1] * 2 + 1]),
            tf.zeros(tf.stack([tf.cast(tf.shape(x)[0], tf.int64), 5])),
            tf.fill(tf.gather(tf.shape(x), [1, 0]), 2.0),
            tf.broadcast_to(x[:1, :1], [tf.shape(x)[0], 4]),
            tf.range(tf.shape(x)[1]),
            tf.random.normal([tf.shape(x)[0], 7]),
            tf.tile(x, [tf.shape(x)[0], 2]),
            x[: tf.shape(x)[0], 1:],
            tf.eye(tf.shape(x)[1]),
            tf.eye(tf.shape(x)[0], 4),
        ]
    )
    assert found == [
        [None, 3, 1], [None, 1, 3], [None, 1], [None, 7], [None, 5], [3, None], [None, 4], [3],
        [None, 7], [None, 6], [None, 2], [3, 3], [None, 4],
    ]  # fmt: skip


def test_a_range_of_another_dtype_has_as_many_elements_as_its_numbers_say():
    found = shapes_of(
        lambda x: [
            tf.range(96, dtype=tf.float32),
            tf.range(2, 9, 3, dtype=tf.float64),
            tf.range(4, dtype=tf.int64),
            tf.range(0, 1.0, 0.25),
        ]
    )
    assert found == [[96], [3], [4], [4]]
    assert tf.function(lambda: tf.range(2, 9, 3, dtype=tf.float16))().numpy().tolist() == [2, 5, 8]


def test_a_size_of_unknown_shape_leaves_the_numbers_beside_it_known():
    graph = tf.Graph()
    with graph.as_default():
        n = tf.compat.v1.placeholder(tf.int32)
        x = tf.compat.v1.placeholder(tf.float32)
        shaped = tf.reshape(x, [n, 37])
        tiled = tf.tile(tf.zeros([1, 1]), [n, 7])
        padded = tf.pad(tf.zeros([4, 4]), [[1, 2], n])
        moved = tf.space_to_batch(tf.zeros([3, 4, 6, 2]), [2, 3], n)
        back = tf.batch_to_space(tf.zeros([12, 4, 6, 2]), [2, 3], n)
    assert shaped.shape.as_list() == [None, 37] and tiled.shape.as_list() == [None, 7]
    assert padded.shape.as_list() == [7, None]
    assert moved.shape.as_list() == [18, None, None, 2] and back.shape.as_list() == [
        2,
        None,
        None,
        2,
    ]
    with tf.compat.v1.Session(graph=graph) as session:
        assert session.run(shaped, {x: np.zeros(74), n: 2}).shape == (2, 37)
        assert session.run(padded, {n: [0, 1]}).shape == (7, 5)
        assert session.run(moved, {n: [[0, 0], [0, 0]]}).shape == (18, 2, 2, 2)


def test_an_unknown_index_leaves_the_other_axes_known():
    def body(x):
        i = tf.cast(tf.reduce_sum(x) * 0.0, tf.int32)
        return [x[i], x[i:, 1:3], x[..., tf.newaxis, i], tf.slice(x, [i, 0], [1, 2])]

    assert shapes_of(body) == [[3], [None, 2], [None, 1], [1, 2]]


def test_sizes_that_hang_on_values_are_unknown():
    def body(x):
        flat = tf.reshape(x, [-1])
        return [tf.where(x > 2.0), tf.boolean_mask(x, x > 2.0), tf.unique(flat)[0]]

    assert shapes_of(body) == [[None, 2], [None], [None]]


def test_static_values():
    seen = []

    def body(x):
        shape = tf.shape(x)
        for t in (shape, shape[1] * 3, tf.rank(x), tf.size(x), x, tf.size(x[0])):
            seen.append(tf.get_static_value(t))
        seen.append(tf.get_static_value(shape, partial=True).tolist())
        return x

    tf.function(body, input_signature=[ROWS], autograph=False)(X)
    assert seen == [None, 9, 2, None, None, 3, [None, 3]]


def test_set_shape_and_ensure_shape_narrow_and_are_checked():
    @tf.function(input_signature=[ANY], autograph=False)
    def f(x):
        x.set_shape([None, 3])
        assert x.shape.as_list() == [None, 3]
        y = tf.ensure_shape(x, [2, None])
        assert y.shape.as_list() == [2, 3]
        with pytest.raises(ValueError, match="`set_shape` got"):
            y.set_shape([4, 4])
        return tf.negative(-y)

    np.testing.assert_array_equal(f(X), X)
    for wrong in (np.ones((2, 4), "f"), np.ones((1, 3), "f")):
        with pytest.raises(tf.errors.InvalidArgumentError):
            f(wrong)


def test_a_gradient_flows_through_a_narrowed_symbol():
    @tf.function(input_signature=[ANY], autograph=False)
    def f(x):
        y = x * x
        y.set_shape([2, 3])
        with tf.GradientTape() as tape:
            tape.watch(x)
            z = x * x
            z.set_shape([2, 3])
            w = tf.reduce_sum(z * 3.0)
        return tf.reduce_sum(y), tape.gradient(w, x)

    x = tf.constant(X)
    with tf.GradientTape() as tape:
        tape.watch(x)
        total, inside = f(x)
    np.testing.assert_array_equal(tape.gradient(total, x), 2 * X)
    np.testing.assert_array_equal(inside, 6 * X)


def test_python_and_symbols_of_a_known_size():
    @tf.function(autograph=False)
    def f(x):
        first, second = x
        rows = [row * 2 for row in x]
        pair = tf.convert_to_tensor([x[0, 0], 1.0])
        return len(x), first + second, tf.stack(rows), pair, [x[1, 1], 2.0] + x[0, :2]

    n, total, rows, pair, added = f(X)
    assert n == 2 and pair.numpy().tolist() == [0, 1] and added.numpy().tolist() == [4, 3]
    np.testing.assert_array_equal(total, X.sum(0))
    np.testing.assert_array_equal(rows, X * 2)


UFUNCS = [
    "sin",
    "cos",
    "exp",
    "sqrt",
    "square",
    "floor",
    "ceil",
    "absolute",
    "negative",
    "rint",
    "expm1",
    "log1p",
    "tanh",
    "isnan",
    "arctan",
    "sign",
    "logical_not",
]
PAIRS = [
    "add",
    "subtract",
    "multiply",
    "divide",
    "maximum",
    "minimum",
    "power",
    "arctan2",
    "greater",
    "less_equal",
    "not_equal",
    "floor_divide",
]


@pytest.mark.parametrize("name", UFUNCS)
def test_numpy_ufuncs_of_one_symbol(name):
    x = X > 2 if name == "logical_not" else X
    f = tf.function(lambda x: getattr(np, name)(x), autograph=False)
    np.testing.assert_allclose(f(tf.constant(x)), getattr(np, name)(x), rtol=1e-6)


@pytest.mark.parametrize("name", PAIRS)
def test_numpy_ufuncs_of_symbols_and_arrays(name):
    f = tf.function(lambda x: getattr(np, name)(x, X + 1), autograph=False)
    np.testing.assert_allclose(f(tf.constant(X)), getattr(np, name)(X, X + 1), rtol=1e-6)
    g = tf.function(lambda x: getattr(np, name)(X + 1, x + 1), autograph=False)
    np.testing.assert_allclose(g(tf.constant(X)), getattr(np, name)(X + 1, X + 1), rtol=1e-6)


def test_ufuncs_on_values_are_numpys_and_operators_ours():
    x = tf.constant(X)
    assert isinstance(np.add(X, x), np.ndarray) and isinstance(np.sin(x), np.ndarray)
    assert isinstance(X + x, tf.Tensor) and isinstance(X > x, tf.Tensor)
    assert isinstance(np.float32(2) * x, tf.Tensor)
    out = X.copy()
    out += x
    assert isinstance(out, np.ndarray) and (out == 2 * X).all()
    assert np.add.reduce(x).tolist() == X.sum(0).tolist()


@pytest.mark.parametrize(
    ("call", "fix"),
    [
        (lambda x: np.mean(x, where=X > 1), "tf.reduce_mean"),
        (lambda x: np.median(x), "py_function"),
        (lambda x: np.concatenate([x, x], out=X), "tf.concat"),
        (lambda x: np.hypot(x, x), "py_function"),
        (lambda x: np.asarray(x), "tf.convert_to_tensor"),
    ],
)
def test_other_numpy_calls_say_what_to_write(call, fix):
    with pytest.raises(TypeError) as caught:
        tf.function(call, autograph=False)(tf.constant(X))
    assert caught.value.code == "E0204" and fix in str(caught.value)


def test_an_int_argument_may_come_from_a_known_size():
    @tf.function(input_signature=[ROWS], autograph=False)
    def f(x):
        return tf.stack([x, x], axis=tf.rank(x) - 1)

    assert f(X).shape == (2, 2, 3)

    @tf.function(input_signature=[ROWS], autograph=False)
    def g(x):
        return tf.stack([x, x], axis=tf.shape(x)[0])

    with pytest.raises(tf.errors.UnimplementedError, match="`axis` must be known while tracing"):
        g(X)


def test_sizes_that_are_known_stay_known_when_they_are_taken_apart():
    seen = []

    @tf.function(input_signature=[tf.TensorSpec([None, 6, 4])])
    def f(x):
        rows, columns, _ = tf.unstack(tf.shape(x))
        head, tail = tf.split(tf.shape(x), [1, 2])
        seen.append(tf.ones(tf.stack([rows, columns])).shape.as_list())
        seen.append(tf.ones(tf.concat([tail, head], 0)).shape.as_list())
        return tf.ones(tail)

    assert f(tf.zeros([3, 6, 4])).shape == (6, 4)
    assert seen == [[None, 6], [6, 4, None]]


def test_a_signature_that_knows_more_than_the_caller_narrows_the_argument():
    seen = []

    @tf.function(input_signature=[tf.TensorSpec([1, None])])
    def narrow(x):
        seen.append(x.shape.as_list())
        return x

    @tf.function(input_signature=[tf.TensorSpec(None)])
    def wide(x):
        return narrow(x)

    assert wide(tf.constant([[1.0, 2.0]])).numpy().tolist() == [[1.0, 2.0]]
    assert seen == [[1, None]]
    with pytest.raises(tf.errors.InvalidArgumentError, match="EnsureShape"):
        wide(tf.ones([2, 2]))


def test_what_does_not_hang_on_a_late_argument_is_known():
    """Ranks without the axis, other axes without one of the paddings."""
    v1 = tf.compat.v1
    with tf.Graph().as_default():
        late, rows = v1.placeholder(tf.int32, []), v1.placeholder(tf.int32)
        x, ids = tf.zeros([4, 6]), tf.zeros([2, 2], tf.int32)
        blocks = v1.placeholder(tf.int32, [2])
        images = v1.placeholder(tf.float32, [None, None, None, 5])
        found = {
            "gather": tf.gather(x, ids, axis=late).shape,
            "gather in batches": tf.gather(x, tf.zeros([4, 2], tf.int32), axis=late, batch_dims=1).shape,
            "split": tf.split(x, 2, axis=late)[0].shape,
            "pieces of sizes": tf.split(x, [1, 3], axis=late)[1].shape,
            "pad": tf.pad(x, [[1, 2], [late, 0]]).shape,
            "pad wholly late": tf.pad(x, rows).shape,
            "to batch": tf.raw_ops.SpaceToBatchND(input=images, block_shape=blocks, paddings=rows).shape,
            "to space": tf.raw_ops.BatchToSpaceND(input=images, block_shape=blocks, crops=rows).shape,
            "images of any rank": tf.raw_ops.BatchToSpace(
                input=v1.placeholder(tf.float32), crops=rows, block_size=2).shape,
        }  # fmt: skip
    assert {name: shape.as_list() for name, shape in found.items()} == {
        "gather": [None] * 3,
        "gather in batches": [None] * 2,
        "split": [None] * 2,
        "pieces of sizes": [None] * 2,
        "pad": [7, None],
        "pad wholly late": [None] * 2,
        "to batch": [None, None, None, 5],
        "to space": [None, None, None, 5],
        "images of any rank": [None] * 4,
    }


@pytest.mark.parametrize(
    ("code", "shape"),
    [
        (lambda x: tf.nn.softmax(x, axis=0), [3, 4]),
        (lambda x: tf.nn.max_pool(x, 2, 2, "SAME"), [1, 4, 4, 2]),
        (lambda x: tf.nn.conv2d(x, tf.ones([2, 2, 2, 3]), 1, "SAME"), [1, 4, 4, 2]),
        (lambda x: tf.einsum("ij,jk->ik", x, x), [3, 3]),
        (lambda x: tf.signal.frame(x, 3, 2, pad_end=True, pad_value=0.5), [9]),
        (lambda x: tf.linalg.matrix_transpose(x) * x, [3, 3]),
        (lambda x: tf.repeat(x, 2, axis=0), [3]),
    ],
)
def test_gradients_of_what_waits_for_ranks_are_those_of_known_ranks(code, shape):
    def slopes(x):
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = tf.reduce_sum(code(x) ** 2)
            first = tape.gradient(y, x)
            total = tf.reduce_sum(first * first)
        return y, first, outer.gradient(total, x)

    x = tf.constant(np.sin(np.arange(np.prod(shape)) * 1.7 + 0.3).reshape(shape), tf.float32)
    traced = tf.function(slopes, input_signature=[tf.TensorSpec(None)])
    for got, want in zip(traced(x), slopes(x), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-6)


@pytest.mark.parametrize("shape", [None, [None, None], [2, None], [None, 0]])
def test_rows_of_any_shape_are_searched(shape):
    rows = np.array([[1.0, 3.0, 5.0], [2.0, 4.0, 6.0]], np.float32)
    rows = rows[:, :0] if shape == [None, 0] else rows
    values = np.array([[0.0, 4.0], [4.0, 9.0]], np.float32)
    found = tf.function(
        tf.searchsorted, input_signature=[tf.TensorSpec(shape), tf.TensorSpec(None)]
    )(rows, values)
    wanted = [np.searchsorted(row, value) for row, value in zip(rows, values, strict=True)]
    assert found.numpy().tolist() == np.array(wanted).tolist()
    assert tf.searchsorted(rows[0], values[0]).numpy().tolist() == wanted[0].tolist()


@pytest.mark.parametrize("shape", [None, [None, None], [2, 2]])
def test_batches_counted_from_the_end_choose_one_axis(shape):
    x, at = np.arange(24).reshape(2, 3, 4), np.array([[0, 2], [1, 1]])
    wanted = np.stack([np.take(x[i], at[i], 1) for i in range(2)])
    found = tf.function(
        lambda i: tf.gather(x, i, batch_dims=-1),
        input_signature=[tf.TensorSpec(shape, tf.int64)],
    )(at)
    assert found.numpy().tolist() == wanted.tolist()
    assert tf.gather(x, at, batch_dims=-1).numpy().tolist() == wanted.tolist()
