// Sets along the last axis of tensors, dense or sparse: what two have in common, what they differ
// in. Results are sparse: the elements of each set in ascending order, each once.
#include <algorithm>
#include <iterator>
#include <vector>

#include "holdfast/base/checked.h"
#include "holdfast/base/text.h"
#include "holdfast/op/op.h"
#include "holdfast/tensor/visit.h"

namespace holdfast {
namespace {

struct SizeAttrs {
  Attr<bool> validate_indices;
};
struct SetAttrs {
  Attr<std::string> set_operation;
  Attr<bool> validate_indices;
};

constexpr DTypes kElements{int8, int16, int32, int64, uint8, uint16, string};

// An operand: its elements, the set that each belongs to, and the shape of all sets together.
struct Operand {
  const Tensor* values = nullptr;
  Dims sets;
  std::vector<int64_t> set_of;
};

Status dense_operand(const Call& c, int at, Operand& to) {
  const Tensor& x = c.in(at);
  if (x.rank() < 2)
    return {Code::E1102, cat(c.op.name, ": `", c.op.inputs[static_cast<size_t>(at)].name,
                             "` is of ", x.shape().text(), ", expected two axes or more")};
  to.values = &x;
  to.sets = Dims(x.shape().dims().begin(), x.shape().dims().end() - 1);
  to.set_of.resize(static_cast<size_t>(x.size()));
  int64_t n = x.dim(-1);
  for (int64_t i = 0; i < x.size(); ++i) to.set_of[static_cast<size_t>(i)] = i / n;
  return {};
}

// Of three inputs: indices, values, shape.
Status sparse_operand(const Call& c, int at, bool in_order, Operand& to) {
  const Tensor &indices = c.in(at), &values = c.in(at + 1), &shape = c.in(at + 2);
  int64_t n = values.size(), rank = shape.size();
  auto wrong = [&](int which, std::string what) {
    const std::string& name = c.op.inputs[static_cast<size_t>(at + which)].name;
    return Status(Code::E1103, cat(c.op.name, ": `", name, "` ", what));
  };
  if (indices.rank() != 2 || indices.dim(0) != n || indices.dim(1) != rank || rank < 2)
    return {Code::E1102, cat(c.op.name, ": indices of ", indices.shape().text(), ", ", n,
                             " values and a shape of ", rank, " axes don't belong together")};
  const auto *sizes = shape.raw<int64_t>(), *place = indices.raw<int64_t>();
  int64_t sets = 1;
  for (int64_t k = 0; k < rank; ++k) {
    if (sizes[k] < 0) return wrong(2, cat("has a size of ", sizes[k]));
    if (k == rank - 1) break;
    auto product = checked_mul(sets, std::max<int64_t>(sizes[k], 1));
    if (!product) return wrong(2, "has more sets than can be counted");
    sets = *product;
  }
  to.values = &values;
  to.sets = Dims(sizes, sizes + rank - 1);
  to.set_of.resize(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) {
    const int64_t* here = place + i * rank;
    int64_t set = 0;
    for (int64_t k = 0; k < rank; ++k) {
      if (here[k] < 0 || here[k] >= sizes[k])
        return wrong(0, cat("has ", here[k], " along axis ", k, ", expected 0 to ", sizes[k] - 1));
      if (k < rank - 1) set = set * sizes[k] + here[k];
    }
    to.set_of[static_cast<size_t>(i)] = set;
    if (in_order && i && !std::lexicographical_compare(here - rank, here, here, here + rank))
      return wrong(0, cat("is not in order at row ", i, ", or has the same place twice"));
  }
  return {};
}

template <class T>
struct Member {
  int64_t set;
  const T* value;
  bool operator<(const Member& o) const { return set != o.set ? set < o.set : *value < *o.value; }
  bool operator==(const Member& o) const { return set == o.set && *value == *o.value; }
};

template <class T>
std::vector<Member<T>> members(const Operand& x) {
  std::vector<Member<T>> all(x.set_of.size());
  for (size_t i = 0; i < all.size(); ++i) all[i] = {x.set_of[i], x.values->raw<T>() + i};
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

template <class F>
void visit_elements(DType d, F&& f) {
  if (d == string) return f(std::string{});
  visit_plain(d, [&]<class T>(T) {
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) f(T{});
  });
}

// -- how many elements there are

void infer_size(Infer& s) {
  s.need_rank(0, 2, 2);
  s.need_rank(1, 1, 1);
  s.need_rank(2, 1, 1);
  auto sizes = s.sizes(2);
  if (!sizes) return s.output(int32, Shape::unknown());
  if (sizes->size() < 2) s.bad_value("set_shape", Shape(*sizes).text(), "two sizes or more");
  Dims sets(sizes->begin(), sizes->end() - 1);
  for (int64_t& size : sets) size = std::max(size, kUnknown);  // the kernel refuses them
  s.output(int32, Shape(sets));
}

Status run_size(Call& c) {
  Operand x;
  if (Status bad = sparse_operand(c, 0, c.attrs<SizeAttrs>().validate_indices(), x); !bad.ok())
    return bad;
  Tensor& out = c.out(0, Shape(x.sets));
  auto* to = out.mutable_raw<int32_t>();
  std::fill_n(to, out.size(), 0);
  visit_elements(x.values->dtype(), [&]<class T>(T) {
    for (const auto& each : members<T>(x)) ++to[each.set];
  });
  return {};
}

const Op size_op = RAW_OP(SetSize)
                       .doc("How many different elements each set has.")
                       .inputs("set_indices: I, set_values: T, set_shape: I")
                       .outputs("size")
                       .dtypes(DTypes{int64}, "I")
                       .dtypes(kElements, "T")
                       .attr("validate_indices", true)
                       .attrs<&SizeAttrs::validate_indices>()
                       .infer(infer_size)
                       .kernel("reference", run_size)
                       .on_host()
                       .no_gradient();

// -- two operands

// What is known of how many axes an operand has.
int64_t dense_rank(const Infer& s, int i) {
  s.need_rank(i, 2, -1);
  return s.shape(i).has_rank() ? s.shape(i).rank() : kUnknown;
}
int64_t sparse_rank(const Infer& s, int i) {
  s.need_rank(i, 2, 2);
  s.need_rank(i + 1, 1, 1);
  s.need_rank(i + 2, 1, 1);
  const Shape &indices = s.shape(i), &shape = s.shape(i + 2);
  int64_t found = shape.has_rank() ? shape[0] : kUnknown;
  if (found < 0 && indices.has_rank()) found = indices[1];
  if (found >= 0 && found < 2) s.bad_shape(i + 2, "two sizes or more");
  return found;
}

void infer_sets(Infer& s, int64_t first, int64_t second, int input) {
  const std::string& what = s.attrs<SetAttrs>().set_operation();
  if (what != "a-b" && what != "b-a" && what != "intersection" && what != "union")
    s.bad_value("set_operation", cat("\"", what, "\""),
                "\"a-b\", \"b-a\", \"intersection\" or \"union\"");
  if (first >= 0 && second >= 0 && first != second)
    s.bad_shape(input, cat(first, " axes, as many as those of the first"));
  int64_t rank = first >= 0 ? first : second;
  s.output(int64, Shape{kUnknown, rank});
  s.output(s.dtype(input), Shape{kUnknown});
  s.output(int64, Shape{rank});
}

void infer_dense(Infer& s) {
  infer_sets(s, dense_rank(s, 0), dense_rank(s, 1), 1);
  const Shape &a = s.shape(0), &b = s.shape(1);
  if (!a.has_rank() || !b.has_rank()) return;
  for (int k = 0; k + 1 < a.rank(); ++k)
    if (a[k] >= 0 && b[k] >= 0 && a[k] != b[k])
      s.bad_shape(1, cat("the sizes of ", a.text(), " but for the last one"));
}
void infer_mixed(Infer& s) { infer_sets(s, dense_rank(s, 0), sparse_rank(s, 1), 2); }
void infer_sparse(Infer& s) { infer_sets(s, sparse_rank(s, 0), sparse_rank(s, 3), 4); }

template <class T>
void write_sets(Call& c, const std::vector<Member<T>>& found, const Dims& sets) {
  auto n = static_cast<int64_t>(found.size()), rank = static_cast<int64_t>(sets.size()) + 1;
  auto* indices = c.out(0, Shape{n, rank}).template mutable_raw<int64_t>();
  auto* values = c.out(1, Shape{n}).template mutable_raw<T>();
  int64_t most = 0, here = 0;
  for (int64_t i = 0; i < n; ++i) {
    const Member<T>& each = found[static_cast<size_t>(i)];
    here = i && found[static_cast<size_t>(i - 1)].set == each.set ? here + 1 : 0;
    most = std::max(most, here + 1);
    int64_t* place = indices + i * rank;
    place[rank - 1] = here;
    int64_t left = each.set;
    for (int64_t k = rank - 2; k >= 0; --k) {
      int64_t size = sets[static_cast<size_t>(k)];
      place[k] = left % size;
      left /= size;
    }
    values[i] = *each.value;
  }
  auto* shape = c.out(2, Shape{rank}).template mutable_raw<int64_t>();
  std::copy(sets.begin(), sets.end(), shape);
  shape[rank - 1] = most;
}

Status run_sets(Call& c, const Operand& a, const Operand& b) {
  if (a.sets != b.sets)
    return {Code::E1102, cat(c.op.name, ": sets of the shape ", Shape(a.sets).text(), " and of ",
                             Shape(b.sets).text(), ", expected the same but for the last axis")};
  const std::string& what = c.attrs<SetAttrs>().set_operation();
  visit_elements(a.values->dtype(), [&]<class T>(T) {
    auto x = members<T>(a), y = members<T>(b);
    std::vector<Member<T>> found;
    auto to = std::back_inserter(found);
    if (what == "a-b")
      std::set_difference(x.begin(), x.end(), y.begin(), y.end(), to);
    else if (what == "b-a")
      std::set_difference(y.begin(), y.end(), x.begin(), x.end(), to);
    else if (what == "intersection")
      std::set_intersection(x.begin(), x.end(), y.begin(), y.end(), to);
    else
      std::set_union(x.begin(), x.end(), y.begin(), y.end(), to);
    write_sets(c, found, a.sets);
  });
  return {};
}

Status run_dense(Call& c) {
  Operand a, b;
  if (Status bad = dense_operand(c, 0, a); !bad.ok()) return bad;
  if (Status bad = dense_operand(c, 1, b); !bad.ok()) return bad;
  return run_sets(c, a, b);
}
Status run_mixed(Call& c) {
  Operand a, b;
  if (Status bad = dense_operand(c, 0, a); !bad.ok()) return bad;
  bool in_order = c.attrs<SetAttrs>().validate_indices();
  if (Status bad = sparse_operand(c, 1, in_order, b); !bad.ok()) return bad;
  return run_sets(c, a, b);
}
Status run_sparse(Call& c) {
  Operand a, b;
  bool in_order = c.attrs<SetAttrs>().validate_indices();
  if (Status bad = sparse_operand(c, 0, in_order, a); !bad.ok()) return bad;
  if (Status bad = sparse_operand(c, 3, in_order, b); !bad.ok()) return bad;
  return run_sets(c, a, b);
}

Builder& of_sets(Builder& b) {
  return b.outputs("result_indices, result_values, result_shape")
      .dtypes(kElements, "T")
      .attr("set_operation")
      .attr("validate_indices", true)
      .attrs<&SetAttrs::set_operation, &SetAttrs::validate_indices>()
      .on_host()
      .no_gradient();
}

const Op dense_op = of_sets(RAW_OP(DenseToDenseSetOperation)
                                .doc("What the sets along the last axes of two tensors have in "
                                     "common, or differ in.")
                                .inputs("set1: T, set2: T")
                                .infer(infer_dense)
                                .kernel("reference", run_dense));
const Op mixed_op = of_sets(RAW_OP(DenseToSparseSetOperation)
                                .doc("The same of a tensor and a sparse one.")
                                .inputs("set1: T, set2_indices: I, set2_values: T, set2_shape: I")
                                .dtypes(DTypes{int64}, "I")
                                .infer(infer_mixed)
                                .kernel("reference", run_mixed));
const Op sparse_op =
    of_sets(RAW_OP(SparseToSparseSetOperation)
                .doc("The same of two sparse tensors.")
                .inputs("set1_indices: I, set1_values: T, set1_shape: I, set2_indices: I, "
                        "set2_values: T, set2_shape: I")
                .dtypes(DTypes{int64}, "I")
                .infer(infer_sparse)
                .kernel("reference", run_sparse));

}  // namespace
}  // namespace holdfast
