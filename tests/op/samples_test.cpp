// Every registered function runs its samples from C++, without Python: at once, again, and traced.
// Samples are argument lists in Python's words, which tests/python/samples.py reads as well; there
// they are held against NumPy.
#include <gtest/gtest.h>
#include <holdfast/holdfast.h>

#include <cmath>
#include <optional>
#include <random>

#include "../refused.h"
#include "holdfast/op/op.h"

namespace holdfast {
namespace {

/// What an expression of a sample stands for.
struct Value {
  enum class Kind { kNone, kBool, kInt, kFloat, kText, kDType, kList, kTensor };
  Kind kind = Kind::kNone;
  bool b = false;
  int64_t i = 0;
  double f = 0;
  std::string text = {};
  DType dtype = DType::kInvalid;
  std::vector<Value> items = {};
  Tensor tensor = {};
  bool is(Kind k) const { return kind == k; }
};

/// A sample as the arguments of its function, in the order of its parameters.
struct Sample {
  std::vector<Arg> args;
  /// The tensors that the sample's words made: which argument each is, or is in.
  std::vector<std::pair<size_t, Tensor>> made;
};

struct Unspoken {};  // a word that only NumPy knows

// An argument list, from left to right. Its words draw from a stream that the sample's text seeds.
class Reader {
 public:
  explicit Reader(const std::string& text)
      : text_(text), draws_(static_cast<uint32_t>(std::hash<std::string>()(text))) {}

  using Named = std::pair<std::string, Value>;
  std::vector<Named> arguments(char end) {
    std::vector<Named> out;
    while (peek() != end) {
      const size_t before = at_;
      std::string key = word();
      if (key.empty() || peek() != '=') at_ = before, key.clear();
      if (!key.empty()) take('=');
      out.emplace_back(key, sum());
      if (peek() == ',') take(',');
    }
    return out;
  }

 private:
  char peek() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  void take(char c) {
    if (peek() != c) throw Unspoken();
    ++at_;
  }
  std::string word() {
    peek();
    size_t begin = at_;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) ||
                                  text_[at_] == '_' || text_[at_] == '.'))
      ++at_;
    if (at_ > begin && std::isdigit(static_cast<unsigned char>(text_[begin]))) at_ = begin;
    return text_.substr(begin, at_ - begin);
  }

  Value sum() {
    Value left = product();
    for (char c = peek(); c == '+' || c == '-'; c = peek()) {
      take(c);
      left = computed(c, left, product());
    }
    return left;
  }
  Value product() {
    Value left = one();
    while (peek() == '*') {
      take('*');
      left = computed('*', left, one());
    }
    return left;
  }
  static Value computed(char op, const Value& a, const Value& b) {
    using K = Value::Kind;
    if (!a.is(K::kTensor) && !b.is(K::kTensor)) throw Unspoken();
    auto operand = [](const Value& v) -> In {
      if (v.is(K::kTensor)) return v.tensor;
      if (v.is(K::kInt)) return v.i;
      if (v.is(K::kFloat)) return v.f;
      throw Unspoken();
    };
    In x = operand(a), y = operand(b);
    if (is_complex(x.dtype()) && !y.weak()) y = cast(y, x.dtype());
    Tensor t = op == '+' ? add(x, y) : op == '-' ? subtract(x, y) : multiply(x, y);
    return {.kind = K::kTensor, .tensor = t};
  }
  Value one() {
    using K = Value::Kind;
    char c = peek();
    if (c == '[' || c == '(') {
      take(c);
      Value list{.kind = K::kList};
      const char end = c == '[' ? ']' : ')';
      for (auto& [key, item] : arguments(end)) list.items.push_back(std::move(item));
      take(end);
      return list;
    }
    if (c == '"' || c == '\'') return quoted(c);
    if (c == '-' || std::isdigit(static_cast<unsigned char>(c)) || c == '.') return number();
    std::string called = word();
    if (called == "b" && (peek() == '"' || peek() == '\'')) return quoted(peek());
    if (peek() == '(') {
      take('(');
      std::vector<Named> with = arguments(')');
      take(')');
      return call(called, with);
    }
    if (called == "None") return {};
    if (called == "True" || called == "False") return {.kind = K::kBool, .b = called == "True"};
    if (called == "np.inf" || called == "math.inf") return {.kind = K::kFloat, .f = INFINITY};
    if (called.starts_with("tf.") || called.starts_with("np.")) called = called.substr(3);
    if (auto d = dtype_named(called)) return {.kind = K::kDType, .dtype = *d};
    throw Unspoken();
  }
  Value quoted(char mark) {
    take(mark);
    std::string out;
    for (; at_ < text_.size() && text_[at_] != mark; ++at_) {
      if (text_[at_] == '\\') throw Unspoken();
      out += text_[at_];
    }
    take(mark);
    return {.kind = Value::Kind::kText, .text = out};
  }
  Value number() {
    size_t length = 0;
    std::string rest = text_.substr(at_);
    double f = std::stod(rest, &length);
    std::string digits = rest.substr(0, length);
    at_ += length;
    if (at_ < text_.size() && text_[at_] == 'j') throw Unspoken();
    if (digits.find_first_of(".enxi") != std::string::npos)
      return {.kind = Value::Kind::kFloat, .f = f};
    return {.kind = Value::Kind::kInt, .i = std::stoll(digits)};
  }

  Value call(const std::string& called, const std::vector<Named>& with) {
    using K = Value::Kind;
    Dims sizes;
    double low = called == "positive" ? 0.5 : called == "ints" ? -5 : -1;
    double high = called == "positive" ? 2 : called == "ints" ? 5 : 1;
    DType dtype = called == "ints" || called == "permutation" ? int32
                  : called == "complexes"                     ? DType::kComplex64
                                                              : float32;
    if (called == "float") {
      if (with.size() != 1 || !with[0].second.is(K::kText)) throw Unspoken();
      return {.kind = K::kFloat, .f = std::stod(with[0].second.text)};
    }
    for (const auto& [key, v] : with) {
      if (key.empty() && v.is(K::kInt))
        sizes.push_back(v.i);
      else if (key == "low")
        low = v.is(K::kInt) ? static_cast<double>(v.i) : v.f;
      else if (key == "high")
        high = v.is(K::kInt) ? static_cast<double>(v.i) : v.f;
      else if (key == "dtype" && v.is(K::kDType))
        dtype = v.dtype;
      else if (key == "dtype" && v.is(K::kText) && dtype_named(v.text == "f" ? "float32" : v.text))
        dtype = *dtype_named(v.text == "f" ? "float32" : v.text);
      else
        throw Unspoken();
    }
    Tensor t;
    const Shape shape(sizes);
    if (called == "uniform" || called == "positive") {
      t = drawn(shape, [&] { return low + (high - low) * fraction(); });
      if (is_complex(dtype)) t = complex(t, drawn(shape, [&] { return fraction() - 0.5; }));
    } else if (called == "complexes") {
      auto part = [&] { return drawn(shape, [&] { return 2 * fraction() - 1; }); };
      Tensor re = part();
      t = complex(re, part());
    } else if (called == "ints") {
      if (kUnsignedInts.has(dtype)) low = std::max(low, 0.0);
      t = drawn(shape, [&] { return std::floor(low + (high - low) * fraction()); });
    } else if (called == "bools") {
      return {.kind = K::kTensor, .tensor = drawn(shape, [&] { return fraction(); }) > 0.5};
    } else if (called == "strings") {
      const std::vector<std::string> words{"", "a", "tensor", "holdfast", "größe"};
      std::vector<std::string> all;
      for (int64_t n = shape.size(); n > 0; --n)
        all.push_back(words[static_cast<size_t>(5 * fraction())]);
      return {.kind = K::kTensor, .tensor = reshape(constant(all), shape)};
    } else if (called == "permutation" && sizes.size() == 1) {
      std::vector<double> order;
      for (int64_t n = 0; n < sizes[0]; ++n) order.push_back(static_cast<double>(n));
      std::shuffle(order.begin(), order.end(), draws_);
      t = Tensor::of(order);
    } else if (called == "np.eye" && sizes.size() == 1) {
      t = cast(eye(sizes[0]), float64);
    } else {
      throw Unspoken();
    }
    return {.kind = K::kTensor, .tensor = cast(t, dtype)};
  }
  double fraction() { return std::uniform_real_distribution<>(0, 1)(draws_); }
  template <class F>
  Tensor drawn(const Shape& shape, F one) {
    std::vector<double> all;
    for (int64_t n = shape.size(); n > 0; --n) all.push_back(one());
    return Tensor::of(all, shape);
  }

  const std::string text_;
  size_t at_ = 0;
  std::mt19937 draws_;
};

void flatten(const Value& v, std::vector<const Value*>& out) {
  if (!v.is(Value::Kind::kList))
    out.push_back(&v);
  else
    for (const Value& item : v.items) flatten(item, out);
}

Ints integers(const Value& v) {
  std::vector<const Value*> all;
  flatten(v, all);
  Ints out;
  for (const Value* one : all) {
    if (!one->is(Value::Kind::kInt)) throw Unspoken();
    out.push_back(one->i);
  }
  return out;
}

// Lists of numbers or texts; `hint` is the dtype of the tensors beside them.
Tensor as_tensor(const Value& v, DType hint) {
  using K = Value::Kind;
  switch (v.kind) {
    case K::kTensor: return v.tensor;
    case K::kBool: return In(v.b).tensor(hint);
    case K::kInt: return In(v.i).tensor(hint);
    case K::kFloat: return In(v.f).tensor(hint);
    case K::kText: return constant(v.text);
    case K::kList: break;
    default: throw Unspoken();
  }
  if (v.items.empty()) return zeros({0}, hint == DType::kInvalid ? float32 : hint);
  if (hint == DType::kInvalid) {  // one float makes all of them floats
    std::vector<const Value*> all;
    flatten(v, all);
    for (const Value* one : all)
      if (one->is(K::kTensor) || one->is(K::kFloat))
        hint = one->is(K::kTensor) ? one->tensor.dtype() : float32;
  }
  Tensors rows;
  for (const Value& item : v.items) rows.push_back(as_tensor(item, hint));
  return stack(rows);
}

Arg as_arg(const Value& v, const Param& p, DType hint) {
  using K = Value::Kind;
  if (v.is(K::kNone)) return Arg();
  switch (p.kind) {
    case Kind::kTensor:
    case Kind::kOptTensor:
      if (v.is(K::kBool)) return Arg(v.b);
      if (v.is(K::kInt)) return Arg(v.i);
      if (v.is(K::kFloat)) return Arg(v.f);
      return Arg(as_tensor(v, hint));
    case Kind::kTensors: {
      Tensors all;
      if (!v.is(K::kList)) return Arg(Tensors{as_tensor(v, hint)});
      for (const Value& item : v.items) all.push_back(as_tensor(item, hint));
      return Arg(all);
    }
    case Kind::kSizes:
    case Kind::kAxes:
      if (v.is(K::kTensor)) return Arg(v.tensor);
      if (v.is(K::kInt)) return Arg(v.i);
      return Arg(integers(v));
    case Kind::kShape: return Arg(Shape(std::span<const int64_t>(integers(v))));
    case Kind::kIntList:
    case Kind::kOptIntList: return Arg(integers(v));
    case Kind::kPadding: return v.is(K::kText) ? Arg(v.text) : Arg(integers(v));
    case Kind::kDType:
    case Kind::kOptDType:
      if (v.is(K::kDType)) return Arg(v.dtype);
      if (auto d = dtype_named(v.text)) return Arg(*d);
      throw Unspoken();
    case Kind::kFloat:
    case Kind::kOptFloat: return Arg(v.is(K::kInt) ? static_cast<double>(v.i) : v.f);
    case Kind::kFloatList: {
      std::vector<double> all;
      for (const Value& item : v.items)
        all.push_back(item.is(K::kInt) ? static_cast<double>(item.i) : item.f);
      return Arg(all);
    }
    case Kind::kStringList: {
      std::vector<std::string> all;
      for (const Value& item : v.items) all.push_back(item.text);
      return Arg(all);
    }
    default: break;
  }
  switch (v.kind) {
    case K::kBool: return Arg(v.b);
    case K::kInt: return Arg(v.i);
    case K::kFloat: return Arg(v.f);
    case K::kText: return Arg(v.text);
    default: throw Unspoken();
  }
}

bool takes_tensors(Kind k) {
  return k == Kind::kTensor || k == Kind::kOptTensor || k == Kind::kTensors;
}

// Nothing where a sample uses words of NumPy that are not spoken here.
std::optional<Sample> read(const FunctionDef& function, const std::string& sample) {
  try {
    std::vector<std::optional<Value>> given(function.params.size());
    size_t place = 0;
    for (auto& [key, value] : Reader(sample).arguments('\0')) {
      size_t i = place++;
      if (!key.empty())
        for (i = 0; i < given.size() && function.params[i].name != key;) ++i;
      if (i >= given.size()) return std::nullopt;
      given[i] = std::move(value);
    }
    Sample out;
    for (size_t i = 0; i < given.size(); ++i) {
      const Param& p = function.params[i];
      if (!given[i]) {
        out.args.push_back(p.default_value);
        continue;
      }
      DType hint = DType::kInvalid;
      for (size_t j = 0; j < given.size(); ++j)
        if (given[j] && takes_tensors(function.params[j].kind) &&
            function.params[j].group == p.group) {
          std::vector<const Value*> parts;
          flatten(*given[j], parts);
          for (const Value* part : parts)
            if (part->is(Value::Kind::kTensor)) hint = part->tensor.dtype();
        }
      out.args.push_back(as_arg(*given[i], p, hint));
      if (given[i]->is(Value::Kind::kTensor)) out.made.emplace_back(i, given[i]->tensor);
    }
    return out;
  } catch (const Unspoken&) {
    return std::nullopt;
  }
}

struct Called {
  const FunctionDef* function;
  std::string text;
  Sample sample;
};

std::string named(const Called& c) { return c.function->name + "(" + c.text + ")"; }

// Those that the words here can say, which are nearly all.
const std::vector<Called>& cases() {
  static const std::vector<Called> all = [] {
    std::vector<Called> out;
    for (const FunctionDef* f : all_functions())
      for (const std::string& text : f->samples)
        if (auto sample = read(*f, text)) out.push_back({f, text, std::move(*sample)});
    return out;
  }();
  return all;
}

::testing::AssertionResult near(const Tensor& a, const Tensor& b, double rtol) {
  if (a.dtype() != b.dtype() || a.shape() != b.shape())
    return ::testing::AssertionFailure() << a.shape().text() << " and " << b.shape().text();
  if (a.dtype() == DType::kString)
    return a.to_vector<std::string>() == b.to_vector<std::string>()
               ? ::testing::AssertionSuccess()
               : ::testing::AssertionFailure() << a.text() << " and " << b.text();
  if (!kPlain.has(a.dtype())) return ::testing::AssertionSuccess();
  auto numbers = [](const Tensor& t) {
    if (is_complex(t.dtype())) return concat({cast(real(t), float64), cast(imag(t), float64)}, -1);
    return cast(t, float64);
  };
  auto of = [&](const Tensor& t) { return reshape(numbers(t.rank() ? t : reshape(t, {1})), {-1}); };
  std::vector<double> x = of(a).to_vector<double>(), y = of(b).to_vector<double>();
  for (size_t i = 0; i < x.size(); ++i) {
    bool same = x[i] == y[i] || (std::isnan(x[i]) && std::isnan(y[i]));
    if (!same && !(std::fabs(x[i] - y[i]) <= rtol * (1 + std::fabs(y[i]))))
      return ::testing::AssertionFailure() << "element " << i << ": " << x[i] << " and " << y[i];
  }
  return ::testing::AssertionSuccess();
}

TEST(Samples, NearlyAllAreSpokenHere) {
  size_t samples = 0;
  for (const FunctionDef* f : all_functions()) samples += f->samples.size();
  EXPECT_GT(samples, 700u);
  EXPECT_GT(cases().size(), samples * 9 / 10);
}

TEST(Samples, RunAndGiveTheSameAgain) {
  for (const Called& c : cases()) {
    SCOPED_TRACE(named(c));
    try {
      random::set_seed(1);
      Tensors first = c.function->call(c.sample.args);
      random::set_seed(1);
      Tensors again = c.function->call(c.sample.args);
      ASSERT_EQ(first.size(), again.size());
      for (size_t i = 0; i < first.size(); ++i)
        EXPECT_TRUE(!first[i].defined() || near(first[i], again[i], 0));
    } catch (const std::exception& e) {
      ADD_FAILURE() << e.what();
    }
  }
}

// Of functions with a reference: what has none draws random numbers, or leaves memory as it is.
TEST(Samples, TracedGiveWhatEagerOnesDo) {
  for (const Called& c : cases()) {
    if (c.function->reference.empty() || c.sample.made.empty()) continue;
    SCOPED_TRACE(named(c));
    std::vector<Tensor> inputs;
    for (const auto& [place, tensor] : c.sample.made) inputs.push_back(tensor);
    auto traced = function([&](const std::vector<Tensor>& tensors) {
      std::vector<Arg> args = c.sample.args;
      for (size_t i = 0; i < tensors.size(); ++i) {
        size_t place = c.sample.made[i].first;
        args[place] = c.function->params[place].kind == Kind::kTensors ? Arg(Tensors{tensors[i]})
                                                                       : Arg(tensors[i]);
      }
      Tensors out = c.function->call(args);
      return std::vector<Tensor>(out.begin(), out.end());
    });
    try {
      Tensors eager = c.function->call(c.sample.args);
      std::vector<Tensor> later = traced(inputs);
      ASSERT_EQ(eager.size(), later.size());
      for (size_t i = 0; i < eager.size(); ++i)
        EXPECT_TRUE(!eager[i].defined() || near(later[i], eager[i], 1e-4));
    } catch (const std::exception& e) {
      ADD_FAILURE() << e.what();
    }
  }
}

TEST(Samples, ATensorThatWasOnlyDeclaredIsRefused) {
  for (const Called& c : cases())
    for (const auto& [place, tensor] : c.sample.made) {
      const Param& p = c.function->params[place];
      if (p.kind != Kind::kTensor) continue;
      std::vector<Arg> args = c.sample.args;
      args[place] = Arg(Tensor());
      EXPECT_NE(refused([&] { c.function->call(args); }), Code{}) << named(c) << ": " << p.name;
    }
}

}  // namespace
}  // namespace holdfast
