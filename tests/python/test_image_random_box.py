"""Parts of images of random shapes: those that TensorFlow draws, and what is asked of them."""

import numpy as np
import pytest

import holdfast as tf

BOXES = [[[0.1, 0.2, 0.6, 0.7], [0.3, 0.3, 0.9, 0.5]]]
draw = tf.image.stateless_sample_distorted_bounding_box


def sides(found):
    begin, size, box = found
    assert box.shape == (1, 1, 4)
    return begin.numpy().tolist()[:2], size.numpy().tolist()


# What TensorFlow 2.21 gives.
@pytest.mark.parametrize(
    ("seed", "options", "wanted"),
    [
        ((0, 7), {}, ([5, 0], [26, 33, -1])),
        ((1, 2), {}, ([0, 3], [39, 48, -1])),
        ((5, 7), {"min_object_covered": 1.0, "max_attempts": 2}, ([8, 8], [30, 25, -1])),
        ((5, 7), {"area_range": (0.9, 0.95), "max_attempts": 3}, ([0, 0], [40, 57, -1])),
    ],
)
def test_parts_are_those_of_tensorflow(seed, options, wanted):
    assert sides(draw([40, 57, 3], BOXES, seed, **options)) == wanted


@pytest.fixture
def seeded():
    tf.random.set_seed(0)
    yield
    tf.random.set_seed(None)


@pytest.mark.usefixtures("seeded")
def test_the_stream_of_an_op_moves_on_as_in_tensorflow():
    found = [
        sides(tf.image.sample_distorted_bounding_box([40, 57, 3], BOXES, seed=1)) for _ in range(2)
    ]
    assert found == [([3, 11], [36, 38, -1]), ([2, 17], [33, 36, -1])]


@pytest.mark.parametrize("traced", [False, True])
def test_parts_are_within_their_limits_and_show_enough(traced):
    def one(size, boxes, seed):
        return draw(size, boxes, seed, 0.5, [0.5, 2.0], [0.2, 0.6], 200)

    drawn = (
        tf.function(
            one,
            input_signature=[
                tf.TensorSpec(None, "int32"),
                tf.TensorSpec(None),
                tf.TensorSpec([2], "int32"),
            ],
        )
        if traced
        else one
    )
    size, boxes = tf.constant([60, 80, 3]), tf.constant([[[0.25, 0.25, 0.75, 0.75]]])
    for seed in range(30):
        (y, x), (high, wide, _) = sides(drawn(size, boxes, tf.constant([seed, 1])))
        if (high, wide) == (60, 80):  # every attempt failed
            continue
        assert y >= 0
        assert x >= 0
        assert y + high <= 60
        assert x + wide <= 80
        assert 0.2 <= high * wide / 4800 <= 0.6
        assert 0.5 - 0.05 <= wide / high <= 2 + 0.1
        shown = max(min(y + high, 45) - max(y, 15), 0) * max(min(x + wide, 60) - max(x, 20), 0)
        assert shown / 1200 >= 0.5


def test_the_part_is_cut_out_by_slice():
    picture = tf.ones([20, 30, 3])
    begin, size, box = draw(tf.shape(picture), BOXES, (1, 2))
    part = tf.slice(picture, begin, size)
    assert part.shape[2] == 3
    wanted = np.float32([begin[0] / 20, begin[1] / 30, 0, 0])
    wanted[2:] = wanted[:2] + np.float32([part.shape[0] / 20, part.shape[1] / 30])
    np.testing.assert_allclose(box[0, 0], wanted, rtol=1e-5)


def test_without_boxes_the_image_is_one_where_that_is_asked_for():
    none = np.zeros((1, 0, 4), "float32")
    with pytest.raises(tf.errors.InvalidArgumentError, match="`bounding_boxes` has none"):
        draw([40, 57, 3], none, (1, 2))
    found = draw([40, 57, 3], none, (1, 2), use_image_if_no_bounding_boxes=True)
    assert sides(found) == ([0, 3], [39, 48, -1])
    assert found[0].dtype == tf.int32
    wide = draw(
        tf.constant([40, 57, 3], "int64"), none, (1, 2), use_image_if_no_bounding_boxes=True
    )
    assert sides(wide) == sides(found)
    assert wide[0].dtype == tf.int64


@pytest.mark.parametrize(
    ("size", "boxes", "options", "named"),
    [
        ([4, 5], BOXES, {}, "image_size"),
        ([0, 5, 3], BOXES, {}, "image_size"),
        ([2**31, 5, 3], BOXES, {}, "image_size"),
        ([4, 5, 3], BOXES[0], {}, "bounding_boxes"),
        ([4, 5, 3], [[[0.1, 0.2, 0.3, 1.4]]], {}, "bounding_boxes"),
        ([4, 5, 3], [[[0.1, float("nan"), 0.3, 0.4]]], {}, "bounding_boxes"),
        ([4, 5, 3], BOXES, {"max_attempts": 0}, "max_attempts"),
        ([4, 5, 3], BOXES, {"aspect_ratio_range": [0.0, 1.0]}, "aspect_ratio_range"),
        ([4, 5, 3], BOXES, {"aspect_ratio_range": [1.0]}, "aspect_ratio_range"),
        ([4, 5, 3], BOXES, {"area_range": [0.5, 1.2]}, "area_range"),
        ([4, 5, 3], BOXES, {"area_range": [float("nan"), 1.0]}, "area_range"),
        ([4, 5, 3], BOXES, {"min_object_covered": [0.5]}, "min_object_covered"),
    ],
)
def test_what_makes_no_sense_is_refused(size, boxes, options, named):
    with pytest.raises(tf.errors.InvalidArgumentError, match=named):
        draw(size, boxes, (1, 2), **options)


@pytest.mark.parametrize("ratio", [1e-30, 1e30])
@pytest.mark.parametrize("size", [[1, 1, 3], [2**31 - 1, 2**31 - 1, 3], [1, 2**31 - 1, 3]])
def test_sizes_and_proportions_of_any_extent_give_a_part_or_the_image(ratio, size):
    (y, x), (high, wide, _) = sides(
        draw(size, BOXES, (1, 2), aspect_ratio_range=[ratio, ratio], max_attempts=3)
    )
    assert 0 <= y <= y + high <= size[0]
    assert 0 <= x <= x + wide <= size[1]
