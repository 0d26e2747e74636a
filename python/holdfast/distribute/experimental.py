"""`tf.distribute.experimental`."""

from __future__ import annotations

import enum
from typing import Any

from ..errors import fail
from .elsewhere import MultiWorkerMirroredStrategy, ParameterServerStrategy, TPUStrategy
from .strategy import TensorsStrategy, ValueContext
from .this_machine import chosen_device

__all__ = [
    "CentralStorageStrategy",
    "CollectiveCommunication",
    "CommunicationImplementation",
    "CommunicationOptions",
    "MultiWorkerMirroredStrategy",
    "ParameterServerStrategy",
    "TPUStrategy",
    "ValueContext",
]


class CommunicationImplementation(enum.Enum):
    """How devices of a cluster exchange values."""

    AUTO = "AUTO"
    RING = "RING"
    NCCL = "NCCL"


CollectiveCommunication = CommunicationImplementation


class CommunicationOptions:
    """Wishes for the exchange of values between devices, of which there is one."""

    def __init__(
        self,
        bytes_per_pack: int = 0,
        timeout_seconds: float | None = None,
        implementation: CommunicationImplementation = CommunicationImplementation.AUTO,
    ) -> None:
        if bytes_per_pack < 0:
            fail("E1104", f"`bytes_per_pack` is {bytes_per_pack}, expected 0 or more")
        if isinstance(implementation, str):
            implementation = _named(implementation)
        if not isinstance(implementation, CommunicationImplementation):
            given = type(implementation).__name__
            fail("E1104", f"`implementation` is {given}, expected a CommunicationImplementation")
        self.bytes_per_pack, self.timeout_seconds = bytes_per_pack, timeout_seconds
        self.implementation = implementation


def _named(name: str) -> CommunicationImplementation:
    if name.upper() not in CommunicationImplementation.__members__:
        known = ", ".join(f'"{each}"' for each in CommunicationImplementation.__members__)
        fail("E1104", f"`implementation` is {name!r}, expected one of {known}")
    return CommunicationImplementation[name.upper()]


class CentralStorageStrategy(TensorsStrategy):
    """Variables on one device, and replicas on others. Here it takes one device for both."""

    def __init__(self, compute_devices: Any = None, parameter_device: Any = None) -> None:
        super().__init__()
        of = "CentralStorageStrategy"
        compute = chosen_device(compute_devices, of)
        if parameter_device is not None:
            place = chosen_device([parameter_device], of)
            if place != compute:
                chosen_device([f"/{compute[0]}:{compute[1]}", parameter_device], of)
        self._set_devices((compute,))
