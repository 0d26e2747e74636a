"""Layers that move elements."""

from rules import case

CASES = [
    case("Flatten", (2, 3, 4)),
    case("Flatten", (2, 3, 2, 2), data_format="channels_first"),
    case("Flatten", (3,)),
    case("Reshape", (2, 6), target_shape=(3, 2)),
    case("Reshape", (2, 6, 2), target_shape=(-1, 4)),
    case("Reshape", (2, 1), target_shape=()),
    case("Permute", (2, 3, 4), dims=(2, 1)),
    case("Permute", (2, 3, 4, 2), dims=(3, 1, 2)),
    case("RepeatVector", (2, 3), n=4),
]
CASES += [
    case("Cropping1D", (2, 5, 2)),
    case("Cropping1D", (2, 5, 2), cropping=(2, 0)),
    case("Cropping1D", (2, 5, 2), cropping=2),
    case("Cropping2D", (2, 4, 5, 2)),
    case("Cropping2D", (2, 4, 5, 2), cropping=(1, 2)),
    case("Cropping2D", (2, 2, 4, 5), cropping=((1, 0), (0, 2)), data_format="channels_first"),
    case("Cropping3D", (1, 4, 5, 3, 2)),
    case("Cropping3D", (1, 4, 5, 3, 2), cropping=((0, 1), (2, 0), (1, 1))),
    case("ZeroPadding1D", (2, 3, 2)),
    case("ZeroPadding1D", (2, 3, 2), padding=(0, 2)),
    case("ZeroPadding1D", (2, 2, 3), padding=(1, 2), data_format="channels_first"),
    case("ZeroPadding2D", (1, 2, 3, 2)),
    case("ZeroPadding2D", (1, 2, 3, 2), padding=((1, 0), (0, 2))),
    case("ZeroPadding2D", (1, 2, 3, 2), padding=2, data_format="channels_first"),
    case("ZeroPadding3D", (1, 2, 3, 2, 2), padding=(0, 1, 2)),
    case("ZeroPadding3D", (1, 2, 3, 2, 2)),
    case("UpSampling1D", (2, 3, 2)),
    case("UpSampling1D", (2, 3, 2), size=3),
    case("UpSampling2D", (1, 2, 3, 2)),
    case("UpSampling2D", (1, 2, 3, 2), size=(1, 3), data_format="channels_first"),
    case("UpSampling2D", (1, 2, 3, 2), size=(3, 2), interpolation="bilinear"),
    case(
        "UpSampling2D", (1, 2, 4, 3), size=2, interpolation="bilinear", data_format="channels_first"
    ),
    case("UpSampling3D", (1, 2, 3, 2, 2)),
    case("UpSampling3D", (1, 2, 3, 2, 2), size=(1, 2, 3), data_format="channels_first"),
]
