#include "holdfast/exec/saving.h"

#include <map>
#include <unordered_map>

#include "holdfast/base/diagnostic.h"
#include "holdfast/base/text.h"
#include "holdfast/device/device.h"
#include "holdfast/graph/trace.h"
#include "holdfast/io/safetensors.h"
#include "holdfast/op/refuse.h"

namespace holdfast {
namespace {

const ModuleObject& defined(const ModuleObject* module) {
  if (!module) fail(Code::E1104, "a Module that refers to nothing was used");
  return *module;
}

// Names come in the hundreds: the first few say enough.
template <class Map, class Other>
std::string missing_in(const Map& all, const Other& there) {
  std::string out;
  int count = 0;
  for (const auto& [name, unused] : all) {
    if (there.count(name)) continue;
    if (++count <= 5) out += cat(out.empty() ? "`" : ", `", name, "`");
  }
  return count > 5 ? cat(out, " and ", count - 5, " more") : out;
}

}  // namespace

ByName<Variable> saved_names(const ModuleObject& module) {
  ByName<Variable> out;
  std::unordered_map<std::string, int64_t> again;
  for (const Variable& v : module.variables()) {
    std::string name = v.name();
    while (out.count(name)) name = cat(v.name(), "_", ++again[v.name()]);
    out.emplace(std::move(name), v);
  }
  return out;
}

namespace detail {

void save_tensors(const std::string& path, ByName<Tensor> tensors) {
  for (auto& [name, t] : tensors) {
    if (!t.defined())
      fail(Code::E1104, cat("`", name, "` is a Tensor that refers to nothing, and can't be saved"));
    // What has no bytes is refused with its dtype, where the format is written.
    if (kPlain.has(t.dtype())) t = copy_to(value(t, name), cpu());
  }
  io::write_safetensors(path, tensors);
}

ByName<Tensor> load_tensors(const std::string& path) { return io::read_safetensors(path); }

void save_variables(const ModuleObject* module, const std::string& path) {
  ByName<Tensor> tensors;
  for (const auto& [name, v] : saved_names(defined(module))) {
    Tensor now = v.state()->get();
    if (!now.defined())
      fail(Code::E1104, cat("the variable `", name, "` has no value to save"),
           "variables of a graph have one in each session");
    tensors.emplace(name, std::move(now));
  }
  save_tensors(path, std::move(tensors));
}

void load_variables(const ModuleObject* module, const std::string& path) {
  ByName<Variable> variables = saved_names(defined(module));
  std::map<std::string, const io::StoredTensor*> stored;
  std::vector<io::StoredTensor> header = io::safetensors_header(path);
  for (const io::StoredTensor& t : header) stored.emplace(t.name, &t);

  std::string absent = missing_in(variables, stored), extra = missing_in(stored, variables);
  if (!absent.empty() || !extra.empty())
    fail(
        Code::E1301,
        cat("`", path, "` does not fit the module `", module->name(),
            "`: ", absent.empty() ? "" : cat("it has no ", absent),
            absent.empty() || extra.empty() ? "" : "; ",
            extra.empty() ? "" : cat("the module has no ", extra)),
        "each variable takes the tensor of its name, and none may be left over",
        {manual_fix(cat("take what fits by hand: `load(path)` gives the tensors by their names"))});
  for (const auto& [name, v] : variables) {
    const io::StoredTensor& t = *stored.at(name);
    if (t.dtype != v.dtype() || !t.shape.compatible(v.shape()))
      fail(t.dtype != v.dtype() ? Code::E1101 : Code::E1102,
           cat("`", path, "` has `", name, "` as ", type_text(t.dtype, t.shape),
               ", and the module's variable is ", type_text(v.dtype(), v.shape())));
    if (!v.state()->get().defined())
      fail(Code::E1104, cat("the variable `", name, "` of a graph can't be loaded here"),
           "variables of a graph have a value in each session");
  }

  // All values are here before the first variable changes: reading may still fail.
  ByName<Tensor> values = io::read_safetensors(path);
  for (auto& [name, t] : values) {
    auto it = variables.find(name);
    if (it == variables.end() || t.dtype() != it->second.dtype() ||
        !t.shape().compatible(it->second.shape()))
      fail(Code::E1301, cat("`", path, "` was replaced while it was read"));
    t = copy_to(t, it->second.device());
  }
  if (values.size() != variables.size())
    fail(Code::E1301, cat("`", path, "` was replaced while it was read"));
  for (const auto& [name, t] : values) variables.at(name).assign(t);
}

}  // namespace detail
}  // namespace holdfast
