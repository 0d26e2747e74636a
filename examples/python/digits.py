"""Trains a small convolutional classifier on 1,797 images of handwritten digits with Keras.

python examples/python/digits.py [--epochs N] [--save MODEL.keras --export FILE]
    # MODEL: the trained model; FILE: images, labels and predictions, as the C++ example reads them

Ends with 0 only if more than 97 % of the images that it was not trained on are told right.
"""

import argparse
import sys

import numpy as np

import holdfast as tf

EPOCHS, BATCH, TRAIN, WANTED = 20, 50, 1400, 0.97


def load() -> tuple[np.ndarray, np.ndarray]:
    """Images [n, 8, 8, 1] from 0 to 1, and labels; in an order that mixes the writers."""
    from sklearn.datasets import load_digits

    digits = load_digits()
    order = np.random.RandomState(0).permutation(len(digits.target))
    images = (digits.images / 16.0).astype(np.float32)[..., None]
    return images[order], digits.target.astype(np.int32)[order]


def make_model() -> tf.keras.Model:
    layers = tf.keras.layers
    model = tf.keras.Sequential(
        [
            tf.keras.Input((8, 8, 1)),
            layers.Conv2D(16, 3, padding="same", activation="relu"),
            layers.BatchNormalization(),
            layers.MaxPooling2D(),
            layers.Conv2D(32, 3, padding="same", activation="relu"),
            layers.Flatten(),
            layers.Dropout(0.3),
            layers.Dense(64, activation="relu"),
            layers.Dense(10, activation="softmax"),
        ]
    )
    model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
    return model


def draw_confusion(labels: np.ndarray, guesses: np.ndarray) -> None:
    """One row for each digit: how often it was taken for which."""
    counts = np.zeros((10, 10), int)
    np.add.at(counts, (labels, guesses), 1)
    print("\nlabel   taken for " + "".join(f"{digit:4d}" for digit in range(10)))
    for digit, row in enumerate(counts):
        print(f"{digit:5d}" + " " * 13 + "".join(f"{n or '.':>4}" for n in row))


def draw_samples(images: np.ndarray, labels: np.ndarray, guesses: np.ndarray) -> None:
    """Six images side by side: those that were told wrong come first."""
    plain = " .:-=+*#%@"
    shades = " ░▒▓█" if (sys.stdout.encoding or "").lower().startswith("utf") else plain
    shown = np.argsort(labels == guesses, kind="stable")[:6]
    lit = np.rint(images[shown, ..., 0] * (len(shades) - 1)).astype(int)
    print()
    for y in range(8):
        print("   ".join("".join(shades[v] * 2 for v in image[y]) for image in lit))
    told = zip(guesses[shown], labels[shown])
    said = [f"{guess}" if guess == label else f"{guess}, is {label}" for guess, label in told]
    print("   ".join(f"{text:^16}" for text in said).rstrip())


def export(path: str, images: np.ndarray, labels: np.ndarray, predicted: np.ndarray) -> None:
    with open(path, "wb") as f:
        np.array([len(images)], np.int64).tofile(f)
        for array in (images, labels, predicted):
            array.tofile(f)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, default=EPOCHS, help="how often it sees the images")
    parser.add_argument("--save", metavar="MODEL", help="write the trained model to a .keras file")
    parser.add_argument("--export", metavar="FILE", help="write what the C++ example compares")
    args = parser.parse_args()
    tf.keras.utils.set_random_seed(3)
    images, labels = load()
    model = make_model()
    model.fit(images[:TRAIN], labels[:TRAIN], batch_size=BATCH, epochs=args.epochs)
    images, labels = images[TRAIN:], labels[TRAIN:]
    predicted = model.predict(images, batch_size=BATCH, verbose=0)
    guesses = predicted.argmax(axis=1).astype(np.int32)
    draw_confusion(labels, guesses)
    draw_samples(images, labels, guesses)
    accuracy = float((guesses == labels).mean())
    print(f"\naccuracy {accuracy:.4f} on {len(labels)} images that it was not trained on")
    if args.save:
        model.save(args.save)
        print(f"saved to {args.save}")
    if args.export:
        export(args.export, images, labels, predicted)
    return 0 if accuracy > WANTED else 1


if __name__ == "__main__":
    sys.exit(main())
