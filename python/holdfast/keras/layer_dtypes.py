"""In which dtypes a layer keeps its weights and computes."""

from __future__ import annotations

from typing import Any

from .._tensors.dtypes import DType, as_dtype
from ..errors import fail

__all__ = ["HasDTypes", "policy_name"]


class HasDTypes:
    """What a layer says of its dtypes; C++ keeps them."""

    name: str
    _layer_dtype: DType
    _compute_dtype: DType
    _policy_name: str

    @property
    def dtype(self) -> DType:
        """The dtype of its weights."""
        dtype: DType = self._layer_dtype
        return dtype

    variable_dtype = dtype

    @property
    def autocast(self) -> bool:
        """Whether its inputs and weights come in the dtype that it computes in."""
        return bool(getattr(self, "_autocast", True))

    @property
    def compute_dtype(self) -> DType:
        """The dtype that it computes in."""
        dtype: DType = self._compute_dtype
        return dtype

    @property
    def dtype_policy(self) -> Any:
        """Both. One that is set afterwards is for calls, and for weights that are made later."""
        from .mixed_precision import DTypePolicy

        return DTypePolicy(self._policy_name)

    @dtype_policy.setter
    def dtype_policy(self, value: Any) -> None:
        self._policy_name = policy_name(value, self.name)


def policy_name(dtype: Any, layer: str | None = None) -> str:
    """The name of a policy, of a dtype, or itself; of a map: of the policy for a layer's name."""
    if isinstance(dtype, dict) and "policy_map" in dtype.get("config", ()):
        from .dtype_policies import deserialize

        dtype = deserialize(dtype)
    if hasattr(dtype, "default_policy"):
        dtype = dtype[layer] if layer else dtype.default_policy
    if isinstance(dtype, dict):
        dtype = dtype["config"]["name"]
    if isinstance(dtype, str) and dtype.startswith("mixed_"):
        return dtype
    if isinstance(dtype, str) and dtype == "int":  # as Keras on TensorFlow has it
        return "int64"
    if hasattr(dtype, "compute_dtype") and hasattr(dtype, "name"):
        return str(dtype.name)
    try:
        return str(as_dtype(dtype).name)
    except TypeError:
        fail(
            "E1203",
            f"a dtype policy: {dtype!r} is not known",
            'known are the names of dtypes, "mixed_float16" and "mixed_bfloat16"',
        )
