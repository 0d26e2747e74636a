// Elements in files: what `save` writes and `load` reads, and what `cache` and `snapshot` keep.
//
// A file is a head, the spec of the elements, each element with its length and a checksum before
// it, and an end. It is written under another name, and gets its own when it is whole. Elements may
// be deflated, each by itself, so that a position in a file is a place.
#include <algorithm>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>

#include "holdfast/base/diagnostic.h"
#include "holdfast/base/text.h"
#include "holdfast/data/dataset.h"
#include "holdfast/data/functions.h"
#include "holdfast/data/inner.h"
#include "holdfast/device/device.h"
#include "holdfast/exec/init_scope.h"
#include "holdfast/io/atomic_file.h"
#include "holdfast/io/checksums.h"
#include "holdfast/io/inflate.h"
#include "holdfast/io/refuse_file.h"

namespace holdfast::data {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kHead = "holdfast elements 2\n";
constexpr std::string_view kDeflatedHead = "holdfast deflated 2\n";  // as long as the other
static_assert(kHead.size() == kDeflatedHead.size());
constexpr uint64_t kEnd = ~uint64_t{0};  // in place of a length: the number of elements follows

constexpr std::string_view kName = "elements", kShardName = "elements-";

std::string in_folder(const std::string& folder, std::string_view name = kName) {
  return (fs::path(folder) / name).string();
}

/// The number of the shard that a file of this name holds; 0 for the one of all elements.
std::optional<int64_t> shard_of(const fs::path& file) {
  std::string name = file.filename().string();
  if (name == kName) return 0;
  if (!name.starts_with(kShardName)) return std::nullopt;
  const char *begin = name.data() + kShardName.size(), *end = name.data() + name.size();
  int64_t number = 0;
  auto [rest, error] = std::from_chars(begin, end, number);
  if (error != std::errc() || rest != end) return std::nullopt;
  return number;
}

/// The files of elements in a folder, by their numbers.
std::multimap<int64_t, std::string> files_in(const std::string& folder) {
  std::multimap<int64_t, std::string> out;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(folder, none))
    if (auto shard = shard_of(entry.path())) out.emplace(*shard, entry.path().string());
  return out;
}

/// Whether elements are to be deflated.
bool deflates(const std::string& compression, const char* stage) {
  if (compression.empty() || compression == "NONE") return false;
  if (compression == "GZIP") return true;
  fail(Code::E1105, cat("`compression` of `", stage, "` is \"", compression, "\""),
       "elements are written as they are, or deflated one by one",
       {manual_fix("give \"GZIP\", or leave it out")});
}

[[noreturn]] void refuse_file(const std::string& path, const std::string& why) {
  fail(Code::E1301, cat("elements of a dataset in a file: ", why), cat("the file is ", path));
}
[[noreturn]] void damaged(const std::string& path, const std::string& why) {
  fail(Code::E1302, cat("elements of a dataset in a file: ", why), cat("the file is ", path),
       {manual_fix("write them again: the file may have been cut off when it was copied")});
}

class Reader {
 public:
  explicit Reader(const std::string& path) : path_(path), in_(path, std::ios::binary) {
    if (!in_) io::refuse_file(path, "opened");
    in_.seekg(0, std::ios::end);
    size_ = static_cast<uint64_t>(in_.tellg());
    in_.seekg(0);
    std::string head(kHead.size(), '\0');
    if (!in_.read(head.data(), static_cast<std::streamsize>(head.size())) ||
        (head != kHead && head != kDeflatedHead))
      refuse_file(path, "the file is of another kind");
    deflated_ = head == kDeflatedHead;
    std::string bytes;
    if (!record(bytes)) damaged(path, "it does not say what they are");
    Restoring from(bytes);
    spec_ = from.spec();
  }
  const ElementSpec& spec() const { return spec_; }
  bool next(Nested& out) {
    std::string bytes;
    if (!record(bytes)) return false;
    Restoring from(bytes);
    out = from.element();
    if (auto wrong = spec_.mismatch(out)) damaged(path_, cat("element ", count_, ": ", *wrong));
    ++count_;
    return true;
  }
  int64_t offset() { return static_cast<int64_t>(in_.tellg()); }
  void go_to(int64_t offset, int64_t count) {
    if (offset < 0 || static_cast<uint64_t>(offset) > size_)
      Restoring::refuse("it is behind the end of a file");
    in_.seekg(offset);
    count_ = static_cast<uint64_t>(count);
  }
  int64_t count() const { return static_cast<int64_t>(count_); }

 private:
  uint64_t number() {
    uint64_t v;
    if (!in_.read(reinterpret_cast<char*>(&v), sizeof v)) damaged(path_, "the file ends too early");
    return v;
  }
  bool record(std::string& bytes) {
    uint64_t length = number();
    if (length == kEnd) {
      if (number() != count_) damaged(path_, "there are not as many as it says");
      in_.seekg(-static_cast<std::streamoff>(2 * sizeof length), std::ios::cur);  // ends again
      return false;
    }
    uint64_t sum = number();
    if (length > size_) damaged(path_, "an element is larger than the file");
    bytes.resize(length);
    if (!in_.read(bytes.data(), static_cast<std::streamsize>(length)))
      damaged(path_, "the file ends too early");
    if (io::crc32c(bytes) != sum)
      damaged(path_, cat("the checksum of element ", count_, " differs"));
    if (deflated_) bytes = inflated(bytes);
    return true;
  }
  std::string inflated(std::string_view bytes) const {
    int64_t size = 0;
    if (bytes.size() >= sizeof size) {
      std::memcpy(&size, bytes.data(), sizeof size);
      bytes.remove_prefix(sizeof size);
    }
    std::string out;
    if (size >= 0 && size <= static_cast<int64_t>(bytes.size()) * io::kMostInflated) {
      out.resize(static_cast<size_t>(size));
      if (io::inflate_into(io::Deflated::kWithHeader, bytes, out.data(), size)) return out;
    }
    damaged(path_, cat("element ", count_, " can't be inflated"));
  }
  const std::string path_;
  std::ifstream in_;
  uint64_t size_ = 0, count_ = 0;
  bool deflated_ = false;
  ElementSpec spec_;
};

class Writer {
 public:
  Writer(const std::string& path, const ElementSpec& spec, bool deflated)
      : out_(in_its_folder(path)), deflated_(deflated) {
    pending_ = deflated ? kDeflatedHead : kHead;
    Saving head;
    head.spec(spec);
    record(head.take());
  }
  void add(const Nested& element) {
    Saving to;
    to.element(element);
    record(to.take());
    ++count_;
  }
  /// Writes down what is in it so far.
  void save(Saving& to) {
    flush();
    Reader so_far(out_.temporary());
    to.number(static_cast<int64_t>(count_));
    Nested one;
    for (uint64_t i = 0; i < count_; ++i) {
      so_far.next(one);
      to.element(one);
    }
  }
  int64_t count() const { return static_cast<int64_t>(count_); }
  /// The file is whole.
  void finish() {
    number(kEnd);
    number(count_);
    flush();
    out_.commit();
  }

 private:
  static const std::string& in_its_folder(const std::string& path) {
    io::make_folders_for(path);
    return path;
  }
  void number(uint64_t v) { pending_.append(reinterpret_cast<const char*>(&v), sizeof v); }
  void record(const std::string& plain) {
    std::string packed;
    if (deflated_) {
      int64_t size = static_cast<int64_t>(plain.size());
      packed.append(reinterpret_cast<const char*>(&size), sizeof size);
      packed += io::deflated(plain);
    }
    const std::string& bytes = deflated_ ? packed : plain;
    number(bytes.size());
    number(io::crc32c(bytes));
    pending_ += bytes;
    if (pending_.size() >= kAtOnce) flush();
  }
  void flush() {
    out_.write(pending_.data(), pending_.size());
    pending_.clear();
  }
  static constexpr size_t kAtOnce = size_t{1} << 16;
  io::AtomicFile out_;
  const bool deflated_;
  std::string pending_;
  uint64_t count_ = 0;
};

/// How many elements a whole file has, which stands at its end.
int64_t count_in(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  uint64_t last[2] = {0, 0};
  in.seekg(-static_cast<std::streamoff>(sizeof last), std::ios::end);
  if (!in.read(reinterpret_cast<char*>(last), sizeof last) || last[0] != kEnd)
    damaged(path, "the file ends too early");
  return static_cast<int64_t>(last[1]);
}

struct FromFile final : Cursor {
  explicit FromFile(const std::string& path) : file(path) {}
  bool next(Nested& out) override { return file.next(out); }
  void save(Saving& to) const override {
    to.number(file.offset());
    to.number(file.count());
  }
  void restore(Restoring& from) override {
    int64_t offset = from.number();
    file.go_to(offset, from.number());
  }
  mutable Reader file;
};

class Loaded final : public DatasetObject {
 public:
  explicit Loaded(std::string path)
      : DatasetObject(Reader(path).spec(), {}), path_(std::move(path)), count_(count_in(path_)) {}
  const char* name() const override { return "load"; }
  int64_t cardinality() const override { return count_; }
  Owned<Cursor> start() const override { return Owned<Cursor>(new FromFile(path_)); }

 private:
  const std::string path_;
  const int64_t count_;
};

/// Elements of several files: of up to ten of them in turn.
class LoadedParts final : public DatasetObject {
 public:
  LoadedParts(const ElementSpec& spec, std::vector<Ref<DatasetObject>> parts)
      : DatasetObject(spec, {}), parts_(std::move(parts)) {}
  const char* name() const override { return "load"; }
  int64_t cardinality() const override {
    int64_t all = 0;
    for (const Ref<DatasetObject>& part : parts_) all += part->cardinality();
    return all;
  }
  Owned<Cursor> start() const override { return started<LoadedParts, Turns>(*this); }

 private:
  struct Open {
    size_t part = 0;
    Owned<Cursor> cursor;  // null: it has ended
  };
  struct Turns final : Cursor {
    explicit Turns(const LoadedParts& s) : stage(&s), open(std::min(kBeside, s.parts_.size())) {}
    bool next(Nested& out) override {
      for (size_t ended = 0; ended < open.size();) {
        Open& now = open[turn];
        if (!now.cursor && following < stage->parts_.size()) begin(now, following++);
        bool there = now.cursor && now.cursor->next(out);
        if (!there) now.cursor = {};
        turn = (turn + 1) % open.size();
        if (there) return true;
        ended = following < stage->parts_.size() ? 0 : ended + 1;
      }
      return false;
    }
    void begin(Open& at, size_t part) const {
      at.part = part;
      at.cursor = stage->parts_[part]->begin();
    }
    void save(Saving& to) const override {
      to.number(static_cast<int64_t>(following));
      to.number(static_cast<int64_t>(turn));
      for (const Open& each : open) {
        to.number(static_cast<bool>(each.cursor));
        if (!each.cursor) continue;
        to.number(static_cast<int64_t>(each.part));
        each.cursor->save(to);
      }
    }
    void restore(Restoring& from) override {
      auto below = [&](size_t most) {
        int64_t n = from.number();
        if (n < 0 || static_cast<size_t>(n) > most)
          Restoring::refuse("it is in a file that there is not");
        return static_cast<size_t>(n);
      };
      following = below(stage->parts_.size());
      turn = below(open.size() - 1);
      for (Open& each : open) {
        if (!from.number()) continue;
        begin(each, below(stage->parts_.size() - 1));
        each.cursor->restore(from);
      }
    }
    const StageRef<LoadedParts> stage;
    std::vector<Open> open;
    size_t following = 0, turn = 0;
  };
  static constexpr size_t kBeside = 10;
  const std::vector<Ref<DatasetObject>> parts_;
};

class KeptInFile final : public DatasetObject {
 public:
  KeptInFile(const Ref<DatasetObject>& input, std::string path, const char* stage, bool deflated)
      : DatasetObject(input->spec(), {input}),
        path_(std::move(path)),
        stage_(stage),
        deflated_(deflated) {}
  const char* name() const override { return stage_; }
  int64_t cardinality() const override { return input().cardinality(); }
  Owned<Cursor> start() const override { return started<KeptInFile, Keeping>(*this); }

 private:
  // Reads a file that is whole, or reads the input and writes it.
  struct Keeping final : Cursor {
    explicit Keeping(const KeptInFile& s) : stage(&s) {}
    void begin() {
      begun = true;
      if (fs::exists(stage->path_)) {
        read = make_owned<FromFile>(stage->path_);
        const ElementSpec& there = read->file.spec();
        if (!there.joined(stage->spec()))
          refuse_file(stage->path_, cat("they are ", there.text(), ", not ", stage->spec().text()));
        return;
      }
      input = stage->input().begin();
      write = make_owned<Writer>(stage->path_, stage->spec(), stage->deflated_);
      count = stage->cardinality();
    }
    bool next(Nested& out) override {
      if (ended) return false;
      if (!begun) begin();
      if (read) return read->next(out);
      bool there = input->next(out);
      if (there && !whole) write->add(out);
      // With the last element it is whole: not everybody asks for one more. Who does is told where
      // the input does not end with it, though it promised to.
      if (!whole && (!there || write->count() == count)) {
        write->finish();
        whole = true;
      }
      ended = !there;
      return there;
    }
    void save(Saving& to) const override {
      // What has not begun would begin otherwise a second time: a shuffle draws anew.
      if (!begun && !ended) const_cast<Keeping*>(this)->begin();
      to.number(ended || whole);
      to.number(static_cast<bool>(read));
      if (read) return read->save(to);
      if (ended || whole) return;
      write->save(to);
      input->save(to);
    }
    void restore(Restoring& from) override {
      ended = from.number() != 0;
      begun = true;
      if (from.number()) {
        read = make_owned<FromFile>(stage->path_);
        return read->restore(from);
      }
      if (ended) return;
      write = make_owned<Writer>(stage->path_, stage->spec(), stage->deflated_);
      count = stage->cardinality();
      for (int64_t n = from.count(); n > 0; --n) write->add(from.element());
      input = stage->input().begin();
      input->restore(from);
    }
    const StageRef<KeptInFile> stage;
    Owned<FromFile> read;
    Owned<Writer> write;
    Owned<Cursor> input;
    int64_t count = kUnknownCardinality;
    bool begun = false, whole = false, ended = false;
  };
  const std::string path_;
  const char* const stage_;
  const bool deflated_;
};

}  // namespace

void Dataset::write_to(const std::string& path, const SaveOptions& o) const {
  if (cardinality() == kInfinite)
    fail(Code::E1103, "`save` of a dataset without end would never end", "",
         {manual_fix("`take` so many elements of it as are needed")});
  bool deflated = deflates(o.compression, "save");
  std::map<std::string, Owned<Writer>> files;
  auto file = [&](const std::string& name) -> Writer& {
    Owned<Writer>& out = files[in_folder(path, name)];
    if (!out) out = make_owned<Writer>(in_folder(path, name), element_spec(), deflated);
    return *out;
  };
  std::string all(kName);
  IteratorObject over(object_);
  for (Nested one; over.next(one);) {
    check_stop();
    file(o.shard_func ? cat(kShardName, o.shard_func(one)) : all).add(one);
  }
  if (files.empty()) file(all);
  for (auto& [name, out] : files) out->finish();
  for (const auto& [shard, name] : files_in(path))  // those of another `save` into this folder
    if (std::error_code error; !files.contains(name) && !fs::remove(name, error) && error)
      io::refuse_file(name, "removed");
}

Dataset Dataset::load_parts(const std::string& path) {
  std::vector<Dataset> parts;
  for (const auto& [shard, file] : files_in(path)) parts.emplace_back(make_ref<Loaded>(file));
  if (parts.empty()) io::refuse_file(in_folder(path), "opened");
  return of_datasets(parts);
}

Dataset Dataset::loaded(const std::string& path) {
  Dataset all = load_parts(path);
  std::vector<Ref<DatasetObject>> parts;
  for (const Nested& part : all_of(*all.object())) parts.emplace_back(dataset_in(part.tensor()));
  if (parts.size() == 1) return Dataset(parts[0]);
  ElementSpec spec = dataset_in(all.element_spec().form().tensor())->spec();
  return Dataset(make_ref<LoadedParts>(spec, std::move(parts)));
}

Dataset Dataset::kept_in(const std::string& path, const char* stage,
                         const std::string& compression) const {
  if (path.empty()) fail(Code::E1104, cat("`", stage, "` was given no path"));
  std::string file = cat(path, ".elements");
  if (std::string_view(stage) == "snapshot") {
    // Pipelines of other stages, specs or sizes have a folder of their own there.
    uint32_t which = io::crc32c(
        cat(object_->chain(), '\n', object_->spec().text(), '\n', object_->cardinality()));
    file = in_folder((fs::path(path) / cat("pipeline-", which)).string());
  }
  return Dataset(make_ref<KeptInFile>(object_, file, stage, deflates(compression, stage)));
}

}  // namespace holdfast::data
