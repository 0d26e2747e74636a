"""What variables of `get_variable` begin with."""

from __future__ import annotations

import math
from typing import Any

from .._tensors import registry
from .._tensors.dtypes import as_dtype, float32
from ..errors import fail
from .functions import v1_constant

__all__ = ["NAMES", "GlorotUniform", "Zeros"]


class _Initializer:
    """Makes a tensor of a shape. Its `dtype` is that of calls that name none."""

    dtype: Any = float32

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Any:
        """A tensor of `shape`; `partition_info` says of what whole it is a part, if it is one."""
        found = as_dtype(dtype if dtype is not None else self.dtype)
        if partition_info is None:
            return self._make(list(shape), found)
        whole, offset = list(partition_info.full_shape), list(partition_info.var_offset)
        return self._make_part(list(shape), found, whole, offset)

    def _make(self, shape: list[int], dtype: Any) -> Any:
        raise NotImplementedError

    def _make_part(self, shape: list[int], dtype: Any, whole: list[int], offset: list[int]) -> Any:
        """A part that begins at `offset` of `whole`; as a whole, where neither matters."""
        return self._make(shape, dtype)

    def get_config(self) -> dict[str, Any]:
        """The arguments it was made with."""
        return {k.removeprefix("_"): v for k, v in vars(self).items()}


class Zeros(_Initializer):
    """Zeros."""

    def __init__(self, dtype: Any = float32) -> None:
        self.dtype = dtype

    def _make(self, shape: list[int], dtype: Any) -> Any:
        return registry.function("zeros")(shape, dtype)


class Ones(Zeros):
    """Ones."""

    def _make(self, shape: list[int], dtype: Any) -> Any:
        return registry.function("ones")(shape, dtype)


class Constant(_Initializer):
    """A value, repeated to the shape."""

    def __init__(self, value: Any = 0, dtype: Any = float32, verify_shape: bool = False) -> None:
        self._value, self._verify_shape, self.dtype = value, verify_shape, dtype

    def _make(self, shape: list[int], dtype: Any) -> Any:
        return v1_constant(self._value, dtype, shape, verify_shape=self._verify_shape)


def _floating(dtype: Any) -> Any:
    """A dtype that random numbers of these kinds can have."""
    found = as_dtype(dtype)
    if not found.is_floating:
        fail("E1101", f"an initializer got `dtype` {found.name}, expected a floating dtype")
    return found


class RandomNormal(_Initializer):
    """Numbers of a normal distribution."""

    _function = "random.normal"

    def __init__(
        self, mean: float = 0.0, stddev: float = 1.0, seed: Any = None, dtype: Any = float32
    ) -> None:
        self._mean, self._stddev, self._seed = mean, stddev, seed
        self.dtype = _floating(dtype)

    def _make(self, shape: list[int], dtype: Any) -> Any:
        draw = registry.function(self._function)
        return draw(shape, mean=self._mean, stddev=self._stddev, dtype=dtype, seed=self._seed)


class TruncatedNormal(RandomNormal):
    """The same, without what is more than two deviations away."""

    _function = "random.truncated_normal"


class RandomUniform(_Initializer):
    """Numbers of a uniform distribution."""

    def __init__(
        self,
        minval: float = 0.0,
        maxval: float | None = None,
        seed: Any = None,
        dtype: Any = float32,
    ) -> None:
        self._minval, self._maxval, self._seed, self.dtype = minval, maxval, seed, dtype

    def _make(self, shape: list[int], dtype: Any) -> Any:
        high = 1.0 if self._maxval is None else self._maxval
        draw = registry.function("random.uniform")
        return draw(shape, minval=self._minval, maxval=high, dtype=dtype, seed=self._seed)


def _fans(shape: list[int]) -> tuple[float, float]:
    """How many values go into and out of each unit."""
    if not shape:
        return 1.0, 1.0
    if len(shape) == 1:
        return float(shape[0]), float(shape[0])
    field = math.prod(shape[:-2])
    return float(shape[-2] * field), float(shape[-1] * field)


class VarianceScaling(_Initializer):
    """Random numbers whose spread keeps the scale of what passes through."""

    def __init__(
        self,
        scale: float = 1.0,
        mode: str = "fan_in",
        distribution: str = "truncated_normal",
        seed: Any = None,
        dtype: Any = float32,
    ) -> None:
        if scale <= 0.0:
            fail("E1103", f"`scale` is {scale}, expected more than 0")
        modes = ("fan_in", "fan_out", "fan_avg")
        if mode not in modes:
            fail("E1103", f"`mode` is {mode!r}", f"there are {', '.join(modes)}")
        kinds = ("normal", "uniform", "truncated_normal", "untruncated_normal")
        if distribution.lower() not in kinds:
            fail("E1103", f"`distribution` is {distribution!r}", f"there are {', '.join(kinds)}")
        self._scale, self._mode, self._seed, self.dtype = scale, mode, seed, _floating(dtype)
        self._distribution = distribution.lower()

    def _make(self, shape: list[int], dtype: Any) -> Any:
        return self._make_part(shape, dtype, shape, [])

    def _make_part(self, shape: list[int], dtype: Any, whole: list[int], offset: list[int]) -> Any:
        fan_in, fan_out = _fans(whole)
        fan = {"fan_in": fan_in, "fan_out": fan_out, "fan_avg": (fan_in + fan_out) / 2}[self._mode]
        scale = self._scale / max(1.0, fan)
        if self._distribution == "uniform":
            limit = math.sqrt(3.0 * scale)
            return RandomUniform(-limit, limit, self._seed)(shape, dtype)
        if self._distribution == "untruncated_normal":
            return RandomNormal(0.0, math.sqrt(scale), self._seed)(shape, dtype)
        spread = math.sqrt(scale) / 0.87962566103423978  # cutting at two deviations takes some away
        return TruncatedNormal(0.0, spread, self._seed)(shape, dtype)


class GlorotUniform(VarianceScaling):
    """Uniform, by the mean of what goes in and out."""

    def __init__(self, seed: Any = None, dtype: Any = float32) -> None:
        super().__init__(1.0, "fan_avg", "uniform", seed, dtype)


class GlorotNormal(VarianceScaling):
    """Normal, by the mean of what goes in and out."""

    def __init__(self, seed: Any = None, dtype: Any = float32) -> None:
        super().__init__(1.0, "fan_avg", "truncated_normal", seed, dtype)


class UniformUnitScaling(_Initializer):
    """Uniform, by what goes in."""

    def __init__(self, factor: float = 1.0, seed: Any = None, dtype: Any = float32) -> None:
        self._factor, self._seed, self.dtype = factor, seed, _floating(dtype)

    def _make(self, shape: list[int], dtype: Any) -> Any:
        return self._make_part(shape, dtype, shape, [])

    def _make_part(self, shape: list[int], dtype: Any, whole: list[int], offset: list[int]) -> Any:
        limit = math.sqrt(3.0 / max(1, math.prod(whole[:-1]))) * self._factor
        return RandomUniform(-limit, limit, self._seed)(shape, dtype)


class Orthogonal(_Initializer):
    """A matrix whose rows, or columns where they are fewer, are orthogonal and of length `gain`."""

    def __init__(self, gain: float = 1.0, seed: Any = None, dtype: Any = float32) -> None:
        self._gain, self._seed, self.dtype = gain, seed, _floating(dtype)

    def _make(self, shape: list[int], dtype: Any) -> Any:
        if len(shape) < 2:
            fail(
                "E1102",
                f"the orthogonal initializer got the shape {shape}, expected rank 2 or more",
            )
        rows, columns = math.prod(shape[:-1]), shape[-1]
        sizes = [max(rows, columns), min(rows, columns)]
        drawn = registry.function("random.normal")(sizes, dtype=dtype, seed=self._seed)
        q, r = registry.function("linalg.qr")(drawn)
        q = q * registry.function("sign")(registry.function("linalg.diag_part")(r))
        if rows < columns:
            q = registry.function("transpose")(q)
        return registry.function("reshape")(q, shape) * self._gain


class Identity(_Initializer):
    """`gain` on the diagonal of a matrix, zeros beside it."""

    def __init__(self, gain: float = 1.0, dtype: Any = float32) -> None:
        self._gain, self.dtype = gain, _floating(dtype)

    def _make(self, shape: list[int], dtype: Any) -> Any:
        if len(shape) != 2:
            fail("E1102", f"the identity initializer got the shape {shape}, expected a matrix")
        return registry.function("eye")(*shape, dtype=dtype) * self._gain

    def _make_part(self, shape: list[int], dtype: Any, whole: list[int], offset: list[int]) -> Any:
        return registry.function("slice")(self._make(whole, dtype), offset, shape)


_KINDS: dict[str, type[_Initializer]] = {
    "zeros": Zeros,
    "ones": Ones,
    "constant": Constant,
    "random_normal": RandomNormal,
    "truncated_normal": TruncatedNormal,
    "random_uniform": RandomUniform,
    "variance_scaling": VarianceScaling,
    "glorot_uniform": GlorotUniform,
    "glorot_normal": GlorotNormal,
    "uniform_unit_scaling": UniformUnitScaling,
    "orthogonal": Orthogonal,
}
NAMES: dict[str, Any] = {
    **{f"compat.v1.{name}_initializer": kind for name, kind in _KINDS.items()},
    **{f"compat.v1.initializers.{name}": kind for name, kind in _KINDS.items()},
    "compat.v1.initializers.identity": Identity,
}
