"""`strategy.extended`: what libraries ask of a strategy."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

from .. import nest
from .._variables import strategies
from .._variables.variable import Variable
from ..errors import fail, need_callable
from .contexts import default_strategy, need_arguments
from .reductions import as_reduce_op
from .values import local

__all__ = ["StrategyExtended"]

_HERE = "/job:localhost/replica:0/task:0/device:"


class StrategyExtended:
    """The devices of a strategy, and changes of variables in its scope."""

    def __init__(self, container_strategy: Any) -> None:
        self._strategy = container_strategy

    @property
    def worker_devices(self) -> tuple[str, ...]:
        """The devices that replicas run on."""
        return tuple(_HERE + name for name in self._strategy._device_names())

    @property
    def parameter_devices(self) -> tuple[str, ...]:
        """The devices that variables are on."""
        return tuple(_HERE + name for name in self._strategy._device_names())

    @property
    def experimental_require_static_shapes(self) -> bool:
        """False: shapes may be unknown."""
        return False

    def update(
        self,
        var: Any,
        fn: Callable[..., Any],
        args: Any = (),
        kwargs: dict[str, Any] | None = None,
        group: bool = True,
    ) -> Any:
        """What `fn(var, *args, **kwargs)` gives; without `group`, for each copy of `var`."""
        if not isinstance(var, Variable):
            fail("E1104", f"`update` got a {type(var).__name__}, expected a Variable")
        need_callable(fn, "StrategyExtended.update")
        positional, named = need_arguments(args, kwargs, "StrategyExtended.update")
        self._strategy._need_free("extended.update")
        if not group:
            self._strategy._need_one_replica("`extended.update(group=False)`")
        with self._strategy._place() or nullcontext():
            given = fn(var, *positional, **named)
        return given if group else nest.map_structure(lambda leaf: (leaf,), given)

    def reduce_to(self, reduce_op: Any, value: Any, destinations: Any, options: Any = None) -> Any:
        """The sum or mean over the replicas."""
        how = as_reduce_op(reduce_op, "StrategyExtended.reduce_to")
        self._strategy._need_free("extended.reduce_to")
        if self._strategy.num_replicas_in_sync > 1:
            return self._strategy.reduce(how, value, None)
        return nest.map_structure(self._strategy._reduced, local(value))

    def batch_reduce_to(
        self, reduce_op: Any, value_destination_pairs: Any, options: Any = None
    ) -> list[Any]:
        """The same for several values."""
        pairs = value_destination_pairs
        return [self.reduce_to(reduce_op, value, place, options) for value, place in pairs]

    def value_container(self, value: Any) -> Any:
        """The value: it is in no container."""
        return value

    def colocate_vars_with(self, colocate_with_variable: Any) -> Any:
        """A context in which variables are made where another one is."""
        if not isinstance(colocate_with_variable, Variable):
            given = type(colocate_with_variable).__name__
            fail("E1104", f"`colocate_vars_with` got a {given}, expected a Variable")
        return self._strategy._place() or nullcontext()

    def variable_created_in_scope(self, v: Any) -> bool:
        """Whether a Variable was made under this strategy; of the default one, under none."""
        if not isinstance(v, Variable):
            given = type(v).__name__
            fail("E1104", f"`variable_created_in_scope` got a {given}, expected a Variable")
        owner = strategies.owner_of(v)
        return (default_strategy() if owner is None else owner.strategy) is self._strategy
