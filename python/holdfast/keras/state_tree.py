"""All that a model keeps, as dicts in dicts by the names of layers and variables."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..errors import fail

__all__ = ["StateTree"]


def _path(variable: Any) -> str:
    return str(variable._full_name)


def _nested(variables: list[Any], as_arrays: bool) -> dict[str, Any]:
    out: dict[str, Any] = {}
    seen: set[str] = set()
    for variable in variables:
        path = _path(variable)
        if path in seen:
            fail(
                "E1104",
                f"two variables have the path `{path}`, so a tree of names can't hold both",
                fix="give the layers names of their own",
            )
        seen.add(path)
        *scopes, leaf = path.split("/")
        place = out
        for scope in scopes:
            place = place.setdefault(scope, {})
        place[leaf] = variable.numpy() if as_arrays else variable.read()
    return out


def _flat(tree: dict[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in tree.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{before}{name}/")
        else:
            yield before + name, value


class StateTree:
    """Models' methods that give all values, and take them."""

    def _kept(self) -> dict[str, list[Any]]:
        model: Any = self
        optimizer = getattr(model, "optimizer", None)
        metrics = [variable for metric in model.metrics for variable in metric.variables]
        return {
            "trainable_variables": model.trainable_variables,
            "non_trainable_variables": model.non_trainable_variables,
            "optimizer_variables": [] if optimizer is None else optimizer.variables,
            "metrics_variables": metrics,
        }

    def get_state_tree(self, value_format: str = "backend_tensor") -> dict[str, Any]:
        """The values of all variables: of layers, of the optimizer, of metrics."""
        if value_format not in ("backend_tensor", "numpy_array"):
            fail(
                "E1104",
                f"`value_format` is {value_format!r}, expected `backend_tensor` or `numpy_array`",
            )
        as_arrays = value_format == "numpy_array"
        return {kind: _nested(list(kept), as_arrays) for kind, kept in self._kept().items()}

    def set_state_tree(self, state_tree: dict[str, Any]) -> None:
        """Gives variables the values that a tree has for them; all of them or none."""
        kept = self._kept()
        wanted = []
        for kind, tree in state_tree.items():
            if kind not in kept:
                fail("E1104", f"a state tree has no `{kind}`", f"it has {', '.join(kept)}")
            here = {_path(variable): variable for variable in kept[kind]}
            for path, given in _flat(tree):
                value = given if hasattr(given, "shape") else np.asarray(given)
                if path not in here:
                    fail("E1104", f"the model has no `{path}` among its {kind}")
                if not here[path].shape.is_compatible_with(value.shape):
                    fail(
                        "E1102",
                        f"`{path}` has shape {here[path].shape}, and a value of shape "
                        f"{value.shape} came",
                    )
                wanted.append((here[path], value))
        for variable, value in wanted:
            variable.assign(value)
