"""`tf.keras.optimizers`: C++'s optimizers and schedules; all can be subclassed here."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ... import _holdfast
from ..._messages.gradients import refuse_tensors
from ..._messages.no_gradients import refuse_with_reasons
from ..._tensors.indexed_slices import IndexedSlices
from ..._tensors.tensor import convert_to_tensor
from ...errors import DiagnosticError, fail, unsupported
from .. import declared
from ..by_name import FromConfig
from ..configs import CustomObjectScope, deserialize_keras_object, serialize_keras_object
from ..stateless import StatelessOptimizer
from . import schedules
from .checkpoint_names import kept_by, rate_of, slot_of


def _parts(gradient: Any) -> Any:
    """A gradient as C++ takes it."""
    if isinstance(gradient, IndexedSlices):
        return (gradient.values, gradient.indices, gradient.dense_shape)
    return gradient


def _made_again(kind: Any, config: dict[str, Any], step: int) -> Any:
    made = kind.from_config(config)
    made.iterations.assign(step)
    return made


class _Methods(FromConfig, StatelessOptimizer):
    """What optimizers do in Python beside what C++ asks them."""

    def apply_gradients(self, grads_and_vars: Iterable[tuple[Any, Any]]) -> Any:
        """One step: moves each variable along its gradient; None moves nothing."""
        pairs = list(grads_and_vars)
        self.apply([g for g, _ in pairs], [v for _, v in pairs])
        return self.iterations  # type: ignore[attr-defined]

    def apply(self, grads: Sequence[Any], trainable_variables: Any = None) -> None:
        """The same, with gradients and variables apart; without: those it was built with."""
        if trainable_variables is None:
            trainable_variables = _holdfast.trained_variables(self)
            if not trainable_variables:
                fail(
                    "E1104",
                    f"`{type(self).__name__}.apply` got gradients without variables",
                    "it has seen no variables yet, so it can't tell which are meant",
                    fix="call `build(trainable_variables)` first, or give the variables",
                )
        variables = list(trainable_variables)
        refuse_tensors(variables, f"`{self.name}`")  # type: ignore[attr-defined]
        try:
            _holdfast.apply_gradients(self, [_parts(g) for g in grads], variables)
        except DiagnosticError as error:
            if error.code == "E0501":
                refuse_with_reasons(error.diagnostic, variables)
            raise

    def scale_loss(self, loss: Any) -> Any:
        """The loss times what keeps small gradients from vanishing."""
        return _holdfast.scale_loss(self, convert_to_tensor(loss))

    def __reduce__(self) -> tuple[Any, ...]:
        """What `copy` and `pickle` make one from again: its config, and where it stands."""
        kind = type(self).__name__
        if _holdfast.trained_variables(self):
            unsupported(
                f"`{self.name}` ({kind}) can't be copied: it keeps values for variables",  # type: ignore[attr-defined]
                "a copy knows no variables, and what is kept for each would be lost",
                fix=f"make another one, `{kind}.from_config(optimizer.get_config())`, "
                "or save the model that it trains",
            )
        step = int(self.iterations)  # type: ignore[attr-defined]
        return _made_again, (type(self), self.get_config(), step)  # type: ignore[attr-defined]

    def finalize_variable_values(self, var_list: Iterable[Any]) -> None:
        """Puts moving averages into the variables, where there are any."""
        _holdfast.finalize_variables(self, list(var_list))

    def exclude_from_weight_decay(self, var_list: Any = None, var_names: Any = None) -> None:
        """Leaves these variables alone, and those in whose names a pattern is found."""
        _holdfast.exclude_from_decay(self, list(var_list or []), list(var_names or []))

    def add_variable(
        self,
        shape: Any,
        initializer: Any = "zeros",
        dtype: Any = None,
        aggregation: str = "none",
        layout: Any = None,
        name: str | None = None,
    ) -> Any:
        """A new variable that is kept from step to step."""
        if aggregation not in ("none", "only_first_replica", "sum", "mean") or layout is not None:
            fail("E1105", "`add_variable` of an optimizer knows one device: no `layout`")
        return _holdfast.add_optimizer_variable(self, name or "variable", shape, initializer, dtype)

    def add_variable_from_reference(
        self, reference_variable: Any, name: str | None = None, initializer: Any = "zeros"
    ) -> Any:
        """One with the shape and dtype of another."""
        plain = str(reference_variable._full_name).replace("/", "_")
        return self.add_variable(
            reference_variable.shape,
            initializer,
            reference_variable.dtype,
            name=f"{plain}_{name or 'var'}",
        )

    def add_optimizer_variables(
        self, trainable_variables: Any, name: Any, initializer: Any = "zeros"
    ) -> Any:
        """A variable beside each of some others; of several names, one list for each name."""
        variables = list(trainable_variables)
        if isinstance(name, str):
            return [self.add_variable_from_reference(v, name, initializer) for v in variables]
        names = list(name)
        first = initializer if isinstance(initializer, (list, tuple)) else [initializer]
        firsts = list(first) * len(names) if len(first) == 1 else list(first)
        if len(firsts) != len(names):
            fail(
                "E1104",
                f"`add_optimizer_variables` got {len(firsts)} initializers for {len(names)} names",
            )
        return tuple(
            [self.add_variable_from_reference(v, one, start) for v in variables]
            for one, start in zip(names, firsts, strict=True)
        )

    @classmethod
    def from_config(
        cls, config: dict[str, Any], custom_objects: dict[str, Any] | None = None
    ) -> Any:
        """One made with what `get_config` gave."""
        with CustomObjectScope(custom_objects or {}):
            return super().from_config(config)

    def assign(self, variable: Any, value: Any) -> None:
        """Sets a variable."""
        variable.assign(value)

    def assign_add(self, variable: Any, value: Any) -> None:
        """Adds to a variable."""
        variable.assign_add(value)

    def assign_sub(self, variable: Any, value: Any) -> None:
        """Takes off a variable."""
        variable.assign_sub(value)

    def save_own_variables(self, store: dict[str, Any]) -> None:
        """Puts the values of all that is kept into a dict, for a file."""
        for i, variable in enumerate(self.variables):  # type: ignore[attr-defined]
            store[str(i)] = variable.numpy()

    def load_own_variables(self, store: dict[str, Any]) -> None:
        """Takes them back; all of them, or none."""
        self.set_weights([store[str(i)] for i in range(len(store))])

    def _checkpoint_children(self) -> dict[str, Any]:
        return kept_by(self)

    def _checkpoint_child(self, name: str) -> Any:
        return {"iter": self.iterations, "learning_rate": rate_of(self)}.get(name)  # type: ignore[attr-defined]

    def _checkpoint_slot(self, variable: Any, name: str) -> Any:
        return slot_of(self, variable, name)

    def _get_variable_index(self, variable: Any) -> int:
        return int(_holdfast.variable_index(self, variable))

    def set_weights(self, weights: Sequence[Any]) -> None:
        """Sets all that is kept, in the order of `variables`."""
        kept = self.variables  # type: ignore[attr-defined]
        if len(kept) != len(weights):
            fail(
                "E1104",
                f"`set_weights` of {type(self).__name__} got {len(weights)} values, "
                f"expected {len(kept)}",
                "one for each of its `variables`, which `build` makes",
            )
        for variable, value in zip(kept, weights, strict=True):
            variable.assign(value)


_holdfast.set_standard_apply(_Methods.apply)
_TAKEN = frozenset({"name", "learning_rate"})
_CLASSES = declared.export("optimizers", _Methods, globals(), _TAKEN)
Optimizer: Any = declared.class_of("optimizers.Optimizer")


def _kept(name: str, doc: str) -> property:
    """A variable that an optimizer keeps, by its name; None before it is built."""
    return property(lambda self: next((v for v in self.variables if v.name == name), None), doc=doc)


_scaling: Any = declared.class_of("optimizers.LossScaleOptimizer")
_scaling.dynamic_scale = _kept("dynamic_scale", "What losses are multiplied with now.")
_scaling.step_counter = _kept("step_counter", "Steps since the scale changed last.")


def get(identifier: Any) -> Any:
    """The optimizer of a name or of a config, or itself."""
    if isinstance(identifier, type):
        return identifier()
    if isinstance(identifier, str):
        identifier = identifier.lower()
    if identifier is None:
        return None
    return _holdfast.keras_object(identifier, "optimizers", "`identifier` of `optimizers.get`")


def serialize(optimizer: Any) -> Any:
    """What it can be made from again."""
    return serialize_keras_object(optimizer)


def deserialize(config: Any, custom_objects: dict[str, Any] | None = None) -> Any:
    """The optimizer that a config describes."""
    if custom_objects:
        return deserialize_keras_object(config, custom_objects)
    return get(config)


from .multi import MultiOptimizer, OptimizerMap

__all__ = [  # noqa: PLE0604
    *_CLASSES,
    "MultiOptimizer",
    "OptimizerMap",
    "deserialize",
    "get",
    "schedules",
    "serialize",
]
