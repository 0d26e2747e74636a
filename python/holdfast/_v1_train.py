"""Optimizers of `tf.compat.v1.train`: ops of the graph that change its variables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from . import _holdfast, _registry
from ._graph import Graph, GraphKeys, get_default_graph
from ._graph_control import grouped, ordered
from ._graph_gradients import gradients
from ._graph_variable import GraphVariable
from ._name_scope import name_scope
from ._no_gradients import refuse_no_gradients
from ._tensor import IndexedSlices, convert_to_tensor
from ._variable import Variable
from .errors import fail, unsupported

__all__ = ["NAMES"]


def _dense(gradient: Any) -> Any:
    return gradient.__tf_tensor__() if isinstance(gradient, IndexedSlices) else gradient


class Optimizer:
    """Moves variables along their gradients. Subclasses say how, in `_update`."""

    GATE_NONE, GATE_OP, GATE_GRAPH = 0, 1, 2
    _sparse = True  # rows without a gradient are left alone by the formula itself

    def __init__(self, use_locking: bool, name: str) -> None:
        if not name:
            raise ValueError("an optimizer's ops need a name: `name` is empty")
        self._name = name
        self._slots: dict[str, dict[Any, Any]] = {}

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
        """An operation that makes one step towards a smaller `loss`."""
        pairs = self.compute_gradients(loss, var_list, gate_gradients, grad_loss=grad_loss)
        if all(gradient is None for gradient, _ in pairs):
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
        if _holdfast.current_graph() is None and not _symbolic(loss):
            unsupported(
                f"`{type(self).__name__}` outside of a graph is not supported",
                "optimizers of TensorFlow 1 add ops to a graph",
                fix="build the program under `tf.Graph().as_default()`, and run it in a session",
            )
        graph: Graph = loss.graph
        trainable = graph.get_collection(GraphKeys.TRAINABLE_VARIABLES)
        variables = trainable if var_list is None else list(var_list)
        if not variables:
            raise ValueError(
                "there is no variable to train: the graph has no trainable one"
                if var_list is None
                else "there is no variable to train: `var_list` is empty"
            )
        with graph.as_default():
            found = gradients(loss, variables, None if grad_loss is None else [grad_loss])
        return list(zip(found, variables, strict=True))

    def apply_gradients(
        self, grads_and_vars: Any, global_step: Any = None, name: str | None = None
    ) -> Any:
        """An operation that moves each variable along its gradient."""
        pairs = [(g, variable) for g, variable in grads_and_vars if g is not None]
        if not pairs:
            raise ValueError("`apply_gradients` got no gradient that is not None")
        graph = pairs[0][1].graph
        with graph.as_default():
            # Slots first: making them is no part of a step.
            with ordered(graph, None):
                self._prepare([variable for _, variable in pairs])
            with name_scope(name or self._name):
                updates: list[Any] = []
                for gradient, variable in pairs:
                    if isinstance(gradient, IndexedSlices) and not self._sparse:
                        self._refuse_rows(variable)
                    dense = convert_to_tensor(_dense(gradient), variable.dtype)
                    updates += self._update(dense, variable)
                updates += self._finish(updates)
                if global_step is not None:
                    with ordered(graph, updates):
                        updates.append(global_step.assign_add(1, read_value=False))
            done = grouped(graph, updates, name or self._name)
        graph.add_to_collection(GraphKeys.TRAIN_OP, done)
        return done

    def _refuse_rows(self, variable: Any) -> None:
        unsupported(
            f"`{type(self).__name__}` with a sparse gradient is not supported",
            f"`{variable.name}` is read by rows, and rows without a gradient would move too",
            fix="use `GradientDescentOptimizer`, `AdagradOptimizer` or `AdamOptimizer`",
        )

    # What subclasses say.

    def _prepare(self, variables: Sequence[Any]) -> None:
        """Makes what is kept for each variable."""

    def _update(self, gradient: Any, variable: Any) -> list[Any]:
        """Operations that move one variable."""
        raise NotImplementedError

    def _finish(self, updates: list[Any]) -> list[Any]:
        """Operations that follow when all variables have moved."""
        return []

    # What it keeps.

    def _slot(self, variable: Any, name: str, value: float = 0.0) -> Any:
        """A variable of the same shape, made once."""
        slots = self._slots.setdefault(name, {})
        if variable not in slots:
            known = variable.shape
            fill, shape_of = _registry.function("fill"), _registry.function("shape")
            # One of a loose shape says what its shape is when it has a value.
            sizes = known.as_list if known.is_fully_defined() else lambda: shape_of(variable.read())
            start = lambda: fill(sizes(), convert_to_tensor(value, variable.dtype))
            with name_scope(""):
                slots[variable] = Variable(
                    start, False, name=f"{variable._full_name}/{self._name}", dtype=variable.dtype
                )
        return slots[variable]

    def get_slot(self, var: Any, name: str) -> Any:
        """What it keeps for a variable under `name`, None if nothing."""
        return self._slots.get(name, {}).get(var)

    def get_slot_names(self) -> list[str]:
        """The names of what it keeps."""
        return sorted(self._slots)

    def variables(self) -> list[Any]:
        """All variables it keeps."""
        return [slot for slots in self._slots.values() for slot in slots.values()]


def _symbolic(value: Any) -> bool:
    return isinstance(value, _holdfast.Tensor) and bool(value._symbolic)


def _rate(rate: Any, variable: Any) -> Any:
    if callable(rate) and not isinstance(rate, (_holdfast.Tensor, Variable)):
        rate = rate()
    cast = _registry.function("cast")
    return cast(convert_to_tensor(rate), variable.dtype)


class GradientDescentOptimizer(Optimizer):
    """`v -= rate * g`."""

    def __init__(
        self, learning_rate: Any, use_locking: bool = False, name: str = "GradientDescent"
    ) -> None:
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate

    def _update(self, gradient: Any, variable: Any) -> list[Any]:
        step = gradient * _rate(self._learning_rate, variable)
        return [variable.assign_sub(step, read_value=False)]


class MomentumOptimizer(Optimizer):
    """`m = momentum * m + g; v -= rate * m`."""

    _sparse = False

    def __init__(
        self,
        learning_rate: Any,
        momentum: Any,
        use_locking: bool = False,
        name: str = "Momentum",
        use_nesterov: bool = False,
    ) -> None:
        super().__init__(use_locking, name)
        self._learning_rate, self._momentum, self._nesterov = learning_rate, momentum, use_nesterov

    def _prepare(self, variables: Sequence[Any]) -> None:
        for variable in variables:
            self._slot(variable, "momentum")

    def _update(self, gradient: Any, variable: Any) -> list[Any]:
        rate, momentum = _rate(self._learning_rate, variable), _rate(self._momentum, variable)
        moved = self._slot(variable, "momentum")
        now = moved.assign(moved.read() * momentum + gradient)
        step = gradient * rate + now * momentum * rate if self._nesterov else now * rate
        return [variable.assign_sub(step, read_value=False)]


class AdagradOptimizer(Optimizer):
    """`a += g * g; v -= rate * g / sqrt(a)`."""

    def __init__(
        self,
        learning_rate: Any,
        initial_accumulator_value: float = 0.1,
        use_locking: bool = False,
        name: str = "Adagrad",
    ) -> None:
        if initial_accumulator_value <= 0.0:
            given = f"`initial_accumulator_value` is {initial_accumulator_value}"
            fail("E1103", f"{given}, expected more than 0")
        super().__init__(use_locking, name)
        self._learning_rate, self._initial = learning_rate, initial_accumulator_value

    def _prepare(self, variables: Sequence[Any]) -> None:
        for variable in variables:
            self._slot(variable, "accumulator", self._initial)

    def _update(self, gradient: Any, variable: Any) -> list[Any]:
        kept = self._slot(variable, "accumulator")
        now = kept.assign(kept.read() + gradient * gradient)
        step = gradient * _rate(self._learning_rate, variable) / _registry.function("sqrt")(now)
        return [variable.assign_sub(step, read_value=False)]


class RMSPropOptimizer(Optimizer):
    """`s = decay * s + (1 - decay) * g * g`, of squares; `v -= rate * g / sqrt(s + epsilon)`.

    With momentum the step is added to what is left of the last one; `centered` takes the square of
    the mean gradient off the mean of squares.
    """

    _sparse = False

    def __init__(
        self,
        learning_rate: Any,
        decay: float = 0.9,
        momentum: float = 0.0,
        epsilon: float = 1e-10,
        use_locking: bool = False,
        centered: bool = False,
        name: str = "RMSProp",
    ) -> None:
        super().__init__(use_locking, name)
        self._learning_rate, self._decay, self._momentum = learning_rate, decay, momentum
        self._epsilon, self._centered = epsilon, centered

    def _prepare(self, variables: Sequence[Any]) -> None:
        for variable in variables:
            self._slot(variable, "rms", 1.0)
            self._slot(variable, "momentum")
            if self._centered:
                self._slot(variable, "mg")

    def _update(self, gradient: Any, variable: Any) -> list[Any]:
        spread, moved = self._slot(variable, "rms"), self._slot(variable, "momentum")
        now = spread.assign(spread.read() * self._decay + gradient * gradient * (1 - self._decay))
        if self._centered:
            mean = self._slot(variable, "mg")
            mean_now = mean.assign(mean.read() * self._decay + gradient * (1 - self._decay))
            now = now - mean_now * mean_now
        step = gradient * _rate(self._learning_rate, variable)
        step = step / _registry.function("sqrt")(now + self._epsilon)
        move = moved.assign(moved.read() * self._momentum + step)
        return [variable.assign_sub(move, read_value=False)]


class AdamOptimizer(Optimizer):
    """Adam, as its authors wrote it: both moments, corrected for their start at zero."""

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-8,
        use_locking: bool = False,
        name: str = "Adam",
    ) -> None:
        super().__init__(use_locking, name)
        self._learning_rate, self._epsilon = learning_rate, epsilon
        self._beta1, self._beta2 = beta1, beta2
        self._powers: tuple[Any, Any] | None = None

    def _prepare(self, variables: Sequence[Any]) -> None:
        for variable in variables:
            self._slot(variable, "m")
            self._slot(variable, "v")
        if self._powers is None:
            with name_scope(""):
                self._powers = (
                    Variable(self._beta1, False, name="beta1_power"),
                    Variable(self._beta2, False, name="beta2_power"),
                )

    def _update(self, gradient: Any, variable: Any) -> list[Any]:
        assert self._powers is not None
        sqrt, cast = _registry.function("sqrt"), _registry.function("cast")
        power1, power2 = (cast(power.read(), variable.dtype) for power in self._powers)
        first, second = self._slot(variable, "m"), self._slot(variable, "v")
        rate = _rate(self._learning_rate, variable) * sqrt(1 - power2) / (1 - power1)
        m = first.assign(first.read() * self._beta1 + gradient * (1 - self._beta1))
        v = second.assign(second.read() * self._beta2 + gradient * gradient * (1 - self._beta2))
        return [variable.assign_sub(rate * m / (sqrt(v) + self._epsilon), read_value=False)]

    def _finish(self, updates: list[Any]) -> list[Any]:
        assert self._powers is not None
        power1, power2 = self._powers
        with ordered(power1.graph, updates):
            return [
                power1.assign(power1.read() * self._beta1, read_value=False),
                power2.assign(power2.read() * self._beta2, read_value=False),
            ]

    def variables(self) -> list[Any]:
        """All variables it keeps."""
        return [*super().variables(), *(self._powers or ())]


def get_global_step(graph: Graph | None = None) -> Any:
    """The variable that counts steps, None if nobody made one."""
    held = (graph or get_default_graph()).get_collection(GraphKeys.GLOBAL_STEP)
    return held[0] if held else None


def create_global_step(graph: Graph | None = None) -> Any:
    """Makes the variable that counts steps."""
    graph = graph or get_default_graph()
    if get_global_step(graph) is not None:
        raise ValueError("the graph has its global step already: `get_global_step` gives it")
    from ._dtypes import int64

    with graph.as_default(), name_scope(""):
        names = [GraphKeys.GLOBAL_VARIABLES, GraphKeys.GLOBAL_STEP]
        made: Any = GraphVariable(0, False, name="global_step", dtype=int64, collections=names)
    return made


def get_or_create_global_step(graph: Graph | None = None) -> Any:
    """The variable that counts steps."""
    found = get_global_step(graph)
    return found if found is not None else create_global_step(graph)


def global_step(sess: Any, global_step_tensor: Any) -> int:
    """The number of steps in a session."""
    return int(sess.run(global_step_tensor))


def exponential_decay(
    learning_rate: Any,
    global_step: Any,
    decay_steps: Any,
    decay_rate: Any,
    staircase: bool = False,
    name: str | None = None,
) -> Any:
    """`learning_rate * decay_rate ** (global_step / decay_steps)`."""
    from ._dtypes import float32

    cast, floor = _registry.function("cast"), _registry.function("floor")
    rate = convert_to_tensor(learning_rate)
    past = cast(convert_to_tensor(global_step), float32)
    past = past / cast(convert_to_tensor(decay_steps), float32)
    past = floor(past) if staircase else past
    return rate * cast(convert_to_tensor(decay_rate), rate.dtype) ** cast(past, rate.dtype)


class Saver:
    """Not supported yet."""

    def __init__(self, *_: Any, **__: Any) -> None:
        unsupported(
            "`tf.compat.v1.train.Saver` is not supported",
            "there are no checkpoint files of graphs yet",
            fix="fetch the variables with `sess.run`, and keep them with `numpy.savez`",
        )


NAMES: dict[str, Any] = {
    f"compat.v1.train.{value.__name__}": value
    for value in (
        Optimizer,
        GradientDescentOptimizer,
        MomentumOptimizer,
        AdagradOptimizer,
        RMSPropOptimizer,
        AdamOptimizer,
        Saver,
        get_global_step,
        create_global_step,
        get_or_create_global_step,
        global_step,
        exponential_decay,
    )
}
