"""Fits a small network to 1,797 images of handwritten digits with raw ops, a tape and variables.

python examples/python/digits.py [--export FILE]    # FILE: the data as the C++ twin reads it
"""

import argparse
import sys

import numpy as np

import holdfast as tf

EPOCHS, BATCH, RATE = 20, 50, 0.2


def load() -> tuple[np.ndarray, np.ndarray]:
    from sklearn.datasets import load_digits

    digits = load_digits()
    return (digits.data / 16.0).astype(np.float32), digits.target.astype(np.int32)


def export(path: str, x: np.ndarray, y: np.ndarray) -> None:
    with open(path, "wb") as f:
        np.array([len(x), x.shape[1]], np.int64).tofile(f)
        x.tofile(f)
        y.tofile(f)


class Network:
    def __init__(self) -> None:
        self.w1 = tf.Variable(tf.random.stateless_normal([64, 48], seed=[1, 0]) * 0.18, name="w1")
        self.b1 = tf.Variable(tf.zeros([48]), name="b1")
        self.w2 = tf.Variable(tf.random.stateless_normal([48, 10], seed=[2, 0]) * 0.2, name="w2")
        self.b2 = tf.Variable(tf.zeros([10]), name="b2")
        self.variables = [self.w1, self.b1, self.w2, self.b2]

    def __call__(self, x: tf.Tensor) -> tf.Tensor:
        return tf.matmul(tf.nn.relu(tf.matmul(x, self.w1) + self.b1), self.w2) + self.b2


def accuracy(net: Network, x: tf.Tensor, y: tf.Tensor) -> float:
    guess = tf.argmax(net(x), axis=1, output_type=tf.int32)
    return float(tf.reduce_mean(tf.cast(tf.equal(guess, y), tf.float32)))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--export", metavar="FILE", help="also write the data for the C++ twin")
    args = parser.parse_args()
    images, labels = load()
    if args.export:
        export(args.export, images, labels)
    x, y = tf.constant(images), tf.constant(labels)
    train = 1500
    net = Network()
    for epoch in range(1, EPOCHS + 1):
        total = 0.0
        for at in range(0, train, BATCH):
            with tf.GradientTape() as tape:
                losses = tf.nn.sparse_softmax_cross_entropy_with_logits(
                    labels=y[at : at + BATCH], logits=net(x[at : at + BATCH])
                )
                loss = tf.reduce_mean(losses)
            for variable, slope in zip(net.variables, tape.gradient(loss, net.variables)):
                variable.assign_sub(RATE * slope)
            total += float(loss)
        print(
            f"\repoch {epoch:2d} of {EPOCHS}  loss {total * BATCH / train:.4f}", end="", flush=True
        )
    print(f"  accuracy {accuracy(net, x[train:], y[train:]):.4f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
