// Stages that keep the elements of their first whole iteration in files: `cache` and `snapshot`.
#include <filesystem>
#include <mutex>

#include "holdfast/base/diagnostic.h"
#include "holdfast/base/text.h"
#include "holdfast/data/arguments.h"
#include "holdfast/data/dataset.h"
#include "holdfast/data/element_files.h"
#include "holdfast/data/functions.h"
#include "holdfast/data/inner.h"
#include "holdfast/data/stages.h"
#include "holdfast/data/stored.h"

namespace holdfast::data {
namespace {

namespace fs = std::filesystem;

/// A stage that reads what is whole, or reads its input and writes it: `Stage::find()` begins to
/// read, or gives null; `Stage::out()` begins to write.
template <class Stage>
struct Keeping final : Cursor {
  explicit Keeping(const Stage& s) : stage(&s) {}
  void begin() {
    begun = true;
    read = stage->find();
    if (read) return;
    input = stage->input().begin();
    write = stage->out();
    count = stage->cardinality();
  }
  bool next(Nested& out) override {
    if (ended) return false;
    if (!begun) begin();
    if (read) return read->next(out);
    bool there = input->next(out);
    if (there && !whole) stage->add(*write, out);
    // With the last element it is whole: not everybody asks for one more. Who does is told where
    // the input does not end with it, though it promised to.
    if (!whole && (!there || write->count() == count)) {
      stage->finish(*write);
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
      read = stage->find();
      if (!read) Restoring::refuse("it is in files that are not there");
      return read->restore(from);
    }
    if (ended) return;
    write = stage->out();
    count = stage->cardinality();
    write->restore(from);
    input = stage->input().begin();
    input->restore(from);
  }
  const StageRef<Stage> stage;
  Owned<Cursor> read;
  Owned<typename Stage::Writer> write;
  Owned<Cursor> input;
  int64_t count = kUnknownCardinality;
  bool begun = false, whole = false, ended = false;
};

class CacheFile final : public DatasetObject {
 public:
  using Writer = ElementWriter;
  CacheFile(const Ref<DatasetObject>& input, std::string path)
      : DatasetObject(input->spec(), {input}), path_(std::move(path)) {}
  const char* name() const override { return "cache"; }
  void add_facts(Saving& to) const override { to.text(path_); }
  int64_t cardinality() const override { return input().cardinality(); }
  Owned<Cursor> start() const override { return started<CacheFile, Keeping<CacheFile>>(*this); }
  void draw_as_begun() const override {}  // its input begins with the first element

  Owned<Cursor> find() const {
    if (!fs::exists(path_)) return {};
    auto* read = new FromFile(path_);
    Owned<Cursor> out(read);
    if (!read->spec().joined(spec()))
      refuse_elements(path_, cat("they are ", read->spec().text(), ", not ", spec().text()));
    return out;
  }
  Owned<ElementWriter> out() const { return make_owned<ElementWriter>(path_, spec(), false); }
  void add(ElementWriter& to, const Nested& element) const { to.add(element); }
  void finish(ElementWriter& out) const { out.finish(); }

 private:
  const std::string path_;
};

/// The datasets of the files of a folder, which need not be there before it is iterated.
class FilesOfSnapshot final : public DatasetObject {
 public:
  FilesOfSnapshot(const ElementSpec& of, std::string folder)
      : DatasetObject(ElementSpec::of(component_of(promised(of))), {}),
        folder_(std::move(folder)) {}
  const char* name() const override { return "files of a snapshot"; }
  void add_facts(Saving& to) const override { to.text(folder_); }
  int64_t cardinality() const override { return kUnknownCardinality; }
  Owned<Cursor> start() const override { return started<FilesOfSnapshot, OneByOne>(*this); }
  bool are_there() const { return ElementFolder::find(folder_).has_value(); }
  const std::string& folder() const { return folder_; }
  /// The same ones while the files stay the same: shuffles of a reader go on with them.
  std::vector<Dataset> parts() const {
    std::optional<ElementFolder> found = ElementFolder::find(folder_);
    if (!found) return {};
    std::lock_guard lock(mutex_);
    if (found->files != files_) {
      parts_ = parts_of(folder_, *found);
      files_ = std::move(found->files);
    }
    return parts_;
  }

 private:
  struct OneByOne final : Cursor {
    explicit OneByOne(const FilesOfSnapshot& s) : stage(&s), all(s.parts()) {}
    bool next(Nested& out) override {
      if (at >= all.size()) return false;
      out = component_of(all[at++]);
      return true;
    }
    void save(Saving& to) const override { to.number(static_cast<int64_t>(at)); }
    void restore(Restoring& from) override {
      int64_t n = from.number();
      if (n < 0 || static_cast<size_t>(n) > all.size())
        Restoring::refuse("it is in a file that there is not");
      at = static_cast<size_t>(n);
    }
    const StageRef<FilesOfSnapshot> stage;
    const std::vector<Dataset> all;
    size_t at = 0;
  };
  const std::string folder_;
  mutable std::mutex mutex_;
  mutable std::map<int64_t, std::string> files_;
  mutable std::vector<Dataset> parts_;
};

/// The elements of such files in turn.
class ReadSnapshot final : public DatasetObject {
 public:
  explicit ReadSnapshot(const Ref<FilesOfSnapshot>& files)
      : DatasetObject(dataset_in(files->spec().form().tensor())->spec(), {files}), files_(files) {}
  const char* name() const override { return "load"; }
  int64_t cardinality() const override { return kUnknownCardinality; }
  Owned<Cursor> start() const override {
    return in_turn(spec(), files_->folder()).object()->begin();
  }

 private:
  const Ref<FilesOfSnapshot> files_;
};

class Snapshot final : public DatasetObject {
 public:
  using Writer = ElementFolderWriter;
  Snapshot(const Ref<DatasetObject>& input, Ref<FilesOfSnapshot> files,
           const Ref<DatasetObject>& reader, Ref<ElementFunction> shard, bool deflated)
      : DatasetObject(input->spec(), {input, reader}),
        files_(std::move(files)),
        shard_(std::move(shard)),
        deflated_(deflated) {}
  const char* name() const override { return "snapshot"; }
  int64_t cardinality() const override { return input().cardinality(); }
  void visit(Visitor& see) const override {
    DatasetObject::visit(see);
    see.child(shard_);
  }
  Owned<Cursor> start() const override { return started<Snapshot, Keeping<Snapshot>>(*this); }
  void draw_as_begun() const override {}  // its input begins with the first element

  Owned<Cursor> find() const {
    if (!files_->are_there()) return {};
    return inputs_[1]->begin();
  }
  Owned<ElementFolderWriter> out() const {
    return make_owned<ElementFolderWriter>(files_->folder(), spec(), deflated_);
  }
  void add(ElementFolderWriter& to, const Nested& element) const {
    int64_t shard = 0;
    if (shard_)
      shard = at_stage(*this, to.count(),
                       [&] { return integer_in((*shard_)(element), "what `shard_func` gives"); });
    to.add(shard, element);
  }
  // Another program may have come first: its files are read already.
  void finish(ElementFolderWriter& out) const { out.finish_first(); }

 private:
  const Ref<FilesOfSnapshot> files_;
  const Ref<ElementFunction> shard_;
  const bool deflated_;
};

}  // namespace

Dataset Dataset::cached_in(const std::string& path) const {
  if (path.empty()) fail(Code::E1104, "`cache` was given no path");
  return Dataset(make_ref<CacheFile>(object_, cat(path, ".elements")));
}

Dataset Dataset::snapshot_in(const std::string& path, const SnapshotOptions& o,
                             Ref<ElementFunction> shard) const {
  if (path.empty()) fail(Code::E1104, "`snapshot` was given no path");
  // Each pipeline has a folder of its own there.
  uint64_t which = fingerprint_of(*object_);
  auto files = make_ref<FilesOfSnapshot>(element_spec(),
                                         (fs::path(path) / cat("pipeline-", which)).string());
  Dataset reader =
      o.reader_func ? o.reader_func(Dataset(files)) : Dataset(make_ref<ReadSnapshot>(files));
  if (!element_spec().joined(reader.element_spec()))
    fail(Code::E1101, cat("`reader_func` of `snapshot` made a dataset of ",
                          reader.element_spec().text(), ", expected ", element_spec().text()));
  if (o.shard_func)
    shard = plain_function(
        [f = o.shard_func](const Nested& e) -> Nested { return Tensor::scalar(f(e)); });
  return Dataset(make_ref<Snapshot>(object_, files, reader.object(), std::move(shard),
                                    deflates(o.compression, "snapshot")));
}

}  // namespace holdfast::data
