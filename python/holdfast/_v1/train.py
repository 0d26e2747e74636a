"""`tf.compat.v1.train`: optimizers, the count of steps, rates that fall."""

from __future__ import annotations

from typing import Any

from .. import _holdfast
from .._graphs.graph import Graph, GraphKeys, get_default_graph
from .._graphs.name_scope import name_scope
from .._tensors.dtypes import int64
from .._variables.graph_variable import GraphVariable
from .._variables.moving_average import ExponentialMovingAverage
from . import decays, optimizers, saver
from .optimizer import Optimizer

__all__ = ["NAMES"]


def get_global_step(graph: Graph | None = None) -> Any:
    """The variable that counts steps, None if nobody made one."""
    held = (graph or get_default_graph()).get_collection(GraphKeys.GLOBAL_STEP)
    if not held:
        return None
    assert_global_step(held[0])
    return held[0]


def assert_global_step(global_step_tensor: Any) -> None:
    """Refuses a count of steps that is no integer scalar."""
    step = global_step_tensor
    if not any(isinstance(step, kind) for kind in (_holdfast.Tensor, _holdfast.VariableBase)):
        raise TypeError(
            f"the global step is a {type(step).__name__}, expected a Variable or tensor"
        )
    if not step.dtype.is_integer:
        raise TypeError(f"the global step is {step.dtype.name}, expected an integer dtype")
    if step.shape.rank not in (0, None):
        raise TypeError(f"the global step has shape {step.shape}, expected a scalar")


def create_global_step(graph: Graph | None = None) -> Any:
    """Makes the variable that counts steps."""
    graph = graph or get_default_graph()
    if get_global_step(graph) is not None:
        raise ValueError("the graph has its global step already: `get_global_step` gives it")
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


NAMES: dict[str, Any] = {
    f"compat.v1.train.{value.__name__}": value
    for value in (
        Optimizer,
        ExponentialMovingAverage,
        *(getattr(optimizers, name) for name in optimizers.__all__),
        saver.Saver,
        saver.checkpoint_exists,
        saver.remove_checkpoint,
        get_global_step,
        assert_global_step,
        create_global_step,
        get_or_create_global_step,
        global_step,
        *(getattr(decays, name) for name in decays.__all__),
    )
}
NAMES["compat.v1.train.piecewise_constant_decay"] = decays.piecewise_constant
NAMES["compat.v1.train.NewCheckpointReader"] = saver.new_checkpoint_reader
