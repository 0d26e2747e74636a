"""DLPack: tensors of the CPU handed to other libraries, and theirs taken in, without a copy.

A consumer that speaks DLPack 1 is told that the memory is read-only. An older one cannot be told,
and must not write to it; `copy=True` gives it memory of its own.
"""

from __future__ import annotations

from typing import Any

from .. import _holdfast
from ..errors import unsupported
from .tensor import Tensor, convert_to_tensor

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
    if dl_device is not None and tuple(dl_device) != (_CPU, 0):
        unsupported(
            f"DLPack of a tensor for the device {tuple(dl_device)} is not supported",
            "memory of the CPU is shared, which DLPack calls (1, 0)",
            fix="leave `dl_device` out, and copy it in the library that takes it",
        )
    if stream is not None:
        unsupported(
            f"DLPack with the stream {stream!r} is not supported",
            "memory of the CPU is ready when it is handed over, and has no streams",
            fix="leave `stream` out",
        )
    return _holdfast.to_dlpack(self, max_version is not None and max_version[0] >= 1, bool(copy))


def to_dlpack(tf_tensor: Any) -> Any:
    """A capsule that another library can take over, once. It shares the tensor's memory."""
    return _holdfast.to_dlpack(convert_to_tensor(tf_tensor), False, False)


def from_dlpack(dlcapsule: Any) -> Any:
    """A tensor of the memory that a capsule hands over, or an object that makes one.

    Dense memory is shared: what its owner writes there later shows in the tensor. Memory with gaps
    between its elements is copied.
    """
    make = getattr(dlcapsule, "__dlpack__", None)
    if make is None:
        return _holdfast.from_dlpack(dlcapsule)
    try:
        capsule = make(max_version=(1, 0))
    except TypeError:  # from before version 1
        capsule = make()
    return _holdfast.from_dlpack(capsule)


def attach() -> None:
    """Puts the protocol onto the Tensor type."""
    for name, method in {"__dlpack__": _dlpack, "__dlpack_device__": _device}.items():
        setattr(Tensor, name, method)


NAMES: dict[str, Any] = {
    "experimental.dlpack.to_dlpack": to_dlpack,
    "experimental.dlpack.from_dlpack": from_dlpack,
}
