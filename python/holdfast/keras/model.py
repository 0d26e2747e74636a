"""`tf.keras.Model`: the C++ class; of `inputs` and `outputs`, or with a `call` of its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

from .. import _holdfast
from ..errors import fail
from . import checkpoint_names, declared
from .configs import CustomObjectScope
from .input_spec import InputSpec
from .layer import Layer
from .model_files import SavedModel
from .state_tree import StateTree
from .training import Trainer, show

__all__ = ["Model"]

# What the config of a graph of layers has, beside its name.
_GRAPH = {"layers", "input_layers", "output_layers"}
_COMMON = {"name", "trainable", "dtype"}


class Model(declared.base_type("models.Functional"), Trainer, SavedModel, StateTree, Layer):  # type: ignore[misc]
    """A layer that can be trained."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        inputs, outputs = kwargs.pop("inputs", None), kwargs.pop("outputs", None)
        if args:
            inputs, args = args[0], args[1:]
        if args:
            outputs, args = args[0], args[1:]
        if args and isinstance(args[0], str):
            kwargs["name"], args = args[0], args[1:]
        if args:
            fail("E1104", "`Model` takes `inputs` and `outputs` by position, and options by name")
        if type(self) is Model and kwargs.get("name") is None and inputs is not None:
            kwargs["name"] = _holdfast.unique_layer_name("functional")
        Layer.__init__(self, **kwargs)
        self._note_strategy()
        if inputs is None and outputs is None:
            return
        if inputs is None or outputs is None:
            missing = "inputs" if inputs is None else "outputs"
            fail("E1104", f"`Model` got no `{missing}`", fix=f"give it both; `{missing}` too")
        _holdfast.model_graph(self, inputs, outputs)

    @property
    def layers(self) -> list[Any]:
        """The layers, in their order."""
        return list(_holdfast.model_layers(self))

    @property
    def inputs(self) -> Any:
        """The symbols that it is given; None where it has a `call` of its own."""
        return _listed(_holdfast.model_inputs(self))

    @property
    def outputs(self) -> Any:
        """The symbols that it gives; None where it has a `call` of its own."""
        return _listed(_holdfast.model_outputs(self))

    @property
    def output(self) -> Any:
        """What it gives, in the form it was made with."""
        return _holdfast.model_outputs(self)

    @property
    def input(self) -> Any:
        """What it is given, in the form it was made with."""
        return _holdfast.model_inputs(self)

    @property
    def input_names(self) -> list[str]:
        """The names of the Inputs, as a dict of inputs may have them."""
        return [_plain_name(symbol) for symbol in self.inputs or ()]

    @property
    def output_names(self) -> list[str]:
        """The names of the layers that give the outputs."""
        return [_plain_name(symbol) for symbol in self.outputs or ()]

    @property
    def input_spec(self) -> Any:
        """What each input must be like: what the program has set, or else what its Inputs say.

        None for a model with a `call` of its own, and for inputs in dicts that hold others.
        """
        own = vars(self).get("input_spec")
        if own is not None or self.inputs is None:
            return own
        given = _holdfast.model_inputs(self)
        if not isinstance(given, dict):
            return [_spec_of(symbol, _plain_name(symbol)) for symbol in self.inputs]
        if any(isinstance(part, (dict, list, tuple)) for part in given.values()):
            return None
        return [_spec_of(given[name], name) for name in sorted(given)]

    @input_spec.setter
    def input_spec(self, value: Any) -> None:
        self.__dict__["input_spec"] = value

    def get_layer(self, name: str | None = None, index: int | None = None) -> Any:
        """A layer by its name or its place."""
        if (name is None) == (index is None):
            fail("E1104", "`get_layer` takes a `name` or an `index`")
        layers = self.layers  # with the Inputs, which have places and names as well
        if index is not None:
            if not -len(layers) <= index < len(layers):
                fail(
                    "E1103",
                    f"`get_layer`: `index` is {index}, and model `{self.name}` has {len(layers)} "
                    "layers",
                )
            return layers[index]
        found = [layer for layer in layers if layer.name == name]
        return found[0] if found else _holdfast.model_layer(self, str(name))

    def summary(
        self,
        line_length: int | None = None,
        positions: Any = None,
        print_fn: Callable[[str], Any] | None = None,
        expand_nested: bool = False,
        show_trainable: bool = False,
        layer_range: Any = None,
    ) -> None:
        """Prints a table of the layers: shapes, parameters, FLOPs and bytes of what they give.

        `print_fn` is given the whole text once.
        """
        if layer_range is not None and (
            not isinstance(layer_range, (list, tuple))
            or len(layer_range) != 2
            or not all(isinstance(name, str) for name in layer_range)
        ):
            fail("E1104", f"`layer_range` is {layer_range!r}, expected two names of layers")
        text = _holdfast.model_summary(
            self,
            {
                "line_length": line_length,
                "positions": None if positions is None else [float(p) for p in positions],
                "expand_nested": bool(expand_nested),
                "show_trainable": bool(show_trainable),
                "layer_range": None if layer_range is None else tuple(layer_range),
            },
        )
        if print_fn is None:
            show(text)
        else:
            print_fn(text)

    @classmethod
    def from_config(
        cls, config: dict[str, Any], custom_objects: dict[str, Any] | None = None
    ) -> Self:
        """A model made with what `get_config` gave: a graph of layers, or arguments."""
        with CustomObjectScope(custom_objects or {}):
            if not _GRAPH <= config.keys():
                return super().from_config(config)
            graph = {key: value for key, value in config.items() if key in _GRAPH | _COMMON}
            made = _holdfast.make_object({"class_name": "Functional", "config": graph})
        if cls is Model:
            return made  # type: ignore[no-any-return]
        # What else a class has put into its config is an argument of its own.
        options = {key: value for key, value in config.items() if key not in _GRAPH | {"dtype"}}
        return cls(inputs=made.input, outputs=made.output, **options)

    def _checkpoint_children(self) -> dict[str, Any]:
        out = checkpoint_names.held_by(self)
        if self.inputs is not None:
            out["_operations"] = checkpoint_names.operations_of(self)
        return self._with_optimizer(out)

    def _with_optimizer(self, parts: dict[str, Any]) -> dict[str, Any]:
        optimizer = self.optimizer
        return parts if optimizer is None else {**parts, "optimizer": optimizer}

    def _checkpoint_child(self, name: str) -> Any:
        if self.inputs is None:
            return checkpoint_names.model_child(checkpoint_names.numbered(self.layers), name)
        return checkpoint_names.model_child(checkpoint_names.operations_of(self), name)

    def to_json(self, **kwargs: Any) -> str:
        """Its config as JSON."""
        if kwargs.keys() - {"indent"}:
            fail("E1104", f"`to_json` has no option `{min(kwargs.keys() - {'indent'})}`")
        return _holdfast.config_to_json(self, kwargs.get("indent", -1))


def _spec_of(symbol: Any, name: str) -> InputSpec:
    """An Input's shape, for batches of any size."""
    sizes = symbol.shape.as_list()
    return InputSpec(
        shape=(None, *sizes[1:]),
        allow_last_axis_squeeze=True,
        name=name,
        optional=_holdfast.is_optional_input(symbol),
    )


def _plain_name(symbol: Any) -> str:
    return str(symbol.name).partition(":")[0]


def _listed(value: Any) -> Any:
    if value is None:
        return None
    from .. import nest

    return nest.flatten(value)


declared.register({"path": "models.Functional"}, Model)
