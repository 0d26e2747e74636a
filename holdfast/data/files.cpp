// Datasets of what files hold. Each file is a dataset of its own; several are interleaved.
#include "holdfast/data/files.h"

#include <algorithm>

#include "holdfast/base/diagnostic.h"
#include "holdfast/base/text.h"
#include "holdfast/data/arguments.h"
#include "holdfast/data/functions.h"
#include "holdfast/device/device.h"
#include "holdfast/io/records.h"
#include "holdfast/io/refuse_file.h"

namespace holdfast::data {
namespace {

Tensor text_scalar(std::string&& text) {
  Tensor out = empty(string, Shape{}, cpu());
  *out.mutable_raw<std::string>() = std::move(text);
  return out;
}

// -- readers: `next` gives an element, `save` and `restore` its place

/// Its place is where the next record begins. A compressed file is read again up to there.
class Records {
 public:
  Records(const std::string& path, const FilesOptions& o)
      : reader_(path, io::compression_named(o.compression_type), o.buffer_size) {}
  bool next(std::string& out) { return reader_.next(out); }
  /// Whether there may be more behind what was damaged.
  bool goes_on() const { return reader_.goes_on(); }
  void save(Saving& to) const {
    to.number(reader_.offset());
    to.number(reader_.number());
  }
  void restore(Restoring& from) {
    int64_t offset = from.number(), number = from.number();
    if (offset < 0 || number < 0 || !reader_.seek(offset, number))
      Restoring::refuse("the file of records is shorter than it was");
  }

 private:
  io::RecordReader reader_;
};

/// What reads a stream: its place is that of the stream, and nothing is behind what is damaged.
class Streamed {
 public:
  static bool goes_on() { return false; }
  void save(Saving& to) const { to.number(stream_.at()); }
  void restore(Restoring& from) {
    int64_t at = from.number();
    if (at < first_ || !stream_.seek(at))
      Restoring::refuse(cat("the file `", stream_.path(), "` is shorter than it was"));
  }

 protected:
  template <class Options>
  Streamed(const std::string& path, const Options& o, int64_t first = 0)
      : stream_(path, io::compression_named(o.compression_type), o.buffer_size), first_(first) {}
  io::Stream stream_;

 private:
  const int64_t first_;  // what is before it belongs to no element
};

class Lines : public Streamed {
 public:
  Lines(const std::string& path, const FilesOptions& o) : Streamed(path, o) {}
  bool next(std::string& out) {
    if (stream_.look(1).empty()) return false;
    std::string_view line = stream_.look_until('\n');
    out.assign(line);
    // As TensorFlow, which keeps no carriage return wherever it stands.
    if (line.find('\r') != line.npos) std::erase(out, '\r');
    stream_.skip(line.size());
    if (!stream_.look(1).empty()) stream_.skip(1);
    return true;
  }
};

/// Lines, but for those that go on because a quote does. A carriage return ends one too.
class CsvTexts : public Streamed {
 public:
  CsvTexts(const std::string& path, const CsvRecordsOptions& o)
      : Streamed(path, o), quotes_(o.use_quote_delim), delim_(o.field_delim) {
    std::string left_out;
    if (o.header && !next(left_out))
      fail(Code::E1103, "`CsvDataset`: a file has no header, since it is empty",
           cat("the file is ", path));
  }
  bool next(std::string& out) {
    if (!read(out)) return false;
    if (out.empty() && quotes_) out = "\"\"";  // one empty field, and not none
    return true;
  }

 private:
  bool read(std::string& out) {
    out.clear();
    if (stream_.look(1).empty()) return false;
    bool open = false, may_open = true;  // a quote inside of a field without any opens nothing
    for (;; out += '\n') {
      std::string_view line = stream_.look_until('\n');
      size_t end = 0;
      for (; end < line.size() && (open || line[end] != '\r'); ++end) {
        bool quote = quotes_ && line[end] == '"' && (open || may_open);
        if (quote) open = !open;
        may_open = quote || line[end] == delim_;  // two quotes are one, between quotes
      }
      out += line.substr(0, end);
      bool inside = end + 1 < line.size();  // what follows is the next record
      stream_.skip(inside ? end + 1 : line.size());
      if (inside || stream_.look(1).empty()) return true;
      stream_.skip(1);
      if (!open) return true;
    }
  }
  const bool quotes_;
  const char delim_;
};

struct PieceOptions : FixedLengthRecordOptions {
  int64_t bytes = 0;
};

class Pieces : public Streamed {
 public:
  Pieces(const std::string& path, const PieceOptions& o)
      : Streamed(path, o, o.header_bytes), options_(o) {
    // How long a compressed file is shows at its end only.
    if (o.compression_type.empty()) {
      int64_t rest = stream_.file_size() - o.header_bytes - o.footer_bytes;
      if (rest < 0 || rest % o.bytes != 0) wrong_length(rest);
    }
    if (!stream_.seek(o.header_bytes)) wrong_length(-1);
  }
  bool next(std::string& out) {
    auto size = static_cast<size_t>(options_.bytes),
         foot = static_cast<size_t>(options_.footer_bytes);
    std::string_view found = stream_.look(size + foot);
    if (found.size() < size + foot) {
      if (found.size() == foot) return false;
      wrong_length(stream_.at() - options_.header_bytes + static_cast<int64_t>(found.size()) -
                   options_.footer_bytes);
    }
    out.assign(found.substr(0, size));
    stream_.skip(size);
    return true;
  }

 private:
  [[noreturn]] void wrong_length(int64_t rest) const {
    const PieceOptions& o = options_;
    std::string ends =
        cat(o.header_bytes, " bytes at its start and ", o.footer_bytes, " at its end");
    if (rest < 0) io::refuse_contents(stream_.path(), cat("it has fewer than ", ends));
    io::refuse_contents(stream_.path(), cat("it has ", rest, " bytes besides ", ends,
                                            ", expected records of ", o.bytes, " bytes"));
  }
  const PieceOptions options_;
};

/// One file. It is opened when its first element is asked for: until then it may be written.
template <class Reader, class Options>
class OneFile final : public DatasetObject {
 public:
  OneFile(std::string path, const Options& o)
      : DatasetObject(ElementSpec(string), {}), path_(std::move(path)), options_(o) {}
  const char* name() const override { return "file"; }
  int64_t cardinality() const override { return kUnknownCardinality; }
  Owned<Cursor> start() const override { return started<OneFile, Place>(*this); }

 private:
  struct Place final : Cursor {
    explicit Place(const OneFile& s) : stage(&s) {}
    Reader& opened() {
      if (!reader) reader.emplace(stage->path_, stage->options_);
      return *reader;
    }
    bool next(Nested& out) override {
      if (ended) return false;
      std::string text;
      try {
        ended = !opened().next(text);
      } catch (...) {
        ended = !reader || !reader->goes_on();
        throw;
      }
      if (ended)
        reader.reset();
      else
        out = text_scalar(std::move(text));
      return !ended;
    }
    void save(Saving& to) const override {
      to.number(ended);
      to.number(reader.has_value());
      if (reader) reader->save(to);
    }
    void restore(Restoring& from) override {
      ended = from.number() != 0;
      if (from.number() != 0) opened().restore(from);
    }
    const StageRef<OneFile> stage;
    std::optional<Reader> reader;
    bool ended = false;
  };
  const std::string path_;
  const Options options_;
};

/// What the program wrote: all files, which its input puts one after the other, or in turn.
class Files final : public DatasetObject {
 public:
  Files(const char* name, const Dataset& contents, std::string facts)
      : DatasetObject(contents.element_spec(), {contents.object()}),
        name_(name),
        facts_(std::move(facts)) {}
  const char* name() const override { return name_; }
  void add_facts(Saving& to) const override { to.text(facts_); }
  int64_t cardinality() const override { return input().cardinality(); }
  Owned<Cursor> start() const override { return started<Files, Each>(*this); }

 private:
  struct Each final : Cursor {
    explicit Each(const Files& s) : stage(&s), input(s.input().begin()) {}
    bool next(Nested& out) override {
      return at_stage(*stage, at, [&] {
        bool there = input->next(out);
        at += there;
        return there;
      });
    }
    void save(Saving& to) const override {
      to.number(at);
      input->save(to);
    }
    void restore(Restoring& from) override {
      at = from.number();
      input->restore(from);
    }
    const StageRef<Files> stage;
    Owned<Cursor> input;
    int64_t at = 0;
  };
  const char* const name_;
  const std::string facts_;
};

// What options say of the elements.
std::string facts_of(const FilesOptions& o) { return o.compression_type; }
std::string facts_of(const CsvRecordsOptions& o) {
  return cat(o.compression_type, " ", o.header, " ", o.use_quote_delim, " ", o.field_delim);
}
std::string facts_of(const PieceOptions& o) {
  return cat(o.compression_type, " ", o.bytes, " ", o.header_bytes, " ", o.footer_bytes);
}

template <class Reader, class Options>
Dataset of_files(const FileNames& files, const char* function, const Options& o) {
  if (o.buffer_size < 0)
    fail(Code::E1103,
         cat("`buffer_size` of `", function, "` is ", o.buffer_size, ", expected 0 or more"));
  int64_t at_once = o.num_parallel_reads.value_or(1);
  if (at_once != kAutotune) need_one(at_once, "num_parallel_reads", function);
  io::compression_named(o.compression_type);
  ElementSpec gives(string);
  if (probing()) return promised(gives);
  auto make = [o](const Nested& name) {
    return Dataset(make_ref<OneFile<Reader, Options>>(name.tensor().item<std::string>(), o));
  };
  return Dataset(make_ref<Files>(
      function, files.dataset().interleaved(make, {.cycle_length = at_once}, nullptr, &gives),
      facts_of(o)));
}

}  // namespace

Dataset FileNames::dataset() const {
  if (names_) return *names_;
  return Dataset::from_tensor_slices(Tensor::of(paths_));
}

FileNames::FileNames(const Dataset& names) : names_(names) {
  const ElementSpec& spec = names.element_spec();
  if (!spec.form().is_tensor() || spec.leaves()[0].dtype != string ||
      !spec.leaves()[0].shape.compatible(Shape{}))
    fail(Code::E1101,
         cat("the names of files are a dataset of ", spec.text(), ", expected one of string[]"));
}

Dataset detail::records(const FileNames& files, const FilesOptions& o) {
  return of_files<Records>(files, "TFRecordDataset", o);
}
Dataset detail::lines(const FileNames& files, const FilesOptions& o) {
  return of_files<Lines>(files, "TextLineDataset", o);
}
Dataset detail::csv_records(const FileNames& files, const CsvRecordsOptions& o) {
  return of_files<CsvTexts>(files, "CsvDataset", o);
}
Dataset detail::pieces(const FileNames& files, int64_t record_bytes,
                       const FixedLengthRecordOptions& o) {
  const std::pair<const char*, int64_t> numbers[] = {{"record_bytes", record_bytes},
                                                     {"header_bytes", o.header_bytes},
                                                     {"footer_bytes", o.footer_bytes}};
  constexpr int64_t kMost = int64_t{1} << 40;
  for (const auto& [name, value] : numbers) {
    int64_t least = value == record_bytes && name[0] == 'r' ? 1 : 0;
    if (value < least || value > kMost)
      fail(Code::E1103, cat("`", name, "` of `FixedLengthRecordDataset` is ", value, ", expected ",
                            least, " to ", kMost));
  }
  return of_files<Pieces>(files, "FixedLengthRecordDataset", PieceOptions{o, record_bytes});
}

}  // namespace holdfast::data
