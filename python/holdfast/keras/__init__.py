"""`tf.keras`: C++'s layers, models and what they are made of; all can be subclassed here.

Names of Keras that are missing raise E1105, as everywhere in the package.
"""

from __future__ import annotations

import types as _types

from .._devices.device import device
from .._gradients.custom import recompute_grad as remat
from .._names import boundary as _boundary
from .._names import namespace as _namespace
from . import (
    activations,
    callbacks,
    config,
    constraints,
    dtype_policies,
    initializers,
    layers,
    losses,
    metrics,
    mixed_precision,
    models,
    optimizers,
    regularizers,
    saving,
    tree,
    utils,
)
from .input_spec import InputSpec
from .inputs import Input
from .keras_tensor import KerasTensor
from .layer import Layer
from .losses import Loss
from .metrics import Metric
from .mixed_precision import DTypePolicy, FloatDTypePolicy
from .models import Model, Sequential
from .names import name_scope, version
from .optimizers import Optimizer
from .variable import Variable

__version__ = version()
Initializer = vars(initializers)["Initializer"]
Regularizer = vars(regularizers)["Regularizer"]

__all__ = [
    "DTypePolicy",
    "FloatDTypePolicy",
    "Initializer",
    "Input",
    "InputSpec",
    "KerasTensor",
    "Layer",
    "Loss",
    "Metric",
    "Model",
    "Optimizer",
    "Regularizer",
    "Sequential",
    "Variable",
    "activations",
    "callbacks",
    "config",
    "constraints",
    "device",
    "dtype_policies",
    "initializers",
    "layers",
    "losses",
    "metrics",
    "mixed_precision",
    "models",
    "name_scope",
    "optimizers",
    "regularizers",
    "remat",
    "saving",
    "tree",
    "utils",
    "version",
]

_MODULES = [_name for _name in __all__ if isinstance(globals()[_name], _types.ModuleType)]
for _part in ("", ".optimizers.schedules", *(f".{_name}" for _name in _MODULES)):
    _namespace.module("keras" + _part)
_boundary.close("keras")
