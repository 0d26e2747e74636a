"""Sets, deletes and reads every attribute of objects of each public class: run by test_attribute_fuzz.py.

    python attribute_fuzz_child.py KIND...

Whatever an attribute is given, the interpreter lives on and tells of it by an exception of the program's kind.
Prints `try KIND N NAME` before each try, and a line of JSON for each that ended in a way it may not.
"""

import inspect
import json
import signal
import sys

import numpy as np

import holdfast as tf
from holdfast import keras
from holdfast.errors import DiagnosticError

SECONDS = 20  # a try that takes longer hangs
FAMILIES = ("layers", "losses", "metrics", "optimizers", "regularizers", "constraints")
GIVEN = ((), (2,), (2, 3), ((2, 2),), (0.5,), ([0.5],), (keras.layers.Dense(2),), (abs,))

# What a program may catch; anything else ends the child.
REFUSED = (
    *(DiagnosticError, TypeError, ValueError, AttributeError, LookupError, RuntimeError),
    *(OverflowError, AssertionError, StopIteration),
)


class Unkind:
    """It refuses to say whether it is true."""

    def __bool__(self):
        raise ValueError("no truth")


def odd():
    return [None, -1, "x", "\udc80", [None], Unkind(), tf.zeros([0, 3]), tf.Variable(1.0)]


def built():
    layer = keras.layers.Dense(2)
    layer.build((None, 3))
    return layer


def compiled():
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(2)])
    model.compile("sgd", "mse", metrics=["mae"])
    return model


def traced():
    function = tf.function(lambda x: x * 2)
    function(tf.constant(1.0))
    return function


def by_hand():
    with tf.Graph().as_default():
        return tf.compat.v1.placeholder(tf.float32, [None])


OBJECTS = {
    "Tensor": lambda: tf.constant([1.0, 2.0]),
    "Variable": lambda: tf.Variable([1.0, 2.0]),
    "Module": tf.Module,
    "GradientTape": tf.GradientTape,
    "Generator": lambda: tf.random.Generator.from_seed(1),
    "Dataset": lambda: tf.data.Dataset.range(5),
    "Iterator": lambda: iter(tf.data.Dataset.range(5)),
    "Graph": tf.Graph,
    "Symbol": by_hand,
    "Operation": lambda: by_hand().op,
    "Session": lambda: tf.compat.v1.Session(graph=tf.Graph()),
    "Function": traced,
    "ConcreteFunction": lambda: traced().get_concrete_function(tf.constant(1.0)),
    "TensorArray": lambda: tf.TensorArray(tf.float32, 3),
    "RaggedTensor": lambda: tf.ragged.constant([[1], [2, 3]]),
    "SparseTensor": lambda: tf.sparse.from_dense([[0, 1]]),
    "TensorSpec": lambda: tf.TensorSpec([None, 2]),
    "TensorShape": lambda: tf.TensorShape([1, None]),
    "KerasTensor": lambda: keras.Input((3,)),
    "Dense-built": built,
    "Sequential-compiled": compiled,
    "History": lambda: compiled().fit(np.zeros((4, 3), "f"), np.zeros((4, 2), "f"), verbose=0),
    "EarlyStopping": keras.callbacks.EarlyStopping,
}


def kinds():
    """The names of what can be made."""
    return list(OBJECTS) + [
        f"{family}.{name}"
        for family in FAMILIES
        for name, found in sorted(vars(getattr(keras, family)).items())
        if inspect.isclass(found) and not name.startswith("_")
    ]


def maker(kind):
    """What makes one; None for a class that wants more than we know."""
    if kind in OBJECTS:
        return OBJECTS[kind]
    family, name = kind.split(".")
    cls = getattr(getattr(keras, family), name)
    for given in GIVEN:
        try:
            cls(*given)
        except REFUSED:
            continue
        return lambda: cls(*given)
    return None


def attempt(tell, act, *args):
    """Tells of what ended by an exception that no program should see."""
    try:
        act(*args)
    except SystemError as broken:
        tell(act.__name__, f"SystemError: {broken}")
    except REFUSED as refused:
        if "E1599" in str(refused):
            tell(act.__name__, str(refused))


def main(chosen):
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    for kind in chosen:
        make = maker(kind)
        if make is None:
            continue
        one = make()
        for n, name in enumerate(sorted({*dir(one), *dir(type(one))})):
            if name.startswith("__"):
                continue
            print("try", kind, n, name, flush=True)
            signal.alarm(SECONDS)

            def tell(what, text, kind=kind, name=name):
                found = {"kind": kind, "attribute": name, "what": what, "text": text[:400]}
                print(json.dumps(found), flush=True)

            for value in odd():
                one = make()
                attempt(tell, setattr, one, name, value)
                attempt(tell, getattr, one, name)
            one = make()
            attempt(tell, delattr, one, name)
            attempt(tell, getattr, one, name)
            attempt(tell, repr, one)
            signal.alarm(0)
    print("done", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
