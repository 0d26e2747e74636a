"""Holdfast: a deep-learning framework in which no tensor gets lost, under TensorFlow's names.

    import holdfast as tf

Functions come from the registry of the C++ library; this package adds what is Python.
"""

from __future__ import annotations

import sys as _sys
from typing import Any as _Any

from . import _holdfast, errors
from ._messages import calls as _calls
from ._messages import diagnostics as _diagnostics
from ._messages import holders as _holders
from ._messages import visible as _visible
from ._messages import words as _words
from ._tensors import dtypes as _dtypes
from ._tensors import shape as _shape

_holdfast.set_dtypes(list(_dtypes.ALL))
_holdfast.set_as_dtype(_dtypes.as_dtype)
_holdfast.set_shape_factory(_shape.make_shape)
_holdfast.set_error_factory(errors.from_diagnostic)
_holdfast.set_warning_sink(_diagnostics.show_warning)
_holdfast.set_naming(
    _diagnostics.name_operand,
    _diagnostics.module_alias,
    _calls.called_name,
    _visible.name_of_scope,
    _holders.holder_of,
    _words.placeholder_words,
    _words.layer_words,
    _holders.receiver_words,
)
_holdfast.init()

from . import compat, config, debugging, nest, random
from ._checkpoints import files as _checkpoint_files
from ._checkpoints.checkpoint import Checkpoint as _Checkpoint
from ._checkpoints.manager import CheckpointManager as _CheckpointManager
from ._composites.ragged import names as _ragged
from ._composites.sparse import names as _sparse
from ._devices import builds as _builds
from ._devices.cluster import ClusterSpec as _ClusterSpec
from ._devices.device import device
from ._devices.spec import DeviceSpec
from ._flow.control import case, cond, switch_case, while_loop
from ._flow.coordinator import NAMES as _COORDINATOR
from ._flow.functional import foldl, foldr, map_fn, scan, vectorized_map
from ._flow.optional import NAMES as _OPTIONAL
from ._flow.printing import print
from ._flow.pyfunc import numpy_function, py_function
from ._flow.queues import NAMES as _QUEUES
from ._flow.spectra import NAMES as _SPECTRA
from ._flow.tensor_array import TensorArray
from ._gradients.custom import custom_gradient, grad_pass_through, recompute_grad
from ._gradients.forward import ForwardAccumulator as _ForwardAccumulator
from ._gradients.symbolic import AggregationMethod, gradients, hessians
from ._gradients.tape import GradientTape
from ._graphs import graph_tensors as _graph_tensors
from ._graphs import operation as _operation
from ._graphs import watch as _graph_watch
from ._graphs.eager import (
    Operation,
    control_dependencies,
    executing_eagerly,
    get_current_name_scope,
    group,
    init_scope,
    inside_function,
    is_symbolic_tensor,
    no_op,
    timestamp,
    tuple,
)
from ._graphs.function_graph import function_graph_of as _function_graph_of
from ._graphs.function_graph import set_capture as _set_capture
from ._graphs.graph import Graph
from ._graphs.name_scope import name_scope
from ._messages.explain import explain
from ._messages.logger import get_logger
from ._names import boundary as _boundary
from ._names import namespace as _namespace
from ._names import signatures as _signatures
from ._names.alias import install_as_tensorflow
from ._names.operators import NAMES as _OPERATORS
from ._records.names import NAMES as _RECORD_NAMES
from ._tensors import conversions as _conversions
from ._tensors import dlpack as _dlpack
from ._tensors import indexed_slices as _indexed_slices
from ._tensors import slicing as _slicing
from ._tensors import tensor as _tensor
from ._tensors import tensor_proto as _tensor_proto
from ._tensors.dtypes import DType, as_dtype
from ._tensors.indexed_slices import IndexedSlices
from ._tensors.live import LiveTensors, live_tensors
from ._tensors.resize_method import NAMES as _RESIZE_METHOD
from ._tensors.shape import TensorShape, TensorSpec, broadcast_static_shape
from ._tensors.tensor import (
    Tensor,
    UnconnectedGradients,
    constant,
    convert_to_tensor,
    get_static_value,
    is_tensor,
    type_spec_from_value,
)
from ._tracing.asked_values import asked_for_value as _asked_for_value
from ._tracing.call_time import capture as _capture
from ._tracing.converter import Converter as _Converter
from ._tracing.converter import set_loader as _set_loader
from ._tracing.function import function
from ._tracing.keep import keep, peek
from ._tracing.recorder import note_attribute_store as _note_attribute_store
from ._tracing.trace_types import NAMES as _TRACE_TYPES
from ._variables import initializers as _initializers
from ._variables import module as _module
from ._variables import variable as _variable
from ._variables.creators import variable_creator_scope as _variable_creator_scope
from ._variables.module import Module
from ._variables.moving_average import ExponentialMovingAverage as _ExponentialMovingAverage
from ._variables.spec import VariableAggregation, VariableSynchronization
from ._variables.variable import Variable

__version__: str = _holdfast.VERSION
newaxis = None
Assert = debugging.Assert
assert_equal = debugging.assert_equal
assert_greater = debugging.assert_greater
assert_less = debugging.assert_less
assert_rank = debugging.assert_rank
register_tensor_conversion_function = _conversions.register_tensor_conversion_function


def _load_autograph() -> _Converter:
    from . import _autograph

    return _autograph


def _load_graph_variable() -> type[Variable]:
    from ._variables.graph_variable import GraphVariable

    return GraphVariable


_set_loader(_load_autograph)
_variable.set_graph_variable(_load_graph_variable)
_holdfast.set_symbol(_asked_for_value)
_operation.set_function_graphs(_function_graph_of)
_set_capture(_capture)
_module.set_store_listener(_note_attribute_store)
_tensor.attach()
_slicing.attach()
_graph_tensors.attach()
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
        {"train.ClusterSpec": _ClusterSpec},
        {"train.Checkpoint": _Checkpoint, "train.CheckpointManager": _CheckpointManager},
        {
            f"train.{name}": getattr(_checkpoint_files, name)
            for name in (
                "get_checkpoint_state",
                "latest_checkpoint",
                "list_variables",
                "load_checkpoint",
                "load_variable",
            )
        },
        _TRACE_TYPES,
        _graph_watch.NAMES,
        {"variable_creator_scope": _variable_creator_scope},
        _OPERATORS,
        _OPTIONAL,
        _QUEUES,
        _COORDINATOR,
        _SPECTRA,
        _indexed_slices.NAMES,
        {"TypeSpec": _shape.TypeSpec},
        _ragged.NAMES,
        _sparse.NAMES,
        _tensor_proto.NAMES,
        _RECORD_NAMES,
        _RESIZE_METHOD,
    ),
)


def __getattr__(name: str) -> _Any:
    return _namespace.missing(_sys.modules[__name__], name)


def __dir__() -> list[str]:
    return sorted({*globals(), "autograph", "data", "distribute", "keras"})


_boundary.prepare()
_boundary.close()


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
