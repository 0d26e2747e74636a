"""`tf.compat.v1.nn`: old spellings give what the new ones do; the gradients of convolutions as functions."""

import numpy as np
import pytest

import holdfast as tf

v1 = tf.compat.v1
RNG = np.random.default_rng(0)


def uniform(*shape):
    return tf.constant(RNG.uniform(-1, 1, shape).astype(np.float32))


X, W = uniform(2, 6, 7, 3), uniform(3, 2, 3, 4)


@pytest.mark.parametrize("padding", ["SAME", "VALID", [[0, 0], [1, 0], [2, 1], [0, 0]]])
@pytest.mark.parametrize("strides", [[1, 1, 1, 1], [1, 2, 1, 1]])
@pytest.mark.parametrize("dilations", [[1, 1, 1, 1], [1, 1, 2, 1]])
def test_backprops_are_the_gradients_of_conv2d(padding, strides, dilations):
    with tf.GradientTape() as tape:
        tape.watch([X, W])
        y = v1.nn.conv2d(X, filter=W, strides=strides, padding=padding, dilations=dilations)
        dy = tf.ones_like(y) * 0.5
    dx, dw = tape.gradient(y, [X, W], dy)
    options = {"strides": strides, "padding": padding, "dilations": dilations}
    got = v1.nn.conv2d_backprop_input(X.shape, W, dy, **options)
    np.testing.assert_allclose(got.numpy(), dx.numpy(), rtol=1e-5, atol=1e-6)
    got = v1.nn.conv2d_backprop_filter(X, W.shape, dy, **options)
    np.testing.assert_allclose(got.numpy(), dw.numpy(), rtol=1e-5, atol=1e-6)


def test_backprop_of_conv3d_is_its_gradient():
    x, w = uniform(1, 4, 5, 4, 2), uniform(2, 3, 2, 2, 3)
    with tf.GradientTape() as tape:
        tape.watch(w)
        y = v1.nn.conv3d(x, w, [1, 1, 2, 1, 1], "SAME")
    dw = tape.gradient(y, w)
    got = v1.nn.conv3d_backprop_filter(x, w.shape, tf.ones_like(y), [1, 1, 2, 1, 1], "SAME")
    np.testing.assert_allclose(got.numpy(), dw.numpy(), rtol=1e-5, atol=1e-6)


SAME = {
    "softmax": (lambda: v1.nn.softmax(X, dim=1), lambda: tf.nn.softmax(X, 1)),
    "log_softmax": (lambda: v1.nn.log_softmax(X, dim=-1), lambda: tf.nn.log_softmax(X)),
    "l2_normalize": (lambda: v1.nn.l2_normalize(X, dim=2), lambda: tf.nn.l2_normalize(X, 2)),
    "moments": (
        lambda: v1.nn.moments(X, [0, 1], None, "m", True),
        lambda: tf.nn.moments(X, [0, 1], keepdims=True),
    ),
    "weighted_moments": (
        lambda: v1.nn.weighted_moments(X, [0], 2.0, keep_dims=True),
        lambda: tf.nn.weighted_moments(X, [0], 2.0, True),
    ),
    "avg_pool": (
        lambda: v1.nn.avg_pool(value=X, ksize=2, strides=2, padding="SAME"),
        lambda: tf.nn.avg_pool(X, 2, 2, "SAME"),
    ),
    "max_pool": (
        lambda: v1.nn.max_pool(X, [1, 2, 2, 1], [1, 2, 2, 1], "VALID", "NHWC", "p"),
        lambda: tf.nn.max_pool(X, 2, 2, "VALID"),
    ),
    "conv2d": (
        lambda: v1.nn.conv2d(X, W, [1, 1, 1, 1], "SAME", True, "NHWC"),
        lambda: tf.nn.conv2d(X, W, 1, "SAME"),
    ),
    "convolution": (
        lambda: v1.nn.convolution(X, W, "SAME", dilation_rate=[1, 2]),
        lambda: tf.nn.convolution(X, W, padding="SAME", dilations=[1, 2]),
    ),
    "depthwise": (
        lambda: v1.nn.depthwise_conv2d(X, W, [1, 1, 1, 1], "SAME", rate=[2, 2]),
        lambda: tf.nn.depthwise_conv2d(X, W, [1, 1, 1, 1], "SAME", dilations=[2, 2]),
    ),
    "pool": (
        lambda: v1.nn.pool(X, [2, 2], "AVG", "SAME", strides=[2, 2]),
        lambda: tf.nn.pool(X, [2, 2], "AVG", [2, 2], "SAME"),
    ),
    "crelu": (lambda: v1.nn.crelu(X, "c", 1), lambda: tf.nn.crelu(X, 1)),
    "xw_plus_b": (
        lambda: v1.nn.xw_plus_b(X[0, 0], W[0, 0], [1.0, 2.0, 3.0, 4.0]),
        lambda: X[0, 0] @ W[0, 0] + [1.0, 2.0, 3.0, 4.0],
    ),
    "weighted_cross_entropy": (
        lambda: v1.nn.weighted_cross_entropy_with_logits(
            targets=tf.sigmoid(X), logits=X, pos_weight=2.0
        ),
        lambda: tf.nn.weighted_cross_entropy_with_logits(tf.sigmoid(X), X, 2.0),
    ),
}


@pytest.mark.parametrize("name", SAME)
def test_an_old_spelling_gives_what_the_new_one_does(name):
    old, new = SAME[name]
    for a, b in zip(tf.nest.flatten(old()), tf.nest.flatten(new()), strict=True):
        np.testing.assert_array_equal(a.numpy(), b.numpy())


def test_two_spellings_of_one_argument_are_refused():
    with pytest.raises(ValueError, match="`axis` and `dim`"):
        v1.nn.softmax(X, axis=1, dim=1)
    with pytest.raises(ValueError, match="by name"):
        v1.nn.softmax_cross_entropy_with_logits(X, X)


def test_labels_of_the_old_cross_entropy_get_no_gradient():
    labels = tf.nn.softmax(X)
    with tf.GradientTape() as tape:
        tape.watch([labels, X])
        loss = v1.nn.softmax_cross_entropy_with_logits(labels=labels, logits=X)
    to_labels, to_logits = tape.gradient(loss, [labels, X])
    assert to_labels is None
    assert to_logits is not None


@pytest.mark.parametrize("approximate", [False, True])
def test_gelu_is_right_in_its_tails(approximate):
    from scipy import special

    x = np.concatenate([np.linspace(-13, 13, 401), [-30.0, 30.0, 0.0]]).astype(np.float32)
    wide = x.astype(np.float64)
    t = tf.constant(x)
    with tf.GradientTape() as tape:
        tape.watch(t)
        y = tf.nn.gelu(t, approximate)
    if approximate:
        inner = np.sqrt(2 / np.pi) * (wide + 0.044715 * wide**3)
        np.testing.assert_allclose(y.numpy(), 0.5 * wide * (1 + np.tanh(inner)), 1e-5, 1e-6)
        return
    wanted = 0.5 * wide * special.erfc(-wide / np.sqrt(2))
    np.testing.assert_allclose(y.numpy(), wanted, rtol=2e-5, atol=1e-42)
    slope = 0.5 * special.erfc(-wide / np.sqrt(2)) + wide * np.exp(-(wide**2) / 2) / np.sqrt(
        2 * np.pi
    )
    near = np.abs(wide + 0.7517916) > 0.2  # where the slope crosses zero
    got = tape.gradient(y, t).numpy()
    np.testing.assert_allclose(got[near], slope[near], rtol=1e-4, atol=1e-40)


FORMATS = [("NHWC", "NCHW"), ("NCHW", "NHWC"), ("NHWC", "HWNC"), ("NDHWC", "NCDHW")]


@pytest.mark.parametrize(("source", "target"), FORMATS)
def test_axes_and_sizes_follow_their_letters(source, target):
    n = len(source)
    axes = np.arange(-n, n)
    got = tf.raw_ops.DataFormatDimMap(x=tf.constant(axes), src_format=source, dst_format=target)
    assert [target[a] for a in got.numpy()] == [source[a] for a in axes]
    sizes = tf.constant([ord(letter) for letter in source])
    got = tf.raw_ops.DataFormatVecPermute(x=sizes, src_format=source, dst_format=target)
    assert "".join(map(chr, got.numpy())) == target
    pairs = tf.stack([sizes, -sizes], 1)
    got = tf.raw_ops.DataFormatVecPermute(x=pairs, src_format=source, dst_format=target)
    assert "".join(map(chr, got.numpy()[:, 0])) == target
    assert "".join(map(chr, -got.numpy()[:, 1])) == target
    spatial = [letter for letter in source if letter not in "NC"]
    got = tf.raw_ops.DataFormatVecPermute(
        x=[ord(letter) for letter in spatial], src_format=source, dst_format=target
    )
    assert [chr(c) for c in got.numpy()] == [letter for letter in target if letter not in "NC"]


def test_bad_formats_and_axes_are_refused():
    for formats in ({"src_format": "NHW"}, {"dst_format": "NHWD"}, {"src_format": "NNHW"}):
        with pytest.raises(ValueError, match="format"):
            tf.raw_ops.DataFormatDimMap(x=[0], **formats)
    with pytest.raises(tf.errors.InvalidArgumentError, match="axis"):
        tf.raw_ops.DataFormatDimMap(x=[4])
    with pytest.raises(ValueError, match="first axis"):
        tf.raw_ops.DataFormatVecPermute(x=[1, 2, 3])


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
def test_a_pool_whose_window_is_a_tensor_is_the_plain_pool(padding):
    window = {"ksize": [1, 2, 3, 1], "strides": [1, 2, 1, 1]}

    def pooled(x, ksize, strides):
        return tf.raw_ops.MaxPoolV2(input=x, ksize=ksize, strides=strides, padding=padding)

    for function in (pooled, tf.function(pooled)):
        with tf.GradientTape(persistent=True) as outer:
            outer.watch(X)
            with tf.GradientTape(persistent=True) as tape:
                tape.watch(X)
                plain = tf.reduce_sum(tf.nn.max_pool2d(X, padding=padding, **window) ** 3)
                late = tf.reduce_sum(function(X, *map(tf.constant, window.values())) ** 3)
            first = [tape.gradient(y, X) for y in (plain, late)]
        np.testing.assert_array_equal(late.numpy(), plain.numpy())
        np.testing.assert_array_equal(first[1].numpy(), first[0].numpy())
        second = [outer.gradient(g, X).numpy() for g in first]
        np.testing.assert_array_equal(second[1], second[0])


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "uint8"])
@pytest.mark.parametrize("reverse", [False, True])
def test_the_nth_element_is_that_of_the_sorted_row(dtype, reverse):
    x = RNG.integers(0, 50, (3, 4, 9)).astype(dtype)
    rows = np.sort(x, -1)[..., ::-1] if reverse else np.sort(x, -1)
    for n in range(9):
        got = tf.raw_ops.NthElement(input=x, n=n, reverse=reverse)
        np.testing.assert_array_equal(got.numpy(), rows[..., n])
    with pytest.raises(ValueError, match="less than 9"):
        tf.raw_ops.NthElement(input=x, n=9)


def dilated(x, f, stride, rate, padding):
    b, h, w, c = x.shape
    fh, fw, _ = f.shape
    reach = ((fh - 1) * rate + 1, (fw - 1) * rate + 1)
    if padding == "SAME":
        out = [-(-n // stride) for n in (h, w)]
        total = [
            max((o - 1) * stride + r - n, 0) for o, r, n in zip(out, reach, (h, w), strict=True)
        ]
        before = [t // 2 for t in total]
    else:
        out, before = [(n - r) // stride + 1 for n, r in zip((h, w), reach, strict=True)], [0, 0]
    y = np.full((b, *out, c), -np.inf)
    for i, j in np.ndindex(*out):
        for di, dj in np.ndindex(fh, fw):
            row, col = i * stride - before[0] + di * rate, j * stride - before[1] + dj * rate
            if 0 <= row < h and 0 <= col < w:
                y[:, i, j] = np.maximum(y[:, i, j], x[:, row, col] + f[di, dj])
    return y


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
@pytest.mark.parametrize(("stride", "rate"), [(1, 1), (2, 1), (1, 2)])
def test_dilation_is_the_largest_sum_and_erosion_the_least_difference(stride, rate, padding):
    x, f = uniform(2, 6, 7, 2), uniform(3, 2, 2)
    options = ([1, stride, stride, 1], padding, "NHWC", [1, rate, rate, 1])
    wanted = dilated(x.numpy(), f.numpy(), stride, rate, padding)
    got = tf.nn.dilation2d(x, f, *options)
    np.testing.assert_allclose(got.numpy(), wanted, rtol=1e-6)
    old = v1.nn.dilation2d(x, f, [1, stride, stride, 1], [1, rate, rate, 1], padding)
    np.testing.assert_array_equal(old.numpy(), got.numpy())
    flipped = f.numpy()[::-1, ::-1]
    wanted = -dilated(-x.numpy(), flipped, stride, rate, padding)
    np.testing.assert_allclose(tf.nn.erosion2d(x, f, *options).numpy(), wanted, rtol=1e-6)


def test_the_gradient_of_a_dilation_goes_to_what_made_the_sum():
    x = tf.constant([[[[1.0], [5.0]], [[2.0], [3.0]]]])
    f = tf.constant([[[0.0], [1.0]], [[0.5], [0.0]]])
    with tf.GradientTape() as tape:
        tape.watch([x, f])
        y = tf.nn.dilation2d(x, f, [1, 1, 1, 1], "VALID", "NHWC", [1, 1, 1, 1])
    dx, df = tape.gradient(y, [x, f])
    np.testing.assert_array_equal(dx.numpy()[0, ..., 0], [[0, 1], [0, 0]])
    np.testing.assert_array_equal(df.numpy()[..., 0], [[0, 1], [0, 0]])


@pytest.mark.parametrize("how", ["update", "add", "sub", "min", "max"])
@pytest.mark.parametrize("way", ["eager", "function", "graph"])
def test_parts_of_a_variable_change_in_place(how, way):
    start = np.arange(6.0, dtype=np.float32).reshape(3, 2)
    indices, updates = [[0, 1], [2, 0]], np.array([10.0, -10.0], np.float32)
    wanted = start.copy()
    for (i, j), u in zip(indices, updates, strict=True):
        old = wanted[i, j]
        change = {"update": u, "add": old + u, "sub": old - u, "min": min(old, u)}
        wanted[i, j] = change.get(how, max(old, u))
    if way == "graph":
        with tf.Graph().as_default():
            v = tf.Variable(start)
            changed = getattr(v, f"scatter_nd_{how}")(indices, updates)
            with v1.Session() as sess:
                sess.run(v1.global_variables_initializer())
                np.testing.assert_array_equal(sess.run(changed), wanted)
        return
    v = tf.Variable(start)
    change = lambda: getattr(v, f"scatter_nd_{how}")(indices, updates)
    (tf.function(change) if way == "function" else change)()
    np.testing.assert_array_equal(v.numpy(), wanted)


def test_rows_of_batches_are_replaced():
    start = np.zeros((2, 3, 2), np.float32)
    indices, updates = [[0, 2], [1, 0]], np.arange(8.0, dtype=np.float32).reshape(2, 2, 2) + 1
    wanted = start.copy()
    for b in range(2):
        wanted[b, indices[b]] = updates[b]
    v = tf.Variable(start)
    v.batch_scatter_update(tf.IndexedSlices(updates, indices))
    np.testing.assert_array_equal(v.numpy(), wanted)
    with tf.Graph().as_default():
        v = tf.Variable(start)
        changed = v1.batch_scatter_update(v, indices, updates)
        with v1.Session() as sess:
            sess.run(v1.global_variables_initializer())
            np.testing.assert_array_equal(sess.run(changed), wanted)


def test_parts_of_a_variable_are_read_by_raw_ops():
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    with tf.GradientTape(persistent=True) as tape:
        rows = tf.raw_ops.ResourceGather(resource=v.handle, indices=[2, 0, 2], dtype=tf.float32)
        parts = tf.raw_ops.ResourceGatherNd(
            resource=v.handle, indices=[[1, 1], [0, 0]], dtype=tf.float32
        )
    np.testing.assert_array_equal(rows.numpy(), [[5, 6], [1, 2], [5, 6]])
    np.testing.assert_array_equal(parts.numpy(), [4, 1])
    slope = tape.gradient(rows, v)
    assert isinstance(slope, tf.IndexedSlices)
    np.testing.assert_array_equal(tf.convert_to_tensor(slope).numpy(), [[1, 1], [0, 0], [2, 2]])
    np.testing.assert_array_equal(tape.gradient(parts, v).numpy(), [[1, 0], [0, 1], [0, 0]])
    batched = tf.raw_ops.ResourceGather(
        resource=v.handle, indices=[[1], [0], [1]], dtype=tf.float32, batch_dims=1
    )
    np.testing.assert_array_equal(batched.numpy(), [[2], [3], [6]])
    with pytest.raises(ValueError, match="float32"):
        tf.raw_ops.ResourceGather(resource=v.handle, indices=[0], dtype=tf.int32)


@pytest.mark.parametrize("kind", ["max", "avg"])
@pytest.mark.parametrize("pseudo_random", [False, True])
@pytest.mark.parametrize("overlapping", [False, True])
def test_a_fractional_pool_is_what_its_cuts_say(kind, pseudo_random, overlapping):
    pool = getattr(tf.nn, f"fractional_{kind}_pool")
    fold = np.max if kind == "max" else np.mean
    for seed, ratio in enumerate([1.3, [1.0, 1.7, 2.2, 1.0], 2.0], 1):
        x = uniform(2, 13, 12, 3)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y, rows, cols = pool(x, ratio, pseudo_random, overlapping, seed)
        again = pool(x, ratio, pseudo_random, overlapping, seed)
        np.testing.assert_array_equal(again[0].numpy(), y.numpy())
        wanted, weight = np.zeros(y.shape), np.zeros(x.shape)
        for cuts, n in ((rows.numpy(), 13), (cols.numpy(), 12)):
            assert cuts[0] == 0
            assert cuts[-1] == n
            assert set(np.diff(cuts)) <= {n // (len(cuts) - 1), n // (len(cuts) - 1) + 1}
        end = 1 if overlapping else 0
        for i, j in np.ndindex(y.shape[1], y.shape[2]):
            part = np.s_[:, rows[i] : rows[i + 1] + end, cols[j] : cols[j + 1] + end]
            wanted[:, i, j] = fold(x.numpy()[part], axis=(1, 2))
            if kind == "max":
                weight[part] += x.numpy()[part] == wanted[:, i, j][:, None, None]
            else:
                weight[part] += 1 / np.prod(x.numpy()[part].shape[1:3])
        np.testing.assert_allclose(y.numpy(), wanted, rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(tape.gradient(y, x).numpy(), weight, rtol=1e-5, atol=1e-6)


def test_cuts_of_a_fractional_pool_are_checked():
    x = tf.zeros([1, 4, 4, 1])
    for rows in ([0, 2, 9], [0, 3, 2], [0, 2]):
        with pytest.raises(tf.errors.InvalidArgumentError):
            tf.raw_ops.FractionalMaxPoolGrad(
                orig_input=x,
                orig_output=tf.zeros([1, 2, 2, 1]),
                out_backprop=tf.zeros([1, 2, 2, 1]),
                row_pooling_sequence=tf.constant(rows, tf.int64),
                col_pooling_sequence=tf.constant([0, 2, 4], tf.int64),
            )
