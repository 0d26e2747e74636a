"""Fourier transforms, frames and windows: what samples of single functions do not show."""

import threading

import numpy as np
import pytest
import scipy.fft

import holdfast as tf

RNG = np.random.default_rng(5)


def _complexes(*shape, dtype="complex64"):
    return (RNG.normal(size=shape) + 1j * RNG.normal(size=shape)).astype(dtype)


@pytest.mark.parametrize(
    "n", [1, 2, 3, 4, 6, 7, 9, 16, 17, 26, 31, 37, 97, 120, 251, 1001, 1021, 4096]
)
def test_every_length_is_transformed_and_back(n):
    for dtype, tolerance in (("complex64", 3e-6), ("complex128", 2e-14)):
        x = _complexes(3, n, dtype=dtype)
        y = tf.signal.fft(x)
        assert y.dtype == dtype
        scale = np.sqrt(n)
        np.testing.assert_allclose(
            y / scale, np.fft.fft(x.astype("complex128")) / scale, atol=tolerance
        )
        np.testing.assert_allclose(tf.signal.ifft(y), x, atol=tolerance)
        real = x.real.copy()
        half = tf.signal.rfft(real)
        assert half.shape == (3, n // 2 + 1)
        np.testing.assert_allclose(tf.signal.irfft(half, [n]), real, atol=tolerance)


def test_many_lines_along_any_axis_and_threads_agree():
    x = _complexes(5, 33, 20)
    one = tf.signal.fft2d(x).numpy()
    np.testing.assert_allclose(one, np.fft.fft2(x), rtol=2e-4, atol=2e-4)
    results = []
    threads = [
        threading.Thread(target=lambda: results.append(tf.signal.fft2d(x).numpy()))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 4
    assert all((r == one).all() for r in results)


def test_empty_tensors_and_lengths_of_zero():
    assert tf.signal.fft(np.zeros((0, 4), "complex64")).shape == (0, 4)
    assert tf.signal.fft(np.zeros((3, 0), "complex64")).shape == (3, 0)
    assert tf.signal.rfft(np.zeros((3, 0), "float32")).shape == (3, 0)
    assert tf.signal.rfft(np.ones((3, 4), "float32"), [0]).shape == (3, 0)
    assert tf.signal.irfft(np.zeros((3, 1), "complex64")).shape == (3, 0)
    # What is not there is zero.
    np.testing.assert_array_equal(
        tf.signal.rfft(np.zeros((1, 0), "float32"), [4]), np.zeros((1, 3))
    )


def test_wrong_arguments_are_refused_by_name():
    for call, code, words in (
        (lambda: tf.signal.fft(np.ones(3, "float32")), "E1101", "complex"),
        (lambda: tf.signal.fft(np.complex64(1)), "E1102", "FFT"),
        (lambda: tf.signal.fft2d(_complexes(3)), "E1102", "FFT2D"),
        (lambda: tf.signal.rfft(np.ones(3, "int32")), "E1101", "float"),
        (lambda: tf.signal.rfft(np.ones(3, "float32"), [2, 2]), "E1102", "length for each axis"),
        (lambda: tf.signal.rfft(np.ones(3, "float32"), [-1]), "E1103", "fft_length"),
        (lambda: tf.signal.irfft(np.ones(3, "float32")), "E1101", "complex"),
        (lambda: tf.signal.frame(np.ones(3, "float32"), 0, 1), "E1103", "frame_length"),
        (lambda: tf.signal.frame(np.ones(3, "float32"), 2, 1, axis=1), "E1103", "axis"),
        (lambda: tf.signal.overlap_and_add(np.ones(3, "float32"), 1), "E1102", "frames"),
        (lambda: tf.signal.hann_window(-1), "E1103", "window_length"),
        (lambda: tf.signal.hann_window(3, dtype=tf.int32), "E1101", "dtype"),
        (lambda: tf.signal.stft(np.ones(9, "float32"), 4, 0), "E1103", "frame_step"),
    ):
        with pytest.raises((TypeError, ValueError)) as caught:
            call()
        assert caught.value.code == code, caught.value
        assert words in str(caught.value)


def test_sizes_may_be_unknown_in_a_trace():
    @tf.function(input_signature=[tf.TensorSpec([None, None], tf.float32)])
    def there_and_back(x):
        return tf.signal.irfft(tf.signal.rfft(x), [tf.shape(x)[1]])

    @tf.function(input_signature=[tf.TensorSpec(None, tf.float32)])
    def framed(x):
        return tf.signal.overlap_and_add(tf.signal.frame(x, 4, 4, pad_end=True), 4)

    for n in (5, 8):
        x = RNG.normal(size=(2, n)).astype("float32")
        np.testing.assert_allclose(there_and_back(x), x, atol=1e-6)
        whole = framed(x).numpy()
        np.testing.assert_array_equal(whole[:, :n], x)
        assert not whole[:, n:].any()


def test_the_gradient_of_a_spectrum_of_unknown_sizes():
    @tf.function(input_signature=[tf.TensorSpec([None, None], tf.float32)])
    def energy_slope(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            z = tf.signal.rfft(x, [6])
            energy = tf.reduce_sum(tf.math.real(z) ** 2 + tf.math.imag(z) ** 2)
        return tape.gradient(energy, x)

    for n in (4, 6, 9):
        x = RNG.normal(size=(2, n)).astype("float32")
        given = np.zeros((2, 6))
        given[:, : min(n, 6)] = x[:, :6]
        z = np.fft.rfft(given)
        # d|z_k|^2 / dx_j = 2 Re(conj(z_k) e^(-2 pi i jk / 6))
        turns = np.exp(-2j * np.pi * np.outer(np.arange(4), np.arange(6)) / 6)
        wanted = np.zeros((2, n))
        wanted[:, :6] = (2 * np.real(np.conj(z) @ turns))[:, : min(n, 6)]
        np.testing.assert_allclose(energy_slope(x), wanted, rtol=1e-4, atol=1e-4)


def test_frames_may_reach_over_the_end():
    x = np.arange(7, dtype="float32")
    frames = tf.signal.frame(x, 3, 2, pad_end=True, pad_value=-1)
    np.testing.assert_array_equal(frames, [[0, 1, 2], [2, 3, 4], [4, 5, 6], [6, -1, -1]])
    # A step beyond the frame leaves samples out.
    np.testing.assert_array_equal(tf.signal.frame(x, 2, 3), [[0, 1], [3, 4]])
    assert tf.signal.frame(np.zeros((2, 0), "float32"), 3, 1).shape == (2, 0, 3)


def test_signals_come_back_from_their_spectra():
    x = RNG.normal(size=(2, 64)).astype("float32")
    spectra = tf.signal.stft(x, 16, 4)
    assert spectra.shape == (2, 13, 9)
    window = np.hanning(17)[:16]
    np.testing.assert_allclose(spectra[1, 3], np.fft.rfft(x[1, 12:28] * window), atol=1e-5)
    back = tf.signal.inverse_stft(spectra, 16, 4, window_fn=tf.signal.inverse_stft_window_fn(4))
    np.testing.assert_allclose(back[:, 16:-16], x[:, 16:-16], atol=1e-5)


@pytest.mark.parametrize("window", ["hann", "hamming", None, "own"])
@pytest.mark.parametrize("center", [True, False])
def test_keras_spectra_and_back(window, center):
    x = RNG.normal(size=(3, 50)).astype("float32")
    given = np.hamming(10).astype("float32") if window == "own" else window
    real, imag = tf.keras.ops.stft(x, 10, 3, 12, given, center)
    assert real.shape == imag.shape == (3, 17 if center else 13, 7)
    back = tf.keras.ops.istft((real, imag), 10, 3, 12, window=given, center=center)
    if window is not None:
        inner = slice(12, 36)
        np.testing.assert_allclose(back[:, inner], x[:, inner], atol=1e-5)
    with pytest.raises(ValueError, match="sequence_length"):
        tf.keras.ops.stft(x, 13, 3, 12)


def test_keras_transforms_take_pairs_and_symbols():
    x = _complexes(2, 4, 6)
    real, imag = tf.keras.ops.fft2((x.real, x.imag))
    np.testing.assert_allclose(real.numpy() + 1j * imag.numpy(), np.fft.fft2(x), atol=1e-4)
    back = tf.keras.ops.ifft2((real, imag))
    np.testing.assert_allclose(back[1], x.imag, atol=1e-5)
    symbol = tf.keras.Input((8,))
    model = tf.keras.Model(symbol, tf.keras.ops.irfft(tf.keras.ops.rfft(symbol), 8))
    y = RNG.normal(size=(3, 8)).astype("float32")
    np.testing.assert_allclose(model(y), y, atol=1e-6)
    with pytest.raises(ValueError, match="pair"):
        tf.keras.ops.fft(x)


def test_the_inverse_of_a_window_is_0_where_no_window_reaches():
    for length, step in ((5, 5), (4, 8)):
        window = tf.signal.hann_window(length)
        inverse = tf.signal.inverse_stft_window_fn(step)(length, dtype=tf.float32)
        product = (window * inverse).numpy()
        assert product.tolist() == pytest.approx([float(w > 0) for w in window.numpy()])
        assert float(inverse[0]) == 0


@pytest.mark.parametrize("kind", [1, 2, 3, 4])
@pytest.mark.parametrize("norm", [None, "ortho"])
def test_cosine_transforms_of_unknown_sizes_and_back(kind, norm):
    if kind == 1 and norm:
        with pytest.raises(tf.errors.InvalidArgumentError, match="no `norm`"):
            tf.signal.dct(np.ones(4), 1, norm=norm)
        return
    x = np.random.default_rng(0).normal(size=(2, 6)).astype(np.float32)
    for shape in ([None, None], [2, None], None):
        there = tf.function(
            lambda t: tf.signal.dct(t, kind, norm=norm),
            input_signature=[tf.TensorSpec(shape, tf.float32)],
        )(x)
        np.testing.assert_allclose(there, scipy.fft.dct(x, kind, norm=norm), rtol=1e-4, atol=1e-4)
    back = tf.signal.idct(there, kind, norm=norm)
    factor = 1 if norm else 10 if kind == 1 else 12
    np.testing.assert_allclose(back / factor, x, rtol=1e-4, atol=1e-4)


def test_signals_come_back_from_their_cosines():
    x = np.random.default_rng(0).normal(size=(2, 64)).astype(np.float32)
    for window in (tf.signal.vorbis_window, tf.signal.kaiser_bessel_derived_window, None):
        for norm in (None, "ortho"):
            there = tf.signal.mdct(x, 16, window, norm=norm)
            assert there.shape == [2, 7, 8]
            back = tf.signal.inverse_mdct(there, window, norm)
            np.testing.assert_allclose(back[:, 8:-8], x[:, 8:-8], rtol=1e-3, atol=1e-4)
    with pytest.raises(tf.errors.InvalidArgumentError, match="a multiple of 4"):
        tf.signal.mdct(x, 6)


def test_bins_on_the_mel_scale_are_triangles():
    found = tf.signal.linear_to_mel_weight_matrix(3, 9, 8000, 100.0, 3000.0).numpy()
    edges = np.linspace(*(1127 * np.log1p(np.array([100, 3000]) / 700)), 5)
    at = 1127 * np.log1p(np.linspace(0, 4000, 9) / 700)
    for j, (low, middle, high) in enumerate(zip(edges, edges[1:], edges[2:], strict=False)):
        slopes = np.minimum((at - low) / (middle - low), (high - at) / (high - middle))
        np.testing.assert_allclose(found[:, j], np.maximum(slopes, 0), atol=1e-5)
    assert tf.signal.linear_to_mel_weight_matrix(dtype=tf.float64).shape == [129, 20]
    mels = tf.math.log(tf.matmul(np.ones((5, 9), np.float32), found) + 1e-3)
    assert tf.signal.mfccs_from_log_mel_spectrograms(mels).shape == [5, 3]
    with pytest.raises(tf.errors.InvalidArgumentError, match="expected 4000 at most"):
        tf.signal.linear_to_mel_weight_matrix(upper_edge_hertz=5000)
