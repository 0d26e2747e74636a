"""All layers against recorded outputs of the real Keras."""

import pytest
from keras_layer_check import CHECKS, cases

ALL = list(cases())


@pytest.mark.parametrize("check", CHECKS.values(), ids=CHECKS.keys())
@pytest.mark.parametrize("case", [c for _, c in ALL], ids=[name for name, _ in ALL])
def test_a_layer_gives_what_keras_gives(case, check):
    check(case)
