"""Strategies over other machines or other kinds of devices: named, so that programs can ask."""

from __future__ import annotations

from typing import Any, NoReturn

from ..errors import unsupported
from .strategy import Strategy

__all__ = [
    "MultiWorkerMirroredStrategy",
    "ParameterServerStrategy",
    "TPUStrategy",
    "refuse",
]


def refuse(what: str, why: str) -> NoReturn:
    """Says that something needs more than one device, and what there is."""
    unsupported(
        f"`tf.distribute.{what}` is not supported",
        why,
        fix="use `tf.distribute.MirroredStrategy()`, which runs the program on one device, or "
        "`tf.distribute.get_strategy()`",
    )


class MultiWorkerMirroredStrategy(Strategy):
    """Replicas on several machines; it can't be made here."""

    def __init__(self, cluster_resolver: Any = None, communication_options: Any = None) -> None:
        refuse("MultiWorkerMirroredStrategy", "its workers are processes that exchange gradients")


class ParameterServerStrategy(Strategy):
    """Variables on machines of their own; it can't be made here."""

    def __init__(self, cluster_resolver: Any = None, variable_partitioner: Any = None) -> None:
        refuse("ParameterServerStrategy", "its variables are in other processes")


class TPUStrategy(Strategy):
    """Replicas on the cores of TPUs; it can't be made here."""

    def __init__(
        self,
        tpu_cluster_resolver: Any = None,
        experimental_device_assignment: Any = None,
        experimental_spmd_xla_partitioning: bool = False,
    ) -> None:
        refuse("TPUStrategy", "Holdfast runs on CPUs and NVIDIA GPUs")
