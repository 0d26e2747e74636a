"""The strategies over devices of this machine."""

from __future__ import annotations

from typing import Any

from .._devices.device import device
from .._devices.listing import list_logical_devices
from ..errors import fail, unsupported
from .reductions import CrossDeviceOps
from .strategy import Strategy, TensorsStrategy

__all__ = ["MirroredStrategy", "OneDeviceStrategy", "chosen_device"]

_WORKS = "a strategy over one device works, and runs the same program with one replica"


def _placed(name: Any, of: str) -> tuple[str, int]:
    """The device that a name means; another one, with a warning, where soft placement gives it."""
    if isinstance(name, (list, tuple, set)):
        fail(
            "E1104",
            f"`{of}` got a {type(name).__name__}, expected the name of one device",
            fix=f'give the name itself: `{of}("/CPU:0")`',
        )
    kind, index = device(name).place()
    if kind is None:
        fail("E1103", f"{name!r} names no device", fix='name one: `"/CPU:0"`')
    return kind, index


def chosen_devices(devices: Any, of: str) -> tuple[tuple[str, int], ...]:
    """The devices of a list; of no list, the first GPU, or else the CPU."""
    if isinstance(devices, str):
        fail(
            "E1104",
            f"`{of}`: `devices` is the string {devices!r}, expected a list of names",
            fix=f'give a list: `{of}(["{devices}"])`',
        )
    try:
        names = [] if devices is None else list(devices)
    except TypeError:
        fail("E1104", f"`{of}`: `devices` is {type(devices).__name__}, expected a list of names")
    if not names:
        names = [each.name for each in list_logical_devices("GPU")] or ["/CPU:0"]
        if len(names) > 1:
            unsupported(
                f"`{of}` would take all {len(names)} GPUs of this machine, which is not supported",
                _WORKS,
                fix=f'name one of them: `{of}(["/GPU:0"])`',
            )
    words = [str(getattr(name, "name", name)) for name in names]
    ends = [word.lower().rpartition("/")[2].removeprefix("device:") for word in words]
    if len(set(ends)) < len(ends):
        twice = next(word for word, end in zip(words, ends, strict=True) if ends.count(end) > 1)
        fail(
            "E1104",
            f"`{of}`: `devices` names {twice} twice",
            "each replica has a device of its own",
            fix="name each device once",
        )
    return tuple(_placed(name, of) for name in names)


def chosen_device(devices: Any, of: str) -> tuple[str, int]:
    """The one device of a list; of no list, the first GPU, or else the CPU."""
    found = chosen_devices(devices, of)
    if len(found) > 1:
        shown = " and ".join(str(getattr(name, "name", name)) for name in devices)
        unsupported(
            f"`{of}` over {len(found)} devices is not supported: {shown}",
            _WORKS,
            fix=f'name one of them, or none for the first GPU or the CPU: `{of}(["/CPU:0"])`',
        )
    return found[0]


class MirroredStrategy(TensorsStrategy):
    """Replicas on the devices of one machine that keep equal copies of all variables.

    It takes the devices that `devices` names, else the first GPU, else the CPU. Over several, what
    `run` runs may not change the variables of the strategy, and models can't be trained.
    """

    _mirrors = True

    def __init__(self, devices: Any = None, cross_device_ops: CrossDeviceOps | None = None) -> None:
        super().__init__()
        if cross_device_ops is not None and not isinstance(cross_device_ops, CrossDeviceOps):
            given = type(cross_device_ops).__name__
            fail(
                "E1104",
                f"`cross_device_ops` is {given}, expected a tf.distribute.CrossDeviceOps",
                fix="give an object such as `tf.distribute.ReductionToOneDevice()`, or nothing",
            )
        self._set_devices(chosen_devices(devices, "MirroredStrategy"))


class OneDeviceStrategy(Strategy):
    """Everything on one device, such as "/GPU:0"."""

    _keeps_copies = False

    def __init__(self, device: Any) -> None:
        super().__init__()
        self._set_devices((_placed(device, "OneDeviceStrategy"),))
