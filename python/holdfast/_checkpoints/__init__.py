"""Checkpoints: variables in TensorFlow's own files, found by the objects that hold them."""
