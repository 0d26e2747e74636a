// Einstein summation, written with transposes, reshapes, sums and batched matrix products:
// gradients come with them.
#include <algorithm>
#include <array>
#include <map>

#include "holdfast/base/text.h"
#include "holdfast/op/deferred.h"
#include "holdfast/op/op.h"
#include "holdfast/op/refuse.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/diag.h"
#include "holdfast/ops/linalg.h"
#include "holdfast/ops/linalg/extent.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/reduce.h"

namespace holdfast {
namespace {

using linalg::Extent;

// A label is a letter's code, or for an axis under the ellipsis a negative number: -1 is the last
// of them, which is where broadcasting counts from.
using Labels = std::vector<int>;

struct Term {
  Tensor tensor;
  Labels labels;
};

[[noreturn]] void refuse(const std::string& equation, const std::string& what) {
  fail(Code::E1103, cat("einsum: `equation` is '", equation, "': ", what));
}

// How a call is written, for messages: einsum is many ops, and none of its own.
const OpDef& einsum_call() {
  static const OpDef call = [] {
    OpDef d;
    d.name = "einsum";
    d.inputs = {{.name = "equation"}, {.name = "inputs", .list = true}};
    return d;
  }();
  return call;
}

// The arguments of such a call: the equation, which is no tensor, and the inputs.
Tensors arguments(const Tensors& in) {
  Tensors all{Tensor()};
  for (const Tensor& t : in) all.push_back(t);
  return all;
}

std::string named_input(const Tensors& in, size_t i) {
  return operand_source(einsum_call(), arguments(in), static_cast<int>(i) + 1).text;
}

[[noreturn]] void refuse_input(const Tensors& in, size_t i, const std::string& expected,
                               std::string why) {
  auto d = about_call(
      Code::E1102, einsum_call(), arguments(in),
      cat("einsum: `", named_input(in, i), "` is ", type_text(in[i]), ", expected ", expected));
  d.subject = describe(in[i], named_input(in, i));
  d.why = std::move(why);
  raise(std::move(d));
}

bool has(const Labels& l, int label) { return std::find(l.begin(), l.end(), label) != l.end(); }
int position(const Labels& l, int label) {
  return static_cast<int>(std::find(l.begin(), l.end(), label) - l.begin());
}

// The labels of one term; `ellipsis` is how many axes "..." stands for, -1 where the term may not
// have one.
Labels parse_term(const std::string& equation, std::string_view term, int ellipsis,
                  bool* had_ellipsis) {
  Labels out;
  for (size_t i = 0; i < term.size(); ++i) {
    if (term[i] == '.') {
      if (term.substr(i, 3) != "..." || *had_ellipsis)
        refuse(equation, "an ellipsis is three dots, once in a term");
      *had_ellipsis = true;
      i += 2;
      for (int k = -ellipsis; k < 0; ++k) out.push_back(k);
    } else if ((term[i] >= 'a' && term[i] <= 'z') || (term[i] >= 'A' && term[i] <= 'Z')) {
      out.push_back(term[i]);
    } else {
      refuse(equation, cat("'", term[i], "' is no label; labels are letters"));
    }
  }
  return out;
}

struct Equation {
  std::vector<std::string> terms;
  std::string output;
  bool explicit_output = false;
};

Equation parse(const std::string& given) {
  Equation e;
  std::string text;
  for (char c : given)
    if (c != ' ' && c != '\t' && c != '\n') text += c;
  size_t arrow = text.find("->");
  std::string left = text.substr(0, arrow);
  if (arrow != std::string::npos) {
    e.explicit_output = true;
    e.output = text.substr(arrow + 2);
  }
  size_t from = 0;
  for (size_t comma; (comma = left.find(',', from)) != std::string::npos; from = comma + 1)
    e.terms.push_back(left.substr(from, comma - from));
  e.terms.push_back(left.substr(from));
  return e;
}

// With the axes in the order `order`, which holds the same labels.
Term arranged(const Term& x, const Labels& order) {
  if (x.labels == order) return x;
  Dims perm;
  for (int label : order) perm.push_back(position(x.labels, label));
  return {transpose(x.tensor, {.perm = Sizes(perm)}), order};
}

// Takes the diagonal where a label stands twice.
Term without_repeats(Term x) {
  for (size_t i = 0; i < x.labels.size(); ++i)
    for (size_t j = i + 1; j < x.labels.size(); ++j) {
      if (x.labels[i] != x.labels[j]) continue;
      Dims perm;
      Labels rest;
      for (size_t k = 0; k < x.labels.size(); ++k)
        if (k != i && k != j) {
          perm.push_back(static_cast<int64_t>(k));
          rest.push_back(x.labels[k]);
        }
      perm.push_back(static_cast<int64_t>(i));
      perm.push_back(static_cast<int64_t>(j));
      rest.push_back(x.labels[i]);
      return without_repeats({linalg::diag_part(transpose(x.tensor, {.perm = Sizes(perm)})), rest});
    }
  return x;
}

// Sums over the labels that nobody needs.
Term summed(const Term& x, const Labels& needed) {
  Dims axes;
  Labels rest;
  for (size_t i = 0; i < x.labels.size(); ++i) {
    if (has(needed, x.labels[i]))
      rest.push_back(x.labels[i]);
    else
      axes.push_back(static_cast<int64_t>(i));
  }
  if (axes.empty()) return x;
  return {reduce_sum(x.tensor, {.axis = Sizes(axes)}), rest};
}

std::vector<Extent> extents(const Term& x, const Labels& labels) {
  std::vector<Extent> out;
  for (int label : labels) out.push_back(linalg::extent_of(x.tensor, position(x.labels, label)));
  return out;
}
Extent product(const std::vector<Extent>& sizes) {
  Extent p;
  for (const Extent& e : sizes) p = p * e;
  return p;
}

// Two operands become one: labels in both and needed later are a batch, those needed no more are
// contracted.
Term contracted(Term x, Term y, const Labels& needed) {
  Labels x_needs = needed, y_needs = needed;
  x_needs.insert(x_needs.end(), y.labels.begin(), y.labels.end());
  y_needs.insert(y_needs.end(), x.labels.begin(), x.labels.end());
  x = summed(x, x_needs);
  y = summed(y, y_needs);
  Labels batch, inner, x_free, y_free;
  for (int label : x.labels)
    (!has(y.labels, label) ? x_free : has(needed, label) ? batch : inner).push_back(label);
  for (int label : y.labels)
    if (!has(x.labels, label)) y_free.push_back(label);
  auto joined = [](std::initializer_list<const Labels*> parts) {
    Labels out;
    for (const Labels* p : parts) out.insert(out.end(), p->begin(), p->end());
    return out;
  };
  auto batch_sizes = extents(x, batch), x_sizes = extents(x, x_free), y_sizes = extents(y, y_free),
       inner_sizes = extents(x, inner);
  Extent b = product(batch_sizes), m = product(x_sizes), n = product(y_sizes),
         k = product(inner_sizes);
  Labels out = joined({&batch, &x_free, &y_free});
  std::vector<Extent> out_sizes = batch_sizes;
  out_sizes.insert(out_sizes.end(), x_sizes.begin(), x_sizes.end());
  out_sizes.insert(out_sizes.end(), y_sizes.begin(), y_sizes.end());
  bool one = batch.empty();  // without a batch, plain matrices: a cheaper product
  auto matrix = [&](const Term& t, const Labels& order, Extent rows, Extent columns) {
    std::vector<Extent> sizes{rows, columns};
    if (!one) sizes.insert(sizes.begin(), b);
    return linalg::reshaped(arranged(t, order).tensor, sizes);
  };
  Tensor result;
  if (inner.empty()) {
    Extent unit;
    result = matrix(x, joined({&batch, &x_free}), m, unit) *
             matrix(y, joined({&batch, &y_free}), unit, n);
  } else {
    // An operand that already ends (begins) with the contracted labels is read transposed, not
    // copied.
    bool x_inner_first = x.labels == joined({&batch, &inner, &x_free}),
         y_inner_last = y.labels == joined({&batch, &y_free, &inner});
    Tensor left = x_inner_first ? matrix(x, x.labels, k, m)
                                : matrix(x, joined({&batch, &x_free, &inner}), m, k);
    Tensor right = y_inner_last ? matrix(y, y.labels, n, k)
                                : matrix(y, joined({&batch, &inner, &y_free}), k, n);
    // The adjoint attribute of the batched op conjugates, so complex numbers take the copying way
    // there.
    if (!one && is_complex(left.dtype())) {
      if (x_inner_first) left = linalg::matrix_transpose(left);
      if (y_inner_last) right = linalg::matrix_transpose(right);
      x_inner_first = y_inner_last = false;
    }
    result = matmul(left, right, {.transpose_a = x_inner_first, .transpose_b = y_inner_last});
  }
  return {linalg::reshaped(result, out_sizes), out};
}

// Which two to contract next: those whose result is smallest, the first of equals.
std::pair<size_t, size_t> cheapest(const std::vector<Term>& operands, const Labels& output) {
  std::pair<size_t, size_t> best{0, 1};
  double least = -1;
  for (size_t i = 0; i < operands.size(); ++i)
    for (size_t j = i + 1; j < operands.size(); ++j) {
      double size = 1;
      Labels seen;
      for (const Term* x : {&operands[i], &operands[j]})
        for (size_t a = 0; a < x->labels.size(); ++a) {
          int label = x->labels[a];
          bool needed = has(output, label);
          for (size_t k = 0; k < operands.size(); ++k)
            needed = needed || (k != i && k != j && has(operands[k].labels, label));
          if (needed && !has(seen, label)) {
            seen.push_back(label);
            size *= static_cast<double>(std::max<int64_t>(1, x->tensor.dim(static_cast<int>(a))));
          }
        }
      if (least < 0 || size < least) {
        least = size;
        best = {i, j};
      }
    }
  return best;
}

linalg::Meeting meeting(const std::string& text, int label, const Tensors& in,
                        std::array<size_t, 2> inputs, std::array<size_t, 2> axes) {
  linalg::Meeting m{"einsum",
                    label < 0 ? "an axis under the ellipsis"
                              : cat("label '", static_cast<char>(label), "' of '", text, "'"),
                    {},
                    {},
                    {}};
  for (size_t i = 0; i < 2; ++i) {
    m.names[i] = named_input(in, inputs[i]);
    m.tensors[i] = in[inputs[i]];
    m.axes[i] = static_cast<int>(axes[i]);
  }
  return m;
}

// A label has one size wherever it stands; where that is not known yet, the graph looks when it
// runs.
void meet_later(const std::string& text, const Tensors& in, std::vector<Term>& operands) {
  for (size_t i = 0; i < operands.size(); ++i) {
    std::vector<bool> looked_at(operands[i].labels.size());
    for (size_t j = 0; j <= i; ++j) {
      const Labels &own = operands[i].labels, &before = operands[j].labels;
      std::vector<linalg::Meeting> all;
      for (size_t k = 0; k < own.size(); ++k) {
        auto m = static_cast<size_t>(position(before, own[k]));
        if (looked_at[k] || m == before.size() || (i == j && m == k)) continue;
        looked_at[k] = true;
        linalg::Meeting each = meeting(text, own[k], in, {i, j}, {k, m});
        each.tensors = {operands[i].tensor, operands[j].tensor};
        if (each.tensors[0].dim(each.axes[0]) < 0 || each.tensors[1].dim(each.axes[1]) < 0)
          all.push_back(std::move(each));
      }
      if (!all.empty()) operands[i].tensor = linalg::met(all);
    }
  }
}

std::vector<Term> read_operands(const std::string& text, const Equation& e, const Tensors& in,
                                int& widest) {
  std::vector<Term> out;
  struct Size {
    int64_t value;
    size_t input, axis;  // the first that has it
  };
  std::map<int, Size> sizes;
  for (size_t i = 0; i < in.size(); ++i) {
    const std::string& term = e.terms[i];
    int dots = static_cast<int>(std::count(term.begin(), term.end(), '.'));
    int named = static_cast<int>(term.size()) - dots, covered = in[i].rank() - named;
    if (covered < 0 || (covered > 0 && !dots))
      refuse_input(in, i, cat("rank ", named, dots ? " or more" : ""),
                   cat("'", term, "' in '", text, "' names its axes one by one"));
    bool had = false;
    Term x{in[i], parse_term(text, term, covered, &had)};
    widest = std::max(widest, had ? covered : -1);
    for (size_t k = 0; k < x.labels.size(); ++k) {
      int64_t d = in[i].dim(static_cast<int>(k));
      auto [at, fresh] = sizes.try_emplace(x.labels[k], Size{d, i, k});
      Size& known = at->second;
      if (fresh || d < 0 || d == known.value) continue;
      bool ellipsis = x.labels[k] < 0;
      if (known.value < 0 || (ellipsis && known.value == 1))
        known = {d, i, k};
      else if (!(ellipsis && d == 1))
        linalg::refuse_sizes(meeting(text, x.labels[k], in, {i, known.input}, {k, known.axis}));
    }
    out.push_back(std::move(x));
  }
  // Under the ellipsis a size of 1 stands for any: without the axis, the others broadcast over it.
  for (Term& x : out) {
    Dims gone;
    Labels rest;
    for (size_t k = 0; k < x.labels.size(); ++k) {
      bool drop = x.labels[k] < 0 && x.tensor.dim(static_cast<int>(k)) == 1 &&
                  sizes.at(x.labels[k]).value != 1;
      if (drop)
        gone.push_back(static_cast<int64_t>(k));
      else
        rest.push_back(x.labels[k]);
    }
    if (!gone.empty()) x = {squeeze(x.tensor, {.axis = Sizes(gone)}), rest};
  }
  return out;
}

Labels output_labels(const std::string& text, const Equation& e, const std::vector<Term>& operands,
                     int widest) {
  if (e.explicit_output) {
    bool had = false;
    Labels out = parse_term(text, e.output, std::max(0, widest), &had);
    if (!had && widest > 0)
      refuse(text, cat("the output leaves out the ellipsis, which stands for ", widest, " axes"));
    for (int label : out)
      if (std::none_of(operands.begin(), operands.end(),
                       [&](const Term& x) { return has(x.labels, label); }))
        refuse(text, cat("label '", static_cast<char>(label), "' of the output is in no input"));
    return out;
  }
  // Without an arrow: the axes of the ellipsis, then the labels that occur once, in alphabetical
  // order.
  std::map<int, int> times;
  for (const std::string& term : e.terms)
    for (char c : term)
      if (c != '.') ++times[c];
  Labels out;
  for (int k = -std::max(0, widest); k < 0; ++k) out.push_back(k);
  for (auto [label, n] : times)
    if (n == 1) out.push_back(label);
  return out;
}

// Puts a label that stands twice in the output on a diagonal.
Term with_repeats(const Term& x, const Labels& output) {
  Term y = x;
  for (size_t i = 0; i < output.size(); ++i)
    for (size_t j = i + 1; j < output.size(); ++j) {
      if (output[i] != output[j]) continue;
      Labels last = y.labels;
      last.erase(std::find(last.begin(), last.end(), output[i]));
      last.push_back(output[i]);
      y = arranged(y, last);
      // A label of its own for the second axis, until all are in place.
      y = {linalg::diag(y.tensor), y.labels};
      y.labels.push_back(1000 + static_cast<int>(j));
      Labels renamed = output;
      renamed[j] = 1000 + static_cast<int>(j);
      return with_repeats(y, renamed);
    }
  return arranged(y, output);
}

}  // namespace

REGISTER(
    FUNCTION(&einsum)
        .args("equation, inputs")
        .python("einsum, linalg.einsum, raw_ops.Einsum")
        .doc("Sum of products over the labels that the equation's output leaves out. A label that "
             "stands twice in the output puts it on a diagonal.")
        .samples("'ij,jk->ik', [uniform(3, 4), uniform(4, 5)]",
                 "'bij,bjk->bik', [uniform(2, 3, 4), uniform(2, 4, 5)]",
                 "'...ij,...jk->...ik', [uniform(2, 1, 3, 4), uniform(5, 4, 2)]",
                 "'ii->i', [uniform(4, 4)]", "'ij->', [uniform(3, 4)]",
                 "'ij,jk,kl->il', [uniform(2, 3), uniform(3, 4), uniform(4, 5)]",
                 "'i,j->ij', [uniform(3), uniform(4)]", "'ba', [uniform(2, 3)]")
        .reference("np.einsum(equation, *inputs)"));
static const Composition einsum_later(
    "einsum", 1, +[](std::span<const Tensor> in, const std::string& equation) {
      return einsum(equation, Tensors(in));
    });
Tensor einsum(const std::string& equation, const Ins& inputs) {
  Equation e = parse(equation);
  if (e.terms.size() != inputs.size())
    refuse(equation,
           cat("it has ", e.terms.size(), " terms, but there are ", inputs.size(), " inputs"));
  int widest = -1;
  Tensors given = inputs.tensors();
  if (!ranks_known(given)) return einsum_later(given, given[0].dtype(), Shape::unknown(), equation);
  auto operands = read_operands(equation, e, given, widest);
  Labels output = output_labels(equation, e, operands, widest);
  // Under the ellipsis a size of 1 broadcasts, and one that is not known may be 1.
  if (widest > 0 && given.size() > 1 && !sizes_known(given))
    return einsum_later(given, given[0].dtype(), Shape::of_rank(static_cast<int>(output.size())),
                        equation);
  if (!sizes_known(given)) meet_later(equation, given, operands);
  for (Term& x : operands) x = without_repeats(x);
  while (operands.size() > 1) {
    auto [i, j] = cheapest(operands, output);
    Labels needed = output;
    for (size_t k = 0; k < operands.size(); ++k)
      if (k != i && k != j)
        needed.insert(needed.end(), operands[k].labels.begin(), operands[k].labels.end());
    operands[i] = contracted(operands[i], operands[j], needed);
    operands.erase(operands.begin() + static_cast<std::ptrdiff_t>(j));
  }
  return with_repeats(summed(operands[0], output), output).tensor;
}

}  // namespace holdfast
