// What `save` writes into a folder, and `load` reads.
#include "holdfast/data/stored.h"

#include <algorithm>
#include <filesystem>

#include "holdfast/base/diagnostic.h"
#include "holdfast/base/text.h"
#include "holdfast/data/dataset.h"
#include "holdfast/data/element_files.h"
#include "holdfast/data/inner.h"
#include "holdfast/io/refuse_file.h"

namespace holdfast::data {
namespace {

ElementFolder folder_at(const std::string& path) {
  std::optional<ElementFolder> found = ElementFolder::find(path);
  if (!found) io::refuse_file((std::filesystem::path(path) / "dataset").string(), "opened");
  return std::move(*found);
}

/// The elements of one file. What they are was told before: another `save` may have been there.
Owned<Cursor> opened(const std::string& file, const ElementSpec& spec) {
  auto* read = new FromFile(file);
  Owned<Cursor> out(read);
  if (!read->spec().joined(spec))
    refuse_elements(file, cat("they are ", read->spec().text(), ", not ", spec.text()));
  return out;
}

/// What a folder holds now, for `use`: again where a `save` took files away meanwhile.
template <class Use>
auto with_folder(const std::string& path, const Use& use) {
  for (;;) {
    ElementFolder now = folder_at(path);
    try {
      return use(now);
    } catch (const Error&) {
      check_stop();
      if (folder_at(path).files == now.files) throw;
    }
  }
}

class Loaded final : public DatasetObject {
 public:
  Loaded(std::string folder, int64_t shard, const std::string& file)
      : DatasetObject(ElementReader(file).spec(), {}),
        folder_(std::move(folder)),
        shard_(shard),
        count_(count_in(file)) {}
  const char* name() const override { return "load"; }
  void add_facts(Saving& to) const override {
    to.text(folder_);
    to.number(shard_);
  }
  int64_t cardinality() const override { return count_; }
  // Another `save` may have been there since: what the folder holds now is read.
  Owned<Cursor> start() const override {
    return with_folder(folder_, [&](const ElementFolder& now) {
      auto found = now.files.find(shard_);
      if (found == now.files.end())
        refuse_elements(folder_, cat("there are none of shard ", shard_, " any more"));
      return opened(found->second, spec());
    });
  }

 private:
  const std::string folder_;
  const int64_t shard_;
  const int64_t count_;
};

/// Elements of all files of a folder: of up to ten of them in turn. An iteration reads what the
/// folder holds when it begins.
class LoadedInTurn final : public DatasetObject {
 public:
  LoadedInTurn(const ElementSpec& spec, std::string folder, int64_t count)
      : DatasetObject(spec, {}), folder_(std::move(folder)), count_(count) {}
  const char* name() const override { return "load"; }
  void add_facts(Saving& to) const override { to.text(folder_); }
  int64_t cardinality() const override { return count_; }
  Owned<Cursor> start() const override {
    return with_folder(
        folder_, [&](const ElementFolder& now) { return Owned<Cursor>(new Turns(*this, now)); });
  }

 private:
  struct Open {
    size_t file = 0;
    Owned<Cursor> cursor;  // null: it has ended
  };
  struct Turns final : Cursor {
    Turns(const LoadedInTurn& s, const ElementFolder& now) : stage(&s) {
      for (const auto& [shard, file] : now.files) files.push_back(file);
      open.resize(std::min(kBeside, files.size()));
      for (Open& each : open) begin(each, following++);
    }
    bool next(Nested& out) override {
      for (size_t ended = 0; ended < open.size();) {
        Open& now = open[turn];
        if (!now.cursor && following < files.size()) begin(now, following++);
        bool there = now.cursor && now.cursor->next(out);
        if (!there) now.cursor = {};
        turn = (turn + 1) % open.size();
        if (there) return true;
        ended = following < files.size() ? 0 : ended + 1;
      }
      return false;
    }
    void begin(Open& at, size_t file) const {
      at.file = file;
      at.cursor = opened(files[file], stage->spec());
    }
    void save(Saving& to) const override {
      to.number(static_cast<int64_t>(following));
      to.number(static_cast<int64_t>(turn));
      to.number(static_cast<int64_t>(open.size()));
      for (const Open& each : open) {
        to.number(static_cast<bool>(each.cursor));
        if (!each.cursor) continue;
        to.number(static_cast<int64_t>(each.file));
        each.cursor->save(to);
      }
    }
    void restore(Restoring& from) override {
      auto below = [&](size_t most) {
        int64_t n = from.number();
        if (n < 0 || static_cast<size_t>(n) >= most)
          Restoring::refuse("it is in a file that there is not");
        return static_cast<size_t>(n);
      };
      following = below(files.size() + 1);
      turn = below(open.size());
      if (from.number() != static_cast<int64_t>(open.size()))
        Restoring::refuse("it is in a folder of other files");
      for (Open& each : open) {
        each.cursor = {};
        if (!from.number()) continue;
        begin(each, below(files.size()));
        each.cursor->restore(from);
      }
    }
    const StageRef<LoadedInTurn> stage;
    std::vector<std::string> files;
    std::vector<Open> open;
    size_t following = 0, turn = 0;
  };
  static constexpr size_t kBeside = 10;
  const std::string folder_;
  const int64_t count_;
};

}  // namespace

std::vector<Dataset> parts_of(const std::string& path, const ElementFolder& folder) {
  std::vector<Dataset> parts;
  for (const auto& [shard, file] : folder.files)
    parts.emplace_back(make_ref<Loaded>(path, shard, file));
  return parts;
}

std::string stored_about(const std::string& path) { return folder_at(path).about; }

Dataset in_turn(const ElementSpec& spec, const std::string& path) {
  int64_t all = 0;
  for (const auto& [shard, file] : folder_at(path).files) all += count_in(file);
  return Dataset(make_ref<LoadedInTurn>(spec, path, all));
}

void Dataset::write_to(const std::string& path, const SaveOptions& o,
                       const std::string& about) const {
  if (cardinality() == kInfinite)
    fail(Code::E1103, "`save` of a dataset without end would never end", "",
         {manual_fix("`take` so many elements of it as are needed")});
  ElementFolderWriter out(path, element_spec(), deflates(o.compression, "save"));
  IteratorObject over(object_);
  for (Nested one; over.next(one);) {
    check_stop();
    out.add(o.shard_func ? o.shard_func(one) : 0, one);
  }
  out.finish(about);
}

Dataset Dataset::load_parts(const std::string& path) {
  return of_datasets(
      with_folder(path, [&](const ElementFolder& folder) { return parts_of(path, folder); }));
}

Dataset Dataset::loaded(const std::string& path, const LoadOptions& o) {
  Dataset parts = load_parts(path);
  if (o.reader_func) return o.reader_func(parts);
  ElementSpec spec = dataset_in(parts.element_spec().form().tensor())->spec();
  return with_folder(path, [&](const ElementFolder&) { return in_turn(spec, path); });
}

}  // namespace holdfast::data
