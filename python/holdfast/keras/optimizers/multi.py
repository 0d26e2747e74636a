"""Optimizers for some variables each: `MultiOptimizer`, and the `OptimizerMap` that shares out."""

from __future__ import annotations

import re
from collections.abc import Iterator, MutableMapping, Sequence
from typing import Any

from ...errors import fail
from .. import declared
from ..configs import deserialize_keras_object, made_by_python, serialize_keras_object
from ..custom_objects import register

__all__ = ["MultiOptimizer", "OptimizerMap"]

_Optimizer: Any = declared.class_of("optimizers.Optimizer")
_LossScale: Any = declared.class_of("optimizers.LossScaleOptimizer")


def _checked(optimizer: Any, whose: str) -> Any:
    """An optimizer that may move some of the variables."""
    if not isinstance(optimizer, _Optimizer):
        fail("E1104", f"{whose} is a {type(optimizer).__name__}, expected an optimizer")
    if isinstance(optimizer, (_LossScale, MultiOptimizer)):
        fail(
            "E1103",
            f"{whose} is a {type(optimizer).__name__}, expected one that moves variables itself",
            fix="put a LossScaleOptimizer around the MultiOptimizer, and name optimizers inside it",
        )
    return optimizer


@made_by_python
class OptimizerMap(MutableMapping[str, Any]):
    """An optimizer for each variable, by its path: a whole path, or a pattern that fits all of it.

    Variables that no key fits have `default_optimizer`.
    """

    def __init__(self, default_optimizer: Any, optimizer_map: dict[str, Any] | None = None) -> None:
        self._default = _checked(default_optimizer, "`default_optimizer` of `OptimizerMap`")
        if optimizer_map is not None and not isinstance(optimizer_map, dict):
            kind = type(optimizer_map).__name__
            fail("E1104", f"`optimizer_map` of `OptimizerMap` is a {kind}, expected a dict")
        self._map: dict[str, Any] = {}
        for key, optimizer in (optimizer_map or {}).items():
            self[key] = optimizer

    @property
    def default_optimizer(self) -> Any:
        """The optimizer of variables that no key fits."""
        return self._default

    def __getitem__(self, key: str) -> Any:
        if key in self._map:
            return self._map[key]
        fitting = [pattern for pattern in self._map if re.fullmatch(pattern, key)]
        if len(fitting) > 1:
            fail(
                "E1103",
                f"`OptimizerMap`: {len(fitting)} patterns fit the variable `{key}`",
                f"they are {', '.join(repr(p) for p in fitting)}",
                fix="make the patterns narrower, or give the whole path as a key",
            )
        return self._map[fitting[0]] if fitting else self._default

    def __setitem__(self, key: str, optimizer: Any) -> None:
        if not isinstance(key, str):
            fail("E1104", f"`OptimizerMap`: the key {key!r} is no text, expected a path")
        if key in self._map:
            fail("E1103", f"`OptimizerMap` has an optimizer for {key!r} already")
        self._map[key] = _checked(optimizer, f"`OptimizerMap`: the value for {key!r}")

    def __delitem__(self, key: str) -> None:
        del self._map[key]

    def __len__(self) -> int:
        return len(self._map)

    def __iter__(self) -> Iterator[str]:
        return iter(self._map)

    def __call__(self, variable: Any) -> Any:
        """The optimizer of a variable."""
        return self[variable.path]

    def get_config(self) -> dict[str, Any]:
        """What the map can be made from again."""
        return {
            "default_optimizer": serialize_keras_object(self._default),
            "optimizer_map": {key: serialize_keras_object(o) for key, o in self._map.items()},
        }

    @classmethod
    def from_config(
        cls, config: dict[str, Any], custom_objects: dict[str, Any] | None = None
    ) -> OptimizerMap:
        """A map made with what `get_config` gave."""

        def made(one: Any) -> Any:
            if isinstance(one, _Optimizer):
                return one
            return deserialize_keras_object(one, custom_objects)

        optimizers = {key: made(one) for key, one in config["optimizer_map"].items()}
        return cls(made(config["default_optimizer"]), optimizers)


@made_by_python
class MultiOptimizer(_Optimizer):  # type: ignore[misc]
    """Moves each variable by an optimizer of its own: the one that a map, or a function, says."""

    _has_rate = False

    def __init__(
        self, optimizer_map: Any, loss_scale_factor: float | None = None, name: str | None = None
    ) -> None:
        if not callable(optimizer_map):
            kind = type(optimizer_map).__name__
            fail(
                "E1104",
                f"`optimizer_map` of `MultiOptimizer` is a {kind}, "
                "expected an `OptimizerMap` or a function of a variable",
            )
        super().__init__(learning_rate=0.0, loss_scale_factor=loss_scale_factor, name=name)
        self._optimizer_map = optimizer_map
        self._of_variable: dict[int, Any] = {}
        self._optimizers: list[Any] = []
        if isinstance(optimizer_map, OptimizerMap):
            for optimizer in (*optimizer_map.values(), optimizer_map.default_optimizer):
                self._note(optimizer)

    def _note(self, optimizer: Any) -> None:
        if not any(optimizer is known for known in self._optimizers):
            self._optimizers.append(optimizer)

    def _optimizer_of(self, variable: Any) -> Any:
        found = self._of_variable.get(id(variable))
        if found is None:
            found = _checked(
                self._optimizer_map(variable), f"the optimizer of the variable `{variable.path}`"
            )
            self._of_variable[id(variable)] = found
            self._note(found)
        return found

    def _shares(self, variables: Sequence[Any]) -> list[tuple[Any, list[int]]]:
        """The optimizers, each with the places of its variables."""
        chosen = [self._optimizer_of(v) for v in variables]
        return [
            (one, [i for i, optimizer in enumerate(chosen) if optimizer is one])
            for one in self._optimizers
        ]

    @property
    def optimizers(self) -> list[Any]:
        """The optimizers that move variables."""
        return list(self._optimizers)

    @property
    def learning_rate(self) -> Any:
        """Each of `optimizers` has its own."""
        return fail(
            "E1104",
            f"`{self.name}` (MultiOptimizer) has no learning rate of its own",
            fix="ask one of its `optimizers`",
        )

    def build(self, variables: Sequence[Any]) -> None:
        """Makes what is kept for these variables."""
        for optimizer, places in self._shares(variables):
            if places:
                optimizer.build([variables[i] for i in places])
        super().build(variables)

    def apply(self, grads: Sequence[Any], trainable_variables: Any = None) -> None:
        """One step of each optimizer over its variables."""
        from ... import _holdfast

        if trainable_variables is None:
            trainable_variables = _holdfast.trained_variables(self)
        grads, variables = list(grads), list(trainable_variables)
        if len(grads) != len(variables):
            fail(
                "E1104",
                f"`{self.name}` got {len(grads)} gradients for {len(variables)} variables",
            )
        if all(g is None for g in grads):
            super().apply(grads, variables)  # which says what is wrong, or has nothing to do
            return
        self.build(variables)
        scale = self.loss_scale_factor
        for optimizer, places in self._shares(variables):
            mine = [grads[i] for i in places]
            if all(g is None for g in mine):
                continue
            if scale is not None:  # stands for those that the optimizers were made with
                optimizer.loss_scale_factor = scale
            optimizer.apply(mine, [variables[i] for i in places])
        self.iterations.assign_add(1)

    @property
    def variables(self) -> list[Any]:
        """Its counter, then all that its optimizers keep."""
        return [self.iterations, *(v for one in self._optimizers for v in one.variables)]

    def finalize_variable_values(self, var_list: Any) -> None:
        """Puts moving averages into the variables, where there are any."""
        variables = list(var_list)
        for optimizer, places in self._shares(variables):
            optimizer.finalize_variable_values([variables[i] for i in places])

    def get_config(self) -> dict[str, Any]:
        """What the optimizer can be made from again; a function of the program has no config."""
        if not isinstance(self._optimizer_map, OptimizerMap):
            fail(
                "E1105",
                f"`{self.name}` (MultiOptimizer) has no config: it asks a function",
                "a config is names and numbers",
                fix="give it an `OptimizerMap`",
            )
        return {
            "name": self.name,
            "loss_scale_factor": self.loss_scale_factor,
            "optimizer_map": serialize_keras_object(self._optimizer_map),
        }

    @classmethod
    def from_config(
        cls, config: dict[str, Any], custom_objects: dict[str, Any] | None = None
    ) -> Any:
        """One made with what `get_config` gave."""
        given = dict(config)
        described = given.pop("optimizer_map")
        if not isinstance(described, OptimizerMap):
            described = OptimizerMap.from_config(described["config"], custom_objects)
        return cls(described, **given)


for _kind in (MultiOptimizer, OptimizerMap):  # files name them, and C++ reads those
    register(_kind.__name__, _kind)
