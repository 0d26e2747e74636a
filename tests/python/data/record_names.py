"""Records TensorFlow 2.21's public names of `tf.data`, with the parameters of what is called.

Run it with a Python that has TensorFlow; tests compare ours with what it wrote:

    python record_names.py > names.json
"""

import inspect
import json
import types


def parameters(value):
    """The names of what a function takes, or None where nobody can tell."""
    try:
        found = inspect.signature(value).parameters
    except (TypeError, ValueError):
        return None
    return [name for name in found if name not in ("self", "cls")]


def members(cls):
    """The public methods and properties of a class, with the parameters of methods."""
    found = {}
    for name in sorted(dir(cls)):
        if name.startswith("_"):
            continue
        value = inspect.getattr_static(cls, name)
        value = getattr(value, "__func__", value)
        found[name] = parameters(value) if callable(value) else None
    return found


def walk(module):
    """What a module has: functions with their parameters, classes with their members."""
    found = {}
    for name in sorted(dir(module)):
        value = getattr(module, name, None)
        if name.startswith("_") or isinstance(value, types.ModuleType):
            continue
        if isinstance(value, type):
            found[name] = {"parameters": parameters(value.__init__), "members": members(value)}
        else:
            found[name] = {"parameters": parameters(value) if callable(value) else None}
    return found


def main():
    import tensorflow as tf

    modules = {
        "data": tf.data,
        "data.experimental": tf.data.experimental,
        "compat.v1.data": tf.compat.v1.data,
        "compat.v1.data.experimental": tf.compat.v1.data.experimental,
    }
    lines = [
        f"{json.dumps(f'{path}.{name}')}: {json.dumps(value, sort_keys=True)}"
        for path, module in modules.items()
        for name, value in walk(module).items()
    ]
    print("{\n" + ",\n".join(lines) + "\n}")


if __name__ == "__main__":
    main()
