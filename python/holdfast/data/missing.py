"""Names of TensorFlow's `Dataset` that are not there yet: they raise E1105."""

from __future__ import annotations

__all__ = ["CLASS_NAMES", "METHODS"]

CLASS_NAMES = frozenset(
    ("choose_from_datasets", "list_files", "load", "random", "sample_from_datasets")
)
METHODS = frozenset(
    (
        "bucket_by_sequence_length",
        "fingerprint",
        "group_by_window",
        "ignore_errors",
        "prefetch_to_device",
        "ragged_batch",
        "rebatch",
        "rejection_resample",
        "save",
        "scan",
        "snapshot",
        "sparse_batch",
        "unique",
        "window",
    )
)
