#include "holdfast/ops/random/fused_draw.h"

#include <unordered_map>

#include "holdfast/base/text.h"
#include "holdfast/expr/cpu_program.h"
#include "holdfast/ops/random/fill.h"

namespace holdfast::random {
namespace {

struct FusedDrawAttrs {
  Attr<RefCounted> expression;
  Attr<int64_t> position;
  Attr<std::string> numbers;
  Attr<Shape> shape;
};

const Expr& expression(const Attrs& attrs) {
  return *expr_in(detail::attrs_at<FusedDrawAttrs>(attrs.data()).expression.arg());
}
size_t position(const Attrs& attrs) {
  return static_cast<size_t>(detail::attrs_at<FusedDrawAttrs>(attrs.data()).position());
}

DType drawn_dtype(const Expr& e, size_t position) {
  for (const Expr::Value& v : e.values())
    if (v.input == static_cast<int>(position)) return v.dtype;
  return DType::kInvalid;
}

void infer_fused_draw(Infer& s) {
  auto a = s.attrs<FusedDrawAttrs>();
  const Expr* e = expr_in(a.expression.arg());
  if (!e || e->row())
    s.bad_value("expression", a.expression.arg().text(),
                "one that the pass which draws inside made");
  if (static_cast<size_t>(s.inputs()) != e->inputs())
    s.bad_value("inputs", cat(s.inputs(), " tensors"), cat(e->inputs()));
  if (a.position() < 0 || a.position() >= s.inputs())
    s.bad_value("position", cat(a.position()), cat("0 to ", s.inputs() - 1));
  auto at = static_cast<int>(a.position());
  if (s.dtype(at) != uint64 || !s.shape(at).compatible(Shape{3})) s.bad_shape(at, "uint64[3]");
  DType dtype = drawn_dtype(*e, static_cast<size_t>(at));
  if (!kFloats.has(dtype) || !a.shape().is_full())
    s.bad_value("shape", a.shape().text(), "that of floats to draw");
  auto drawn = make_ref<TensorRep>(dtype, a.shape(), nullptr);
  drawn->op = s.op().name.c_str();
  Tensors in;
  for (int i = 0; i < s.inputs(); ++i) in.push_back(i == at ? Tensor(drawn) : s.input(i));
  Attrs what{a.expression.arg()};
  Infer types(fused_op(), in, what);
  e->infer(types);
  for (size_t i = 0; i < types.dtypes.size(); ++i) {
    if (types.shapes[i] != a.shape())
      s.bad_value("shape", a.shape().text(), cat("that of the results, ", types.shapes[i].text()));
    s.output(types.dtypes[i], types.shapes[i]);
  }
}

class Drawing final : public BlockMaker {
 public:
  Drawing(const uint64_t* stream, bool normal, DType dtype)
      : begin_{stream[0], stream[1], stream[2]},
        normal_(normal),
        dtype_(dtype),
        a_block_(dtype == float64 ? 2 : 4) {}

  void make(int64_t begin, int64_t count, void* to) const override {
    Philox gen = begin_;
    gen.skip(static_cast<uint64_t>(begin / a_block_));
    normal_ ? normal_into(gen, dtype_, to, count) : uniform_into(gen, dtype_, to, count);
  }

 private:
  Philox begin_;
  bool normal_;
  DType dtype_;
  int64_t a_block_;  // numbers that one step of the generator gives
};

Status run_fused_draw(Call& c) {
  const Expr& e = expression(c.attrs());
  size_t drawn = position(c.attrs());
  InlineVector<Tensor, 8> in, out;
  for (int i = 0; i < c.inputs(); ++i)
    in.push_back(static_cast<size_t>(i) == drawn ? Tensor() : c.in(i));
  Where asked = here();
  for (int i = 0; i < c.outputs(); ++i) {
    set_site(e.where_of(static_cast<size_t>(i)));
    out.push_back(c.out(i));
  }
  set_site(asked);
  auto a = c.attrs<FusedDrawAttrs>();
  Drawing numbers(c.in(static_cast<int>(drawn)).raw<uint64_t>(), a.numbers() == "normal",
                  drawn_dtype(e, drawn));
  cpu_program(e).run({in.data(), in.size()}, {out.data(), out.size()}, a.shape(),
                     {static_cast<int>(drawn), &numbers});
  return {};
}

// An input whose memory the first output may take.
int overwritten(const OpDef&, const Attrs& attrs) {
  const Expr& e = expression(attrs);
  for (size_t i = 0; i < e.inputs(); ++i)
    if (i != position(attrs) && cpu_program(e).may_overwrite(0, i)) return static_cast<int>(i);
  return -1;
}

const Op fused_draw =
    RAW_OP(FusedDraw)
        .inputs("inputs: any*~")
        .attr("expression")
        .attr("position")
        .attr("numbers")
        .attr("shape")
        .attrs<&FusedDrawAttrs::expression, &FusedDrawAttrs::position, &FusedDrawAttrs::numbers,
               &FusedDrawAttrs::shape>()
        .dtypes(kPlain, "any")
        .infer(infer_fused_draw)
        .no_gradient()
        .overwrites(overwritten)
        .doc(
            "Several elementwise ops as one, over random numbers that are drawn in the same loop. "
            "Graphs hold it after they were optimised.")
        .kernel("blocks", run_fused_draw);

std::unordered_map<const OpDef*, InsideLoops>& said() {
  static auto& all = *new std::unordered_map<const OpDef*, InsideLoops>;
  return all;
}

}  // namespace

DrawnInsideLoops::DrawnInsideLoops(const OpDef& op, InsideLoops how) { said().emplace(&op, how); }

const InsideLoops* inside_loops(const OpDef& op) {
  auto it = said().find(&op);
  return it == said().end() ? nullptr : &it->second;
}

void store_stream(const Philox& gen, const Tensor& out) {
  auto* to = out.mutable_raw<uint64_t>();
  to[0] = gen.counter_lo;
  to[1] = gen.counter_hi;
  to[2] = gen.key;
}

const OpDef& fused_draw_op() { return fused_draw.def(); }

Attrs fused_draw_attrs(Ref<Expr> expression, size_t position, Numbers numbers, const Shape& shape) {
  return {Arg(Ref<RefCounted>(std::move(expression))), Arg(static_cast<int64_t>(position)),
          Arg(numbers == Numbers::kNormal ? "normal" : "uniform"), Arg(shape)};
}

}  // namespace holdfast::random
