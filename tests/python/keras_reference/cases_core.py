"""Layers that give what they are given, or nearly so, and products along named axes."""

from rules import case

CASES = [
    case("Dense", (2, 3), units=4),
    case("Dense", (2, 3, 2), units=2, activation="tanh", use_bias=False),
    case("Identity", (2, 3)),
    case("Masking", (2, 3, 2), mask_value=0.5),
    case("ActivityRegularization", (2, 3), l1=0.1, l2=0.01),
    case("Rescaling", (2, 3), scale=0.5),
    case("Rescaling", (2, 3), scale=2, offset=-1.0),
    case("Rescaling", (2, 3), scale=[1.0, 2.0, 3.0], offset=[0.0, -1.0, 1.0]),
    case("EinsumDense", (2, 3), equation="ab,bc->ac", output_shape=4, bias_axes="c"),
    case(
        "EinsumDense", (2, 3, 4), equation="abc,cd->abd", output_shape=(None, 2), activation="relu"
    ),
    case("EinsumDense", (2, 3, 4), equation="...x,xy->...y", output_shape=2, bias_axes="y"),
    case(
        "EinsumDense",
        (2, 3, 4),
        equation="abc,cde->abde",
        output_shape=(None, 2, 3),
        bias_axes="de",
    ),
    case("EinsumDense", (2, 3, 4), equation="ab...,bc->ac...", output_shape=2, bias_axes="c"),
    case("Normalization", (2, 3)),
    case("Normalization", (2, 3, 4), axis=1),
    case("Normalization", (2, 3, 4), axis=[1, 2], invert=True),
    case("Normalization", (2, 3), axis=None),
    case("Normalization", (2, 3), mean=[1.0, 2.0, 3.0], variance=[1.0, 4.0, 9.0]),
    case("Normalization", (2, 3), mean=1.0, variance=4.0, invert=True),
]
