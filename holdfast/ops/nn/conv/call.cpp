#include "holdfast/ops/nn/conv/call.h"

#include <array>

#include "holdfast/base/text.h"
#include "holdfast/op/advice.h"
#include "holdfast/op/refuse.h"
#include "holdfast/ops/array.h"

namespace holdfast::nn {

Attrs conv_attrs(const char* function, int axes, bool first, const Ints& strides,
                 const Padding& padding, const Ints& dilations) {
  auto widened = [&](Ints list, size_t each, int64_t fill) {
    auto at = static_cast<std::ptrdiff_t>(first ? 2 : 1);
    if (axes == 1 && list.size() == 3 * each)
      list.insert(list.begin() + at * static_cast<std::ptrdiff_t>(each), each, fill);
    return list;
  };
  if (axes == 3 && padding.is_explicit()) {
    fail(Code::E1105,
         cat(function, ": padding as a list of pairs is not supported over three axes"),
         "supported: 'SAME' and 'VALID'; or pad the input first");
  }
  int raw = axes == 1 ? 2 : axes;
  Attrs a{widened(strides, 1, 1), padding.mode(), format_name(raw, first),
          widened(dilations, 1, 1)};
  if (axes < 3) a.push_back(widened(padding.amounts(), 2, 0));
  return a;
}

Tensor insert_axis(const Tensor& t, int axis) { return expand_dims(t, axis); }
Tensor remove_axis(const Tensor& t, int axis) { return squeeze(t, {.axis = Sizes(axis)}); }

void need_rank(const char* function, const char* argument, const Tensor& t, int low, int high) {
  if (!t.shape().has_rank() || (t.rank() >= low && (high < 0 || t.rank() <= high))) return;
  OpDef call;
  call.name = function;
  call.inputs = {{.name = "input"}, {.name = "filters"}};
  const size_t place = call.inputs[0].name == argument ? 0 : 1;
  Tensors given(place);
  given.push_back(t);
  std::string name = operand_source(call, given, static_cast<int>(place)).text;
  std::string expected = cat("rank ", low,
                             high < 0      ? " or more"
                             : high == low ? ""
                                           : cat(" to ", high));
  auto d = about_call(Code::E1102, call, given,
                      cat(function, ": `", name, "` is ", type_text(t), ", expected ", expected));
  d.why = cat("argument `", argument, "` of ", function, ": got shape ", t.shape().text(),
              " of rank ", t.rank(), ", expected ", expected);
  d.fixes = sizes_to_check(std::array{describe(t, name)});
  raise(std::move(d));
}

}  // namespace holdfast::nn
