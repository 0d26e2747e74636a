// Lines of CSV files as columns.
#include <charconv>
#include <limits>

#include "holdfast/base/text.h"
#include "holdfast/op/op.h"
#include "holdfast/ops/io.h"

namespace holdfast {
namespace {

struct CsvAttrs {
  Attr<std::string> field_delim;
  Attr<bool> use_quote_delim;
  Attr<std::string> na_value;
  Attr<Ints> select_cols;
};

constexpr DTypes kColumns = DTypes{float32, float64, int32, int64, string};

void infer_csv(Infer& s) {
  auto a = s.attrs<CsvAttrs>();
  if (a.field_delim().size() != 1)
    s.bad_value("field_delim", cat("\"", a.field_delim(), "\""), "one character");
  const Ints& chosen = a.select_cols();
  for (size_t i = 0; i < chosen.size(); ++i)
    if (chosen[i] < 0 || (i > 0 && chosen[i] <= chosen[i - 1]))
      s.bad_value("select_cols", Shape(Dims(chosen.begin(), chosen.end())).text(),
                  "numbers of columns that go up");
  if (!chosen.empty() && static_cast<int>(chosen.size()) != s.inputs() - 1)
    s.bad_value("select_cols", cat(chosen.size(), " columns"),
                cat(s.inputs() - 1, ", one for each default"));
  for (int i = 1; i < s.inputs(); ++i) {
    s.need_rank(i, 0, 1);
    if (!kColumns.has(s.dtype(i))) s.bad_dtype(i, "float32, float64, int32, int64 or string");
    const Shape& shape = s.shape(i);
    if (shape.is_full() && shape.size() > 1) s.bad_shape(i, "one value, or none");
    s.output(s.dtype(i), s.shape());
  }
}

/// Takes a line apart; what was wrong, in words.
struct Fields {
  char delimiter;
  bool quotes;
  std::vector<std::string> found;

  const char* split(std::string_view line) {
    found.clear();
    size_t at = 0, n = line.size();
    if (n > 0 && line[n - 1] == '\n') --n;
    if (n > 0 && line[n - 1] == '\r') --n;
    for (;;) {
      std::string field;
      if (quotes && at < n && line[at] == '"') {
        for (++at;; ++at) {
          if (at >= n) return "has a quote that does not end";
          if (line[at] != '"')
            field += line[at];
          else if (at + 1 < n && line[at + 1] == '"')
            field += line[at++];
          else
            break;
        }
        ++at;
        if (at < n && line[at] != delimiter) return "goes on behind a quote that ended";
      } else {
        for (; at < n && line[at] != delimiter; ++at) {
          if (quotes && (line[at] == '"' || line[at] == '\n' || line[at] == '\r'))
            return "has a quote or an end of line inside of a field without quotes";
          field += line[at];
        }
      }
      found.push_back(std::move(field));
      if (at >= n) return nullptr;
      ++at;
    }
  }
};

std::string_view trimmed(std::string_view s) {
  while (!s.empty() && (s.front() == ' ' || s.front() == '\t')) s.remove_prefix(1);
  while (!s.empty() && (s.back() == ' ' || s.back() == '\t')) s.remove_suffix(1);
  return s;
}

template <class T>
bool number(std::string_view text, T& out) {
  text = trimmed(text);
  if (!text.empty() && text.front() == '+') text.remove_prefix(1);
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if constexpr (std::is_floating_point_v<T>) {
    // What is too large is infinite, what is too small is zero.
    if (error == std::errc::result_out_of_range) {
      bool small = text.find("e-") != text.npos || text.find("E-") != text.npos;
      T size = small ? T(0) : std::numeric_limits<T>::infinity();
      out = text.front() == '-' ? -size : size;
      error = {};
    }
  }
  return error == std::errc() && end == text.data() + text.size();
}

template <class F>
auto by_dtype(DType d, F&& f) {
  switch (d) {
    case DType::kFloat32: return f(float{});
    case DType::kFloat64: return f(double{});
    case DType::kInt32: return f(int32_t{});
    case DType::kInt64: return f(int64_t{});
    default: return f(std::string{});
  }
}

Status run_csv(Call& c) {
  auto a = c.attrs<CsvAttrs>();
  const Ints& chosen = a.select_cols();
  int columns = c.inputs() - 1;
  const Tensor& lines = c.in();
  Fields fields{.delimiter = a.field_delim()[0], .quotes = a.use_quote_delim(), .found = {}};
  for (int k = 0; k < columns; ++k) c.out(k, lines.shape());
  const auto* texts = lines.raw<std::string>();
  for (int64_t line = 0; line < lines.size(); ++line) {
    auto refuse = [&](Code code, const std::string& what) -> Status {
      return {code, cat("decode_csv: line ", line, " ", what)};
    };
    if (const char* wrong = fields.split(texts[line])) return refuse(Code::E1103, wrong);
    auto count = static_cast<int64_t>(texts[line].empty() ? 0 : fields.found.size());
    if (chosen.empty() ? count != columns : count <= chosen.back())
      return refuse(Code::E1102,
                    cat("has ", count, " fields, expected ",
                        chosen.empty() ? cat(columns) : cat("more than ", chosen.back())));
    for (int k = 0; k < columns; ++k) {
      int64_t from = chosen.empty() ? k : chosen[static_cast<size_t>(k)];
      std::string& field = fields.found[static_cast<size_t>(from)];
      const Tensor& otherwise = c.in(k + 1);
      Tensor& out = c.out(k);
      Status bad = by_dtype(out.dtype(), [&](auto zero) -> Status {
        using T = decltype(zero);
        T& to = out.mutable_raw<T>()[line];
        if (field.empty() || field == a.na_value()) {
          if (otherwise.size() == 0)
            return refuse(Code::E1103,
                          cat("has nothing in field ", from, ", which has no default"));
          to = *otherwise.raw<T>();
          return {};
        }
        if constexpr (std::is_same_v<T, std::string>) {
          to = std::move(field);
        } else if (!number(field, to)) {
          return refuse(Code::E1103, cat("has \"", field.substr(0, 40), "\" in field ", from,
                                         ", which is no ", name(out.dtype())));
        }
        return {};
      });
      if (!bad.ok()) return bad;
    }
  }
  return {};
}

const Op op = RAW_OP(DecodeCSV)
                  .doc("The columns of lines of a CSV file.")
                  .inputs("records: S, record_defaults*: any")
                  .dtypes(kStrings, "S")
                  .attr("field_delim", ",")
                  .attr("use_quote_delim", true)
                  .attr("na_value", "")
                  .attr("select_cols", Ints{})
                  .attrs<&CsvAttrs::field_delim, &CsvAttrs::use_quote_delim, &CsvAttrs::na_value,
                         &CsvAttrs::select_cols>()
                  .infer(infer_csv)
                  .kernel("reference", run_csv)
                  .on_host()
                  .no_gradient();

}  // namespace

Tensors io::decode_csv(const In& records, const Ins& record_defaults, const DecodeCsvOptions& o) {
  Tensors inputs;
  inputs.push_back(records);
  for (const Tensor& t : record_defaults.tensors()) inputs.push_back(t);
  return op.list(inputs, {o.field_delim, o.use_quote_delim, o.na_value,
                          o.select_cols.value_or(std::vector<int64_t>{})});
}

}  // namespace holdfast
