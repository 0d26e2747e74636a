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
CASES += [
    case("Conv1DTranspose", (2, 4, 3), filters=2, kernel_size=3, strides=2),
    case(
        "Conv1DTranspose",
        (2, 4, 3),
        filters=2,
        kernel_size=2,
        strides=3,
        padding="same",
        activation="relu",
    ),
    case("Conv2DTranspose", (1, 3, 4, 3), filters=2, kernel_size=3),
    case("Conv2DTranspose", (2, 3, 4, 2), filters=3, kernel_size=(3, 2), strides=2, padding="same"),
    case(
        "Conv2DTranspose",
        (1, 3, 4, 2),
        filters=2,
        kernel_size=3,
        strides=2,
        padding="same",
        output_padding=1,
        use_bias=False,
    ),
    case(
        "Conv2DTranspose",
        (1, 3, 4, 2),
        filters=2,
        kernel_size=(2, 3),
        strides=(3, 2),
        output_padding=(2, 0),
    ),
    case("Conv3DTranspose", (1, 2, 3, 2, 2), filters=2, kernel_size=2, strides=2),
    case("Conv3DTranspose", (1, 2, 3, 2, 2), filters=2, kernel_size=(1, 3, 2), padding="same"),
    case("DepthwiseConv1D", (2, 6, 3), kernel_size=3, depth_multiplier=2),
    case(
        "DepthwiseConv1D",
        (2, 7, 3),
        kernel_size=2,
        strides=2,
        padding="same",
        data_format="channels_last",
    ),
    case("DepthwiseConv1D", (2, 7, 3), kernel_size=2, dilation_rate=3),
    case("DepthwiseConv2D", (1, 5, 6, 3), kernel_size=3),
    case(
        "DepthwiseConv2D",
        (1, 5, 6, 3),
        kernel_size=(3, 2),
        strides=2,
        padding="same",
        depth_multiplier=2,
        activation="relu",
    ),
    case("DepthwiseConv2D", (1, 4, 5, 3), kernel_size=2, use_bias=False, dilation_rate=2),
    # Without a bias: TensorFlow sums its gradient over another axis than the channels.
    case(
        "DepthwiseConv2D", (1, 3, 5, 4), kernel_size=2, data_format="channels_first", use_bias=False
    ),
    case("SeparableConv1D", (2, 7, 3), filters=2, kernel_size=3, strides=2),
    case(
        "SeparableConv1D", (2, 7, 3), filters=2, kernel_size=3, padding="same", depth_multiplier=2
    ),
    case("SeparableConv2D", (1, 5, 6, 3), filters=2, kernel_size=3),
    case(
        "SeparableConv2D",
        (1, 5, 6, 3),
        filters=4,
        kernel_size=2,
        strides=2,
        padding="same",
        depth_multiplier=2,
        use_bias=False,
    ),
]
