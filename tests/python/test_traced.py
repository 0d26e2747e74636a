"""Every registered function gives when traced what it gives eagerly, for all that is known."""

import dataclasses

import numpy as np
import pytest
import samples
from samples import case_id, cases

import holdfast as tf

CASES = cases()

# The number of results depends on the size of an axis: `num` must say it where that is not known.
NEEDS_SIZES = {"unstack"}
# Whether it is an image or a batch of them decides what these do.
NEEDS_RANK = {
    f"image.{name}"
    for name in [
        "image_gradients",
        "psnr",
        "resize",
        "sobel_edges",
        "ssim",
        "ssim_multiscale",
        "total_variation",
    ]
}
# What nothing is known of is one image to these, as to TensorFlow's: a batch is refused when it comes.
TAKES_ONE_IMAGE = {
    f"image.{name}"
    for name in [
        "central_crop",
        "crop_to_bounding_box",
        "pad_to_bounding_box",
        "resize_with_crop_or_pad",
        "resize_with_pad",
    ]
}


def needs_rank(case):
    return bool(NEEDS_RANK.intersection(case[0].record["python"]))


def is_batch_for_one(case, arrays):
    one = TAKES_ONE_IMAGE.intersection(case[0].record["python"])
    whole = case[1].endswith(", 1.0")  # a crop that leaves all of it looks at nothing
    return bool(one) and arrays[0].ndim != 3 and not whole


def tensors_of(result):
    return list(result) if isinstance(result, (list, tuple)) else [result]


def spec(array, known):
    dtype = tf.constant(array).dtype
    shape = {"sizes": list(array.shape), "rank": [None] * array.ndim, "nothing": None}[known]
    return tf.TensorSpec(shape, dtype)


def traced(body, arrays, known):
    signature = [spec(a, known) for a in arrays]
    return tf.function(body, input_signature=signature, autograph=False)


def same_bits(mine, theirs):
    a, b = np.asarray(mine.numpy()), np.asarray(theirs.numpy())
    assert (a.shape, a.dtype, mine.dtype) == (b.shape, b.dtype, theirs.dtype)
    if a.dtype == object:
        assert (a == b).all()
    else:
        assert a.tobytes() == b.tobytes()


def is_random(function):
    """Whether each call draws from a stream of random numbers."""
    paths = function.record["python"]
    return any(
        path.startswith("random.") and "stateless" not in path or path == "nn.dropout"
        for path in paths
    )


def other_kernels(case):
    """Whether sums have another order in a graph: a transposition before a matrix product becomes
    part of it, and convolutions have their channels last."""
    return case[0].record["name"] == "tensordot" or "'NC" in case[1]


def same(mine, theirs, case):
    if other_kernels(case):
        np.testing.assert_allclose(mine.numpy(), theirs.numpy(), rtol=1e-5, atol=1e-6)
    else:
        same_bits(mine, theirs)


@pytest.mark.parametrize("known", ["sizes", "rank", "nothing"])
@pytest.mark.parametrize("case", CASES, ids=case_id)
def test_traced_gives_what_eager_gives(case, known):
    call = samples.call(*case)
    arrays = call.arrays()
    f = traced(lambda *t: call.run(dict(enumerate(t))), arrays, known)
    if known != "sizes" and case[0].record["name"] in NEEDS_SIZES:
        with pytest.raises(tf.errors.InvalidArgumentError, match="`num` is needed"):
            f(*map(tf.constant, arrays))
        return
    if known == "nothing" and needs_rank(case):
        with pytest.raises(tf.errors.InvalidArgumentError, match="the number of axes of .* is not"):
            f(*map(tf.constant, arrays))
        return
    if known == "nothing" and is_batch_for_one(case, arrays):
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"expected shape \[\?,\?,\?\]"):
            f(*map(tf.constant, arrays))
        return
    got, wanted = tensors_of(f(*map(tf.constant, arrays))), tensors_of(call.run())
    assert len(got) == len(wanted)
    for mine, theirs in zip(got, wanted, strict=True):
        if is_random(case[0]):
            assert (mine.dtype, mine.shape) == (theirs.dtype, theirs.shape)
        else:
            same(mine, theirs, case)


def differentiable():
    for function, sample in CASES:
        if "uniform(" in sample or "positive(" in sample:
            yield pytest.param((function, sample), id=case_id((function, sample)))


class Slopes:
    """The gradients of a sample's floats, taken around `body`."""

    def __init__(self, call):
        self.call = call
        self.floats = [i for i, a in enumerate(call.arrays()) if a.dtype.kind == "f"]

    def run(self, *tensors):
        return self.call.run(dict(enumerate(tensors)))

    def around(self, body, *tensors):
        with tf.GradientTape() as tape:
            sources = [tensors[i] for i in self.floats]
            tape.watch(sources)
            results = [y for y in tensors_of(body(*tensors)) if y.dtype.is_floating]
        if not results:
            return []
        zero = tf.UnconnectedGradients.ZERO
        found = tape.gradient(results, sources, unconnected_gradients=zero)
        return [tf.convert_to_tensor(g) for g in found]


@pytest.mark.parametrize("known", ["sizes", "rank", "nothing"])
@pytest.mark.parametrize("case", list(differentiable()))
def test_gradients_inside_and_around_are_those_of_eager_code(case, known):
    call = samples.call(*case)
    slopes, arrays = Slopes(call), call.arrays()
    if not slopes.floats or is_random(case[0]):
        pytest.skip("nothing to compare")
    if known != "sizes" and case[0].record["name"] in NEEDS_SIZES:
        pytest.skip("needs sizes")
    if known == "nothing" and (needs_rank(case) or is_batch_for_one(case, arrays)):
        pytest.skip("needs a rank")
    inputs = [tf.constant(a) for a in arrays]
    try:
        wanted = slopes.around(slopes.run, *inputs)
    except tf.errors.UnimplementedError as refused:
        pytest.skip(f"has no gradient: {refused.message}")
    inside = traced(lambda *t: slopes.around(slopes.run, *t), arrays, known)
    around = traced(slopes.run, arrays, known)
    for found in (inside(*inputs), slopes.around(around, *inputs)):
        assert len(found) == len(wanted)
        for mine, theirs in zip(found, wanted, strict=True):
            # Around a function what nothing arrives for is added as zeros: -0 may become 0.
            if other_kernels(case):
                np.testing.assert_allclose(mine.numpy(), theirs.numpy(), rtol=1e-5, atol=1e-6)
            else:
                np.testing.assert_array_equal(mine.numpy(), theirs.numpy())


# Numbers among the arguments, as tensors of the graph.

# What decides which ops the graph has, and so must be known when it is written.
BY_NATURE = {
    "ksize", "strides", "stride", "dilations", "window_shape",  # attributes of the window ops
    "axis", "axes",         # of `squeeze`, and of what squeezes its result
    "num_or_size_splits",   # how many results there are
    "output_shape",         # of conv1d_transpose, which inserts an axis
}  # fmt: skip
KINDS = {"tensor", "tensor?", "sizes", "axes"}


def with_numbers(call):
    """The call with its numbers as generated arrays, which become tensors; and their names."""
    kinds = {p["name"]: p["kind"] for p in call.record["params"]}
    names = []

    def convert(name, value):
        plain = isinstance(value, (int, float, list)) and not isinstance(value, bool)
        if kinds.get(name) not in KINDS or not plain or value == []:
            return value
        names.append(name)
        return samples._made(np.asarray(tf.convert_to_tensor(value).numpy()))

    args = [convert(name, value) for name, value in zip(kinds, call.args, strict=False)]
    kwargs = {key: convert(key, value) for key, value in call.kwargs.items()}
    return dataclasses.replace(call, args=args, kwargs=kwargs), names


def numbered():
    for case in CASES:
        if with_numbers(samples.call(*case))[1]:
            yield pytest.param(case, id=case_id(case))


@pytest.mark.parametrize("known", ["sizes", "rank"])
@pytest.mark.parametrize("case", list(numbered()))
def test_numbers_may_be_tensors_or_are_asked_for_by_name(case, known):
    call, names = with_numbers(samples.call(*case))
    arrays = call.arrays()
    f = traced(lambda *t: call.run(dict(enumerate(t))), arrays, known)
    wanted = tensors_of(call.run())
    try:
        got = tensors_of(f(*map(tf.constant, arrays)))
    except tf.errors.UnimplementedError as refused:
        assert refused.code == "E1105"
        said = str(refused)
        named = [n for n in [*names, "axis"] if f"`{n}` must be known while tracing" in said]
        assert named and BY_NATURE.issuperset(named)
        return
    except tf.errors.InvalidArgumentError as refused:
        assert case[0].record["name"] in NEEDS_SIZES and "`num` is needed" in str(refused)
        return
    if not is_random(case[0]):
        for mine, theirs in zip(got, wanted, strict=True):
            same(mine, theirs, case)
