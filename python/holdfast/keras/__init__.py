"""`tf.keras`: C++'s layers, models and what they are made of; all can be subclassed here.

Names of Keras that are missing raise E1105, as everywhere in the package.
"""

from __future__ import annotations

from .._names import namespace as _namespace
from . import (
    activations,
    callbacks,
    config,
    constraints,
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
from .inputs import Input
from .layer import Layer
from .losses import Loss
from .metrics import Metric
from .mixed_precision import DTypePolicy
from .models import Model, Sequential
from .optimizers import Optimizer

__all__ = [
    "DTypePolicy",
    "Input",
    "Layer",
    "Loss",
    "Metric",
    "Model",
    "Optimizer",
    "Sequential",
    "activations",
    "callbacks",
    "config",
    "constraints",
    "initializers",
    "layers",
    "losses",
    "metrics",
    "mixed_precision",
    "models",
    "optimizers",
    "regularizers",
    "saving",
    "tree",
    "utils",
]

for _part in ("", ".optimizers.schedules", *(f".{_name}" for _name in __all__ if _name.islower())):
    _namespace.module("keras" + _part)
