// The words that the text form of graphs is made of, shared by its writer and its reader.
#pragma once

#include <string>
#include <string_view>

#include "holdfast/graph/text.h"

namespace holdfast {

namespace words {
inline constexpr std::string_view kGraphHeader = "holdfast graph 1";
inline constexpr std::string_view kNone = "none";  // an optional input that is not there
inline constexpr std::string_view kAllOf = "all";  // before a value that every element has
inline constexpr std::string_view kLeftOut = "left_out";
inline constexpr std::string_view kVariable = "variable";
inline constexpr std::string_view kObject = "object";
}  // namespace words

/// "function", "branch", ...: what a graph begins with.
const char* word_of(ScopeKind);
/// The kind that a graph beginning with `word` has; false if there is none.
bool kind_of(std::string_view word, ScopeKind& out);

/// Whether a name can stand as it is.
bool is_plain_name(std::string_view);
/// As a name or, in quotes, as any text.
std::string quoted(std::string_view);
std::string name_text(std::string_view);

/// One number as text that reads back as the same bits.
template <class T>
std::string number_text(T v);
/// Reads one number of type T; false if `text` is none.
template <class T>
bool read_number(std::string_view text, T& out);

/// 64 bits that tell values apart.
uint64_t digest(const Tensor& t);

/// Writes arguments of nodes.
class ValueWriter {
 public:
  explicit ValueWriter(const TextOptions& options) : options_(options) {}
  /// `indent` is where lines of a nested graph begin.
  std::string text(const Arg& a, int indent);
  std::string text(const Tensor& t);
  /// Notes what a graph captures, in the order in which graphs begin.
  void capture(const Tensor& outer) {
    if (options_.payload) options_.payload->captures.push_back(outer);
  }

 private:
  std::string elements(const Tensor& t);
  std::string left_out(const Tensor& t);
  std::string resource(const Tensor& t);
  std::string object(const Ref<RefCounted>& o, int indent);
  int number_of(const Tensor& t);

  TextOptions options_;
  Payload own_;  // numbers things even where nobody wants them
};

/// A graph without the header, as it stands inside another one.
std::string body_text(const Graph& g, ValueWriter& values, int indent);

}  // namespace holdfast
