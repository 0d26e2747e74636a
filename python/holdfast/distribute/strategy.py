"""`tf.distribute.Strategy` over one device, and the default one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, NamedTuple, NoReturn

from .. import _holdfast, nest
from .._devices.device import device
from .._messages.diagnostics import Mark
from .._tracing.converter import converter
from .._tracing.recorder import recording
from .._variables import strategies
from ..errors import fail, need_callable, unsupported, used_here
from .contexts import ReplicaContext, default_strategy, need_arguments, set_default
from .extended import StrategyExtended
from .inputs import InputContext, InputOptions, distributed
from .reductions import along, as_reduce_op, as_tensor, need_axis
from .values import DistributedValues, PerReplica, local

__all__ = ["RunOptions", "Strategy", "TensorsStrategy", "ValueContext"]

_MISSING = frozenset(
    (
        *("colocate_vars_with", "configure", "experimental_make_numpy_dataset", "experimental_run"),
        *("group", "make_dataset_iterator", "make_input_fn_iterator", "unwrap"),
        *("experimental_assign_to_logical_device", "experimental_replicate_to_logical_devices"),
        *("experimental_split_to_logical_devices", "update_config_proto"),
    )
)


class RunOptions(NamedTuple):
    """How `run` runs on TPUs. On other devices it changes nothing, in TensorFlow too."""

    experimental_enable_dynamic_batch_size: bool = True
    experimental_bucketizing_dynamic_shape: bool = False
    experimental_xla_options: Any = None


class ValueContext:
    """For which replica a value is asked."""

    def __init__(self, replica_id_in_sync_group: int = 0, num_replicas_in_sync: int = 1) -> None:
        self._id, self._count = replica_id_in_sync_group, num_replicas_in_sync

    @property
    def replica_id_in_sync_group(self) -> int:
        """The number of the replica."""
        return self._id

    @property
    def num_replicas_in_sync(self) -> int:
        """How many replicas there are."""
        return self._count

    def __repr__(self) -> str:
        return f"tf.distribute.ValueContext(replica id {self._id}, total replicas {self._count})"


class _Scope:
    """`with strategy.scope()`: variables and models made inside belong to the strategy."""

    def __init__(self, strategy: Strategy) -> None:
        self._strategy = strategy
        self._open: list[tuple[strategies.Entry, AbstractContextManager[Any] | None]] = []

    def __enter__(self) -> Strategy:
        strategy = self._strategy
        strategy._need_free("scope")
        entry = strategies.enter(strategy, None, _is_traced())
        place = strategy._place()
        if place is not None:
            place.__enter__()
        self._open.append((entry, place))
        return strategy

    def __exit__(self, *error: Any) -> None:  # noqa: PYI036 (handed on to another)
        entry, place = self._open[-1]
        strategies.leave(entry)
        self._open.pop()
        if place is not None:
            place.__exit__(*error)


class _NoScope:
    """The default strategy's scope, in which nothing is different."""

    def __init__(self, strategy: Strategy) -> None:
        self._strategy = strategy

    def __enter__(self) -> Strategy:
        self._strategy._need_free("scope")
        return self._strategy

    def __exit__(self, *_: object) -> None:
        pass


class Strategy:
    """How a computation is shared among devices: here there is one, and one replica."""

    _keeps_copies = True  # and so refuses variables that are not to be kept equal
    _mirrors = False  # copies are made equal when they are written
    _device: tuple[str, int] | None = None  # None: where each op would run anyway

    def __init__(self, extended: Any = None) -> None:
        if type(self) is Strategy:
            unsupported(
                "`tf.distribute.Strategy` itself can't be made",
                "its kinds say where the replicas are",
                fix="make a `tf.distribute.MirroredStrategy()`",
            )
        if extended is not None:
            unsupported(
                f"`{type(self).__name__}` with an `extended` of one's own is not supported",
                "what a strategy does with its devices is not for programs to replace",
                fix="subclass `tf.distribute.MirroredStrategy` or `OneDeviceStrategy`",
            )
        self._replica = ReplicaContext(self)
        self._extended = StrategyExtended(self)

    def _described(self) -> str:
        """The strategy in the words of messages."""
        return f"{type(self).__name__} on {self._device_name()}"

    def _device_name(self) -> str:
        kind, index = self._device or ("CPU", 0)
        return f"{kind}:{index}"

    def _place(self) -> AbstractContextManager[Any] | None:
        """A context in which ops run on the strategy's device."""
        return None if self._device is None else device(f"/{self._device_name()}")

    def __getattr__(self, name: str) -> Any:
        if name in _MISSING:
            _refuse(type(self).__name__, name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __copy__(self) -> Strategy:
        return self  # a place, not a value

    def __deepcopy__(self, memo: dict[int, Any]) -> Strategy:
        return self

    def _need_free(self, of: str) -> None:
        """Refuses to begin where another strategy is in force, or where a replica is speaking."""
        now = strategies.innermost()
        if now is None:
            return
        if now.strategy is not self:
            if now.strategy is default_strategy():  # what it runs is in no strategy
                return
            unsupported(
                f"`{of}` of {self._described()} is called under another strategy",
                f"{now.strategy._described()} is in force here, and strategies do not nest",
                fix="use one strategy for the whole program, or end the scope of the other first",
                labels=[*used_here("called here"), *_entered_at(now.at, now.strategy)],
            )
        if now.replica is not None:
            unsupported(
                f"`{of}` of {self._described()} is called in a function that its `run` runs",
                "it speaks for all replicas, and inside of `run` each speaks for itself",
                fix="move it out of that function, or into a function for "
                "`tf.distribute.get_replica_context().merge_call`",
                labels=[*used_here("called here"), *_entered_at(now.at, self)],
            )

    @property
    def num_replicas_in_sync(self) -> int:
        """How many replicas share each step: one."""
        return 1

    @property
    def extended(self) -> StrategyExtended:
        """What libraries ask of a strategy."""
        return self._extended

    @property
    def cluster_resolver(self) -> None:
        """None: there is no cluster."""
        return None

    def scope(self) -> Any:
        """A context in which the strategy is in force: variables are made on its device."""
        return _Scope(self)

    def run(
        self,
        fn: Callable[..., Any],
        args: Any = (),
        kwargs: dict[str, Any] | None = None,
        options: RunOptions | None = None,
    ) -> Any:
        """What `fn` gives for the one replica."""
        need_callable(fn, f"{type(self).__name__}.run")
        if options is not None and not isinstance(options, RunOptions):
            given = type(options).__name__
            fail("E1104", f"`run`: `options` is {given}, expected tf.distribute.RunOptions")
        positional, named = need_arguments(args, kwargs, "run")
        self._need_free("run")
        called = converter().convert(fn) if recording() is not None else fn
        with self._speaking():
            return called(*positional, **named)

    @contextmanager
    def _speaking(self) -> Iterator[None]:
        """A context in which the one replica is speaking, on its device."""
        with strategies.entered(self, self._replica, _is_traced()), self._place() or nullcontext():
            yield

    def reduce(self, reduce_op: Any, value: Any, axis: Any) -> Any:
        """The sum or mean over the replicas, and with an `axis` over that axis of their values."""
        how = as_reduce_op(reduce_op, "reduce")
        self._need_free("reduce")
        found = local(value)
        if axis is None:
            return nest.map_structure(self._reduced, found)
        need_axis(axis, "reduce")
        if isinstance(found, dict):  # a list is a tensor, as everywhere
            return {key: along(how, part, axis) for key, part in found.items()}
        return along(how, found, axis)

    def _reduced(self, value: Any) -> Any:
        return value

    def gather(self, value: Any, axis: int) -> Any:
        """The replicas' values one after the other along an axis: the one replica's value."""
        need_axis(axis, "gather")
        self._need_free("gather")
        return local(value)

    def experimental_local_results(self, value: Any) -> tuple[Any, ...]:
        """The values of the replicas of this process, in a tuple."""
        return value.values if isinstance(value, DistributedValues) else (value,)

    def experimental_distribute_values_from_function(
        self, value_fn: Callable[[ValueContext], Any]
    ) -> Any:
        """What `value_fn` gives for each replica."""
        need_callable(value_fn, "experimental_distribute_values_from_function")
        given = value_fn(ValueContext(0, self.num_replicas_in_sync))
        return nest.map_structure(PerReplica, given) if self._mirrors else given

    def experimental_distribute_dataset(
        self, dataset: Any, options: InputOptions | None = None
    ) -> Any:
        """A dataset whose elements are the replicas' batches: its own, for one replica."""
        return distributed(dataset, options, "experimental_distribute_dataset")

    def distribute_datasets_from_function(
        self, dataset_fn: Callable[[InputContext], Any], options: InputOptions | None = None
    ) -> Any:
        """The dataset that `dataset_fn` makes for the one worker, given an `InputContext`."""
        of = "distribute_datasets_from_function"
        need_callable(dataset_fn, of)
        made = dataset_fn(InputContext(1, 0, self.num_replicas_in_sync))
        return distributed(made, options, of)

    experimental_distribute_datasets_from_function = distribute_datasets_from_function


class _DefaultStrategy(Strategy):
    """What there is where a program puts no strategy in force."""

    _keeps_copies = False

    def _described(self) -> str:
        return "the default strategy"

    def scope(self) -> Any:
        """A context in which nothing is different."""
        return _NoScope(self)

    def experimental_distribute_dataset(
        self, dataset: Any, options: InputOptions | None = None
    ) -> Any:
        """The dataset itself."""
        distributed(dataset, options, "experimental_distribute_dataset")
        return dataset

    def distribute_datasets_from_function(
        self, dataset_fn: Callable[[InputContext], Any], options: InputOptions | None = None
    ) -> Any:
        """The dataset that `dataset_fn` makes, given an `InputContext`."""
        need_callable(dataset_fn, "distribute_datasets_from_function")
        made = dataset_fn(InputContext(1, 0, 1))
        distributed(made, options, "distribute_datasets_from_function")
        return made

    experimental_distribute_datasets_from_function = distribute_datasets_from_function


class TensorsStrategy(Strategy):
    """One whose reductions give tensors, whatever the replicas gave."""

    def _reduced(self, value: Any) -> Any:
        return as_tensor(value)


def _is_traced() -> bool:
    return bool(_holdfast.is_tracing())


def _entered_at(at: Mark | None, strategy: Strategy) -> list[dict[str, Any]]:
    if at is None:
        return []
    text = f"{strategy._described()} is in force from here"
    return [{"role": "owner", "loc": at.loc(), "text": text, "primary": False}]


def _refuse(kind: str, name: str) -> NoReturn:
    unsupported(
        f"`{kind}.{name}` is not part of Holdfast",
        "it belongs to TensorFlow 1, or to devices that are not there",
        fix="`scope`, `run`, `reduce`, `gather` and `experimental_distribute_dataset` work",
    )


set_default(_DefaultStrategy())
