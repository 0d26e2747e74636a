"""`tf.keras.mixed_precision`: in which dtypes layers compute and keep their weights."""

from __future__ import annotations

from typing import Any, NoReturn

from .. import _holdfast
from .._tensors.dtypes import DType, as_dtype
from ..errors import fail, unsupported
from . import optimizers
from .configs import made_by_python

__all__ = [
    "DTypePolicy",
    "LossScaleOptimizer",
    "Policy",
    "dtype_policy",
    "global_policy",
    "set_dtype_policy",
    "set_global_policy",
]

LossScaleOptimizer: Any = vars(optimizers)["LossScaleOptimizer"]

_MIXED = {"mixed_bfloat16": "bfloat16", "mixed_float16": "float16"}


def _is_dtype(name: str) -> bool:
    try:
        as_dtype(name)
    except TypeError:
        return False
    return True


def _refuse(name: str) -> NoReturn:
    if "_from_" in name:
        unsupported(f'the dtype policy "{name}" is not supported', "weights are not quantized")
    known = ", ".join(f'"{one}"' for one in ("float32", "bfloat16", *_MIXED))
    fail("E1203", f'the dtype policy "{name}" is not known', f"known are dtypes, and {known}")


@made_by_python
class DTypePolicy:
    """A name such as "float32" or "mixed_bfloat16", and the two dtypes that it means.

    Without a name it is the policy of layers that say none.
    """

    def __init__(self, name: Any = None) -> None:
        if name is None:
            name = _holdfast.global_policy()
        self.name: str = str(name.name if isinstance(name, (DTypePolicy, DType)) else name)
        mixed = _MIXED.get(self.name)
        if mixed is None and not _is_dtype(self.name):
            _refuse(self.name)
        self._compute = as_dtype(mixed or self.name)
        self._variable = as_dtype("float32" if mixed else self.name)

    @property
    def quantization_mode(self) -> None:
        """How weights are quantized, which they are not."""
        return

    @property
    def compute_dtype(self) -> str:
        """The name of the dtype that layers compute in."""
        return str(self._compute.name)

    @property
    def variable_dtype(self) -> str:
        """The name of the dtype of weights."""
        return str(self._variable.name)

    def get_config(self) -> dict[str, Any]:
        """What it can be made from again."""
        return {"name": self.name}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> DTypePolicy:
        """One made with what `get_config` gave."""
        return cls(**config)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DTypePolicy) and other.name == self.name

    def __hash__(self) -> int:
        return hash(self.name)

    def __repr__(self) -> str:
        return f'<DTypePolicy "{self.name}">'


Policy = FloatDTypePolicy = DTypePolicy


def dtype_policy() -> DTypePolicy:
    """The policy of layers that say none."""
    return DTypePolicy(_holdfast.global_policy())


def set_dtype_policy(policy: Any) -> None:
    """Sets the policy of layers that say none."""
    if not isinstance(policy, (str, DType, DTypePolicy)):
        fail("E1203", f"`policy` is {policy!r}, expected a policy or the name of one")
    _holdfast.set_global_policy(DTypePolicy(policy).name)


global_policy, set_global_policy = dtype_policy, set_dtype_policy
