"""`model.fit` beside a traced loop written by hand: the same model, batches and optimizer, taking turns, CPU time of the process.

    python bench/fit_rows.py [--rounds 7] [--threads 1]

Prints microseconds a step of each, minimum over the rounds, and their ratio.
"""

import argparse
import time

import numpy as np

import holdfast as tf

K = tf.keras


def mlp():
    return K.Sequential(
        [
            K.Input((784,)),
            K.layers.Dense(512, activation="relu"),
            K.layers.Dense(512, activation="relu"),
            K.layers.Dense(10),
        ]
    )


def small():
    return K.Sequential([K.Input((8,)), K.layers.Dense(8, activation="relu"), K.layers.Dense(10)])


def cnn():
    return K.Sequential(
        [
            K.Input((28, 28, 1)),
            K.layers.Conv2D(32, 3, activation="relu"),
            K.layers.Conv2D(64, 3, activation="relu"),
            K.layers.MaxPooling2D(2),
            K.layers.Flatten(),
            K.layers.Dense(10),
        ]
    )


def rows(make, shape, batch, steps, optimizer, metrics):
    """A loop by hand and a fit over the same batches, each a function of no arguments."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(batch * steps, *shape)).astype("float32")
    y = rng.integers(0, 10, size=batch * steps).astype("int32")
    loss = K.losses.SparseCategoricalCrossentropy(from_logits=True)
    model, by_hand = make(), make()
    model.compile(optimizer=optimizer(), loss=loss, metrics=metrics)
    apart = optimizer()
    weights = by_hand.trainable_variables

    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            value = tf.reduce_mean(
                tf.nn.sparse_softmax_cross_entropy_with_logits(
                    labels=y, logits=by_hand(x, training=True)
                )
            )
        apart.apply_gradients(zip(tape.gradient(value, weights), weights))
        return value

    tx, ty = tf.constant(x), tf.constant(y)

    def loop():
        total = 0.0
        for i in range(0, batch * steps, batch):
            total += float(step(tx[i : i + batch], ty[i : i + batch]))
        return total

    return loop, lambda: model.fit(x, y, batch_size=batch, epochs=1, shuffle=False, verbose=0)


def main():
    asked = argparse.ArgumentParser()
    asked.add_argument("--rounds", type=int, default=7)
    asked.add_argument("--threads", type=int, default=1)
    asked.add_argument("--only", default="")
    given = asked.parse_args()
    tf.config.threading.set_intra_op_parallelism_threads(given.threads)
    sgd, adam = (lambda: K.optimizers.SGD(0.05)), (lambda: K.optimizers.Adam())
    cases = {
        "mlp sgd": (mlp, (784,), 128, 40, sgd, None),
        "mlp adam": (mlp, (784,), 128, 40, adam, None),
        "cnn sgd": (cnn, (28, 28, 1), 64, 8, sgd, None),
        "small sgd": (small, (8,), 8, 400, sgd, None),
        "small adam": (small, (8,), 8, 400, adam, None),
        "small adam, accuracy": (small, (8,), 8, 400, adam, ["accuracy"]),
    }
    for name, case in cases.items():
        if given.only not in name:
            continue
        pair = rows(*case)
        best = [1e9, 1e9]
        for f in pair:
            f()
        for _ in range(given.rounds):
            for i, f in enumerate(pair):
                began = time.process_time()
                f()
                best[i] = min(best[i], time.process_time() - began)
        by_hand, fit = (t / case[3] * 1e6 for t in best)
        print(
            f"{name}: by hand {by_hand:.1f} us, fit {fit:.1f} us a step, {fit / by_hand:.3f}x",
            flush=True,
        )


main()
