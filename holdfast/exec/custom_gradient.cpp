#include "holdfast/exec/custom_gradient.h"

#include <algorithm>
#include <mutex>
#include <set>

#include "holdfast/autodiff/tape.h"
#include "holdfast/base/name_list.h"
#include "holdfast/base/text.h"
#include "holdfast/ops/array.h"

namespace holdfast::detail {
namespace {

// Records point at their name, and may outlive the code: each name is kept once, for ever.
const char* lasting(const std::string& name) {
  static std::mutex mutex;
  static std::set<std::string>& names = *new std::set<std::string>;
  std::lock_guard lock(mutex);
  return names.insert(name).first->c_str();
}

[[noreturn]] void refuse_variables(const std::string& name, const std::vector<Variable>& read) {
  std::string all = name_list(read, [](const Variable& v) { return v.name(); });
  fail(Code::E1104,
       cat("the gradient of `", name, "` takes no variables, and `", name, "` reads some"),
       cat("it is asked for the gradients of what is read without being an argument: ", all),
       {manual_fix("let it take `const std::vector<Variable>& variables` last, and return a pair: "
                   "the gradients of the arguments, and a `std::vector<Tensor>` of those of the "
                   "variables"),
        manual_fix("or give the variables to the code as arguments")});
}

bool is_among(const Variable& v, const std::vector<Tensor>& inputs) {
  return std::any_of(inputs.begin(), inputs.end(),
                     [&](const Tensor& t) { return t.id() == v.handle().id(); });
}

}  // namespace

Tensors with_gradient(const std::string& name, const std::vector<Tensor>& inputs,
                      const Callback<CustomCall()>& code) {
  for (const Tensor& t : inputs)
    if (!t.defined())
      fail(Code::E1104, cat("an argument of `", name, "` is an empty Tensor"),
           "it was declared, or moved from, and no value was assigned to it since");
  Where caller = here();
  CustomCall call;
  std::vector<Variable> read;
  {
    NoTapes unseen;
    GradientTape watcher;
    call = code();
    set_site(caller);
    for (Tensor& y : call.outputs) {
      if (!y.defined()) fail(Code::E1104, cat("`", name, "` gave an empty Tensor"));
      y = identity(y);  // one of its own: the code may hand an argument through
    }
    for (const Variable& v : watcher.watched_variables())
      if (!is_among(v, inputs)) read.push_back(v);
  }
  if (!read.empty() && !call.takes_variables) refuse_variables(name, read);

  std::vector<Tensor> sources = inputs, handles;
  for (const Variable& v : read) sources.push_back(v.handle());
  for (const Tensor& t : sources)
    if (t.dtype() == DType::kResource) handles.push_back(t);
  GradientTape::accessed(handles);

  std::vector<Tensor> outputs(call.outputs.begin(), call.outputs.end());
  GradientTape::record_custom(
      lasting(name), sources, outputs,
      [name, outputs, read, count = sources.size(),
       gradient = call.gradient](const std::vector<Tensor>& upstream) {
        std::vector<Tensor> dy = upstream;
        for (size_t i = 0; i < dy.size(); ++i)
          if (!dy[i].defined()) dy[i] = zeros_like(outputs[i]);
        std::vector<Tensor> found = gradient(dy, read);
        if (found.size() != count)
          fail(Code::E1104,
               cat("the gradient of `", name, "` gave ", found.size(), " tensors for ",
                   count - read.size(), count - read.size() == 1 ? " argument" : " arguments",
                   read.empty() ? std::string() : cat(" and ", read.size(), " variables")),
               "it gives one for each, an empty Tensor where there is none");
        return found;
      });
  return std::move(call.outputs);
}

std::vector<Tensor> run_again(const std::vector<Tensor>& inputs,
                              const std::vector<Variable>& variables,
                              const std::vector<Tensor>& upstream,
                              const Callback<Tensors(std::span<const Tensor>)>& code) {
  GradientTape tape;
  std::vector<Tensor> copies;
  std::vector<Source> sources;
  for (const Tensor& t : inputs) {
    bool variable = t.dtype() == DType::kResource;
    copies.push_back(variable ? t : identity(t));  // what was recorded of `t` is not in question
    if (variable)
      sources.emplace_back(Variable::from_handle(t));
    else
      sources.emplace_back(copies.back());
  }
  for (const Variable& v : variables) sources.emplace_back(v);
  for (const Source& s : sources) {
    if (s.variable().defined())
      tape.watch(Variable::from_handle(s.variable()));
    else
      tape.watch(s.type());
  }
  Tensors outputs = code(copies);
  std::vector<Tensor> out;
  for (Gradient& g : tape.gradients({outputs.begin(), outputs.end()}, sources, upstream))
    out.push_back(g.tensor());
  return out;
}

}  // namespace holdfast::detail
