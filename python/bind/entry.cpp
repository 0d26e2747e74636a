#include "python/bind/entry.h"

#include "python/bind/call.h"
#include "python/bind/traced.h"

namespace holdfast::py {

Entry::Entry(PyObject* d) {
  PyObject *function, *names, *tokens, *places, *guards, *captured, *late, *result, *stores,
      *finish, *name, *facts;
  Py_ssize_t count;
  if (!PyArg_ParseTuple(d, "OnO!O!O!O!O!O!OO!OUO", &function, &count, &PyTuple_Type, &names,
                        &PyList_Type, &tokens, &PyList_Type, &places, &PyList_Type, &guards,
                        &PyList_Type, &captured, &PyList_Type, &late, &result, &PyList_Type,
                        &stores, &finish, &name, &facts))
    throw PythonError{};
  const Concrete& concrete = concrete_of(function);
  function_ = concrete.function;
  code_ = concrete.code;
  pattern_ = Pattern(count, names, tokens);
  places_ = Locations(places);
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(guards); ++i)
    guards_.emplace_back(PyList_GET_ITEM(guards, i), places_.size());
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(captured); ++i)
    captured_.push_back(tensor_of(PyList_GET_ITEM(captured, i)));
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(late); ++i) {
    Py_ssize_t input, place;
    if (!PyArg_ParseTuple(PyList_GET_ITEM(late, i), "nn", &input, &place)) throw PythonError{};
    late_.push_back({static_cast<size_t>(input), static_cast<size_t>(place)});
    if (late_.back().input >= captured_.size() || late_.back().place >= places_.size())
      type_error("a capture of a trace has no place");
  }
  size_t outputs = function_->graph().outputs.size();
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(stores); ++i)
    stores_.emplace_back(PyList_GET_ITEM(stores, i), places_.size(), outputs);
  name_ = Object::share(name);
  facts_ = facts_of(facts);
  if (finish != Py_None) {
    finish_ = Object::share(finish);
    return;
  }
  result_ = Template(result);
  result_.each_slot([&](size_t slot) {
    if (slot >= outputs) type_error("a result of a trace has no output");
  });
}

bool Entry::add_captured(const Places& now, Inputs& in) const {
  size_t first = in.size();
  for (const Tensor& t : captured_) in.push_back(t);
  for (const Late& l : late_) {
    PyObject* found = now[l.place].get();
    if (!found || !is_tensor(found)) return false;
    const TensorRep& rep = *reinterpret_cast<PyTensor*>(found)->rep;
    const Tensor& was = captured_[l.input];
    if (rep.symbolic || rep.dtype != was.dtype() || !(rep.shape == was.shape())) return false;
    in[first + l.input] = tensor_of(found);
  }
  return true;
}

bool Entry::fits(const Bound& call, Inputs& in) const {
  if (!pattern_.fits(call, in)) return false;
  if (!stores_.empty() && journal_is_open()) return false;
  if (!places_.size() && guards_.empty()) {
    for (const Tensor& t : captured_) in.push_back(t);
    return true;
  }
  InlineVector<const Guard*, 4> unsure;
  {
    Places now = places_.read(&call);
    for (const Guard& g : guards_) {
      Answer a = g.holds(now);
      if (a == Answer::kNo) return false;
      if (a == Answer::kUnsure) unsure.push_back(&g);
    }
    if (!add_captured(now, in)) return false;
  }
  for (const Guard* g : unsure)  // last, for Python runs here
    if (!g->ask()) return false;
  return true;
}

PyObject* Entry::run(const Bound& call, Inputs& in) {
  mark();
  Tensors out;
  {
    Unlocked unlocked(in, function_->worth_unlocking());
    out = function_->call(in);
  }
  if (finish_) {
    Object list = output_list(out);
    return Object::steal(PyObject_CallOneArg(finish_.get(), list.get())).release();
  }
  Object list;
  for (const Store& s : stores_) s.perform(places_, call, out, list, name_.get());
  return result_.filled(out).release();
}

}  // namespace holdfast::py
