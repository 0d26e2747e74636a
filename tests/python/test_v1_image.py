"""`tf.compat.v1.image.resize`: sizes by the rules of version 1, measured from corners of pixels."""

import numpy as np
import pytest

import holdfast as tf

image = tf.compat.v1.image
X = np.random.default_rng(0).uniform(0, 9, (1, 5, 4, 2)).astype(np.float32)


def places(have, want, aligned):
    step = (have - 1) / (want - 1) if aligned and want > 1 else have / want
    return np.arange(want) * step


def bilinear(x, size, aligned):
    for axis, want in zip((1, 2), size, strict=True):
        have = x.shape[axis]
        at = places(have, want, aligned)
        low = np.floor(at).astype(int)
        high = np.minimum(low + 1, have - 1)
        share = (at - low).reshape([-1 if i == axis else 1 for i in range(4)])
        x = x.take(low, axis) * (1 - share) + x.take(high, axis) * share
    return x


def nearest(x, size, aligned):
    for axis, want in zip((1, 2), size, strict=True):
        at = places(x.shape[axis], want, aligned)
        whole = np.floor(at + 0.5) if aligned else np.floor(at)
        x = x.take(np.minimum(whole.astype(int), x.shape[axis] - 1), axis)
    return x


@pytest.mark.parametrize("size", [[8, 9], [3, 2], [1, 7]])
@pytest.mark.parametrize("aligned", [False, True])
def test_sizes_are_measured_from_corners(size, aligned):
    got = image.resize_images(X, size, align_corners=aligned)
    np.testing.assert_allclose(got, bilinear(X, size, aligned), rtol=1e-4)
    np.testing.assert_allclose(image.resize_bilinear(X, size, aligned), got, rtol=1e-6)
    got = image.resize(X, size, image.ResizeMethod.NEAREST_NEIGHBOR, aligned)
    np.testing.assert_array_equal(got, nearest(X, size, aligned))
    assert not np.allclose(image.resize(X, [8, 9]), tf.image.resize(X, [8, 9]))  # from centres


def test_areas_and_cubics():
    x = np.arange(32.0, dtype=np.float32).reshape(1, 4, 4, 2)
    means = x.reshape(1, 2, 2, 2, 2, 2).mean((2, 4))
    np.testing.assert_allclose(image.resize(x, [2, 2], image.ResizeMethod.AREA), means)
    cubic = image.resize(X, [9, 7], image.ResizeMethod.BICUBIC, align_corners=True).numpy()
    np.testing.assert_allclose(cubic[:, ::2, ::2], X, rtol=1e-5)  # every other one is a pixel


@pytest.mark.parametrize("method", range(4))
def test_images_that_have_the_size_are_handed_back(method):
    small = X.astype(np.uint8)
    assert image.resize(small, [5, 4], method).dtype == tf.uint8
    grown = image.resize(small, [10, 8], method)
    assert grown.dtype == (
        tf.uint8 if method == image.ResizeMethod.NEAREST_NEIGHBOR else tf.float32
    )


def test_proportions_are_kept_and_one_image_stays_one():
    assert image.resize_images(X[0], [8, 20], preserve_aspect_ratio=True).shape == [8, 6, 2]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: image.resize(X[0, 0], [2, 2]), "`images`"),
        (lambda: image.resize(X, [2, 2, 2]), "`size`"),
        (lambda: image.resize(X, [2, 2], 7), "`method` is 7"),
        (lambda: image.resize(X, [2, 2], "lanczos3"), "lanczos3"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(call, words):
    with pytest.raises(ValueError, match=words):
        call()


def test_parts_of_random_shapes_have_both_seeds_of_the_op():
    box = [[[0.1, 0.2, 0.6, 0.7]]]
    first, size, part = image.sample_distorted_bounding_box([40, 57, 3], box, seed=3, seed2=5)
    assert image.sample_distorted_bounding_box([40, 57, 3], box, 3, 6)[1].shape == (3,)
    y, x, _ = first.numpy()
    high, wide, _ = size.numpy()
    np.testing.assert_allclose(
        part[0, 0], np.float32([y / 40, x / 57, (y + high) / 40, (x + wide) / 57]), rtol=1e-6
    )


@pytest.mark.parametrize(
    "patches", [image.extract_image_patches, tf.compat.v1.extract_image_patches]
)
def test_patches_have_sizes_by_their_old_name_and_by_the_new_one(patches):
    ones = [1, 1, 1, 1]
    wanted = tf.image.extract_patches(X, [1, 2, 2, 1], ones, ones, "VALID")
    np.testing.assert_array_equal(patches(X, [1, 2, 2, 1], ones, ones, "VALID"), wanted)
    named = patches(X, sizes=[1, 2, 2, 1], strides=ones, rates=ones, padding="VALID")
    np.testing.assert_array_equal(named, wanted)
    with pytest.raises(TypeError, match="sizes"):
        patches(X, strides=ones, rates=ones, padding="VALID")
