"""Feeding tensors that a graph counted on: constants, shapes, what is inside branches and loops."""

import numpy as np
import pytest

import holdfast as tf
from holdfast.errors import DiagnosticError

v1 = tf.compat.v1
X = np.arange(24, dtype="float32").reshape(2, 3, 4)


def fed(make, written_for, value, dtype="int32"):
    """What `make(constant)` gives when the constant is fed, and what it gives for the value itself."""
    with tf.Graph().as_default(), v1.Session() as sess:
        late = tf.constant(np.array(written_for, dtype))
        result = sess.run(make(late), {late: np.array(value, dtype)})
    wanted = make(tf.constant(np.array(value, dtype)))
    flat = (result, wanted) if isinstance(wanted, (list, tuple)) else ([result], [wanted])
    return list(zip(*flat, strict=True))


USED = {
    "slice begin": (lambda c: tf.slice(X, c, [1, 2, 2]), [0, 0, 0], [1, 1, 2]),
    "slice size": (lambda c: tf.slice(X, [0, 0, 0], c), [1, 1, 1], [2, 3, 2]),
    "transpose": (lambda c: tf.transpose(X, c), [0, 1, 2], [2, 0, 1]),
    "reshape": (lambda c: tf.reshape(X, c), [6, 4], [-1, 8]),
    "reverse": (lambda c: tf.reverse(X, c), [0], [2]),
    "tile": (lambda c: tf.tile(X, c), [1, 1, 1], [2, 1, 3]),
    "pad": (lambda c: tf.pad(X, c), [[0, 0]] * 3, [[1, 2], [0, 1], [3, 0]]),
    "concat": (lambda c: tf.concat([X, X], c), 0, 2),
    "fill": (lambda c: tf.fill(c, 3.0), [1, 1], [2, 5]),
    "one_hot": (lambda c: tf.one_hot([1, 2], c), 3, 7),
    "expand_dims": (lambda c: tf.expand_dims(X, c), 0, -1),
    "top_k": (lambda c: tf.math.top_k(X, c), 1, 3),
    "range": (lambda c: tf.range(c), 2, 5),
    "linspace": (lambda c: tf.linspace(0.0, 1.0, c), 3, 6),
    "from k on": (lambda c: tf.constant(X)[:, c:], 1, 2),
    "one row": (lambda c: tf.constant(X)[:, c], 0, 2),
    "batch_to_space": (
        lambda c: tf.batch_to_space(np.ones((4, 2, 2, 1), "float32"), [2, 2], c),
        [[0, 0], [0, 0]],
        [[1, 0], [0, 1]],
    ),
    "sum": (lambda c: tf.reduce_sum(X, c), [0], [2]),
    "broadcast_to": (lambda c: tf.broadcast_to(tf.constant([1.0]), c), [2, 3], [4, 1]),
    "sums of a slice": (
        lambda c: tf.reduce_sum(tf.slice(X, [0, 0, 0], c) * 2),
        [1, 1, 1],
        [2, 3, 2],
    ),
}


@pytest.mark.parametrize("name", USED)
def test_what_is_fed_is_used(name):
    for got, wanted in fed(*USED[name]):
        np.testing.assert_array_equal(got, wanted.numpy())


REFUSED = {  # code that goes by a number while the graph is written
    "argmax": (lambda c: tf.argmax(X, c), 0, 2),
    "cumsum": (lambda c: tf.cumsum(X, c), 0, 1),
    "eye": (tf.eye, 2, 3),
    "repeat": (lambda c: tf.repeat(X, c, axis=1), [1, 2, 3], [3, 2, 1]),
    "tensordot": (lambda c: tf.tensordot(X, X, c), 3, 0),
    "split": (lambda c: tf.split(X, c, axis=2), [1, 3], [2, 2]),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_code_went_by_is_refused_when_it_is_another(name):
    make, written_for, value = REFUSED[name]
    with tf.Graph().as_default(), v1.Session() as sess:
        late = tf.constant(written_for, name="late")
        result = make(late)
        try:
            got = sess.run(result, {late: value})
        except ValueError as refused:
            assert refused.code == "E0804"
            assert "`late`" in str(refused)
            assert "placeholder" in str(refused)
        else:  # or it is used after all
            wanted = make(tf.constant(value))
            flat = (got, wanted) if isinstance(got, list) else ([got], [wanted])
            for mine, theirs in zip(*flat, strict=True):
                np.testing.assert_array_equal(mine, sess.run(theirs))
        same, plain = sess.run(result, {late: written_for}), sess.run(result)
        pairs = zip(same, plain, strict=True) if isinstance(plain, list) else [(same, plain)]
        for mine, theirs in pairs:
            np.testing.assert_array_equal(mine, theirs)


BAD = {
    "slice begin": [9, 9, 9],
    "transpose": [7, -9, 1 << 30],
    "reverse": [3],
    "tile": [-1, 1 << 30, 1],
    "pad": [[-1, 0], [0, 0], [0, 1 << 30]],
    "concat": 5,
    "expand_dims": 9,
    "top_k": 5,
    "sum": [3],
    "reshape": [5, 5],
}


@pytest.mark.parametrize("name", BAD)
def test_what_no_op_can_take_is_refused_by_name(name):
    make, written_for, _ = USED[name]
    with tf.Graph().as_default() as graph, v1.Session() as sess:
        late = tf.constant(np.array(written_for, "int32"))
        result = make(late)
        types = {op.type for op in graph.get_operations()}
        with pytest.raises(DiagnosticError) as refused:
            sess.run(result, {late: np.array(BAD[name], "int32")})
    assert refused.value.diagnostic.op in types


def test_sizes_that_were_followed_are_followed_again(graph):
    x = tf.constant(X)
    sizes = tf.shape(x)
    flat = tf.reshape(x, [sizes[0], sizes[1] * sizes[2]])
    assert flat.shape == [2, 12]
    with v1.Session() as sess:
        assert sess.run(flat, {sizes: [3, 4, 2]}).shape == (3, 8)
        assert sess.run(flat * 2, {sizes: [1, 24, 1]}).shape == (1, 24)
        assert sess.run(tf.shape(flat), {sizes: [3, 4, 2]}).tolist() == [3, 8]


def test_a_branch_uses_what_its_constant_is_fed(graph):
    to = tf.constant([2, 12])
    yes = v1.placeholder(tf.bool, [])
    y = tf.cond(yes, lambda: tf.reshape(X, to) * 2, lambda: tf.fill(to, 7.0))
    sizes = tf.shape(y)
    with v1.Session() as sess:
        for way in (True, False):
            assert sess.run(y, {yes: way, to: [6, 4]}).shape == (6, 4)
            assert sess.run(sizes, {yes: way, to: [6, 4]}).tolist() == [6, 4]


def test_a_loop_uses_what_its_constant_is_fed(graph):
    count, rows = tf.constant(3), tf.constant([2])
    x = tf.constant([1.0, 2.0, 3.0])
    _, total = tf.while_loop(
        lambda i, t: i < count,
        lambda i, t: (i + 1, t + tf.slice(x, [0], rows)),
        (0, tf.slice(x, [0], rows)),
    )
    with v1.Session() as sess:
        assert sess.run(total).tolist() == [4, 8]
        assert sess.run(total, {rows: [3], count: 1}).tolist() == [2, 4, 6]
        with pytest.raises(DiagnosticError, match="Slice"):
            sess.run(total, {rows: [4]})


def test_a_loop_in_a_loop_uses_what_its_constant_is_fed(graph):
    rows = tf.constant([2])
    x = tf.constant([1.0, 2.0, 3.0])

    def inner(i, t):
        more = lambda j, u: (j + 1, u + tf.slice(x, [0], rows))
        return i + 1, tf.while_loop(lambda j, u: j < 2, more, (0, t))[1]

    _, total = tf.while_loop(lambda i, t: i < 2, inner, (0, tf.slice(x, [0], rows)))
    with v1.Session() as sess:
        assert sess.run(total, {rows: [3]}).tolist() == [5, 10, 15]


def test_a_gradient_is_right_or_refused(graph):
    to = tf.constant([2, 12], name="to")
    w = v1.placeholder(tf.float32, [1])
    y = tf.reduce_mean(tf.reshape(X, to) * w, axis=0)
    slope = tf.gradients(y, w)[0]
    with v1.Session() as sess:
        same = sess.run(slope, {w: [1.0], to: [2, 12]})
        assert same == sess.run(slope, {w: [1.0]})
        with pytest.raises(DiagnosticError, match="`to`") as refused:
            sess.run(slope, {w: [1.0], to: [12, 2]})
    assert refused.value.code == "E0804"


def test_a_gradient_that_uses_nothing_of_what_is_fed_is_refused_too(graph):
    to = tf.constant([2, 12], name="to")
    b = v1.placeholder(tf.float32, [1])
    slope = tf.gradients(tf.reshape(X, to)[:, :1] + b, b)[0]
    with v1.Session() as sess:
        assert sess.run(slope, {b: [0.0], to: [2, 12]}).tolist() == [2]
        with pytest.raises(DiagnosticError, match="`to`"):
            sess.run(slope, {b: [0.0], to: [12, 2]})


def test_a_gradient_built_for_an_axis_holds_for_that_axis(graph):
    axis = tf.constant(0, name="axis")
    w = v1.placeholder(tf.float32, [2, 2])
    y = tf.cumsum(w * w, axis)
    slope = tf.gradients(y, w)[0]
    value = np.array([[1.0, 2.0], [3.0, 4.0]], "float32")

    def wanted(at):
        later = np.flip(np.cumsum(np.ones((2, 2), "float32"), at), at)  # sums that an element is in
        return 2 * value * later

    with v1.Session() as sess:
        for at in (0, 1):
            try:
                np.testing.assert_array_equal(sess.run(slope, {w: value, axis: at}), wanted(at))
            except DiagnosticError as refused:
                assert at == 1 and refused.code == "E0804"


def test_a_tensor_in_the_middle_takes_any_shape_that_fits_it(graph):
    x = v1.placeholder(tf.float32, [None, 3])
    middle = x * 2
    y = tf.reduce_sum(tf.reshape(middle, [-1]))
    with v1.Session() as sess:
        assert sess.run(y, {middle: np.ones((5, 3))}) == 15
        assert sess.run(y, {middle: np.ones((0, 3))}) == 0
        with pytest.raises(ValueError, match="shape"):
            sess.run(y, {middle: np.ones((5, 2))})


def test_what_may_be_given_is_not_known_before(graph):
    to = v1.placeholder_with_default([2, 12], [2])
    y = tf.reshape(X, to)
    assert y.shape.as_list() == [None, None]
    with v1.Session() as sess:
        assert sess.run(y).shape == (2, 12)
        assert sess.run(y, {to: [4, 6]}).shape == (4, 6)


def test_the_value_that_the_graph_was_written_for_is_always_taken(graph):
    times = tf.constant([2, 1], name="times")
    y = tf.repeat([[1.0], [2.0]], times, axis=0)
    with v1.Session() as sess:
        assert sess.run(y, {times: [2, 1]}).ravel().tolist() == [1, 1, 2]
        with pytest.raises(ValueError, match="`times` is fed") as refused:
            sess.run(y, {times: [1, 2]})
    assert refused.value.code == "E0804"


def test_an_array_that_is_only_computed_with_asks_for_nothing_else():
    """The gradient looks at the shape of the output, which needs `x`; that shape is still the same."""
    with tf.Graph().as_default():
        x = v1.placeholder(tf.float32, [1, 4, 4, 3])
        weights = tf.constant(0.5, shape=[2, 2, 3, 2])
        out = tf.nn.depthwise_conv2d(x, weights, [1, 1, 1, 1], "SAME")
        (slope,) = v1.gradients(out, x)
        with v1.Session() as session:
            once, twice = (session.run(slope, {weights: np.full((2, 2, 3, 2), w)}) for w in (1, 2))
            np.testing.assert_allclose(twice, 2 * once)
