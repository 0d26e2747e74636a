"""`tf.keras.random`: numbers that depend on a seed and nothing else, and streams of seeds."""

from __future__ import annotations

import random as _python_random
from typing import Any

from .. import _holdfast
from .._graphs.init_scope import init_scope
from .._graphs.name_scope import name_scope
from .._names import boundary as _boundary
from .._names import namespace as _namespace
from .._tensors.dtypes import as_dtype
from .._tensors.registry import function
from .._variables.module import leaves
from ..errors import fail
from .config import floatx
from .configs import made_by_python
from .variable import Variable

__all__ = [
    "SeedGenerator",
    "beta",
    "binomial",
    "categorical",
    "dropout",
    "gamma",
    "normal",
    "randint",
    "shuffle",
    "truncated_normal",
    "uniform",
]


# Keras brings seeds below this before it draws on TensorFlow; so the numbers are the same.
_MODULUS = 2**31 - 2


@made_by_python
class SeedGenerator:
    """A stream of seeds: each call of `next` gives another, in traced functions too.

    Its state is a variable of two integers: the seed, and how many were given.
    """

    def __init__(self, seed: int | None = None, name: str | None = None, **kwargs: Any) -> None:
        if kwargs:
            fail("E1104", f"`SeedGenerator` has no option `{next(iter(kwargs))}`")
        if seed is None:
            seed = _python_random.randint(1, 10**9)
        if isinstance(seed, bool) or not isinstance(seed, int):
            fail("E1104", f"`seed` of `SeedGenerator` is {seed!r}, expected a whole number")
        if seed < 0:
            fail("E1103", f"`seed` of `SeedGenerator` is {seed}, expected none below 0")
        self.name = name or _holdfast.unique_layer_name("seed_generator")
        self.initial_seed = seed
        with init_scope(), name_scope(f"{self.name}/"):
            self.state = Variable(
                [seed % 2**32, 0], dtype="int64", trainable=False, name="seed_generator_state"
            )

    @classmethod
    def _of_state(cls, state: Variable) -> SeedGenerator:
        """A stream that somebody else holds."""
        made = cls.__new__(cls)
        made.name = state.path.rpartition("/")[0]
        made.initial_seed = int(state.numpy()[0])
        made.state = state
        return made

    def next(self, ordered: bool = True) -> Any:
        """The next seed."""
        return self.state.assign_add([0, 1]) - function("cast")([0, 1], "int64")

    def get_config(self) -> dict[str, Any]:
        """What it can be made from again."""
        return {"seed": self.initial_seed, "name": self.name}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> SeedGenerator:
        """One made with what `get_config` gave."""
        return cls(**config)


def _held_by(layer: Any) -> list[Variable]:
    """The states of the streams that a program has put on a layer."""
    attributes = leaves(vars(layer), by_name=False)
    return [held.state for held in attributes if isinstance(held, SeedGenerator)]


_holdfast.set_seed_finder(_held_by)
_holdfast.set_seed_class(SeedGenerator)


class _Shared:
    """The stream of draws that are given no seed."""

    generator: SeedGenerator | None = None


def begin_shared_stream_anew() -> None:
    """Draws that are given no seed come from a new stream, as the global seed says."""
    _Shared.generator = None


def _pair(seed: Any) -> Any:
    """Two integers that a draw depends on."""
    if seed is None:
        if _Shared.generator is None:
            _Shared.generator = SeedGenerator()
        seed = _Shared.generator
    if isinstance(seed, SeedGenerator):
        return function("math.floormod")(seed.next(), _MODULUS)
    if isinstance(seed, bool):
        fail("E1104", f"`seed` is {seed!r}, expected a whole number or a `SeedGenerator`")
    if isinstance(seed, int):
        return [seed % _MODULUS, 0]
    if isinstance(seed, _holdfast.Tensor) or hasattr(seed, "__len__"):
        return seed
    return fail("E1104", f"`seed` is {seed!r}, expected a whole number, two, or a `SeedGenerator`")


def _dtype(dtype: Any, op: str) -> Any:
    found = as_dtype(dtype or floatx())
    if not found.is_floating:
        fail("E1104", f"`dtype` of `{op}` is {found.name}, expected one of floats")
    return found


def _drawn_for(kind: Any) -> Any:
    """The dtype in which numbers are drawn that are rounded to bfloat16 in the end."""
    return as_dtype("float32") if kind.name == "bfloat16" else kind


def normal(
    shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = None, seed: Any = None
) -> Any:
    """Numbers of a normal distribution."""
    return function("random.stateless_normal")(
        shape, _pair(seed), mean=mean, stddev=stddev, dtype=_dtype(dtype, "normal")
    )


def truncated_normal(
    shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = None, seed: Any = None
) -> Any:
    """The same, drawn again where they are more than two deviations off."""
    return function("random.stateless_truncated_normal")(
        shape, _pair(seed), mean=mean, stddev=stddev, dtype=_dtype(dtype, "truncated_normal")
    )


def uniform(
    shape: Any, minval: Any = 0.0, maxval: Any = 1.0, dtype: Any = None, seed: Any = None
) -> Any:
    """Numbers from `minval` to below `maxval`, each as probable as the other."""
    return function("random.stateless_uniform")(
        shape, _pair(seed), minval=minval, maxval=maxval, dtype=_dtype(dtype, "uniform")
    )


def randint(shape: Any, minval: Any, maxval: Any, dtype: Any = "int32", seed: Any = None) -> Any:
    """Whole numbers from `minval` to below `maxval`."""
    from .._tensors.dtypes import as_dtype

    wanted = as_dtype(dtype)
    if not wanted.is_integer:
        fail("E1104", f"`dtype` of `randint` is {wanted.name}, expected one of integers")
    # Bounds are given in a dtype that holds all numbers of the wanted one, as far as there is one.
    drawn = "int64" if wanted.name in {"int64", "uint32", "uint64"} else "int32"
    cast = function("cast")
    found = function("random.stateless_uniform")(
        shape, _pair(seed), minval=cast(minval, drawn), maxval=cast(maxval, drawn), dtype=drawn
    )
    return found if drawn == wanted.name else cast(found, wanted)


def categorical(logits: Any, num_samples: int, dtype: Any = "int32", seed: Any = None) -> Any:
    """Classes by their unnormalized log-probabilities, for each row of `logits`."""
    wanted = as_dtype(dtype or "int32")
    drawn = wanted if wanted.name in {"int32", "int64"} else as_dtype("int32")
    found = function("random.stateless_categorical")(logits, num_samples, _pair(seed), dtype=drawn)
    return found if drawn == wanted else function("cast")(found, wanted)


def gamma(shape: Any, alpha: Any, dtype: Any = None, seed: Any = None) -> Any:
    """Numbers of a gamma distribution of the form `alpha`."""
    kind, cast = _dtype(dtype, "gamma"), function("cast")
    drawn = _drawn_for(kind)
    found = function("random.stateless_gamma")(shape, _pair(seed), cast(alpha, drawn), dtype=drawn)
    return found if drawn == kind else cast(found, kind)


def beta(shape: Any, alpha: Any, beta: Any, dtype: Any = None, seed: Any = None) -> Any:
    """Numbers of a beta distribution of the forms `alpha` and `beta`."""
    kind = _dtype(dtype, "beta")
    drawn_in = _drawn_for(kind)
    first = function("cast")(_pair(seed), "int32")
    shares = [
        function("cast")(
            function("random.stateless_gamma")(
                shape,
                pair,
                function("broadcast_to")(function("cast")(form, drawn_in), shape),
                dtype=drawn_in,
            ),
            kind,
        )
        for pair, form in ((first, alpha), (first + 12, beta))
    ]
    return shares[0] / (shares[0] + shares[1])


def binomial(
    shape: Any, counts: Any, probabilities: Any, dtype: Any = None, seed: Any = None
) -> Any:
    """How many of `counts` throws succeed."""
    kind, cast = _dtype(dtype, "binomial"), function("cast")
    drawn = _drawn_for(kind)
    found = function("random.stateless_binomial")(
        shape, _pair(seed), cast(counts, drawn), cast(probabilities, drawn), output_dtype=drawn
    )
    return found if drawn == kind else cast(found, kind)


def shuffle(x: Any, axis: int = 0, seed: Any = None) -> Any:
    """The parts along an axis in another order."""
    from .ops.shapes import moveaxis
    from .ops.values import tensor

    moved = moveaxis(tensor(x), axis, 0) if axis else tensor(x)
    out = function("random.experimental.stateless_shuffle")(moved, _pair(seed))
    return moveaxis(out, 0, axis) if axis else out


def dropout(inputs: Any, rate: float, noise_shape: Any = None, seed: Any = None) -> Any:
    """A share of values set to 0, the others scaled so that their sum stays."""
    if not 0 <= rate <= 1:
        fail("E1103", f"`rate` of `dropout` is {rate}, expected a share from 0 to 1")
    if rate == 1:
        return function("zeros_like")(inputs)
    return function("nn.experimental.stateless_dropout")(
        inputs, rate, _pair(seed), noise_shape=noise_shape
    )


_namespace.module("keras.random")
_boundary.close("keras.random")
