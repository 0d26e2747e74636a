// Checks that stop the program with the values that failed; in a traced function, each time it
// runs.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "holdfast/op/in.h"

namespace holdfast::debugging {

struct CheckOptions {
  std::string message = {};               // said before the reason
  std::optional<int64_t> summarize = {};  // how many failing elements the message shows
};

// -- elements

/// Stops unless `x == y` everywhere.
HOLDFAST_API void assert_equal(const In& x, const In& y, const CheckOptions& = {});
/// Stops unless `x != y` everywhere.
HOLDFAST_API void assert_none_equal(const In& x, const In& y, const CheckOptions& = {});
/// Stops unless `x < y` everywhere.
HOLDFAST_API void assert_less(const In& x, const In& y, const CheckOptions& = {});
/// Stops unless `x <= y` everywhere.
HOLDFAST_API void assert_less_equal(const In& x, const In& y, const CheckOptions& = {});
/// Stops unless `x > y` everywhere.
HOLDFAST_API void assert_greater(const In& x, const In& y, const CheckOptions& = {});
/// Stops unless `x >= y` everywhere.
HOLDFAST_API void assert_greater_equal(const In& x, const In& y, const CheckOptions& = {});

struct NearOptions {
  std::optional<double> rtol = {}, atol = {};  // 10 epsilons of the dtype by default
  std::string message = {};
  std::optional<int64_t> summarize = {};
};
/// Stops unless `|x - y| <= atol + rtol * |y|` everywhere.
HOLDFAST_API void assert_near(const In& x, const In& y, const NearOptions& = {});

/// Stops unless `x > 0` everywhere.
HOLDFAST_API void assert_positive(const In& x, const CheckOptions& = {});
/// Stops unless `x < 0` everywhere.
HOLDFAST_API void assert_negative(const In& x, const CheckOptions& = {});
/// Stops unless `x >= 0` everywhere.
HOLDFAST_API void assert_non_negative(const In& x, const CheckOptions& = {});
/// Stops unless `x <= 0` everywhere.
HOLDFAST_API void assert_non_positive(const In& x, const CheckOptions& = {});

/// `tensor`; stops if it holds an Inf or a NaN.
HOLDFAST_API Tensor check_numerics(const In& tensor, const std::string& message);
/// `x`; stops if it holds an Inf or a NaN.
HOLDFAST_API Tensor assert_all_finite(const In& x, const std::string& message);

// -- dtypes, ranks and shapes

/// A message before the reason.
struct MessageOptions {
  std::string message = {};
};
/// Stops unless `x` has an integer dtype.
HOLDFAST_API void assert_integer(const In& x, const MessageOptions& = {});
/// Stops unless `x` has `rank` dimensions.
HOLDFAST_API void assert_rank(const In& x, int64_t rank, const MessageOptions& = {});
/// Stops unless `x` has `rank` or more dimensions.
HOLDFAST_API void assert_rank_at_least(const In& x, int64_t rank, const MessageOptions& = {});
/// Stops unless the number of dimensions of `x` is one of `ranks`.
HOLDFAST_API void assert_rank_in(const In& x, const std::vector<int64_t>& ranks,
                                 const MessageOptions& = {});
/// `tensor`; stops unless it is a single value.
HOLDFAST_API Tensor assert_scalar(const In& tensor, const MessageOptions& = {});

/// A size, or a name for one: the same name must mean the same size everywhere. "." is any size,
/// and "..." in the first place any number of dimensions.
struct Size {
  Size(int64_t size) : symbol(std::to_string(size)) {}
  Size(int size) : Size(int64_t{size}) {}
  Size(const char* name) : symbol(name) {}
  Size(std::string name) : symbol(std::move(name)) {}
  std::string symbol;
};
using ShapeRule = std::pair<In, std::vector<Size>>;
/// Stops unless tensors have shapes that fit: `assert_shapes({{x, {"N", 3}}, {y, {"N"}}})`.
HOLDFAST_API void assert_shapes(const std::vector<ShapeRule>& shapes, const MessageOptions& = {});

// -- anything

struct AssertOptions {
  std::optional<int64_t> summarize = {};  // elements at each end of an axis of `data`; none: all
};
/// Stops, showing `data`, unless `condition` is true everywhere.
HOLDFAST_API void Assert(const In& condition, std::initializer_list<In> data,
                         const AssertOptions& = {});

}  // namespace holdfast::debugging
