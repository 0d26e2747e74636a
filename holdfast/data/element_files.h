// Files of elements, and folders of them: what `save`, `cache` and `snapshot` write.
//
// A file is a head, the spec of the elements, each element with its length and a checksum before
// it, and an end. It is written under another name, and gets its own when it is whole. Elements may
// be deflated, each by itself, so that a position in a file is a place. A folder has such files,
// and one that names those that count: with it the folder is another one, whole, at once. Writers
// may work beside one another; the folder is locked while one makes a file or puts its own in
// force.
#pragma once

#include <cstdint>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "holdfast/data/node.h"
#include "holdfast/io/atomic_file.h"

namespace holdfast::data {

/// Throws: the file has not what is wanted of it, or is damaged.
[[noreturn]] void refuse_elements(const std::string& path, const std::string& why);
[[noreturn]] void damaged_elements(const std::string& path, const std::string& why);

/// Whether elements are to be deflated.
bool deflates(const std::string& compression, const char* stage);

class ElementReader {
 public:
  explicit ElementReader(const std::string& path);
  const ElementSpec& spec() const { return spec_; }
  bool next(Nested& out);
  int64_t offset() { return static_cast<int64_t>(in_.tellg()); }
  void go_to(int64_t offset, int64_t count);
  int64_t count() const { return static_cast<int64_t>(count_); }

 private:
  uint64_t number();
  bool record(std::string& bytes);
  std::string inflated(std::string_view bytes) const;
  const std::string path_;
  std::ifstream in_;
  uint64_t size_ = 0, count_ = 0;
  bool deflated_ = false;
  ElementSpec spec_;
};

class ElementWriter {
 public:
  ElementWriter(const std::string& path, const ElementSpec& spec, bool deflated);
  void add(const Nested& element);
  /// Writes down what is in it so far, and takes that again.
  void save(Saving& to);
  void restore(Restoring& from);
  int64_t count() const { return static_cast<int64_t>(count_); }
  /// The file is whole.
  void finish();

 private:
  void number(uint64_t v) { pending_.append(reinterpret_cast<const char*>(&v), sizeof v); }
  void record(const std::string& plain);
  void flush();
  io::AtomicFile out_;
  const bool deflated_;
  std::string pending_;
  uint64_t count_ = 0;
};

/// How many elements a whole file has, which stands at its end.
int64_t count_in(const std::string& path);

/// The elements of a file.
class FromFile final : public Cursor {
 public:
  explicit FromFile(const std::string& path) : file_(path) {}
  const ElementSpec& spec() const { return file_.spec(); }
  bool next(Nested& out) override { return file_.next(out); }
  void save(Saving& to) const override;
  void restore(Restoring& from) override;

 private:
  mutable ElementReader file_;
};

/// What a whole folder holds.
struct ElementFolder {
  std::map<int64_t, std::string> files;  // by the number of their shard
  std::string about;                     // what the language that wrote it says of the elements
  /// None where no folder is, or none came to its end.
  static std::optional<ElementFolder> find(const std::string& path);
};

/// A folder in the making: what stood there stays whole until `finish`.
class ElementFolderWriter {
 public:
  ElementFolderWriter(std::string path, ElementSpec spec, bool deflated);
  ~ElementFolderWriter();
  ElementFolderWriter(const ElementFolderWriter&) = delete;
  void add(int64_t shard, const Nested& element);
  void save(Saving& to);
  void restore(Restoring& from);
  int64_t count() const { return count_; }
  /// From now on this is what the folder holds. Files of elements that do not count go: of what it
  /// held before, and of writers that were killed.
  void finish(const std::string& about = {});
  /// The same, unless another writer came first.
  void finish_first();

 private:
  void replace(const std::string& about);
  void remove_others() const;
  ElementWriter& file(int64_t shard);
  struct Part {
    std::string name;
    Owned<ElementWriter> out;
  };
  const std::string path_, mark_;
  const ElementSpec spec_;
  const bool deflated_;
  std::map<int64_t, Part> parts_;
  int64_t count_ = 0;
  bool finished_ = false;
};

}  // namespace holdfast::data
