// Lists with folds as machine code over rows, against the loops, bit for bit.
#include <gtest/gtest.h>

#include "holdfast/base/text.h"
#include "holdfast/expr/jit/code.h"
#include "holdfast/op/op.h"
#include "tests/expr/awkward_numbers.h"

namespace holdfast {
namespace {

// A list over rows, written down value by value.
class Rows {
 public:
  Rows(int64_t rows, int64_t row) : domain_{rows, row} { expr_->set_rows(domain_, row); }

  int full(DType d, Shape shape) {
    shapes_.push_back(std::move(shape));
    return expr_->input(d);
  }
  int full(DType d) { return full(d, domain_); }
  int per_row(DType d) {
    shapes_.push_back({domain_[0], 1});
    return expr_->input(d, true);
  }
  int fold(const char* name, int v) {
    const OpDef& op = *find_op(name);
    Attrs attrs;
    for (const AttrDef& a : op.attrs) attrs.push_back(a.default_value);
    op.attr(attrs, "keep_dims") = Arg(true);
    return expr_->fold(v, op, attrs, {}, Tensor::scalar(int64_t{1}, int64));
  }
  int op(Scalar s, std::initializer_list<int> in, bool per_row = false) {
    std::vector<int> operands(in);
    return expr_->add(*find_op("Neg"), {}, {}, {.does = Does::kScalar, .scalar = s, .numbers = {}},
                      operands, info(s).boolean ? DType::kBool : expr_->dtype(operands[0]),
                      per_row);
  }
  int scaled(int v, float by, bool per_row = false) {
    FusedForm form{Does::kScalar, Scalar::kMul, {}};
    form.numbers.push_back(Tensor::scalar(by, expr_->dtype(v)));
    return expr_->add(*find_op("Neg"), {}, {}, form, {&v, 1}, expr_->dtype(v), per_row);
  }
  void store(int v) { expr_->store(v); }

  const Expr& expr() const { return *expr_; }
  const Shape& domain() const { return domain_; }
  const std::vector<Shape>& inputs() const { return shapes_; }
  std::vector<Shape> outputs() const {
    std::vector<Shape> out;
    for (size_t i = 0; i < expr_->stores().size(); ++i)
      out.push_back(expr_->per_row(i) ? Shape{domain_[0], 1} : domain_);
    return out;
  }
  DType dtype_of_input(size_t i) const {
    for (const Expr::Value& v : expr_->values())
      if (v.input == static_cast<int>(i)) return v.dtype;
    return DType::kInvalid;
  }

 private:
  Shape domain_;
  Ref<Expr> expr_ = make_ref<Expr>();
  std::vector<Shape> shapes_;
};

// A tensor some elements behind a boundary, with the elements of `t`.
Tensor moved(const Tensor& t, int64_t by) {
  int64_t cell = size_of(t.dtype());
  Tensor out = view_of(empty(t.dtype(), Shape{t.size() + by}, cpu()), t.shape(), by * cell);
  std::memcpy(out.mutable_raw(), t.raw(), static_cast<size_t>(t.size() * cell));
  return out;
}

class JitRows : public testing::Test {
 protected:
  void SetUp() override {
    if (const char* why = jit::unavailable()) GTEST_SKIP() << why;
  }
};

// `tame`: of numbers near one, so that sums are not all infinite.
void compare(const Rows& list, const std::string& what, uint64_t seed, bool tame = false) {
  const Expr& e = list.expr();
  auto loops = make_ref<CpuProgram>(e), code = make_ref<CpuProgram>(e, CpuProgram::By::kCode);
  ASSERT_TRUE(code->has_code()) << what;
  std::mt19937_64 random(seed);
  Tensors in;
  for (size_t i = 0; i < list.inputs().size(); ++i) {
    const Shape& shape = list.inputs()[i];
    Tensor t = awkward_numbers(list.dtype_of_input(i), shape.size(), random);
    if (tame)
      visit_plain(t.dtype(), [&]<class T>(T) {
        if constexpr (std::is_floating_point_v<T>)
          for (int64_t k = 0; k < t.size(); ++k)
            t.mutable_raw<T>()[k] = static_cast<T>(std::normal_distribution<double>(0, 1)(random));
      });
    in.push_back(view_of(t, shape));
  }
  std::span<const Tensor> operands(in.data(), in.size());
  std::vector<Shape> shapes = list.outputs();
  Tensors want = results(*loops, e, operands, list.domain(), shapes);
  Tensors got = results(*code, e, operands, list.domain(), shapes);
  for (size_t i = 0; i < want.size(); ++i) {
    int64_t at = first_difference(want[i], got[i]);
    EXPECT_EQ(at, -1) << what << ", output " << i << ": " << number_at(got[i], at) << " by code, "
                      << number_at(want[i], at) << " by loops";
  }
  // From any address to any address.
  for (Tensor& t : in) t = moved(t, 1);
  for (Tensor& t : got) t = moved(t, 3);
  code->run({in.data(), in.size()}, {got.data(), got.size()}, list.domain());
  for (size_t i = 0; i < want.size(); ++i)
    EXPECT_EQ(first_difference(want[i], got[i]), -1) << what << ", output " << i << ", moved";
}

const char* const kFolds[] = {"Sum", "Mean", "Max", "Min", "Prod"};

std::vector<int64_t> lengths() {
  std::vector<int64_t> out;
  for (int64_t n = 1; n <= 70; ++n) out.push_back(n);
  for (int64_t n : {96, 127, 128, 129, 200, 255, 257, 1000, 1023, 1024, 1025, 1100, 2047, 2048,
                    3000, 4033, 4095, 4096})
    out.push_back(n);
  return out;
}

TEST_F(JitRows, FoldsGiveTheBitsOfTheLoops) {
  for (DType d : {float32, float64})
    for (const char* name : kFolds)
      for (int64_t n : lengths())
        for (bool tame : {false, true}) {
          Rows list(3, n);
          list.store(list.fold(name, list.full(d)));
          compare(list, cat(name, " of rows of ", n, " of ", holdfast::name(d)),
                  static_cast<uint64_t>(n), tame);
        }
}

TEST_F(JitRows, FoldsOfIntegersGiveTheBitsOfTheLoops) {
  for (DType d : {int32, int64})
    for (const char* name : {"Sum", "Prod", "Max", "Min"})
      for (int64_t n : lengths()) {
        if (d == int64 && name == std::string("Prod")) continue;  // AVX2 multiplies none
        Rows list(3, n);
        int x = list.full(d), f = list.fold(name, x);
        list.store(list.op(Scalar::kSub, {x, f}));
        list.store(f);
        compare(list, cat(name, " of rows of ", n, " of ", holdfast::name(d)),
                static_cast<uint64_t>(n));
      }
}

TEST_F(JitRows, FoldsOfWhatIsComputedGiveTheBitsOfTheLoops) {
  for (DType d : {float32, float64})
    for (const char* name : kFolds)
      for (int64_t n : {5, 16, 33, 64, 100, 130, 1000, 1025, 2600}) {
        Rows list(5, n);
        int x = list.full(d), e = list.op(Scalar::kExp, {x}), f = list.fold(name, e);
        list.store(list.op(Scalar::kDiv, {e, f}));
        list.store(f);
        compare(list, cat(name, " of exp of rows of ", n), static_cast<uint64_t>(n), true);
        compare(list, cat(name, " of exp of rows of ", n), static_cast<uint64_t>(n));
      }
}

// Several folds in one loop, more arrays than registers, values in 64 bits beside those in 32.
TEST_F(JitRows, ManyFoldsInOneLoop) {
  for (int64_t n : {40, 64, 1000, 1024}) {
    Rows list(4, n);
    int x = list.full(float32), y = list.full(float32), g = list.full(float32, {n});
    std::vector<int> folded;
    for (const char* name : kFolds) folded.push_back(list.fold(name, x));
    int wide = list.op(Scalar::kErfc, {y});  // computed in double
    folded.push_back(list.fold("Sum", wide));
    folded.push_back(list.fold("Max", list.op(Scalar::kMul, {y, g})));
    int all = list.op(Scalar::kMul, {wide, g});
    for (int f : folded) {
      all = list.op(Scalar::kSub, {all, f});
      list.store(f);
    }
    list.store(all);
    list.store(list.op(Scalar::kLess, {x, folded[1]}));
    list.store(list.op(Scalar::kGreater, {folded[0], folded[1]}, true));
    compare(list, cat("many folds of rows of ", n), static_cast<uint64_t>(n), true);
  }
}

// Comparing folds take the most registers for themselves.
TEST_F(JitRows, ManyFoldsOfOneValue) {
  for (DType d : {float32, float64})
    for (int64_t n : {33, 256}) {
      Rows list(3, n);
      int x = list.scaled(list.full(d), 1.5f);
      std::vector<int> folded;
      for (int i = 0; i < 6; ++i) folded.push_back(list.fold(i % 2 ? "Max" : "Min", x));
      int all = x;
      for (int f : folded) all = list.op(Scalar::kSub, {list.scaled(all, 0.5f), f});
      list.store(all);
      compare(list, cat("six extremes of rows of ", n), static_cast<uint64_t>(n), true);
    }
}

Rows normalised(int64_t rows, int64_t n, DType d, bool again) {
  Rows list(rows, n);
  int x = list.full(d), g = list.full(d, {n}), s = list.per_row(d);
  int c = list.op(Scalar::kSub, {x, list.fold("Mean", x)});
  int v = list.fold("Mean", list.op(Scalar::kMul, {c, c}));
  int r = list.op(Scalar::kRsqrt, {list.op(Scalar::kAdd, {v, s}, true)}, true);
  r = list.scaled(r, 0.75f, true);
  int y = list.op(Scalar::kMul, {list.op(Scalar::kMul, {list.scaled(c, 1.5f), r}), g});
  if (again) y = list.op(Scalar::kSub, {y, list.fold("Max", list.op(Scalar::kTanh, {y}))});
  list.store(y);
  return list;
}

TEST_F(JitRows, FoldsOfFoldsGiveTheBitsOfTheLoops) {
  for (DType d : {float32, float64})
    for (int64_t n : {1, 7, 48, 64, 100, 257, 1024, 2000})
      for (bool again : {false, true})
        compare(normalised(37, n, d, again), cat("rows of ", n, " normalised"),
                static_cast<uint64_t>(n), true);
}

TEST_F(JitRows, OutputsMayTakeTheMemoryOfInputs) {
  for (int64_t n : {30, 1024}) {
    // The output is written while its input is still to be read by a later loop.
    Rows early(9, n);
    int x = early.full(float32), f = early.fold("Sum", x), t = early.op(Scalar::kTanh, {x});
    early.store(early.op(Scalar::kExp, {x}));
    early.store(early.op(Scalar::kMul, {t, f}));
    for (const Rows& list : {normalised(9, n, float32, true), early}) {
      const Expr& e = list.expr();
      auto loops = make_ref<CpuProgram>(e), code = make_ref<CpuProgram>(e, CpuProgram::By::kCode);
      ASSERT_TRUE(code->has_code());
      std::mt19937_64 random(1);
      Tensors in, shared;
      for (size_t i = 0; i < list.inputs().size(); ++i) {
        in.push_back(
            view_of(awkward_numbers(float32, list.inputs()[i].size(), random), list.inputs()[i]));
        shared.push_back(moved(in[i], 0));
      }
      std::vector<Shape> shapes = list.outputs();
      Tensors want = results(*loops, e, {in.data(), in.size()}, list.domain(), shapes), got;
      for (size_t i = 0; i < shapes.size(); ++i)
        got.push_back(i == 0 ? shared[0] : empty(float32, shapes[i], cpu()));
      ASSERT_TRUE(loops->may_overwrite(0, 0));
      code->run({shared.data(), shared.size()}, {got.data(), got.size()}, list.domain());
      for (size_t i = 0; i < want.size(); ++i)
        EXPECT_EQ(first_difference(want[i], got[i]), -1) << "output " << i << ", rows of " << n;
    }
  }
}

}  // namespace
}  // namespace holdfast
