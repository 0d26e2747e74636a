#include <string_view>

#include "holdfast/base/text.h"
#include "holdfast/op/op.h"
#include "holdfast/op/registry.h"

namespace holdfast {
namespace {

std::string_view trimmed(std::string_view s) {
  while (!s.empty() && s.front() == ' ') s.remove_prefix(1);
  while (!s.empty() && s.back() == ' ') s.remove_suffix(1);
  return s;
}

std::vector<std::string> split(const char* text) {
  std::vector<std::string> out;
  std::string_view rest = text;
  while (!trimmed(rest).empty()) {
    size_t comma = rest.find(',');
    out.emplace_back(trimmed(rest.substr(0, comma)));
    rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
  }
  return out;
}

// "indices: I" -> name and group
std::pair<std::string, std::string> named_group(const std::string& item) {
  size_t colon = item.find(':');
  if (colon == std::string::npos) return {item, "T"};
  return {std::string(trimmed(std::string_view(item).substr(0, colon))),
          std::string(trimmed(std::string_view(item).substr(colon + 1)))};
}

bool is_input(Kind k) { return k == Kind::kTensor || k == Kind::kOptTensor || k == Kind::kTensors; }

// What is empty of the type that a field of attributes takes; nothing where that may be any, or is
// an object.
Arg empty_of(bool (*takes)(const Arg&)) {
  const Arg all[] = {Arg(),
                     Arg(false),
                     Arg(0.0),
                     Arg(int64_t{0}),
                     Arg(std::string()),
                     Arg(DType::kInvalid),
                     Arg(Shape::unknown()),
                     Arg(Ints()),
                     Arg(std::vector<double>()),
                     Arg(std::vector<std::string>())};
  for (const Arg& one : all)
    if (takes(one)) return one;
  return {};
}

}  // namespace

Builder::Builder(const char* op, const char* function, detail::Signature s) {
  if (op) {
    op_ = std::make_unique<OpDef>();
    op_->name = op;
  }
  if (!function) return;
  function_ = std::make_unique<FunctionDef>();
  // "nn::relu" in C++ is "nn.relu" elsewhere.
  for (const char* c = function; *c; ++c) {
    if (*c != ':')
      function_->name += *c;
    else if (c[1] == ':')
      function_->name += '.';
  }
  function_->result = s.result;
  function_->thunk = s.thunk;
  for (Kind k : s.kinds) {
    Param p;
    p.kind = k;
    p.required = k != Kind::kOptTensor && k != Kind::kAxes && k != Kind::kOptInt &&
                 k != Kind::kOptFloat && k != Kind::kOptDType && k != Kind::kOptIntList &&
                 k != Kind::kOptString;
    function_->params.push_back(std::move(p));
  }
  // What stands before a required parameter must be given too, if only as nothing.
  bool needed = false;
  for (size_t i = function_->params.size(); i-- > 0;) {
    needed = needed || function_->params[i].required;
    function_->params[i].required = needed;
  }
}

Builder::~Builder() = default;

Builder& Builder::args(const char* names) {
  auto items = split(names);
  if (items.size() != function_->params.size())
    bug(cat(function_->name, ": ", items.size(), " argument names for ", function_->params.size(),
            " parameters"));
  for (size_t i = 0; i < items.size(); ++i) {
    Param& p = function_->params[i];
    p.whole = items[i].ends_with('&');
    if (p.whole) items[i].pop_back();
    std::tie(p.name, p.group) = named_group(items[i]);
  }
  return *this;
}

void Builder::option(Kind kind, const Arg& default_value, size_t offset,
                     void (*put)(void*, const Arg&)) {
  Param p;
  p.kind = kind;
  p.required = false;
  p.default_value = default_value;
  function_->setters.push_back({offset, put});
  function_->params.push_back(std::move(p));
}

Builder& Builder::name_options(const char* names) {
  auto items = split(names);
  size_t first = function_->params.size() - function_->setters.size();
  if (items.size() != function_->setters.size())
    bug(cat(function_->name, ": ", items.size(), " option names for ", function_->setters.size(),
            " fields"));
  for (size_t i = 0; i < items.size(); ++i)
    std::tie(function_->params[first + i].name, function_->params[first + i].group) =
        named_group(items[i]);
  return *this;
}

Builder& Builder::doc(const char* text) {
  if (op_) op_->doc = text;
  if (function_) function_->doc = text;
  return *this;
}

Builder& Builder::python(const char* paths) {
  function_->python = split(paths);
  return *this;
}
Builder& Builder::returns(const char* names) {
  function_->result_names = split(names);
  return *this;
}
Builder& Builder::sample(const char* text) {
  function_->samples.emplace_back(text);
  return *this;
}
Builder& Builder::reference(const char* e) {
  function_->reference = e;
  return *this;
}
Builder& Builder::checks(Checks c) {
  function_->checks = c;
  return *this;
}

Builder& Builder::inputs(const char* names) {
  raw_inputs_ = true;
  for (auto& item : split(names)) {
    InputDef def;
    std::tie(def.name, def.group) = named_group(item);
    for (std::string* s : {&def.name, &def.group}) {
      while (!s->empty() && std::string_view("*?!~").find(s->back()) != std::string_view::npos) {
        char mark = s->back();
        (mark == '*'   ? def.list
         : mark == '?' ? def.optional
         : mark == '!' ? def.host
                       : def.value) = true;
        s->pop_back();
      }
    }
    if (def.host) def.dtypes = kIndices;
    op_->inputs.push_back(std::move(def));
  }
  return *this;
}

Builder& Builder::attr(const char* name, Arg v) {
  op_->attrs.push_back({name, std::move(v), false});
  return *this;
}
Builder& Builder::attr(const char* name) {
  op_->attrs.push_back({name, {}, true});
  return *this;
}
Builder& Builder::outputs(const char* names) {
  op_->outputs = split(names);
  return *this;
}

Builder& Builder::dtypes(DTypes set, const char* group) {
  // The function's parameters become the op's inputs unless `inputs` said otherwise.
  if (!raw_inputs_) {
    raw_inputs_ = true;
    for (auto& p : function_->params) {
      if (!is_input(p.kind)) {
        op_->attrs.push_back({p.name, p.default_value, p.required});
        continue;
      }
      InputDef def;
      def.name = p.name;
      def.group = p.group;
      def.list = p.kind == Kind::kTensors;
      def.optional = p.kind == Kind::kOptTensor;
      op_->inputs.push_back(std::move(def));
    }
  }
  for (auto& in : op_->inputs)
    if (in.group == group && !in.host) in.dtypes = set;
  return *this;
}

Builder& Builder::resource(const ResourceKind& kind, const char* group) {
  dtypes({DType::kResource}, group);
  for (auto& in : op_->inputs)
    if (in.group == group) in.resource = &kind;
  return *this;
}

Builder& Builder::infer(InferFn f) {
  op_->infer = f;
  return *this;
}

Builder& Builder::same_as_input() {
  op_->infer = [](Infer& s) { s.output(s.dtype(), s.shape()); };
  return *this;
}

Builder& Builder::kernel(const char* name, KernelFn f, DTypes d, RefuseFn r) {
  return kernel_for(DeviceKind::kCpu, name, f, d, r);
}
Builder& Builder::kernel_for(DeviceKind k, const char* name, KernelFn f, DTypes d, RefuseFn r) {
  op_->kernels.push_back({name, k, f, d, r});
  return *this;
}
Builder& Builder::kernel(const char* name, PrepareFn prepare, PreparedFn run, DTypes d) {
  op_->kernels.push_back({.name = name, .dtypes = d, .prepare = prepare, .run_prepared = run});
  op_->prepares = true;
  return *this;
}
Builder& Builder::aliases(AliasFn f) {
  op_->alias = f;
  return *this;
}
Builder& Builder::overwrites(OverwriteFn f) {
  op_->overwrites = f;
  return *this;
}
Builder& Builder::gradient(GradFn f) {
  op_->gradient = f;
  return *this;
}
Builder& Builder::no_gradient() {
  op_->traits.no_gradient = true;
  return *this;
}

Builder& Builder::keeps(const char* names) {
  op_->keeps_inputs = op_->keeps_outputs = 0;
  for (auto& name : split(names)) {
    bool found = false;
    for (size_t i = 0; i < op_->inputs.size(); ++i)
      if (op_->inputs[i].name == name) {
        op_->keeps_inputs |= 1u << i;
        found = true;
      }
    for (size_t i = 0; i < op_->outputs.size(); ++i)
      if (op_->outputs[i] == name) {
        op_->keeps_outputs |= 1u << i;
        found = true;
      }
    if (!found) bug(cat(op_->name, " keeps `", name, "`, which it does not have"));
  }
  return *this;
}

Builder& Builder::commutative() {
  op_->traits.commutative = true;
  return *this;
}
Builder& Builder::stateful() {
  op_->traits.stateful = true;
  return *this;
}
Builder& Builder::reads_state() {
  op_->traits.reads = true;
  return *this;
}
Builder& Builder::rearranges() {
  op_->traits.rearranges = true;
  return *this;
}
Builder& Builder::view() {
  op_->traits.view = true;
  return *this;
}
Builder& Builder::on_host() {
  op_->traits.host = true;
  return *this;
}
Builder& Builder::replaceable() {
  op_->traits.replaceable = true;
  return *this;
}
Builder& Builder::moves_between_devices() {
  op_->traits.moves = true;
  return *this;
}

#define HOLDFAST_FACT(name)  \
  Builder& Builder::name() { \
    op_->traits.name = true; \
    return *this;            \
  }
HOLDFAST_FACT(reshapes)
HOLDFAST_FACT(broadcasts)
HOLDFAST_FACT(keeps_apart)
HOLDFAST_FACT(order_shows)
HOLDFAST_FACT(draws)
HOLDFAST_FACT(reads_variable)
HOLDFAST_FACT(asks_only)
#undef HOLDFAST_FACT

Builder& Builder::updates(Update u) {
  op_->traits.update = u;
  return *this;
}
Builder& Builder::of_shape(OfShape s) {
  op_->traits.of_shape = s;
  return *this;
}
Builder& Builder::flat(Flat f) {
  op_->traits.flat = f;
  return *this;
}
Builder& Builder::control(Control c) {
  op_->traits.control = c;
  return *this;
}
Builder& Builder::images(Images i) {
  op_->images = i;
  return *this;
}
Builder& Builder::folds(Fold f) {
  op_->fold = f;
  return *this;
}
Builder& Builder::flops(FlopsFn f) {
  op_->flops = f;
  return *this;
}
Builder& Builder::fuses(FuseFn f) {
  op_->fuse = f;
  return *this;
}

void Builder::check_fields() const {
  for (const Field& f : fields_) {
    std::string said =
        cat(op_->name, ": its struct of attributes has `", f.name, "` as field ", f.position);
    if (f.position >= op_->attrs.size())
      bug(cat(said, ", the op has ", op_->attrs.size(), " attributes"));
    AttrDef& def = op_->attrs[f.position];
    if (def.name != f.name) bug(cat(said, ", where the op has `", def.name, "`"));
    // A required attribute has no default, but a type: who converts what is given asks for it.
    if (def.required && def.default_value.none()) def.default_value = empty_of(f.takes);
    if (!def.required && !f.takes(def.default_value))
      bug(cat(said, ", of a type that its default, ", def.default_value.text(), ", has not"));
  }
}

Builder::operator Op() {
  if (!raw_inputs_ && function_) dtypes(kAll, "");
  check_fields();
  bool plain = loops_ && op_->infer == loops_infer_ && op_->kernels.front().run == loops_run_ &&
               op_->inputs.size() == loops_arity_;
  for (const InputDef& in : op_->inputs)
    plain = plain && !in.list && !in.optional && in.group == op_->inputs[0].group;
  if (plain) op_->plain = loops_;
  const OpDef* def = keep(std::move(op_));
  if (function_) {
    function_->op = def;
    if (function_->python.empty()) function_->python.push_back(function_->name);
    keep(std::move(function_));
  }
  return Op(def);
}

Builder::operator const FunctionDef*() {
  if (function_->python.empty()) function_->python.push_back(function_->name);
  return keep(std::move(function_));
}

}  // namespace holdfast
