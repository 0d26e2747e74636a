"""Slopes of a sample along directions: by its gradients, and by differences of its values.

Complex inputs move in real and imaginary direction at once, and a complex output counts with a
complex weight. A gradient g of a real value is right if the value moves by the real part of
sum(conj(g) * d) along d: TensorFlow's convention, the conjugate of what calculus writes.
"""

from typing import Any

import numpy as np
import pytest
import samples

import holdfast as tf

STEP = 1e-5
DTYPES = (np.dtype(np.float64), np.dtype(np.complex128))


def tensors_of(result: Any) -> list[Any]:
    return list(result) if isinstance(result, (list, tuple)) else [result]


class Scalar:
    """A function of the sample's numbers: its outputs weighed and summed."""

    def __init__(self, function: Any, sample: str, dtypes: dict[str, str]) -> None:
        self.call = samples.call(function, sample, dtypes)
        self.rng = np.random.default_rng(5)
        self.at = {i: a for i, a in enumerate(self.call.arrays()) if a.dtype in DTYPES and a.size}
        if not self.at:
            pytest.skip("no input that has a slope")
        try:
            outputs = tensors_of(self.call.run())
        except tf.errors.InvalidArgumentError as refused:
            if refused.code == "E1101":
                pytest.skip(f"does not take {dtypes}")
            raise
        self.weights = [self._weight(y) for y in outputs]
        if all(w is None or not w.size for w in self.weights):
            pytest.skip("no output that has a slope")

    def _weight(self, y: Any) -> np.ndarray | None:
        if y.dtype not in (tf.float64, tf.complex128):
            return None
        weight = self.rng.uniform(0.5, 1.5, tuple(y.shape))
        if y.dtype == tf.complex128:
            weight = weight + 1j * self.rng.uniform(-1, 1, tuple(y.shape))
        # An empty segment or an empty sum has the least float there is: no slope can be measured.
        return weight * (np.abs(y.numpy()) < 1e30)

    def direction(self) -> dict[int, np.ndarray]:
        def drawn(a: np.ndarray) -> np.ndarray:
            d = self.rng.uniform(-1, 1, a.shape)
            return d + 1j * self.rng.uniform(-1, 1, a.shape) if a.dtype.kind == "c" else d

        return {i: drawn(a) for i, a in self.at.items()}

    def moved(self, direction: dict[int, np.ndarray], step: float) -> dict[int, Any]:
        return {i: tf.constant(a + step * direction[i]) for i, a in self.at.items()}

    def value(self, inputs: dict[int, Any]) -> Any:
        total = tf.constant(0.0, tf.float64)
        for y, w in zip(tensors_of(self.call.run(inputs)), self.weights, strict=True):
            if w is not None:
                y = tf.where(w != 0, y, tf.zeros_like(y))
                total = total + tf.math.real(tf.reduce_sum(y * w))
        return total

    def slope(self, inputs: dict[int, Any], along: dict[int, np.ndarray]) -> Any:
        """The derivative of `value` along a direction, as a tensor."""
        with tf.GradientTape() as tape:
            tape.watch(list(inputs.values()))
            y = self.value(inputs)
        return along_direction(tape, y, inputs, along)


def along_direction(tape: Any, y: Any, inputs: dict[int, Any], along: dict[int, Any]) -> Any:
    """How `y` moves along a direction, by its gradients."""
    zero = tf.UnconnectedGradients.ZERO
    found = tape.gradient(y, list(inputs.values()), unconnected_gradients=zero)
    total = tf.constant(0.0, tf.float64)
    for i, g in zip(inputs, found, strict=True):
        g = tf.convert_to_tensor(g)
        assert g.shape == inputs[i].shape
        total = total + tf.math.real(tf.reduce_sum(tf.math.conj(g) * along[i]))
    return total


def close(mine: float, theirs: float, scale: float) -> None:
    assert mine == pytest.approx(theirs, rel=2e-4, abs=2e-5 * max(1.0, scale))


def check_first(scalar: Scalar, directions: int = 3) -> None:
    """Gradients are the differences' slopes."""
    for _ in range(directions):
        d = scalar.direction()
        up, down = (float(scalar.value(scalar.moved(d, s))) for s in (STEP, -STEP))
        here = scalar.moved(d, 0)
        scale = abs(float(scalar.value(here)))
        close(float(scalar.slope(here, d)), (up - down) / (2 * STEP), scale)


def check_second(scalar: Scalar) -> None:
    """Gradients of the slope along one direction are how it changes along another."""
    d, along = scalar.direction(), scalar.direction()
    up, down = (float(scalar.slope(scalar.moved(d, s), along)) for s in (STEP, -STEP))
    inputs = scalar.moved(d, 0)
    with tf.GradientTape() as tape:
        tape.watch(list(inputs.values()))
        s = scalar.slope(inputs, along)
    close(float(along_direction(tape, s, inputs, d)), (up - down) / (2 * STEP), abs(float(s)))
