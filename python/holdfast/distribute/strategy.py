"""`tf.distribute.Strategy`: what the strategies have in common, and the default one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, NamedTuple, NoReturn

from .. import _holdfast, nest
from .._devices.device import device
from .._messages.diagnostics import Mark
from .._tensors import registry
from .._tracing.converter import converter
from .._tracing.recorder import recording
from .._variables import strategies
from ..errors import fail, need_callable, unsupported, used_here
from .contexts import ReplicaContext, default_strategy, need_arguments, set_default
from .extended import StrategyExtended
from .inputs import InputContext, InputOptions, distributed
from .ownership import watch_variables
from .reductions import ReduceOp, along, as_reduce_op, as_tensor, copied, joined, need_axis
from .values import DistributedValues, PerReplica, local, regrouped

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
    """How a computation is shared among devices, with a replica on each."""

    _keeps_copies = True  # and so refuses variables that are not to be kept equal
    _has_variables = True  # those that are made in its scope
    _mirrors = False  # copies are made equal when they are written
    _devices: tuple[tuple[str, int], ...] = ()  # of the replicas; (): wherever an op runs

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
        if self._has_variables:
            watch_variables()
        self._set_devices(())
        self._extended = StrategyExtended(self)

    def _described(self) -> str:
        """The strategy in the words of messages."""
        return f"{type(self).__name__} on {' and '.join(self._device_names())}"

    def _set_devices(self, devices: tuple[tuple[str, int], ...]) -> None:
        """Says on which devices the replicas run: at least one of them, somewhere."""
        self._devices = devices
        self._replicas = tuple(ReplicaContext(self, i) for i in range(max(len(devices), 1)))

    def _device_names(self) -> list[str]:
        return [f"{kind}:{index}" for kind, index in self._devices or (("CPU", 0),)]

    def _place(self, replica: int = 0) -> AbstractContextManager[Any] | None:
        """A context in which ops run on the device of a replica; the first one has variables."""
        return device(f"/{self._device_names()[replica]}") if self._devices else None

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

    def _need_one_replica(self, of: str) -> None:
        """Refuses what is not shared out among several replicas."""
        if self.num_replicas_in_sync > 1:
            unsupported(
                f"{of} is not supported with {self.num_replicas_in_sync} replicas",
                f"under {self._described()} data is not shared out, nor are gradients exchanged",
                fix=f'make the strategy over one device: `{type(self).__name__}(["/CPU:0"])`',
            )

    @property
    def num_replicas_in_sync(self) -> int:
        """How many replicas share each step: one for each device."""
        return len(self._replicas)

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
        """What `fn` gives for each replica, one after the other."""
        need_callable(fn, f"{type(self).__name__}.run")
        if options is not None and not isinstance(options, RunOptions):
            given = type(options).__name__
            fail("E1104", f"`run`: `options` is {given}, expected tf.distribute.RunOptions")
        each = [need_arguments(args, kwargs, "run", i) for i in range(self.num_replicas_in_sync)]
        self._need_free("run")
        called = converter().convert(fn) if recording() is not None else fn
        given = []
        for replica, (positional, named) in enumerate(each):
            with self._speaking(replica):
                given.append(called(*positional, **named))
        return regrouped(given)

    @contextmanager
    def _speaking(self, replica: int = 0) -> Iterator[None]:
        """A context in which a replica is speaking, on its device."""
        place = self._place(replica) or nullcontext()
        with strategies.entered(self, self._replicas[replica], _is_traced()), place:
            yield

    def reduce(self, reduce_op: Any, value: Any, axis: Any) -> Any:
        """The sum or mean over the replicas, and with an `axis` over that axis of their values."""
        how = as_reduce_op(reduce_op, "reduce")
        self._need_free("reduce")
        if self.num_replicas_in_sync > 1:
            if axis is not None:
                need_axis(axis, "reduce")
            return nest.map_structure(lambda leaf: self._joined(how, leaf, axis), value)
        found = local(value)
        if axis is None:
            return nest.map_structure(self._reduced, found)
        need_axis(axis, "reduce")
        if isinstance(found, dict):  # a list is a tensor, as everywhere
            return {key: along(how, part, axis) for key, part in found.items()}
        return along(how, found, axis)

    def _reduced(self, value: Any) -> Any:
        return value

    def _joined(self, how: ReduceOp, value: Any, axis: Any) -> Any:
        """The sum or mean of the values of several replicas, on the first one's device."""
        with self._place() or nullcontext():
            return joined(how, self._each(value), axis, isinstance(value, DistributedValues))

    def _each(self, value: Any) -> list[Any]:
        """The values of several replicas, copied to the device in force."""
        values = value.values if isinstance(value, DistributedValues) else [value]
        return copied(values) * (self.num_replicas_in_sync // len(values))

    def gather(self, value: Any, axis: int) -> Any:
        """The replicas' values one after the other along an axis."""
        need_axis(axis, "gather")
        self._need_free("gather")
        if self.num_replicas_in_sync > 1:
            return nest.map_structure(lambda leaf: self._gathered(leaf, axis), value)
        return local(value)

    def _gathered(self, value: Any, axis: int) -> Any:
        if not isinstance(value, DistributedValues):
            return as_tensor(value)
        with self._place() or nullcontext():
            return registry.function("concat")(self._each(value), axis)

    def experimental_local_results(self, value: Any) -> tuple[Any, ...]:
        """The values of the replicas of this process, in a tuple."""
        if nest.is_nested(value):
            return tuple(local(value, i) for i in range(self.num_replicas_in_sync))
        return value.values if isinstance(value, DistributedValues) else (value,)

    def experimental_distribute_values_from_function(
        self, value_fn: Callable[[ValueContext], Any]
    ) -> Any:
        """What `value_fn` gives for each replica."""
        need_callable(value_fn, "experimental_distribute_values_from_function")
        count = self.num_replicas_in_sync
        given = [value_fn(ValueContext(i, count)) for i in range(count)]
        return nest.map_structure(PerReplica, *given) if self._mirrors else given[0]

    def experimental_distribute_dataset(
        self, dataset: Any, options: InputOptions | None = None
    ) -> Any:
        """A dataset whose elements are the replicas' batches: its own, for one replica."""
        self._need_one_replica("`experimental_distribute_dataset`")
        return distributed(dataset, options, "experimental_distribute_dataset")

    def distribute_datasets_from_function(
        self, dataset_fn: Callable[[InputContext], Any], options: InputOptions | None = None
    ) -> Any:
        """The dataset that `dataset_fn` makes for the one worker, given an `InputContext`."""
        of = "distribute_datasets_from_function"
        need_callable(dataset_fn, of)
        self._need_one_replica(f"`{of}`")
        made = dataset_fn(InputContext(1, 0, self.num_replicas_in_sync))
        return distributed(made, options, of)

    experimental_distribute_datasets_from_function = distribute_datasets_from_function


class _DefaultStrategy(Strategy):
    """What there is where a program puts no strategy in force."""

    _keeps_copies = _has_variables = False

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
