"""`tf.random` in Python: a Generator's state, seeds of any form, and what is refused."""

import numpy as np
import pytest

import holdfast as tf

# What TensorFlow answers.
FIRST = [[0.43842274, -0.53439844, -0.07710262], [1.5658046, -0.1012345, -0.2744976]]


@pytest.fixture(autouse=True)
def no_global_seed():
    yield
    tf.random.set_seed(None)


def test_a_generator_gives_tensorflows_numbers():
    for g in (tf.random.Generator.from_seed(1), tf.random.Generator.from_seed(1, alg="philox")):
        np.testing.assert_allclose(g.normal(shape=[2, 3]), FIRST, rtol=1e-6)


def test_a_generator_starts_over_and_splits():
    g = tf.random.Generator.from_seed(1)
    first = g.normal([]).numpy()
    assert g.normal([]).numpy() != first
    parts = g.split(3)
    assert len({float(p.normal([])) for p in parts}) == 3
    g.reset_from_seed(1)
    assert g.normal([]).numpy() == first


def test_the_state_is_the_variable_that_was_given():
    v = tf.Variable([1, 2, 3], dtype=tf.int64)
    g = tf.random.Generator.from_state(v, tf.random.Algorithm.PHILOX)
    copy = tf.random.Generator(copy_from=g)
    g.normal([1])
    assert g.state is v
    assert v.numpy().tolist() == [257, 2, 3]
    assert copy.state.numpy().tolist() == [1, 2, 3]
    assert int(g.key) == 3


def test_the_state_is_found_by_modules():
    class Noisy(tf.Module):
        def __init__(self):
            super().__init__()
            self.g = tf.random.Generator.from_seed(0)
            self.state = self.g.state

    assert [v.name for v in Noisy().variables] == ["StateVar:0"]


def test_seeds_come_in_any_form():
    assert tf.random.create_rng_state(2**130 + 7, "philox").numpy().tolist() == [7, 0, 4]
    assert tf.random.create_rng_state(2**64 - 1, 1).numpy().tolist() == [-1, 0, 0]
    assert tf.random.create_rng_state(-1, 1).numpy().tolist() == [-1, -1, -1]
    assert tf.random.create_rng_state([1, 2], "philox").numpy().tolist() == [0, 1, 2]
    g = tf.random.Generator.from_key_counter(2**64 - 1, [1, 2], "philox")
    assert g.state.numpy().tolist() == [1, 2, -1]


def test_set_seed_starts_every_stream_over():
    tf.random.set_seed(1234)
    story = [float(tf.random.uniform([1])[0]) for _ in range(2)] + [
        float(tf.random.uniform([1], seed=1)[0]) for _ in range(2)
    ]
    assert len(set(story)) == 4
    tf.random.set_seed(1234)
    assert float(tf.random.uniform([1])[0]) == story[0]
    assert float(tf.random.uniform([1], seed=1)[0]) == story[2]


def test_numbers_take_the_dtype_that_was_asked_for():
    assert tf.random.uniform([2], 0, 10, tf.int64).dtype == tf.int64
    assert tf.random.uniform([2], 1, 2.5, "float64").dtype == tf.float64
    assert tf.random.gamma([2], [1, 2], dtype=tf.float64).dtype == tf.float64
    assert tf.random.stateless_uniform([2], [1, 2], None, None, tf.uint32).dtype == tf.uint32


def test_gradients_flow_to_the_parameters():
    mean, stddev = tf.Variable([1.0, 2.0]), tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = tf.random.normal([4, 2], mean, stddev)
    by_mean, by_stddev = tape.gradient(y, [mean, stddev])
    assert by_mean.numpy().tolist() == [4, 4]
    np.testing.assert_allclose(by_stddev, np.sum((y - mean) / stddev), rtol=1e-5)


def test_the_global_generator_can_be_set():
    g = tf.random.Generator.from_seed(3)
    tf.random.set_global_generator(g)
    assert tf.random.get_global_generator() is g
    assert tf.random.experimental.get_global_generator() is g


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: tf.random.uniform([2], dtype=tf.int32), ValueError),
        (lambda: tf.random.uniform([2], dtype=tf.uint8), ValueError),
        (lambda: tf.random.uniform(5), tf.errors.InvalidArgumentError),
        (lambda: tf.random.normal([2], dtype=tf.int32), ValueError),
        (lambda: tf.random.stateless_uniform([2], [1, 2, 3]), tf.errors.InvalidArgumentError),
        (lambda: tf.random.stateless_uniform([2], [1.0, 2.0]), tf.errors.InvalidArgumentError),
        (lambda: tf.random.stateless_uniform([2], [1, 2], alg="mt"), ValueError),
        (lambda: tf.random.Generator.from_seed(1, "mt"), ValueError),
        (lambda: tf.random.Generator.from_seed(1, 9), ValueError),
        (lambda: tf.random.Generator.from_state([1, 2], 1), ValueError),
        (lambda: tf.random.Generator.from_seed(1, 2).normal([2]), tf.errors.UnimplementedError),
        (lambda: tf.random.Generator.from_seed(1).uniform([2], dtype=tf.int32), ValueError),
        (lambda: tf.random.Generator(), ValueError),
    ],
)
def test_what_tensorflow_refuses_is_refused(call, error):
    with pytest.raises(error):
        call()


def test_a_generator_is_split_skipped_and_made_inside_a_function():
    outer = tf.random.Generator.from_seed(1)
    made = []

    @tf.function
    def draw(delta):
        if not made:
            made.extend(outer.split(2))
            made.append(tf.random.Generator.from_non_deterministic_state())
        outer.skip(delta)
        return [g.normal([2]) for g in made], outer.key

    first, key = draw(tf.constant(3, tf.int64))
    again, _ = draw(tf.constant(3, tf.int64))
    flat = [tuple(x.numpy()) for x in first + again]
    assert len(set(flat)) == 6
    twin = tf.random.Generator.from_seed(1)
    assert key.numpy() == twin.key.numpy()
    parts = twin.split(2)
    np.testing.assert_array_equal(parts[0].normal([2]).numpy(), first[0].numpy())
    np.testing.assert_array_equal(parts[1].normal([2]).numpy(), first[1].numpy())


@pytest.mark.parametrize(
    "draw",
    [
        lambda seed: tf.random.stateless_uniform([3], seed),
        lambda seed: tf.random.stateless_normal([3], seed, dtype=tf.float64),
        lambda seed: tf.random.stateless_poisson([3], seed, [4.0] * 3),
        lambda seed: tf.random.stateless_binomial([3], seed, [9.0] * 3, [0.5] * 3),
        lambda seed: tf.random.stateless_gamma([3], seed, [2.0] * 3),
        lambda seed: tf.random.stateless_categorical([[0.1, 0.2, 0.3]], 5, seed),
        lambda seed: tf.random.experimental.stateless_shuffle(tf.range(9), seed),
        lambda seed: tf.compat.v1.random.stateless_multinomial([[0.1, 0.2, 0.3]], 5, seed),
    ],
)
def test_unsigned_words_as_a_seed_count_by_their_bits(draw):
    words = np.array([2**63 + 5, 17], np.uint64)
    np.testing.assert_array_equal(draw(words), draw(words.astype(np.int64)))
    with pytest.raises((TypeError, ValueError), match="seed"):
        draw(np.array([1.0, 2.0]))


def test_a_checkpoint_holds_generators_and_those_of_modules(tmp_path):
    class Noisy(tf.Module):
        def __init__(self):
            super().__init__()
            self.noise = tf.random.Generator.from_seed(3)

    g, module = tf.random.Generator.from_seed(1), Noisy()
    g.normal([5])
    saved = tf.train.Checkpoint(g=g, module=module)
    path = saved.save(str(tmp_path / "ckpt"))
    names = [name for name, _ in tf.train.list_variables(path)]
    assert "g/_state_var/.ATTRIBUTES/VARIABLE_VALUE" in names
    assert "module/noise/_state_var/.ATTRIBUTES/VARIABLE_VALUE" in names
    first = g.normal([2]).numpy().tolist(), module.noise.normal([2]).numpy().tolist()
    other, another = tf.random.Generator.from_seed(9), Noisy()
    another.noise.normal([4])
    tf.train.Checkpoint(g=other, module=another).restore(path).assert_consumed()
    again = other.normal([2]).numpy().tolist(), another.noise.normal([2]).numpy().tolist()
    assert first == again
