// The CPU's program of a list against an interpreter that walks the list once, instruction by
// instruction.
#include <gtest/gtest.h>

#include <cstring>

#include "holdfast/base/text.h"
#include "holdfast/expr/cpu_program.h"
#include "tests/expr/random_list.h"

namespace holdfast {
namespace {

// Every value of the list as bytes, one instruction after another: no blocks, no memory that values
// share, every operand written out.
class Interpreter {
 public:
  Interpreter(const Expr& e, std::span<const Tensor> in, const Shape& domain)
      : e_(e), domain_(domain), bytes_(e.values().size()) {
    for (size_t v = 0; v < bytes_.size(); ++v) {
      const Expr::Value& value = e.values()[v];
      if (value.input >= 0) spread(v, in[static_cast<size_t>(value.input)]);
      if (value.number.defined() && !value.aside) spread(v, value.number);
    }
    for (const Instruction& k : e.code()) run(k);
  }

  const std::vector<char>& output(size_t i) const {
    return bytes_[static_cast<size_t>(e_.stores()[i])];
  }

 private:
  const Expr::Value& value(int v) const { return e_.values()[static_cast<size_t>(v)]; }
  int64_t count(int v) const {
    return value(v).per_row ? domain_.size() / e_.row() : domain_.size();
  }
  // An operand with an element for each of the domain, or for each row.
  void spread(size_t v, const Tensor& t) {
    int64_t n = count(static_cast<int>(v)), cell = size_of(t.dtype());
    bytes_[v].resize(static_cast<size_t>(n * cell));
    for (int64_t i = 0; i < n; ++i) {
      int64_t from = value(static_cast<int>(v)).per_row ? (t.size() == 1 ? 0 : i) : offset(t, i);
      std::memcpy(bytes_[v].data() + i * cell, static_cast<const char*>(t.raw()) + from * cell,
                  static_cast<size_t>(cell));
    }
  }
  int64_t offset(const Tensor& t, int64_t i) const {
    int64_t at = 0, stride = 1;
    for (int k = 1; k <= domain_.rank(); ++k) {
      int64_t index = i % domain_[-k], own = k <= t.rank() ? t.dim(-k) : 1;
      i /= domain_[-k];
      if (own > 1) at += index * stride;
      stride *= own;
    }
    return at;
  }

  // A value with an element for each of the domain, or for each row where that is asked for.
  const void* along(int v, bool per_row, std::vector<char>& room) const {
    const std::vector<char>& own = bytes_[static_cast<size_t>(v)];
    if (!value(v).per_row || per_row) return own.data();
    int64_t cell = size_of(value(v).dtype);
    for (int64_t i = 0; i < domain_.size(); ++i) {
      auto at = own.begin() + i / e_.row() * cell;
      room.insert(room.end(), at, at + cell);
    }
    return room.data();
  }

  void run(const Instruction& k) {
    bool per_row = value(k.result).per_row && k.does != Does::kFold;
    DType from = value(k.operands[0]).dtype, to = value(k.result).dtype;
    int64_t n = count(k.result), cell = size_of(to);
    std::vector<char>& result = bytes_[static_cast<size_t>(k.result)];
    result.resize(static_cast<size_t>(n * cell));
    const void* in[3] = {};
    std::vector<char> room[3];
    for (size_t o = 0; o < k.operands.size(); ++o)
      if (!value(k.operands[o]).aside) in[o] = along(k.operands[o], per_row, room[o]);
    switch (k.does) {
      case Does::kScalar: loop_for(k.scalar, from)(in, result.data(), n); break;
      case Does::kCast: cast_loop(from, to)(in, result.data(), n); break;
      case Does::kSelect:
        for (int64_t i = 0; i < n; ++i) {
          bool first = static_cast<const bool*>(in[0])[i];
          std::memcpy(result.data() + i * cell,
                      static_cast<const char*>(in[first ? 1 : 2]) + i * cell,
                      static_cast<size_t>(cell));
        }
        break;
      case Does::kSame: std::memcpy(result.data(), in[0], result.size()); break;
      case Does::kFold:
        for (int64_t r = 0; r < n; ++r) {
          alignas(16) char one[16];
          const FoldLoops& f = fold_loops(k.fold, from);
          f.rows(static_cast<const char*>(in[0]) + r * e_.row() * size_of(from), 1, e_.row(),
                 e_.row(), one);
          f.finish(one, 1, e_.row(), result.data() + r * cell);
        }
        break;
    }
  }

  const Expr& e_;
  Shape domain_;
  std::vector<std::vector<char>> bytes_;
};

// Runs both and compares bits.
void check(const RandomList& list, const std::string& what) {
  Tensors out;
  for (size_t i = 0; i < list.shapes.size(); ++i)
    out.push_back(empty(list.expr->dtype(list.expr->stores()[i]), list.shapes[i], cpu()));
  std::span<const Tensor> in(list.in.data(), list.in.size());
  cpu_program(*list.expr).run(in, {out.data(), out.size()}, list.domain);
  Interpreter wanted(*list.expr, in, list.domain);
  for (size_t i = 0; i < out.size(); ++i) {
    const std::vector<char>& want = wanted.output(i);
    ASSERT_EQ(static_cast<size_t>(out[i].bytes()), want.size()) << what;
    ASSERT_EQ(std::memcmp(out[i].raw(), want.data(), want.size()), 0)
        << what << ", output " << i << ": " << list.expr->text();
  }
}

// Whether an element is the same wherever in a loop it stands: compilers may round the ends of
// loops, which are not done in vectors, in another way.
bool same_at_ends(Scalar s, DType d) {
  std::mt19937_64 random(8);
  constexpr int64_t kCount = 64;
  Loop loop = loop_for(s, d);
  Tensor in[3], together = empty(info(s).boolean ? boolean : d, {kCount}, cpu());
  const void* all[3];
  for (int i = 0; i < 3; ++i) all[i] = (in[i] = random_numbers(d, {kCount}, random)).raw();
  loop(all, together.mutable_raw(), kCount);
  for (int64_t i = 0; i < kCount; ++i) {
    int64_t cell = size_of(together.dtype());
    alignas(16) char alone[16];
    const void* one[3];
    for (int k = 0; k < 3; ++k) one[k] = static_cast<const char*>(all[k]) + i * size_of(d);
    loop(one, alone, 1);
    if (std::memcmp(alone, static_cast<const char*>(together.raw()) + i * cell,
                    static_cast<size_t>(cell)))
      return false;
  }
  return true;
}

std::vector<const OpDef*> scalar_ops() {
  std::vector<const OpDef*> out;
  for (const OpDef* op : all_ops()) {
    if (!op->elementwise || !op->attrs.empty() ||
        op->inputs.size() != static_cast<size_t>(info(op->scalar).arity))
      continue;
    bool steady = true;
    for (DType d : {float32, float64, float16, bfloat16})
      steady = steady && (!loop_for(op->scalar, d) || same_at_ends(op->scalar, d));
    if (steady) out.push_back(op);
  }
  return out;
}

constexpr DType kEach[] = {float32,
                           float64,
                           float16,
                           bfloat16,
                           int8,
                           int16,
                           int32,
                           int64,
                           uint8,
                           uint16,
                           uint32,
                           uint64,
                           boolean,
                           DType::kComplex64,
                           DType::kComplex128};

// One instruction over a full operand and others that broadcast.
TEST(CpuProgram, EachInstructionGivesWhatItGivesAlone) {
  std::mt19937_64 random(5);
  const OpDef& any = *find_op("Neg");
  int lists = 0;
  for (int s = 0; s < kNumScalars; ++s)
    for (DType d : kEach) {
      auto scalar = static_cast<Scalar>(s);
      if (!loop_for(scalar, d)) continue;
      RandomList list{make_ref<Expr>(), {}, Shape{3, 4, 80}, {Shape{3, 4, 80}}};
      const Shape shapes[] = {list.domain, Shape{4, 1}, Shape{}};
      InlineVector<int, 3> operands;
      for (int i = 0; i < info(scalar).arity; ++i) {
        list.in.push_back(random_numbers(d, shapes[i], random));
        operands.push_back(list.expr->input(d));
      }
      DType out = info(scalar).boolean ? DType::kBool : d;
      list.expr->store(list.expr->add(
          any, {}, {}, {.does = Does::kScalar, .scalar = scalar, .numbers = {}}, operands, out));
      check(list, cat(info(scalar).name, " ", name(d)));
      ++lists;
    }
  EXPECT_GT(lists, 500);
}

TEST(CpuProgram, EachCastAndChoice) {
  std::mt19937_64 random(6);
  const OpDef& any = *find_op("Neg");
  for (DType from : kEach)
    for (DType to : kEach) {
      RandomList list{make_ref<Expr>(), {}, Shape{9, 333}, {}};
      list.in = {random_numbers(from, list.domain, random),
                 random_numbers(boolean, Shape{333}, random),
                 random_numbers(to, Shape{9, 1}, random)};
      int x = list.expr->input(from), c = list.expr->input(boolean), y = list.expr->input(to);
      if (from != to) {
        int cast[] = {x};
        x = list.expr->add(any, {}, {}, {.does = Does::kCast, .scalar = {}, .numbers = {}}, cast,
                           to);
      }
      int choice[] = {c, x, y};
      list.expr->store(list.expr->add(
          any, {}, {}, {.does = Does::kSelect, .scalar = {}, .numbers = {}}, choice, to));
      list.shapes = {list.domain};
      check(list, cat(name(from), " to ", name(to)));
    }
}

TEST(CpuProgram, EachFold) {
  std::mt19937_64 random(7);
  const OpDef& sum = *find_op("Sum");
  for (int f = 0; f < kNumFolds; ++f)
    for (DType d : kEach) {
      OpDef op(sum);  // an op that folds in this way
      op.fold = static_cast<Fold>(f);
      if (!fold_loops(*op.fold, d).rows) continue;
      for (int64_t row : {8, 65, 1500}) {
        RandomList list{make_ref<Expr>(), {}, Shape{7, row}, {Shape{7}}};
        list.in = {random_numbers(d, list.domain, random)};
        list.expr->set_rows(list.domain, row);
        int x = list.expr->input(d);
        list.expr->store(list.expr->fold(x, op, {}, {}, Tensor::scalar(1, int32)));
        check(list, cat("fold ", f, " ", name(d), " rows of ", row));
      }
    }
}

TEST(CpuProgram, RandomListsGiveWhatAnInterpreterGives) {
  auto ops = scalar_ops();
  EXPECT_GT(ops.size(), 60u);
  for (uint64_t seed = 0; seed < 120; ++seed)
    check(ListMaker(seed, seed % 2, false, ops).make(), cat("seed ", seed));
}

TEST(Expr, ListsThatDifferInNumbersAloneAreTheSameCode) {
  auto ops = scalar_ops();
  for (uint64_t seed = 0; seed < 40; ++seed) {
    RandomList a = ListMaker(seed, seed % 2, false, ops).make(),
               b = ListMaker(seed, seed % 2, false, ops).make(),
               c = ListMaker(seed + 1000, seed % 2, false, ops).make();
    EXPECT_TRUE(a.expr->same_code(*b.expr));
    EXPECT_EQ(a.expr->hash(), b.expr->hash());
    EXPECT_FALSE(a.expr->same_code(*c.expr));
    EXPECT_NE(a.expr->hash(), c.expr->hash());
  }
  const OpDef& op = *find_op("Neg");
  auto with = [&](double number, Scalar scalar) {
    auto e = make_ref<Expr>();
    int x[] = {e->input(float32)};
    FusedForm form{Does::kScalar, scalar, {Tensor::scalar(number, float32)}};
    e->store(e->add(op, {}, {}, form, x, float32));
    return e;
  };
  EXPECT_TRUE(with(2, Scalar::kMul)->same_code(*with(3, Scalar::kMul)));
  EXPECT_EQ(with(2, Scalar::kMul)->hash(), with(3, Scalar::kMul)->hash());
  EXPECT_FALSE(with(2, Scalar::kMul)->same_code(*with(2, Scalar::kAdd)));
}

}  // namespace
}  // namespace holdfast
