"""`tf.zeros_initializer` and its kin: callables that make the first value of a Variable."""

from __future__ import annotations

from typing import Any, Self

from .._tensors import registry
from .._tensors.dtypes import as_dtype, float32
from .._tensors.tensor import constant
from ..errors import fail

__all__ = ["NAMES"]


class Initializer:
    """Makes a tensor of a shape. Its arguments come back as `get_config`."""

    def __call__(
        self,
        shape: Any,
        dtype: Any = None,
        partition_shape: Any = None,
        partition_offset: Any = None,
    ) -> Any:
        """A tensor of `shape`; of float32, unless `dtype` says otherwise.

        With `partition_shape` the part of it that begins at `partition_offset`.
        """
        whole = self._make(shape, dtype)
        if partition_shape is None:
            if partition_offset is not None:
                fail("E1104", "an initializer got a `partition_offset`, and no `partition_shape`")
            return whole
        start = [0] * len(partition_shape) if partition_offset is None else partition_offset
        return registry.function("slice")(whole, start, partition_shape)

    def _make(self, shape: Any, dtype: Any) -> Any:
        raise NotImplementedError

    def get_config(self) -> dict[str, Any]:
        """The arguments it was made with."""
        return dict(vars(self))

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Self:
        """One made with these arguments."""
        given = {key: value for key, value in config.items() if key != "dtype"}
        return cls(**given)


class zeros_initializer(Initializer):
    """Zeros."""

    _function = "zeros"

    def _make(self, shape: Any, dtype: Any) -> Any:
        wanted = float32 if dtype is None else as_dtype(dtype)
        if not (wanted.is_numpy_compatible and wanted.name != "string"):
            fail("E1101", f"`{self._function}` got {wanted.name}, expected numbers or bool")
        return registry.function(self._function)(shape, wanted)


class ones_initializer(zeros_initializer):
    """Ones."""

    _function = "ones"


class constant_initializer(Initializer):
    """One value, repeated to the shape, or as many as the shape has."""

    def __init__(self, value: Any = 0) -> None:
        self.value = value

    def _make(self, shape: Any, dtype: Any) -> Any:
        return constant(self.value, None if dtype is None else as_dtype(dtype), shape)


class _Random(Initializer):
    """Numbers drawn by a generator: the same ones each time where a seed is given."""

    def _draw(self, kind: str, seed: Any, shape: Any, dtype: Any, **spread: float) -> Any:
        wanted = float32 if dtype is None else as_dtype(dtype)
        if not wanted.is_floating:
            fail("E1101", f"`{type(self).__name__}` makes floats, and was asked for {wanted.name}")
        if seed is None:
            return registry.function(f"random.{kind}")(shape, dtype=wanted, **spread)
        draw = registry.function(f"random.stateless_{kind}")
        return draw(shape, seed=[seed, 0], dtype=wanted, **spread)


class random_normal_initializer(_Random):
    """Numbers of a normal distribution."""

    def __init__(self, mean: float = 0.0, stddev: float = 0.05, seed: int | None = None) -> None:
        self.mean, self.stddev, self.seed = mean, stddev, seed

    def _make(self, shape: Any, dtype: Any) -> Any:
        return self._draw("normal", self.seed, shape, dtype, mean=self.mean, stddev=self.stddev)


class random_uniform_initializer(_Random):
    """Numbers of a uniform distribution."""

    def __init__(
        self, minval: float = -0.05, maxval: float = 0.05, seed: int | None = None
    ) -> None:
        self.minval, self.maxval, self.seed = minval, maxval, seed

    def _make(self, shape: Any, dtype: Any) -> Any:
        spread = {"minval": self.minval, "maxval": self.maxval}
        return self._draw("uniform", self.seed, shape, dtype, **spread)


NAMES: dict[str, Any] = {
    kind.__name__: kind
    for kind in (
        zeros_initializer,
        ones_initializer,
        constant_initializer,
        random_normal_initializer,
        random_uniform_initializer,
    )
}
