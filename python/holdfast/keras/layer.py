"""`tf.keras.layers.Layer`: the C++ class, called and subclassed from Python."""

from __future__ import annotations

import copy
import functools
import inspect
import types
from typing import Any, ClassVar, Self, SupportsIndex

from .. import _holdfast, nest
from .._tensors import registry
from .._tensors.dtypes import DType, as_dtype, float32
from .._tensors.shape import TensorShape, as_shape
from .._tensors.tensor import convert_to_tensor
from .._variables.module import Module
from .._variables.variable import Variable
from ..errors import fail, unsupported
from .copies import parts_of

__all__ = ["Layer"]

# What Keras's layers and models have, and ours have not.
_NAMES = """
activity_regularizer add_loss add_metric compile compiled_loss compute_loss compute_mask
compute_metrics compute_output_shape compute_output_spec count_params evaluate export fit
get_build_config get_compile_config get_layer get_weights input input_spec inputs load_weights
losses metrics output outputs pop predict predict_on_batch quantize quantization_mode save
save_weights set_weights stateless_call summary supports_masking symbolic_call test_on_batch
test_step train_on_batch train_step
"""
_MISSING = frozenset(_NAMES.split())


@functools.lru_cache(maxsize=1024)
def _takes_training(function: Any) -> bool:
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):  # a callable that does not say what it takes
        return False
    return "training" in parameters or any(
        p.kind is inspect.Parameter.VAR_KEYWORD for p in parameters.values()
    )


def takes_training(call: Any) -> bool:
    """Whether a layer's `call` has a parameter `training`; C++'s own has one."""
    if isinstance(call, types.BuiltinFunctionType):
        return True
    return _takes_training(getattr(call, "__func__", call))


def _as_traced(call: Any) -> Any:
    """A `call` whose own statements a trace sees."""
    if not _holdfast.is_tracing():
        return call
    from .._autograph.conversion import converted_callee

    return converted_callee(call)


def _call_from_cpp(call: Any, inputs: Any, training: bool | None) -> Any:
    """Calls a layer's own `call` for C++ code, with the arguments that it takes."""
    run = _as_traced(call)
    return run(inputs, training=training) if takes_training(call) else run(inputs)


def _initialize(initializer: Any, shape: Any, dtype: DType) -> Any:
    """Calls an initializer for C++ code."""
    return initializer(shape, dtype=dtype)


class Layer(_holdfast.LayerBase, Module):
    """Base of layers: weights, made when the shape of the inputs is known, and a `call`."""

    _registered_name: ClassVar[str | None] = None

    def __init__(
        self,
        *,
        activity_regularizer: Any = None,
        trainable: bool = True,
        dtype: Any = None,
        autocast: bool = True,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        refuse_options(type(self).__name__, kwargs | {"activity_regularizer": activity_regularizer})
        if not autocast:
            unsupported(
                f"`{type(self).__name__}` with `autocast=False` is not supported",
                "inputs of other float dtypes become the layer's",
            )
        _holdfast.layer_options(
            self, checked_name(name, type(self)), bool(trainable), layer_dtype(dtype)
        )

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls._registered_name = None  # a class is registered for itself

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Makes the weights if that has not happened, and gives what `call` computes."""
        call = self.call
        training = kwargs.pop("training", None)
        if args:
            inputs, rest = args[0], args[1:]
        else:
            inputs, rest = self._first_by_name(call, kwargs), ()
        inputs = self._as_inputs(inputs)
        takes = takes_training(call)
        call = _as_traced(call)

        def run(training: bool | None) -> Any:
            if takes and "training" not in kwargs:
                return call(inputs, *rest, training=training, **kwargs)
            return call(inputs, *rest, **kwargs)

        return _holdfast.call_layer(self, _shape_of(inputs), run, training)

    def _first_by_name(self, call: Any, kwargs: dict[str, Any]) -> Any:
        in_cpp = isinstance(call, types.BuiltinFunctionType)
        names = ["inputs"] if in_cpp else list(inspect.signature(call).parameters)
        if names and names[0] in kwargs:
            return kwargs.pop(names[0])
        fail(
            "E1104",
            f"layer `{self.name}` ({type(self).__name__}) is called without `inputs`",
            fix="give it a tensor: `layer(x)`",
        )

    def _as_inputs(self, inputs: Any) -> Any:
        """Each tensor of a structure; a list of numbers is one tensor."""
        if isinstance(inputs, (list, tuple)):
            leaves = nest.flatten(inputs)
            if leaves and all(isinstance(leaf, (int, float)) for leaf in leaves):
                return self._as_input(inputs)
        return nest.map_structure(self._as_input, inputs)

    def _as_input(self, value: Any) -> Any:
        if value is None:
            return None
        tensor = convert_to_tensor(value)
        if tensor.dtype.is_floating and tensor.dtype != self._layer_dtype:
            return registry.function("cast")(tensor, self._layer_dtype)
        return tensor

    def add_weight(
        self,
        shape: Any = None,
        initializer: Any = None,
        dtype: Any = None,
        trainable: bool = True,
        autocast: bool = True,
        regularizer: Any = None,
        constraint: Any = None,
        aggregation: str = "none",
        overwrite_with_gradient: bool = False,
        name: str | None = None,
    ) -> Variable:
        """A new weight, made known to the layer and named in its scope."""
        given = {
            "regularizer": regularizer,
            "aggregation": None if aggregation == "none" else aggregation,
            "overwrite_with_gradient": overwrite_with_gradient or None,
            "autocast": None if autocast else autocast,
        }
        for option, value in given.items():
            if value is not None:
                unsupported(
                    f"`add_weight` with `{option}` is not supported",
                    "a weight has a shape, a dtype, an initializer and a constraint",
                    fix=f"leave `{option}` out",
                )
        wanted = None if dtype is None else as_dtype(dtype)
        sizes = () if shape is None else as_shape(shape)
        made: Variable = _holdfast.add_weight(
            self, name or "variable", sizes, wanted, initializer, bool(trainable), constraint
        )
        return made

    @property
    def dtype(self) -> DType:
        """The dtype of its weights."""
        dtype: DType = self._layer_dtype
        return dtype

    @property
    def weights(self) -> list[Variable]:
        """All weights, in the order they were made."""
        return list(self.variables)

    @property
    def trainable_weights(self) -> list[Variable]:
        """Those that training changes."""
        return list(self.trainable_variables)

    @property
    def non_trainable_weights(self) -> list[Variable]:
        """Those that training leaves alone."""
        return list(self.non_trainable_variables)

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Self:
        """A layer made with what `get_config` gave."""
        return cls(**config)

    # What a copy is made of besides the config: layers that C++ holds.
    def _held_layers(self) -> list[Layer] | None:
        return None

    def __copy__(self) -> Any:
        return copy.deepcopy(self)  # two layers with the same weights would train each other

    def __reduce_ex__(self, protocol: SupportsIndex) -> Any:
        if type(self).__reduce__ is not object.__reduce__:
            return self.__reduce__()  # a class that says itself how it is made
        return parts_of(self)

    def __getattr__(self, name: str) -> Any:
        if name in _MISSING:
            unsupported(
                f"`{type(self).__name__}.{name}` is not part of Holdfast",
                "Holdfast knows the name from Keras, and has nothing that does its work.",
            )
        raise AttributeError(
            f"{type(self).__name__!r} object has no attribute {name!r}", name=name, obj=self
        )

    def __repr__(self) -> str:
        return f"<{type(self).__name__} name={self.name}, built={self.built}>"


def _shape_of(inputs: Any) -> TensorShape | None:
    """The shape that `build` is told: that of the first tensor."""
    for leaf in nest.flatten(inputs):
        if leaf is not None:
            shape: TensorShape = leaf.shape
            return None if shape.rank is None else shape
    return None


def checked_name(name: str | None, kind: type) -> str:
    """A name for a layer; empty where C++ is to find one."""
    if name is None:
        return ""
    if not isinstance(name, str) or not name or "/" in name:
        fail(
            "E1104",
            f"`{kind.__name__}`: `name` is {name!r}, expected a string without `/`",
            "names of layers become parts of names of variables",
        )
    return name


def layer_dtype(dtype: Any) -> DType:
    """The dtype of a layer's weights."""
    return float32 if dtype is None else as_dtype(dtype)


def refuse_options(kind: str, options: dict[str, Any]) -> None:
    """Refuses options that Keras has and we have not, and those that nobody has."""
    for option, value in options.items():
        if value is None:
            continue
        if option in ("input_shape", "input_dim", "batch_size", "batch_input_shape") or (
            option.endswith("_regularizer") or option == "lora_rank"
        ):
            unsupported(
                f"`{kind}` with `{option}` is not supported",
                "Holdfast knows the option from Keras, and has nothing that does its work.",
                fix=f"leave `{option}` out",
            )
        fail("E1104", f"`{kind}` got an option that it does not have: `{option}`")


_holdfast.set_class("Layer", Layer)
_holdfast.set_layer_calls(_call_from_cpp, _initialize)
