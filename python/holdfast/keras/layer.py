"""`tf.keras.layers.Layer`: the C++ class, called and subclassed from Python."""

from __future__ import annotations

import copy
import functools
import inspect
import types
from typing import Any, ClassVar, Self, SupportsIndex

import numpy as np

from .. import _holdfast, nest
from .._names.boundary import is_ours
from .._tensors import registry
from .._tensors.dtypes import as_dtype
from .._tensors.shape import as_shape
from .._tensors.tensor import convert_to_tensor
from .._tracing.journal import without_symbols
from .._variables.module import Module
from .._variables.variable import Variable
from ..errors import fail, unsupported, used_here
from . import checkpoint_names, declared, own_methods  # noqa: F401 (which listens)
from . import variable as variables
from .copies import parts_of
from .declared_types import declared_types, is_ours_or_native
from .input_spec import HasInputSpec, check_inputs
from .layer_dtypes import HasDTypes, policy_name
from .names import checked_name
from .own_arguments import config_of_arguments, gets_config, note_arguments
from .own_build import with_own_build
from .parameters import parameters_of
from .stateless import StatelessLayer
from .weights import HasWeights

__all__ = ["Layer"]

# What Keras's layers have, and ours have not.
_MISSING = frozenset(
    [
        *("add_metric", "export"),
        *("quantize", "quantization_mode"),
        *("rematerialized_call", "symbolic_call"),
    ]
)


def takes(call: Any, name: str) -> bool:
    """Whether a layer's method has a parameter of a name."""
    return name in parameters_of(call).names


def takes_training(call: Any) -> bool:
    """Whether a layer's `call` has a parameter `training`; C++'s own has one."""
    if isinstance(call, types.BuiltinFunctionType):
        return True
    known = parameters_of(call)
    return "training" in known.names or known.any_name


def _has_default(call: Any, name: str) -> bool:
    """Whether a method says itself what a parameter is that nobody gives."""
    return name in parameters_of(call).with_defaults


def _as_traced(call: Any) -> Any:
    """A `call` whose own statements a trace sees."""
    if not _holdfast.is_tracing():
        return call
    from .._autograph.conversion import converted_callee

    run = converted_callee(call)
    # A run that asks for shapes alone comes before the one that a trace is made of.
    return without_symbols(run) if _holdfast.is_building() else run


def _build_from_cpp(layer: Layer, build: Any, shapes: Any) -> None:
    """Calls a layer's own `build` for C++ code, with shapes as the call's arguments have them."""
    waiting = layer.__dict__.pop("_waiting_shapes", None)
    if waiting is None:
        build(shapes)
        return
    names = parameters_of(build).names
    by_name = {f"{name}_shape": shape for name, shape in waiting.items()}
    if len(names - {"self"}) > 1 and names - {"self"} <= by_name.keys():
        build(**{name: shape for name, shape in by_name.items() if name in names})
    else:
        build(next(iter(waiting.values())))


def _call_from_cpp(
    call: Any, inputs: Any, training: bool | None, mask: Any, named: dict[str, Any]
) -> Any:
    """Calls a layer's own `call` for C++ code, with the arguments that it takes."""
    run = _as_traced(call)
    kwargs = dict(named)
    names, _, any_name = parameters_of(call)
    if "states" in kwargs and "states" not in names and not any_name:
        # A cell gives its second parameter the name that it likes.
        run = functools.partial(run, inputs, kwargs.pop("states"))
        args: tuple[Any, ...] = ()
    else:
        args = (inputs,)
    if takes_training(call) and (training is not None or not _has_default(call, "training")):
        kwargs["training"] = training
    if mask is not None and takes(call, "mask"):
        kwargs["mask"] = mask
    made = run(*args, **kwargs)
    if isinstance(made, tuple) and hasattr(made, "_fields") and hasattr(call, "__self__"):
        call.__self__.__dict__["_named_outputs"] = type(made)  # a tuple like others for C++
    return made


def _mask_from_cpp(compute_mask: Any, inputs: Any, mask: Any) -> Any:
    return compute_mask(inputs, mask)


def _masks_of(inputs: Any) -> Any:
    masks = nest.map_structure(
        lambda t: _holdfast.keras_mask(t) if isinstance(t, _holdfast.Tensor) else None, inputs
    )
    return None if all(m is None for m in nest.flatten(masks)) else masks


def _masks_by_name(call: Any, given: dict[str, Any]) -> dict[str, Any]:
    """What goes along with arguments of a `call` that takes their masks by name: `x_mask`."""
    found = {
        f"{name}_mask": _masks_of(value)
        for name, value in given.items()
        if f"{name}_mask" not in given and takes(call, f"{name}_mask")
    }
    return {name: mask for name, mask in found.items() if mask is not None}


def _call_from_python(layer: Layer, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`layer(...)` of a class with a `call` in Python, which takes whatever that takes."""
    call = layer.call
    kwargs = dict(kwargs)
    given_training = "training" in kwargs
    training = kwargs.pop("training", None)
    names = [n for n in inspect.signature(call).parameters]
    if not args and not (names and names[0] in kwargs):
        fail(
            "E1104",
            f"layer `{layer.name}` ({type(layer).__name__}) is called without `inputs`",
            fix="give it a tensor: `layer(x)`",
        )
    first = args[0] if args else kwargs[names[0]]
    masks = _masks_by_name(call, dict(zip(names, args, strict=False)) | kwargs)
    given = (
        tuple(layer._as_inputs(a, cast=False) for a in args),
        {key: layer._as_inputs(value, cast=False) for key, value in kwargs.items()},
    )
    args = tuple(layer._as_inputs(a) for a in args)
    kwargs = {key: layer._as_inputs(value) for key, value in kwargs.items()}
    shapes = {
        name: _shapes_of(value)
        for name, value in [*zip(names, args, strict=False), *kwargs.items()]
        if _tensors_in(value)
    }
    if layer.input_spec is not None:
        check_inputs(layer, layer.input_spec, args[0] if args else kwargs[names[0]])
    if not layer.built:
        layer.__dict__["_waiting_shapes"] = shapes
    tensors = _tensors_in(given)
    flat = [t.shape for t in _tensors_in(args[0] if args else kwargs[names[0]])]
    if any(_holdfast.is_model_symbol(t) for t in tensors):
        said = functools.partial(declared_types, layer, args, kwargs)
        if given_training and training is not None:
            given[1]["training"] = training
            kwargs["training"] = training
        # Each call casts what it is given then: masks go along with that.
        return _holdfast.record_call(layer, *given, flat, said)
    kwargs |= masks
    mask = None
    if "mask" not in kwargs:
        mask = _masks_of(first)
        if mask is not None and takes(call, "mask"):
            kwargs["mask"] = mask
    else:
        mask = kwargs["mask"]
    call = _as_traced(call)
    wants = takes_training(call)

    def run(training: bool | None) -> Any:
        if wants and (training is not None or not _has_default(call, "training")):
            return call(*args, training=training, **kwargs)
        return call(*args, **kwargs)

    outputs = _holdfast.call_layer(layer, flat, run, training)
    _holdfast.finish_call(layer, args[0] if args else kwargs[names[0]], mask, outputs)
    return outputs


def _tensors_in(value: Any) -> list[Any]:
    return [leaf for leaf in nest.flatten(value) if isinstance(leaf, _holdfast.Tensor)]


def _shapes_of(value: Any) -> Any:
    def shape_of(part: Any) -> Any:
        shape = getattr(part, "shape", None)  # an input may be left out
        return None if shape is None or shape.rank is None else tuple(shape.as_list())

    return nest.map_structure(shape_of, value)


class Layer(  # type: ignore[misc]
    HasWeights, HasDTypes, HasInputSpec, _holdfast.LayerBase, Module, StatelessLayer
):
    """Base of layers: weights, made when the shape of the inputs is known, and a `call`."""

    _registered_name: ClassVar[str | None] = None
    _supports_masking: bool | None = None
    _config_is_arguments: ClassVar[bool] = False

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
        if activity_regularizer is not None:
            kwargs["activity_regularizer"] = activity_regularizer
        options = self._prepare_options(
            kwargs
            | {
                "trainable": bool(trainable),
                "dtype": dtype,
                "name": name,
                "autocast": autocast,
            }
        )
        declared.configure(self, {"by_position": 0, "options": _COMMON}, (), options)

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        """A layer that remembers what it is made with, where its class says no config."""
        made = super().__new__(cls, *args, **kwargs)
        if cls._config_is_arguments:
            note_arguments(made, args, kwargs)
        return made

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls._registered_name = None  # a class is registered for itself
        if not is_ours(cls):
            with_own_build(cls)
            if gets_config(cls):
                cls.get_config = config_of_arguments  # type: ignore[method-assign]
        found = inspect.getattr_static(cls, "get_config", None)
        cls._config_is_arguments = found is config_of_arguments

    def _prepare_options(
        self, options: dict[str, Any], own: frozenset[str] = frozenset()
    ) -> dict[str, Any]:
        """What every layer takes besides its `own` options, in today's words and in older ones."""
        kind = type(self).__name__
        out = {
            key: _plain(value, key) if isinstance(value, (np.ndarray, np.generic)) else value
            for key, value in options.items()
        }
        out["name"] = checked_name(out.get("name"), type(self))
        if out.get("dtype") is not None:
            out["dtype"] = policy_name(out["dtype"], out["name"])
        if not out.pop("autocast", True):
            self._autocast = False
        shape = out.pop("input_shape", None)
        width = None if "input_dim" in own else out.pop("input_dim", None)
        if width is not None:
            shape = (width,)
        batch = out.pop("batch_input_shape", None)
        size = out.pop("batch_size", None) if "batch_size" in out else None
        if batch is not None:
            self._wanted_input = tuple(batch)
        elif shape is not None:
            self._wanted_input = (size, *shape)
        weights = out.pop("weights", None)
        if weights is not None:
            unsupported(
                f"`{kind}` with `weights` is not supported",
                "a layer's weights are made when it is built",
                fix="call `layer.set_weights(weights)` once it is built",
            )
        return out

    def _checkpoint_children(self) -> dict[str, Any]:
        """What checkpoints know it to hold: its weights, its layers and its attributes."""
        return checkpoint_names.held_by(self)

    def _as_inputs(self, inputs: Any, cast: bool = True) -> Any:
        """Each tensor of a structure; a list of numbers is one tensor."""
        if isinstance(inputs, (list, tuple)):
            leaves = nest.flatten(inputs)
            if leaves and all(
                isinstance(leaf, (int, float)) and not isinstance(leaf, bool) for leaf in leaves
            ):
                return self._as_input(inputs, cast)
        return nest.map_structure(lambda part: self._as_input(part, cast), inputs)

    def _as_input(self, value: Any, cast: bool = True) -> Any:
        if value is None or isinstance(value, (bool, str)):
            return value
        if not isinstance(value, (int, float, list, tuple, np.ndarray, np.generic)) and not (
            isinstance(value, (_holdfast.Tensor, Variable)) or hasattr(value, "__array__")
        ):
            return value
        if isinstance(value, (int, float)):
            return value
        tensor = convert_to_tensor(value)
        wide = tensor.dtype.is_floating and tensor.dtype != self._compute_dtype
        if not (cast and self.autocast and wide):
            return tensor
        narrow = registry.function("cast")(tensor, self._compute_dtype)
        narrow._keras_mask = tensor._keras_mask  # for layers inside
        return narrow

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
        if isinstance(shape, str):  # as it was once: `add_weight(name, shape)`
            name, shape = shape, initializer
            initializer = None
        if overwrite_with_gradient:
            unsupported(
                "`add_weight` with `overwrite_with_gradient` is not supported",
                "gradients are what optimizers apply",
                fix="leave `overwrite_with_gradient` out",
            )
        if aggregation not in ("none", "mean", "sum", "only_first_replica"):
            fail(
                "E1104",
                f"`aggregation` is {aggregation!r}, expected none, mean, sum, only_first_replica",
            )
        wanted = None if dtype is None else as_dtype(dtype)
        sizes = () if shape is None else as_shape(shape)
        made: Variable = _holdfast.add_weight(
            self,
            name or "variable",
            sizes,
            wanted,
            initializer,
            regularizer,
            constraint,
            bool(trainable),
            bool(autocast),
        )
        return made

    def add_loss(self, loss: Any) -> None:
        """Adds a term to what training makes small."""
        for one in loss if isinstance(loss, (list, tuple)) else [loss]:
            _holdfast.add_loss(self, one() if callable(one) else one)

    def add_variable(
        self,
        shape: Any,
        initializer: Any,
        dtype: Any = None,
        trainable: bool = True,
        autocast: bool = True,
        regularizer: Any = None,
        constraint: Any = None,
        name: str | None = None,
    ) -> Variable:
        """The same as `add_weight`, by an older name."""
        return self.add_weight(
            shape, initializer, dtype, trainable, autocast, regularizer, constraint, name=name
        )

    @property
    def trainable(self) -> bool:
        """Whether training changes its weights, and those of the layers inside."""
        return bool(_TRAINABLE.__get__(self))

    @trainable.setter
    def trainable(self, value: bool) -> None:
        _TRAINABLE.__set__(self, value)
        for variable in self.weights:
            if isinstance(variable, variables.Variable):
                variable._freeze(not value)

    @property
    def _call_parameters(self) -> list[str] | None:
        """What a `call` of the program's own takes by position; None: C++ knows."""
        own = not isinstance(self.call, types.BuiltinFunctionType)
        return list(inspect.signature(self.call).parameters) if own else None

    def build_from_config(self, config: dict[str, Any]) -> None:
        """Builds it for the shapes that `get_build_config` gave."""
        if not config or self.built:
            return
        if "shapes_dict" in config:
            shapes = {name: tuple(shape) for name, shape in config["shapes_dict"].items()}
            self.build(**shapes)
        elif config.get("input_shape") is not None:
            shape = config["input_shape"]
            several = bool(shape) and isinstance(shape[0], (list, tuple))
            self.build([tuple(one) for one in shape] if several else tuple(shape))

    @property
    def output(self) -> Any:
        """What it gave when it was called on a symbol."""
        return self._one_call(_holdfast.layer_outputs(self), "output")

    @property
    def input(self) -> Any:
        """What it was given when it was called on a symbol."""
        inputs = [args[0] if len(args) == 1 else args for args in _holdfast.layer_inputs(self)]
        return self._one_call(inputs, "input")

    def _one_call(self, found: list[Any], what: str) -> Any:
        if len(found) == 1:
            return found[0]
        if not found:
            raise_no_call(self, what)
        if what == "output":  # which one is meant, the model says that is made of it
            return _holdfast.any_output(self)
        calls = [
            {"role": "placed", "loc": loc, "text": f"call {i} of `{self.name}`", "primary": False}
            for i, loc in enumerate(_holdfast.layer_call_lines(self)[:6])
        ]
        return fail(
            "E0303",
            f"layer `{self.name}` was called {len(found)} times: `{what}` is not one tensor",
            f"each call of `{self.name}` was given a tensor of its own",
            fix=f"say which call: `get_{what}_at(0)`, or use what the call itself was given",
            labels=[*calls, *used_here(f"`{what}` is asked for here")],
        )

    def compute_output_spec(self, *args: Any, **kwargs: Any) -> Any:
        """What a call gives, as symbols of the same dtypes and shapes that lead nowhere.

        Arguments are those of the call: symbols, or tensors, whose dtypes and shapes count.
        """
        from .keras_tensor import KerasTensor, symbols_like

        own = type(self).compute_output_shape
        if not args or is_ours_or_native(own):
            given_args, given_kwargs = symbols_like((args, kwargs))
            return symbols_like(self(*given_args, **given_kwargs))  # type: ignore[operator]
        shape = self.compute_output_shape(_shapes_of(self._as_inputs(args[0])))

        def described(one: Any) -> Any:
            if isinstance(one, dict):
                return {key: described(part) for key, part in one.items()}
            if isinstance(one, (list, tuple)) and any(
                isinstance(part, (list, tuple, dict)) for part in one
            ):
                return type(one)(described(part) for part in one)
            return KerasTensor(tuple(one), dtype=self.compute_dtype)

        return described(shape)

    def get_output_at(self, node_index: int) -> Any:
        """What its call number `node_index` on symbols gave."""
        return _holdfast.layer_outputs(self)[node_index]

    def get_input_at(self, node_index: int) -> Any:
        """What its call number `node_index` on symbols was given."""
        args = _holdfast.layer_inputs(self)[node_index]
        return args[0] if len(args) == 1 else args

    @property
    def output_shape(self) -> Any:
        """The shape of `output`."""
        return nest.map_structure(lambda t: tuple(t.shape.as_list()), self.output)

    @property
    def input_shape(self) -> Any:
        """The shape of `input`."""
        return nest.map_structure(lambda t: tuple(t.shape.as_list()), self.input)

    @property
    def path(self) -> str:
        """Its name below those of what holds it."""
        return str(self._scope_name).rstrip("/") or str(self.name)

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Self:
        """A layer made with what `get_config` gave."""
        return cls(**config)

    def _flatten_layers(self, include_self: bool = True, recursive: bool = True) -> list[Layer]:
        """The layer and those inside it, each before what it holds."""
        found: list[Layer] = [self] if include_self else []
        below = {id(deep) for part in self.submodules for deep in part.submodules}
        for part in getattr(self, "layers", self.submodules):
            if isinstance(part, Layer) and id(part) not in below:
                found += part._flatten_layers() if recursive else [part]
        return found

    # What a copy is made of besides the config: layers that C++ holds.
    def _held_layers(self) -> list[Layer] | None:
        return None

    def _training_parts(self) -> Any:
        return None

    def __copy__(self) -> Any:
        return copy.deepcopy(self)  # two layers with the same weights would train each other

    def __reduce_ex__(self, protocol: SupportsIndex) -> Any:
        if type(self).__reduce__ is not object.__reduce__:
            return self.__reduce__()  # a class that says itself how it is made
        return parts_of(self)

    def __getattr__(self, name: str) -> Any:
        if name in ("input", "input_shape", "output", "output_shape"):
            raise_no_call(self, name)  # the property found none, which is an AttributeError
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


def raise_no_call(layer: Layer, what: str) -> None:
    """Refuses `layer.output` of a layer that was never called on a symbol."""
    labels = used_here(f"`{what}` is asked for here")
    called = _holdfast.layer_called_on_symbol_at(layer)
    if called is not None:
        text = "called on a symbol here; nothing holds what it gave"
        labels.append({"role": "placed", "loc": called, "text": text, "primary": False})
        fail(
            "E0304",
            f"layer `{layer.name}` has no `{what}` any more: what it gave was let go of",
            "a layer does not hold what its calls give: that is part of the models made of it, "
            "and gone with the last name for it",
            fix="keep what the call gives under a name, and use that",
            labels=labels,
        )
    called = _holdfast.layer_called_at(layer)
    if called is not None:
        text = "called eagerly here, on values, never symbolically"
        labels.append({"role": "placed", "loc": called, "text": text, "primary": False})
    fail(
        "E0304",
        f"layer `{layer.name}` has no `{what}`: it was never called on a symbol",
        "a layer that is called on values computes them, and remembers nothing"
        if called is not None
        else f"nothing has called it yet, and `{what}` is what a call is about",
        fix="call it on what `tf.keras.Input` gives",
        labels=labels,
    )


def _plain(value: Any, option: str) -> Any:
    """Numbers of NumPy's as numbers and lists; an initializer may be an array itself."""
    return value if value.ndim and option.endswith("initializer") else value.tolist()


_COMMON = [
    ("activity_regularizer", None, False),
    ("trainable", True, False),
    ("dtype", None, False),
    ("name", None, False),
]
_TRAINABLE: Any = _holdfast.LayerBase.trainable
declared.register({"path": "layers.Layer"}, Layer)
_holdfast.set_layer_calls(
    _build_from_cpp, _call_from_cpp, _mask_from_cpp, _call_from_python, check_inputs
)
