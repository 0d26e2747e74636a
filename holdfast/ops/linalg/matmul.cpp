// Matrix products: the raw ops, and the function that picks among them.
#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <vector>

#include "holdfast/base/text.h"
#include "holdfast/op/advice.h"
#include "holdfast/op/op.h"
#include "holdfast/op/refuse.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/linalg.h"
#include "holdfast/ops/linalg/cpu/gemm.h"
#include "holdfast/ops/math.h"
#include "holdfast/tensor/visit.h"

namespace holdfast {
namespace {

struct MatMulAttrs {
  Attr<bool> transpose_a;
  Attr<bool> transpose_b;
};
struct BatchAttrs {
  Attr<bool> adj_x;
  Attr<bool> adj_y;
};
struct BatchToAttrs {
  Attr<DType> Tout;
  Attr<bool> adj_x;
  Attr<bool> adj_y;
};

// The sizes of a product, checked: m, k of input 0 and k, n of input 1, in their last two axes.
Shape product_of(Infer& s, bool ta, bool tb) {
  int64_t m = s.shape(0)[ta ? -1 : -2], k = s.shape(0)[ta ? -2 : -1];
  int64_t k2 = s.shape(1)[tb ? -1 : -2], n = s.shape(1)[tb ? -2 : -1];
  if (k >= 0 && k2 >= 0 && k != k2) {
    std::vector<Fix> fixes;
    std::string second = operand_source(s.op(), std::array{s.input(0), s.input(1)}, 1).text;
    bool by_operator = source_text(here()).find('@') != std::string::npos;  // takes no arguments
    if (n == k && by_operator)
      fixes.push_back(manual_fix(
          cat("`", written(Advice::kTranspose, {second}), "`: then the inner sizes are equal")));
    else if (n == k)
      fixes.push_back(argument_fix({.name = "transpose_b",
                                    .value = written(!tb),
                                    .reason = "then the inner sizes are equal",
                                    .function = tb ? "" : "matmul"}));
    std::string first = operand_source(s.op(), std::array{s.input(0), s.input(1)}, 0).text;
    s.bad_shape(1,
                cat("an inner size of ", k, " to match `", first, "` ", s.shape(0).text(),
                    ta ? " transposed" : ""),
                std::move(fixes));
  }
  return Shape{m, n};
}

void infer_matmul(Infer& s) {
  s.need_rank(0, 2, 2);
  s.need_rank(1, 2, 2);
  if (!s.shape(0).has_rank() || !s.shape(1).has_rank())
    return s.output(s.dtype(), Shape::of_rank(2));
  auto a = s.attrs<MatMulAttrs>();
  s.output(s.dtype(), product_of(s, a.transpose_a(), a.transpose_b()));
}

void infer_batch(Infer& s, DType out, bool adj_x, bool adj_y, bool broadcasts) {
  s.need_rank(0, 2);
  s.need_rank(1, 2);
  if (!s.shape(0).has_rank() || !s.shape(1).has_rank()) return s.output(out, Shape::unknown());
  Shape last = product_of(s, adj_x, adj_y);
  auto leading = [](const Shape& t) { return Shape(Dims(t.begin(), t.end() - 2)); };
  Shape x = leading(s.shape(0)), y = leading(s.shape(1));
  auto batch = broadcasts ? broadcast(x, y) : x.merged(y);
  if (!batch)
    s.bad_shape(1, cat("leading axes that ", broadcasts ? "broadcast with" : "equal", " those of ",
                       s.shape(0).text()));
  Dims dims = batch->dims();
  dims.append(last.begin(), last.end());
  s.output(out, Shape(dims));
}
void infer_batch_v1(Infer& s) {
  auto a = s.attrs<BatchAttrs>();
  infer_batch(s, s.dtype(), a.adj_x(), a.adj_y(), false);
}
void infer_batch_v2(Infer& s) {
  auto a = s.attrs<BatchAttrs>();
  infer_batch(s, s.dtype(), a.adj_x(), a.adj_y(), true);
}
void infer_batch_v3(Infer& s) {
  constexpr DTypes bytes{int8, uint8};
  auto a = s.attrs<BatchToAttrs>();
  DType x = s.dtype(0), y = s.dtype(1), out = a.Tout();
  bool widens = bytes.has(x) && bytes.has(y) && out == int32;
  if (!widens && (x != y || out != x))
    s.unsupported(cat(name(x), " x ", name(y), " -> ", name(out)),
                  "operands and result of one dtype, and (u)int8 x (u)int8 -> int32");
  infer_batch(s, out, a.adj_x(), a.adj_y(), true);
}

// Where each product of a batch finds its operand, in matrices: broadcast axes have stride 0.
std::vector<int64_t> places(const Shape& operand, const Shape& out) {
  int batch = out.rank() - 2, own = operand.rank() - 2;
  std::vector<int64_t> at{0};
  for (int i = 0; i < batch; ++i) {
    int64_t mine = i < batch - own ? 1 : operand[i - (batch - own)];
    std::vector<int64_t> next;
    next.reserve(at.size() * static_cast<size_t>(out[i]));
    for (int64_t base : at)
      for (int64_t j = 0; j < out[i]; ++j) next.push_back(base * mine + (mine == 1 ? 0 : j));
    at = std::move(next);
  }
  return at;
}

// What is multiplied in a wider type: the 16-bit floats, and integers of fewer than 32 bits.
DType working_type(DType d) {
  if (d == float16 || d == bfloat16) return float32;
  return size_of(d) < 4 ? int32 : d;
}

Tensor converted(const Call& c, const Tensor& t, DType to) {
  if (t.dtype() == to) return t;
  Tensor out = c.scratch(to, t.shape());
  visit_plain(t.dtype(), [&]<class T>(T) {
    const T* from = t.raw<T>();
    if constexpr (!is_complex_v<T>) {
      if (to == float32)
        std::transform(from, from + t.size(), out.mutable_raw<float>(),
                       [](T v) { return static_cast<float>(v); });
      else
        std::transform(from, from + t.size(), out.mutable_raw<int32_t>(),
                       [](T v) { return static_cast<int32_t>(v); });
    }
  });
  return out;
}

void narrow(const Tensor& from, const Tensor& to) {
  visit_plain(to.dtype(), [&]<class T>(T) {
    if constexpr (!is_complex_v<T>) {
      T* p = to.mutable_raw<T>();
      if (from.dtype() == float32)
        std::transform(from.raw<float>(), from.raw<float>() + from.size(), p,
                       [](float v) { return static_cast<T>(v); });
      else
        std::transform(from.raw<int32_t>(), from.raw<int32_t>() + from.size(), p,
                       [](int32_t v) { return static_cast<T>(v); });
    }
  });
}

// Which product reads which matrices of operands whose leading axes broadcast both ways.
struct Places {
  Places(const Shape& a, const Shape& b, const Shape& y) : of_a(places(a, y)), of_b(places(b, y)) {}
  void put_into(gemm::Batch& batch) const {
    batch.a_at = of_a.data();
    batch.b_at = of_b.data();
  }
  std::vector<int64_t> of_a, of_b;
};
constexpr int64_t kMostPlaces = 4096;  // kept; longer lists are made by each call

// What the sizes decide.
struct Products final : Prepared {
  gemm::Product product;  // in the dtype of the result
  gemm::Batch batch;
  bool broadcasts = false;
  std::optional<Places> places;
  gemm::BatchPrimitives kept;
};

Preparation prepare_product(const Types& t, gemm::Reading read_a, gemm::Reading read_b) {
  const Shape &a = t.shape(0), &b = t.shape(1), &y = t.out_shape();
  auto made = make_ref<Products>();
  gemm::Product& p = made->product;
  p = {t.out_dtype(), y[-2], y[-1], a[read_a.transposed ? -2 : -1], read_a, read_b};
  gemm::Batch& batch = made->batch;
  if (y.size() == 0 || p.k == 0) return made;
  batch.size = y.size() / p.m / p.n;
  int64_t of_a = a.size() / p.m / p.k, of_b = b.size() / p.k / p.n;
  batch.a_in_order = of_a == batch.size;
  batch.b_in_order = of_b == batch.size;
  batch.b_shared = of_b == 1;
  auto plain = [&](int64_t matrices) { return matrices == 1 || matrices == batch.size; };
  made->broadcasts = !plain(of_a) || !plain(of_b);
  if (made->broadcasts && batch.size <= kMostPlaces) made->places.emplace(a, b, y);
  if (made->places) made->places->put_into(batch);
  return made;
}

Status run_product(Call& c, const Prepared& prepared) {
  const auto& made = static_cast<const Products&>(prepared);
  const Tensor &a = c.in(0), &b = c.in(1);
  Tensor& y = c.out();
  if (y.size() == 0) return {};
  if (made.product.k == 0) {
    std::memset(y.mutable_raw(), 0, static_cast<size_t>(y.bytes()));
    return {};
  }
  gemm::Product p = made.product;
  gemm::Batch batch = made.batch;
  std::optional<Places> places;
  if (made.broadcasts && !made.places)
    places.emplace(a.shape(), b.shape(), y.shape()).put_into(batch);
  if (p.dtype == bfloat16 &&
      gemm::multiply_bfloat(p, batch, a.raw(), b.raw(), y.mutable_raw(), made.kept))
    return {};
  p.dtype = working_type(y.dtype());
  if (p.dtype == a.dtype())
    return gemm::multiply(p, batch, a.raw(), b.raw(), y.mutable_raw(), &made.kept);
  Tensor wide = y.dtype() == p.dtype ? y : c.scratch(p.dtype, y.shape());
  Tensor wa = converted(c, a, p.dtype), wb = converted(c, b, p.dtype);
  Status s = gemm::multiply(p, batch, wa.raw(), wb.raw(), wide.mutable_raw(), &made.kept);
  if (s.ok() && y.dtype() != p.dtype) narrow(wide, y);
  return s;
}

Preparation prepare_matmul(const Types& t) {
  auto a = t.attrs<MatMulAttrs>();
  return prepare_product(t, {a.transpose_a(), false}, {a.transpose_b(), false});
}
template <class A>
Preparation prepare_batch(const Types& t) {
  auto a = t.attrs<A>();
  bool ax = a.adj_x(), ay = a.adj_y(), complex = is_complex(t.dtype());
  return prepare_product(t, {ax, ax && complex}, {ay, ay && complex});
}

// A sum of products for each element: as long as what of the left matrices is not rows of the
// result.
double product_flops(std::span<const Shape> in, const Shape& out) {
  const Shape& a = in[0];
  auto size = [](int64_t n) { return static_cast<double>(std::max<int64_t>(1, n)); };
  return 2 * static_cast<double>(out.size()) * size(a[-1]) * static_cast<double>(a[-2]) /
         size(out[-2]);
}

Tensor conj_if_complex(const Tensor& t) { return is_complex(t.dtype()) ? conj(t) : t; }

}  // namespace

static const Op matmul_op =
    RAW_OP(MatMul)
        .inputs("a, b")
        .attr("transpose_a", false)
        .attr("transpose_b", false)
        .attr("grad_a", false)
        .attr("grad_b", false)
        .attrs<&MatMulAttrs::transpose_a, &MatMulAttrs::transpose_b>()
        .flops(product_flops)
        .outputs("product")
        .dtypes(kNumbers)
        .doc("Product of two matrices.")
        .infer(infer_matmul)
        .kernel("gemm", prepare_matmul, run_product)
        .gradient(+[](Grad& g) -> Tensors {
          auto attrs = g.attrs<MatMulAttrs>();
          bool ta = attrs.transpose_a(), tb = attrs.transpose_b();
          Tensor dy = g.dy(), da, db;
          auto times = [](const Tensor& x, const Tensor& y, bool tx, bool ty) {
            return matmul(x, y, {.transpose_a = tx, .transpose_b = ty});
          };
          if (g.wants(0)) {
            Tensor b = conj_if_complex(g.x(1));
            da = ta ? times(b, dy, tb, true) : times(dy, b, false, !tb);
          }
          if (g.wants(1)) {
            Tensor a = conj_if_complex(g.x(0));
            db = tb ? times(dy, a, true, ta) : times(a, dy, !ta, false);
          }
          return {da, db};
        })
        .keeps("a, b");

// Matrices one below the other; empty where it is not known how wide they are.
static Tensor in_one_column(const Tensor& t) {
  int64_t width = t.shape()[-1];
  return width > 0 ? reshape(t, {-1, width}) : Tensor();
}

// The formula of all three batched ops: `adj` are their attributes.
static Tensors batch_gradient(Grad& g, const Op& product, bool adj_x, bool adj_y,
                              const Attrs& before) {
  Tensor dy = g.dy(), dx, dz;
  auto times = [&](const Tensor& x, const Tensor& y, bool ax, bool ay) {
    Attrs attrs = before;
    attrs.push_back(ax);
    attrs.push_back(ay);
    return product({x, y}, attrs);
  };
  if (g.wants(0))
    dx = sum_to(adj_x ? times(g.x(1), dy, adj_y, true) : times(dy, g.x(1), false, !adj_y), g.x(0));
  // One matrix times many, as a layer over sequences has it: the sum of many products is one
  // product of all their rows.
  if (g.wants(1) && !adj_x && g.x(1).rank() == 2 && g.x(0).rank() > 2) {
    Tensor x = in_one_column(g.x(0)), d = in_one_column(dy);
    if (x.defined() && d.defined())
      dz = adj_y ? times(d, x, true, false) : times(x, d, true, false);
  }
  if (g.wants(1) && !dz.defined())
    dz = sum_to(adj_y ? times(dy, g.x(0), true, adj_x) : times(g.x(0), dy, !adj_x, false), g.x(1));
  return {dx, dz};
}

static const Op batch_v1_op =
    RAW_OP(BatchMatMul)
        .inputs("x, y")
        .attr("adj_x", false)
        .attr("adj_y", false)
        .attr("grad_x", false)
        .attr("grad_y", false)
        .attrs<&BatchAttrs::adj_x, &BatchAttrs::adj_y>()
        .flops(product_flops)
        .dtypes(kNumbers)
        .doc("Products of the matrices in the last two axes; the leading axes must be equal.")
        .infer(infer_batch_v1)
        .kernel("gemm", prepare_batch<BatchAttrs>, run_product)
        .gradient(+[](Grad& g) -> Tensors {
          auto a = g.attrs<BatchAttrs>();
          return batch_gradient(g, batch_v1_op, a.adj_x(), a.adj_y(), {});
        })
        .keeps("x, y");

static const Op batch_v2_op =
    RAW_OP(BatchMatMulV2)
        .inputs("x, y")
        .attr("adj_x", false)
        .attr("adj_y", false)
        .attr("grad_x", false)
        .attr("grad_y", false)
        .attrs<&BatchAttrs::adj_x, &BatchAttrs::adj_y>()
        .flops(product_flops)
        .dtypes(kNumbers)
        .doc("Products of the matrices in the last two axes; the leading axes broadcast.")
        .infer(infer_batch_v2)
        .kernel("gemm", prepare_batch<BatchAttrs>, run_product)
        .gradient(+[](Grad& g) -> Tensors {
          auto a = g.attrs<BatchAttrs>();
          return batch_gradient(g, batch_v2_op, a.adj_x(), a.adj_y(), {});
        })
        .keeps("x, y");

static const Op batch_v3_op =
    RAW_OP(BatchMatMulV3)
        .inputs("x: Ta, y: Tb")
        .attr("Tout")
        .attr("adj_x", false)
        .attr("adj_y", false)
        .attr("grad_x", false)
        .attr("grad_y", false)
        .attrs<&BatchToAttrs::Tout, &BatchToAttrs::adj_x, &BatchToAttrs::adj_y>()
        .flops(product_flops)
        .dtypes(kNumbers, "Ta")
        .dtypes(kNumbers, "Tb")
        .doc("Products of the matrices in the last two axes, in the dtype `Tout`.")
        .infer(infer_batch_v3)
        .kernel("gemm", prepare_batch<BatchToAttrs>, run_product)
        .gradient(+[](Grad& g) -> Tensors {
          if (!is_differentiable(g.x(0).dtype())) return {Tensor(), Tensor()};
          auto a = g.attrs<BatchToAttrs>();
          return batch_gradient(g, batch_v3_op, a.adj_x(), a.adj_y(), {a.Tout()});
        })
        .keeps("x, y");

REGISTER(
    FUNCTION(&matmul)
        .args("a, b")
        .options<&MatMulOptions::transpose_a, &MatMulOptions::transpose_b,
                 &MatMulOptions::adjoint_a, &MatMulOptions::adjoint_b, &MatMulOptions::a_is_sparse,
                 &MatMulOptions::b_is_sparse, &MatMulOptions::output_type, &MatMulOptions::grad_a,
                 &MatMulOptions::grad_b>("transpose_a, transpose_b, adjoint_a, adjoint_b, "
                                         "a_is_sparse, b_is_sparse, output_type, grad_a, grad_b")
        .python("matmul, linalg.matmul")
        .doc("Matrix product of the last two axes; leading axes are batches and broadcast.")
        .samples("uniform(3, 4), uniform(4, 5)",
                 "uniform(4, 3), uniform(5, 4), transpose_a=True, transpose_b=True",
                 "uniform(2, 1, 3, 4), uniform(5, 4, 2)",
                 "uniform(2, 4, 3), uniform(4, 2), transpose_a=True",
                 "complexes(3, 4), complexes(5, 4), adjoint_b=True", "ints(3, 4), ints(4, 5)",
                 "uniform(3, 0), uniform(0, 2)")
        .reference("(np.swapaxes(a, -1, -2) if transpose_a else np.conj(np.swapaxes(a, -1, -2)) if "
                   "adjoint_a else a) @ "
                   "(np.swapaxes(b, -1, -2) if transpose_b else np.conj(np.swapaxes(b, -1, -2)) if "
                   "adjoint_b else b)"));
Tensor matmul(const In& a, const In& b, const MatMulOptions& o) {
  if (o.transpose_a && o.adjoint_a)
    fail(Code::E1103, "matmul: got `transpose_a` and `adjoint_a`, expected one of them at most");
  if (o.transpose_b && o.adjoint_b)
    fail(Code::E1103, "matmul: got `transpose_b` and `adjoint_b`, expected one of them at most");
  Tensor x = a.weak() ? a.tensor(b.dtype()) : a.tensor(), y = b.tensor(x.dtype());
  if (o.output_type && x.dtype() != y.dtype() && is_floating(*o.output_type)) {
    // Bytes beside floats are floats of few digits.
    x = cast(x, *o.output_type);
    y = cast(y, *o.output_type);
  }
  bool batched = x.rank() != 2 || y.rank() != 2;
  if (batched || o.output_type) {
    // The batched ops know adjoints only: a transpose is the adjoint of the conjugate.
    if (o.transpose_a) x = conj_if_complex(x);
    if (o.transpose_b) y = conj_if_complex(y);
    bool adj_x = o.transpose_a || o.adjoint_a, adj_y = o.transpose_b || o.adjoint_b;
    if (o.output_type && (*o.output_type != x.dtype() || *o.output_type != y.dtype()))
      return batch_v3_op({x, y}, {*o.output_type, adj_x, adj_y, o.grad_a, o.grad_b});
    return batch_v2_op({x, y}, {adj_x, adj_y, o.grad_a, o.grad_b});
  }
  if (o.adjoint_a) x = conj_if_complex(x);
  if (o.adjoint_b) y = conj_if_complex(y);
  return matmul_op(
      {x, y}, {o.transpose_a || o.adjoint_a, o.transpose_b || o.adjoint_b, o.grad_a, o.grad_b});
}

}  // namespace holdfast
