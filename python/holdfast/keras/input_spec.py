"""`tf.keras.InputSpec`: what a layer wants of its inputs, asked whenever it is called."""

from __future__ import annotations

from typing import Any

from .. import nest
from .._tensors.dtypes import as_dtype
from ..errors import fail

__all__ = ["HasInputSpec", "InputSpec", "check_inputs"]


class InputSpec:
    """The rank, the sizes along some axes, the dtype of an input; None leaves one open."""

    def __init__(
        self,
        dtype: Any = None,
        shape: Any = None,
        ndim: int | None = None,
        max_ndim: int | None = None,
        min_ndim: int | None = None,
        axes: dict[int, int | None] | None = None,
        allow_last_axis_squeeze: bool = False,
        name: str | None = None,
        optional: bool = False,
    ) -> None:
        self.dtype = None if dtype is None else str(as_dtype(dtype).name)
        self.shape = None if shape is None else tuple(shape)
        self.ndim = ndim if self.shape is None else len(self.shape)
        self.max_ndim, self.min_ndim = max_ndim, min_ndim
        self.name, self.optional = name, optional
        self.allow_last_axis_squeeze = allow_last_axis_squeeze
        if axes is not None and not isinstance(axes, dict):
            fail("E1104", f"`axes` of `InputSpec` is {axes!r}, expected a dict of sizes by axis")
        self.axes = {int(axis): size for axis, size in (axes or {}).items()}
        most = self.ndim if self.ndim is not None else max_ndim
        if self.axes and most is not None and max(self.axes) >= most:
            fail(
                "E1103",
                f"`axes` of `InputSpec` names axis {max(self.axes)}, and inputs have {most} axes",
            )

    def get_config(self) -> dict[str, Any]:
        """What it can be made from again."""
        return {
            "dtype": self.dtype,
            "shape": self.shape,
            "ndim": self.ndim,
            "max_ndim": self.max_ndim,
            "min_ndim": self.min_ndim,
            "axes": self.axes,
            "optional": self.optional,
        }

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> InputSpec:
        """One made with what `get_config` gave."""
        return cls(**config)

    def __repr__(self) -> str:
        names = ("dtype", "shape", "ndim", "max_ndim", "min_ndim", "axes")
        said = [f"{name}={value}" for name in names if (value := getattr(self, name))]
        return f"InputSpec({', '.join(said)})"

    def refusal(self, value: Any) -> str:
        """What of a tensor does not fit; empty if it does."""
        shape = value.shape.as_list() if value.shape.rank is not None else None
        if self.dtype is not None and value.dtype.name != self.dtype:
            return f"expected dtype {self.dtype}, got {value.dtype.name}"
        if shape is None:
            return ""
        rank, expected = len(shape), None
        if self.ndim is not None and not self.allow_last_axis_squeeze and rank != self.ndim:
            expected = f"{self.ndim} axes"
        elif self.max_ndim is not None and rank > self.max_ndim:
            expected = f"at most {self.max_ndim} axes"
        elif self.min_ndim is not None and rank < self.min_ndim:
            expected = f"at least {self.min_ndim} axes"
        else:
            for axis, size in self.axes.items():
                has = shape[axis] if -rank <= axis < rank else None
                if size is not None and has not in (size, None):
                    expected = f"size {size} along axis {axis}"
        if expected is None and self.shape is not None and not self._fits(shape):
            expected = f"shape {self.shape}"
        return "" if expected is None else f"expected {expected}, got shape {tuple(shape)}"

    def _fits(self, shape: list[int | None]) -> bool:
        wanted = list(self.shape or ())
        if self.allow_last_axis_squeeze:
            shape, wanted = (s[:-1] if s and s[-1] == 1 else s for s in (shape, wanted))
        return len(wanted) == len(shape) and all(
            None in (a, b) or a == b for a, b in zip(wanted, shape, strict=True)
        )


class HasInputSpec:
    """What a layer says of its inputs."""

    _own_spec: dict[str, Any] | None

    @property
    def input_spec(self) -> Any:
        """What its inputs must be like: an `InputSpec`, or several; None: it takes any.

        It is what the program has set, or else what the class says, more once it is built.
        """
        if "input_spec" in vars(self):
            return vars(self)["input_spec"]
        said = self._own_spec
        return None if said is None else InputSpec(**said)

    @input_spec.setter
    def input_spec(self, value: Any) -> None:
        self.__dict__["input_spec"] = value


def check_inputs(layer: Any, specs: Any, inputs: Any) -> None:
    """Refuses inputs that are not what a layer says it wants."""
    wanted = [spec for spec in nest.flatten(specs) if spec is None or isinstance(spec, InputSpec)]
    if isinstance(inputs, dict) and all(spec is not None and spec.name for spec in wanted):
        given = [inputs.get(spec.name) for spec in wanted if spec is not None]
    else:
        given = nest.flatten(inputs)
    who = f"layer `{layer.name}` ({type(layer).__name__})"
    if len(given) != len(wanted):
        fail("E1104", f"{who} got {len(given)} inputs, expected {len(wanted)}")
    for number, (spec, value) in enumerate(zip(wanted, given, strict=True)):
        if spec is None or (value is None and spec.optional):
            continue
        what = f"input `{spec.name}`" if spec.name else f"input {number}"
        if not hasattr(value, "shape"):
            fail("E1104", f"{who}: {what} is of type {type(value).__name__}, expected a tensor")
        refusal = spec.refusal(value)
        if refusal:
            code = "E1101" if "dtype" in refusal else "E1102"
            fail(code, f"{who}: {what} does not fit: {refusal}", "the layer's `input_spec` says so")
