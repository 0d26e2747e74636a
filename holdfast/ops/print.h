// Printing values; in a traced function, each time it runs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "holdfast/base/text.h"
#include "holdfast/op/in.h"
#include "holdfast/op/variable.h"

namespace holdfast {

struct PrintOptions {
  std::string output_stream = "stderr";  // or "stdout", or "file://" and a path, which is added to
  int64_t summarize = 3;                 // elements shown at each end of an axis; negative: all
  std::string sep = " ", end = "\n";
};

/// Something to print: a text, a number, a tensor, or a variable, whose value is read.
class HOLDFAST_API Printed {
 public:
  [[gnu::always_inline]] Printed(const char* said,
                                 const std::source_location& at = std::source_location::current())
      : text(said) {
    mark(at);
  }
  [[gnu::always_inline]] Printed(std::string_view said,
                                 const std::source_location& at = std::source_location::current())
      : text(said) {
    mark(at);
  }
  [[gnu::always_inline]] Printed(const std::string& said,
                                 const std::source_location& at = std::source_location::current())
      : text(said) {
    mark(at);
  }
  [[gnu::always_inline]] Printed(const Tensor& t,
                                 const std::source_location& at = std::source_location::current())
      : tensor(t) {
    mark(at);
  }
  [[gnu::always_inline]] Printed(const Variable& v,
                                 const std::source_location& at = std::source_location::current())
      : variable(v) {
    mark(at);
  }
  template <class T>
    requires std::is_arithmetic_v<T>
  [[gnu::always_inline]] Printed(T number,
                                 const std::source_location& at = std::source_location::current())
      : text(cat(number)) {
    mark(at);
  }

  std::string text;
  Tensor tensor;      // printed where there is one
  Variable variable;  // likewise

 private:
  [[gnu::always_inline]] static void mark(const std::source_location& at) {
    if (at.line()) mark_caller(at);  // what stands in the same call comes without its place
  }
};
HOLDFAST_API void print_all(const PrintOptions&, const std::vector<Printed>& pieces);

/// `print("loss", loss, "after step", 3)`
template <class... Rest>
void print(const Printed& first, const Rest&... rest) {
  print_all({}, {first, Printed(rest, std::source_location())...});
}
/// `print({.output_stream = "stdout"}, x)`
template <class... Rest>
void print(const PrintOptions& options, const Printed& first, const Rest&... rest) {
  print_all(options, {first, Printed(rest, std::source_location())...});
}

/// Replaces where text for stderr and stdout goes (Python's own streams); null restores C's.
HOLDFAST_API void set_print_sink(void (*sink)(bool to_stdout, const std::string& text));

}  // namespace holdfast
