"""TensorFlow's public names of `tf.data`: each is there and takes what it takes, or says that it is not."""

import functools
import inspect
import json
import pathlib

import pytest

import holdfast as tf

# Made by data/record_names.py, with TensorFlow.
RECORDED = json.loads((pathlib.Path(__file__).parent / "data" / "names.json").read_text())

# Members of classes that are TensorFlow's own machinery, and no part of a program's pipeline.
INTERNAL = {
    "experimental_as_proto",
    "experimental_from_proto",
    "experimental_type_proto",
    "placeholder_value",
    "cast",
    "flatten",
    "from_tensors",
    "to_tensors",
}


def found_at(path):
    return functools.reduce(getattr, path.split("."), tf)


def refused(path):
    """Whether a name says, by E1105, that it is not there."""
    try:
        found_at(path)
    except tf.errors.UnimplementedError as error:
        assert "E1105" in str(error) and path.rpartition(".")[2] in str(error)
        return True
    return False


@pytest.mark.parametrize("path", RECORDED)
def test_a_name_is_there_or_is_refused_by_name(path):
    if not refused(path):
        assert found_at(path) is not None


def takes(function):
    found = inspect.signature(function).parameters
    return [name for name in found if name not in ("self", "cls")]


def has_all(ours, wanted, path):
    """Arguments may be given by name or place as TensorFlow has them; ours may have more behind."""
    assert ours[: len(wanted)] == wanted or set(wanted) <= set(ours), (path, ours, wanted)


FUNCTIONS = [
    path
    for path, facts in RECORDED.items()
    if path.split(".")[-1].islower() and facts["parameters"] and not path.startswith("compat")
]


@pytest.mark.parametrize("path", FUNCTIONS)
def test_functions_take_the_same_arguments(path):
    if not refused(path):
        has_all(takes(found_at(path)), RECORDED[path]["parameters"], path)


CLASSES = [
    path
    for path, facts in RECORDED.items()
    if "members" in facts and path.startswith("data.") and not path.startswith("data.experimental")
]


@pytest.mark.parametrize("path", CLASSES)
def test_members_of_classes_are_there(path):
    ours = found_at(path)
    if path.endswith("Options"):
        ours = ours()  # what it holds is its own
    for name, parameters in RECORDED[path]["members"].items():
        if name in INTERNAL and "Spec" in path:
            continue
        try:
            getattr(ours, name)
        except tf.errors.UnimplementedError as error:
            assert name in str(error)
            continue
        if parameters and callable(getattr(ours, name)):
            has_all(takes(getattr(ours, name)), parameters, f"{path}.{name}")


def test_an_argument_that_is_not_supported_is_refused_by_its_name():
    dataset = tf.data.Dataset.range(3)
    with pytest.raises(tf.errors.UnimplementedError, match="checkpoint_args"):
        dataset.save("nowhere", checkpoint_args={})
