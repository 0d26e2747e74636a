"""The optimizers of `tf.compat.v1.train`: the op that moves a variable, and its numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import _holdfast
from .._graphs.control import grouped, ordered
from .._tensors import registry
from .._tensors.dtypes import int64
from .._tensors.indexed_slices import IndexedSlices
from .._tensors.tensor import convert_to_tensor
from ..errors import fail
from .optimizer import Optimizer, called, run_op

__all__ = [
    "AdadeltaOptimizer",
    "AdagradDAOptimizer",
    "AdagradOptimizer",
    "AdamOptimizer",
    "FtrlOptimizer",
    "GradientDescentOptimizer",
    "MomentumOptimizer",
    "ProximalAdagradOptimizer",
    "ProximalGradientDescentOptimizer",
    "RMSPropOptimizer",
]


class _Rule(Optimizer):
    """One whose step is a single op: what it keeps and the op's numbers are all there is to say."""

    _op = ""
    _sparse_op = ""  # where it has another name than `_op`
    _gradient = "grad"
    # The op's argument, the slot's name, and what it begins with.
    _kept: tuple[tuple[str, str, float], ...] = ()

    def __init__(self, use_locking: bool, name: str, **numbers: Any) -> None:
        super().__init__(use_locking, name)
        self._numbers = numbers
        self._now: dict[str, Any] = {}
        self._flags: dict[str, Any] = {}
        self._slot_names: dict[str, str | None] = {}  # of those not named after the optimizer

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        for variable in var_list:
            for _, slot, start in self._kept:
                name = self._slot_names.get(slot) or self._name
                self._filled_slot(variable, slot, name, start)

    def _prepare(self) -> None:
        self._now = {k: convert_to_tensor(called(v)) for k, v in self._numbers.items()}

    def _arguments(self, variable: Any) -> dict[str, Any]:
        cast = registry.function("cast")
        kept = {argument: self.get_slot(variable, slot) for argument, slot, _ in self._kept}
        numbers = {k: cast(v, variable.dtype) for k, v in self._now.items()}
        return {"var": variable, **kept, **numbers, **self._flags, "use_locking": self._use_locking}

    def _resource_apply_dense(self, grad: Any, handle: Any) -> Any:
        arguments = self._arguments(handle) | {self._gradient: grad}
        return run_op(f"ResourceApply{self._op}", **arguments)

    def _resource_apply_sparse(self, grad: Any, handle: Any, indices: Any) -> Any:
        arguments = self._arguments(handle) | {"grad": grad, "indices": indices}
        return run_op(f"ResourceSparseApply{self._sparse_op or self._op}", **arguments)


class GradientDescentOptimizer(_Rule):
    """`v -= rate * g`."""

    _op, _sparse_op, _gradient = "GradientDescent", "ProximalGradientDescent", "delta"

    def __init__(
        self, learning_rate: Any, use_locking: bool = False, name: str = "GradientDescent"
    ) -> None:
        super().__init__(use_locking, name, alpha=learning_rate)

    def _resource_apply_sparse(self, grad: Any, handle: Any, indices: Any) -> Any:
        arguments = self._arguments(handle) | {"grad": grad, "indices": indices}
        nothing = convert_to_tensor(0.0, handle.dtype)  # no pull towards zero
        return run_op(f"ResourceSparseApply{self._sparse_op}", l1=nothing, l2=nothing, **arguments)

    # A row that is named twice moves twice, which comes to the same.
    _resource_apply_sparse_duplicate_indices = _resource_apply_sparse


class ProximalGradientDescentOptimizer(_Rule):
    """Gradient descent, with a pull towards zero after each step."""

    _op, _gradient = "ProximalGradientDescent", "delta"

    def __init__(
        self,
        learning_rate: Any,
        l1_regularization_strength: float = 0.0,
        l2_regularization_strength: float = 0.0,
        use_locking: bool = False,
        name: str = "ProximalGradientDescent",
    ) -> None:
        pulls = {"l1": l1_regularization_strength, "l2": l2_regularization_strength}
        super().__init__(use_locking, name, alpha=learning_rate, **pulls)


class MomentumOptimizer(_Rule):
    """`m = momentum * m + g; v -= rate * m`."""

    _op = "Momentum"
    _kept = (("accum", "momentum", 0.0),)

    def __init__(
        self,
        learning_rate: Any,
        momentum: Any,
        use_locking: bool = False,
        name: str = "Momentum",
        use_nesterov: bool = False,
    ) -> None:
        super().__init__(use_locking, name, lr=learning_rate, momentum=momentum)
        self._flags = {"use_nesterov": use_nesterov}


class AdagradOptimizer(_Rule):
    """`a += g * g; v -= rate * g / sqrt(a)`."""

    _op = "Adagrad"

    def __init__(
        self,
        learning_rate: Any,
        initial_accumulator_value: float = 0.1,
        use_locking: bool = False,
        name: str = "Adagrad",
    ) -> None:
        _need_positive("initial_accumulator_value", initial_accumulator_value)
        super().__init__(use_locking, name, lr=learning_rate)
        self._kept = (("accum", "accumulator", initial_accumulator_value),)


class ProximalAdagradOptimizer(_Rule):
    """Adagrad, with a pull towards zero after each step."""

    _op = "ProximalAdagrad"

    def __init__(
        self,
        learning_rate: Any,
        initial_accumulator_value: float = 0.1,
        l1_regularization_strength: float = 0.0,
        l2_regularization_strength: float = 0.0,
        use_locking: bool = False,
        name: str = "ProximalAdagrad",
    ) -> None:
        _need_positive("initial_accumulator_value", initial_accumulator_value)
        pulls = {"l1": l1_regularization_strength, "l2": l2_regularization_strength}
        super().__init__(use_locking, name, lr=learning_rate, **pulls)
        self._kept = (("accum", "accumulator", initial_accumulator_value),)


class AdagradDAOptimizer(_Rule):
    """Adagrad with dual averaging: a variable follows from the sums of gradients and squares."""

    _op = "AdagradDA"

    def __init__(
        self,
        learning_rate: Any,
        global_step: Any,
        initial_gradient_squared_accumulator_value: float = 0.1,
        l1_regularization_strength: float = 0.0,
        l2_regularization_strength: float = 0.0,
        use_locking: bool = False,
        name: str = "AdagradDA",
    ) -> None:
        start = initial_gradient_squared_accumulator_value
        _need_positive("initial_gradient_squared_accumulator_value", start)
        pulls = {"l1": l1_regularization_strength, "l2": l2_regularization_strength}
        super().__init__(use_locking, name, lr=learning_rate, **pulls)
        self._global_step = global_step
        self._kept = (
            ("gradient_accumulator", "gradient_accumulator", 0.0),
            ("gradient_squared_accumulator", "gradient_squared_accumulator", start),
        )

    def _arguments(self, variable: Any) -> dict[str, Any]:
        done = registry.function("cast")(convert_to_tensor(self._global_step), int64)
        return super()._arguments(variable) | {"global_step": done + 1}  # this step counts


class AdadeltaOptimizer(_Rule):
    """Steps as large as past steps were, over gradients as large as past gradients."""

    _op = "Adadelta"
    _kept = (("accum", "accum", 0.0), ("accum_update", "accum_update", 0.0))

    def __init__(
        self,
        learning_rate: Any = 0.001,
        rho: Any = 0.95,
        epsilon: Any = 1e-8,
        use_locking: bool = False,
        name: str = "Adadelta",
    ) -> None:
        super().__init__(use_locking, name, lr=learning_rate, rho=rho, epsilon=epsilon)


class RMSPropOptimizer(_Rule):
    """`s = decay * s + (1 - decay) * g * g`, of squares; `v -= rate * g / sqrt(s + epsilon)`.

    With momentum the step is added to what is left of the last one; `centered` takes the square of
    the mean gradient off the mean of squares.
    """

    def __init__(
        self,
        learning_rate: Any,
        decay: Any = 0.9,
        momentum: Any = 0.0,
        epsilon: Any = 1e-10,
        use_locking: bool = False,
        centered: bool = False,
        name: str = "RMSProp",
    ) -> None:
        numbers = {"lr": learning_rate, "rho": decay, "momentum": momentum, "epsilon": epsilon}
        super().__init__(use_locking, name, **numbers)
        self._op = "CenteredRMSProp" if centered else "RMSProp"
        mean = (("mg", "mg", 0.0),) if centered else ()
        self._kept = (("ms", "rms", 1.0), *mean, ("mom", "momentum", 0.0))


class FtrlOptimizer(_Rule):
    """Follows the regularised leader."""

    def __init__(
        self,
        learning_rate: Any,
        learning_rate_power: float = -0.5,
        initial_accumulator_value: float = 0.1,
        l1_regularization_strength: float = 0.0,
        l2_regularization_strength: float = 0.0,
        use_locking: bool = False,
        name: str = "Ftrl",
        accum_name: str | None = None,
        linear_name: str | None = None,
        l2_shrinkage_regularization_strength: float = 0.0,
        beta: float | None = None,
    ) -> None:
        shrinkage = l2_shrinkage_regularization_strength
        _need_not_negative("initial_accumulator_value", initial_accumulator_value)
        _need_not_negative("l1_regularization_strength", l1_regularization_strength)
        _need_not_negative("l2_regularization_strength", l2_regularization_strength)
        _need_not_negative("l2_shrinkage_regularization_strength", shrinkage)
        if learning_rate_power > 0.0:
            fail("E1103", f"`learning_rate_power` is {learning_rate_power}, expected 0 or less")
        numbers = {"lr": learning_rate, "l1": l1_regularization_strength}
        numbers |= {"l2": l2_regularization_strength, "lr_power": learning_rate_power}
        if shrinkage > 0.0:
            numbers["l2_shrinkage"] = shrinkage
        super().__init__(use_locking, name, **numbers)
        self._op = "FtrlV2" if shrinkage > 0.0 else "Ftrl"
        self._beta = beta or 0.0
        self._slot_names = {"accum": accum_name, "linear": linear_name}
        self._kept = (("accum", "accum", initial_accumulator_value), ("linear", "linear", 0.0))

    def _prepare(self) -> None:
        super()._prepare()
        if self._beta:
            # A start of the squares at beta^2 is as good as this much more of l2.
            self._now["l2"] = self._now["l2"] + self._beta / (2.0 * self._now["lr"])


class AdamOptimizer(_Rule):
    """Adam, as its authors wrote it: both moments, corrected for their start at zero."""

    _op = "Adam"
    _kept = (("m", "m", 0.0), ("v", "v", 0.0))

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta1: Any = 0.9,
        beta2: Any = 0.999,
        epsilon: Any = 1e-8,
        use_locking: bool = False,
        name: str = "Adam",
    ) -> None:
        numbers = {"lr": learning_rate, "beta1": beta1, "beta2": beta2, "epsilon": epsilon}
        super().__init__(use_locking, name, **numbers)

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        first = min(var_list, key=lambda v: str(v.name))
        for number in ("beta1", "beta2"):
            start = lambda number=number: called(self._numbers[number])
            self._create_non_slot_variable(start, f"{number}_power", first)
        super()._create_slots(var_list)

    def _get_beta_accumulators(self) -> tuple[Any, Any]:
        graph = _holdfast.current_graph()
        first = self._get_non_slot_variable("beta1_power", graph)
        return first, self._get_non_slot_variable("beta2_power", graph)

    def _arguments(self, variable: Any) -> dict[str, Any]:
        cast = registry.function("cast")
        powers = [cast(power.read(), variable.dtype) for power in self._get_beta_accumulators()]
        named = {"beta1_power": powers[0], "beta2_power": powers[1]}
        return super()._arguments(variable) | named

    def _resource_apply_sparse(self, grad: Any, handle: Any, indices: Any) -> Any:
        """Moments fade everywhere, so every row moves."""
        shape = registry.function("shape")(handle.read())
        dense = convert_to_tensor(IndexedSlices(grad, indices, shape))
        return self._resource_apply_dense(dense, handle)

    _resource_apply_sparse_duplicate_indices = _resource_apply_sparse

    def _finish(self, update_ops: Sequence[Any], name_scope: str) -> Any:
        graph = _holdfast.current_graph()
        powers, cast = self._get_beta_accumulators(), registry.function("cast")

        def fade() -> list[Any]:
            numbers = (self._now["beta1"], self._now["beta2"])
            return [
                power.assign(power.read() * cast(number, power.dtype), read_value=False)
                for power, number in zip(powers, numbers, strict=True)
            ]

        if graph is None:
            fade()
            return None
        with ordered(graph, list(update_ops)):
            return grouped(graph, [*update_ops, *fade()], "update")


def _need_positive(argument: str, value: float) -> None:
    if value <= 0.0:
        fail("E1103", f"`{argument}` is {value}, expected more than 0")


def _need_not_negative(argument: str, value: float) -> None:
    if value < 0.0:
        fail("E1103", f"`{argument}` is {value}, expected 0 or more")
