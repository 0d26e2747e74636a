// Functions of `holdfast` under the other names that TensorFlow has for them: `math::reduce_sum`,
// `nn::top_k`, `linalg::norm`. What a name of Python's is, is found under the same name here.
#pragma once

#include "holdfast/ops/array.h"
#include "holdfast/ops/diag.h"
#include "holdfast/ops/linalg.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/nn.h"
#include "holdfast/ops/reduce.h"
#include "holdfast/ops/sort.h"
#include "holdfast/ops/special.h"

namespace holdfast::linalg {

using holdfast::einsum;
using holdfast::eye;
using holdfast::global_norm;
using holdfast::l2_normalize;
using holdfast::matmul;
using holdfast::norm;
using holdfast::tensor_diag;
using holdfast::tensor_diag_part;
using holdfast::tensordot;

}  // namespace holdfast::linalg

namespace holdfast::math {

using holdfast::abs;
using holdfast::accumulate_n;
using holdfast::acos;
using holdfast::acosh;
using holdfast::add;
using holdfast::add_n;
using holdfast::angle;
using holdfast::argmax;
using holdfast::argmin;
using holdfast::asin;
using holdfast::asinh;
using holdfast::atan;
using holdfast::atan2;
using holdfast::atanh;
using holdfast::bessel_i0;
using holdfast::bessel_i0e;
using holdfast::bessel_i1;
using holdfast::bessel_i1e;
using holdfast::betainc;
using holdfast::bincount;
using holdfast::ceil;
using holdfast::confusion_matrix;
using holdfast::conj;
using holdfast::cos;
using holdfast::cosh;
using holdfast::count_nonzero;
using holdfast::cumprod;
using holdfast::cumsum;
using holdfast::cumulative_logsumexp;
using holdfast::digamma;
using holdfast::divide;
using holdfast::divide_no_nan;
using holdfast::equal;
using holdfast::erf;
using holdfast::erfc;
using holdfast::erfcinv;
using holdfast::erfinv;
using holdfast::exp;
using holdfast::expm1;
using holdfast::floor;
using holdfast::floordiv;
using holdfast::floormod;
using holdfast::greater;
using holdfast::greater_equal;
using holdfast::igamma;
using holdfast::igammac;
using holdfast::imag;
using holdfast::in_top_k;
using holdfast::invert_permutation;
using holdfast::is_finite;
using holdfast::is_inf;
using holdfast::is_nan;
using holdfast::is_non_decreasing;
using holdfast::is_strictly_increasing;
using holdfast::l2_normalize;
using holdfast::lbeta;
using holdfast::less;
using holdfast::less_equal;
using holdfast::lgamma;
using holdfast::log;
using holdfast::log1p;
using holdfast::log_sigmoid;
using holdfast::logical_and;
using holdfast::logical_not;
using holdfast::logical_or;
using holdfast::logical_xor;
using holdfast::maximum;
using holdfast::minimum;
using holdfast::multiply;
using holdfast::multiply_no_nan;
using holdfast::ndtri;
using holdfast::negative;
using holdfast::nextafter;
using holdfast::not_equal;
using holdfast::polygamma;
using holdfast::polyval;
using holdfast::pow;
using holdfast::real;
using holdfast::reciprocal;
using holdfast::reciprocal_no_nan;
using holdfast::reduce_all;
using holdfast::reduce_any;
using holdfast::reduce_euclidean_norm;
using holdfast::reduce_logsumexp;
using holdfast::reduce_max;
using holdfast::reduce_mean;
using holdfast::reduce_min;
using holdfast::reduce_prod;
using holdfast::reduce_std;
using holdfast::reduce_sum;
using holdfast::reduce_variance;
using holdfast::rint;
using holdfast::round;
using holdfast::rsqrt;
using holdfast::scalar_mul;
using holdfast::segment_max;
using holdfast::segment_mean;
using holdfast::segment_min;
using holdfast::segment_prod;
using holdfast::segment_sum;
using holdfast::sigmoid;
using holdfast::sign;
using holdfast::sin;
using holdfast::sinh;
using holdfast::softplus;
using holdfast::softsign;
using holdfast::sqrt;
using holdfast::square;
using holdfast::squared_difference;
using holdfast::subtract;
using holdfast::tan;
using holdfast::tanh;
using holdfast::top_k;
using holdfast::truediv;
using holdfast::unsorted_segment_max;
using holdfast::unsorted_segment_mean;
using holdfast::unsorted_segment_min;
using holdfast::unsorted_segment_prod;
using holdfast::unsorted_segment_sqrt_n;
using holdfast::unsorted_segment_sum;
using holdfast::xdivy;
using holdfast::xlog1py;
using holdfast::xlogy;
using holdfast::zero_fraction;
using holdfast::zeta;
using nn::log_softmax;
using nn::softmax;

}  // namespace holdfast::math

namespace holdfast::nn {

using holdfast::in_top_k;
using holdfast::l2_normalize;
using holdfast::top_k;
using holdfast::zero_fraction;

}  // namespace holdfast::nn
