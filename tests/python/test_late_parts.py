"""Parts of the package that are loaded when they are first asked for look as if they had always been there."""

import subprocess
import sys
import textwrap

import pytest

POSE = "import holdfast; holdfast.install_as_tensorflow(); "


def run(code):
    command = [sys.executable, "-c", textwrap.dedent(code)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.split()


def loaded_after(code):
    """Which of the late parts a program loads."""
    shown = """
        import sys
        for name, part in (("autograph", "_autograph.public"), ("v1", "_v1.train")):
            if "holdfast." + part in sys.modules:
                print(name)
        """
    return run(textwrap.dedent(code) + textwrap.dedent(shown))


@pytest.mark.parametrize(
    ("program", "loaded"),
    [
        ("import holdfast", []),
        ("import holdfast as tf; tf.constant(1.0) + 1", []),
        ("import holdfast as tf; tf.function(lambda x: x)", []),
        ("import holdfast as tf; tf.function(lambda x: x)(1.0)", ["autograph"]),
        ("import holdfast as tf; dir(tf); dir(tf.compat)", []),
        ("import holdfast as tf; tf.install_as_tensorflow()", []),
        ("import holdfast as tf; tf.compat.v1", ["v1"]),
        ("import holdfast as tf; tf.autograph.to_code", ["autograph"]),
    ],
)
def test_a_part_is_loaded_when_it_is_asked_for(program, loaded):
    assert loaded_after(program) == loaded


@pytest.mark.parametrize(
    "program",
    [
        "import holdfast as tf; print(tf.compat.v1.Session.__name__)",
        "import holdfast.compat.v1 as v1; print(v1.Session.__name__)",
        "from holdfast.compat.v1 import Session; print(Session.__name__)",
        "from holdfast.compat import v1; print(v1.Session.__name__)",
        "from holdfast import compat; print(compat.v1.Session.__name__)",
        "import holdfast as tf; print(getattr(tf.compat, 'v1').Session.__name__)",
        "from holdfast import *; import sys; sys.stdout.write(compat.v1.Session.__name__)",
        POSE + "import tensorflow.compat.v1 as v1; print(v1.Session.__name__)",
        POSE + "from tensorflow.compat.v1 import Session; print(Session.__name__)",
        POSE + "import tensorflow as t; print(t.compat.v1.Session.__name__)",
    ],
)
def test_v1_by_every_way_of_importing(program):
    assert run(program) == ["Session"]


@pytest.mark.parametrize(
    "program",
    [
        "import holdfast.compat.v1.train as train; print(train.AdamOptimizer.__name__)",
        "from holdfast.compat.v1.train import AdamOptimizer; print(AdamOptimizer.__name__)",
        POSE
        + "from tensorflow.compat.v1.train import AdamOptimizer; print(AdamOptimizer.__name__)",
    ],
)
def test_what_lies_inside_v1_is_importable_at_once(program):
    assert run(program) == ["AdamOptimizer"]


@pytest.mark.parametrize(
    "program",
    [
        "import holdfast as tf; print(tf.autograph.experimental.Feature.__name__)",
        "import holdfast.autograph.experimental as e; print(e.Feature.__name__)",
        "from holdfast.autograph import experimental as e; print(e.Feature.__name__)",
        "from holdfast import autograph; print(autograph.experimental.Feature.__name__)",
        "from holdfast import *; import sys; sys.stdout.write(autograph.experimental.Feature.__name__)",
        "import holdfast as tf; print(tf.compat.v1.autograph.experimental.Feature.__name__)",
        POSE + "import tensorflow.autograph as a; print(a.experimental.Feature.__name__)",
        POSE + "import tensorflow as t; print(t.autograph.experimental.Feature.__name__)",
    ],
)
def test_autograph_by_every_way_of_importing(program):
    assert run(program) == ["Feature"]


def test_directories_name_what_is_not_loaded_yet():
    program = """
        import holdfast as tf
        print("autograph" in dir(tf), "v1" in dir(tf.compat), "autograph" in tf.__all__)
        alias = tf.install_as_tensorflow()
        print("autograph" in dir(alias), "Session" in dir(tf.compat.v1))
        """
    assert run(program) == ["True"] * 5


def test_objects_of_late_parts_are_pickled():
    program = """
        import pickle
        import holdfast as tf
        saved = pickle.dumps([tf.compat.v1.Dimension, tf.compat.v1.ConfigProto, tf.autograph.experimental.Feature.LISTS])
        print(len(saved) > 0)
        open("/dev/stdout", "w").write(saved.hex())
        """
    (there, data) = run(program)
    again = f"""
        import pickle
        dimension, config, feature = pickle.loads(bytes.fromhex("{data}"))
        import holdfast as tf
        print(dimension is tf.compat.v1.Dimension, config is tf.compat.v1.ConfigProto)
        print(feature is tf.autograph.experimental.Feature.LISTS)
        """
    assert [there, *run(again)] == ["True"] * 4


def test_many_threads_may_ask_for_a_part_at_once():
    program = """
        import threading
        import holdfast as tf
        seen = []
        gate = threading.Barrier(8)
        def ask():
            gate.wait()
            seen.append((tf.compat.v1.Session, tf.autograph.to_code))
        threads = [threading.Thread(target=ask) for _ in range(8)]
        [t.start() for t in threads]
        [t.join() for t in threads]
        print(len(seen), len(set(seen)))
        """
    assert run(program) == ["8", "1"]
