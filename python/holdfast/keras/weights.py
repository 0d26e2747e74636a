"""What layers show of the variables that they hold."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _holdfast
from .._tensors.tensor import convert_to_tensor
from .._variables.variable import Variable
from ..errors import fail

__all__ = ["HasWeights"]


class HasWeights:
    """The part of a layer that has to do with its variables."""

    name: Any
    built: Any
    submodules: Any

    @property
    def variables(self) -> list[Variable]:
        """All variables: the weights, and the states of streams of random numbers."""
        found: list[Variable] = _holdfast.variables_and_seeds(self)
        return found

    @property
    def _seed_generators(self) -> list[Any]:
        """The streams that it draws from itself, as Keras lists them."""
        from .random import SeedGenerator

        return [SeedGenerator._of_state(state) for state in _holdfast.seed_states(self)]

    @property
    def trainable_variables(self) -> list[Variable]:
        """Those that training changes."""
        return list(super().trainable_variables)  # type: ignore[misc]

    @property
    def non_trainable_variables(self) -> list[Variable]:
        """Those that training leaves alone."""
        trained = {id(variable) for variable in self.trainable_variables}
        return [variable for variable in self.variables if id(variable) not in trained]

    @property
    def weights(self) -> list[Variable]:
        """All weights, in the order they were made."""
        return list(super().variables)  # type: ignore[misc]

    @property
    def trainable_weights(self) -> list[Variable]:
        """Those that training changes."""
        return self.trainable_variables

    @property
    def non_trainable_weights(self) -> list[Variable]:
        """Those of them that training leaves alone."""
        trained = {id(variable) for variable in self.trainable_variables}
        return [weight for weight in self.weights if id(weight) not in trained]

    @property
    def metrics(self) -> list[Any]:
        """The metrics that it and the layers inside it hold."""
        from .metrics import Metric

        return [part for part in self.submodules if isinstance(part, Metric)]

    @property
    def metrics_variables(self) -> list[Variable]:
        """The variables of those."""
        return [variable for metric in self.metrics for variable in metric.variables]

    def get_weights(self) -> list[Any]:
        """The values of all weights, as NumPy arrays."""
        return [weight.numpy() for weight in self.weights]

    def set_weights(self, weights: list[Any]) -> None:
        """Gives all weights values, in the order of `weights`; all of them or none."""
        mine = self.weights
        if len(mine) != len(weights):
            unbuilt = not mine and not self.built
            fail(
                "E1104",
                f"layer `{self.name}` has {len(mine)} weights, and {len(weights)} values came",
                "it is not built yet: weights are made for the first shape it is given"
                if unbuilt
                else "",
                fix="call it on data, or `build(input_shape)`, first" if unbuilt else "",
            )
        values = [np.asarray(value) for value in weights]
        for weight, value in zip(mine, values, strict=True):
            if tuple(weight.shape) != value.shape:
                fail(
                    "E1102",
                    f"the weight `{weight._full_name}` has the shape {tuple(weight.shape)}, "
                    f"and a value of shape {value.shape} came",
                )
        for weight, value in zip(mine, values, strict=True):
            weight.assign(value)

    def _own_variables(self) -> list[Variable]:
        """Those that it holds itself, and no layer inside it."""
        inside = {id(v) for part in self.submodules for v in part.variables}
        return [weight for weight in self.weights if id(weight) not in inside]

    def save_own_variables(self, store: dict[str, Any]) -> None:
        """Puts the values of its own variables into a dict, for a file."""
        for i, variable in enumerate(self._own_variables()):
            store[str(i)] = convert_to_tensor(variable)

    def load_own_variables(self, store: dict[str, Any]) -> None:
        """Takes them back; all of them, or none."""
        mine = self._own_variables()
        if len(mine) != len(store):
            fail(
                "E1104",
                f"layer `{self.name}` has {len(mine)} variables of its own, and {len(store)} came",
                "" if self.built else "the layer is not built",
            )
        for i, variable in enumerate(mine):
            variable.assign(store[str(i)])

    def count_params(self) -> int:
        """How many numbers its weights have."""
        if not self.built:
            fail(
                "E1104",
                f"layer `{self.name}` ({type(self).__name__}) is not built yet, and "
                "`count_params` counts its weights",
                "weights are made for the first shape that it is given",
                fix="call it, or `build(input_shape)`, first",
            )
        return sum(weight.shape.num_elements() or 0 for weight in self.weights)
