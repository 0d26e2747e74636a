"""The base of the optimizers of `tf.compat.v1.train`: which variables move, when, and what is kept.

How a variable moves is an op, one per kind of optimizer; see `optimizers.py`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from typing import Any

from .. import _holdfast
from .._gradients.symbolic import gradients
from .._gradients.tape import GradientTape
from .._graphs.control import grouped, ordered
from .._graphs.graph import Graph, GraphKeys, variable_scope_prefix
from .._graphs.init_scope import init_scope
from .._graphs.name_scope import name_scope
from .._graphs.operation import operation_of
from .._messages.contexts import contextmanager
from .._messages.no_gradients import refuse_no_gradients
from .._structures import nesting
from .._tensors import registry
from .._tensors.dtypes import as_dtype, bfloat16, float16, float32, float64
from .._tensors.indexed_slices import IndexedSlices
from .._tensors.tensor import convert_to_tensor
from .._variables.variable import Variable
from ..errors import fail

__all__ = ["Optimizer", "called", "run_op"]


def called(value: Any) -> Any:
    """What a number of an optimizer is now: a function is asked for it."""
    plain = isinstance(value, (_holdfast.Tensor, _holdfast.VariableBase))
    return value() if callable(value) and not plain else value


def run_op(op: str, **arguments: Any) -> Any:
    """Runs an op that only changes state; in a graph the operation that does."""
    registry.raw_op(op, **arguments)
    graph = _holdfast.current_graph()
    return None if graph is None else operation_of(graph._nodes()[-1])


def _is_gradient(value: Any) -> bool:
    return isinstance(value, (_holdfast.Tensor, IndexedSlices))


@contextmanager
def _made_once() -> Any:
    """Where what is kept is made: no part of a step, and outside of a function that is traced."""
    graph = _holdfast.current_graph()
    with init_scope() if graph is None else ordered(graph, None):
        yield


class Optimizer:
    """Moves variables along their gradients.

    Subclasses say how, in `_resource_apply_dense` and `_resource_apply_sparse`; `_create_slots`
    makes what they keep for each variable, `_prepare` and `_finish` come before and after a step.
    """

    GATE_NONE, GATE_OP, GATE_GRAPH = 0, 1, 2

    def __init__(
        self, use_locking: bool, name: str, gradient_aggregator: Any = None, **_: Any
    ) -> None:
        if not name:
            raise ValueError("an optimizer's ops need a name: `name` is empty")
        self._name = name
        self._use_locking = use_locking
        self._slots: dict[str, dict[Any, Any]] = {}
        self._non_slots: dict[tuple[str, Any], Any] = {}

    def get_name(self) -> str:
        """The name of its ops."""
        return self._name

    def minimize(
        self,
        loss: Any,
        global_step: Any = None,
        var_list: Any = None,
        gate_gradients: int = GATE_OP,
        aggregation_method: Any = None,
        colocate_gradients_with_ops: bool = False,
        name: str | None = None,
        grad_loss: Any = None,
    ) -> Any:
        """One step towards a smaller `loss`; in a graph the operation that makes it."""
        pairs = self.compute_gradients(loss, var_list, gate_gradients, grad_loss=grad_loss)
        if all(gradient is None for gradient, _ in pairs):
            if callable(loss) and not _is_gradient(loss):
                names = ", ".join(f"`{v.name}`" for _, v in pairs)
                raise ValueError(f"no gradient of the loss reaches any variable of {names}")
            refuse_no_gradients(loss, [variable for _, variable in pairs])
        return self.apply_gradients(pairs, global_step, name)

    def compute_gradients(
        self,
        loss: Any,
        var_list: Any = None,
        gate_gradients: int = GATE_OP,
        aggregation_method: Any = None,
        colocate_gradients_with_ops: bool = False,
        grad_loss: Any = None,
    ) -> list[tuple[Any, Any]]:
        """Each variable with the gradient of `loss`, None where there is none."""
        if callable(loss) and not _is_gradient(loss):
            return self._taped(loss, var_list, grad_loss)
        if _holdfast.current_graph() is None and not _symbolic(loss):
            raise RuntimeError(
                f"`{type(self).__name__}` got a value of the loss, expected a function: outside of "
                "a graph the loss is computed here, so that its gradient can be: "
                "`optimizer.minimize(lambda: loss(...), var_list=...)`"
            )
        if gate_gradients not in (self.GATE_NONE, self.GATE_OP, self.GATE_GRAPH):
            raise ValueError(
                f"`gate_gradients` is {gate_gradients!r}, expected one of "
                "`Optimizer.GATE_NONE`, `GATE_OP` and `GATE_GRAPH`"
            )
        self._assert_valid_dtypes([loss] if grad_loss is None else [loss, grad_loss])
        graph: Graph = loss.graph
        trainable = graph.get_collection(GraphKeys.TRAINABLE_VARIABLES)
        variables = trainable if var_list is None else nesting.flatten(var_list)
        self._need_variables(variables, var_list)
        with graph.as_default():
            found = gradients(loss, variables, None if grad_loss is None else [grad_loss])
        return list(zip(found, variables, strict=True))

    def _taped(self, loss: Any, var_list: Any, grad_loss: Any) -> list[tuple[Any, Any]]:
        with GradientTape() as tape:
            if var_list is not None:
                tape.watch(var_list)
            value = loss()
        variables = list(
            tape.watched_variables() if var_list is None else nesting.flatten(var_list)
        )
        self._need_variables(variables, var_list)
        return list(zip(tape.gradient(value, variables, grad_loss), variables, strict=True))

    def _need_variables(self, variables: Sequence[Any], var_list: Any) -> None:
        if not variables:
            raise ValueError(
                "there is no variable to train: nothing trainable is used"
                if var_list is None
                else "there is no variable to train: `var_list` is empty"
            )
        for variable in variables:
            if not isinstance(variable, (_holdfast.VariableBase, _holdfast.Tensor)):
                kind = type(variable).__name__
                fail("E1104", f"`var_list` holds {kind}, expected Variables or tensors")

    def _valid_dtypes(self) -> set[Any]:
        """The dtypes that losses may have."""
        return {float16, bfloat16, float32, float64}

    def _assert_valid_dtypes(self, tensors: Sequence[Any]) -> None:
        for tensor in tensors:
            if as_dtype(tensor.dtype) not in self._valid_dtypes():
                names = ", ".join(sorted(dtype.name for dtype in self._valid_dtypes()))
                raise ValueError(f"the loss is {as_dtype(tensor.dtype).name}, expected {names}")

    def apply_gradients(
        self, grads_and_vars: Any, global_step: Any = None, name: str | None = None
    ) -> Any:
        """Moves each variable along its gradient; in a graph the operation that does."""
        given = list(grads_and_vars)
        if not given:
            raise ValueError("`apply_gradients` got no variables")
        for _, variable in given:
            if not isinstance(variable, _holdfast.VariableBase):
                raise NotImplementedError(
                    f"a {type(variable).__name__} is no Variable: only what is one can be trained"
                )
        pairs = [(_as_gradient(g, v), v) for g, v in given if g is not None]
        if not pairs:
            names = ", ".join(f"`{v.name}`" for _, v in given)
            raise ValueError(f"`apply_gradients` got no gradient for any of {names}")
        graph = getattr(pairs[0][1], "_python_graph", None)
        with contextlib.nullcontext() if graph is None else graph.as_default():
            with _made_once():
                self._create_slots([variable for _, variable in pairs])
            with name_scope(name or self._name):
                self._prepare()
                updates = [self._moved(gradient, variable) for gradient, variable in pairs]
                done = self._finish(updates, name or self._name)
                if global_step is not None:
                    with _after([done]):
                        done = _counted(global_step)
            if graph is None:
                return None
            step = grouped(graph, [done], name or self._name)
        if step not in graph.get_collection(GraphKeys.TRAIN_OP):
            graph.add_to_collection(GraphKeys.TRAIN_OP, step)
        return step

    def _moved(self, gradient: Any, variable: Any) -> Any:
        if isinstance(gradient, IndexedSlices):
            done = self._resource_apply_sparse_duplicate_indices(
                gradient.values, variable, gradient.indices
            )
        else:
            done = self._resource_apply_dense(gradient, variable)
        if variable.constraint is None:
            return done
        with _after([done]):
            return variable.assign(variable.constraint(variable.read()), read_value=False)

    # What subclasses say.

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        """Makes what is kept for each variable."""

    def _prepare(self) -> None:
        """Makes tensors of the numbers that all variables share."""

    def _resource_apply_dense(self, grad: Any, handle: Any) -> Any:
        """Moves a variable along a gradient for all of it."""
        raise NotImplementedError(f"`{type(self).__name__}` says no `_resource_apply_dense`")

    def _resource_apply_sparse(self, grad: Any, handle: Any, indices: Any) -> Any:
        """Moves the rows of a variable that `indices` names, each at most once."""
        raise NotImplementedError(f"`{type(self).__name__}` says no `_resource_apply_sparse`")

    def _resource_apply_sparse_duplicate_indices(self, grad: Any, handle: Any, indices: Any) -> Any:
        """Moves rows that may be named more than once: what they get is added up first."""
        rows, places = registry.function("unique")(indices)
        count = registry.function("size")(rows)
        sums = registry.function("math.unsorted_segment_sum")(grad, places, count)
        return self._resource_apply_sparse(sums, handle, rows)

    def _finish(self, update_ops: Sequence[Any], name_scope: str) -> Any:
        """What follows when all variables have moved."""
        graph = _holdfast.current_graph()
        return None if graph is None else grouped(graph, list(update_ops), "update")

    def _call_if_callable(self, param: Any) -> Any:
        return called(param)

    # What it keeps.

    def _slot_of(self, variable: Any, slot: str, op_name: str, start: Callable[[], Any]) -> Any:
        """A variable of the same shape that begins as `start()`, made once.

        It is named after the variable and `op_name`.
        """
        slots = self._slots.setdefault(slot, {})
        key = variable.ref()
        if key not in slots:
            with name_scope(""):
                name = f"{variable_scope_prefix()}{variable._full_name}/{op_name}"
                loose = None if variable.shape.is_fully_defined() else variable.shape
                slots[key] = Variable(start, False, name=name, dtype=variable.dtype, shape=loose)
        return slots[key]

    def _filled_slot(self, variable: Any, slot: str, op_name: str, value: float) -> Any:
        def start() -> Any:
            one = convert_to_tensor(value, variable.dtype)
            if variable.shape.is_fully_defined():
                return registry.function("fill")(variable.shape.as_list(), one)
            shape = registry.function("shape")(variable.initialized_value())
            return registry.function("fill")(shape, one)

        return self._slot_of(variable, slot, op_name, start)

    def _zeros_slot(self, var: Any, slot_name: str, op_name: str) -> Any:
        """A variable like `var` that begins at zero, made once."""
        return self._filled_slot(var, slot_name, op_name, 0.0)

    def _get_or_make_slot(self, var: Any, val: Any, slot_name: str, op_name: str) -> Any:
        """A variable that begins as `val`, made once."""
        return self._slot_of(var, slot_name, op_name, lambda: val)

    def _create_non_slot_variable(self, initial_value: Any, name: str, colocate_with: Any) -> Any:
        """A variable that belongs to the optimizer itself, made once per graph."""
        key = (name, _graph_key(colocate_with))
        if key not in self._non_slots:
            with name_scope(""):
                self._non_slots[key] = Variable(initial_value, False, name=name)
        return self._non_slots[key]

    def _get_non_slot_variable(self, name: str, graph: Any = None) -> Any:
        return self._non_slots.get((name, None if graph is None else id(graph)))

    def get_slot(self, var: Any, name: str) -> Any:
        """What it keeps for a variable under `name`, None if nothing."""
        return self._slots.get(name, {}).get(var.ref())

    def get_slot_names(self) -> list[str]:
        """The names of what it keeps."""
        return sorted(self._slots)

    def variables(self) -> list[Any]:
        """All variables it keeps that belong to what is being written now, by their names."""
        graph = _holdfast.current_graph()
        kept = [slot for slots in self._slots.values() for slot in slots.values()]
        kept += self._non_slots.values()
        here = [v for v in kept if getattr(v, "_python_graph", None) in (None, graph)]
        return sorted(here if graph is not None else kept, key=lambda v: str(v.name))


def _graph_key(variable: Any) -> Any:
    graph = getattr(variable, "_python_graph", None)
    return None if graph is None else id(graph)


def _as_gradient(gradient: Any, variable: Any) -> Any:
    if isinstance(gradient, IndexedSlices):
        return gradient
    try:
        return convert_to_tensor(gradient, variable.dtype)
    except (TypeError, ValueError) as error:
        raise TypeError(
            f"the gradient of `{variable.name}` is of type {type(gradient).__name__}, expected a "
            "tensor, IndexedSlices or None"
        ) from error


def _after(done: Sequence[Any]) -> Any:
    graph = _holdfast.current_graph()
    return contextlib.nullcontext() if graph is None else ordered(graph, list(done))


def _counted(step: Any) -> Any:
    return step.assign_add(1, read_value=False)


def _symbolic(value: Any) -> bool:
    return isinstance(value, _holdfast.Tensor) and bool(value._symbolic)
