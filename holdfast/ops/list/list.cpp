#include "holdfast/ops/list.h"

#include <algorithm>
#include <cstring>

#include "holdfast/base/text.h"
#include "holdfast/op/advice.h"
#include "holdfast/op/kernel.h"
#include "holdfast/op/op.h"
#include "holdfast/op/refuse.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/list/elements.h"
#include "holdfast/ops/math.h"

namespace holdfast {
namespace {

struct StackAttrs {
  Attr<DType> element_dtype;
  Attr<Shape> element_shape;
  Attr<int64_t> num_elements;
};
struct SetItemAttrs {
  Attr<bool> resize_if_index_out_of_bounds;
};

constexpr DTypes kLists{DType::kVariant};

void gives_list(Infer& s) { s.output(DType::kVariant, Shape{}); }

int64_t index_of(const Tensor& t) { return copy_to(t, cpu()).to_int(); }

// Whether a list of `n` elements can be held at all.
Status room_for(const Call& c, int64_t n) {
  int64_t limit = cpu()->memory().limit;
  if (n <= (limit > 0 ? limit : int64_t{1} << 40) / static_cast<int64_t>(sizeof(Tensor))) return {};
  return {Code::E0702, cat(c.op.name, ": no memory for a list of ", n, " elements"),
          cat("the limit is ", limit, " bytes")};
}

// One index or length.
void need_number(const Infer& s, int i) { s.need_rank(i, 0, 0); }

ElementType element_of(const Call& c) {
  auto a = c.attrs<ElementAttrs>();
  return {a.element_dtype(), a.element_shape()};
}

Status run_reserve(Call& c) {
  int64_t n = index_of(c.in());
  if (n < 0)
    return {Code::E1103, cat(c.op.name, ": a list of ", n, " elements"), "a length is 0 or more"};
  if (Status s = room_for(c, n); !s.ok()) return s;
  Tensor list = make_list(std::vector<Tensor>(static_cast<size_t>(n)));
  list_value(list).shape = c.attrs<ElementAttrs>().element_shape();
  c.set_out(0, list);
  return {};
}

// The list with other elements, of which the same is known.
Tensor changed(const Tensor& list, std::vector<Tensor> items) {
  const ListValue& was = list_value(list);
  Tensor out = make_list(std::move(items));
  list_value(out).shape = was.shape;
  list_value(out).most = was.most;
  return out;
}

Status fits(const Call& c, const Tensor& item) {
  if (!item.defined()) return {};  // what a branch that was not taken would have left
  const Shape& shape = list_value(c.in()).shape;
  if (item.dtype() == DType::kVariant || shape.compatible(item.shape())) return {};
  return {Code::E1102, cat(c.op.name, ": an element of shape ", item.shape().text(),
                           " for a list of elements of shape ", shape.text())};
}

Status run_push(Call& c) {
  if (c.in(1).defined())
    if (Status s = fits(c, c.in(1)); !s.ok()) return s;
  const ListValue& list = list_value(c.in());
  if (list.most >= 0 && static_cast<int64_t>(list.items.size()) >= list.most)
    return {Code::E1103, cat(c.op.name, ": the list is full"),
            cat("it was made for at most ", list.most, " elements")};
  auto items = items_to_change(c.in());
  items.push_back(c.in(1));
  c.set_out(0, changed(c.in(), std::move(items)));
  return {};
}

Status run_set(Call& c) {
  int64_t i = index_of(c.in(1));
  if (i < 0) return {Code::E1103, cat(c.op.name, ": index ", i), "an index counts from 0"};
  if (Status s = fits(c, c.in(2)); !s.ok()) return s;
  auto length = static_cast<int64_t>(list_value(c.in()).items.size());
  if (i >= length && !c.attrs<SetItemAttrs>().resize_if_index_out_of_bounds())
    return outside_list(
        c, i, static_cast<size_t>(length),
        cat("a list grows only if it is made for that, as by ", written(Advice::kGrows)));
  if (Status s = room_for(c, i); !s.ok()) return s;
  auto items = items_to_change(c.in());
  if (i >= length) items.resize(static_cast<size_t>(i) + 1);
  items[static_cast<size_t>(i)] = c.in(2);
  c.set_out(0, changed(c.in(), std::move(items)));
  return {};
}

Status run_resize(Call& c) {
  int64_t n = std::max<int64_t>(index_of(c.in(1)), 0);
  if (Status s = room_for(c, n); !s.ok()) return s;
  auto items = items_to_change(c.in());
  items.resize(static_cast<size_t>(n));
  c.set_out(0, changed(c.in(), std::move(items)));
  return {};
}

Status run_get(Call& c) {
  Tensor t;
  if (Status s = list_element(c, element_of(c), list_value(c.in()), index_of(c.in(1)), t); !s.ok())
    return s;
  Tensor item = t.rep()->buffer ? view_of(t, t.shape()) : t;
  item.rep()->beyond = t.rep()->beyond;  // what a number carries to a gradient goes along
  c.set_out(0, item);
  return {};
}

// What a branch that was not taken left out is left out again: zeros would need a shape, and only
// the gradient of that branch would look at them.
Status run_kept(Call& c) {
  auto a = c.attrs<ElementAttrs>();
  const auto& items = list_value(c.in()).items;
  int64_t i = index_of(c.in(1));
  bool left_out =
      i >= 0 && i < static_cast<int64_t>(items.size()) && !items[static_cast<size_t>(i)].defined();
  if (!left_out || a.element_shape().is_full() || a.element_dtype() == DType::kVariant)
    return run_get(c);
  c.set_out(0, Tensor());
  return {};
}

Status run_length(Call& c) {
  Tensor t = empty(int32, Shape{}, cpu());
  *t.mutable_raw<int32_t>() = static_cast<int32_t>(list_value(c.in()).items.size());
  c.set_out(0, t);
  return {};
}

Status join(Call& c, bool along_first) {
  const ListValue& list = list_value(c.in());
  ElementType type = element_of(c);
  if (along_first && type.shape.rank() > 0) type.shape.dims()[0] = kUnknown;
  Tensors all(list.items.size(), Tensor());
  for (size_t i = 0; i < all.size(); ++i)
    if (Status s = list_element(c, type, list, static_cast<int64_t>(i), all[i]); !s.ok()) return s;
  if (all.empty()) type.shape = type.shape.merged(list.shape).value_or(type.shape);
  return join_elements(c, type, all, along_first);
}

Status run_stack(Call& c) {
  auto length = static_cast<int64_t>(list_value(c.in()).items.size());
  if (int64_t wanted = c.attrs<StackAttrs>().num_elements(); wanted >= 0 && wanted != length)
    return {Code::E1102, cat(c.op.name, ": a list of ", length, " elements, expected ", wanted)};
  return join(c, false);
}
Status run_concat(Call& c) { return join(c, true); }

Status run_unstack(Call& c) {
  auto attrs = c.attrs<ElementShapeAttrs>();
  const Tensor& t = c.in();
  if (t.rank() == 0) return {Code::E1102, cat(c.op.name, " of a scalar"), "rows need a first axis"};
  Shape row(std::span<const int64_t>(t.shape().begin() + 1, t.shape().end()));
  int64_t bytes = row.size() * size_of(t.dtype());
  std::vector<Tensor> items;
  if (!attrs.element_shape().compatible(row))
    return {Code::E1102, cat(c.op.name, ": rows of shape ", row.text(), ", expected ",
                             attrs.element_shape().text())};
  for (int64_t i = 0; i < t.dim(0); ++i) items.push_back(view_of(t, row, i * bytes));
  Tensor list = make_list(std::move(items));
  list_value(list).shape = row;
  c.set_out(0, list);
  return {};
}

Status run_split_like(Call& c) {
  const Tensor& t = c.in();
  if (t.rank() == 0) return {Code::E1102, cat(c.op.name, " of a scalar"), "rows need a first axis"};
  int64_t row = t.dim(0) ? t.bytes() / t.dim(0) : 0, at = 0;
  std::vector<Tensor> items;
  for (const Tensor& like : list_value(c.in(1)).items) {
    if (!like.defined() || like.rank() == 0) {
      items.emplace_back();
      continue;
    }
    Dims dims = t.shape().dims();
    dims[0] = like.dim(0);
    if (at + dims[0] > t.dim(0))
      return {Code::E1102, cat(c.op.name, ": the pieces are longer than the tensor")};
    items.push_back(view_of(t, Shape(dims), at * row));
    at += like.dim(0);
  }
  c.set_out(0, make_list(std::move(items)));
  return {};
}

// Element by element; lists in lists likewise.
Status add_lists(const Call& c, const Tensor& a, const Tensor& b, Tensor& out) {
  auto items = items_to_change(a);
  const auto& more = list_value(b).items;
  if (more.size() > items.size()) items.resize(more.size());
  static const OpDef& add = *find_op("AddV2");
  for (size_t i = 0; i < more.size(); ++i) {
    if (!more[i].defined()) continue;
    if (!items[i].defined()) {
      items[i] = more[i];
      continue;
    }
    if (items[i].dtype() != more[i].dtype() || items[i].shape() != more[i].shape())
      return {items[i].dtype() != more[i].dtype() ? Code::E1101 : Code::E1102,
              cat(c.op.name, ": element ", i, " is ", type_text(items[i]), " in one list and ",
                  type_text(more[i]), " in the other")};
    Tensor both[2] = {items[i], more[i]};
    Tensors sum(1, Tensor());
    Status s = items[i].dtype() == DType::kVariant
                   ? add_lists(c, both[0], both[1], sum[0])
                   : run_kernel(add, both, {}, items[i].device(), sum);
    if (!s.ok()) return s;
    items[i] = sum[0];
  }
  out = make_list(std::move(items));
  return {};
}

Status run_add(Call& c) {
  Tensor sum;
  Status s = add_lists(c, c.in(), c.in(1), sum);
  if (s.ok()) c.set_out(0, sum);
  return s;
}

// Zeros for each element; lists in lists likewise, so that gradients find each at its place.
Tensor zeros_like_list(const Call& c, const Tensor& list) {
  std::vector<Tensor> items;
  for (const Tensor& t : list_value(list).items)
    items.push_back(!t.defined()                   ? Tensor()
                    : t.dtype() == DType::kVariant ? zeros_like_list(c, t)
                                                   : zeros_on(c.device, t.dtype(), t.shape()));
  return make_list(std::move(items));
}

Status run_zeros(Call& c) {
  c.set_out(0, zeros_like_list(c, c.in()));
  return {};
}

Tensor rows_of(const Tensor& x) {
  if (x.rank() > 0 && x.dim(0) != kUnknown) return Tensor::scalar(static_cast<int32_t>(x.dim(0)));
  Tensor sizes = shape(x);
  return list_get(list_unstack(sizes), 0, {sizes.dtype(), Shape{}});
}

Builder& lists(Builder& b, KernelFn run) {
  for (DeviceKind kind : {DeviceKind::kCpu, DeviceKind::kCuda}) b.kernel_for(kind, "list", run);
  return b.dtypes(kLists, "L").dtypes(kIndices, "I").dtypes(kAll | kLists);
}

const Op reserve = lists(RAW_OP(TensorListReserve)
                             .doc("A list of elements that are not set yet.")
                             .inputs("num_elements: I!")
                             .attr("element_dtype")
                             .attr("element_shape", Shape::unknown())
                             .attrs<&ElementAttrs::element_dtype, &ElementAttrs::element_shape>()
                             .no_gradient()
                             .infer(+[](Infer& s) {
                               need_number(s, 0);
                               gives_list(s);
                             }),
                         run_reserve);

Tensors push_back(Grad& g) {
  Tensor last = subtract(list_length(g.dy()), 1);
  return {list_resize(g.dy(), last), list_get(g.dy(), last, {g.x(1).dtype(), g.x(1).shape()})};
}

const Op push = lists(RAW_OP(TensorListPushBack)
                          .doc("A list with one more element.")
                          .inputs("input_handle: L, tensor")
                          .infer(gives_list)
                          .gradient(push_back),
                      run_push);

const Op keep = lists(RAW_OP(KeepForGradient)
                          .doc("A list with one more element, which a branch may have left out.")
                          .inputs("input_handle: L, tensor?")
                          .infer(gives_list)
                          .gradient(push_back),
                      run_push);

const Op set = lists(RAW_OP(TensorListSetItem)
                         .doc("A list with another element at an index.")
                         .inputs("input_handle: L, index: I!, item")
                         .attr("resize_if_index_out_of_bounds", false)
                         .attrs<&SetItemAttrs::resize_if_index_out_of_bounds>()
                         .infer(+[](Infer& s) {
                           need_number(s, 1);
                           gives_list(s);
                         })
                         .gradient(+[](Grad& g) -> Tensors {
                           Tensor zeros = g.x(2).dtype() == DType::kVariant
                                              ? list_zeros_like(g.x(2))
                                              : zeros_like(g.x(2));
                           return {list_set(g.dy(), g.x(1), zeros), Tensor(),
                                   list_get(g.dy(), g.x(1), {g.x(2).dtype(), g.x(2).shape()})};
                         }),
                     run_set);

void infer_get(Infer& s) {
  auto a = s.attrs<ElementAttrs>();
  need_number(s, 1);
  s.output(a.element_dtype(), a.element_shape());
}

Tensors get_back(Grad& g) {
  auto a = g.attrs<ElementAttrs>();
  // An element that is a list of its own is zero by its elements: nothing would stand for no list.
  Tensor none = a.element_dtype() == DType::kVariant
                    ? list_zeros_like(g.x(0))
                    : list_reserve({a.element_dtype(), a.element_shape()}, list_length(g.x(0)));
  return {list_set(none, g.x(1), g.dy()), Tensor()};
}

Builder& element(Builder& b) {
  return b.inputs("input_handle: L, index: I!")
      .attr("element_dtype")
      .attr("element_shape", Shape::unknown())
      .attrs<&ElementAttrs::element_dtype, &ElementAttrs::element_shape>()
      .infer(infer_get)
      .gradient(get_back);
}

const Op get = lists(element(RAW_OP(TensorListGetItem).doc("An element of a list.")), run_get);
const Op kept = lists(
    element(
        RAW_OP(KeptForGradient).doc("An element that was kept, or nothing if it was left out.")),
    run_kept);

const Op length = lists(RAW_OP(TensorListLength)
                            .doc("How many elements a list has.")
                            .inputs("input_handle: L")
                            .no_gradient()
                            .infer(+[](Infer& s) { s.output(int32, Shape{}); }),
                        run_length);

const Op resize = lists(RAW_OP(TensorListResize)
                            .doc("The first elements of a list.")
                            .inputs("input_handle: L, size: I!")
                            .infer(+[](Infer& s) {
                              need_number(s, 1);
                              gives_list(s);
                            })
                            .gradient(+[](Grad& g) -> Tensors {
                              return {list_resize(g.dy(), list_length(g.x(0))), Tensor()};
                            }),
                        run_resize);

const Op stack_op = lists(
    RAW_OP(TensorListStack)
        .doc("The elements of a list along a new axis.")
        .inputs("input_handle: L")
        .attr("element_dtype")
        .attr("element_shape", Shape::unknown())
        .attr("num_elements", -1)
        .attrs<&ElementAttrs::element_dtype, &ElementAttrs::element_shape>()
        .attrs<&StackAttrs::element_dtype, &StackAttrs::element_shape, &StackAttrs::num_elements>()
        .infer(+[](Infer& s) {
          Shape shape = s.attrs<StackAttrs>().element_shape();
          int64_t n = s.attrs<StackAttrs>().num_elements();
          if (shape.has_rank()) shape.dims().insert(0, n >= 0 ? n : kUnknown);
          s.output(s.attrs<StackAttrs>().element_dtype(), shape);
        })
        .gradient(+[](Grad& g) -> Tensors { return {list_unstack(g.dy())}; })
        .keeps(""),
    run_stack);

const Op concat_op =
    lists(RAW_OP(TensorListConcat)
              .doc("The elements of a list joined along their first axis.")
              .inputs("input_handle: L")
              .attr("element_dtype")
              .attr("element_shape", Shape::unknown())
              .attrs<&ElementAttrs::element_dtype, &ElementAttrs::element_shape>()
              .infer(+[](Infer& s) {
                Shape shape = s.attrs<ElementAttrs>().element_shape();
                if (shape.rank() > 0) shape.dims()[0] = kUnknown;
                s.output(s.attrs<ElementAttrs>().element_dtype(), shape);
              })
              .gradient(+[](Grad& g) -> Tensors { return {list_split_like(g.dy(), g.x(0))}; })
              .keeps("input_handle"),
          run_concat);

const Op unstack_op =
    lists(RAW_OP(TensorListFromTensor)
              .doc("The rows of a tensor as a list.")
              .inputs("tensor")
              .attr("element_shape", Shape::unknown())
              .attrs<&ElementShapeAttrs::element_shape>()
              .infer(+[](Infer& s) {
                s.attrs<ElementShapeAttrs>().element_shape();
                gives_list(s);
              })
              .gradient(+[](Grad& g) -> Tensors {
                Shape row = g.x().shape();
                if (row.rank() > 0)
                  row = Shape(std::span<const int64_t>(row.begin() + 1, row.end()));
                // A list may have grown since: what was written behind the rows is none of them.
                return {list_stack(list_resize(g.dy(), rows_of(g.x())), {g.x().dtype(), row})};
              }),
          run_unstack);

const Op split_like =
    lists(RAW_OP(TensorListSplitLike)
              .doc("Pieces of a tensor, as long as the elements of a list.")
              .inputs("tensor, like: L")
              .infer(gives_list)
              .gradient(+[](Grad& g) -> Tensors {
                return {list_concat(g.dy(), {g.x().dtype(), g.x().shape()}), Tensor()};
              }),
          run_split_like);

const Op add_op = lists(RAW_OP(TensorListAdd)
                            .doc("Two lists added element by element.")
                            .inputs("x: L, y: L")
                            .infer(gives_list)
                            .gradient(+[](Grad& g) -> Tensors { return {g.dy(), g.dy()}; })
                            .keeps(""),
                        run_add);

const Op zeros_op = lists(RAW_OP(TensorListZerosLike)
                              .doc("A list of zeros.")
                              .inputs("x: L")
                              .infer(gives_list)
                              .no_gradient(),
                          run_zeros);

}  // namespace

Tensor zeros_on(Device* device, DType dtype, const Shape& shape) {
  Tensor t = empty(dtype, shape, cpu());
  if (dtype != DType::kString) std::memset(t.mutable_raw(), 0, static_cast<size_t>(t.bytes()));
  return copy_to(t, device);
}

Status outside_list(const Call& c, int64_t i, size_t length, std::string why) {
  const std::string words = source_text(here());
  return {Code::E1103,
          cat(words.empty() ? c.op.name : cat("`", words, "`"), ": index ", i,
              ", and the list has ", length, " elements"),
          std::move(why), nearest_allowed(i, 0, static_cast<int64_t>(length))};
}

Status list_element(const Call& c, const ElementType& type, const ListValue& list, int64_t i,
                    Tensor& out) {
  const auto& items = list.items;
  if (i < 0 || i >= static_cast<int64_t>(items.size())) return outside_list(c, i, items.size());
  out = items[static_cast<size_t>(i)];
  if (out.defined() && out.dtype() != type.dtype)
    return {Code::E1101, cat(c.op.name, ": element ", i, " is ", name(out.dtype()), ", expected ",
                             name(type.dtype))};
  if (out.defined() && !type.shape.compatible(out.shape()))
    return {Code::E1102, cat(c.op.name, ": element ", i, " has shape ", out.shape().text(),
                             ", expected ", type.shape.text())};
  if (out.defined()) return {};
  if (type.dtype == DType::kVariant) {
    out = make_list({});  // an empty list adds up like zeros
    return {};
  }
  auto both = type.shape.merged(list.shape);
  if (!both)
    return {Code::E1102, cat(c.op.name, ": elements of shape ", list.shape.text(), ", expected ",
                             type.shape.text())};
  Shape shape = *both;
  for (const Tensor& t : items)
    if (!shape.is_full() && t.defined()) shape = t.shape();
  if (!shape.is_full())
    return {Code::E1103,
            cat(c.op.name, ": element ", i, " was never written, and its shape is not known"),
            "an element that is not written is zeros, which need a shape"};
  out = zeros_on(c.device, type.dtype, shape);
  return {};
}

Status join_elements(Call& c, const ElementType& type, std::span<const Tensor> items,
                     bool along_first) {
  Tensors all(items);
  for (const Tensor& t : items)
    if (!type.shape.compatible(t.shape()))
      return {Code::E1102, cat(c.op.name, ": an element of shape ", t.shape().text(), ", expected ",
                               type.shape.text())};
  if (all.empty()) {
    Dims dims = type.shape.has_rank() ? type.shape.dims() : Dims();
    for (int64_t& d : dims) d = d == kUnknown ? 0 : d;
    if (along_first) {
      if (dims.empty()) dims.push_back(0);
      dims[0] = 0;
    } else
      dims.insert(0, 0);
    c.set_out(0, zeros_on(c.device, type.dtype, Shape(dims)));
    return {};
  }
  for (const Tensor& t : items)
    if (along_first && t.rank() == 0)
      return {Code::E1102, cat(c.op.name, " of scalars"), "elements are joined along an axis"};
  Tensors out;
  if (along_first) all.insert(0, Tensor::scalar(0));
  Device* beside = context().device ? c.device : items[0].device();
  const OpDef& joins = *find_op(along_first ? "ConcatV2" : "Pack");
  if (Status s = run_kernel(joins, all, along_first ? Attrs{} : Attrs{Arg(0)}, beside, out);
      !s.ok())
    return s;
  c.set_out(0, out[0]);
  return {};
}

Tensor list_reserve(const ElementType& e, In count) {
  return reserve({count}, Attrs{Arg(e.dtype), Arg(e.shape)});
}
Tensor list_push(In list, In value) { return push({list, value}); }
Tensor list_keep(In list, In value) { return keep({list, value}); }
Tensor list_kept(In list, In index, const ElementType& e) {
  return kept({list, index}, Attrs{Arg(e.dtype), Arg(e.shape)});
}
Tensor list_set(In list, In index, In value, bool grows) {
  return set({list, index, value}, Attrs{Arg(grows)});
}
Tensor list_get(In list, In index, const ElementType& e) {
  return get({list, index}, Attrs{Arg(e.dtype), Arg(e.shape)});
}
Tensor list_length(In list) { return length({list}); }
Tensor list_resize(In list, In count) { return resize({list, count}); }
Tensor list_stack(In list, const ElementType& e) {
  return stack_op({list}, Attrs{Arg(e.dtype), Arg(e.shape), Arg(-1)});
}
Tensor list_concat(In list, const ElementType& e) {
  return concat_op({list}, Attrs{Arg(e.dtype), Arg(e.shape)});
}
Tensor list_unstack(In value) { return unstack_op({value}, Attrs{Arg(Shape::unknown())}); }
Tensor list_split_like(In value, In like) { return split_like({value, like}); }
Tensor list_add(In a, In b) { return add_op({a, b}); }
Tensor list_zeros_like(In list) { return zeros_op({list}); }

}  // namespace holdfast
