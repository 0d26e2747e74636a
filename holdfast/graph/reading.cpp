// Reading a tensor: its elements, its one element, its truth. A symbol is read once its function
// has computed it; before that the program is told whose it is.
#include <fstream>

#include "holdfast/base/text.h"
#include "holdfast/device/device.h"
#include "holdfast/graph/trace.h"
#include "holdfast/op/advice.h"
#include "holdfast/op/written_call.h"
#include "holdfast/tensor/scope.h"

namespace holdfast {
namespace {

// Where a variable that a line gave its value is asked for its truth: the next line that does, or
// the nearest one before, of a loop. No line where none is found.
Loc line_that_asks(const Loc& given, const std::string& name) {
  constexpr int kFar = 30;
  std::ifstream in(given.file);
  Loc before, line = given;
  line.col_begin = line.col_end = -1;
  for (line.line = 1; line.line <= given.line + kFar && std::getline(in, line.source);
       ++line.line) {
    if (line.line == given.line || line.line < given.line - kFar) continue;
    if (!asks_truth_of(line.source, name)) continue;
    if (line.line > given.line) return line;
    before = line;
  }
  return before;
}

// `if (x > 0)` while a function is traced.
Diagnostic no_truth(const Tensor& t) {
  // Nothing notes the line of an `if`; only what is computed in its condition does.
  Where born = t.born();
  const bool cpp = born && born->origin == Origin::kCpp;
  const Loc given = cpp ? locate(born) : Loc();
  std::string name = written_truth(given.source);
  Loc asks;
  if (cpp && name.empty()) {
    if (std::string variable = written_name(given.source); !variable.empty())
      if (asks = line_that_asks(given, variable); asks.line > 0) name = variable;
  }
  Diagnostic d = lost(t, name);
  if (asks.line > 0)
    for (Label& label : d.labels)
      if (label.role == Role::kUsed) label.loc = asks;
  if (!symbol_of(t)->scope->open()) return d;
  d.code = Code::E0201;
  d.headline = cat("`", d.subject.name, "` is asked for its truth while `", d.subject.owner.name,
                   "` is traced");
  d.why = cat("it gets a value when `", d.subject.owner.name,
              "` runs, and `if`, `while`, `?:`, `&&` want one now");
  std::string code = in_code(born, name);
  d.fixes = {manual_fix(cat("choose in the graph: `cond(", code,
                            ", [&] { ... }, [&] { ... })` for code, `where(", code,
                            ", ..., ...)` for values"))};
  return d;
}

// The value of a tensor that the program reads, or a refusal that names what it reads.
Tensor value_to_read(const Tensor& t) {
  if (!t.is_symbolic() || has_value(t)) return value(t, {});
  Where at = here();
  bool cpp = at && at->origin == Origin::kCpp;
  return value(t, cpp ? written_reader(locate(at).source) : "");
}

}  // namespace

void Tensor::refuse_undefined() {
  fail(Code::E1104, "a Tensor that refers to nothing was used",
       "it was declared, or moved from, and no value was assigned to it since",
       {manual_fix("assign a value first; `defined()` tells whether there is one")});
}

// What every reader checks: another dtype, a value that is not there.
void Tensor::check_readable(DType want) const {
  if (dtype() != want) {
    fail(Code::E1101, cat("a ", name(dtype()), " tensor was read as ", name(want)),
         "reading does not convert",
         {manual_fix(cat("read it as ", name(dtype()), ", or cast it first"))});
  }
  if (!is_symbolic() && !device())
    fail(Code::E1104, cat("a ", name(dtype()), " tensor that holds no value was read"));
}

const void* Tensor::readable(DType want, size_t* elements) const {
  check_readable(want);
  const Tensor now = value_to_read(*this);
  if (elements) *elements = static_cast<size_t>(now.size());
  if (now.device()->kind() != DeviceKind::kCpu)
    fail(Code::E1104, cat("the elements of a tensor on ", now.device()->name(), " were asked for"),
         "they are not in the host's memory",
         {manual_fix("`to_vector`, or `copy_to(t, cpu())` first")});
  return now.raw();
}

void* Tensor::writable(DType want) {
  readable(want);
  if (is_symbolic() || !rep_->unique() || !rep_->buffer->unique() || !rep_->buffer->writable())
    fail(Code::E1104, "a tensor that others hold too was to be written",
         "tensors do not change once somebody else holds them: a copy of the Tensor, a tape, a "
         "variable, a graph, or whoever lent the memory",
         {manual_fix("write into a new tensor: `Tensor::of`, `empty`")});
  return mutable_raw();
}

bool Tensor::truth() const {
  if (is_symbolic()) {
    if (!holdfast::has_value(*this)) raise(no_truth(*this));
    return value(*this, {}).truth();
  }
  if (size() != 1)
    fail(Code::E1102,
         cat("the truth of a tensor of shape ", shape().text(),
             " was asked for, expected one element"),
         "`if`, `while`, `?:`, `!`, `&&` and `||` take one bool",
         {manual_fix("reduce_all(t) or reduce_any(t) makes one of several")});
  if (dtype() == DType::kString) return !item<std::string>().empty();
  return dtype() == DType::kBool ? item<bool>() : to_double() != 0;
}

Tensor Tensor::on_host(DType want, int64_t size) const {
  check_readable(want);
  if (size >= 0 && this->size() != size)
    fail(Code::E1102, cat("item(): got shape ", shape().text(), ", expected one element"));
  const Tensor now = value_to_read(*this);
  return now.device()->kind() == DeviceKind::kCpu ? now : copy_to(now, cpu());
}

}  // namespace holdfast
