"""`tf.keras.preprocessing.image`."""

from __future__ import annotations

from ..utils import array_to_img, img_to_array, load_img, save_img
from .augmenting import ImageDataGenerator

__all__ = ["ImageDataGenerator", "array_to_img", "img_to_array", "load_img", "save_img"]
