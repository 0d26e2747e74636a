"""`tf.train.ExponentialMovingAverage`: variables that follow others slowly."""

from __future__ import annotations

import contextlib
from typing import Any

from .. import _holdfast
from .._graphs.control import grouped, ordered
from .._graphs.graph import GraphKeys, get_default_graph, variable_scope_prefix
from .._graphs.init_scope import init_scope
from .._graphs.name_scope import name_scope
from .._tensors import registry
from .._tensors.dtypes import bfloat16, float16, float32, float64
from .._tensors.tensor import convert_to_tensor
from ..errors import fail
from .variable import Variable

__all__ = ["ExponentialMovingAverage"]


def _zeros_like(value: Any) -> Any:
    return lambda: registry.function("zeros_like")(value)


class ExponentialMovingAverage:
    """Keeps an average of each variable or tensor: `average -= (1 - decay) * (average - value)`.

    With `num_updates` the first averages decay faster. `zero_debias` corrects averages of tensors
    for their start at zero.
    """

    def __init__(
        self,
        decay: Any,
        num_updates: Any = None,
        zero_debias: bool = False,
        name: str = "ExponentialMovingAverage",
    ) -> None:
        self._decay, self._num_updates = decay, num_updates
        self._zero_debias, self._name = zero_debias, name
        self._averages: dict[Any, Any] = {}
        self._debiased: dict[Any, tuple[Any, Any]] = {}

    @property
    def name(self) -> str:
        """The last part of the averages' names."""
        return self._name

    def apply(self, var_list: Any = None) -> Any:
        """Brings the averages of `var_list` up to date; in a graph the operation that does."""
        graph = _holdfast.current_graph()
        if var_list is None:
            var_list = get_default_graph().get_collection(GraphKeys.TRAINABLE_VARIABLES)
        for value in var_list:
            if value.dtype not in (float16, bfloat16, float32, float64):
                fail(
                    "E1104",
                    f"an average of {value.dtype.name} values is asked for, expected float16, "
                    "bfloat16, float32 or float64",
                )
            if value.ref() not in self._averages:
                with init_scope() if graph is None else ordered(graph, None):
                    self._averages[value.ref()] = self._new(value)
        with name_scope(self._name):
            rate = 1.0 - self._decay_now()
            updates = [self._moved(value, rate) for value in var_list]
        return None if graph is None else grouped(graph, updates, self._name)

    def _decay_now(self) -> Any:
        decay = convert_to_tensor(self._decay, float32)
        if self._num_updates is None:
            return decay
        count = registry.function("cast")(convert_to_tensor(self._num_updates), float32)
        return registry.function("minimum")(decay, (count + 1.0) / (count + 10.0))

    def _new(self, value: Any) -> Any:
        variable = isinstance(value, _holdfast.VariableBase)
        with name_scope(""):
            title = f"{variable_scope_prefix()}{_name_of(value)}/{self._name}"
            if variable:
                graph = getattr(value, "_python_graph", None)
                if graph is not None:
                    graph.add_to_collection(GraphKeys.MOVING_AVERAGE_VARIABLES, value)
                return Variable(value.initialized_value(), False, name=title)
            average = Variable(_zeros_like(value), False, name=title)
            if self._zero_debias:
                self._debiased[average.ref()] = (
                    Variable(_zeros_like(value), False, name=f"{title}/biased"),
                    Variable(0.0, False, name=f"{title}/local_step", dtype=value.dtype),
                )
            return average

    def _moved(self, value: Any, rate: Any) -> Any:
        average = self._averages[value.ref()]
        now = value.read() if isinstance(value, _holdfast.VariableBase) else value
        share = registry.function("cast")(rate, average.dtype)
        if average.ref() not in self._debiased:
            return average.assign_sub((average.read() - now) * share, read_value=False)
        biased, count = self._debiased[average.ref()]
        graph = _holdfast.current_graph()
        first = [biased.assign_sub((biased.read() - now) * share, read_value=False)]
        first.append(count.assign_add(1.0, read_value=False))
        with contextlib.nullcontext() if graph is None else ordered(graph, first):
            power = registry.function("pow")(1.0 - share, count.read())
            return average.assign(biased.read() / (1.0 - power), read_value=False)

    def average(self, var: Any) -> Any:
        """The variable that holds the average of `var`, None if there is none."""
        return self._averages.get(var.ref())

    def average_name(self, var: Any) -> str:
        """The name of the average of `var`, made or not."""
        made = self._averages.get(var.ref())
        if made is not None:
            return str(made.name).partition(":")[0]
        return f"{variable_scope_prefix()}{_name_of(var)}/{self._name}"

    def variables_to_restore(self, moving_avg_variables: Any = None) -> dict[str, Any]:
        """All variables by the names to restore them from: averaged ones by their average's."""
        graph = get_default_graph()
        if moving_avg_variables is None:
            moving_avg_variables = [
                *graph.get_collection(GraphKeys.TRAINABLE_VARIABLES),
                *graph.get_collection(GraphKeys.MOVING_AVERAGE_VARIABLES),
            ]
        averaged = {v.ref() for v in moving_avg_variables}
        found = {self.average_name(v): v for v in moving_avg_variables}
        names = {_name_of(v) for v in moving_avg_variables}
        for v in graph.get_collection(GraphKeys.GLOBAL_VARIABLES):
            if v.ref() not in averaged and _name_of(v) not in names and _name_of(v) not in found:
                found[_name_of(v)] = v
        return found


def _name_of(value: Any) -> str:
    if isinstance(value, _holdfast.Tensor) and not value._symbolic:
        return "tensor"  # eager tensors have no names
    return str(value.name).partition(":")[0]
