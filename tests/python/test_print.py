"""`tf.print` writes what TensorFlow's writes."""

import collections
import io
import sys

import numpy as np
import pytest

import holdfast as tf

P = collections.namedtuple("P", "x y")


def printed(capsys, *inputs, **kwargs):
    tf.print(*inputs, output_stream=sys.stdout, **kwargs)
    return capsys.readouterr().out


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ([[1, 2], [3, 4]], "[[1 2]\n [3 4]]"),
        (list(range(10)), "[0 1 2 ... 7 8 9]"),
        ([1.5, 1e10, 1e-10, float("nan"), float("inf"), 1 / 3], "[1.5 1e+10 1e-10 nan inf 0.333333343]"),
        ([0.1, 100.25], "[0.1 100.25]"),
        (1234567.0, "1234567"),
        (-0.0, "-0"),
        ([True, False], "[1 0]"),
        (["s", "t"], '["s" "t"]'),
        (np.float64(1 / 3), "0.33333333333333331"),
        (np.zeros((2, 2, 2), "float32"), "[[[0 0]\n  [0 0]]\n\n [[0 0]\n  [0 0]]]"),
        (np.arange(64).reshape(8, 8), ("[[0 1 2 ... 5 6 7]\n [8 9 10 ... 13 14 15]\n [16 17 18 ... 21 22 23]\n ...\n"
         " [40 41 42 ... 45 46 47]\n [48 49 50 ... 53 54 55]\n [56 57 58 ... 61 62 63]]")),
    ],
)  # fmt: skip
def test_tensors(capsys, value, text):
    assert printed(capsys, tf.constant(value)) == text + "\n"


def test_other_values_and_structures(capsys):
    one = tf.constant(1)
    assert (
        printed(capsys, "a", 3, 2.5, None, [1, 2], {"a": one}) == "a 3 2.5 None [1, 2] {'a': 1}\n"
    )
    assert (
        printed(capsys, (one, "a"), [tf.constant([1, 2]), 3], P(1, one))
        == "(1, 'a') [[1 2], 3] P(x=1, y=1)\n"
    )
    assert printed(capsys, tf.Variable([1.0, 2.0]), tf.float32) == "[1 2] tf.float32\n"
    assert printed(capsys) == "\n"


def test_options(capsys, tmp_path):
    t = tf.constant(list(range(10)))
    assert printed(capsys, t, 1, summarize=2, sep="-", end="!") == "[0 1 ... 8 9]-1!"
    assert printed(capsys, t, summarize=-1) == "[0 1 2 3 4 5 6 7 8 9]\n"
    tf.print("to stderr")
    assert capsys.readouterr().err == "to stderr\n"
    for _ in range(2):
        tf.print(t, output_stream=f"file://{tmp_path}/log", summarize=1)
    assert (tmp_path / "log").read_text() == "[0 ... 9]\n" * 2
    with pytest.raises(ValueError, match="`output_stream` is 'x'"):
        tf.print(1, output_stream="x")
    with pytest.raises(ValueError, match="takes no `foo`"):
        tf.print(1, foo=2)


def test_a_text_may_look_like_a_placeholder(capsys):
    assert printed(capsys, {"{}": tf.constant(1)}, "{_}", tf.constant(2)) == "{'{}': 1} {_} 2\n"
    assert printed(capsys, "{", "}", tf.constant("\xe9"), sep="") == '{}"\xe9"\n'
    assert printed(capsys, tf.constant(b"a\xff")) == '"a\\xff"\n'


def test_a_stream_of_the_program_is_written_to_at_each_run():
    stream = io.StringIO()

    @tf.function(autograph=False)
    def f(x):
        tf.print("x", x, output_stream=stream, end=";")
        return x

    for n in (1, 2):
        f(tf.constant(n))
    tf.print("eager", output_stream=stream)
    assert stream.getvalue() == "x 1;x 2;eager\n"


def test_what_a_stream_raises_comes_out(monkeypatch):
    class Closed(io.StringIO):
        def write(self, text):
            raise OSError("gone")

    monkeypatch.setattr(sys, "stdout", Closed())
    with pytest.raises(OSError, match="gone"):
        tf.function(lambda: tf.print("x", output_stream=sys.stdout), autograph=False)()


@pytest.mark.parametrize("traced", [False, True])
def test_values_of_several_tensors_are_printed_by_their_values(capsys, traced):
    rows = tf.ragged.constant([[1, 2, 3, 4, 5, 6, 7, 8, 9], [10], [], [], [], [], [11, 12]])

    def show(rows, texts, pairs, sparse):
        tf.print(rows, texts, sep="|")
        tf.print([rows], summarize=2)
        tf.print("a", {"b": pairs}, sparse, summarize=-1)

    values = (
        rows,
        tf.ragged.constant([["a'b"], ['c"d']]),
        tf.RaggedTensor.from_row_lengths(tf.constant([[1.5, 2.0], [3.0, 4.0]]), [0, 2]),
        tf.sparse.from_dense([[1, 0]]),
    )
    (tf.function(show) if traced else show)(*values)
    assert capsys.readouterr().err.splitlines() == [
        "[[1, 2, 3, ..., 7, 8, 9], [10], [], ..., [], [], [11, 12]]|[['a\\'b'], ['c\"d']]",
        "[[[1, 2, ..., 8, 9], [10], ..., [], [11, 12]]]",
        (
            "a {'b': [[], [[1.500000, 2.000000], [3.000000, 4.000000]]]} "
            "'SparseTensor(indices=[[0 0]], values=[1], shape=[1 2])'"
        ),
    ]
