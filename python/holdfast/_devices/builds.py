"""`tf.test.is_built_with_cuda` and the like: what this build and this machine can do."""

from __future__ import annotations

from typing import Any

from .. import _holdfast
from .listing import get_device_details, list_physical_devices

__all__ = ["NAMES"]


def _gpus() -> list[int]:
    return [d["index"] for d in _holdfast.devices() if d["kind"] == "GPU"]


def is_gpu_available(cuda_only: bool = False, min_cuda_compute_capability: Any = None) -> bool:
    """Whether there is a GPU that ops can run on."""
    if min_cuda_compute_capability is None:
        return bool(_gpus())
    least = tuple(min_cuda_compute_capability)
    details = [get_device_details(device) for device in list_physical_devices("GPU")]
    return any(d.get("compute_capability", (0, 0)) >= least for d in details)


def gpu_device_name() -> str:
    """The name of the first GPU, empty if there is none."""
    found = _gpus()
    return f"/device:GPU:{found[0]}" if found else ""


def is_built_with_cuda() -> bool:
    """Whether the plugin for CUDA is there, or a GPU came with another; a driver it may lack."""
    import pathlib

    beside = pathlib.Path(_holdfast.__file__).parent.rglob("libholdfast_cuda.so")
    return bool(_gpus()) or any(beside)


def is_built_with_gpu_support() -> bool:
    """The same: CUDA is the one kind of GPU there is support for."""
    return is_built_with_cuda()


def is_built_with_rocm() -> bool:
    """False."""
    return False


def is_built_with_xla() -> bool:
    """False: graphs are compiled by passes of our own."""
    return False


NAMES: dict[str, Any] = {
    f"test.{function.__name__}": function
    for function in (
        is_gpu_available,
        gpu_device_name,
        is_built_with_cuda,
        is_built_with_gpu_support,
        is_built_with_rocm,
        is_built_with_xla,
    )
}
