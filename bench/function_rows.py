"""Rows of traced functions: the same steps as a graph of ours, of TensorFlow (with and without XLA) and of JAX."""

import itertools

from rows import chain, data

RATE, DENSE, DEEP = 0.05, (784, 512, 512, 10), (3, 3, 32, 64)


def mlp_weights():
    out = []
    for i, (a, b) in enumerate(itertools.pairwise(DENSE)):
        out += [data((a, b), 10 + i, a**-0.5), data((b,), 20 + i, 0.0)]
    return out


def cnn_weights():
    shapes = (3, 3, 1, 32), (32,), DEEP, (64,), (9216, 10), (10,)
    return [data(s, 30 + i, 0.05) for i, s in enumerate(shapes)]


def steps_of_tensorflow(tf, options):
    """Train steps of two small networks."""
    nn = tf.nn

    def mlp(w, x):
        h = nn.relu(tf.matmul(x, w[0]) + w[1])
        h = nn.relu(tf.matmul(h, w[2]) + w[3])
        return tf.matmul(h, w[4]) + w[5]

    def cnn(w, x):
        h = nn.relu(nn.bias_add(nn.conv2d(x, w[0], 1, "VALID"), w[1]))
        h = nn.relu(nn.bias_add(nn.conv2d(h, w[2], 1, "VALID"), w[3]))
        return tf.matmul(tf.reshape(nn.max_pool2d(h, 2, 2, "VALID"), [-1, 9216]), w[4]) + w[5]

    def trained(model, weights, x):
        w, x = [tf.Variable(v) for v in weights], tf.constant(x)
        y = tf.constant([i % 10 for i in range(x.shape[0])])

        @tf.function(**options)
        def step(x, y):
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(nn.sparse_softmax_cross_entropy_with_logits(y, model(w, x)))
            for v, g in zip(w, tape.gradient(loss, w), strict=True):
                v.assign_sub(RATE * g)
            return loss

        return lambda: float(step(x, y))

    yield (
        "MLP 784-512-512-10, train step of 128",
        trained(mlp, mlp_weights(), data((128, 784), 2)),
        1,
    )
    yield "CNN, train step of 64", trained(cnn, cnn_weights(), data((64, 28, 28, 1), 3)), 1


def of_tensorflow(tf, **options):
    """The rows for anything that speaks TensorFlow; `options` go to `tf.function`."""
    nn = tf.nn
    big = tf.constant(data((1 << 24,), 1))
    f = tf.function(lambda v: chain(v, tf.tanh), **options)
    yield "10-op chain, 16M floats, traced", (lambda: f(big)), 1
    yield from steps_of_tensorflow(tf, options)
    if tf.__name__ == "holdfast":  # elsewhere what the second one stores could not be read
        yield from small_steps(tf)

    x, k, g = (
        tf.constant(data((8, 56, 56, 64), 4)),
        tf.constant(data((3, 3, 64, 64), 5, 0.04)),
        tf.constant(data((64,), 6)),
    )

    def block(x):
        h = nn.relu(nn.conv2d(x, k, 1, "SAME") * g + g)
        return nn.relu(nn.conv2d(h, k, 1, "SAME") * g + g + x)

    residual = tf.function(block, **options)
    yield "residual block, forward", (lambda: residual(x)), 1

    def normalise(m, g):
        d = m - tf.reduce_mean(m, -1, keepdims=True)
        return d * tf.math.rsqrt(tf.reduce_mean(d * d, -1, keepdims=True) + 1e-5) * g + g

    m, s = tf.constant(data((4096, 1024), 7)), tf.constant(data((1024,), 8))
    norm = tf.function(normalise, **options)
    yield "layer norm, op by op, traced [4096,1024]", (lambda: norm(m, s)), 1

    def soften(m):
        e = tf.exp(m - tf.reduce_max(m, -1, keepdims=True))
        return e / tf.reduce_sum(e, -1, keepdims=True)

    def gradient_of(f):
        def gradient(u, *operands):
            with tf.GradientTape() as tape:
                tape.watch(operands)
                y = f(*operands)
            return tape.gradient(y, operands, output_gradients=u)

        return tf.function(gradient, **options)

    soft, of_norm, of_soft = (
        tf.function(soften, **options),
        gradient_of(normalise),
        gradient_of(soften),
    )
    u = tf.constant(data((4096, 1024), 9))
    yield "softmax, op by op, traced [4096,1024]", (lambda: soft(m)), 1
    yield "layer norm, op by op, with gradient [4096,1024]", (lambda: of_norm(u, m, s)), 1
    yield "softmax, op by op, with gradient [4096,1024]", (lambda: of_soft(u, m)), 1


class Seen:
    """Where a step leaves its loss."""


def small_steps(tf):
    """A step of a few small ops, and the same with its loss stored in an attribute."""
    seen, x = Seen(), tf.constant(data((32, 64), 4))

    def step(w, store):
        with tf.GradientTape() as tape:
            h = tf.nn.relu(tf.matmul(x, w[0]))
            loss = tf.reduce_mean(tf.square(tf.matmul(tf.nn.relu(tf.matmul(h, w[1])), w[2])))
        for v, g in zip(w, tape.gradient(loss, w), strict=True):
            v.assign_sub(1e-6 * g)
        if store:
            seen.loss = loss
        return loss

    for name, store in (("small step", False), ("small step, its loss stored", True)):
        w = [tf.Variable(data(s, 5)) for s in ((64, 32), (32, 32), (32, 10))]
        f = tf.function(lambda w=w, store=store: step(w, store))
        yield name, f, 1


def of_jax(jax):
    jnp, lax = jax.numpy, jax.lax
    big = jnp.asarray(data((1 << 24,), 1))
    f = jax.jit(lambda v: chain(v, jnp.tanh))
    yield "10-op chain, 16M floats, traced", (lambda: f(big).block_until_ready()), 1

    def mlp(w, x):
        h = jax.nn.relu(x @ w[0] + w[1])
        return jax.nn.relu(h @ w[2] + w[3]) @ w[4] + w[5]

    weights = [jnp.asarray(v) for v in mlp_weights()]
    x, y = jnp.asarray(data((128, 784), 2)), jnp.arange(128) % 10

    def loss(w, x, y):
        return -jnp.take_along_axis(jax.nn.log_softmax(mlp(w, x)), y[:, None], 1).mean()

    def step(w, x, y):
        value, g = jax.value_and_grad(loss)(w, x, y)
        return [a - RATE * b for a, b in zip(w, g, strict=True)], value

    compiled, state = jax.jit(step, donate_argnums=0), [weights]

    def train():
        state[0], value = compiled(state[0], x, y)
        return float(value)

    yield "MLP 784-512-512-10, train step of 128", train, 1
    image, k, g = (
        jnp.asarray(data((8, 56, 56, 64), 4)),
        jnp.asarray(data((3, 3, 64, 64), 5, 0.04)),
        jnp.asarray(data((64,), 6)),
    )

    def conv(h):
        return (
            lax.conv_general_dilated(
                h, k, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
            )
            * g
            + g
        )

    block = jax.jit(lambda x: jax.nn.relu(conv(jax.nn.relu(conv(x))) + x))
    yield "residual block, forward", (lambda: block(image).block_until_ready()), 1
