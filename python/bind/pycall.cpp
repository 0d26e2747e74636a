// Ops whose kernel is Python code: what a graph calls back each time it runs.
#include <algorithm>

#include "holdfast/autodiff/tape.h"
#include "holdfast/base/text.h"
#include "holdfast/device/device.h"
#include "holdfast/op/refuse.h"
#include "holdfast/ops/debugging/check.h"
#include "holdfast/ops/print.h"
#include "holdfast/ops/random/own_streams.h"
#include "python/bind/graph_keeper.h"
#include "python/bind/nb.h"
#include "python/bind/object.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace holdfast::py {
namespace {

// What a node calls, and what comes of it. `forward(inputs, orders)` gives the outputs and, where
// gradients of some orders may be asked for, a record that `backward(record, arrived)` turns into
// the gradients of the floats among the inputs and a record for the next order.
class PyCode final : public RefCounted, public HoldsPython {
 public:
  PyCode(std::string called, Object code, Object gradient, std::vector<DType> results,
         std::vector<Shape> result_shapes)
      : name(std::move(called)),
        forward(make_ref<Held>(std::move(code))),
        dtypes(std::move(results)),
        shapes(std::move(result_shapes)) {
    if (gradient.get() != Py_None) backward = make_ref<Held>(std::move(gradient));
  }
  std::string text() const override { return name; }
  std::vector<Held*> held() const override {
    if (!backward) return {forward.get()};
    return {forward.get(), backward.get()};
  }
  void expect(int order) {
    for (int now = orders; now < order && !orders.compare_exchange_weak(now, order);) {
    }
  }

  const std::string name;
  const Ref<Held> forward;
  Ref<Held> backward;  // null: it has no gradient
  const std::vector<DType> dtypes;
  const std::vector<Shape> shapes;
  std::atomic<int> orders{0};  // of gradients that have been asked for
};

struct CodeAttrs {
  Attr<RefCounted> code;
};
struct BackwardAttrs {
  Attr<RefCounted> code;
  Attr<int64_t> order;
  Attr<int64_t> arrived;  // how many inputs are gradients
};

PyCode& code_of(const CodeAttrs& a) {
  auto* code = dynamic_cast<PyCode*>(a.code());
  if (!code) type_error("`code` is no Python function of a graph");
  return *code;
}

Object list_of(std::span<const Tensor> tensors) {
  Object out = Object::steal(PyList_New(0));
  for (const Tensor& t : tensors) {
    Object o = t.defined() ? Object::steal(wrap(t)) : Object::share(Py_None);
    if (PyList_Append(out.get(), o.get()) < 0) throw PythonError{};
  }
  return out;
}

// Calls what a node holds. With the GIL.
Object called(const PyCode& code, const Ref<Held>& what, PyObject* first, PyObject* second) {
  Object callable = what->get();
  if (!callable)
    fail(Code::E1105,
         cat("`", code.name, "` is called after the function or graph that it is part of is gone"),
         "the Python code went with it",
         {manual_fix("keep the function or graph as long as its results are needed")});
  random::WithoutSource own;
  return Object::steal(PyObject_CallFunctionObjArgs(callable.get(), first, second, nullptr));
}

// A number that carries what was recorded to the gradient, which runs after it.
Tensor carrier_of(const Object& recorded) {
  Tensor carrier = Tensor::scalar(int64_t{0});
  if (recorded.get() != Py_None) carrier.rep()->beyond = make_ref<Held>(recorded);
  return carrier;
}

Tensor item_of(PyObject* list, size_t i) {
  Object item = Object::steal(PySequence_GetItem(list, static_cast<Py_ssize_t>(i)));
  if (!is_tensor(item.get()))
    type_error("a Python function of a graph gave " + repr_of(item.get()));
  return tensor_of(item.get());
}

Tensors inputs_of(const Call& c, int first = 0) {
  Tensors in;
  for (int i = first; i < c.inputs(); ++i) in.push_back(c.in(i));
  return in;
}

// The last output carries the record.
void infer_forward(Infer& s) {
  const PyCode& code = code_of(s.attrs<CodeAttrs>());
  for (size_t i = 0; i < code.dtypes.size(); ++i) s.output(code.dtypes[i], code.shapes[i]);
  s.output(int64, Shape{});
}

Status run_forward(Call& c) {
  const PyCode& code = code_of(c.attrs<CodeAttrs>());
  NeedGil gil("a function of Python's");
  Object in = list_of(inputs_of(c));
  // Tapes around a call may ask for more orders than ever before.
  size_t asked = static_cast<size_t>(code.orders.load());
  Object orders =
      Object::steal(PyLong_FromSize_t(asked ? std::max(asked, GradientTape::Inside::orders()) : 0));
  Object both = called(code, code.forward, in.get(), orders.get());
  Object outputs = Object::steal(PySequence_GetItem(both.get(), 0)),
         recorded = Object::steal(PySequence_GetItem(both.get(), 1));
  for (size_t i = 0; i < code.dtypes.size(); ++i) {
    Tensor t = item_of(outputs.get(), i);
    if (t.dtype() != code.dtypes[i])
      return {Code::E1101, cat("`", code.name, "` returned ", type_text(t), ", expected ",
                               holdfast::name(code.dtypes[i]), ": `Tout` says so")};
    if (!t.shape().compatible(code.shapes[i]))
      return {Code::E1102, cat("`", code.name, "` returned ", type_text(t), ", expected shape ",
                               code.shapes[i].text())};
    c.set_out(static_cast<int>(i), view_of(t, t.shape()));
  }
  c.set_out(static_cast<int>(code.dtypes.size()), carrier_of(recorded));
  return {};
}

// Inputs: what carries the record, what arrived for each output of the op before, and those of its
// inputs that have gradients, for their shapes.
void infer_backward(Infer& s) {
  code_of(s.attrs<CodeAttrs>());
  int64_t arrived = s.attrs<BackwardAttrs>().arrived();
  if (arrived < 0 || arrived >= s.inputs())
    s.bad_value("arrived", cat(arrived), cat("a number in [0, ", s.inputs(), ")"));
  for (int i = 1 + static_cast<int>(arrived); i < s.inputs(); ++i) s.output(s.dtype(i), s.shape(i));
  s.output(int64, Shape{});
}

Status run_backward(Call& c) {
  const PyCode& code = code_of(c.attrs<CodeAttrs>());
  auto arrived = static_cast<int>(c.attrs<BackwardAttrs>().arrived()), found = c.outputs() - 1;
  auto* recorded = dynamic_cast<Held*>(c.in(0).rep()->beyond.get());
  if (!recorded)
    return {Code::E1105, cat("`", code.name, "` kept no record for its gradient"),
            "the gradient needs the run of the function before it"};
  NeedGil gil("the gradient of a Python function");
  Object dy = list_of(std::span<const Tensor>(inputs_of(c, 1)).first(static_cast<size_t>(arrived)));
  Object both = called(code, code.backward, recorded->get().get(), dy.get());
  Object dx = Object::steal(PySequence_GetItem(both.get(), 0)),
         next = Object::steal(PySequence_GetItem(both.get(), 1));
  for (int i = 0; i < found; ++i) {
    Tensor t = item_of(dx.get(), static_cast<size_t>(i));
    const Tensor& x = c.in(1 + arrived + i);
    if (t.dtype() != x.dtype() || !(t.shape() == x.shape()))
      return {Code::E1102, cat("the gradient of `", code.name, "` is ", type_text(t), ", expected ",
                               type_text(x))};
    c.set_out(i, view_of(t, t.shape()));
  }
  c.set_out(found, carrier_of(next));
  return {};
}

#define HOLDFAST_PYTHON_OP(Name)                            \
  RAW_OP(Name)                                              \
      .inputs("input*: any")                                \
      .attr("code")                                         \
      .attrs<&CodeAttrs::code>()                            \
      .infer(infer_forward)                                 \
      .kernel("Python", run_forward)                        \
      .kernel_for(DeviceKind::kCuda, "Python", run_forward) \
      .on_host()

const OpDef& backward_op();

// The gradient of an op whose last output carries a record, of the order given, with respect to its
// inputs from `first` on. The others get none.
Tensors back(Grad& g, int first, int order) {
  PyCode& code = code_of(g.attrs<CodeAttrs>());
  Tensors dx(static_cast<size_t>(g.inputs()));
  if (!code.backward) return dx;
  code.expect(order);
  int outputs = g.outputs() - 1;
  Tensors in{g.y(outputs)}, found;
  for (int i = 0; i < outputs; ++i)
    in.push_back(is_differentiable(g.y(i).dtype()) ? g.dy(i) : g.y(i));
  for (int i = first; i < g.inputs(); ++i)
    if (is_differentiable(g.x(i).dtype())) in.push_back(g.x(i));
  apply(backward_op(), in,
        Attrs{g.attrs<CodeAttrs>().code.arg(), Arg(int64_t{order}), Arg(int64_t{outputs})}, found);
  size_t next = 0;
  for (int i = first; i < g.inputs(); ++i)
    if (is_differentiable(g.x(i).dtype())) dx[static_cast<size_t>(i)] = found[next++];
  return dx;
}

Object& print_hook() {
  static Object* hook = new Object;  // outlives the interpreter, which may print as it ends
  return *hook;
}

void print_sink(bool to_stdout, const std::string& text) {
  WithGil gil;
  if (!gil) return;
  Object bytes =
      Object::steal(PyBytes_FromStringAndSize(text.data(), static_cast<Py_ssize_t>(text.size())));
  Object::steal(PyObject_CallFunctionObjArgs(print_hook().get(), to_stdout ? Py_True : Py_False,
                                             bytes.get(), nullptr));
}

Tensors back_of_forward(Grad& g) { return back(g, 0, 1); }
Tensors back_of_backward(Grad& g) {
  return back(g, 1, static_cast<int>(g.attrs<BackwardAttrs>().order()) + 1);
}

const Op grad_op =
    RAW_OP(EagerPyFuncGrad)
        .doc("The gradient of Python code, by the tape that watched it.")
        .inputs("record: K!, input*: any")
        .attr("code")
        .attr("order")
        .attr("arrived")
        .attrs<&CodeAttrs::code>()
        .attrs<&BackwardAttrs::code, &BackwardAttrs::order, &BackwardAttrs::arrived>()
        .infer(infer_backward)
        .kernel("Python", run_backward)
        .kernel_for(DeviceKind::kCuda, "Python", run_backward)
        .on_host()
        .stateful()
        .gradient(back_of_backward);
const OpDef& backward_op() { return grad_op.def(); }

const Op ops[] = {
    HOLDFAST_PYTHON_OP(EagerPyFunc)
        .doc("Python code over tensors, with a gradient.")
        .stateful()
        .gradient(back_of_forward),
    HOLDFAST_PYTHON_OP(PyFunc).doc("Python code over arrays.").stateful().no_gradient(),
    HOLDFAST_PYTHON_OP(PyFuncStateless)
        .doc("Python code over arrays that may be left out when nobody needs its results.")
        .no_gradient(),
};

}  // namespace

void bind_pycall(nb::module_& m) {
  m.def(
      "set_print_sink",
      [](nb::object f) {
        print_hook() = Object::share(f.ptr());
        set_print_sink(&print_sink);
      },
      "What is called with text for stdout (True) or stderr, as bytes.");
  m.def(
      "assert_shapes",
      [](const std::vector<Tensor>& tensors, const std::vector<std::string>& words,
         const std::vector<std::string>& symbols, const std::vector<int64_t>& counts,
         const std::string& message) {
        run([&] {
          mark();
          assert_shapes_of({"assert_shapes", tensors, words, message}, symbols, counts);
          return 0;
        });
      },
      "tensors"_a, "words"_a, "symbols"_a, "counts"_a, "message"_a);
  m.def(
      "element_check",
      [](const std::string& check, const std::vector<Tensor>& operands, nb::object rtol,
         nb::object atol) {
        return run([&] {
          mark();
          auto given = [](nb::handle t) { return t.is_none() ? Tensor() : tensor_of(t.ptr()); };
          ElementCheck e = element_check(check, operands, given(rtol), given(atol));
          return nb::make_tuple(e.op, nb::steal(wrap(e.condition)), e.summarize);
        });
      },
      "check"_a, "operands"_a, "rtol"_a = nb::none(), "atol"_a = nb::none(),
      "The raw op of a check, its condition, and how many failing elements it shows.");
  m.def("rank_fits", [](const std::string& check, int64_t rank, const std::vector<int64_t>& ranks) {
    return rank_fits(check, rank, ranks);
  });
  m.def("wrong_dtype", [](const std::string& check, const Tensor& x, const std::string& word,
                          const std::string& expected, const std::string& message) {
    run([&] {
      mark();
      wrong_dtype({check, {x}, {word}, message}, expected);
      return 0;
    });
  });
  m.def(
      "call_python",
      [](const std::string& op, const std::string& name, nb::object forward, nb::object backward,
         const std::vector<Tensor>& inputs, const std::vector<nb::object>& dtypes,
         const std::vector<nb::object>& shapes) {
        return run([&] {
          mark();
          std::vector<DType> types;
          std::vector<Shape> sizes;
          for (auto& d : dtypes) types.push_back(dtype_of_object(d.ptr()));
          for (auto& s : shapes) {
            auto dims = s.is_none() ? std::nullopt : ints_of(s.ptr());
            sizes.push_back(dims ? Shape(*dims) : Shape::unknown());
          }
          size_t count = types.size();
          auto code =
              make_ref<PyCode>(name, Object::share(forward.ptr()), Object::share(backward.ptr()),
                               std::move(types), std::move(sizes));
          Tensors out;
          apply(*find_op(op), Tensors(inputs.begin(), inputs.end()),
                Attrs{Arg(Ref<RefCounted>(code))}, out);
          if (OpenGraph* graph = graph_by_hand(inputs))
            for (Held* h : code->held()) keep_with(*graph, *h);
          nb::list list;
          for (size_t i = 0; i < count; ++i) list.append(out[i]);
          return list;
        });
      },
      "op"_a, "name"_a, "forward"_a, "backward"_a.none(), "inputs"_a, "dtypes"_a, "shapes"_a,
      "Writes down a call of Python code: `forward(inputs, orders)` at each run, "
      "`backward(record, gradients)` for its gradient.");
}

}  // namespace holdfast::py
