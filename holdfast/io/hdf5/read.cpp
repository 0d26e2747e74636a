// H5Reader: the tree of a file, and what is asked of it.
#include <algorithm>
#include <map>
#include <unordered_map>

#include "holdfast/base/columns.h"
#include "holdfast/base/diagnostic.h"
#include "holdfast/device/device.h"
#include "holdfast/io/hdf5.h"
#include "holdfast/io/hdf5/data.h"

namespace holdfast::io {

namespace h = hdf5;

struct H5Reader::Tree {
  struct Item {
    h::Object object;
    bool group = false;
    std::vector<std::string> children;
    std::map<std::string, size_t, std::less<>> by_name;
  };

  explicit Tree(ByteSource source) : file(std::move(source)) {
    h::read_superblock(file);
    scan(file.root, "");
  }

  // Each object once. A group with two names would be a tree no more, and may hold itself.
  size_t scan(int64_t place, const std::string& path) {
    constexpr int kDeepest = 200;
    if (++depth > kDeepest) file.source.refuse(cat("its groups are more than ", kDeepest, " deep"));
    auto known = places.find(place);
    if (known != places.end()) {
      const Item& item = items[known->second.first];
      if (item.group)
        file.source.refuse(cat("the groups ", shown(known->second.second), " and ", shown(path),
                               " are one: groups with two names, "
                               "or inside themselves, are not read"));
      --depth;
      return known->second.first;
    }
    size_t number = items.size();
    items.push_back({h::read_object(file, place), false, {}, {}});
    places.emplace(place, std::pair(number, path));
    if (h::is_group(items[number].object)) {
      items[number].group = true;
      for (const h::Link& link : h::read_links(file, items[number].object, path)) {
        size_t child = scan(link.place, path.empty() ? link.name : cat(path, "/", link.name));
        items[number].children.push_back(link.name);
        items[number].by_name.emplace(link.name, child);
      }
    } else if (number == 0) {
      file.source.damaged("its root is no group");
    }
    --depth;
    return number;
  }

  const Item* find(std::string_view path) const {
    size_t at = 0;
    while (!path.empty()) {
      size_t slash = path.find('/');
      std::string_view name = path.substr(0, slash);
      path = slash == std::string_view::npos ? std::string_view() : path.substr(slash + 1);
      if (name.empty()) continue;
      auto child = items[at].by_name.find(name);
      if (child == items[at].by_name.end()) return nullptr;
      at = child->second;
    }
    return &items[at];
  }
  const Item& at(const std::string& path, bool any, bool group) const {
    const Item* item = find(path);
    if (!item) file.source.refuse(cat("it holds nothing at ", shown(path)));
    if (!any && item->group != group)
      file.source.refuse(cat(shown(path), " is ", item->group ? "a group" : "a dataset", ", not ",
                             group ? "a group" : "a dataset"));
    return *item;
  }
  // What is read of the file's structure counts from zero for each thing that is asked.
  h::File fresh() const {
    h::File out = file;
    out.spent = 0;
    return out;
  }

  h::File file;
  std::vector<Item> items;
  std::unordered_map<int64_t, std::pair<size_t, std::string>> places;
  int depth = 0;
};

namespace {

std::string_view message(const h::File& file, const h::Object& o, h::Kind kind,
                         const std::string& of) {
  const h::Message* m = o.find(kind);
  if (!m)
    file.source.damaged(cat(of, " has no ", kind == h::Kind::kDatatype ? "datatype" : "shape"));
  return m->bytes;
}

h::StoredType type_of(const h::File& file, const h::Object& o, const std::string& of) {
  ByteCursor at(file.source, message(file, o, h::Kind::kDatatype, of), of);
  return h::parse_type(file, at, of);
}

std::pair<std::string, Tensor> parse_attribute(const h::File& file, std::string_view bytes,
                                               const std::string& path) {
  std::string of = cat("an attribute of ", shown(path));
  ByteCursor at(file.source, bytes, of);
  uint8_t version = at.version(1, 3);
  uint8_t flags = at.u8();
  if (version > 1 && flags) file.source.refuse(cat(of, " has a named datatype or dataspace"));
  size_t name_bytes = at.u16(), type_bytes = at.u16(), space_bytes = at.u16();
  if (version == 3) at.skip(1);
  auto padded = [&](size_t n) { return version == 1 ? (n + 7) / 8 * 8 : n; };
  std::string name(at.take(padded(name_bytes)).substr(0, name_bytes));
  name.resize(std::min(name.size(), name.find('\0')));
  if (valid_utf8(name) != name) file.source.damaged(cat(of, " has a name that is not UTF-8"));
  of = cat("the attribute ", shown(name), " of ", shown(path));
  std::string_view type_text = at.take(padded(type_bytes)).substr(0, type_bytes);
  ByteCursor type_at(file.source, type_text, of);
  h::StoredType type = h::parse_type(file, type_at, of);
  if (type.dtype == DType::kInvalid)
    file.source.refuse(cat(of, " holds opaque bytes, which are not read"));
  Shape shape = h::parse_space(file, at.take(padded(space_bytes)).substr(0, space_bytes), of);
  int64_t count = h::stored_bytes(file, type, shape, of);
  if (count > static_cast<int64_t>(at.left()))
    file.source.damaged(cat(of, " takes ", count, " bytes, and ", at.left(), " are there"));
  std::string raw(at.take(static_cast<size_t>(count)));
  return {std::move(name), h::decode(file, type, shape, std::move(raw), of)};
}

std::vector<std::pair<std::string, Tensor>> read_attributes(const h::File& file, const h::Object& o,
                                                            const std::string& path) {
  std::vector<std::pair<std::string, Tensor>> out;
  for (const std::string& m : h::attribute_messages(file, o))
    out.push_back(parse_attribute(file, m, path));
  std::sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  return out;
}

Tensor named(const std::vector<std::pair<std::string, Tensor>>& attributes, std::string_view name) {
  for (const auto& [n, value] : attributes)
    if (n == name) return value;
  return {};
}

// The type of a dataset, with what Keras says of two opaque bytes in an attribute.
h::StoredType dataset_type(const h::File& file, const h::Object& o, const std::string& path) {
  std::string of = cat("the dataset ", shown(path));
  h::StoredType type = type_of(file, o, of);
  if (type.how != h::StoredType::How::kTwoBytes) return type;
  Tensor says = named(read_attributes(file, o, path), "dtype");
  if (!says.defined() || says.dtype() != DType::kString || says.size() != 1 ||
      *says.raw<std::string>() != "bfloat16")
    file.source.refuse(
        cat(of, " holds opaque elements of 2 bytes, and no attribute says that they are bfloat16"));
  type.dtype = bfloat16;
  type.how = h::StoredType::How::kPlain;
  return type;
}

}  // namespace

H5Reader::H5Reader(ByteSource source) : tree_(std::make_unique<Tree>(std::move(source))) {}
H5Reader::~H5Reader() = default;
H5Reader::H5Reader(H5Reader&&) noexcept = default;

const ByteSource& H5Reader::source() const { return tree_->file.source; }

bool H5Reader::has_group(const std::string& path) const {
  const Tree::Item* item = tree_->find(path);
  return item && item->group;
}
bool H5Reader::has_dataset(const std::string& path) const {
  const Tree::Item* item = tree_->find(path);
  return item && !item->group;
}

std::vector<std::string> H5Reader::children(const std::string& path) const {
  return tree_->at(path, false, true).children;
}

DType H5Reader::dtype(const std::string& path) const {
  return dataset_type(tree_->fresh(), tree_->at(path, false, false).object, path).dtype;
}

Shape H5Reader::shape(const std::string& path) const {
  std::string of = cat("the dataset ", shown(path));
  const h::Object& o = tree_->at(path, false, false).object;
  return h::parse_space(tree_->file, message(tree_->file, o, h::Kind::kDataspace, of), of);
}

Tensor H5Reader::read(const std::string& path) const {
  h::File file = tree_->fresh();
  const h::Object& o = tree_->at(path, false, false).object;
  std::string of = cat("the dataset ", shown(path));
  h::StoredType type = dataset_type(file, o, path);
  Shape shape = h::parse_space(file, message(file, o, h::Kind::kDataspace, of), of);
  int64_t bytes = h::stored_bytes(file, type, shape, of);
  int64_t place = h::whole_place(file, o, bytes, of);
  // Most weights lie there as we keep them: no copy in between.
  if (place != h::kNowhere && type.how == h::StoredType::How::kPlain && !type.swapped &&
      !is_bool(type.dtype)) {
    Tensor out = empty(type.dtype, shape, cpu());
    file.source.read(place, out.mutable_raw(), bytes);
    out.rep()->born = here();
    out.rep()->op = "Const";
    return out;
  }
  return h::decode(file, type, shape, h::read_elements(file, o, type, shape, of), of);
}

std::vector<std::pair<std::string, Tensor>> H5Reader::attributes(const std::string& path) const {
  return read_attributes(tree_->fresh(), tree_->at(path, true, false).object, path);
}

Tensor H5Reader::attribute(const std::string& path, const std::string& name) const {
  return named(attributes(path), name);
}

}  // namespace holdfast::io
