"""A call that fails while it is traced: what stays, and what the next call does."""

import types

import pytest

import holdfast as tf


@pytest.mark.parametrize("kind", [KeyError, KeyboardInterrupt, SystemExit])
def test_plain_values_stay_and_symbols_go(kind):
    state = types.SimpleNamespace(tries=0, latest="nothing")
    kept, words = [], []

    @tf.function
    def f(x):
        state.tries += 1
        state.latest = x
        kept.append(x)
        words.append("tried")
        if state.tries == 1:
            raise kind("not yet")
        return x * 2

    with pytest.raises(kind):
        f(tf.constant(1.0))
    assert (state.tries, state.latest, kept, words) == (1, "nothing", [], ["tried"])
    assert tf.executing_eagerly()
    assert float(f(tf.constant(3.0))) == 6.0
    assert (state.tries, float(state.latest), len(kept), len(words)) == (2, 3.0, 1, 2)


def test_a_variable_that_a_trace_makes_is_made_once_beside_stores():
    class Model(tf.Module):
        def __init__(self):
            super().__init__()
            self.built = False
            self.seen = []
            self.state = tf.constant(0.0)

        @tf.function
        def __call__(self, x):
            if not self.built:
                self.scale = tf.Variable(2.0)
                self.built = True
            self.seen.append(x)
            self.state = self.state + x * self.scale
            return self.state

    model = Model()
    assert [float(model(tf.constant(v))) for v in (1.0, 2.0, 3.0)] == [2.0, 6.0, 12.0]
    assert [float(v) for v in model.seen] == [1.0, 2.0, 3.0]
    assert len(model.variables) == 1


STATE = """
import holdfast as tf

class Cell:
    def __init__(self):
        self.total, self.pair = tf.constant(0.0), (tf.constant(0.0), tf.constant(1.0))

    def add(self, x):
        self.total = self.total + x
        return self.total

    def swap(self, x):
        first, second = self.pair
        self.pair = (second + x, first)
        return first

cell = Cell()
functions = [lambda x: cell.add(x), cell.swap, lambda x: cell.swap(x)]
"""


@pytest.mark.parametrize("number", range(3))
def test_state_in_code_without_source_is_refused_and_never_stale(number):
    space = {}
    exec(STATE, space)
    with pytest.raises(tf.errors.DiagnosticError) as caught:
        tf.function(space["functions"][number])(tf.constant(1.0))
    assert caught.value.code == "E0106"
