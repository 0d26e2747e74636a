"""Normalisations."""

from rules import case

MASK = [[True, False, True, True], [True, True, False, False]]
CASES = [
    case("BatchNormalization", (4, 3)),
    case("BatchNormalization", (4, 3), call={"training": True}, momentum=0.8, epsilon=0.01),
    case("BatchNormalization", (2, 3, 4, 5), call={"training": True}, axis=1, momentum=0.5),
    case("BatchNormalization", (2, 3, 4, 5), axis=-2, scale=False),
    case("BatchNormalization", (2, 3, 4, 2), call={"training": True}, center=False, momentum=0.9),
    case("BatchNormalization", (2, 4, 3), call={"training": True, "mask": MASK}, momentum=0.7),
    case("BatchNormalization", (2, 4, 3), call={"training": True}, trainable=False),
]
CASES += [
    case("LayerNormalization", (2, 3, 4)),
    case("LayerNormalization", (2, 3, 4), axis=[1, 2], epsilon=0.01),
    case("LayerNormalization", (2, 3, 4), axis=1),
    case("LayerNormalization", (2, 3, 4), axis=-1, center=False),
    case("LayerNormalization", (2, 3, 4), axis=[-1, 1], scale=False),
    case("GroupNormalization", (2, 3, 4), groups=2),
    case("GroupNormalization", (2, 3, 2, 4), groups=-1, epsilon=0.01),
    case("GroupNormalization", (2, 4, 3, 2), groups=2, axis=1, center=False),
    case("GroupNormalization", (2, 6), groups=3, scale=False),
    case("RMSNormalization", (2, 3, 4)),
    case("RMSNormalization", (2, 3, 4), axis=[1, 2], epsilon=0.01),
    case("UnitNormalization", (2, 3, 4)),
    case("UnitNormalization", (2, 3, 4), axis=1),
    case("UnitNormalization", (2, 3, 4), axis=[1, 2]),
]
