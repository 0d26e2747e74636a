"""Layers that disturb what they are given, with the seeds and streams of the real Keras."""

from rules import case

TRAINING = {"training": True}
CASES = [
    case("Dropout", (2, 5), rate=0.3),
    case("Dropout", (2, 5), call={"training": False}, rate=0.3, seed=3),
    case("Dropout", (3, 5), call=TRAINING, rate=0.3, seed=3),
    case("Dropout", (3, 4, 2), call=TRAINING, rate=0.5, seed=7, noise_shape=(None, 1, 2)),
    case("Dropout", (3, 5), call=TRAINING, rate=0, seed=3),
    case("Dropout", (3, 5), call=TRAINING, rate=1, seed=3),
    case("SpatialDropout1D", (2, 4, 3), call=TRAINING, rate=0.4, seed=2),
    case("SpatialDropout2D", (2, 3, 2, 4), call=TRAINING, rate=0.4, seed=2),
    case(
        "SpatialDropout2D",
        (2, 4, 3, 2),
        call=TRAINING,
        rate=0.4,
        seed=2,
        data_format="channels_first",
    ),
    case("SpatialDropout3D", (2, 2, 3, 2, 2), call=TRAINING, rate=0.4, seed=5),
    case("AlphaDropout", (3, 5), call=TRAINING, rate=0.4, seed=5),
    case("AlphaDropout", (3, 4, 2), call=TRAINING, rate=0.4, seed=5, noise_shape=(None, 1, 2)),
    case("GaussianDropout", (3, 5), call=TRAINING, rate=0.4, seed=5),
    case("GaussianNoise", (3, 5), call=TRAINING, stddev=0.4, seed=9),
    case("GaussianNoise", (3, 5), stddev=0.4, seed=9),
]
