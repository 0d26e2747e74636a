"""Calls of `keras.ops` that are recorded: expressions over `ops` and arrays, in the words of both."""

import numpy as np

NAN = float("nan")
HOLES = np.array([[1, NAN, 3, 8], [4, 2, 9, NAN], [0.5, 7, NAN, 2]], np.float32)
EMPTY = np.array([[NAN, NAN], [1, 2]], np.float32)
LEFT = np.array([12, 0, -9, 7, 100], np.int32)
RIGHT = np.array([18, 5, 6, 0, 75], np.int32)
IMAGES = np.arange(2 * 4 * 6 * 3, dtype=np.float32).reshape(2, 4, 6, 3)
PLANES = np.arange(2 * 2 * 5 * 4, dtype=np.float32).reshape(2, 2, 5, 4) % 17
COLUMNS = np.arange(2 * 8 * 12, dtype=np.float32).reshape(2, 8, 12) % 13
ROW = np.arange(1, 8, dtype=np.float32)

CASES = """
ops.gcd(LEFT, RIGHT)
ops.lcm(LEFT, RIGHT)
ops.gcd(LEFT[:, None], np.array([8, 3], np.int32))
ops.nanmedian(HOLES)
ops.nanmedian(HOLES, axis=1)
ops.nanmedian(HOLES, axis=0, keepdims=True)
ops.nanmedian(EMPTY, axis=1)
ops.nanquantile(HOLES, [0.1, 0.6], axis=1)
ops.nanquantile(HOLES, 0.3, axis=(0, 1))
ops.nanpercentile(HOLES, 30, axis=1, method='lower')
ops.nanpercentile(HOLES, 30, axis=1, method='higher')
ops.nanpercentile(HOLES, 30, axis=1, method='midpoint')
ops.nanpercentile(HOLES, 30, axis=0, method='nearest')
ops.rearrange(ops.convert_to_tensor(IMAGES), 'b h w c -> b c h w')
ops.rearrange(ops.convert_to_tensor(IMAGES), 'b h w c -> (b h) w c')
ops.rearrange(ops.convert_to_tensor(IMAGES), 'b (h1 h) (w1 w) c -> (b h1 w1) h w c', h1=2, w1=3)
ops.rearrange(ops.convert_to_tensor(IMAGES), 'b (h h1) w c -> b h w (c h1)', h1=2)
ops.unfold(ops.convert_to_tensor(PLANES), 2)
ops.unfold(ops.convert_to_tensor(PLANES), (2, 3), dilation=(2, 1), padding=1, stride=2)
ops.fold(ops.convert_to_tensor(COLUMNS), (5, 4), 2)
ops.fold(ops.convert_to_tensor(COLUMNS[:, :, :6]), (5, 4), 2, padding=1, stride=2, dilation=2)
ops.adaptive_average_pool(ops.convert_to_tensor(IMAGES), (3, 2), data_format='channels_last')
ops.adaptive_average_pool(ops.convert_to_tensor(IMAGES[:, :, :, 0]), 3, data_format='channels_last')
ops.adaptive_max_pool(ops.convert_to_tensor(IMAGES), (3, 4), data_format='channels_last')
ops.adaptive_max_pool(ops.convert_to_tensor(PLANES), (2, 3), data_format='channels_first')
ops.associative_scan(lambda a, b: a + b, ops.convert_to_tensor(ROW))
ops.associative_scan(lambda a, b: a * b, ops.convert_to_tensor(ROW[:6].reshape(2, 3)), reverse=True, axis=1)
ops.associative_scan(lambda a, b: (a[0] * b[0], a[1] * b[0] + b[1]), (ops.convert_to_tensor(ROW), ops.convert_to_tensor(ROW)))
ops.vectorize(lambda a, b: a * 2 + b)(ops.convert_to_tensor(ROW), ops.ones((2, 1)))
ops.jvp(lambda a, b: a * a * b, (ops.convert_to_tensor(ROW[:2]), ops.convert_to_tensor(ROW[2:4])), (ops.ones((2,)), ops.zeros((2,))))
"""


def results(keras, expression):
    """What a call gives: the dtype, the shape and the values of each result."""
    said = eval(expression, {"ops": keras.ops, "np": np, **globals()})
    flat = said if isinstance(said, tuple | list) else [said]
    arrays = [keras.ops.convert_to_numpy(one) for one in flat]
    return [
        {
            "dtype": str(a.dtype),
            "shape": list(a.shape),
            "values": [float(f"{v:.7g}") for v in a.ravel()],
        }
        for a in arrays
    ]


def cases():
    return CASES.strip().splitlines()
