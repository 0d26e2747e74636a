// Checks of dtypes, ranks and shapes: at once where they are known, else when the program runs.
#include <algorithm>
#include <charconv>
#include <map>

#include "holdfast/base/text.h"
#include "holdfast/op/op.h"
#include "holdfast/op/refuse.h"
#include "holdfast/ops/debugging.h"
#include "holdfast/ops/debugging/check.h"

namespace holdfast {
namespace {

struct RankAttrs {
  Attr<std::string> check;
  Attr<std::vector<std::string>> words;
  Attr<std::string> message;
  Attr<Ints> ranks;
};
struct ShapesAttrs {
  Attr<std::vector<std::string>> words;
  Attr<std::string> message;
  Attr<std::vector<std::string>> symbols;
  Attr<Ints> counts;
};

constexpr const char* kAnyRank = "...";
constexpr const char* kAnySize = ".";

// As Python writes a tuple: (2, 3), (2,).
std::string tuple_text(std::span<const int64_t> numbers) {
  std::string out = "(";
  for (size_t i = 0; i < numbers.size(); ++i)
    out += numbers[i] == kUnknown ? cat(i ? ", " : "", "None") : cat(i ? ", " : "", numbers[i]);
  return cat(out, numbers.size() == 1 ? "," : "", ")");
}

[[noreturn]] void wrong_shape(const Check& c, const std::vector<std::string>& names, size_t operand,
                              const std::string& rule) {
  const Shape& shape = c.operands[operand].shape();
  check_failed(c, names,
               cat("`", names[operand], "` has shape ", tuple_text({shape.begin(), shape.end()})),
               cat("`", names[operand], "` must have ", rule, ", and has rank ", shape.rank(), "."),
               "", static_cast<int>(operand));
}

struct RankRule {
  const char* check;
  std::string (*text)(const Ints&);
};
const RankRule kRanks[] = {
    {"assert_rank", [](const Ints& r) { return cat("rank ", r[0]); }},
    {"assert_rank_at_least", [](const Ints& r) { return cat("rank at least ", r[0]); }},
    {"assert_rank_in", [](const Ints& r) { return cat("a rank in ", tuple_text(r)); }},
    {"assert_scalar", [](const Ints&) { return std::string("no dimensions"); }},
};

const RankRule* rank_rule(const std::string& check) {
  for (const RankRule& r : kRanks)
    if (r.check == check) return &r;
  return nullptr;
}

void check_rank(const Check& c, const Ints& ranks) {
  const RankRule& rule = *rank_rule(c.name);
  if (rank_fits(c.name, c.operands[0].shape().rank(), ranks)) return;
  const char* argument[] = {c.name == "assert_scalar" ? "tensor" : "x"};
  wrong_shape(c, names_of(c, argument), 0, rule.text(ranks));
}

void infer_rank(Infer& s) {
  auto attrs = s.attrs<RankAttrs>();
  Check c = check_of(attrs.check.arg(), attrs.words.arg(), attrs.message.arg(), {&s.input(0), 1});
  if (!rank_rule(c.name)) s.bad_value("check", cat("\"", c.name, "\""), "the name of a check");
  if (attrs.ranks().empty() && c.name != "assert_rank_in")
    s.bad_value("ranks", "none", "at least one rank");
  if (s.shape().has_rank()) check_rank(c, attrs.ranks());
}

std::optional<int64_t> number_in(const std::string& symbol) {
  int64_t n = 0;
  auto r = std::from_chars(symbol.data(), symbol.data() + symbol.size(), n);
  return r.ec == std::errc() && r.ptr == symbol.data() + symbol.size() ? std::optional(n)
                                                                       : std::nullopt;
}

// What each tensor's dimensions are called, cut out of one list.
std::vector<std::span<const std::string>> rules_in(std::span<const std::string> symbols,
                                                   const Ints& counts) {
  std::vector<std::span<const std::string>> out;
  for (int64_t n : counts) {
    out.push_back(symbols.first(static_cast<size_t>(n)));
    symbols = symbols.subspan(static_cast<size_t>(n));
  }
  return out;
}

void check_shapes(const Check& c, std::span<const std::string> symbols, const Ints& counts) {
  std::vector<std::string> arguments;
  std::vector<const char*> defaults;
  for (size_t i = 0; i < c.operands.size(); ++i) arguments.push_back(cat("tensor ", i));
  for (const std::string& s : arguments) defaults.push_back(s.c_str());
  auto names = names_of(c, defaults);
  std::map<std::string, std::pair<int64_t, std::string>> sizes;  // of a name, and who said so first
  auto rules = rules_in(symbols, counts);
  for (size_t i = 0; i < rules.size(); ++i) {
    std::span<const std::string> rule = rules[i];
    std::span<const int64_t> have(c.operands[i].shape().begin(), c.operands[i].shape().end());
    // A single value may be a scalar, or the only element of a row.
    constexpr int64_t kOne[] = {1};
    if (have.empty() && rule.size() == 1 && rule[0] != kAnyRank) have = kOne;
    if (rule.empty() && have.size() == 1 && have[0] == 1) have = {};
    if (!rule.empty() && rule[0] == kAnyRank) {
      rule = rule.subspan(1);
      if (have.size() < rule.size()) wrong_shape(c, names, i, cat("rank at least ", rule.size()));
      have = have.last(rule.size());
    } else if (have.size() != rule.size()) {
      wrong_shape(c, names, i, cat("rank ", rule.size()));
    }
    for (size_t axis = 0; axis < rule.size(); ++axis) {
      if (rule[axis] == kAnySize) continue;
      auto fixed = number_in(rule[axis]);
      auto [want, who] =
          fixed ? std::pair(*fixed, std::string("the check"))
                : sizes.try_emplace(rule[axis], have[axis], cat("`", names[i], "`")).first->second;
      if (want != have[axis])
        check_failed(c, names,
                     cat("dimension ", axis, " of `", names[i], "` has size ", have[axis]),
                     cat("it must have size ", want, ", as ", who, " says",
                         fixed ? "." : cat(" for '", rule[axis], "'.")),
                     names[i], static_cast<int>(i));
    }
  }
}

void infer_shapes(Infer& s) {
  auto a = s.attrs<ShapesAttrs>();
  Tensors all;
  bool known = true;
  for (int i = 0; i < s.inputs(); ++i) {
    all.push_back(s.input(i));
    known = known && s.shape(i).is_full();
  }
  Check c = check_of("assert_shapes", a.words.arg(), a.message.arg(), all);
  const auto& symbols = a.symbols();
  auto left = static_cast<int64_t>(symbols.size());
  for (int64_t n : a.counts()) left = n < 0 || n > left ? -1 : left - n;
  if (left != 0)
    s.bad_value("counts", a.counts.arg().text(),
                cat("numbers whose sum is ", symbols.size(), ", that of the symbols"));
  if (a.counts().size() != all.size())
    s.bad_value("counts", a.counts.arg().text(), cat(all.size(), " numbers, one for each tensor"));
  if (known) check_shapes(c, symbols, a.counts());
}

// All there is to check stands in the shape rule, which sees the whole shapes when the op runs.
Status checked(Call&) { return {}; }

const Op rank_op =
    RAW_OP(AssertRank)
        .doc("Stops the program unless a tensor's rank fits.")
        .inputs("x")
        .outputs("")
        .attr("check")
        .attr("words", std::vector<std::string>{})
        .attr("message", "")
        .attr("ranks")
        .attrs<&RankAttrs::check, &RankAttrs::words, &RankAttrs::message, &RankAttrs::ranks>()
        .infer(infer_rank)
        .kernel("check", checked)
        .on_host()
        .stateful()
        .no_gradient();
const Op shapes_op =
    RAW_OP(AssertShapes)
        .doc("Stops the program unless shapes fit what their dimensions are called.")
        .inputs("x*: any")
        .outputs("")
        .attr("words", std::vector<std::string>{})
        .attr("message", "")
        .attr("symbols", std::vector<std::string>{})
        .attr("counts")
        .attrs<&ShapesAttrs::words, &ShapesAttrs::message, &ShapesAttrs::symbols,
               &ShapesAttrs::counts>()
        .infer(infer_shapes)
        .kernel("check", checked)
        .on_host()
        .stateful()
        .no_gradient();

Tensor ranked(const char* check, const In& x, const Ints& ranks, const std::string& message) {
  Tensor t = x.tensor();
  if (t.shape().has_rank())
    check_rank({check, {t}, {}, message}, ranks);
  else
    rank_op.many({t}, {check, std::vector<std::string>{}, message, ranks});
  return t;
}

}  // namespace

bool rank_fits(const std::string& check, int64_t rank, const Ints& ranks) {
  if (check == "assert_rank_at_least") return !ranks.empty() && rank >= ranks[0];
  return std::find(ranks.begin(), ranks.end(), rank) != ranks.end();
}

void wrong_dtype(const Check& c, const std::string& expected) {
  constexpr const char* kArguments[] = {"x"};
  std::string name = names_of(c, kArguments)[0];
  const Tensor& t = c.operands[0];
  Diagnostic d = about_call(Code::E1104, rank_op.def(), {&t, 1},
                            cat("`", c.name, "` failed: `", name, "` must have ", expected,
                                ", and is ", holdfast::name(t.dtype())));
  d.op = c.name;
  d.why = cat(c.message.empty() ? "" : cat(c.message, ": "), "the check asks for the dtype of `",
              name, "`.");
  raise(std::move(d));
}

void assert_shapes_of(const Check& c, const std::vector<std::string>& symbols, const Ints& counts) {
  bool known = std::all_of(c.operands.begin(), c.operands.end(),
                           [](const Tensor& t) { return t.shape().is_full(); });
  if (known)
    check_shapes(c, symbols, counts);
  else
    shapes_op.list(Tensors(c.operands.begin(), c.operands.end()),
                   {c.words, c.message, symbols, counts});
}

namespace debugging {

void assert_integer(const In& x, const MessageOptions& o) {
  Tensor t = x.tensor();
  if (!is_integer(t.dtype()))
    wrong_dtype({"assert_integer", {t}, {}, o.message}, "an integer dtype");
}

void assert_rank(const In& x, int64_t rank, const MessageOptions& o) {
  ranked("assert_rank", x, {rank}, o.message);
}
void assert_rank_at_least(const In& x, int64_t rank, const MessageOptions& o) {
  ranked("assert_rank_at_least", x, {rank}, o.message);
}
void assert_rank_in(const In& x, const std::vector<int64_t>& ranks, const MessageOptions& o) {
  ranked("assert_rank_in", x, ranks, o.message);
}
Tensor assert_scalar(const In& tensor, const MessageOptions& o) {
  return ranked("assert_scalar", tensor, {0}, o.message);
}

void assert_shapes(const std::vector<ShapeRule>& shapes, const MessageOptions& o) {
  Check c{"assert_shapes", {}, {}, o.message};
  std::vector<std::string> symbols;
  Ints counts;
  for (const auto& [x, rule] : shapes) {
    c.operands.push_back(x.tensor());
    counts.push_back(static_cast<int64_t>(rule.size()));
    for (const Size& size : rule) symbols.push_back(size.symbol);
  }
  assert_shapes_of(c, symbols, counts);
}

}  // namespace debugging
}  // namespace holdfast
