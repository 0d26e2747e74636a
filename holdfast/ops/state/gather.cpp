// Parts of a variable, read without a copy of the whole.
#include "holdfast/base/text.h"
#include "holdfast/op/kernel.h"
#include "holdfast/op/op.h"
#include "holdfast/op/variable.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/scatter.h"
#include "holdfast/ops/slicing.h"
#include "holdfast/ops/state/held.h"

namespace holdfast {
namespace {

struct GatherAttrs {
  Attr<DType> dtype;
  Attr<int64_t> batch_dims;
};
struct ValueAttrs {
  Attr<DType> dtype;
};

VariableState* variable_of(const Infer& s) {
  VariableState* v = variable_state(s.input(0));
  if (DType asked = s.attrs<ValueAttrs>().dtype(); asked != v->dtype)
    s.bad_value("dtype", name(asked), cat(name(v->dtype), ", that of variable `", v->name, "`"));
  return v;
}

int64_t batches(int64_t given, const Shape& indices) {
  return given < 0 ? given + indices.rank() : given;
}

void infer_rows(Infer& s) {
  auto a = s.attrs<GatherAttrs>();
  VariableState* v = variable_of(s);
  const Shape &params = v->shape, &ids = s.shape(1);
  if (!params.has_rank() || !ids.has_rank()) return s.output(v->dtype, Shape::unknown());
  int64_t batch = batches(a.batch_dims(), ids);
  if (batch < 0 || batch > ids.rank() || batch >= params.rank())
    s.bad_value("batch_dims", cat(a.batch_dims()),
                cat("less than ", params.rank(), ", the rank of the variable, and at most ",
                    ids.rank(), ", that of `indices`"));
  for (int i = 0; i < batch; ++i)
    if (params[i] >= 0 && ids[i] >= 0 && params[i] != ids[i])
      s.bad_shape(1, cat("one that begins as the variable's, ", params.text()));
  Dims out(params.begin(), params.begin() + batch);
  out.append(ids.begin() + batch, ids.end());
  out.append(params.begin() + batch + 1, params.end());
  s.output(v->dtype, Shape(out));
}

Status run_rows(Call& c) {
  static const OpDef& gather = *find_op("GatherV2");
  int64_t batch = batches(c.attrs<GatherAttrs>().batch_dims(), c.in(1).shape());
  Tensor now = variable_state(c.in())->get();
  if (!now.defined()) return no_value(*variable_state(c.in()));
  Tensor in[3] = {now, c.in(1), Tensor::scalar(batch, int32)};
  Tensors out;
  if (Status s = run_kernel(gather, in, Attrs{batch}, now.device(), out); !s.ok()) return s;
  c.set_out(0, out[0]);
  return {};
}

Tensors rows_back(Grad& g) {
  static const Op read(find_op("ReadVariableOp")), dense_back(find_op("GatherGrad"));
  Tensor ids = g.x(1), whole = shape(read({g.x(0)}));
  if (int64_t batch = g.attrs<GatherAttrs>().batch_dims()) {
    if (batch < 0) batch += ids.rank();
    return {dense_back({whole, ids, g.dy()}, {batch, batch}), Tensor()};
  }
  Tensor inner = index(whole, {{.kind = IndexItem::kSlice, .start = 1}});
  Tensor rows = reshape(g.dy(), Sizes(concat({reshape(size(ids), {1}), inner}, 0)));
  g.sparse(0, {rows, reshape(ids, {-1}), whole});
  return {Tensor(), Tensor()};
}

void infer_nd(Infer& s) {
  VariableState* v = variable_of(s);
  s.need_rank(1, 1);
  const Shape &params = v->shape, &ids = s.shape(1);
  if (!params.has_rank() || !ids.has_rank() || ids[-1] < 0)
    return s.output(v->dtype, Shape::unknown());
  if (ids[-1] > params.rank())
    s.bad_shape(1, cat("at most ", params.rank(), " coordinates along its last axis"));
  Dims out(ids.begin(), ids.end() - 1);
  out.append(params.begin() + ids[-1], params.end());
  s.output(v->dtype, Shape(out));
}

Status run_nd(Call& c) {
  // Its messages are to name the op that was called.
  static const OpDef gather = [](OpDef op) {
    op.name = "ResourceGatherNd";
    return op;
  }(*find_op("GatherNd"));
  Tensor now = variable_state(c.in())->get();
  if (!now.defined()) return no_value(*variable_state(c.in()));
  Tensor in[2] = {now, c.in(1)};
  Tensors out;
  if (Status s = run_kernel(gather, in, Attrs{Arg(std::string())}, now.device(), out); !s.ok())
    return s;
  c.set_out(0, out[0]);
  return {};
}

Tensors nd_back(Grad& g) {
  static const Op read(find_op("ReadVariableOp"));
  return {scatter_nd(g.x(1), g.dy(), Sizes(shape(read({g.x(0)})))), Tensor()};
}

Builder& described(Builder& b) {
  return b.inputs("resource: R, indices: I")
      .resource(VariableState::kKind)
      .dtypes(kIndices, "I")
      .attr("dtype")
      .attrs<&ValueAttrs::dtype>()
      .reads_state();
}

const Op rows_op = described(RAW_OP(ResourceGather).doc("Rows of a variable, by number."))
                       .attr("batch_dims", 0)
                       .attr("validate_indices", true)
                       .attrs<&GatherAttrs::dtype, &GatherAttrs::batch_dims>()
                       .infer(infer_rows)
                       .kernel("rows", run_rows)
                       .gradient(rows_back)
                       .keeps("resource, indices");
const Op nd_op =
    described(RAW_OP(ResourceGatherNd).doc("Parts of a variable at the positions in `indices`."))
        .infer(infer_nd)
        .kernel("parts", run_nd)
        .gradient(nd_back)
        .keeps("resource, indices");

}  // namespace
}  // namespace holdfast
