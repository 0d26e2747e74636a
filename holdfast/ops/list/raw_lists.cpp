// Further ops on lists, under TensorFlow's names: ends, pieces and parts of them.
#include <algorithm>

#include "holdfast/base/text.h"
#include "holdfast/op/kernel.h"
#include "holdfast/op/refuse.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/list/elements.h"
#include "holdfast/ops/math.h"

namespace holdfast {
namespace {

struct ScatterAttrs {
  Attr<bool> adds;
};

constexpr DTypes kLists{DType::kVariant};

// A list; what it is made of is said by attributes, which are looked at here.
void gives_list_of_dtype(Infer& s) {
  s.attrs<ElementTypeAttrs>().element_dtype();
  s.output(DType::kVariant, Shape{});
}
void gives_list_of_shape(Infer& s) {
  s.attrs<ElementShapeAttrs>().element_shape();
  s.output(DType::kVariant, Shape{});
}

Dims numbers(const Tensor& given) {
  Tensor t = copy_to(given, cpu());
  Dims out;
  for (int64_t i = 0; i < t.size(); ++i)
    out.push_back(t.dtype() == int32 ? t.raw<int32_t>()[i] : t.raw<int64_t>()[i]);
  return out;
}

Status not_one(const Call& c, const char* argument) {
  return {Code::E1102, cat(c.op.name, ": `", argument, "` holds several numbers or none"),
          "it is one number"};
}

Tensor list_of(std::vector<Tensor> items, const Shape& shape) {
  Tensor out = make_list(std::move(items));
  list_value(out).shape = shape;
  return out;
}

Shape row_of(const Shape& s) {
  return s.rank() > 0 ? Shape(std::span<const int64_t>(s.begin() + 1, s.end())) : Shape::unknown();
}

Status run_empty(Call& c) {
  Tensor out = list_of({}, c.attrs<ElementAttrs>().element_shape());
  Dims most = numbers(c.in());
  if (most.size() != 1) return not_one(c, "max_num_elements");
  list_value(out).most = most[0];
  c.set_out(0, out);
  return {};
}

Status run_pop(Call& c) {
  auto a = c.attrs<ElementAttrs>();
  const ListValue& list = list_value(c.in());
  auto n = static_cast<int64_t>(list.items.size());
  if (n == 0)
    return {Code::E1103, cat(c.op.name, ": the list is empty"), "there is nothing to pop"};
  Tensor last;
  if (Status s = list_element(c, {a.element_dtype(), a.element_shape()}, list, n - 1, last);
      !s.ok())
    return s;
  Shape shape = list.shape;
  int64_t most = list.most;
  auto items = items_to_change(c.in());
  items.pop_back();
  Tensor rest = list_of(std::move(items), shape);
  list_value(rest).most = most;
  c.set_out(0, rest);
  c.set_out(1, last.rep()->buffer ? view_of(last, last.shape()) : last);
  return {};
}

Status run_gather(Call& c) {
  auto a = c.attrs<ElementAttrs>();
  ElementType type{a.element_dtype(), a.element_shape()};
  const ListValue& list = list_value(c.in());
  Tensors all;
  for (int64_t i : numbers(c.in(1))) {
    all.push_back(Tensor());
    if (Status s = list_element(c, type, list, i, all.back()); !s.ok()) return s;
  }
  if (all.empty()) type.shape = type.shape.merged(list.shape).value_or(type.shape);
  return join_elements(c, type, all, false);
}

// Rows of `value` become the elements `at`; those that come twice are added, or the last stays.
Status scatter(Call& c, std::vector<Tensor> items, const Tensor& value, const Dims& at, bool adds,
               const Shape& shape) {
  if (value.rank() == 0 || value.dim(0) != static_cast<int64_t>(at.size()))
    return {Code::E1102, cat(c.op.name, ": a value of shape ", value.shape().text(), " for ",
                             at.size(), " indices, expected one row each")};
  Shape row = row_of(value.shape());
  if (!shape.compatible(row))
    return {Code::E1102,
            cat(c.op.name, ": rows of shape ", row.text(), ", expected ", shape.text())};
  static const OpDef& add = *find_op("AddV2");
  int64_t bytes = row.size() * size_of(value.dtype());
  for (size_t k = 0; k < at.size(); ++k) {
    if (at[k] < 0 || at[k] >= static_cast<int64_t>(items.size()))
      return outside_list(c, at[k], items.size());
    Tensor& item = items[static_cast<size_t>(at[k])];
    Tensor one = view_of(value, row, static_cast<int64_t>(k) * bytes);
    if (adds && item.defined()) {
      if (item.dtype() != one.dtype() || item.shape() != one.shape())
        return {item.dtype() != one.dtype() ? Code::E1101 : Code::E1102,
                cat(c.op.name, ": element ", at[k], " is ", type_text(item),
                    ", and what is added to it ", type_text(one))};
      Tensor both[2] = {item, one};
      Tensors sum;
      if (Status s = run_kernel(add, both, {}, item.device(), sum); !s.ok()) return s;
      one = sum[0];
    }
    item = one;
  }
  c.set_out(0, list_of(std::move(items), shape.has_rank() ? shape : row));
  return {};
}

constexpr int64_t kMost = int64_t{1} << 27;  // what a wrong index may not make a list of

// `n`: how many elements the list has; -1: as many as are needed.
Status scatter_new(Call& c, int64_t n) {
  Dims at = numbers(c.in(1));
  if (n < 0) {
    n = 0;
    for (int64_t i : at) n = std::max(n, i < kMost ? i + 1 : kMost + 1);
  }
  if (n > kMost) return {Code::E1103, cat(c.op.name, ": ", n, " elements"), "that is too many"};
  return scatter(c, std::vector<Tensor>(static_cast<size_t>(n)), c.in(0), at, false,
                 c.attrs<ElementShapeAttrs>().element_shape());
}
Status run_scatter(Call& c) { return scatter_new(c, -1); }
Status run_scatter_v2(Call& c) {
  Dims n = numbers(c.in(2));
  return n.size() == 1 ? scatter_new(c, n[0]) : not_one(c, "num_elements");
}

Status run_scatter_into(Call& c) {
  Dims at = numbers(c.in(2));
  Shape shape = list_value(c.in()).shape;
  auto items = items_to_change(c.in());
  for (int64_t i : at) {
    if (i >= kMost) return {Code::E1103, cat(c.op.name, ": index ", i), "that is too many"};
    if (i >= static_cast<int64_t>(items.size())) items.resize(static_cast<size_t>(i) + 1);
  }
  return scatter(c, std::move(items), c.in(1), at, c.attrs<ScatterAttrs>().adds(), shape);
}

Status run_split(Call& c) {
  auto attrs = c.attrs<ElementShapeAttrs>();
  const Tensor& t = c.in();
  if (t.rank() == 0)
    return {Code::E1102, cat(c.op.name, " of a scalar"), "pieces need a first axis"};
  std::vector<Tensor> items;
  int64_t at = 0, row = t.dim(0) ? t.bytes() / t.dim(0) : 0;
  for (int64_t n : numbers(c.in(1))) {
    Dims dims = t.shape().dims();
    dims[0] = n;
    if (n < 0 || n > t.dim(0) - at)
      return {Code::E1102, cat(c.op.name, ": the lengths are more than the ", t.dim(0), " rows")};
    if (!attrs.element_shape().compatible(Shape(dims)))
      return {Code::E1102, cat(c.op.name, ": a piece of shape ", Shape(dims).text(), ", expected ",
                               attrs.element_shape().text())};
    items.push_back(view_of(t, Shape(dims), at * row));
    at += n;
  }
  if (at != t.dim(0))
    return {Code::E1102,
            cat(c.op.name, ": the lengths are ", at, " in all, and there are ", t.dim(0), " rows")};
  c.set_out(0, list_of(std::move(items), attrs.element_shape()));
  return {};
}

// What elements that are not there would have looked like; only how many rows there are may be left
// open, for there are none.
Status need_rows_known(const Call& c, Shape& shape, const Shape& said) {
  auto both = shape.merged(said);
  if (!both)
    return {Code::E1102, cat(c.op.name, ": `element_shape` is ", shape.text(),
                             ", and elements of the list are ", said.text())};
  shape = *both;
  bool known = shape.rank() > 0;
  for (int i = 1; i < shape.rank(); ++i) known = known && shape[i] >= 0;
  if (known) return {};
  return {Code::E1102, cat(c.op.name, " of an empty list: the shape of its elements is ",
                           shape.text(), ", expected all sizes but the first")};
}

Status run_concat_v2(Call& c) {
  auto a = c.attrs<ElementAttrs>();
  ElementType type{a.element_dtype(), a.element_shape()};
  const ListValue& list = list_value(c.in());
  if (list.items.empty())
    if (Status s = need_rows_known(c, type.shape, list.shape); !s.ok()) return s;
  Dims leading = c.in(1).defined() ? numbers(c.in(1)) : Dims();
  Tensors all;
  Tensor lengths = empty(int64, Shape{static_cast<int64_t>(list.items.size())}, cpu());
  for (size_t i = 0; i < list.items.size(); ++i) {
    ElementType own = type;
    if (i < leading.size() && own.shape.rank() > 0) own.shape.dims()[0] = leading[i];
    all.push_back(Tensor());
    if (Status s = list_element(c, own, list, static_cast<int64_t>(i), all.back()); !s.ok())
      return s;
    if (all.back().rank() == 0)
      return {Code::E1102, cat(c.op.name, " of scalars"), "elements are joined along an axis"};
    lengths.mutable_raw<int64_t>()[i] = all.back().dim(0);
  }
  c.set_out(1, lengths);
  if (type.shape.rank() > 0) type.shape.dims()[0] = kUnknown;
  return join_elements(c, type, all, true);
}

Status run_concat_lists(Call& c) {
  auto a = c.attrs<ElementTypeAttrs>();
  Shape shape = list_value(c.in()).shape;
  auto items = items_to_change(c.in());
  for (const Tensor& t : list_value(c.in(1)).items) {
    if (t.defined() && t.dtype() != a.element_dtype())
      return {Code::E1101, cat(c.op.name, ": an element is ", name(t.dtype()), ", expected ",
                               name(a.element_dtype()))};
    items.push_back(t);
  }
  c.set_out(0, list_of(std::move(items), shape));
  return {};
}

Status run_from(Call& c) {
  const ListValue& list = list_value(c.in());
  Dims given = numbers(c.in(1));
  if (given.size() != 1) return not_one(c, "first");
  auto length = static_cast<int64_t>(list.items.size());
  int64_t first = std::clamp<int64_t>(given[0], 0, length);
  c.set_out(0, list_of({list.items.begin() + first, list.items.end()}, list.shape));
  return {};
}

Builder& lists(Builder& b, KernelFn run) {
  for (DeviceKind kind : {DeviceKind::kCpu, DeviceKind::kCuda}) b.kernel_for(kind, "list", run);
  return b.dtypes(kLists, "L").dtypes(kIndices, "I").dtypes(kAll | kLists);
}

void gives_rows(Infer& s) {
  auto a = s.attrs<ElementAttrs>();
  Shape shape = a.element_shape();
  if (shape.has_rank()) shape.dims().insert(0, s.shape(1).rank() == 1 ? s.shape(1)[0] : kUnknown);
  s.output(a.element_dtype(), shape);
}

const Op empty_op = lists(RAW_OP(EmptyTensorList)
                              .doc("A list without elements.")
                              .inputs("max_num_elements: I!")
                              .attr("element_dtype")
                              .attr("element_shape", Shape::unknown())
                              .attrs<&ElementAttrs::element_dtype, &ElementAttrs::element_shape>()
                              .attrs<&ElementTypeAttrs::element_dtype>()
                              .no_gradient()
                              .infer(+[](Infer& s) {
                                s.attrs<ElementAttrs>().element_shape();
                                gives_list_of_dtype(s);
                              }),
                          run_empty);

const Op pop_op =
    lists(RAW_OP(TensorListPopBack)
              .doc("A list without its last element, and that element.")
              .inputs("input_handle: L")
              .outputs("output_handle, tensor")
              .attr("element_dtype")
              .attr("element_shape", Shape::unknown())
              .attrs<&ElementAttrs::element_dtype, &ElementAttrs::element_shape>()
              .infer(+[](Infer& s) {
                s.output(DType::kVariant, Shape{});
                s.output(s.attrs<ElementAttrs>().element_dtype(),
                         s.attrs<ElementAttrs>().element_shape());
              })
              .gradient(+[](Grad& g) -> Tensors { return {list_push(g.dy(0), g.dy(1))}; }),
          run_pop);

const Op scatter_into = lists(RAW_OP(TensorListScatterIntoExistingList)
                                  .doc("A list with rows of a tensor as its elements `indices`.")
                                  .inputs("input_handle: L, tensor, indices: I!")
                                  .attr("adds", false)
                                  .attrs<&ScatterAttrs::adds>()  // to what is there
                                  .infer(+[](Infer& s) {
                                    s.attrs<ScatterAttrs>().adds();
                                    s.output(DType::kVariant, Shape{});
                                  })
                                  .no_gradient(),
                              run_scatter_into);

const Op gather_op = lists(
    RAW_OP(TensorListGather)
        .doc("Elements of a list along a new axis.")
        .inputs("input_handle: L, indices: I!")
        .attr("element_dtype")
        .attr("element_shape", Shape::unknown())
        .attrs<&ElementAttrs::element_dtype, &ElementAttrs::element_shape>()
        .infer(gives_rows)
        .gradient(+[](Grad& g) -> Tensors {
          Tensor none = list_reserve({g.attrs<ElementAttrs>().element_dtype(), Shape::unknown()},
                                     list_length(g.x(0)));
          return {scatter_into({none, g.dy(), g.x(1)}, Attrs{Arg(true)}), Tensor()};
        }),
    run_gather);

Tensor rows_at(Grad& g) {
  const Tensor& t = g.x(0);
  return gather_op({g.dy(), g.x(1)}, Attrs{Arg(t.dtype()), Arg(row_of(t.shape()))});
}

const Op scatter_op =
    lists(RAW_OP(TensorListScatter)
              .doc("A list whose elements `indices` are the rows of a tensor.")
              .inputs("tensor, indices: I!")
              .attr("element_shape", Shape::unknown())
              .attrs<&ElementShapeAttrs::element_shape>()
              .infer(gives_list_of_shape)
              .gradient(+[](Grad& g) -> Tensors { return {rows_at(g), Tensor()}; }),
          run_scatter);

const Op scatter_v2_op =
    lists(RAW_OP(TensorListScatterV2)
              .doc("The same in a list of `num_elements`; -1: as many as needed.")
              .inputs("tensor, indices: I!, num_elements: I2!")
              .attr("element_shape", Shape::unknown())
              .attrs<&ElementShapeAttrs::element_shape>()
              .infer(gives_list_of_shape)
              .gradient(+[](Grad& g) -> Tensors { return {rows_at(g), Tensor(), Tensor()}; }),
          run_scatter_v2);

const Op split_op = lists(RAW_OP(TensorListSplit)
                              .doc("Consecutive pieces of a tensor as a list.")
                              .inputs("tensor, lengths: I!")
                              .attr("element_shape", Shape::unknown())
                              .attrs<&ElementShapeAttrs::element_shape>()
                              .infer(gives_list_of_shape)
                              .gradient(+[](Grad& g) -> Tensors {
                                Shape piece = g.x(0).shape();
                                if (piece.rank() > 0) piece.dims()[0] = kUnknown;
                                return {list_concat(g.dy(), {g.x(0).dtype(), piece}), Tensor()};
                              }),
                          run_split);

const Op concat_op = lists(
    RAW_OP(TensorListConcatV2)
        .doc("The elements of a list joined, and how long each is.")
        .inputs("input_handle: L, leading_dims: I!?")
        .outputs("tensor, lengths")
        .attr("element_dtype")
        .attr("element_shape", Shape::unknown())
        .attrs<&ElementAttrs::element_dtype, &ElementAttrs::element_shape>()
        .infer(+[](Infer& s) {
          Shape shape = s.attrs<ElementAttrs>().element_shape();
          if (shape.rank() > 0) shape.dims()[0] = kUnknown;
          s.output(s.attrs<ElementAttrs>().element_dtype(), shape);
          s.output(int64, Shape{kUnknown});
        })
        .gradient(+[](Grad& g) -> Tensors { return {list_split_like(g.dy(0), g.x(0)), Tensor()}; }),
    run_concat_v2);

const Op from_op = lists(RAW_OP(TensorListFrom)
                             .doc("The elements of a list from an index on.")
                             .inputs("input_handle: L, first: I!")
                             .infer(+[](Infer& s) { s.output(DType::kVariant, Shape{}); })
                             .no_gradient(),
                         run_from);

const Op concat_lists_op =
    lists(RAW_OP(TensorListConcatLists)
              .doc("The elements of two lists, one after the other.")
              .inputs("input_a: L, input_b: L")
              .attr("element_dtype")
              .attrs<&ElementTypeAttrs::element_dtype>()
              .infer(gives_list_of_dtype)
              .gradient(+[](Grad& g) -> Tensors {
                Tensor border = list_length(g.x(0));
                return {list_resize(g.dy(), border), from_op({g.dy(), border})};
              }),
          run_concat_lists);

}  // namespace
}  // namespace holdfast
