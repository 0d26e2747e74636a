"""Images whose shape only a call knows: what does not fit is refused in the function's words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import holdfast as tf

I = tf.image
PICTURE = np.random.RandomState(1).rand(4, 5, 3).astype("float32")
UNKNOWN = [None, "axes"]


def later(function: Callable[..., Any], *values: Any, known: str | None = None) -> Any:
    """Calls `function` in a trace that knows nothing of shapes, or the number of axes alone."""
    values = tuple(map(np.asarray, values))
    shapes = [None if known is None else [None] * value.ndim for value in values]
    specs = [tf.TensorSpec(s, v.dtype) for s, v in zip(shapes, values, strict=True)]
    return tf.function(function, input_signature=specs)(*values)


COLOURS = {
    "rgb_to_grayscale": I.rgb_to_grayscale,
    "rgb_to_hsv": I.rgb_to_hsv,
    "hsv_to_rgb": I.hsv_to_rgb,
    "rgb_to_yiq": I.rgb_to_yiq,
    "yuv_to_rgb": I.yuv_to_rgb,
    "adjust_hue": lambda x: I.adjust_hue(x, 0.2),
    "adjust_saturation": lambda x: I.adjust_saturation(x, 0.5),
}


@pytest.mark.parametrize("known", UNKNOWN)
@pytest.mark.parametrize("name", COLOURS)
def test_colours_have_three_channels(name: str, known: str | None) -> None:
    np.testing.assert_allclose(
        later(COLOURS[name], PICTURE, known=known), COLOURS[name](PICTURE), atol=1e-6
    )
    with pytest.raises(tf.errors.InvalidArgumentError) as refused:
        later(COLOURS[name], PICTURE[..., :2], known=known)
    argument = "image" if name.startswith("adjust") else "images"
    said = f"{name}: `{argument}` is float32[4,5,2], expected 3 channels on the last axis"
    assert said in str(refused.value)
    assert refused.value.diagnostic.code == "E0904"


@pytest.mark.parametrize("known", UNKNOWN)
def test_gray_has_one_channel(known: str | None) -> None:
    gray = PICTURE[..., :1]
    out = later(I.grayscale_to_rgb, gray, known=known)
    np.testing.assert_array_equal(out, np.repeat(gray, 3, -1))
    for wrong in (PICTURE, PICTURE[..., 0]):  # were six and nine channels, or fifteen columns
        with pytest.raises(tf.errors.InvalidArgumentError, match="expected 1 channel"):
            later(I.grayscale_to_rgb, wrong, known=known)


def test_a_graph_knows_the_channels_that_are_checked() -> None:
    @tf.function(input_signature=[tf.TensorSpec(None, "float32")])
    def turned(x: tf.Tensor) -> tf.Tensor:
        y = I.adjust_hue(x, 0.1)
        assert y.shape.rank is None or y.shape[-1] == 3
        return y

    assert turned(PICTURE).shape == (4, 5, 3)


def test_gradients_go_through_the_check() -> None:
    @tf.function(input_signature=[tf.TensorSpec([None, None, None], "float32")])
    def slope(x: tf.Tensor) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(I.rgb_to_grayscale(x))
        return tape.gradient(y, x)

    np.testing.assert_allclose(slope(PICTURE)[0, 0], [0.2989, 0.587, 0.114], rtol=1e-5)


@pytest.mark.parametrize("turn", [I.flip_left_right, I.flip_up_down, I.rot90])
def test_mirrored_images_have_three_axes_or_four(turn: Callable[..., Any]) -> None:
    for x in (PICTURE, PICTURE[None]):
        np.testing.assert_array_equal(later(turn, x), turn(x))
    for wrong in (PICTURE[..., 0], PICTURE[None, None]):
        with pytest.raises(
            tf.errors.InvalidArgumentError, match="expected .height, width, channels."
        ):
            later(turn, wrong)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("side", ["left_right", "up_down"])
def test_one_image_or_a_batch_is_mirrored_as_the_seed_says(side: str, seed: int) -> None:
    def flip(x: Any) -> Any:
        return getattr(I, f"stateless_random_flip_{side}")(x, [seed, 3])

    many = np.stack([PICTURE, PICTURE * 0.5, PICTURE * 0.25, PICTURE * 2])
    for x in (PICTURE, many, many[:0]):
        np.testing.assert_array_equal(later(flip, x), flip(x))


def test_one_image_is_mirrored_at_random() -> None:
    flip = I.random_flip_up_down
    seen = {later(flip, PICTURE).numpy().tobytes() for _ in range(30)}
    assert seen == {PICTURE.tobytes(), PICTURE[::-1].tobytes()}


def test_standardization_of_one_image_or_a_batch() -> None:
    for x in (PICTURE, np.stack([PICTURE, PICTURE**2])):
        out = later(I.per_image_standardization, x)
        np.testing.assert_allclose(out, I.per_image_standardization(x), atol=1e-6)


@pytest.mark.parametrize("known", UNKNOWN)
def test_a_part_at_random_fits(known: str | None) -> None:
    crops = {
        "random_crop": I.random_crop,
        "stateless_random_crop": lambda x, size: I.stateless_random_crop(x, size, [1, 2]),
    }
    for name, crop in crops.items():
        assert later(crop, PICTURE, np.int32([2, 5, 3]), known=known).shape == (2, 5, 3)
        for size in ([5, 5, 3], [-1, 2, 3], [2, 2, 4]):
            with pytest.raises(tf.errors.InvalidArgumentError) as refused:
                later(crop, PICTURE, np.int32(size), known=known)
            text = ",".join(map(str, size))
            said = f"{name}: `size` is [{text}], expected sizes of 0 to those of [4,5,3]"
            assert said in str(refused.value)
        for size in ([2, 2], [2, 2, 3, 1]):
            with pytest.raises(tf.errors.InvalidArgumentError) as refused:
                later(crop, PICTURE, np.int32(size), known=known)
            assert "expected 3 sizes, one for each axis" in str(refused.value)


def test_pictures_that_are_compared_are_alike() -> None:
    def ratio(a: Any, b: Any) -> Any:
        return I.psnr(a, b, 1.0)

    np.testing.assert_allclose(
        later(ratio, PICTURE, PICTURE * 0.9, known="axes"), ratio(PICTURE, PICTURE * 0.9)
    )
    with pytest.raises(tf.errors.InvalidArgumentError, match="expected size 1 on axis 2"):
        later(ratio, PICTURE, PICTURE[..., :1], known="axes")  # was compared with each channel


@pytest.mark.parametrize("known", UNKNOWN)
def test_repeats_speak_for_themselves(known: str | None) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError) as refused:
        later(lambda x, n: tf.repeat(x, n, axis=0), PICTURE, np.int32([2, 1]), known=known)
    assert "]: repeat: `repeats` has shape [2], expected one number or [4]" in str(refused.value)
