"""TensorFlow's public names of `tf.data`: each is there, or says that it is not."""

import pytest

import holdfast as tf
from holdfast._names.tensorflow import namespaces

# As `dir(tf.data.Dataset)` of TensorFlow 2 tells.
METHODS = [
    "apply",
    "as_numpy_iterator",
    "batch",
    "bucket_by_sequence_length",
    "cache",
    "cardinality",
    "choose_from_datasets",
    "concatenate",
    "counter",
    "element_spec",
    "enumerate",
    "filter",
    "fingerprint",
    "flat_map",
    "from_generator",
    "from_tensor_slices",
    "from_tensors",
    "get_single_element",
    "group_by_window",
    "ignore_errors",
    "interleave",
    "list_files",
    "load",
    "map",
    "options",
    "padded_batch",
    "prefetch",
    "ragged_batch",
    "random",
    "range",
    "rebatch",
    "reduce",
    "rejection_resample",
    "repeat",
    "sample_from_datasets",
    "save",
    "scan",
    "shard",
    "shuffle",
    "skip",
    "snapshot",
    "sparse_batch",
    "take",
    "take_while",
    "unbatch",
    "unique",
    "window",
    "with_options",
    "zip",
]


@pytest.mark.parametrize("name", METHODS)
def test_methods_of_a_dataset(name):
    assert hasattr(tf.data.Dataset.range(3), name)


@pytest.mark.parametrize(
    ("path", "name"),
    [(p, n) for p in ("data", "data.experimental") for n in sorted(namespaces()[p])],
)
def test_names_of_the_modules(path, name):
    holder = tf.data if path == "data" else tf.data.experimental
    try:
        found = getattr(holder, name)
    except tf.errors.UnimplementedError as e:
        assert name in str(e)
    else:
        assert found is not None


@pytest.mark.parametrize("name", ["element_spec", "get_next", "get_next_as_optional"])
def test_methods_of_an_iterator(name):
    assert hasattr(iter(tf.data.Dataset.range(3)), name)
