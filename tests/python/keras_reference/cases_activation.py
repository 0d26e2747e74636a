"""Activations as layers."""

from rules import case

MASK = [[True, False, True, True], [True, True, False, False]]
CASES = [
    case("Activation", (2, 5), activation="relu"),
    case("Activation", (2, 5), activation="softmax"),
    case("ReLU", (2, 5)),
    case("ReLU", (2, 5), max_value=0.5),
    case("ReLU", (2, 5), max_value=6),
    case("ReLU", (2, 5), negative_slope=0.2),
    case("ReLU", (2, 5), negative_slope=0.2, max_value=0.5, threshold=0.3),
    case("ReLU", (2, 5), threshold=0.3),
    case("LeakyReLU", (2, 5)),
    case("LeakyReLU", (2, 5), negative_slope=0.1),
    case("PReLU", (2, 3, 4)),
    case("PReLU", (2, 3, 4), shared_axes=[1]),
    case("PReLU", (2, 3, 4), shared_axes=(1, 2)),
    case("ELU", (2, 5)),
    case("ELU", (2, 5), alpha=0.5),
    case("Softmax", (2, 3, 4)),
    case("Softmax", (2, 3, 4), axis=1),
    case("Softmax", (2, 3, 4), axis=[1, 2]),
    case("Softmax", (2, 4), call={"mask": MASK}),
]
