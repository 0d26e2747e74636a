"""Collections of a graph: lists under names. What a function collects stays in the function."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from typing import Any

from .._messages.contexts import contextmanager

__all__ = ["Collections", "GraphKeys", "function_collections"]


class GraphKeys:
    """The names of the collections that functions fill by themselves."""

    GLOBAL_VARIABLES = "variables"
    LOCAL_VARIABLES = "local_variables"
    METRIC_VARIABLES = "metric_variables"
    MODEL_VARIABLES = "model_variables"
    TRAINABLE_VARIABLES = "trainable_variables"
    SUMMARIES = "summaries"
    QUEUE_RUNNERS = "queue_runners"
    TABLE_INITIALIZERS = "table_initializer"
    ASSET_FILEPATHS = "asset_filepaths"
    MOVING_AVERAGE_VARIABLES = "moving_average_variables"
    REGULARIZATION_LOSSES = "regularization_losses"
    CONCATENATED_VARIABLES = "concatenated_variables"
    SAVERS = "savers"
    WEIGHTS = "weights"
    BIASES = "biases"
    ACTIVATIONS = "activations"
    UPDATE_OPS = "update_ops"
    LOSSES = "losses"
    SAVEABLE_OBJECTS = "saveable_objects"
    RESOURCES = "resources"
    LOCAL_RESOURCES = "local_resources"
    INIT_OP = "init_op"
    LOCAL_INIT_OP = "local_init_op"
    READY_OP = "ready_op"
    READY_FOR_LOCAL_INIT_OP = "ready_for_local_init_op"
    SUMMARY_OP = "summary_op"
    GLOBAL_STEP = "global_step"
    TRAIN_OP = "train_op"
    COND_CONTEXT = "cond_context"
    WHILE_CONTEXT = "while_context"


# What functions and the graph around them have in common.
_SHARED = (
    GraphKeys.GLOBAL_VARIABLES,
    GraphKeys.LOCAL_VARIABLES,
    GraphKeys.TRAINABLE_VARIABLES,
)


class _Functions(threading.local):
    """The functions that this thread traces, innermost last, and what each collects."""

    def __init__(self) -> None:
        self.stack: list[tuple[Collections, dict[Any, list[Any]]]] = []


_functions = _Functions()


class Collections:
    """The part of a graph that collects."""

    def _held(self) -> dict[Any, list[Any]]:
        """The collections: the graph's own, or what a function sees of them and adds."""
        for graph, seen in reversed(_functions.stack):
            if graph is self:
                held: dict[Any, list[Any]] = seen
                return held
        own: dict[Any, list[Any]] = self.__dict__.setdefault("_collections", {})
        return own

    def add_to_collection(self, name: Any, value: Any) -> None:
        """Appends to a collection."""
        self._held().setdefault(name, []).append(value)

    def add_to_collections(self, names: Any, value: Any) -> None:
        """Appends to several."""
        for name in dict.fromkeys([names] if isinstance(names, str) else names):
            self.add_to_collection(name, value)

    def _collect_variable(self, variable: Any) -> None:
        """Adds a new variable to the collections that it belongs to."""
        names = variable._wanted_collections
        names = [GraphKeys.GLOBAL_VARIABLES] if names is None else list(names)
        if variable.trainable and GraphKeys.TRAINABLE_VARIABLES not in names:
            names.append(GraphKeys.TRAINABLE_VARIABLES)
        self.add_to_collections(names, variable)

    def get_collection(self, name: Any, scope: str | None = None) -> list[Any]:
        """What a collection holds; `scope`: only what has a name that begins like this."""
        found = list(self._held().get(name, ()))
        if scope is None:
            return found
        fits = re.compile(scope).match
        return [value for value in found if hasattr(value, "name") and fits(value.name)]

    def get_collection_ref(self, name: Any) -> list[Any]:
        """The collection itself: changing the list changes it."""
        return self._held().setdefault(name, [])

    def get_all_collection_keys(self) -> list[Any]:
        """The names of collections that hold something."""
        return [name for name, held in self._held().items() if held]

    @property
    def collections(self) -> list[Any]:
        """The names of collections that hold something."""
        return self.get_all_collection_keys()

    def clear_collection(self, name: Any) -> None:
        """Empties a collection."""
        self._held().pop(name, None)


@contextmanager
def function_collections(graph: Collections) -> Iterator[None]:
    """While a function is traced, `graph` gets no more than variables of what it collects."""
    around = graph._held()
    held = {name: values if name in _SHARED else list(values) for name, values in around.items()}
    for name in _SHARED:
        held[name] = around.setdefault(name, [])
    _functions.stack.append((graph, held))
    try:
        yield
    finally:
        _functions.stack.pop()
