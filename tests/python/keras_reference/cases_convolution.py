"""Convolutions."""

from rules import case

CASES = [
    case("Conv1D", (2, 7, 3), filters=2, kernel_size=3),
    case(
        "Conv1D",
        (2, 8, 3),
        filters=2,
        kernel_size=[4],
        strides=2,
        padding="SAME",
        activation="relu",
    ),
    case("Conv1D", (2, 7, 2), filters=3, kernel_size=3, padding="causal", dilation_rate=2),
    case("Conv1D", (1, 7, 4), filters=2, kernel_size=2, padding="causal", strides=2, groups=2),
    case("Conv2D", (1, 5, 6, 3), filters=2, kernel_size=3),
    case(
        "Conv2D",
        (2, 5, 6, 3),
        filters=4,
        kernel_size=(3, 2),
        strides=(2, 1),
        padding="same",
        use_bias=False,
    ),
    case("Conv2D", (1, 7, 6, 4), filters=6, kernel_size=2, groups=2, activation="tanh"),
    case("Conv2D", (1, 7, 8, 2), filters=2, kernel_size=3, dilation_rate=(2, 1), padding="same"),
    case("Conv2D", (1, 6, 6, 2), filters=2, kernel_size=3, strides=3, padding="same"),
    case("Conv3D", (1, 4, 5, 4, 2), filters=2, kernel_size=(2, 3, 2)),
    case("Conv3D", (1, 5, 5, 4, 2), filters=3, kernel_size=2, strides=2, padding="same"),
]
