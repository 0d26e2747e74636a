// Strings cut into parts: words, bytes, and runs of words.
#include "holdfast/base/text.h"
#include "holdfast/op/op.h"

namespace holdfast {
namespace {

struct SplitAttrs {
  Attr<int64_t> maxsplit;
};
struct OldSplitAttrs {
  Attr<bool> skip_empty;
};
struct NgramAttrs {
  Attr<std::string> separator;
  Attr<Ints> ngram_widths;
  Attr<std::string> left_pad;
  Attr<std::string> right_pad;
  Attr<int64_t> pad_width;
  Attr<bool> preserve_short_sequences;
};

using Parts = std::vector<std::string_view>;

bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

// At white space, runs of which count once; `most` cuts at most where it is not negative.
void split_at_spaces(std::string_view text, int64_t most, Parts& out) {
  auto skip = [&] {
    while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  };
  skip();
  for (int64_t cuts = 0; !text.empty();) {
    size_t n = 0;
    while (n < text.size() && !is_space(text[n])) ++n;
    out.push_back(text.substr(0, n));
    text.remove_prefix(n);
    skip();
    // As TensorFlow does: what is left is a part, also where nothing is.
    if (++cuts == most) return out.push_back(text);
  }
}

void split_at(std::string_view text, std::string_view separator, int64_t most, Parts& out) {
  for (int64_t cuts = 0; most < 0 || cuts < most; ++cuts) {
    size_t at = text.find(separator);
    if (at == text.npos) break;
    out.push_back(text.substr(0, at));
    text.remove_prefix(at + separator.size());
  }
  out.push_back(text);
}

// At each of several characters; without any, into bytes.
void split_at_any(std::string_view text, std::string_view characters, bool skip_empty, Parts& out) {
  if (text.empty()) return;
  if (characters.empty()) {
    for (size_t i = 0; i < text.size(); ++i) out.push_back(text.substr(i, 1));
    return;
  }
  for (size_t begin = 0, at = 0; at <= text.size(); ++at)
    if (at == text.size() || characters.find(text[at]) != characters.npos) {
      if (at > begin || !skip_empty) out.push_back(text.substr(begin, at - begin));
      begin = at + 1;
    }
}

// A sparse matrix of parts: a row for each string.
template <class F>
Status split_each(Call& c, F&& split) {
  const auto* from = c.in(0).raw<std::string>();
  int64_t rows = c.in(0).size(), most = 0;
  Parts parts;
  std::vector<int64_t> ends;
  for (int64_t i = 0; i < rows; ++i) {
    auto before = static_cast<int64_t>(parts.size());
    split(from[i], parts);
    ends.push_back(static_cast<int64_t>(parts.size()));
    most = std::max(most, ends.back() - before);
  }
  auto count = static_cast<int64_t>(parts.size());
  auto* at = c.out(0, Shape{count, 2}).mutable_raw<int64_t>();
  auto* to = c.out(1, Shape{count}).mutable_raw<std::string>();
  for (int64_t row = 0, k = 0; row < rows; ++row)
    for (int64_t column = 0; k < ends[static_cast<size_t>(row)]; ++k, ++column) {
      *at++ = row;
      *at++ = column;
      to[k] = parts[static_cast<size_t>(k)];
    }
  auto* shape = c.out(2).mutable_raw<int64_t>();
  shape[0] = rows;
  shape[1] = most;
  return {};
}

void infer_split(Infer& s) {
  s.need_rank(0, 1, 1);
  s.need_rank(1, 0, 0);
  s.output(int64, Shape{kUnknown, 2});
  s.output(string, Shape{kUnknown});
  s.output(int64, Shape{2});
}

Status run_split(Call& c) {
  const auto& separator = *c.in(1).raw<std::string>();
  int64_t most = c.attrs<SplitAttrs>().maxsplit();
  return split_each(c, [&](std::string_view text, Parts& out) {
    if (most == 0)
      out.push_back(text);
    else if (separator.empty())
      split_at_spaces(text, most, out);
    else
      split_at(text, separator, most, out);
  });
}
Status run_old_split(Call& c) {
  const auto& characters = *c.in(1).raw<std::string>();
  bool skip = c.attrs<OldSplitAttrs>().skip_empty();
  return split_each(
      c, [&](std::string_view text, Parts& out) { split_at_any(text, characters, skip, out); });
}

constexpr int64_t kMostParts = 1 << 30;  // of one run, and of all runs of a row

void infer_ngrams(Infer& s) {
  auto a = s.attrs<NgramAttrs>();
  s.need_rank(0, 1, 1);
  s.need_rank(1, 1, 1);
  if (a.ngram_widths().empty()) s.bad_value("ngram_widths", "no number", "one or more");
  for (int64_t width : a.ngram_widths())
    if (width < 1 || width > kMostParts)
      s.bad_value("ngram_widths", cat(width), cat("numbers of 1 to ", kMostParts));
  if (a.pad_width() > kMostParts)
    s.bad_value("pad_width", cat(a.pad_width()), cat(kMostParts, " at most"));
  s.output(string, Shape{kUnknown});
  s.output(s.dtype(1), s.shape(1));
}

// How many runs of `width` parts there are; `pad` of them may lie outside at each end.
int64_t runs_of(int64_t length, int64_t width, int64_t pad) {
  int64_t outside = pad >= 0 ? std::min(pad, width - 1) : width - 1;
  return std::max<int64_t>(0, length + 2 * outside - width + 1);
}

template <class I>
Status ngrams_of(Call& c) {
  auto a = c.attrs<NgramAttrs>();
  const auto* data = c.in(0).raw<std::string>();
  const I* splits = c.in(1).raw<I>();
  int64_t count = c.in(1).size(), values = c.in(0).size();
  bool fits = count == 0 || (splits[0] == 0 && splits[count - 1] == values);
  for (int64_t i = 1; fits && i < count; ++i) fits = splits[i] >= splits[i - 1];
  if (!fits)
    return {Code::E1103, cat(c.op.name, ": `data_splits` don't fit the ", values, " texts")};
  std::vector<std::string> out;
  I* ends = c.out(1, c.in(1).shape()).template mutable_raw<I>();
  if (count > 0) ends[0] = 0;
  for (int64_t row = 0; row + 1 < count; ++row) {
    int64_t begin = splits[row], length = splits[row + 1] - splits[row];
    size_t before = out.size();
    bool too_many = false;
    auto add = [&](int64_t width, int64_t outside, int64_t runs) {
      too_many |= static_cast<double>(width) * static_cast<double>(runs) > double{kMostParts};
      if (too_many) return;
      for (int64_t run = 0; run < runs; ++run) {
        std::string text;
        for (int64_t k = run - outside; k < run - outside + width; ++k) {
          if (k > run - outside) text += a.separator();
          text += k < 0 ? a.left_pad() : k >= length ? a.right_pad() : data[begin + k];
        }
        out.push_back(std::move(text));
      }
    };
    for (int64_t width : a.ngram_widths()) {
      int64_t outside = a.pad_width() >= 0 ? std::min(a.pad_width(), width - 1) : width - 1;
      add(width, outside, runs_of(length, width, a.pad_width()));
    }
    // A row that is too short for any run is one itself.
    if (a.preserve_short_sequences() && out.size() == before && length > 0) {
      int64_t outside = std::max<int64_t>(a.pad_width(), 0);
      add(length + 2 * outside, outside, 1);
    }
    if (too_many)
      return {Code::E1103, cat(c.op.name, ": row ", row, " would become runs of more than ",
                               kMostParts, " texts")};
    ends[row + 1] = static_cast<I>(out.size());
  }
  auto* to = c.out(0, Shape{static_cast<int64_t>(out.size())}).template mutable_raw<std::string>();
  std::move(out.begin(), out.end(), to);
  return {};
}
Status run_ngrams(Call& c) {
  return c.in(1).dtype() == int64 ? ngrams_of<int64_t>(c) : ngrams_of<int32_t>(c);
}

const Op split_op = RAW_OP(StringSplitV2)
                        .doc("Strings cut at a separator, or at white space where it is empty.")
                        .inputs("input: T, sep: S")
                        .outputs("indices, values, shape")
                        .dtypes(kStrings, "T")
                        .dtypes(kStrings, "S")
                        .attr("maxsplit", -1)
                        .attrs<&SplitAttrs::maxsplit>()
                        .infer(infer_split)
                        .kernel("reference", run_split)
                        .on_host()
                        .no_gradient();
const Op old_split_op = RAW_OP(StringSplit)
                            .doc("Strings cut at each of several characters, or into bytes.")
                            .inputs("input: T, delimiter: S")
                            .outputs("indices, values, shape")
                            .dtypes(kStrings, "T")
                            .dtypes(kStrings, "S")
                            .attr("skip_empty", true)
                            .attrs<&OldSplitAttrs::skip_empty>()
                            .infer(infer_split)
                            .kernel("reference", run_old_split)
                            .on_host()
                            .no_gradient();
const Op ngrams_op = RAW_OP(StringNGrams)
                         .doc("Runs of texts that stand side by side in a row, put together.")
                         .inputs("data: S, data_splits: T")
                         .outputs("ngrams, ngrams_splits")
                         .dtypes(kStrings, "S")
                         .dtypes(kIndices, "T")
                         .attr("separator")
                         .attr("ngram_widths")
                         .attr("left_pad")
                         .attr("right_pad")
                         .attr("pad_width")
                         .attr("preserve_short_sequences")
                         .attrs<&NgramAttrs::separator, &NgramAttrs::ngram_widths,
                                &NgramAttrs::left_pad, &NgramAttrs::right_pad,
                                &NgramAttrs::pad_width, &NgramAttrs::preserve_short_sequences>()
                         .infer(infer_ngrams)
                         .kernel("reference", run_ngrams)
                         .on_host()
                         .no_gradient();

}  // namespace
}  // namespace holdfast
