"""Functions of `tf.nn` against what they mean, spelt out in NumPy: pools, CTC, isotonic regression, dropout, crops."""

import itertools

import numpy as np
import pytest

import holdfast as tf

v1 = tf.compat.v1
RNG = np.random.default_rng(0)


def uniform(*shape):
    return tf.constant(RNG.uniform(-1, 1, shape).astype(np.float32))


@pytest.mark.parametrize("size", [1, 2, 3, 6])
def test_a_max_pool_over_channels_takes_neighbours(size):
    x = uniform(2, 3, 4, 6)
    window = {"ksize": [1, 1, 1, size], "strides": [1, 1, 1, size]}
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.nn.max_pool2d(x, padding="SAME", **window)
    groups = x.numpy().reshape(2, 3, 4, 6 // size, size)
    np.testing.assert_array_equal(y.numpy(), groups.max(-1))
    largest = (groups == groups.max(-1, keepdims=True)).reshape(x.shape)
    np.testing.assert_array_equal(tape.gradient(y, x).numpy(), largest)
    late = tf.raw_ops.MaxPoolV2(input=x, padding="VALID", **window)
    np.testing.assert_array_equal(late.numpy(), y.numpy())
    for batch in (False, True):
        values, where = tf.nn.max_pool_with_argmax(
            x, padding="VALID", include_batch_in_index=batch, **window
        )
        flat = x.numpy().reshape(-1) if batch else x.numpy().reshape(2, -1)
        at = where.numpy() if batch else where.numpy().reshape(2, -1)
        found = flat[at] if batch else np.take_along_axis(flat, at, 1).reshape(y.shape)
        np.testing.assert_array_equal(values.numpy(), y.numpy())
        np.testing.assert_array_equal(found, y.numpy())


@pytest.mark.parametrize(
    "window",
    [
        {"ksize": [1, 1, 1, 4], "strides": [1, 1, 1, 4]},
        {"ksize": [1, 2, 2, 2], "strides": [1, 2, 2, 2]},
        {"ksize": [1, 1, 1, 3], "strides": [1, 1, 1, 1]},
    ],
)
def test_other_windows_over_channels_are_refused(window):
    with pytest.raises((ValueError, NotImplementedError)):
        tf.nn.max_pool2d(uniform(1, 2, 2, 6), padding="VALID", **window)
    with pytest.raises(NotImplementedError):
        tf.nn.avg_pool2d(uniform(1, 2, 2, 6), padding="VALID", **window)


@pytest.mark.parametrize("kind", ["MAX", "AVG"])
@pytest.mark.parametrize("data_format", [None, "channels first"])
@pytest.mark.parametrize(
    ("shape", "window", "rates"),
    [
        ((2, 11, 3), [3], [2]),
        ((1, 8, 9, 2), [2, 3], [3, 2]),
        ((1, 5, 6, 4, 2), [2, 1, 2], [2, 1, 3]),
    ],
)
def test_a_pool_with_holes_looks_at_every_other_element(kind, data_format, shape, window, rates):
    x = uniform(*shape)
    sizes = [n - (k - 1) * r for n, k, r in zip(shape[1:-1], window, rates, strict=True)]
    fold = np.max if kind == "MAX" else np.mean
    parts = [
        x.numpy()[
            (
                slice(None),
                *(slice(o * r, o * r + n) for o, r, n in zip(at, rates, sizes, strict=True)),
            )
        ]
        for at in np.ndindex(*window)
    ]
    wanted = fold(np.stack(parts), 0)
    if data_format is None:
        got = tf.nn.pool(x, window, kind, dilations=rates)
        deferred = tf.function(
            lambda t: tf.nn.pool(t, window, kind, dilations=rates),
            input_signature=[tf.TensorSpec([None] * len(shape), tf.float32)],
        )
        np.testing.assert_allclose(deferred(x).numpy(), wanted, rtol=1e-6)
    else:
        first = [0, len(shape) - 1, *range(1, len(shape) - 1)]
        name = {3: "NCW", 4: "NCHW", 5: "NCDHW"}[len(shape)]
        got = tf.nn.pool(tf.transpose(x, first), window, kind, data_format=name, dilations=rates)
        wanted = np.transpose(wanted, first)
    np.testing.assert_allclose(got.numpy(), wanted, rtol=1e-6)


def spread(labels, steps, blank):
    """All ways to say `labels` in `steps` steps."""
    classes = sorted({*labels, blank})
    for path in itertools.product(classes, repeat=steps):
        said = [k for i, k in enumerate(path) if i == 0 or k != path[i - 1]]
        if [k for k in said if k != blank] == list(labels):
            yield path


@pytest.mark.parametrize("blank", [0, 3, -1])
@pytest.mark.parametrize("time_major", [True, False])
@pytest.mark.parametrize("dtype", [tf.float32, tf.float64])
def test_ctc_sums_over_all_alignments(blank, time_major, dtype):
    steps, classes = 5, 4
    at = blank % classes
    rows = [[1, 2], [2, 2], [1], []]
    lengths, times = [len(r) for r in rows], [5, 4, 3, 2]
    labels = np.array([r + [0] * (2 - len(r)) for r in rows], np.int32)
    logits = RNG.normal(size=(steps, 4, classes))
    log_p = logits - np.log(np.exp(logits).sum(-1, keepdims=True))
    wanted = [
        -np.logaddexp.reduce(
            [sum(log_p[t, b, k] for t, k in enumerate(path)) for path in spread(r, n, at)]
        )
        for b, (r, n) in enumerate(zip(rows, times, strict=True))
    ]
    given = logits if time_major else logits.transpose(1, 0, 2)
    x = tf.constant(given, dtype)
    with tf.GradientTape() as tape:
        tape.watch(x)
        loss = tf.nn.ctc_loss(labels, x, lengths, times, time_major, blank_index=blank)
    np.testing.assert_allclose(loss.numpy(), wanted, rtol=1e-5)
    slope = tape.gradient(loss, x).numpy()
    step = 1e-4
    for position in [(0, 0, 1), (2, 1, 2), (1, 2, 0), (1, 3, 3), (4, 3, 0)]:
        where = position if time_major else (position[1], position[0], position[2])
        ends = []
        for sign in (1, -1):
            moved = given.copy()
            moved[where] += sign * step
            moved = tf.constant(moved, tf.float64)
            losses = tf.nn.ctc_loss(labels, moved, lengths, times, time_major, blank_index=blank)
            ends.append(losses.numpy().sum())
        np.testing.assert_allclose(
            slope[where], (ends[0] - ends[1]) / (2 * step), rtol=1e-3, atol=1e-5
        )


def test_labels_that_cannot_be_said_in_time_cost_everything():
    loss = tf.nn.ctc_loss([[1, 1]], tf.zeros([2, 1, 3]), [2], [2])
    assert np.isinf(loss.numpy()[0])  # a repeated label needs a blank between
    for bad in ({"label_length": [3]}, {"logit_length": [9]}, {"labels": [[0, 1]]}):
        given = {"labels": [[1, 2]], "label_length": [2], "logit_length": [2]} | bad
        with pytest.raises(tf.errors.InvalidArgumentError):
            tf.nn.ctc_loss(logits=tf.zeros([2, 1, 3]), **given)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32"])
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_isotonic_regression_is_the_nearest_falling_sequence(dtype, axis):
    x = (RNG.normal(size=(6, 5)) * 10).astype(dtype)
    for decreasing in (True, False):
        y, runs = tf.nn.isotonic_regression(x, decreasing, axis)
        y, runs = np.moveaxis(y.numpy(), axis, -1), np.moveaxis(runs.numpy(), axis, -1)
        given = np.moveaxis(x, axis, -1).astype(np.float64)
        assert (np.diff(y) <= 1e-6 if decreasing else np.diff(y) >= -1e-6).all()
        for row, numbers, values in zip(given, runs, y, strict=True):
            assert numbers[0] == 0
            for run in np.unique(numbers):
                np.testing.assert_allclose(
                    values[numbers == run], row[numbers == run].mean(), rtol=1e-5
                )
        # Of all falling sequences none is nearer: moving towards one does not help.
        for _ in range(20):
            other = np.sort(RNG.normal(size=y.shape) * 10)
            other = other[..., ::-1] if decreasing else other
            assert (((y - given) * (other - y)).sum() >= -1e-3).all()


def test_the_gradient_of_isotonic_regression_is_shared_by_runs():
    x = tf.constant([[1.0, 3.0, 2.0, 0.0]])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y, _ = tf.nn.isotonic_regression(x)
        loss = tf.reduce_sum(y * [[1.0, 2.0, 4.0, 8.0]])
    np.testing.assert_allclose(tape.gradient(loss, x).numpy(), [[1.5, 1.5, 4.0, 8.0]], rtol=1e-6)


def test_dropout_takes_every_kind_of_rate():
    x = tf.ones([200])
    for rate in (0, 0.0, np.float64(0), tf.constant(0)):
        np.testing.assert_array_equal(tf.nn.dropout(x, rate).numpy(), x.numpy())
    for rate in (-1.0, 1.0, 1.5, tf.constant(2.0)):
        with pytest.raises(ValueError, match="rate"):
            tf.nn.dropout(x, rate)
    drawn = tf.random.stateless_uniform([200], [1, 2])
    got = tf.nn.experimental.general_dropout(x, 0.25, lambda shape, dtype: drawn)
    np.testing.assert_allclose(got.numpy(), np.where(drawn.numpy() >= 0.25, 1 / 0.75, 0), rtol=1e-6)


def test_dropout_of_a_known_shape_keeps_it(graph):
    x = tf.ones([4, 3])
    noise = v1.placeholder(tf.int32)
    y = tf.nn.dropout(x, 0.5, noise)
    assert y.shape == [4, 3]
    with v1.Session() as sess:
        rows = sess.run(y, {noise: [4, 1]})
        assert (rows == rows[:, :1]).all()


LOSSES = {
    "sigmoid_cross_entropy_with_logits": "labels",
    "weighted_cross_entropy_with_logits": "labels",
    "log_poisson_loss": "targets",
}


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("known", [None, [None], [None, None]])
@pytest.mark.parametrize("have, want", [([3, 1], [3]), ([1], [3]), ([3, 1], [3, 2]), ([], [2])])
def test_losses_repeat_nothing_whenever_shapes_are_known(loss, known, have, want):
    more = {"pos_weight": 2.0} if loss.startswith("weighted") else {}
    function = getattr(tf.nn, loss)
    call = lambda a, b: function(a, b, **more)
    spec = tf.TensorSpec(known, tf.float32)
    if known is not None and not len(known) == len(have) == len(want):
        pytest.skip("the trace knows it")
    for run in (call, tf.function(call, input_signature=[spec, spec])):
        said = rf"{loss}: `{LOSSES[loss]}` \["
        with pytest.raises(tf.errors.InvalidArgumentError, match=said):
            run(tf.ones(have), tf.ones(want))
    run = tf.function(call, input_signature=[spec, spec])
    x, z = tf.random.uniform(want), tf.random.uniform(want)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch([x, z])
        losses = [call(z, x), run(z, x)]
    np.testing.assert_allclose(*losses, rtol=1e-6)
    for at in (x, z):
        np.testing.assert_allclose(*(tape.gradient(one, at) for one in losses), rtol=1e-5)


def test_no_weight_and_no_example_are_no_division_by_zero():
    mean, variance = tf.nn.weighted_moments(uniform(3, 4), [0], tf.zeros([3, 1]))
    np.testing.assert_array_equal(mean.numpy(), np.zeros(4))
    np.testing.assert_array_equal(variance.numpy(), np.zeros(4))
    loss = tf.nn.compute_average_loss(tf.constant([1.0, 2.0]), global_batch_size=0)
    assert loss.numpy() == 0


@pytest.mark.parametrize("size", [[2, 3], [4, 5], [0, 1]])
def test_a_random_crop_is_a_part(size):
    x = np.arange(20).reshape(4, 5)
    for seed in range(5):
        parts = [tf.image.random_crop(x, size, seed).numpy()]
        parts.append(tf.image.stateless_random_crop(x, size, [seed, 1]).numpy())
        parts.append(
            tf.function(lambda s: tf.image.stateless_random_crop(x, s, [1, 2]))(size).numpy()
        )
        for part in parts:
            assert part.shape == tuple(size)
            if part.size:
                i, j = divmod(int(part[0, 0]), 5)
                np.testing.assert_array_equal(part, x[i : i + size[0], j : j + size[1]])
    with pytest.raises(ValueError, match="size"):
        tf.image.random_crop(x, [5, 5])


def test_a_moving_average_follows_its_variable():
    v = tf.Variable([10.0])
    average = tf.train.ExponentialMovingAverage(0.25)
    average.apply([v])
    v.assign([20.0])
    average.apply([v])
    np.testing.assert_allclose(average.average(v).numpy(), [17.5])
    step = tf.function(lambda: average.apply([v]))
    step()
    np.testing.assert_allclose(average.average(v).numpy(), [19.375])


def test_a_moving_average_of_a_graph_runs_after_what_it_depends_on(graph):
    count, v = tf.Variable(0), tf.Variable([10.0], name="v")
    add, change = count.assign_add(1), v.assign([20.0])
    average = v1.train.ExponentialMovingAverage(0.25)
    with tf.control_dependencies([add]):
        update = average.apply([v])
    held = average.average(v)
    assert held.name == "v/ExponentialMovingAverage:0"
    assert average.average_name(v) == "v/ExponentialMovingAverage"
    with v1.Session() as sess:
        sess.run(v1.global_variables_initializer())
        sess.run(change)
        sess.run(update)
        assert sess.run(count) == 1
        np.testing.assert_allclose(sess.run(held), [17.5])


def test_an_average_of_a_tensor_is_corrected_for_its_start():
    x = tf.constant([4.0])
    average = tf.train.ExponentialMovingAverage(0.9, zero_debias=True)
    for _ in range(3):
        average.apply([x])
        np.testing.assert_allclose(average.average(x).numpy(), [4.0], rtol=1e-5)


@pytest.mark.parametrize("factor", [2.0, tf.constant(2.0)])
def test_a_constant_under_a_control_dependency_stays_behind_it(factor):
    with tf.Graph().as_default():
        count, v = tf.Variable(0), tf.Variable([10.0])
        with tf.control_dependencies([count.assign_add(1)]):
            y = v.read() * (1.0 - tf.constant(0.25)) * factor
        with v1.Session() as sess:
            sess.run(v1.global_variables_initializer())
            np.testing.assert_array_equal(sess.run(y), [15.0])
            assert sess.run(count) == 1


def test_print_of_version_1_prints_and_hands_on(capfd):
    x = tf.constant([1.0, 2.0])
    y = v1.Print(x, [x, "end"], message="x = ")
    np.testing.assert_array_equal(y.numpy(), x.numpy())
    assert "x = [1 2]end" in capfd.readouterr().err
    with tf.Graph().as_default():
        x = tf.constant([3.0])
        y = v1.Print(x, [x])
        with v1.Session() as sess:
            np.testing.assert_array_equal(sess.run(tf.gradients(y * y, x)[0]), [6.0])
    assert "[3]" in capfd.readouterr().err


def test_the_raw_gradient_of_local_response_is_that_of_the_op():
    x = uniform(2, 3, 2, 7)
    options = {"depth_radius": 2, "bias": 1.5, "alpha": 0.5, "beta": 0.75}
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.nn.local_response_normalization(x, **options)
    dy = uniform(2, 3, 2, 7)
    wanted = tape.gradient(y, x, dy)
    got = tf.raw_ops.LRNGrad(input_grads=dy, input_image=x, output_image=y, **options)
    np.testing.assert_allclose(got.numpy(), wanted.numpy(), rtol=1e-4, atol=1e-6)


def test_values_of_one_hot_take_the_dtype_that_is_asked_for():
    for on, off in ((1.0, 0.0), (tf.constant(1, tf.float16), 0.0), (1, tf.constant(0, tf.float16))):
        found = tf.one_hot([0, 2], 3, on_value=on, off_value=off, dtype=np.float16)
        assert found.dtype == tf.float16 and found.numpy().tolist() == [[1, 0, 0], [0, 0, 1]]
    assert tf.one_hot([0], 2, on_value=5.0, off_value=-1.0).numpy().tolist() == [[5, -1]]
    assert tf.one_hot([0], 2, on_value="yes", off_value="no").numpy().tolist() == [[b"yes", b"no"]]


@pytest.mark.parametrize("make", [np.asarray, tf.constant])
def test_values_of_one_hot_of_two_dtypes_are_refused(make):
    with pytest.raises((TypeError, ValueError), match="float"):
        tf.one_hot([0], 2, on_value=make(1, "float64"), off_value=make(0, "float32"))
    with pytest.raises((TypeError, ValueError), match="float"):
        tf.one_hot([0], 2, on_value=tf.constant(1.0), dtype=tf.float64)


def test_diagonals_of_a_band_may_lie_beyond_the_matrix():
    band = np.arange(1.0, 13.0).reshape(4, 3)
    found = tf.linalg.diag(band, k=(0, 3), num_rows=3)
    assert found.numpy().tolist() == [[10, 8, 6], [0, 11, 9], [0, 0, 12]]
    with pytest.raises(ValueError, match="`k`"):
        tf.linalg.diag([], k=2)


@pytest.mark.parametrize(
    ("data", "hashes"),
    [
        (["abc", ""], ["69f3e774a0b3a524", "4f40902f3b6ae19a"]),
        ([["a", "b"], ["c", "d"]], ["7a403ba9883c3753", "34fce02640e29b3c"]),
        (np.arange(6, dtype=np.int32).reshape(2, 3), ["e261e72389d9a434", "87cdf7d67015b151"]),
        (np.array([1.5, -2.5]), ["b3a4b3c348ec524c", "9635e1d7f02a20bc"]),
        (np.zeros([0, 3]), []),
    ],
)
def test_fingerprints_are_those_of_tensorflow(data, hashes):
    assert [bytes(row).hex() for row in tf.fingerprint(data).numpy()] == hashes
    with pytest.raises(ValueError, match="`method` is 'md5'"):
        tf.fingerprint(data, "md5")
