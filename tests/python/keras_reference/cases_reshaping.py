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
