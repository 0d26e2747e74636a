"""`tf.distribute.cluster_resolver`: who is in a cluster. There is none, and each class says so."""

from __future__ import annotations

from typing import Any

from ..errors import fail
from .elsewhere import refuse

__all__ = [
    "ClusterResolver",
    "GCEClusterResolver",
    "KubernetesClusterResolver",
    "SimpleClusterResolver",
    "SlurmClusterResolver",
    "TFConfigClusterResolver",
    "TPUClusterResolver",
    "UnionResolver",
]


class ClusterResolver:
    """Finds the machines of a cluster; it can't be made here."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        refuse(
            f"cluster_resolver.{type(self).__name__}", "it finds the processes of a cluster for one"
        )


class SimpleClusterResolver(ClusterResolver):
    """A cluster that the program lists."""


class TFConfigClusterResolver(ClusterResolver):
    """A cluster that `TF_CONFIG` lists."""


class SlurmClusterResolver(ClusterResolver):
    """A cluster that Slurm has started."""


class KubernetesClusterResolver(ClusterResolver):
    """A cluster of pods."""


class GCEClusterResolver(ClusterResolver):
    """A cluster of virtual machines."""


class UnionResolver(ClusterResolver):
    """Several clusters as one."""


class TPUClusterResolver(ClusterResolver):
    """Finds TPUs, of which there are none.

    Programs that run on whatever there is catch the ValueError that TensorFlow raises then.
    """

    def __init__(self, tpu: Any = None, *args: Any, **kwargs: Any) -> None:
        fail(
            "E1103",
            "there is no TPU" if tpu is None else f"there is no TPU {tpu!r}",
            "Holdfast runs on CPUs and NVIDIA GPUs.",
            fix="use `tf.distribute.MirroredStrategy()`, or `tf.distribute.get_strategy()`",
        )

    @staticmethod
    def connect(tpu: Any = None, *args: Any, **kwargs: Any) -> TPUClusterResolver:
        """Finds TPUs and makes them ready; there are none."""
        return TPUClusterResolver(tpu)
