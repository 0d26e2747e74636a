// Arguments of nodes as text.
#include <charconv>
#include <cstring>
#include <variant>

#include "holdfast/base/text.h"
#include "holdfast/graph/words.h"
#include "holdfast/op/arg_value.h"
#include "holdfast/tensor/variable_state.h"
#include "holdfast/tensor/visit.h"

namespace holdfast {
namespace {

template <class List, class F>
std::string joined(const char* word, const List& list, F&& text) {
  std::string out = cat(word, "[");
  for (size_t i = 0; i < list.size(); ++i) out += cat(i ? ", " : "", text(list[i]));
  return out + "]";
}

// A float attribute is told from an int by a point, an exponent or a word.
std::string float_text(double v) {
  std::string s = number_text(v);
  return s.find_first_of(".enx") == std::string::npos ? s + ".0" : s;
}

std::string hex(uint64_t v) {
  char buf[24];
  return std::string(buf, std::to_chars(buf, buf + sizeof buf, v, 16).ptr);
}

// Whether several elements are all the same bits.
bool all_the_same(const Tensor& host) {
  if (!kPlain.has(host.dtype()) || host.size() < 2) return false;
  auto* p = static_cast<const char*>(host.raw());
  auto cell = static_cast<size_t>(size_of(host.dtype()));
  return std::memcmp(p, p + cell, static_cast<size_t>(host.bytes()) - cell) ==
         0;  // each equals the one before it
}

std::string first_elements(const Tensor& host, int64_t n) {
  std::string out;
  auto add = [&](const std::string& text) { out += cat(out.empty() ? "" : ", ", text); };
  if (host.dtype() == DType::kString)
    for (int64_t i = 0; i < n; ++i) add(quoted(host.raw<std::string>()[i]));
  visit_plain(host.dtype(), [&]<class T>(T) {
    const T* p = host.raw<T>();
    for (int64_t i = 0; i < n; ++i) {
      if constexpr (is_complex_v<T>)
        add(cat("(", number_text(p[i].real()), ", ", number_text(p[i].imag()), ")"));
      else
        add(number_text(p[i]));
    }
  });
  return out;
}

}  // namespace

int ValueWriter::number_of(const Tensor& t) {
  for (size_t i = 0; i < own_.tensors.size(); ++i)
    if (own_.tensors[i].id() == t.id()) return static_cast<int>(i);
  own_.tensors.push_back(t);
  if (options_.payload) options_.payload->tensors.push_back(t);
  return static_cast<int>(own_.tensors.size()) - 1;
}

std::string ValueWriter::text(const Tensor& t) {
  if (!t.defined()) return "tensor None";
  if (t.dtype() == DType::kResource) return resource(t);
  return cat(name(t.dtype()), t.shape().text(), "(", elements(t), ")");
}

std::string ValueWriter::elements(const Tensor& t) {
  if (!t.rep()->buffer) return cat(words::kLeftOut, " ", number_of(t));
  if (t.size() == 0) return "";
  Tensor host = copy_to(t, cpu());
  if (all_the_same(host)) return cat(words::kAllOf, " ", first_elements(host, 1));
  if (t.size() > options_.most_elements)
    return cat(words::kLeftOut, " ", number_of(t), " ", quoted(hex(digest(host))));
  return first_elements(host, t.size());
}

std::string ValueWriter::resource(const Tensor& t) {
  auto* v = variable_behind(t);
  if (!v) return cat("resource[](", words::kLeftOut, " ", number_of(t), ")");
  return cat(words::kVariable, " ", number_of(t), " ", quoted(v->name), " ", name(v->dtype),
             v->shape.text(), v->trainable ? "" : " frozen");
}

std::string ValueWriter::object(const Ref<RefCounted>& o, int indent) {
  if (!o) return "None";
  if (auto* g = dynamic_cast<const Graph*>(o.get())) return body_text(*g, *this, indent);
  size_t i = 0;
  while (i < own_.objects.size() && own_.objects[i] != o) ++i;
  if (i == own_.objects.size()) {
    own_.objects.push_back(o);
    if (options_.payload) options_.payload->objects.push_back(o);
  }
  return cat(words::kObject, " ", i, " ", quoted(o->text()));
}

std::string ValueWriter::text(const Arg& a, int indent) {
  struct Texts {
    ValueWriter& w;
    int indent;
    std::string operator()(std::monostate) const { return "None"; }
    std::string operator()(bool v) const { return number_text(v); }
    std::string operator()(int64_t v) const { return cat(v); }
    std::string operator()(double v) const { return float_text(v); }
    std::string operator()(const std::string& v) const { return quoted(v); }
    std::string operator()(DType v) const { return name(v); }
    std::string operator()(const Shape& v) const { return "shape" + v.text(); }
    std::string operator()(const Ints& v) const {
      return joined("", v, [](int64_t x) { return cat(x); });
    }
    std::string operator()(const std::vector<double>& v) const {
      return joined("floats", v, float_text);
    }
    std::string operator()(const std::vector<std::string>& v) const {
      return joined("strings", v, quoted);
    }
    std::string operator()(const Tensor& v) const { return w.text(v); }
    std::string operator()(const Tensors& v) const {
      return joined("tensors", v, [&](const Tensor& t) { return w.text(t); });
    }
    std::string operator()(const Ref<RefCounted>& v) const { return w.object(v, indent); }
  };
  return std::visit(Texts{*this, indent}, a.value());
}

}  // namespace holdfast
