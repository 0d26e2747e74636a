"""Layers that make one tensor of several."""

from rules import case

CASES = [
    case("Add", (2, 3), (2, 3)),
    case("Add", (2, 3, 4), (2, 4), (2, 3, 1)),
    case("Subtract", (2, 3), (2, 3)),
    case("Multiply", (2, 3), (2, 3), (2, 3)),
    case("Multiply", (2, 3), in_list=True),
    case("Average", (2, 3), (2, 3), (2, 1)),
    case("Maximum", (2, 3), (2, 3), (2, 3)),
    case("Minimum", (2, 3), (2, 3)),
    case("Concatenate", (2, 3), (2, 2), (2, 1)),
    case("Concatenate", (2, 3, 2), (2, 1, 2), axis=1),
    case("Dot", (2, 3), (2, 3), axes=1),
    case("Dot", (2, 3, 4), (2, 4, 5), axes=(2, 1)),
    case("Dot", (2, 3, 4), (2, 3, 2), axes=1, normalize=True),
    case("Dot", (2, 3, 4), (2, 4), axes=-1),
    case("Dot", (2, 3, 4), (2, 2, 2, 3), axes=(1, 3)),
]
