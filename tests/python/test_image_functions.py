"""Functions over images: sizes, parts, colours and boxes."""

import numpy as np
import pytest

import holdfast as tf

I = tf.image
METHODS = [
    "bilinear",
    "nearest",
    "bicubic",
    "area",
    "lanczos3",
    "lanczos5",
    "gaussian",
    "mitchellcubic",
]


def picture(*shape, dtype="float32"):
    x = np.random.RandomState(7).rand(*shape)
    return (x * 255).astype("uint8") if dtype == "uint8" else x.astype(dtype)


@pytest.mark.parametrize("method", METHODS)
def test_the_same_size_and_flat_pictures(method):
    flat = np.full((2, 5, 6, 3), 0.25, "float32")
    for antialias in (False, True):
        for size in ([3, 4], [11, 9], [1, 1]):
            out = I.resize(flat, size, method=method, antialias=antialias)
            assert out.shape.as_list() == [2, *size, 3]
            np.testing.assert_allclose(out, 0.25, rtol=1e-5)
    x = picture(4, 5, 1)
    if method not in ("gaussian", "mitchellcubic"):  # which smooth
        np.testing.assert_allclose(I.resize(x, [4, 5], method=method), x, rtol=1e-5, atol=1e-6)


def test_values_of_tensorflow():
    x = np.arange(12, dtype="float32").reshape(1, 3, 4, 1)
    bilinear = I.resize(x, [2, 3]).numpy()[0, :, :, 0]
    np.testing.assert_allclose(bilinear[0], [1.1666666, 2.5, 3.8333333], rtol=1e-5)
    cubic = I.resize(x, [2, 2], method="bicubic").numpy()[0, 0, :, 0]
    np.testing.assert_allclose(cubic, [1.0328, 3.2672], atol=0.2)
    nearest = I.resize(np.arange(4).reshape(2, 2, 1), [4, 4], method="nearest").numpy()
    assert nearest[:, :, 0].tolist() == [[0, 0, 1, 1], [0, 0, 1, 1], [2, 2, 3, 3], [2, 2, 3, 3]]
    area = I.resize(x, [1, 2], method="area").numpy()
    assert area[0, 0, :, 0].tolist() == [4.5, 6.5]


def test_dtypes_and_proportions():
    assert I.resize(picture(4, 6, 3, dtype="uint8"), [2, 2]).dtype == tf.float32
    small = I.resize(
        picture(4, 6, 3, dtype="uint8"), [2, 2], method=I.ResizeMethod.NEAREST_NEIGHBOR
    )
    assert small.dtype == tf.uint8
    kept = I.resize(picture(2, 10, 20, 3), [8, 8], preserve_aspect_ratio=True)
    assert kept.shape.as_list() == [2, 4, 8, 3]
    padded = I.resize_with_pad(np.ones((10, 20, 1), "float32"), 8, 8)
    assert padded.numpy()[:, 0, 0].tolist() == [0, 0, 1, 1, 1, 1, 0, 0]


def test_sizes_of_graphs():
    @tf.function(
        input_signature=[tf.TensorSpec([None, None, 3], tf.uint8), tf.TensorSpec([2], tf.int32)]
    )
    def resized(image, size):
        return (
            I.resize(image, size),
            I.resize(image, [4, 4]),
            I.resize_with_crop_or_pad(image, 3, 9),
        )

    image = picture(6, 5, 3, dtype="uint8")
    a, b, c = resized(image, [2, 3])
    np.testing.assert_array_equal(a, I.resize(image, [2, 3]))
    np.testing.assert_array_equal(b, I.resize(image, [4, 4]))
    np.testing.assert_array_equal(c, I.resize_with_crop_or_pad(image, 3, 9))
    assert resized.get_concrete_function().structured_outputs[1].shape.as_list() == [4, 4, 3]


def test_threads_give_the_same_pixels():
    x = picture(3, 90, 70, 3, dtype="uint8")
    whole = I.resize(x, [64, 48]).numpy()
    for i in range(3):
        np.testing.assert_array_equal(I.resize(x[i], [64, 48]), whole[i])


def test_what_resize_refuses():
    x = picture(2, 4, 5, 3)
    for wrong in ([0, 3], [3], [[1, 2]], [-1, 2]):
        with pytest.raises(tf.errors.InvalidArgumentError):
            I.resize(x, wrong)
    with pytest.raises(tf.errors.InvalidArgumentError, match="method"):
        I.resize(x, [2, 2], method="sharp")
    with pytest.raises(tf.errors.InvalidArgumentError, match="height, width"):
        I.resize(x[0, 0], [2, 2])
    with pytest.raises(tf.errors.InvalidArgumentError, match="pixel"):
        I.resize(np.zeros((1, 0, 4, 3), "float32"), [2, 2])
    assert I.resize(np.zeros((0, 4, 4, 3), "float32"), [2, 2]).shape.as_list() == [0, 2, 2, 3]


def test_parts():
    x = picture(2, 5, 7, 3)
    np.testing.assert_array_equal(I.crop_to_bounding_box(x, 1, 2, 3, 4), x[:, 1:4, 2:6])
    np.testing.assert_array_equal(I.central_crop(x[0], 0.5), x[0, 1:4, 1:6])
    padded = I.pad_to_bounding_box(x, 1, 2, 8, 10).numpy()
    np.testing.assert_array_equal(padded[:, 1:6, 2:9], x)
    assert padded.sum() == pytest.approx(x.sum(), rel=1e-5)
    both = I.resize_with_crop_or_pad(x, 3, 9).numpy()
    np.testing.assert_array_equal(both[:, :, 1:8], x[:, 1:4])
    for call in (
        lambda: I.crop_to_bounding_box(x, 3, 0, 3, 3),
        lambda: I.crop_to_bounding_box(x, -1, 0, 3, 3),
        lambda: I.crop_to_bounding_box(x, 0, 0, 0, 3),
        lambda: I.pad_to_bounding_box(x, 0, 0, 3, 3),
        lambda: I.central_crop(x, 0.0),
        lambda: I.central_crop(x, 1.5),
    ):
        with pytest.raises(tf.errors.InvalidArgumentError):
            call()


def test_parts_of_several_images():
    x = picture(2, 6, 6, 1)
    whole = I.crop_and_resize(x, [[0.0, 0.0, 1.0, 1.0]] * 2, [1, 0], [6, 6]).numpy()
    np.testing.assert_allclose(whole, x[::-1], rtol=1e-5, atol=1e-6)
    outside = I.crop_and_resize(x, [[2.0, 2.0, 3.0, 3.0]], [0], [2, 2], extrapolation_value=9.0)
    assert outside.numpy().tolist() == [[[[9.0], [9.0]], [[9.0], [9.0]]]]
    with pytest.raises(tf.errors.InvalidArgumentError):
        I.crop_and_resize(x, [[0.0, 0.0, 1.0, 1.0]], [5], [2, 2])
    with pytest.raises(tf.errors.InvalidArgumentError, match="boxes"):
        I.crop_and_resize(x, [[0.0, 0.0, 1.0]], [0], [2, 2])


def test_random_ones_follow_their_seeds():
    x = picture(8, 4, 4, 3)
    a = I.stateless_random_flip_left_right(x, [1, 2]).numpy()
    np.testing.assert_array_equal(a, I.stateless_random_flip_left_right(x, [1, 2]))
    flipped = [bool((a[i] == x[i, :, ::-1]).all()) for i in range(8)]
    assert any(flipped)
    assert not all(flipped)
    tf.random.set_seed(3)
    first = I.random_brightness(x, 0.3, seed=1).numpy()
    tf.random.set_seed(3)
    np.testing.assert_array_equal(first, I.random_brightness(x, 0.3, seed=1))
    for wrong in (
        lambda: I.random_hue(x, 0.7),
        lambda: I.random_contrast(x, 0.5, 0.2),
        lambda: I.random_brightness(x, -1.0),
    ):
        with pytest.raises(tf.errors.InvalidArgumentError):
            wrong()


def test_dtypes_of_pixels():
    x = np.array([0, 1, 127, 255], "uint8")
    np.testing.assert_allclose(I.convert_image_dtype(x, tf.float32), x / 255, rtol=1e-6)
    assert I.convert_image_dtype(x, tf.uint16).numpy().tolist() == [0, 256, 127 * 256, 255 * 256]
    back = I.convert_image_dtype(tf.constant([-0.5, 0.5, 1.0, 2.0]), tf.uint8, saturate=True)
    assert back.numpy().tolist() == [0, 127, 255, 255]
    with pytest.raises(tf.errors.InvalidArgumentError, match="pixels"):
        I.convert_image_dtype(["a"], tf.float32)


def test_colors():
    x = picture(5, 4, 3)
    np.testing.assert_allclose(I.hsv_to_rgb(I.rgb_to_hsv(x)), x, atol=1e-5)
    np.testing.assert_allclose(I.yiq_to_rgb(I.rgb_to_yiq(x)), x, atol=1e-4)
    np.testing.assert_allclose(I.yuv_to_rgb(I.rgb_to_yuv(x)), x, atol=1e-4)
    np.testing.assert_allclose(I.adjust_hue(x, 1.0), x, atol=1e-5)
    np.testing.assert_allclose(I.adjust_saturation(x, 1.0), x, atol=1e-5)
    assert I.adjust_brightness(np.array([[[250]]], "uint8"), 0.5).numpy().tolist() == [[[255]]]
    for wrong in (
        lambda: I.rgb_to_grayscale(picture(2, 2, 4)),
        lambda: I.rgb_to_hsv(picture(2, 2, 3, dtype="uint8")),
        lambda: I.grayscale_to_rgb(picture(2, 2, 2)),
        lambda: I.adjust_gamma(x, -1.0),
    ):
        with pytest.raises(tf.errors.InvalidArgumentError):
            wrong()


def test_measures():
    x = picture(2, 12, 12, 3)
    assert np.isposinf(I.psnr(x, x, 1.0).numpy()).all()
    np.testing.assert_allclose(I.ssim(x, x, 1.0), [1.0, 1.0], rtol=1e-5)
    dy, dx = I.image_gradients(x)
    np.testing.assert_allclose(dy[:, :-1], np.diff(x, axis=1), atol=1e-6)
    assert not dx.numpy()[:, :, -1].any()
    ramp = np.tile(np.arange(6, dtype="float32")[None, :, None, None], (1, 1, 5, 1))
    edges = I.sobel_edges(ramp).numpy()
    assert (edges[0, 1:-1, :, 0, 0] == 8).all()
    assert not edges[..., 1].any()
    with pytest.raises(tf.errors.InvalidArgumentError, match="smaller"):
        I.ssim(x[:, :5], x[:, :5], 1.0)
    with pytest.raises(tf.errors.InvalidArgumentError, match="one shape"):
        I.psnr(x, x[:1], 1.0)


def test_boxes():
    boxes = [[0.0, 0.0, 1.0, 1.0], [0.0, 0.1, 1.0, 1.1], [0.0, 2.0, 1.0, 3.0]]
    assert I.non_max_suppression(boxes, [0.9, 0.8, 0.7], 5).numpy().tolist() == [0, 2]
    assert I.non_max_suppression(boxes, [0.9, 0.8, 0.7], 1).numpy().tolist() == [0]
    above = I.non_max_suppression(boxes, [0.9, 0.8, 0.7], 5, 0.99, score_threshold=0.75)
    assert above.numpy().tolist() == [0, 1]
    assert I.non_max_suppression(np.zeros((0, 4), "float32"), [], 5).shape.as_list() == [0]
    drawn = I.draw_bounding_boxes(
        np.zeros((1, 5, 5, 3), "float32"), [[[0.25, 0.25, 0.75, 0.75]]], [[1.0, 0, 0]]
    )
    assert drawn.numpy()[0, :, :, 0].sum() == 8
    with pytest.raises(tf.errors.InvalidArgumentError, match="scores"):
        I.non_max_suppression(boxes, [0.9], 5)
    with pytest.raises(tf.errors.InvalidArgumentError, match="iou_threshold"):
        I.non_max_suppression(boxes, [0.9, 0.8, 0.7], 5, 2.0)


def test_gradients_of_resize():
    x = tf.constant(picture(1, 4, 5, 2))
    for method in ("bilinear", "bicubic", "lanczos3", "nearest"):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(I.resize(x, [7, 3], method=method, antialias=True))
        # What arrives is spread over the pixels, and none of it is lost.
        assert float(tf.reduce_sum(tape.gradient(y, x))) == pytest.approx(7 * 3 * 2, rel=1e-4)


def test_crops_of_a_size_beyond_counting_are_refused_at_once():
    with pytest.raises(ValueError, match="`crop_size` is .2065374891"):
        tf.image.crop_and_resize(
            np.ones((1, 1, 1, 1)), np.ones((11, 4)), np.zeros(11, int), [2065374891, 1145309325]
        )


def test_images_whose_number_of_axes_is_not_known():
    picture = tf.reshape(tf.range(72.0), [6, 4, 3])
    cases = [
        tf.image.flip_left_right,
        tf.image.flip_up_down,
        tf.image.transpose,
        tf.image.per_image_standardization,
        lambda x: tf.image.resize_with_pad(x, 5, 5),
        lambda x: tf.image.resize_with_crop_or_pad(x, 5, 5),
        lambda x: tf.image.crop_to_bounding_box(x, 1, 1, 2, 2),
        lambda x: tf.image.pad_to_bounding_box(x, 1, 1, 9, 9),
        lambda x: tf.image.stateless_random_flip_left_right(x, [1, 2]),
    ]
    for case in cases:
        traced = tf.function(case, input_signature=[tf.TensorSpec(None)])
        np.testing.assert_array_equal(traced(picture), case(picture))
    batch = tf.stack([picture, picture + 1])
    for case in cases[:3]:  # as TensorFlow, these go by what comes
        traced = tf.function(case, input_signature=[tf.TensorSpec(None)])
        np.testing.assert_array_equal(traced(batch), case(batch))
    cropped = tf.function(cases[6], input_signature=[tf.TensorSpec(None)])
    with pytest.raises(tf.errors.InvalidArgumentError):
        cropped(batch)
    with pytest.raises(ValueError, match="number of axes"):
        tf.function(lambda x: tf.image.resize(x, [3, 3]), input_signature=[tf.TensorSpec(None)])(
            picture
        )


def test_boxes_on_grey_images_are_white():
    for colors in (None, [[0.5, 0.2, 0.1, 1.0]]):
        drawn = tf.image.draw_bounding_boxes(
            tf.zeros([1, 3, 3, 1]), [[[0.0, 0.0, 1.0, 1.0]] * 2], colors
        )
        assert drawn[0, :, :, 0].numpy().tolist() == [[1, 1, 1], [1, 0, 1], [1, 1, 1]]


@pytest.mark.parametrize(
    "call, said",
    [
        (lambda x: tf.image.adjust_hue(x, 2.0), "`delta` is 2"),
        (lambda x: tf.image.adjust_hue(x, tf.constant(-1.5)), "`delta` is -1.5"),
        (lambda x: tf.image.adjust_contrast(x, [1.0, 2.0, 3.0]), "`contrast_factor` is float32"),
        (lambda x: tf.image.non_max_suppression(x[0, :, :1], x[0, :, 0], [[3]]), "one number"),
        (lambda x: tf.image.crop_and_resize(x[None], [[0.0, 0.0, 1.0, 1.0]], [0], [0, 2]), "of 1 or more"),
    ],
)  # fmt: skip
def test_numbers_that_say_nothing_about_an_image_are_refused(call, said):
    with pytest.raises((tf.errors.InvalidArgumentError, ValueError), match=said):
        call(tf.zeros([4, 4, 3]))


@pytest.mark.parametrize("dtype", ["float16", "float64", "uint8"])
def test_measures_of_images_are_float32(dtype):
    x = np.arange(48).reshape(4, 4, 3).astype(dtype)
    assert tf.image.per_image_standardization(x).dtype == tf.float32
    assert tf.image.psnr(x, x + 1, 48).dtype == tf.float32
    assert tf.image.ssim(x, x, 48, filter_size=3).dtype == tf.float32
    assert tf.round(tf.constant([3, 250], tf.uint8)).numpy().tolist() == [3, 250]


@pytest.mark.parametrize("shape", [[None, None, 3], [2, None, None, 3], [None, 20, 3]])
def test_a_trace_knows_the_sizes_that_are_asked_for(shape):
    known = []

    @tf.function(input_signature=[tf.TensorSpec(shape)])
    def sized(x):
        found = [
            tf.image.pad_to_bounding_box(x, 1, 2, 35, 46),
            tf.image.resize_with_crop_or_pad(x, 35, 46),
            tf.image.resize_with_pad(x, 35, 46),
        ]
        known.extend(each.shape.as_list() for each in found)
        return found

    x = np.random.default_rng(0).random([20 if n is None else n for n in shape], np.float32)
    wanted = [*shape[:-3], 35, 46, 3]
    assert all(each.shape == wanted for each in sized(x)) and known == [wanted] * 3
    unknown = tf.function(
        lambda t: tf.image.random_crop(t, [5, 4, 3]), input_signature=[tf.TensorSpec(None)]
    )
    assert unknown.get_concrete_function().structured_outputs.shape == [5, 4, 3]


def test_a_part_of_a_jpeg_is_that_of_the_whole():
    image = np.tile(np.arange(0, 240, 10, dtype=np.uint8)[:, None, None], (1, 16, 3))
    file = tf.io.encode_jpeg(image)
    whole = tf.io.decode_jpeg(file).numpy()
    for window in ([0, 0, 24, 16], [3, 5, 7, 2], [23, 15, 1, 1]):
        y, x, h, w = window
        part = tf.image.decode_and_crop_jpeg(file, window)
        assert part.numpy().tolist() == whole[y : y + h, x : x + w].tolist()
        traced = tf.function(tf.io.decode_and_crop_jpeg)(file, tf.constant(window), channels=1)
        assert traced.shape == [h, w, 1]
    for window in (
        [0, 0, 25, 16],
        [1, 0, 24, 16],
        [0, 16, 1, 1],
        [-1, 0, 2, 2],
        [0, 0, 0, 2],
        [1, 2],
    ):
        with pytest.raises(tf.errors.InvalidArgumentError):
            tf.io.decode_and_crop_jpeg(file, window)
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.io.decode_and_crop_jpeg(tf.io.encode_png(image), [0, 0, 1, 1])
