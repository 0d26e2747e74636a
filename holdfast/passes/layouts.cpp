// Convolutions with their channels first have them last while they run: kernels for that are
// faster. So channels are moved where such convolutions begin and end, and what lies between works
// on them as they are there.
#include <algorithm>

#include "holdfast/op/op.h"
#include "holdfast/ops/array/raw.h"
#include "holdfast/ops/math/fold.h"
#include "holdfast/passes/elementwise_expr.h"
#include "holdfast/passes/passes.h"
#include "holdfast/passes/simplify.h"

namespace holdfast {
namespace {

constexpr int64_t kSmall =
    16;  // an operand with so many times fewer elements than the result is moved at no cost

bool is_image(const Edge& e) {
  return e.node && type_of(e).shape.has_rank() &&
         (type_of(e).shape.rank() == 4 || type_of(e).shape.rank() == 5);
}

// Axis i of the moved image is axis last_order[i] of the one with channels first, and the other way
// round.
Dims last_order(int rank) {
  Dims out{0};
  for (int i = 2; i < rank; ++i) out.push_back(i);
  out.push_back(1);
  return out;
}
Dims first_order(int rank) {
  Dims out{0, rank - 1};
  for (int i = 1; i < rank - 1; ++i) out.push_back(i);
  return out;
}

// Whether `e` is an image whose channels were just moved to the front.
bool comes_back(const Edge& e) {
  if (!is_image(e) || e.node->op != &raw::transpose()) return false;
  auto perm = permutation(*e.node);
  return perm && *perm == first_order(type_of(e).shape.rank());
}

class Layouts {
 public:
  explicit Layouts(Graph& g) : r_(g) {}

  bool run() {
    return r_.walk([&](const Ref<Node>& n) {
      if (!n->after.empty() || r_.uses(*n) == 0) return;
      if (n->op->images)
        move(*n, *n->op->images);
      else if (n->op->fold)
        fold(*n);
      else if (std::any_of(n->inputs.begin(), n->inputs.end(), comes_back) && elementwise_form(*n))
        go_on(*n);
    });
  }

 private:
  Edge last(const Edge& e) {
    if (comes_back(e)) return e.node->inputs[0];
    return r_.add(raw::transpose(), {e, r_.ints(last_order(type_of(e).shape.rank()))});
  }
  Edge first(const Edge& e) {
    return r_.add(raw::transpose(), {e, r_.ints(first_order(type_of(e).shape.rank()))});
  }

  void move(Node& n, const Images& images) {
    if (!n.op->attr(std::as_const(n.attrs), "data_format").s().starts_with("NC")) return;
    bool worth = images.begins;
    int rank = 0;
    for (size_t i = 0; i < n.inputs.size(); ++i) {
      if (!(images.inputs >> i & 1)) continue;
      if (!is_image(n.inputs[i])) return;
      rank = type_of(n.inputs[i]).shape.rank();
      worth = worth || comes_back(n.inputs[i]);
    }
    if (!worth) return;
    Dims order = last_order(rank);
    InlineVector<Edge, 3> in;
    for (size_t i = 0; i < n.inputs.size(); ++i) {
      const Edge& e = n.inputs[i];
      if (images.inputs >> i & 1)
        in.push_back(last(e));
      else if (images.sizes >> i & 1)
        in.push_back(sizes(e, order));
      else
        in.push_back(e);
    }
    Attrs attrs;
    for (const Arg& a : n.attrs) {
      auto* list = std::get_if<Ints>(&a.value());
      attrs.push_back(list ? Arg(moved(*list, order)) : a);
    }
    n.op->attr(attrs, "data_format") = Arg(rank == 5 ? "NDHWC" : "NHWC");
    Edge made = r_.add(*n.op, std::move(in), std::move(attrs));
    for (size_t k = 0; k < n.outputs.size(); ++k) {
      Edge out{made.node, static_cast<int>(k)};
      r_.replace(k == 0 && images.gives ? first(out) : out, static_cast<int>(k));
    }
  }

  // A number for each axis, or two.
  static Ints moved(const Ints& list, const Dims& order) {
    size_t each = list.size() == order.size() ? 1 : 2;
    if (list.size() != each * order.size()) return list;
    Ints out;
    for (int64_t axis : order)
      for (size_t k = 0; k < each; ++k) out.push_back(list[static_cast<size_t>(axis) * each + k]);
    return out;
  }

  Edge sizes(const Edge& e, const Dims& order) {
    if (auto known = ints_of(e); known && known->size() == order.size()) {
      Dims out;
      for (int64_t axis : order) out.push_back((*known)[static_cast<size_t>(axis)]);
      return r_.ints(out, type_of(e).dtype);
    }
    return r_.add(raw::gather(), {e, r_.ints(order), r_.number(0)});
  }

  void go_on(Node& n) {
    const Shape& shape = n.outputs[0].shape;
    if (!shape.has_rank()) return;
    InlineVector<Edge, 3> in;
    for (const Edge& e : n.inputs) {
      const Shape& own = type_of(e).shape;
      bool whole = own == shape && comes_back(e);
      bool small = own.is_full() && own.rank() <= shape.rank() &&
                   (own.size() == 1 || (shape.is_full() && own.size() * kSmall <= shape.size()));
      if (!whole && !small) return;
    }
    for (const Edge& e : n.inputs)
      in.push_back(type_of(e).shape == shape ? last(e) : small(e, shape.rank()));
    r_.replace(first(r_.add(*n.op, std::move(in), n.attrs)));
  }

  Edge small(const Edge& e, int rank) {
    const Shape& own = type_of(e).shape;
    if (own.size() == 1)
      return own.rank() == 0 ? e : r_.add(raw::reshape(), {e, r_.ints(Dims{}, int64)});
    Dims all;
    for (int i = own.rank(); i < rank; ++i) all.push_back(1);
    for (int i = 0; i < own.rank(); ++i) all.push_back(own[i]);
    return last(r_.add(raw::reshape(), {e, r_.ints(all, int64)}));
  }

  // A reduction of what comes back, over the axes where they were before.
  void fold(Node& n) {
    if (!comes_back(n.inputs[0])) return;
    auto axes = ints_of(n.inputs[1]);
    if (!axes) return;
    int rank = type_of(n.inputs[0]).shape.rank();
    Dims order = first_order(rank), there;
    std::vector<bool> gone(static_cast<size_t>(rank), false);
    for (int64_t a : *axes) {
      if (a < 0) a += rank;
      there.push_back(order[static_cast<size_t>(a)]);
      gone[static_cast<size_t>(a)] = true;
    }
    bool keeps = attrs_of<FoldAttrs>(*n.op, n.attrs).keep_dims();
    int64_t before = -1;  // axes that stay must stay in order
    for (size_t i = 0; i < order.size() && !keeps; ++i) {
      if (gone[i]) continue;
      if (order[i] < before) return;
      before = order[i];
    }
    Edge made = r_.add(*n.op, {n.inputs[0].node->inputs[0], r_.ints(there)}, n.attrs);
    r_.replace(keeps ? first(made) : made);
  }

  Rewriter r_;
};

}  // namespace

bool layouts(Graph& g) { return Layouts(g).run(); }

}  // namespace holdfast
