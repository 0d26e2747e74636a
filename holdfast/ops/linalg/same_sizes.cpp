// Operands of a contraction whose sizes are known only when the graph runs: what is summed over
// together has one size in both. Products and reshapes of their own sizes would not notice.
#include "holdfast/base/text.h"
#include "holdfast/op/advice.h"
#include "holdfast/op/op.h"
#include "holdfast/op/refuse.h"
#include "holdfast/ops/array/view.h"
#include "holdfast/ops/linalg/extent.h"

namespace holdfast::linalg {
namespace {

struct SameSizesAttrs {
  Attr<Ints> axes;
  Attr<std::vector<std::string>> labels;
  Attr<std::vector<std::string>> names;
  Attr<std::string> call;
};

void infer_same_sizes(Infer& s) {
  auto a = s.attrs<SameSizesAttrs>();
  const Ints& axes = a.axes();
  const auto &labels = a.labels(), &names = a.names();
  Shape merged = s.shape();
  if (axes.size() != 2 * labels.size() || names.size() != 2)
    s.bad_value("axes", cat(axes.size(), " axes"), "two for each label, and two names");
  for (size_t i = 0; i < labels.size() && merged.has_rank() && s.shape(1).has_rank(); ++i) {
    int own = s.axis(axes[2 * i], 0), others = s.axis(axes[2 * i + 1], 1);
    int64_t here = merged[own], there = s.shape(1)[others];
    if (here >= 0 && there >= 0 && here != there)
      refuse_sizes(
          {a.call(), labels[i], {names[0], names[1]}, {s.input(0), s.input(1)}, {own, others}});
    if (here >= 0 || there < 0) continue;
    Dims known = merged.dims();
    known[static_cast<size_t>(own)] = there;
    merged = Shape(known);
  }
  s.output(s.dtype(), merged);
}

const Op same_sizes_op =
    RAW_OP(SameSizes)
        .doc("The input, whose `axes` have the sizes of those of another tensor.")
        .inputs("input, other: U")
        .attr("axes")
        .attr("labels")
        .attr("names")
        .attr("call")
        .attrs<&SameSizesAttrs::axes, &SameSizesAttrs::labels, &SameSizesAttrs::names,
               &SameSizesAttrs::call>()
        .view()
        .infer(infer_same_sizes)
        .kernel("view", run_view)
        .kernel_for(DeviceKind::kCuda, "view", run_view)
        .gradient(+[](Grad& g) -> Tensors { return {g.dy(), {}}; })
        .keeps("");

}  // namespace

std::array<std::string, 2> names_of(const std::array<const char*, 3>& call,
                                    const std::array<Tensor, 2>& operands) {
  OpDef written;
  written.name = call[0];
  written.inputs = {{.name = call[1]}, {.name = call[2]}};
  return {operand_source(written, operands, 0).text, operand_source(written, operands, 1).text};
}

void refuse_sizes(const Meeting& m) {
  int64_t here = m.tensors[0].dim(m.axes[0]), there = m.tensors[1].dim(m.axes[1]);
  Diagnostic d;
  d.code = Code::E1102;
  d.op = m.call;
  d.headline = cat(m.call, ": `", m.names[0], "` is ", type_text(m.tensors[0]), ", expected size ",
                   there, " on axis ", m.axes[0]);
  Label used = used_here();
  for (size_t i = 0; i < 2; ++i) {
    TensorInfo info = describe(m.tensors[i], m.names[i]);
    bool elsewhere = info.born.file != used.loc.file || info.born.line != used.loc.line;
    if (info.born.line > 0 && elsewhere)
      d.labels.push_back({Role::kBorn, info.born,
                          cat("`", info.name, "` born here: ", type_text(m.tensors[i])), false});
    if (i == 0)
      d.subject = std::move(info);
    else
      d.others.push_back(std::move(info));
  }
  d.labels.push_back(std::move(used));
  d.why = cat(m.label, " has one size: ", there, " in `", m.names[1], "`, ", here, " in `",
              m.names[0], "`");
  d.fixes = sizes_to_check(std::array{d.others[0], d.subject});
  raise(std::move(d));
}

Tensor met(const std::vector<Meeting>& all) {
  const Meeting& first = all[0];
  Ints axes;
  std::vector<std::string> labels;
  for (const Meeting& m : all) {
    for (int axis : m.axes) axes.push_back(axis);
    labels.push_back(m.label);
  }
  return same_sizes_op(
      {first.tensors[0], first.tensors[1]},
      {axes, labels, std::vector<std::string>{first.names[0], first.names[1]}, first.call});
}

}  // namespace holdfast::linalg
