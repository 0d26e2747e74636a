"""Records the public names of Keras with the signature of each, in `names.json`.

Run where Keras is installed: `python record_names.py`. Tests read the figures, never Keras.
"""

import inspect
import json
import pathlib
import types

import keras

PLACE = pathlib.Path(__file__).with_name("names.json")

# Namespaces that are no part of what programs write.
LEFT_OUT = {"keras.src", "keras.legacy"}

# Classes that programs subclass, or whose methods they call.
WITH_METHODS = [
    "keras.Layer",
    "keras.Model",
    "keras.Sequential",
    "keras.Optimizer",
    "keras.Metric",
    "keras.Loss",
    "keras.callbacks.Callback",
    "keras.initializers.Initializer",
    "keras.regularizers.Regularizer",
    "keras.constraints.Constraint",
    "keras.optimizers.schedules.LearningRateSchedule",
    "keras.random.SeedGenerator",
    "keras.utils.PyDataset",
    "keras.utils.Progbar",
]


def written(called):
    """A signature as text without annotations, None where there is none to read."""
    try:
        signature = inspect.signature(called)
    except (TypeError, ValueError):
        return None
    bare = [p.replace(annotation=p.empty) for p in signature.parameters.values()]
    for i, parameter in enumerate(bare):
        if callable(parameter.default) and parameter.default is not parameter.empty:
            bare[i] = parameter.replace(default=parameter.default.__name__)
    return str(signature.replace(parameters=bare, return_annotation=signature.empty))


def methods(owner):
    """The public methods of a class and those it has from its bases, by name."""
    return {
        name: written(member)
        for name in sorted(dir(owner))
        if not name.startswith("_") and callable(member := getattr(owner, name))
    }


def walk(path, space, found):
    """Collects the names of a namespace and of those below it."""
    for name in sorted(vars(space)):
        if name.startswith("_"):
            continue
        inner, value = f"{path}.{name}", getattr(space, name)
        if isinstance(value, types.ModuleType):
            if value.__name__.startswith("keras") and inner not in LEFT_OUT:
                walk(inner, value, found)
        else:
            found[inner] = written(value) if callable(value) else None
    return found


if __name__ == "__main__":
    names = walk("keras", keras, {})
    owners = {path: methods(eval(path, {"keras": keras})) for path in WITH_METHODS}
    record = {"version": keras.__version__, "names": names, "methods": owners}
    PLACE.write_text(json.dumps(record, indent=0, sort_keys=True) + "\n")
