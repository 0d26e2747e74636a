// The steps of softmax and of its gradient as lists over rows, of which machine code is made.
#include "holdfast/ops/nn/softmax_code.h"

#include "holdfast/expr/cpu_program.h"
#include "holdfast/expr/jit/code.h"
#include "holdfast/op/op.h"

namespace holdfast {
namespace {

constexpr int64_t kLongest = 1024;     // elements of a row that the loops add up in one block
constexpr int64_t kWorthIt = 1 << 18;  // elements in all: emitting takes what they take

class RowCode final : public Prepared {
 public:
  explicit RowCode(int64_t n) { list_->set_rows({1, n}, n); }

  void softmax(DType d) {
    int x = list_->input(d);
    int e = apply("Exp", {apply("Sub", {x, fold("Max", x)})});
    int scale = apply("Reciprocal", {fold("Sum", e)}, true);
    list_->store(apply("Mul", {e, scale}));
  }
  void gradient(DType d) {
    int dy = list_->input(d), y = list_->input(d);
    // The loops begin their sum with 0, so it is never -0.
    int sum = apply("AddV2", {fold("Sum", apply("Mul", {dy, y}))}, true, {Tensor::scalar(0, d)});
    list_->store(apply("Mul", {apply("Sub", {dy, sum}), y}));
  }
  void make() { program_ = make_ref<const CpuProgram>(*list_, CpuProgram::By::kCode); }
  const CpuProgram& program() const { return *program_; }

 private:
  int apply(const char* name, std::initializer_list<int> in, bool per_row = false,
            InlineVector<Tensor, 2> numbers = {}) {
    const OpDef& op = *find_op(name);
    return list_->add(op, {}, {},
                      {.does = Does::kScalar, .scalar = op.scalar, .numbers = std::move(numbers)},
                      std::vector<int>(in), list_->dtype(*in.begin()), per_row);
  }
  int fold(const char* name, int v) {
    const OpDef& op = *find_op(name);
    Attrs attrs;
    for (const AttrDef& a : op.attrs) attrs.push_back(a.default_value);
    return list_->fold(v, op, attrs, {}, Tensor::scalar(int64_t{-1}, int64));
  }

  Ref<Expr> list_ = make_ref<Expr>();
  Ref<const CpuProgram> program_;
};

Preparation prepare(const Types& t, void (RowCode::*write)(DType)) {
  const Shape& shape = t.out_shape();
  if (const char* why = jit::unavailable()) return why;
  if (shape.size() < kWorthIt) return "few elements";
  if (shape[-1] > kLongest) return "long rows";
  auto made = make_ref<RowCode>(shape[-1]);
  ((*made).*write)(t.dtype());
  made->make();
  if (!made->program().has_code()) return "no machine code";
  return made;
}

}  // namespace

Preparation prepare_softmax_code(const Types& t) { return prepare(t, &RowCode::softmax); }
Preparation prepare_softmax_gradient_code(const Types& t) { return prepare(t, &RowCode::gradient); }

Status run_softmax_code(Call& c, const Prepared& prepared) {
  const CpuProgram& program = static_cast<const RowCode&>(prepared).program();
  Tensors in;
  for (int i = 0; i < c.inputs(); ++i) in.push_back(c.in(i));
  program.run({in.data(), in.size()}, {&c.out(), 1}, c.out().shape());
  return {};
}

}  // namespace holdfast
