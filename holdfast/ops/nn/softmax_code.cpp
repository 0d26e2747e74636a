// The steps of softmax as one list over rows, of which machine code is made.
#include "holdfast/ops/nn/softmax_code.h"

#include "holdfast/expr/cpu_program.h"
#include "holdfast/expr/jit/code.h"
#include "holdfast/op/op.h"

namespace holdfast {
namespace {

constexpr int64_t kLongest = 1024;     // elements of a row that the loops add up in one block
constexpr int64_t kWorthIt = 1 << 18;  // elements in all: emitting takes what they take

class SoftmaxCode final : public Prepared {
 public:
  SoftmaxCode(DType d, int64_t n) {
    list_->set_rows({1, n}, n);
    int x = list_->input(d);
    int e = apply("Exp", {apply("Sub", {x, fold("Max", x)})});
    int scale = apply("Reciprocal", {fold("Sum", e)}, true);
    list_->store(apply("Mul", {e, scale}));
    program_ = make_ref<const CpuProgram>(*list_, CpuProgram::By::kCode);
  }
  const CpuProgram& program() const { return *program_; }

 private:
  int apply(const char* name, std::initializer_list<int> in, bool per_row = false) {
    const OpDef& op = *find_op(name);
    return list_->add(op, {}, {}, {.does = Does::kScalar, .scalar = op.scalar, .numbers = {}},
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

}  // namespace

Preparation prepare_softmax_code(const Types& t) {
  const Shape& shape = t.shape();
  if (const char* why = jit::unavailable()) return why;
  if (shape.size() < kWorthIt) return "few elements";
  if (shape[-1] > kLongest) return "long rows";
  auto made = make_ref<SoftmaxCode>(t.dtype(), shape[-1]);
  if (!made->program().has_code()) return "no machine code";
  return made;
}

Status run_softmax_code(Call& c, const Prepared& prepared) {
  const CpuProgram& program = static_cast<const SoftmaxCode&>(prepared).program();
  program.run({&c.in(), 1}, {&c.out(), 1}, c.in().shape());
  return {};
}

}  // namespace holdfast
