"""DLPack: tensors of the CPU handed to other libraries, and theirs taken in, by NumPy's arrays.

A tensor is immutable. A consumer that knows of read-only memory shares it; an older one copies.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _holdfast
from ._tensor import Tensor, convert_to_tensor
from .errors import unsupported

__all__ = ["NAMES", "attach"]

_CPU, _CUDA = 1, 2


def _device(self: Any) -> tuple[int, int]:
    kind, index = self.device.rpartition("/device:")[2].split(":")
    return _CUDA if kind == "GPU" else _CPU, int(index) if kind == "GPU" else 0


def _dlpack(
    self: Any,
    *,
    stream: Any = None,
    max_version: tuple[int, int] | None = None,
    dl_device: tuple[int, int] | None = None,
    copy: bool | None = None,
) -> Any:
    if _device(self)[0] != _CPU or (dl_device is not None and dl_device[0] != _CPU):
        unsupported(
            "DLPack of a tensor on a GPU is not supported",
            "memory is shared through NumPy, which holds memory of the CPU",
            fix="copy it first: `tensor.cpu()`",
        )
    if max_version is None or max_version < (1, 0) or copy:
        array = np.asarray(self.numpy())
        return (
            array.__dlpack__() if max_version is None else array.__dlpack__(max_version=max_version)
        )
    return np.asarray(self).__dlpack__(max_version=max_version, copy=copy)


class _Capsule:
    """A capsule as the protocol wants it: an object with the methods."""

    def __init__(self, capsule: Any) -> None:
        self._capsule = capsule

    def __dlpack__(self, **_: Any) -> Any:
        return self._capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return _CPU, 0


def to_dlpack(tf_tensor: Any) -> Any:
    """A capsule that another library can take over."""
    return _dlpack(convert_to_tensor(tf_tensor))


def from_dlpack(dlcapsule: Any) -> Any:
    """A tensor with the elements of a capsule, or of an object that makes one."""
    maker = dlcapsule if hasattr(dlcapsule, "__dlpack__") else _Capsule(dlcapsule)
    return _holdfast.convert(np.from_dlpack(maker))


def attach() -> None:
    """Puts the protocol onto the Tensor type."""
    for name, method in {"__dlpack__": _dlpack, "__dlpack_device__": _device}.items():
        setattr(Tensor, name, method)


NAMES: dict[str, Any] = {
    "experimental.dlpack.to_dlpack": to_dlpack,
    "experimental.dlpack.from_dlpack": from_dlpack,
}
