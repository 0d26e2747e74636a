"""Pools."""

from rules import case

CASES = [
    case("MaxPooling1D", (2, 7, 3)),
    case("MaxPooling1D", (2, 7, 3), pool_size=3, strides=2, padding="same"),
    case("MaxPooling2D", (2, 5, 6, 3)),
    case("MaxPooling2D", (1, 5, 6, 2), pool_size=(3, 2), strides=(1, 2), padding="same"),
    case("MaxPooling3D", (1, 4, 5, 6, 2)),
    case("AveragePooling1D", (2, 7, 3), pool_size=2, strides=1),
    case("AveragePooling2D", (1, 5, 6, 3), pool_size=2, padding="same"),
    case("AveragePooling2D", (1, 5, 6, 3), pool_size=(2, 3), strides=1),
    case("AveragePooling3D", (1, 4, 5, 4, 2), pool_size=2, strides=(2, 1, 2)),
    case("GlobalMaxPooling1D", (2, 4, 3)),
    case("GlobalMaxPooling1D", (2, 4, 3), data_format="channels_first", keepdims=True),
    case("GlobalMaxPooling2D", (2, 4, 3, 2), keepdims=True),
    case("GlobalMaxPooling3D", (2, 2, 4, 3, 2)),
    case("GlobalAveragePooling1D", (2, 4, 3)),
    case(
        "GlobalAveragePooling1D",
        (2, 4, 3),
        call={"mask": [[True, False, True, True], [True, True, False, False]]},
    ),
    case(
        "GlobalAveragePooling1D",
        (2, 3, 4),
        data_format="channels_first",
        keepdims=True,
        call={"mask": [[True, False, True, True], [True, True, False, False]]},
    ),
    case("GlobalAveragePooling2D", (2, 4, 3, 2)),
    case("GlobalAveragePooling2D", (2, 3, 4, 2), data_format="channels_first", keepdims=True),
    case("GlobalAveragePooling3D", (2, 2, 4, 3, 2), keepdims=True),
]
