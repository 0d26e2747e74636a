// Expressions made at random, with inputs for them: elementwise ops, casts, choices, broadcasts,
// several outputs and, where asked for, rows that are folded.
#pragma once

#include <array>
#include <random>
#include <string_view>
#include <vector>

#include "holdfast/expr/cpu/fold_table.h"
#include "holdfast/expr/fused.h"
#include "holdfast/op/op.h"
#include "holdfast/tensor/visit.h"

namespace holdfast {

struct RandomList {
  Ref<Expr> expr;
  Tensors in;  // on the CPU
  Shape domain;
  std::vector<Shape> shapes;  // of the outputs
};

/// Numbers in [-2, 2), or whole ones in [-20, 20); never 0 where the dtype has no sign.
inline Tensor random_numbers(DType d, const Shape& shape, std::mt19937_64& random) {
  Tensor t = empty(d, shape, cpu());
  visit_plain(d, [&]<class T>(T) {
    for (int64_t i = 0, n = t.size(); i < n; ++i) {
      double x = std::uniform_real_distribution<double>(-2, 2)(random);
      if constexpr (std::is_same_v<T, bool>)
        t.mutable_raw<T>()[i] = x > 0;
      else if constexpr (std::is_integral_v<T>)
        t.mutable_raw<T>()[i] =
            static_cast<T>(std::is_signed_v<T> ? int(10 * x) : int(10 * x + 25));
      else if constexpr (is_complex_v<T>)
        t.mutable_raw<T>()[i] = T(static_cast<typename T::value_type>(x), 0.5f);
      else
        t.mutable_raw<T>()[i] = T(static_cast<float_of<T>>(x));
    }
  });
  return t;
}

/// `ops`: those it may use, each of a scalar instruction. `tame`: compares and makes whole only
/// what is the same on every device, so that functions that differ in the last digits give nearly
/// the same.
class ListMaker {
 public:
  ListMaker(uint64_t seed, bool rows, bool tame, std::vector<const OpDef*> ops)
      : random_(seed), tame_(tame), ops_(std::move(ops)) {
    out_.expr = make_ref<Expr>();
    out_.domain = pick_domain(rows);
    if (rows) out_.expr->set_rows(out_.domain, row_);
  }

  RandomList make() {
    int inputs = 2 + below(4);
    for (int i = 0; i < inputs; ++i) add_input();
    int steps = 3 + below(12);
    for (int i = 0; i < steps; ++i) add_instruction();
    // The last value, and others now and then.
    if (made_.empty()) add_first();
    for (size_t k = made_.size(); k-- > 0;)
      if (k + 1 == made_.size() || below(6) == 0) store(made_[k]);
    return std::move(out_);
  }

 private:
  struct Known {
    int value;
    DType dtype;
    bool per_row;
    bool full;   // has the shape of the domain, or an element a row
    bool given;  // an input, or of whole numbers: the same on every device
  };

  int below(int n) { return static_cast<int>(random_() % static_cast<uint64_t>(n)); }

  Shape pick_domain(bool rows) {
    constexpr int64_t kRows[] = {8, 24, 31, 64, 100, 257, 1000, 4096};
    constexpr int64_t kSizes[] = {1, 3, 7, 130, 1025, 9000};
    if (rows) {
      row_ = kRows[below(8)];
      int64_t outer = 1 + below(9);
      // Rows of several axes too.
      return row_ % 4 == 0 && below(2) ? Shape{outer, 2, 4, row_ / 4} : Shape{outer, 2, row_};
    }
    return below(2) ? Shape{kSizes[below(6)]} : Shape{1 + below(5), 1 + below(7), kSizes[below(5)]};
  }

  // The domain with its rows as single elements.
  Shape row_shape() const {
    Dims dims(out_.domain.dims());
    int64_t size = 1;
    for (size_t i = dims.size(); size < row_;) {
      size *= dims[--i];
      dims[i] = 1;
    }
    return Shape(dims);
  }

  void add_input() {
    constexpr DType kTypes[] = {float32, float32, float32, float16, bfloat16,
                                float64, int32,   int64,   boolean, uint8};
    bool first = known_.empty(), per_row = !first && row_ && below(4) == 0;
    DType d = first ? float32 : kTypes[below(10)];
    Shape shape = per_row ? row_shape() : out_.domain;
    if (int kind = below(4); !first && !per_row && kind < 2) {  // one number, or along some axes
      Dims dims;
      for (int i = below(out_.domain.rank()); kind && i < out_.domain.rank(); ++i)
        dims.push_back(below(2) ? out_.domain[i] : 1);
      shape = Shape(dims);
    }
    out_.in.push_back(random_numbers(d, shape, random_));
    bool full = per_row || shape == out_.domain;
    known_.push_back({out_.expr->input(d, per_row), d, per_row, full, true});
  }

  // One that is known, of a dtype where one is asked for; -1: none.
  int pick(DType d = DType::kInvalid, bool given = false) {
    std::vector<int> fitting;
    for (size_t i = 0; i < known_.size(); ++i)
      if ((d == DType::kInvalid || known_[i].dtype == d) && (!given || known_[i].given))
        fitting.push_back(static_cast<int>(i));
    if (fitting.empty()) return -1;
    // Late ones more often, so that chains grow.
    size_t k = below(2) ? fitting.size() - 1 -
                              static_cast<size_t>(below(std::min<int>(3, int(fitting.size()))))
                        : static_cast<size_t>(below(static_cast<int>(fitting.size())));
    return fitting[k];
  }

  void add_instruction() {
    int kind = below(10);
    if (row_ && kind < 3) return add_fold();
    if (kind == 3) return add_cast();
    if (kind == 4) return add_select();
    add_scalar();
  }

  void add_first() {
    const OpDef& op = *find_op("Neg");
    add(op, {}, {.does = Does::kScalar, .scalar = op.scalar, .numbers = {}}, std::array{0},
        float32);
  }

  const Known& at(int i) const { return known_[static_cast<size_t>(i)]; }

  void add_scalar() {
    const OpDef& op = *ops_[static_cast<size_t>(below(static_cast<int>(ops_.size())))];
    bool compares = info(op.scalar).boolean;
    int first = pick(DType::kInvalid, tame_ && compares);
    if (first < 0) return;
    DType d = at(first).dtype;
    InlineVector<DType, 3> dtypes;
    InlineVector<int, 3> from;
    for (size_t i = 0; i < op.inputs.size(); ++i) {
      int k = i ? pick(d, tame_ && compares) : first;
      from.push_back(k);
      dtypes.push_back(d);
    }
    if (!op.inputs[0].dtypes.has(d)) return;
    Attrs attrs;
    for (const AttrDef& a : op.attrs) attrs.push_back(a.default_value);
    const char* why = nullptr;
    DType out = compares ? DType::kBool : d;
    auto form = fused_form(op, attrs, dtypes, out, why);
    if (form) add(op, attrs, *form, from, out);
  }

  void add_cast() {
    constexpr DType kTypes[] = {float32, float64, float16, bfloat16, int32, int64, boolean, int8};
    DType to = kTypes[below(8)];
    int k = pick(DType::kInvalid, tame_ && !is_floating(to));
    if (k < 0 || at(k).dtype == to) return;
    const OpDef& op = *find_op("Cast");
    DType from[] = {at(k).dtype};
    int operand[] = {k};
    Attrs attrs{Arg(to), Arg(false)};
    const char* why = nullptr;
    if (auto form = fused_form(op, attrs, from, to, why)) add(op, attrs, *form, operand, to);
  }

  void add_select() {
    int c = pick(DType::kBool), t = pick();
    if (c < 0) return;
    int e = pick(at(t).dtype);
    DType dtypes[] = {DType::kBool, at(t).dtype, at(e).dtype};
    int operands[] = {c, t, e};
    const char* why = nullptr;
    const OpDef& op = *find_op("SelectV2");
    if (auto form = fused_form(op, {}, dtypes, at(t).dtype, why))
      add(op, {}, *form, operands, at(t).dtype);
  }

  void add_fold() {
    const char* names[] = {"Sum", "Mean", "Max", "Min", "Prod", "EuclideanNorm"};
    const OpDef* op = find_op(names[below(tame_ ? 4 : 6)]);
    int k = pick();
    if (!op || !op->fold || at(k).dtype == DType::kBool || at(k).per_row || !at(k).full ||
        !fold_loops(*op->fold, at(k).dtype).rows)
      return;
    // The trailing axes that make a row.
    Dims axes;
    int64_t size = 1;
    for (int i = out_.domain.rank() - 1; size < row_; --i) {
      axes.push_back(i);
      size *= out_.domain[i];
    }
    Tensor t = empty(int64, Shape{static_cast<int64_t>(axes.size())}, cpu());
    for (size_t i = 0; i < axes.size(); ++i) t.mutable_raw<int64_t>()[i] = axes[i];
    Attrs attrs;
    for (const AttrDef& a : op->attrs) attrs.push_back(a.default_value);
    op->attr(attrs, "keep_dims") = Arg(true);  // so that it broadcasts along its row again
    int v = out_.expr->fold(at(k).value, *op, attrs, {}, t);
    remember({v, at(k).dtype, true, true, at(k).given && !is_floating(at(k).dtype)});
  }

  // One over values that are known, unless none of them has the shape of the result.
  void add(const OpDef& op, const Attrs& attrs, const FusedForm& form, std::span<const int> from,
           DType out) {
    bool per_row = true, full = false, given = !is_floating(out);
    InlineVector<int, 3> operands;
    for (int k : from) {
      operands.push_back(at(k).value);
      per_row = per_row && at(k).per_row;
      given = given && at(k).given;
    }
    for (int k : from) full = full || (at(k).full && at(k).per_row == per_row);
    if (full)
      remember(
          {out_.expr->add(op, attrs, {}, form, operands, out, per_row), out, per_row, true, given});
  }

  void remember(const Known& k) {
    known_.push_back(k);
    made_.push_back(k);
  }

  void store(const Known& k) {
    out_.expr->store(k.value);
    out_.shapes.push_back(k.per_row ? row_shape() : out_.domain);
  }

  std::mt19937_64 random_;
  bool tame_;
  std::vector<const OpDef*> ops_;
  RandomList out_;
  int64_t row_ = 0;
  std::vector<Known> known_, made_;
};

}  // namespace holdfast
