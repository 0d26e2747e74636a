#include <algorithm>

#include "holdfast/base/text.h"
#include "holdfast/op/advice.h"
#include "holdfast/op/deferred.h"
#include "holdfast/op/op.h"
#include "holdfast/op/refuse.h"
#include "holdfast/tensor/scope.h"
#include "holdfast/tensor/variable_state.h"
#include "holdfast/tensor/visit.h"

namespace holdfast {
namespace {

// What a trace knows of a symbol, or the tensor itself.
const Tensor& seen(const Tensor& t) {
  return t.is_symbolic() && symbol_of(t)->known.defined() ? symbol_of(t)->known : t;
}

Dims read_ints(const Tensor& asked) {
  const Tensor& t = seen(asked);
  if (!t.rep()->buffer || (asked.is_symbolic() && symbol_of(asked)->unknown)) {
    if (asked.is_symbolic()) throw NotKnownYet{};
    bug("a gradient reads an input that was not kept");
  }
  // A gradient formula sees inputs as the program gave them, which may be on any device.
  Tensor away = t.device()->kind() == DeviceKind::kCpu ? Tensor() : copy_to(t, cpu());
  const Tensor& host = away.defined() ? away : t;
  Dims out;
  visit_indices(t.dtype(), [&]<class T>(T) {
    const T* p = host.raw<T>();
    for (int64_t i = 0, n = t.size(); i < n; ++i) out.push_back(static_cast<int64_t>(p[i]));
  });
  return out;
}

bool readable(const Tensor& t) {
  return t.defined() && t.rep()->buffer && t.device()->kind() == DeviceKind::kCpu &&
         kIndices.has(t.dtype());
}

// Whether a symbol holds numbers of which some are not known.
bool partly_unknown(const Tensor& t) {
  return t.defined() && t.is_symbolic() && symbol_of(t)->unknown;
}

}  // namespace

int OpDef::attr_index(const char* wanted) const {
  for (size_t i = 0; i < attrs.size(); ++i)
    if (attrs[i].name == wanted) return static_cast<int>(i);
  return -1;
}

const Arg& OpDef::attr(const Attrs& given, const char* wanted) const {
  int i = attr_index(wanted);
  if (i < 0) bug(cat(name, " is asked for its attribute `", wanted, "`, which it does not have"));
  return given[static_cast<size_t>(i)];
}

Arg& OpDef::attr(Attrs& given, const char* wanted) const {
  return const_cast<Arg&>(attr(std::as_const(given), wanted));
}

void OpDef::no_such_struct() const {
  bug(cat(name, ": attributes are read by a struct that its registration does not list"));
}

std::optional<Dims> Infer::ints(int i) const {
  asked_ |= 1u << (i < 31 ? i : 31);
  if (!input(i).defined() || partly_unknown(input(i)) || !readable(seen(input(i))))
    return std::nullopt;
  return read_ints(input(i));
}

std::optional<Dims> Infer::sizes(int i) const {
  const Tensor& t = input(i);
  if (!t.defined()) return std::nullopt;
  if (!partly_unknown(t)) {
    auto all = ints(i);
    if (!all && t.rank() == 1 && t.dim(0) != kUnknown && t.dim(0) <= kMaxRank)
      return Dims(static_cast<size_t>(t.dim(0)), kUnknown);
    return all;
  }
  const Tensor& known = symbol_of(t)->known;
  Dims out;
  visit_indices(known.dtype(), [&]<class T>(T) {
    for (int64_t k = 0; k < known.size(); ++k)
      out.push_back(symbol_of(t)->unknown >> k & 1 ? kUnknown
                                                   : static_cast<int64_t>(known.raw<T>()[k]));
  });
  return out;
}

Dims Call::ints(int i) const { return read_ints(in(i)); }

bool Types::on_host(int i) const {
  const Device* lives = inputs_[static_cast<size_t>(i)].device();
  return lives && lives != device && lives->kind() == DeviceKind::kCpu;
}
std::pair<DType, Shape> Types::variable(int i) const {
  VariableState* v = variable_state(inputs_[static_cast<size_t>(i)]);
  return v->update([&](const Tensor& now) {
    return now.defined() ? std::pair(now.dtype(), now.shape())
                         : std::pair(v->dtype, Shape::unknown());
  });
}
Grad::Grad(const OpDef& of, std::span<const Tensor> inputs, std::span<const Tensor> outputs,
           const Attrs& attrs, std::span<const Tensor> upstream, uint32_t wanted)
    : op(of),
      inputs_(inputs),
      outputs_(outputs),
      attrs_(attrs),
      upstream_(upstream),
      wanted_(wanted) {}
Grad::~Grad() = default;

Dims Grad::ints(int i) const {
  if (context().interpreter) went_by_numbers(x(i));
  return read_ints(x(i));
}

int Infer::axis(int64_t a, int i, const char* argument, int extra) const {
  int64_t rank = shape(i).rank() + extra;
  if (a < -rank || a >= rank) {
    int64_t nearest = a < 0 ? -rank : rank - 1;
    std::vector<Fix> fixes;
    if (rank > 0) {
      fixes.push_back(manual_fix(cat("`", written(Advice::kOption, {argument, cat(nearest)}),
                                     "` is the nearest allowed value")));
      fixes.back().argument = argument;
    }
    bad_value(argument, cat(a),
              rank > 0 ? cat("a value in [", -rank, ", ", rank, ") for ", type_text(input(i)))
                       : cat("no axis: ", type_text(input(i)), " is a scalar"),
              std::move(fixes));
  }
  return static_cast<int>(a < 0 ? a + rank : a);
}

void Infer::need_rank(int i, int low, int high) const {
  int r = shape(i).rank();
  if (r < 0 || (r >= low && (high < 0 || r <= high))) return;
  bad_shape(i, high == low ? cat("rank ", low)
               : high < 0  ? cat("rank ", low, " or more")
                           : cat("rank ", low, " to ", high));
}

void Infer::output(DType d, Shape s) {
  if (s.has_rank() && s.rank() > kMaxRank)
    fail(Code::E1102,
         cat(op().name, ": the result has ", s.rank(), " dimensions, expected at most ", kMaxRank));
  dtypes.push_back(d);
  shapes.push_back(std::move(s));
}

void Infer::bad_shape(int i, std::string expected) const { bad_shape(i, std::move(expected), {}); }
void Infer::bad_value(std::string argument, std::string got, std::string expected) const {
  bad_value(std::move(argument), std::move(got), std::move(expected), {});
}

void Infer::bad_shape(int i, std::string expected, std::vector<Fix> fixes) const {
  std::string name = operand_source(op_, inputs_, i).text;
  auto d =
      about_call(Code::E1102, op_, inputs_,
                 cat(op_.name, ": `", name, "` is ", type_text(input(i)), ", expected ", expected));
  d.why =
      cat("argument `", op_.inputs[std::min(static_cast<size_t>(i), op_.inputs.size() - 1)].name,
          "` of ", op_.name, ": got shape ", input(i).shape().text(), ", expected ", expected);
  d.fixes = std::move(fixes);
  if (d.fixes.empty()) {
    std::vector<TensorInfo> values;  // the refused one first; what says sizes has none that matter
    for (size_t k = 0, other = 0; k < inputs_.size() && other <= d.others.size(); ++k) {
      if (!inputs_[k].defined() || (k && other == d.others.size())) continue;
      const TensorInfo& told = k ? d.others[other++] : d.subject;
      if (op_.inputs[std::min(k, op_.inputs.size() - 1)].host) continue;
      values.insert(k == static_cast<size_t>(i) ? values.begin() : values.end(), told);
    }
    d.fixes = sizes_to_check(values);
  }
  raise(std::move(d));
}

void Infer::bad_value(std::string argument, std::string got, std::string expected,
                      std::vector<Fix> fixes) const {
  auto d = about_call(Code::E1103, op_, inputs_,
                      cat(op_.name, ": `", argument, "` is ", got, ", expected ", expected));
  d.why = cat("argument `", argument, "` of ", op_.name, ": got ", got, ", expected ", expected);
  d.fixes = std::move(fixes);
  raise(std::move(d));
}

void Infer::bad_dtype(int i, std::string expected) const {
  std::string name = operand_source(op_, inputs_, i).text;
  auto d =
      about_call(Code::E1101, op_, inputs_,
                 cat(op_.name, ": `", name, "` is ", type_text(input(i)), ", expected ", expected));
  d.why = cat("argument `", name, "` of ", op_.name, ": got ", type_text(input(i)), ", expected ",
              expected);
  raise(std::move(d));
}

void Infer::unsupported(std::string combination, std::string supported) const {
  auto d =
      about_call(Code::E1105, op_, inputs_, cat(op_.name, ": ", combination, " is not supported"));
  d.why = cat("supported: ", supported);
  raise(std::move(d));
}

Tensor& Call::out(int i) { return out(i, inferred_.shapes[static_cast<size_t>(i)]); }

Tensor& Call::out(int i, const Shape& shape) {
  Tensor& t = outputs_[static_cast<size_t>(i)];
  if (!t.defined()) t = empty(out_dtype(i), shape, device);
  return t;
}

Tensor Call::scratch(DType dtype, const Shape& shape) const { return empty(dtype, shape, device); }

}  // namespace holdfast
