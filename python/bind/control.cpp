// Branches, loops and lists for the package's own Python code.
#include "holdfast/exec/control.h"

#include "holdfast/ops/list.h"
#include "python/bind/call.h"
#include "python/bind/nb.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace holdfast::py {
namespace {

// A Python callable's list of tensors. Its exception passes through C++ as it is.
Tensors tensors_from(nb::object list) {
  Tensors out;
  for (nb::handle h : list) {
    if (h.is_none())
      out.push_back(Tensor());
    else if (is_tensor(h.ptr()))
      out.push_back(tensor_of(h.ptr()));
    else
      type_error("a branch or a body gave " + repr_of(h.ptr()) + ", expected tensors");
  }
  return out;
}

nb::list to_list(std::span<const Tensor> tensors) {
  nb::list out;
  for (const Tensor& t : tensors) out.append(t.defined() ? nb::cast(t) : nb::none());
  return out;
}

std::vector<Tensor> given(nb::handle list) {
  std::vector<Tensor> out;
  for (const Tensor& t : tensors_from(nb::borrow<nb::object>(list))) out.push_back(t);
  return out;
}

BranchFn branch_of(nb::callable f) {
  return [f] { return tensors_from(f()); };
}
LoopFn part_of(nb::callable f) {
  return [f](std::span<const Tensor> variables) { return tensors_from(f(*to_list(variables))); };
}

ElementType element(nb::handle dtype, nb::handle shape) {
  ElementType e{dtype_of_object(dtype.ptr()), Shape::unknown()};
  if (auto dims = shape.is_none() ? std::nullopt : ints_of(shape.ptr())) e.shape = Shape(*dims);
  return e;
}

}  // namespace

void bind_control(nb::module_& m) {
  m.def(
      "cond",
      [](const Tensor& p, nb::callable then, nb::callable otherwise, const std::string& a,
         const std::string& b) {
        return run([&] {
          mark();
          return to_list(cond(p, branch_of(then), branch_of(otherwise), {a, b}));
        });
      },
      "pred"_a, "then"_a, "otherwise"_a, "then_name"_a = "true branch",
      "else_name"_a = "false branch");
  m.def(
      "while_loop",
      [](nb::callable condition, nb::callable body, nb::handle variables, nb::handle maximum,
         nb::handle invariants, const std::string& a, const std::string& b) {
        return run([&] {
          mark();
          LoopOptions o;
          if (!maximum.is_none()) o.maximum_iterations = nb::cast<int64_t>(maximum);
          if (!invariants.is_none()) {
            for (nb::handle h : invariants) {
              if (h.is_none())
                o.shape_invariants.emplace_back();
              else if (nb::object(h.attr("rank")).is_none())
                o.shape_invariants.emplace_back(Shape::unknown());
              else if (auto dims = ints_of(nb::object(h.attr("as_list")()).ptr()))
                o.shape_invariants.emplace_back(Shape(*dims));
            }
          }
          return to_list(
              while_loop(part_of(condition), part_of(body), given(variables), o, {a, b}));
        });
      },
      "condition"_a, "body"_a, "variables"_a, "maximum_iterations"_a.none() = nb::none(),
      "shape_invariants"_a.none() = nb::none(), "condition_name"_a = "condition",
      "body_name"_a = "body");
  m.def(
      "list_reserve",
      [](nb::handle dtype, nb::handle shape, const Tensor& n) {
        return run([&] {
          mark();
          return list_reserve(element(dtype, shape), n);
        });
      },
      "dtype"_a, "shape"_a.none(), "count"_a);
  m.def(
      "list_set",
      [](const Tensor& l, const Tensor& i, const Tensor& v, bool grows) {
        return run([&] {
          mark();
          return list_set(l, i, v, grows);
        });
      },
      "list"_a, "index"_a, "value"_a, "grows"_a = true);
  m.def("list_push", [](const Tensor& l, const Tensor& v) {
    return run([&] {
      mark();
      return list_push(l, v);
    });
  });
  m.def(
      "list_get",
      [](const Tensor& l, const Tensor& i, nb::handle dtype, nb::handle shape) {
        return run([&] {
          mark();
          return list_get(l, i, element(dtype, shape));
        });
      },
      "list"_a, "index"_a, "dtype"_a, "shape"_a.none());
  m.def("list_length", [](const Tensor& l) {
    return run([&] {
      mark();
      return list_length(l);
    });
  });
  m.def(
      "list_stack",
      [](const Tensor& l, nb::handle dtype, nb::handle shape) {
        return run([&] {
          mark();
          return list_stack(l, element(dtype, shape));
        });
      },
      "list"_a, "dtype"_a, "shape"_a.none());
  m.def(
      "list_concat",
      [](const Tensor& l, nb::handle dtype, nb::handle shape) {
        return run([&] {
          mark();
          return list_concat(l, element(dtype, shape));
        });
      },
      "list"_a, "dtype"_a, "shape"_a.none());
  m.def("list_unstack", [](const Tensor& v) {
    return run([&] {
      mark();
      return list_unstack(v);
    });
  });
}

}  // namespace holdfast::py
