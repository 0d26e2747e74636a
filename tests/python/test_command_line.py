"""`holdfast run | explain | graph | describe | doctor`."""

import json
import subprocess
import sys


def holdfast(*args, **kwargs):
    command = [sys.executable, "-m", "holdfast", *args]
    return subprocess.run(command, capture_output=True, text=True, check=False, **kwargs)


def test_run_gives_the_script_tensorflow_and_its_arguments(tmp_path):
    (tmp_path / "beside.py").write_text("word = 'found'\n")
    script = tmp_path / "app.py"
    script.write_text(
        "import sys, tensorflow as tf, beside\n"
        "if __name__ == '__main__':\n"
        "    print(tf.__version__, beside.word, sys.argv[1:], (tf.constant(1) + 1).numpy())\n"
        "    sys.exit(3)\n"
    )
    done = holdfast("run", str(script), "-x", "y")
    assert done.stdout == "2.21.0 found ['-x', 'y'] 2\n" and done.returncode == 3, done.stderr
    assert holdfast("run", "nowhere.py").returncode == 2


def test_explain():
    assert holdfast("explain", "E1101").stdout.startswith("# E1101")
    assert "W0703" in holdfast("explain").stdout
    assert holdfast("explain", "E9999").returncode == 2


def test_describe(tmp_path):
    said = json.loads(holdfast("describe").stdout)
    assert any("reduce_sum" in f["python"] for f in said["functions"]) and said["raw_ops"]
    assert "## tf." in holdfast("describe", "--markdown").stdout
    assert holdfast("describe", "--stubs", str(tmp_path)).returncode == 0
    stubs = list(tmp_path.rglob("*.pyi"))
    assert stubs
    for stub in stubs:
        compile(stub.read_text(), str(stub), "exec")


def test_doctor():
    said = holdfast("doctor").stdout
    assert "holdfast " in said and "device       CPU:0" in said and "instructions" in said


GRAPHS = """
import sys
import tensorflow as tf

@tf.function
def double(x):
    return -(-(x * 2.0)) + tf.constant(1.0) * tf.constant(3.0)

@tf.function
def halve(x):
    return x / 2.0

x = tf.constant([1.0, 2.0])
with tf.GradientTape() as tape:
    tape.watch(x)
    y = double(x)
print(tape.gradient(y, x).numpy(), halve(x).numpy(), sys.argv[1:])
"""


def test_graph_prints_graphs_as_traced_and_after_each_pass_that_changed_them(tmp_path):
    script = tmp_path / "app.py"
    script.write_text(GRAPHS)
    done = holdfast("graph", str(script), "a", "--", "-b")
    assert done.returncode == 0, done.stderr
    said = "[2. 2.] [0.5 1. ] ['a', '-b']\n# double, as traced\n"
    assert done.stdout.startswith(said), done.stdout
    heads = [line for line in done.stdout.splitlines() if line.startswith("# ")]
    assert "# double, after simplify" in heads and "# halve, as traced" in heads
    assert "# gradient of double, as traced" in heads
    for text in done.stdout.split("# ")[1:]:
        assert "holdfast graph 1\nfunction " in text


def test_graph_of_one_function(tmp_path):
    script = tmp_path / "app.py"
    script.write_text(GRAPHS)
    done = holdfast("graph", str(script), "--function", "double")
    assert "# gradient of double" in done.stdout and "halve" not in done.stdout
    done = holdfast("graph", str(script), "--function", "nobody")
    assert done.returncode == 1 and "no graph of nobody ran; graphs: double" in done.stderr
    assert holdfast("graph", "nowhere.py").returncode == 2


def test_what_is_not_there_yet_says_so():
    for command in ("bench", "board"):
        done = holdfast(command)
        assert done.returncode == 2 and "E1105" in done.stderr
    assert holdfast().returncode == 2
