"""Which strategy is in force, and whether a replica is speaking."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from .. import _holdfast, nest
from .._tensors.tensor import convert_to_tensor
from .._tracing.recorder import Location, recording
from .._variables import strategies
from ..errors import fail, need_callable, unsupported
from .reductions import as_reduce_op, as_tensor, need_axis
from .values import local

__all__ = [
    "ReplicaContext",
    "default_strategy",
    "entry_in_force",
    "experimental_set_strategy",
    "get_replica_context",
    "get_strategy",
    "has_strategy",
    "in_cross_replica_context",
    "need_arguments",
    "refuse_together",
    "set_default",
]


class _Context(Location):
    """The strategy in force, as a place that a trace reads."""

    __slots__ = ()
    key = ("strategy in force",)

    def read(self) -> Any:
        """Of a strategy its scope, or its replica; the default's own where none is in force."""
        now = strategies.innermost()
        strategy = default_strategy() if now is None else now.strategy
        if now is None:
            return strategy._replicas[0]
        return strategy if now.replica is None else now.replica

    def holder(self) -> Any:
        """Itself: it belongs to no object of the program's."""
        return self

    def describe(self) -> str:
        """The place in words."""
        return "the `tf.distribute` strategy in force"


_context = _Context()
_default: Any = None


def set_default(strategy: Any) -> None:
    """Says which strategy there is where a program puts none in force."""
    global _default
    _default = strategy


def default_strategy() -> Any:
    """The strategy that there is where a program puts none in force."""
    return _default


def entry_in_force() -> strategies.Entry | None:
    """What was entered last. A trace that asks is made anew where the answer is another."""
    now = strategies.innermost()
    recorder = recording()
    if recorder is not None and (now is None or not now.traced):
        recorder.guard_identity(_context, _context.read())
    return now


def get_strategy() -> Any:
    """The strategy in force; the default one where there is none."""
    now = entry_in_force()
    return _default if now is None else now.strategy


def has_strategy() -> bool:
    """Whether a strategy other than the default one is in force."""
    return get_strategy() is not _default


def in_cross_replica_context() -> bool:
    """Whether code runs for all replicas: in a `scope`, and not in what `run` runs."""
    now = entry_in_force()
    return now is not None and now.replica is None


def get_replica_context() -> ReplicaContext | None:
    """The replica that is speaking; None in a strategy's scope, where none is."""
    now = entry_in_force()
    found: ReplicaContext | None = _default._replicas[0] if now is None else now.replica
    return found


def experimental_set_strategy(strategy: Any) -> None:
    """Puts a strategy in force for the rest of the program on this thread; None: the default."""
    now = strategies.innermost()
    if now is not None and not now.lasting:
        unsupported(
            "`experimental_set_strategy` is called inside of a strategy's scope",
            f"{now.strategy._described()} is in force until its `with` ends",
            fix="call it outside of every `with strategy.scope()`, or use `scope` alone",
        )
    if strategy is not None and not hasattr(strategy, "_replicas"):
        fail(
            "E1104",
            "`experimental_set_strategy` got "
            f"{type(strategy).__name__}, expected a tf.distribute.Strategy or None",
        )
    strategies.swapped(None if strategy is _default else strategy)


def need_arguments(
    args: Any, kwargs: Any, of: str, replica: int = 0
) -> tuple[list[Any], dict[str, Any]]:
    """The arguments of a function that is called for each replica, with the replica's own parts."""
    if not isinstance(args, (list, tuple)):
        fail(
            "E1104",
            f"`{of}`: `args` is of type {type(args).__name__}, expected a tuple",
            "it holds the positional arguments of the function",
            fix="give `args=(value,)`, with the comma",
        )
    if kwargs is not None and not isinstance(kwargs, dict):
        fail("E1104", f"`{of}`: `kwargs` is of type {type(kwargs).__name__}, expected a dict")
    named = {key: local(each, replica) for key, each in (kwargs or {}).items()}
    return [local(each, replica) for each in args], named


def refuse_together(what: str, strategy: Any, **fields: Any) -> NoReturn:
    """Says that replicas on several devices run one after the other, each for itself."""
    unsupported(
        f"{what} is not supported where there are several",
        f"the replicas of {strategy._described()} run one after the other, and none waits for the "
        "others' values",
        fix="return the value from what `run` runs, and use `reduce` and `gather` of the strategy; "
        "or make the strategy over one device",
        **fields,
    )


class ReplicaContext:
    """The replica that is speaking: what a function that `run` runs may ask of its strategy."""

    def __init__(self, strategy: Any, replica_id_in_sync_group: int = 0) -> None:
        self._strategy = strategy
        self._id = replica_id_in_sync_group

    @property
    def strategy(self) -> Any:
        """Its strategy."""
        return self._strategy

    @property
    def num_replicas_in_sync(self) -> int:
        """How many replicas there are."""
        count: int = self._strategy.num_replicas_in_sync
        return count

    @property
    def replica_id_in_sync_group(self) -> Any:
        """Its number among the replicas."""
        return convert_to_tensor(self._id)

    @property
    def devices(self) -> tuple[str, ...]:
        """The device that it runs on."""
        found: tuple[str, ...] = self._strategy.extended.worker_devices
        return (found[self._id],)

    def _need_speaking(self, of: str) -> None:
        if get_replica_context() is not self:
            unsupported(
                f"`ReplicaContext.{of}` is called where no replica is speaking",
                f"it belongs to a function that `run` of {self._strategy._described()} runs",
                fix="ask `tf.distribute.get_replica_context()` inside of that function",
            )

    def _need_alone(self, of: str) -> None:
        """Refuses what replicas do together, where there are several."""
        if self._strategy.num_replicas_in_sync > 1:
            refuse_together(f"`ReplicaContext.{of}`", self._strategy)

    def merge_call(
        self, merge_fn: Callable[..., Any], args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """What `merge_fn(strategy, *args, **kwargs)` gives, run once for all replicas."""
        need_callable(merge_fn, "ReplicaContext.merge_call")
        positional, named = need_arguments(args, kwargs, "ReplicaContext.merge_call")
        self._need_speaking("merge_call")
        self._need_alone("merge_call")
        with strategies.entered(self._strategy, None, bool(_holdfast.is_tracing())):
            return local(merge_fn(self._strategy, *positional, **named))

    def all_reduce(self, reduce_op: Any, value: Any, options: Any = None) -> Any:
        """The sum or mean of all replicas' values: this replica's, which is the only one."""
        as_reduce_op(reduce_op, "ReplicaContext.all_reduce")
        self._need_speaking("all_reduce")
        self._need_alone("all_reduce")
        return nest.map_structure(as_tensor, value)

    def all_gather(self, value: Any, axis: int, options: Any = None) -> Any:
        """The values of all replicas, one after the other along an axis."""
        need_axis(axis, "ReplicaContext.all_gather")
        self._need_speaking("all_gather")
        self._need_alone("all_gather")
        return nest.map_structure(as_tensor, value)
