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
    ElementFolder now = folder_at(folder_);
    auto found = now.files.find(shard_);
    if (found == now.files.end())
      refuse_elements(folder_, cat("there are none of shard ", shard_, " any more"));
    auto* read = new FromFile(found->second);
    Owned<Cursor> out(read);
    if (!read->spec().joined(spec()))
      refuse_elements(found->second,
                      cat("they are ", read->spec().text(), ", not ", spec().text()));
    return out;
  }

 private:
  const std::string folder_;
  const int64_t shard_;
  const int64_t count_;
};

/// Elements of several files: of up to ten of them in turn.
class LoadedParts final : public DatasetObject {
 public:
  LoadedParts(const ElementSpec& spec, std::vector<Ref<DatasetObject>> parts)
      : DatasetObject(spec, {}), parts_(std::move(parts)) {}
  const char* name() const override { return "load"; }
  void add_facts(Saving& to) const override {
    for (const Ref<DatasetObject>& part : parts_) part->add_facts(to);
  }
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

}  // namespace

std::vector<Dataset> parts_of(const std::string& path, const ElementFolder& folder) {
  std::vector<Dataset> parts;
  for (const auto& [shard, file] : folder.files)
    parts.emplace_back(make_ref<Loaded>(path, shard, file));
  return parts;
}

std::string stored_about(const std::string& path) { return folder_at(path).about; }

Dataset in_turn(const ElementSpec& spec, const std::vector<Dataset>& parts) {
  if (parts.size() == 1) return parts[0];
  std::vector<Ref<DatasetObject>> objects;
  for (const Dataset& part : parts) objects.push_back(part.object());
  return Dataset(make_ref<LoadedParts>(spec, std::move(objects)));
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
  out.remove_others();
}

Dataset Dataset::load_parts(const std::string& path) {
  return of_datasets(parts_of(path, folder_at(path)));
}

Dataset Dataset::loaded(const std::string& path, const LoadOptions& o) {
  if (o.reader_func) return o.reader_func(load_parts(path));
  std::vector<Dataset> parts = parts_of(path, folder_at(path));
  Dataset all = of_datasets(parts);
  return in_turn(dataset_in(all.element_spec().form().tensor())->spec(), parts);
}

}  // namespace holdfast::data
