"""`tf.distribute`: the strategies of TensorFlow, on one machine.

A program that is written for a strategy runs as it is on one device, with one replica: `scope`
places variables there, `run` calls the function once, `reduce` and `gather` give what it gave.
`MirroredStrategy` over several devices computes on each, and does not train yet; strategies over
several machines raise E1105.
"""

from __future__ import annotations

from .._graphs.server import Server
from .._names import boundary as _boundary
from .._names import namespace as _namespace
from . import cluster_resolver, coordinator, experimental
from .contexts import (
    ReplicaContext,
    experimental_set_strategy,
    get_replica_context,
    get_strategy,
    has_strategy,
    in_cross_replica_context,
)
from .elsewhere import MultiWorkerMirroredStrategy, ParameterServerStrategy, TPUStrategy
from .extended import StrategyExtended
from .inputs import (
    DistributedDataset,
    DistributedIterator,
    InputContext,
    InputOptions,
    InputReplicationMode,
)
from .reductions import (
    CrossDeviceOps,
    HierarchicalCopyAllReduce,
    NcclAllReduce,
    ReduceOp,
    ReductionToOneDevice,
)
from .strategy import RunOptions, Strategy
from .this_machine import MirroredStrategy, OneDeviceStrategy
from .values import DistributedValues

__all__ = [
    "CrossDeviceOps",
    "DistributedDataset",
    "DistributedIterator",
    "DistributedValues",
    "HierarchicalCopyAllReduce",
    "InputContext",
    "InputOptions",
    "InputReplicationMode",
    "MirroredStrategy",
    "MultiWorkerMirroredStrategy",
    "NcclAllReduce",
    "OneDeviceStrategy",
    "ParameterServerStrategy",
    "ReduceOp",
    "ReductionToOneDevice",
    "ReplicaContext",
    "RunOptions",
    "Server",
    "Strategy",
    "StrategyExtended",
    "TPUStrategy",
    "cluster_resolver",
    "coordinator",
    "experimental",
    "experimental_set_strategy",
    "get_replica_context",
    "get_strategy",
    "has_strategy",
    "in_cross_replica_context",
]

for _part in ("", ".cluster_resolver", ".coordinator", ".experimental"):
    _namespace.module("distribute" + _part)
_boundary.close("distribute")
