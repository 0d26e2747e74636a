// Ops whose kernel is Python code: what a graph calls back each time it runs.
#include "holdfast/base/text.h"
#include "holdfast/device/device.h"
#include "holdfast/op/refuse.h"
#include "holdfast/ops/debugging/check.h"
#include "holdfast/ops/print.h"
#include "python/bind/nb.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace holdfast::py {
namespace {

// A Python object that C++ holds: let go of with the GIL, and never after the interpreter ended.
class Held final : public RefCounted {
 public:
  explicit Held(Object o) : object_(std::move(o)) {}
  ~Held() override {
    if (!Py_IsInitialized()) {
      object_.release();
      return;
    }
    nb::gil_scoped_acquire gil;
    object_ = Object();
  }
  PyObject* get() const { return object_.get(); }

 private:
  Object object_;
};

// What a node calls, and what comes of it. `forward(inputs, record)` gives the outputs and, where it is to record,
// an object that `backward(object, gradients)` turns into the gradients of the floats among the inputs.
class PyCode final : public RefCounted {
 public:
  PyCode(std::string name, Object forward, Object backward, std::vector<DType> dtypes, std::vector<Shape> shapes)
      : name(std::move(name)), forward(make_ref<Held>(std::move(forward))), backward(make_ref<Held>(std::move(backward))), dtypes(std::move(dtypes)), shapes(std::move(shapes)) {}
  std::string text() const override { return name; }

  const std::string name;
  const Ref<Held> forward, backward;
  const std::vector<DType> dtypes;
  const std::vector<Shape> shapes;
  std::atomic<bool> records{false};  // a gradient has been asked for
};

PyCode& code_of(const Arg& a) {
  auto* code = dynamic_cast<PyCode*>(a.object());
  if (!code) type_error("`code` is no Python function of a graph");
  return *code;
}

Object list_of(std::span<const Tensor> tensors) {
  Object out = Object::steal(PyList_New(0));
  for (const Tensor& t : tensors) {
    Object o = t ? Object::steal(wrap(t)) : Object::share(Py_None);
    if (PyList_Append(out.get(), o.get()) < 0) throw PythonError{};
  }
  return out;
}

Tensor item_of(PyObject* list, size_t i) {
  Object item = Object::steal(PySequence_GetItem(list, static_cast<Py_ssize_t>(i)));
  if (!is_tensor(item.get())) type_error("a Python function of a graph gave " + repr_of(item.get()));
  return tensor_of(item.get());
}

Tensors inputs_of(const Call& c, int first = 0) {
  Tensors in;
  for (int i = first; i < c.inputs(); ++i) in.push_back(c.in(i));
  return in;
}

// The last output is a number that carries what was recorded to the gradient, which runs after it.
void infer_forward(Infer& s) {
  const PyCode& code = code_of(s.attr(0));
  for (size_t i = 0; i < code.dtypes.size(); ++i) s.output(code.dtypes[i], code.shapes[i]);
  s.output(int64, Shape{});
}

Status run_forward(Call& c) {
  const PyCode& code = code_of(c.attr(0));
  nb::gil_scoped_acquire gil;
  Object in = list_of(inputs_of(c));
  Object both = Object::steal(PyObject_CallFunctionObjArgs(code.forward->get(), in.get(), code.records ? Py_True : Py_False, nullptr));
  Object outputs = Object::steal(PySequence_GetItem(both.get(), 0)), recorded = Object::steal(PySequence_GetItem(both.get(), 1));
  for (size_t i = 0; i < code.dtypes.size(); ++i) {
    Tensor t = item_of(outputs.get(), i);
    if (t.dtype() != code.dtypes[i])
      return {Code::E1101, cat("`", code.name, "` returned ", type_text(t), ", expected ", holdfast::name(code.dtypes[i]), ": `Tout` says so")};
    if (!t.shape().compatible(code.shapes[i]))
      return {Code::E1102, cat("`", code.name, "` returned ", type_text(t), ", expected shape ", code.shapes[i].text())};
    c.set_out(static_cast<int>(i), view_of(t, t.shape()));
  }
  Tensor carrier = Tensor::scalar(int64_t{0});
  if (recorded.get() != Py_None) carrier.rep()->beyond = make_ref<Held>(recorded);
  c.set_out(static_cast<int>(code.dtypes.size()), carrier);
  return {};
}

// Inputs: the number that carries the record, what arrived, and the function's inputs for their shapes.
void infer_backward(Infer& s) {
  auto arrived = static_cast<int>(code_of(s.attr(0)).dtypes.size());
  for (int i = 1 + arrived; i < s.inputs(); ++i) s.output(s.dtype(i), s.shape(i));
}

Status run_backward(Call& c) {
  const PyCode& code = code_of(c.attr(0));
  auto* recorded = dynamic_cast<Held*>(c.in(0).rep()->beyond.get());
  if (!recorded) return {Code::E1105, cat("`", code.name, "` kept no record for its gradient"), "the gradient needs the run of the function before it"};
  nb::gil_scoped_acquire gil;
  Object dy = list_of(std::span<const Tensor>(inputs_of(c, 1)).first(code.dtypes.size()));
  Object dx = Object::steal(PyObject_CallFunctionObjArgs(code.backward->get(), recorded->get(), dy.get(), nullptr));
  for (int i = 0; i < c.outputs(); ++i) {
    Tensor t = item_of(dx.get(), static_cast<size_t>(i));
    const Tensor& x = c.in(1 + static_cast<int>(code.dtypes.size()) + i);
    if (t.dtype() != x.dtype() || !(t.shape() == x.shape()))
      return {Code::E1102, cat("the gradient of `", code.name, "` is ", type_text(t), ", expected ", type_text(x))};
    c.set_out(i, t);
  }
  return {};
}

#define HOLDFAST_PYTHON_OP(Name)                                                                                  \
  RAW_OP(Name).inputs("input*: any").attr("code").infer(infer_forward).kernel("Python", run_forward)              \
      .kernel_for(DeviceKind::kCuda, "Python", run_forward).on_host()

const Op backward_op = RAW_OP(EagerPyFuncGrad).doc("The gradient of Python code, by the tape that watched it.").inputs("record: K!, input*: any")
                           .attr("code").infer(infer_backward).kernel("Python", run_backward).on_host().stateful().no_gradient();

Tensors back(Grad& g) {
  PyCode& code = code_of(g.attr(0));
  if (code.backward->get() == Py_None) return Tensors(static_cast<size_t>(g.inputs()));
  code.records = true;
  int outputs = g.outputs() - 1;
  Tensors in{g.y(outputs)};
  for (int i = 0; i < outputs; ++i) in.push_back(is_differentiable(g.y(i).dtype()) ? g.dy(i) : g.y(i));
  for (int i = 0; i < g.inputs(); ++i) if (is_differentiable(g.x(i).dtype())) in.push_back(g.x(i));
  Tensors found = backward_op.list(in, {g.attr(0)}), dx(static_cast<size_t>(g.inputs()));
  size_t next = 0;
  for (int i = 0; i < g.inputs(); ++i) if (is_differentiable(g.x(i).dtype())) dx[static_cast<size_t>(i)] = found[next++];
  return dx;
}

Object& print_hook() {
  static Object* hook = new Object;  // outlives the interpreter, which may print as it ends
  return *hook;
}

void print_sink(bool to_stdout, const std::string& text) {
  if (!Py_IsInitialized()) return;
  nb::gil_scoped_acquire gil;
  Object bytes = Object::steal(PyBytes_FromStringAndSize(text.data(), static_cast<Py_ssize_t>(text.size())));
  Object::steal(PyObject_CallFunctionObjArgs(print_hook().get(), to_stdout ? Py_True : Py_False, bytes.get(), nullptr));
}

const Op ops[] = {
    HOLDFAST_PYTHON_OP(EagerPyFunc).doc("Python code over tensors, with a gradient.").stateful().gradient(back),
    HOLDFAST_PYTHON_OP(PyFunc).doc("Python code over arrays.").stateful().no_gradient(),
    HOLDFAST_PYTHON_OP(PyFuncStateless).doc("Python code over arrays that may be left out when nobody needs its results.").no_gradient(),
};

}  // namespace

void bind_pycall(nb::module_& m) {
  m.def("set_print_sink", [](nb::object f) {
    print_hook() = Object::share(f.ptr());
    set_print_sink(&print_sink);
  }, "What is called with text for stdout (True) or stderr, as bytes.");
  m.def("assert_shapes", [](const std::vector<Tensor>& tensors, const std::vector<std::string>& words, const std::vector<std::string>& symbols,
                            const std::vector<int64_t>& counts, const std::string& message) {
    run([&] {
      mark();
      assert_shapes_of({"assert_shapes", tensors, words, message}, symbols, counts);
      return 0;
    });
  }, "tensors"_a, "words"_a, "symbols"_a, "counts"_a, "message"_a);
  m.def("call_python", [](const std::string& op, const std::string& name, nb::object forward, nb::object backward,
                          const std::vector<Tensor>& inputs, const std::vector<nb::object>& dtypes, const std::vector<nb::object>& shapes) {
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
      auto code = make_ref<PyCode>(name, Object::share(forward.ptr()), Object::share(backward.ptr()), std::move(types), std::move(sizes));
      Tensors out;
      apply(*find_op(op), Tensors(inputs.begin(), inputs.end()), Attrs{Arg(Ref<RefCounted>(code))}, out);
      nb::list list;
      for (size_t i = 0; i < count; ++i) list.append(out[i]);
      return list;
    });
  }, "op"_a, "name"_a, "forward"_a, "backward"_a.none(), "inputs"_a, "dtypes"_a, "shapes"_a,
  "Writes down a call of Python code: `forward(inputs, record)` at each run, `backward(recorded, gradients)` for its gradient.");
}

}  // namespace holdfast::py
