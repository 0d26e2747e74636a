// TensorFlow's examples: how features become tensors, and the bytes of their messages.
#include "holdfast/io/feature_lists.h"
#include "holdfast/ops/io.h"
#include "python/bind/call.h"
#include "python/bind/data.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace holdfast::py {
namespace {

std::string_view view(const nb::bytes& b) { return {b.c_str(), b.size()}; }
nb::bytes bytes(std::string_view s) { return nb::bytes(s.data(), s.size()); }

// (name, kind, dtype, shape, default or None, may be missing, dtype of row splits)
io::FeatureRules rules_of(const nb::list& rules) {
  io::FeatureRules out;
  for (nb::handle h : rules) {
    io::FeatureRule r;
    r.kind = static_cast<io::FeatureRule::Kind>(nb::cast<int>(h[1]));
    r.dtype = dtype_of_object(nb::object(h[2]).ptr());
    nb::object shape = h[3];
    r.shape = shape_of(shape.ptr(), "the shape of a feature");
    if (!h[4].is_none()) r.default_value = nb::cast<Tensor>(h[4]);
    r.allow_missing = nb::cast<bool>(h[5]);
    r.splits = dtype_of_object(nb::object(h[6]).ptr());
    out.emplace_back(nb::cast<std::string>(h[0]), std::move(r));
  }
  return out;
}

// The values of a list's message.
template <class T>
nb::object values_of(const nb::bytes& message) {
  std::vector<T> values;
  if (!io::read_list(view(message), values)) return nb::none();
  nb::list out;
  for (const T& v : values)
    if constexpr (std::is_same_v<T, std::string>)
      out.append(bytes(v));
    else
      out.append(v);
  return out;
}

}  // namespace

void bind_examples(nb::module_& m) {
  m.def("parse_features", [](const Tensor& serialized, bool sequence, const nb::list& context,
                             const nb::list& lists) {
    return run([&] {
      mark();
      nb::list out;
      for (const Tensors& own :
           io::detail::parse_features(serialized, sequence, rules_of(context), rules_of(lists))) {
        nb::list tensors;
        for (const Tensor& t : own) tensors.append(nb::cast(t));
        out.append(tensors);
      }
      return out;
    });
  });
  m.def(
      "wire_fields",
      [](const nb::bytes& message) -> nb::object {
        nb::list out;
        WireReader fields(view(message));
        for (WireField f; fields.next(f);)
          if (f.kind == 2) out.append(nb::make_tuple(f.number, bytes(f.bytes)));
        return fields.good() ? nb::object(out) : nb::none();
      },
      "The fields of a message that are bytes: numbers and values. None where it is no message.");
  m.def("wire_values", [](int kind, const nb::bytes& list) {
    return kind == 1   ? values_of<std::string>(list)
           : kind == 2 ? values_of<float>(list)
                       : values_of<int64_t>(list);
  });
  m.def("wire_list", [](int kind, const nb::list& values) {
    std::vector<std::string> texts;
    if (kind == 2) return bytes(io::written_list(nb::cast<std::vector<float>>(values)));
    if (kind == 3) return bytes(io::written_list(nb::cast<std::vector<int64_t>>(values)));
    for (nb::handle h : values) texts.emplace_back(view(nb::cast<nb::bytes>(h)));
    return bytes(io::written_list(texts));
  });
  m.def("wire_field", [](int number, const nb::bytes& value) {
    return bytes(Message().bytes(number, view(value)).text());
  });
}

}  // namespace holdfast::py
