"""Holdfast: a deep-learning framework in which no tensor gets lost, under TensorFlow's names.

    import holdfast as tf

Functions come from the registry of the C++ library; this package adds what is Python.
"""

from __future__ import annotations

import sys as _sys
from typing import Any as _Any

from . import _diagnostics, _dtypes, _holdfast, _shape, _symbols, errors

_holdfast.set_dtypes(list(_dtypes.ALL))
_holdfast.set_as_dtype(_dtypes.as_dtype)
_holdfast.set_shape_factory(_shape.make_shape)
_holdfast.set_error_factory(errors.from_diagnostic)
_holdfast.set_warning_sink(_diagnostics.show_warning)
_holdfast.set_naming(_diagnostics.name_operand, _diagnostics.module_alias)
_holdfast.init()
_holdfast.set_symbol(_symbols.refuse)

from . import (
    _builds,
    _conversions,
    _dlpack,
    _graph_watch,
    _initializers,
    _namespace,
    _signatures,
    _slices_spec,
    _slicing,
    _tensor,
    _tensor_proto,
    compat,
    config,
    debugging,
    nest,
    random,
)
from ._alias import install_as_tensorflow
from ._control import case, cond, switch_case, while_loop
from ._custom_gradient import (
    custom_gradient,
    grad_pass_through,
    recompute_grad,
)
from ._device import device
from ._device_spec import DeviceSpec
from ._dtypes import DType, as_dtype
from ._eager import (
    Operation,
    control_dependencies,
    executing_eagerly,
    get_current_name_scope,
    get_logger,
    group,
    init_scope,
    inside_function,
    is_symbolic_tensor,
    no_op,
    timestamp,
    tuple,
)
from ._explain import explain
from ._forward import ForwardAccumulator as _ForwardAccumulator
from ._function import function
from ._functional import foldl, foldr, map_fn, scan, vectorized_map
from ._graph import Graph
from ._graph_gradients import AggregationMethod, gradients, hessians
from ._keep import keep, peek
from ._live import LiveTensors, live_tensors
from ._module import Module
from ._moving_average import ExponentialMovingAverage as _ExponentialMovingAverage
from ._name_scope import name_scope
from ._print import print
from ._pyfunc import numpy_function, py_function
from ._shape import TensorShape, TensorSpec, broadcast_static_shape
from ._tape import GradientTape
from ._tensor import (
    IndexedSlices,
    Tensor,
    UnconnectedGradients,
    constant,
    convert_to_tensor,
    get_static_value,
    is_tensor,
    type_spec_from_value,
)
from ._tensor_array import TensorArray
from ._trace_types import NAMES as _TRACE_TYPES
from ._variable import (
    Variable,
    VariableAggregation,
    VariableSynchronization,
)

__version__: str = _holdfast.VERSION
newaxis = None
Assert = debugging.Assert
assert_equal = debugging.assert_equal
assert_greater = debugging.assert_greater
assert_less = debugging.assert_less
assert_rank = debugging.assert_rank
register_tensor_conversion_function = _conversions.register_tensor_conversion_function

_tensor.attach()
_slicing.attach()
_dlpack.attach()
_namespace.build(
    _signatures.adaptors(),
    (
        _dtypes.PUBLIC,
        {f"dtypes.{name}": dtype for name, dtype in _dtypes.PUBLIC.items()},
        {"dtypes.DType": DType, "dtypes.as_dtype": as_dtype},
        {"autodiff.GradientTape": GradientTape, "autodiff.ForwardAccumulator": _ForwardAccumulator},
        {"version.VERSION": __version__, "version.GIT_VERSION": __version__},
        config.NAMES,
        {f"random.experimental.{name}": value for name, value in random.EXPERIMENTAL.items()},
        _dlpack.NAMES,
        _initializers.NAMES,
        _builds.NAMES,
        {"train.ExponentialMovingAverage": _ExponentialMovingAverage},
        _TRACE_TYPES,
        _graph_watch.NAMES,
        _slices_spec.NAMES,
        _tensor_proto.NAMES,
    ),
)


def __getattr__(name: str) -> _Any:
    return _namespace.missing(_sys.modules[__name__], name)


def __dir__() -> list[str]:
    return sorted({*globals(), "autograph"})


__all__ = [
    "AggregationMethod",
    "Assert",
    "DType",
    "DeviceSpec",
    "GradientTape",
    "Graph",
    "IndexedSlices",
    "LiveTensors",
    "Module",
    "Operation",
    "Tensor",
    "TensorArray",
    "TensorShape",
    "TensorSpec",
    "UnconnectedGradients",
    "Variable",
    "VariableAggregation",
    "VariableSynchronization",
    "as_dtype",
    "assert_equal",
    "assert_greater",
    "assert_less",
    "assert_rank",
    "autograph",
    "broadcast_static_shape",
    "case",
    "compat",
    "cond",
    "config",
    "constant",
    "control_dependencies",
    "convert_to_tensor",
    "custom_gradient",
    "debugging",
    "device",
    "errors",
    "executing_eagerly",
    "explain",
    "foldl",
    "foldr",
    "function",
    "get_current_name_scope",
    "get_logger",
    "get_static_value",
    "grad_pass_through",
    "gradients",
    "group",
    "hessians",
    "init_scope",
    "inside_function",
    "install_as_tensorflow",
    "is_symbolic_tensor",
    "is_tensor",
    "keep",
    "live_tensors",
    "map_fn",
    "name_scope",
    "nest",
    "newaxis",
    "no_op",
    "numpy_function",
    "peek",
    "print",
    "py_function",
    "random",
    "recompute_grad",
    "register_tensor_conversion_function",
    "scan",
    "switch_case",
    "timestamp",
    "tuple",
    "type_spec_from_value",
    "vectorized_map",
    "while_loop",
]
__all__.extend(
    sorted(set(globals()) - {*__all__, "annotations"} - {n for n in globals() if n[0] == "_"})
)
