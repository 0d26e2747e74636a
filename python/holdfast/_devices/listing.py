"""The devices of the machine, and those among them that this process may use."""

from __future__ import annotations

from typing import Any, NamedTuple

from .. import _holdfast
from ..errors import fail

__all__ = ["LogicalDevice", "PhysicalDevice", "list_logical_devices", "list_physical_devices"]


class PhysicalDevice(NamedTuple):
    """A device of the machine."""

    name: str
    device_type: str


class LogicalDevice(NamedTuple):
    """A device that ops can be placed on."""

    name: str
    device_type: str


hidden: set[PhysicalDevice] = set()


def type_of(device_type: str | None) -> str | None:
    """A kind of device, however it is spelled."""
    return None if device_type is None else device_type.upper()


def list_physical_devices(device_type: str | None = None) -> list[PhysicalDevice]:
    """The devices of the machine: one CPU, and each GPU."""
    found = [PhysicalDevice("/physical_device:CPU:0", "CPU")]
    found += [
        PhysicalDevice(f"/physical_device:GPU:{d['index']}", "GPU")
        for d in _holdfast.devices()
        if d["kind"] == "GPU"
    ]
    return [d for d in found if device_type is None or d.device_type == type_of(device_type)]


def list_logical_devices(device_type: str | None = None) -> list[LogicalDevice]:
    """The devices that ops can be placed on."""
    no_cpu = {d.device_type for d in hidden if d.device_type == "CPU"}
    hidden_gpus = {d.name.rpartition(":")[2] for d in hidden if d.device_type == "GPU"}
    return [
        LogicalDevice(f"/device:{d['kind']}:{d['index']}", d["kind"])
        for d in _holdfast.devices()
        if device_type is None or d["kind"] == type_of(device_type)
        if d["kind"] not in no_cpu
        if not (d["kind"] == "GPU" and str(d["index"]) in hidden_gpus)
    ]


def known(device: Any) -> PhysicalDevice:
    """`device`, which has to be one of the machine's."""
    if device not in list_physical_devices():
        fail(
            "E1103",
            f"`{getattr(device, 'name', device)}` is none of this machine's devices",
            fix="take one of those that `tf.config.list_physical_devices()` gives",
        )
    found: PhysicalDevice = device
    return found


def get_device_details(device: PhysicalDevice) -> dict[str, Any]:
    """What is known of a device."""
    kind, index = known(device).device_type, int(device.name.rpartition(":")[2])
    for d in _holdfast.devices():
        if kind == "GPU" and d["kind"] == kind and d["index"] == index:
            return {"device_name": d["description"]}
    return {}
