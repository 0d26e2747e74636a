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
    mixed_precision,
    models,
    regularizers,
    saving,
    tree,
    utils,
)
from .inputs import Input
from .layer import Layer
from .mixed_precision import DTypePolicy
from .models import Model, Sequential

__all__ = [
    "DTypePolicy",
    "Input",
    "Layer",
    "Model",
    "Sequential",
    "activations",
    "callbacks",
    "config",
    "constraints",
    "initializers",
    "layers",
    "mixed_precision",
    "models",
    "regularizers",
    "saving",
    "tree",
    "utils",
]

for _part in ("", *(f".{_name}" for _name in __all__ if _name.islower())):
    _namespace.module("keras" + _part)
