// What samples of windowed functions are held to: the definition, in NumPy, one tap at a time.
#pragma once

#include <string>

#include "holdfast/base/text.h"

namespace holdfast::nn {

// A function of (x, n, window, strides, padding, data_format, dilations, value of padded cells,
// then), which gives `then(taps)`: for every tap of the window, its index and the part of x it
// meets.
inline constexpr const char* kNumpyTaps =
    "(lambda x, n, k, s, p, f, d, fill, then: (lambda first, x: (lambda per: (lambda k, s, d: "
    "(lambda r, i: (lambda pads: "
    "(lambda o, xp: (lambda y: np.moveaxis(y, -1, 1) if first else y)(then([(t, xp[(..., *(slice(a "
    "* e, a * e + (m - 1) * q + 1, q) "
    "for a, e, m, q in zip(t, d, o, s)), slice(None))]) for t in np.ndindex(*k)])))"
    "([(a + sum(b) - c) // q + 1 for a, b, c, q in zip(i, pads, r, s)], "
    "np.pad(x, [(0, 0)] * (x.ndim - n - 1) + pads + [(0, 0)], constant_values=fill)))"
    "([(lambda t: (t // 2, t - t // 2))(max((-(-a // q) - 1) * q + c - a, 0)) if p == 'SAME' else "
    "(0, 0) for a, q, c in zip(i, s, r)] "
    "if isinstance(p, str) else [tuple(b) for b in (p[2:] if first else p[1:-1])]))"
    "([(a - 1) * e + 1 for a, e in zip(k, d)], x.shape[-n - 1:-1]))(per(k), per(s), per(d)))"
    "(lambda v: (lambda v: v * n if len(v) == 1 else v if len(v) == n else v[2:] if first else "
    "v[1:-1])"
    "([int(a) for a in np.ravel(1 if v is None else v)])))"
    "(bool(f) and f.startswith('NC'), np.moveaxis(x, 1, -1) if f and f.startswith('NC') else x))";

/// A convolution of `input` with `filters`, in groups where it has more channels than they.
inline std::string numpy_conv(const char* input, const char* filters, const char* strides,
                              const char* format, const char* dilations) {
  return cat(kNumpyTaps, "(", input, ", ", filters, ".ndim - 2, ", filters, ".shape[:-2], ",
             strides, ", padding, ", format, ", ", dilations,
             ", 0, lambda taps: (lambda w, c: np.concatenate([sum(x[..., g * c:(g + 1) * c] @ "
             "w[t][:, g * (w.shape[-1] * c // x.shape[-1])"
             ":(g + 1) * (w.shape[-1] * c // x.shape[-1])] for t, x in taps) for g in "
             "range(taps[0][1].shape[-1] // c)], -1))(",
             filters, ", ", filters, ".shape[-2]))");
}

/// A depthwise convolution.
inline std::string numpy_depthwise(const char* filter) {
  return cat(kNumpyTaps, "(input, 2, ", filter,
             ".shape[:2], strides, padding, data_format, dilations, 0, lambda taps: "
             "sum((x[..., None] * ",
             filter, "[t]).reshape(*x.shape[:-1], -1) for t, x in taps))");
}

/// A pool; `reduce` is nanmax or nanmean.
inline std::string numpy_pool(const char* axes, const char* ksize, const char* strides,
                              const char* reduce) {
  return cat(kNumpyTaps, "(input, ", axes, ", ", ksize, ", ", strides,
             ", padding, data_format, 1, np.nan, lambda taps: ", reduce,
             "(np.stack([x for t, x in taps]), 0))");
}

}  // namespace holdfast::nn
