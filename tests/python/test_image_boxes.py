"""Which boxes are kept: by overlap, by score, in batches and classes; what a network proposes."""

import numpy as np
import pytest

import holdfast as tf

I = tf.image


def boxes(*shape, seed=0):
    rng = np.random.RandomState(seed)
    middle, size = rng.rand(*shape, 2), rng.rand(*shape, 2) * 0.4
    return np.concatenate([middle - size / 2, middle + size / 2], -1).astype("float32")


def scores(*shape, seed=1):
    return np.random.RandomState(seed).rand(*shape).astype("float32")


def overlap(a, b):
    high = max(min(a[2], b[2]) - max(a[0], b[0]), 0)
    wide = max(min(a[3], b[3]) - max(a[1], b[1]), 0)
    both = (a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1])
    return high * wide / (both - high * wide)


def best(rows, goodness, most, allowed, least=-np.inf):
    """The numbers of boxes that overlap no better one, by going through them one by one."""
    kept = []
    for i in np.argsort(-goodness, kind="stable"):
        if len(kept) == most or not goodness[i] > least:
            break
        if all(overlap(rows[i], rows[k]) <= allowed for k in kept):
            kept.append(int(i))
    return kept


@pytest.mark.parametrize(("most", "allowed", "least"), [(10, 0.5, -np.inf), (60, 0.3, 0.2)])
def test_the_best_boxes_and_their_scores(most, allowed, least):
    b, s = boxes(60), scores(60)
    want = best(b, s, most, allowed, least)
    assert I.non_max_suppression(b, s, most, allowed, least).numpy().tolist() == want
    found, goodness = I.non_max_suppression_with_scores(b, s, most, allowed, least)
    assert found.numpy().tolist() == want
    np.testing.assert_array_equal(goodness, s[want])
    some = I.non_max_suppression_padded(b, s, most, allowed, least)
    assert some[0].numpy().tolist() == want and some[1].numpy() == len(want)
    share = np.array([[overlap(x, y) for y in b] for x in b], "float32")
    assert I.non_max_suppression_overlaps(share, s, most, allowed, least).numpy().tolist() == want


def test_overlaps_lower_scores_where_a_sigma_is_given():
    b = np.float32([[0, 0, 1, 1], [0, 0, 1, 0.9], [0, 0, 1, 0.5], [2, 2, 3, 3]])
    s = np.float32([0.9, 0.8, 0.7, 0.1])
    found, goodness = I.non_max_suppression_with_scores(b, s, 4, soft_nms_sigma=0.5)
    share = [overlap(b[0], b[i]) for i in range(4)]
    lowered = {i: float(s[i] * np.exp(-(share[i] ** 2))) for i in (1, 2)}
    assert found.numpy().tolist()[0] == 0 and set(found.numpy().tolist()) == {0, 1, 2, 3}
    assert goodness.numpy()[1] == pytest.approx(max(lowered.values()), rel=1e-5)
    assert (np.diff(goodness.numpy()) <= 0).all()
    few, _ = I.non_max_suppression_with_scores(b, s, 4, score_threshold=0.5, soft_nms_sigma=0.5)
    assert few.numpy().tolist() == [0, 2]
    with pytest.raises(ValueError, match="soft_nms_sigma"):
        I.non_max_suppression_with_scores(b, s, 4, soft_nms_sigma=-1.0)


def test_limits_may_be_tensors_of_a_graph():
    b, s = boxes(30), scores(30)

    @tf.function(
        input_signature=[
            tf.TensorSpec([None, 4]),
            tf.TensorSpec([None]),
            tf.TensorSpec([], tf.int32),
            tf.TensorSpec([]),
        ]
    )
    def kept(b, s, most, allowed):
        padded, count = I.non_max_suppression_padded(
            b, s, most, allowed, pad_to_max_output_size=True
        )
        assert padded.shape.as_list() == [None]
        return I.non_max_suppression(b, s, most, allowed), padded, count

    found, padded, count = kept(b, s, 5, 0.2)
    assert found.numpy().tolist() == best(b, s, 5, 0.2)
    assert padded.numpy().tolist() == best(b, s, 5, 0.2) and count.numpy() == 5


@pytest.mark.parametrize("turned", [False, True])
def test_batches_are_padded_with_zeros(turned):
    b, s = boxes(3, 40), scores(3, 40)
    given = b[..., [2, 3, 0, 1]] if turned else b
    found, count = I.non_max_suppression_padded(
        given, s, 30, 0.2, 0.3, pad_to_max_output_size=True, tile_size=8
    )
    assert found.shape.as_list() == [3, 30] and count.shape.as_list() == [3]
    for row, n, rows, goodness in zip(found.numpy(), count.numpy(), b, s, strict=True):
        want = best(rows, goodness, 30, 0.2, 0.3)
        assert row.tolist() == want + [0] * (30 - n) and n == len(want)
    order = np.argsort(-s, 1)
    ranked = np.take_along_axis(b, order[..., None], 1)
    again, _ = I.non_max_suppression_padded(
        ranked,
        np.take_along_axis(s, order, 1),
        30,
        0.2,
        0.3,
        pad_to_max_output_size=True,
        sorted_input=True,
        canonicalized_coordinates=True,
    )
    for row, n, numbers, was in zip(
        again.numpy(), count.numpy(), order, found.numpy(), strict=True
    ):
        assert numbers[row[:n]].tolist() == was[:n].tolist()


def test_a_box_without_a_coordinate_above_zero_is_none_in_a_batch():
    b = np.float32([[-2, -2, -1, -1], [0, 0, 1, 1]])
    found, count = I.non_max_suppression_padded(b, [0.9, 0.8], 2)
    assert found.numpy().tolist() == [1] and count.numpy() == 1


@pytest.mark.parametrize("kinds", [1, 3])
@pytest.mark.parametrize("pad_per_class", [False, True])
@pytest.mark.parametrize("clip", [False, True])
def test_the_best_boxes_of_all_classes(kinds, pad_per_class, clip):
    b, s = boxes(2, 30, kinds) * 1.5 - 0.3, scores(2, 30, 3)
    found = I.combined_non_max_suppression(b, s, 4, 10, 0.3, 0.2, pad_per_class, clip)
    assert type(found)._fields == (
        "nmsed_boxes",
        "nmsed_scores",
        "nmsed_classes",
        "valid_detections",
    )
    for i in range(2):
        want = []
        for k in range(3):
            rows = b[i, :, k if kinds > 1 else 0]
            want += [(s[i, n, k], k, rows[n]) for n in best(rows, s[i, :, k], 4, 0.3, 0.2)]
        want = sorted(want, key=lambda each: -each[0])[:10]
        n = int(found.valid_detections[i])
        assert n == len(want)
        np.testing.assert_array_equal(found.nmsed_scores[i, :n], [each[0] for each in want])
        np.testing.assert_array_equal(found.nmsed_classes[i, :n], [each[1] for each in want])
        rows = np.array([each[2] for each in want])
        np.testing.assert_array_equal(
            found.nmsed_boxes[i, :n], np.clip(rows, 0, 1) if clip else rows
        )
        assert not found.nmsed_scores[i, n:].numpy().any()
    assert found.nmsed_boxes.shape.as_list() == [2, 10, 4]
    few = I.combined_non_max_suppression(b, s, 2, 10, 0.3, 0.2, True)
    assert few.nmsed_scores.shape.as_list() == [2, 6]


def test_classes_in_a_graph_of_unknown_sizes():
    @tf.function(
        input_signature=[tf.TensorSpec([None, None, 1, 4]), tf.TensorSpec([None, None, None])]
    )
    def kept(b, s):
        found = I.combined_non_max_suppression(b, s, 4, 10)
        assert found.nmsed_boxes.shape.as_list() == [None, 10, 4]
        return found

    b, s = boxes(2, 30, 1), scores(2, 30, 3)
    want = I.combined_non_max_suppression(b, s, 4, 10)
    for x, y in zip(kept(b, s), want, strict=True):
        np.testing.assert_array_equal(x, y)


def test_proposals_are_anchors_that_were_moved():
    anchors = np.float32([[[0, 0, 10, 10, 0, 0, 20, 20]]])  # one place with two anchors
    deltas = np.zeros((1, 1, 1, 8), "float32")
    deltas[..., :4] = [0.1, 0.2, 0.0, np.log(2)]  # down by 1, right by 2, twice as wide
    info = np.float32([[100, 8, 1, 0, 0]])
    rois, goodness = I.generate_bounding_box_proposals(
        np.float32([[[[0.5, 0.9]]]]), deltas, info, anchors, min_size=1.0, post_nms_topn=3
    )
    np.testing.assert_allclose(
        rois.numpy()[0], [[0, 0, 20, 8], [1, 0, 11, 8], [0, 0, 0, 0]], atol=1e-5
    )
    np.testing.assert_allclose(goodness.numpy()[0], [0.9, 0.5, 0])
    one, _ = I.generate_bounding_box_proposals(
        np.float32([[[[0.5, 0.9]]]]), deltas, info, anchors, 0.4, 1, 1.0, 3
    )
    assert one.numpy()[0, 1].tolist() == [0, 0, 0, 0]  # of the best alone
    large, _ = I.generate_bounding_box_proposals(
        np.float32([[[[0.5, 0.9]]]]), deltas, info, anchors, min_size=9.0
    )
    assert large.shape.as_list() == [1, 300, 4] and not large.numpy().any()


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda b, s: I.non_max_suppression_with_scores(b, s[1:], 3), "a score for each of 9"),
        (lambda b, s: I.non_max_suppression_with_scores(b, s, 3, 2.0), "iou_threshold"),
        (lambda b, s: I.non_max_suppression_padded(b[None], s[None], 3), "pad_to_max_output_size"),
        (lambda b, s: I.non_max_suppression_padded(b, s, -1), "max_output_size"),
        (lambda b, s: I.non_max_suppression_padded(b, s, 3, tile_size=0), "tile_size"),
        (lambda b, s: I.non_max_suppression_overlaps(b, s, 3), "as many columns"),
        (lambda b, s: I.combined_non_max_suppression(b, s, 3, 3), "rank 4"),
        (
            lambda b, s: I.combined_non_max_suppression(b[None, :, None], s[None, :, None], 0, 3),
            "max_output_size_per_class",
        ),
        (
            lambda b, s: I.combined_non_max_suppression(
                np.tile(b[None, :, None], [1, 1, 2, 1]), np.tile(s[None, :, None], [1, 1, 3]), 3, 3
            ),
            "1 or 3",
        ),
        (
            lambda b, s: I.generate_bounding_box_proposals(
                np.zeros([1, 2, 2, 3], "float32"),
                np.zeros([1, 2, 2, 3], "float32"),
                np.zeros([1, 5], "float32"),
                np.zeros([2, 2, 12], "float32"),
            ),
            "expected four",
        ),
    ],
)
def test_what_does_not_fit_is_refused(make, words):
    with pytest.raises(tf.errors.InvalidArgumentError, match=words):
        make(boxes(9), scores(9))


def test_what_a_jpeg_leaves_of_an_image():
    image = (np.random.RandomState(0).rand(24, 20, 3) * 255).astype("uint8")
    for quality in (0, 30, 100):
        written = tf.io.decode_jpeg(tf.io.encode_jpeg(image, quality=quality), channels=3)
        found = I.adjust_jpeg_quality(image, quality)
        np.testing.assert_array_equal(found, written)
    grey = I.convert_image_dtype(image[..., :1], tf.float32)
    found = I.adjust_jpeg_quality(grey, 50)
    assert found.dtype == tf.float32 and found.shape == grey.shape
    assert abs(found - grey).numpy().mean() < 0.2
    later = tf.function(I.adjust_jpeg_quality)(tf.constant(image), tf.constant(30))
    np.testing.assert_array_equal(later, I.adjust_jpeg_quality(image, 30))
    assert tf.io.is_jpeg(tf.io.encode_jpeg(image)) and not I.is_jpeg(tf.io.encode_png(image))
    with pytest.raises(tf.errors.InvalidArgumentError, match="0 to 100"):
        I.adjust_jpeg_quality(image, 101)
    with pytest.raises(tf.errors.InvalidArgumentError, match="0 to 100"):
        tf.function(I.adjust_jpeg_quality)(tf.constant(image), tf.constant(-1))


def test_a_quality_by_chance():
    image = (np.random.RandomState(0).rand(24, 20, 3) * 255).astype("uint8")
    one = I.stateless_random_jpeg_quality(image, 5, 95, seed=(1, 2))
    np.testing.assert_array_equal(one, I.stateless_random_jpeg_quality(image, 5, 95, seed=(1, 2)))
    possible = {I.adjust_jpeg_quality(image, q).numpy().tobytes() for q in range(5, 95)}
    assert one.numpy().tobytes() in possible
    assert I.random_jpeg_quality(image, 5, 95, seed=3).numpy().tobytes() in possible
    only = I.random_jpeg_quality(image, 40, 41)
    np.testing.assert_array_equal(only, I.adjust_jpeg_quality(image, 40))
    for low, high in ((50, 50), (-1, 9), (9, 101)):
        with pytest.raises(ValueError, match="min_jpeg_quality"):
            I.random_jpeg_quality(image, low, high)


def test_similarity_over_several_scales():
    rng = np.random.RandomState(0)
    x = rng.rand(2, 31, 26, 3).astype("float32")
    y = np.clip(x + 0.1 * rng.randn(*x.shape), 0, 1).astype("float32")
    one = I.ssim_multiscale(x, y, 1.0, power_factors=[1.0])
    np.testing.assert_allclose(one, I.ssim(x, y, 1.0), rtol=1e-4)
    two = I.ssim_multiscale(x, y, 1.0, power_factors=[0.0, 1.0], filter_size=5)
    wide = np.pad(x, [(0, 0), (0, 1), (0, 0), (0, 0)], mode="symmetric")
    other = np.pad(y, [(0, 0), (0, 1), (0, 0), (0, 0)], mode="symmetric")
    small = [z.reshape(2, 16, 2, 13, 2, 3).mean((2, 4)) for z in (wide, other)]
    np.testing.assert_allclose(two, I.ssim(*small, 1.0, filter_size=5), rtol=1e-3)
    np.testing.assert_allclose(
        I.ssim_multiscale(x[0], y[0], 1.0, [0.5, 0.5], 5),
        I.ssim_multiscale(x, y, 1.0, [0.5, 0.5], 5)[0],
        rtol=1e-5,
    )
    with pytest.raises(tf.errors.InvalidArgumentError, match="smaller than the filter"):
        I.ssim_multiscale(x, y, 1.0)
