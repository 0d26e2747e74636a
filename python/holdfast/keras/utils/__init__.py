"""`tf.keras.utils`: what programs need beside layers and models."""

from __future__ import annotations

from ..config import (
    disable_interactive_logging,
    enable_interactive_logging,
    is_interactive_logging_enabled,
)
from ..configs import (
    CustomObjectScope,
    custom_object_scope,
    deserialize_keras_object,
    get_custom_objects,
    get_registered_name,
    get_registered_object,
    register_keras_serializable,
    serialize_keras_object,
)
from .arrays import normalize, pad_sequences, to_categorical
from .batches import (
    PyDataset,
    Sequence,
    pack_x_y_sample_weight,
    split_dataset,
    unpack_x_y_sample_weight,
)
from .files import get_file
from .folders import (
    audio_dataset_from_directory,
    image_dataset_from_directory,
    text_dataset_from_directory,
)
from .images import array_to_img, img_to_array, load_img, save_img
from .plots import model_to_dot, plot_model
from .progress import Progbar
from .state import (
    clear_session,
    get_source_inputs,
    is_keras_tensor,
    set_random_seed,
    standardize_dtype,
)
from .timeseries import timeseries_dataset_from_array

__all__ = [
    "CustomObjectScope",
    "Progbar",
    "PyDataset",
    "Sequence",
    "array_to_img",
    "audio_dataset_from_directory",
    "clear_session",
    "custom_object_scope",
    "deserialize_keras_object",
    "disable_interactive_logging",
    "enable_interactive_logging",
    "get_custom_objects",
    "get_file",
    "get_registered_name",
    "get_registered_object",
    "get_source_inputs",
    "image_dataset_from_directory",
    "img_to_array",
    "is_interactive_logging_enabled",
    "is_keras_tensor",
    "load_img",
    "model_to_dot",
    "normalize",
    "pack_x_y_sample_weight",
    "pad_sequences",
    "plot_model",
    "register_keras_serializable",
    "save_img",
    "serialize_keras_object",
    "set_random_seed",
    "split_dataset",
    "standardize_dtype",
    "text_dataset_from_directory",
    "timeseries_dataset_from_array",
    "to_categorical",
    "unpack_x_y_sample_weight",
]
