"""How values of replicas become one."""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable
from contextlib import nullcontext
from typing import Any, NoReturn

from .._devices.device import device
from .._tensors import registry
from .._tensors.indexed_slices import IndexedSlices
from .._tensors.tensor import convert_to_tensor
from .._variables.spec import VariableAggregation
from ..errors import fail, unsupported
from .values import DistributedValues

__all__ = [
    "CrossDeviceOps",
    "HierarchicalCopyAllReduce",
    "NcclAllReduce",
    "ReduceOp",
    "ReductionToOneDevice",
    "along",
    "as_reduce_op",
    "as_tensor",
    "copied",
    "joined",
    "need_axis",
]


class ReduceOp(enum.Enum):
    """The sum of the replicas' values, or their mean."""

    SUM = "SUM"
    MEAN = "MEAN"

    @staticmethod
    def from_variable_aggregation(aggregation: VariableAggregation) -> ReduceOp:
        """The reduction that an aggregation of variables means."""
        if aggregation is VariableAggregation.SUM:
            return ReduceOp.SUM
        if aggregation is VariableAggregation.MEAN:
            return ReduceOp.MEAN
        return fail(
            "E1104", f"`aggregation` is {aggregation}, expected VariableAggregation.SUM or MEAN"
        )


def as_reduce_op(given: Any, of: str) -> ReduceOp:
    """A `ReduceOp`, or its name in any case."""
    if isinstance(given, ReduceOp):
        return given
    if isinstance(given, str) and given.upper() in ReduceOp.__members__:
        return ReduceOp[given.upper()]
    return fail(
        "E1104",
        f"`{of}`: `reduce_op` is {given!r}, expected tf.distribute.ReduceOp.SUM or MEAN",
        'the names "SUM" and "MEAN" will do as well',
    )


def need_axis(axis: Any, of: str) -> None:
    """Refuses what is no axis, nor a list of them."""
    each = axis if isinstance(axis, (list, tuple)) else [axis]
    if not all(hasattr(one, "__index__") and not isinstance(one, bool) for one in each):
        fail("E1104", f"`{of}`: `axis` is {axis!r}, expected an integer")


def as_tensor(value: Any) -> Any:
    """A value of a replica as a tensor; sparse rows stay what they are."""
    return value if isinstance(value, IndexedSlices) else convert_to_tensor(value)


def along(reduce_op: ReduceOp, value: Any, axis: Any) -> Any:
    """The sum or the mean along axes of one replica's value."""
    tensor = convert_to_tensor(value)
    total = registry.function("reduce_sum")(tensor, axis)
    if reduce_op is ReduceOp.SUM:
        return total
    # A mean of integers is no integer, as in TensorFlow, whose `tf.reduce_mean` rounds.
    return total / registry.function("cast")(_count(tensor, axis), total.dtype)


def copied(values: Iterable[Any]) -> list[Any]:
    """Values of replicas as tensors of the device in force."""
    return [registry.function("identity")(as_tensor(value)) for value in values]


def joined(how: ReduceOp, values: list[Any], axis: Any, distributed: bool) -> Any:
    """The sum or mean over several replicas, and with an `axis` over that axis of their values."""
    count: Any = len(values)
    if axis is None and not distributed:
        if how is ReduceOp.SUM:
            fail(
                "E1104",
                "`reduce` got one value for all replicas, expected what `run` gave for each",
                "the sum over the replicas of one value depends on how many there are",
                fix="reduce what `run` returns, or ask for the `MEAN`",
            )
        return values[0]
    if axis is not None:
        count = sum(_count(value, axis) for value in values)
        values = [along(ReduceOp.SUM, value, axis) for value in values]
    total = registry.function("add_n")(values)
    if how is ReduceOp.SUM:
        return total
    return total / (registry.function("cast")(count, total.dtype))


def _count(value: Any, axis: Any) -> Any:
    """How many elements are joined along axes."""
    axes = list(axis) if isinstance(axis, (list, tuple)) else [axis]
    sizes = registry.function("gather")(registry.function("shape")(value), axes)
    return registry.function("reduce_prod")(sizes)


class CrossDeviceOps:
    """How devices exchange values. All kinds copy them to one device and reduce them there.

    What they give is one tensor, which ops on any of the `destinations` can use.
    """

    reduce_to_device: Any = None  # None: wherever an op runs

    def reduce(
        self, reduce_op: Any, per_replica_value: Any, destinations: Any, options: Any = None
    ) -> Any:
        """The sum or mean of the values of the replicas."""
        how = as_reduce_op(reduce_op, "CrossDeviceOps.reduce")
        value = per_replica_value
        values = value.values if isinstance(value, DistributedValues) else (value,)
        if len(values) == 1:
            return as_tensor(values[0])
        place = self.reduce_to_device
        if place is None and isinstance(destinations, str):
            place = destinations
        with nullcontext() if place is None else device(place):
            return joined(how, copied(values), None, True)

    def batch_reduce(
        self, reduce_op: Any, value_destination_pairs: Any, options: Any = None
    ) -> list[Any]:
        """The same for several values."""
        pairs = value_destination_pairs
        return [self.reduce(reduce_op, value, place, options) for value, place in pairs]

    def broadcast(self, tensor: Any, destinations: Any) -> Any:
        """The tensor: an op on another device copies what it needs."""
        return as_tensor(tensor)


class ReductionToOneDevice(CrossDeviceOps):
    """Copies the values to one device, and reduces them there."""

    def __init__(
        self, reduce_to_device: Any = None, accumulation_fn: Callable[[Any], Any] | None = None
    ) -> None:
        self.reduce_to_device = reduce_to_device
        self.accumulation_fn = accumulation_fn
        if accumulation_fn is not None:
            _refuse_accumulation()


def _refuse_accumulation() -> NoReturn:
    unsupported(
        "`ReductionToOneDevice` with an `accumulation_fn` is not supported",
        "the values of the replicas are added up by `tf.add_n`, in their order",
        fix="leave `accumulation_fn` out",
    )


class _Packed(CrossDeviceOps):
    def __init__(self, num_packs: int = 1) -> None:
        if not isinstance(num_packs, int) or num_packs < 0:
            fail("E1104", f"`num_packs` is {num_packs!r}, expected 0 or a larger integer")
        self._num_packs = num_packs


class NcclAllReduce(_Packed):
    """NVIDIA's library for GPUs."""


class HierarchicalCopyAllReduce(_Packed):
    """Copies along the links between the GPUs of a machine."""
