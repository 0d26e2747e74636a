// H5Writer: gives every part of the file its place, then writes them one after the other.
#include <map>

#include "holdfast/base/diagnostic.h"
#include "holdfast/device/device.h"
#include "holdfast/io/atomic_file.h"
#include "holdfast/io/byte_put.h"
#include "holdfast/io/hdf5.h"
#include "holdfast/io/hdf5/types.h"

namespace holdfast::io {

namespace h = hdf5;

struct H5Writer::Node {
  bool group = true;
  Tensor value;
  std::map<std::string, std::unique_ptr<Node>> children;
  std::map<std::string, Tensor> attributes;
};

namespace {

using Node = H5Writer::Node;

constexpr size_t kNames = 8;  // in a list of names: twice the K of leaves that the superblock says
constexpr size_t kChildren = 32;  // in a node of a group: twice the K of inner nodes
constexpr int64_t kSuperblock = 96;
constexpr uint64_t kUndefined = ~uint64_t{0};

int64_t aligned(int64_t n) { return (n + 7) / 8 * 8; }

// Texts of variable length, in collections of at most so many objects and bytes.
class TextHeap {
 public:
  struct Text {
    size_t collection = 0;
    uint32_t number = 0, length = 0;
  };
  Text add(std::string_view text) {
    if (text.empty()) return {};
    constexpr size_t kMostObjects = 60000, kMostBytes = size_t{1} << 24;
    if (collections_.empty() || collections_.back().count == kMostObjects ||
        collections_.back().objects.size() > kMostBytes)
      collections_.emplace_back();
    Collection& c = collections_.back();
    ++c.count;
    c.objects.u16(static_cast<uint16_t>(c.count))
        .u16(1)
        .u32(0)
        .u64(text.size())
        .bytes(text)
        .align();
    return {collections_.size() - 1, c.count, static_cast<uint32_t>(text.size())};
  }
  int64_t settle(int64_t from) {
    for (Collection& c : collections_) {
      c.place = from;
      // What is left is an object of its own, number zero, which needs room for its head.
      c.bytes = std::max<int64_t>(4096, aligned(static_cast<int64_t>(16 + c.objects.size() + 16)));
      from += c.bytes;
    }
    return from;
  }
  std::string reference(const Text& t) const {
    Put out;
    out.u32(t.length).place(t.number ? collections_[t.collection].place : 0).u32(t.number);
    return out.take();
  }
  std::string bytes() const {
    Put out;
    for (const Collection& c : collections_) {
      size_t begin = out.size();
      auto whole = static_cast<size_t>(c.bytes);
      out.bytes("GCOL").u8(1).zeros(3).u64(whole).bytes(c.objects.text());
      size_t left = begin + whole - out.size();
      out.zeros(8).u64(left).zeros(left - 16);
    }
    return out.take();
  }

 private:
  struct Collection {
    int64_t place = 0, bytes = 0;
    uint32_t count = 0;
    Put objects;
  };
  std::vector<Collection> collections_;
};

// -- the messages of one object

struct Attribute {
  std::string head;  // all before the elements
  Tensor value;
  std::vector<TextHeap::Text> texts;

  size_t bytes() const {
    return head.size() + (texts.empty() ? static_cast<size_t>(value.bytes()) : 16 * texts.size());
  }
};

std::string type_for(DType d) {
  return d == DType::kString ? h::text_type_message()
         : d == bfloat16     ? h::two_bytes_message()
                             : h::type_message(d);
}

// Header messages in the order they are written, without the places that are known later.
struct Laid {
  const Node* node = nullptr;
  std::string path;
  int64_t header = 0, header_bytes = 0;
  std::vector<Attribute> attributes;
  // of a group
  int64_t heap = 0, heap_bytes = 0, lists = 0, tree = 0, tree_root = 0;
  std::vector<size_t> levels;  // how many nodes each level of the tree has, leaves first
  std::vector<size_t> children;
  // of a dataset
  int64_t data = 0, data_bytes = 0;
  std::vector<TextHeap::Text> texts;
};

constexpr int64_t list_bytes() { return 8 + 40 * static_cast<int64_t>(kNames); }
constexpr int64_t node_bytes() { return 24 + 8 * (2 * static_cast<int64_t>(kChildren) + 1); }

std::string message(h::Kind kind, bool constant, std::string_view body) {
  Put out;
  auto bytes = static_cast<uint16_t>(aligned(static_cast<int64_t>(body.size())));
  out.u16(static_cast<uint16_t>(kind)).u16(bytes).u8(constant).zeros(3).bytes(body).align();
  return out.take();
}

class Layout {
 public:
  explicit Layout(const Node& root) {
    int64_t end = kSuperblock;
    lay(root, "", end);
    heap_ = end;
    end = texts_.settle(end);
    data_ = end;
    for (Laid& l : laid_) {
      if (l.node->group || l.data_bytes == 0) continue;
      l.data = end;
      end = aligned(end + l.data_bytes);
    }
    end_ = end;
  }

  void write(const Sink& to) const {
    Put out;
    superblock(out);
    for (const Laid& l : laid_) {
      header(out, l);
      if (l.node->group) group(out, l);
    }
    out.bytes(texts_.bytes());
    to(out.text());
    for (const Laid& l : laid_) {
      if (l.node->group || l.data_bytes == 0) continue;
      elements(l, to);
      to(std::string(static_cast<size_t>(aligned(l.data_bytes) - l.data_bytes), '\0'));
    }
  }

 private:
  size_t lay(const Node& node, const std::string& path, int64_t& end) {
    size_t number = laid_.size();
    laid_.emplace_back();
    Laid l;
    l.node = &node;
    l.path = path;
    for (const auto& [name, value] : node.attributes)
      l.attributes.push_back(attribute(path, name, value));
    if (!node.group) {
      l.data_bytes = node.value.bytes();
      if (node.value.dtype() == DType::kString) {
        l.data_bytes = 16 * node.value.size();
        for (int64_t i = 0; i < node.value.size(); ++i)
          l.texts.push_back(texts_.add(node.value.raw<std::string>()[i]));
      }
    }
    l.header = end;
    l.header_bytes = 16 + static_cast<int64_t>(messages(l).size());
    end += l.header_bytes;
    if (node.group) lay_group(l, end);
    laid_[number] = std::move(l);
    std::vector<size_t> children;
    for (const auto& [name, child] : node.children)
      children.push_back(lay(*child, path.empty() ? name : cat(path, "/", name), end));
    laid_[number].children = std::move(children);
    return number;
  }
  static void lay_group(Laid& l, int64_t& end) {
    l.heap = end;
    l.heap_bytes = 8;
    for (const auto& child : l.node->children)
      l.heap_bytes += aligned(static_cast<int64_t>(child.first.size()) + 1);
    end += 32 + l.heap_bytes;
    l.lists = end;
    size_t lists = (l.node->children.size() + kNames - 1) / kNames;
    end += static_cast<int64_t>(lists) * list_bytes();
    l.tree = end;
    size_t nodes = lists;
    do {
      nodes = std::max<size_t>(1, (nodes + kChildren - 1) / kChildren);
      l.levels.push_back(nodes);
      l.tree_root = end + static_cast<int64_t>(nodes - 1) * node_bytes();
      end += static_cast<int64_t>(nodes) * node_bytes();
    } while (nodes > 1);
  }
  Attribute attribute(const std::string& path, const std::string& name, const Tensor& value) {
    Attribute out;
    out.value = value;
    if (value.dtype() == DType::kString)
      for (int64_t i = 0; i < value.size(); ++i)
        out.texts.push_back(texts_.add(value.raw<std::string>()[i]));
    std::string type = type_for(value.dtype()), space = h::space_message(value.shape());
    Put head;
    head.u8(1)
        .u8(0)
        .u16(static_cast<uint16_t>(name.size() + 1))
        .u16(static_cast<uint16_t>(type.size()));
    head.u16(static_cast<uint16_t>(space.size()))
        .padded(name)
        .bytes(type)
        .align()
        .bytes(space)
        .align();
    out.head = head.take();
    constexpr size_t kLargest = 64000;
    if (out.bytes() > kLargest || name.size() > kLargest)
      fail(Code::E1105,
           cat("the attribute ", shown(name), " of ", shown(path), " takes ", out.bytes(),
               " bytes, and HDF5 takes ", kLargest),
           "make it a dataset");
    return out;
  }

  std::string messages(const Laid& l) const {
    std::string out;
    if (l.node->group) {
      Put table;
      table.place(l.tree_root).place(l.heap);
      out += message(h::Kind::kSymbolTable, false, table.text());
    } else {
      const Tensor& t = l.node->value;
      out += message(h::Kind::kDataspace, false, h::space_message(t.shape()));
      out += message(h::Kind::kDatatype, true, type_for(t.dtype()));
      // Space is taken late, filled where a value was given, and there is one: none.
      out += message(h::Kind::kFill, true, std::string_view("\2\2\2\1\0\0\0\0", 8));
      Put layout;
      layout.u8(3)
          .u8(1)
          .u64(l.data_bytes ? static_cast<uint64_t>(l.data) : kUndefined)
          .u64(static_cast<uint64_t>(l.data_bytes));
      out += message(h::Kind::kLayout, false, layout.text());
    }
    for (const Attribute& a : l.attributes) {
      std::string body = a.head;
      for (const TextHeap::Text& t : a.texts) body += texts_.reference(t);
      if (a.texts.empty() && a.value.bytes() > 0 && a.value.dtype() != DType::kString)
        body.append(static_cast<const char*>(a.value.raw()), static_cast<size_t>(a.value.bytes()));
      out += message(h::Kind::kAttribute, false, body);
    }
    return out;
  }

  void superblock(Put& out) const {
    out.bytes("\x89HDF\r\n\x1a\n").u8(0).u8(0).u8(0).u8(0).u8(0).u8(8).u8(8).u8(0);
    out.u16(kNames / 2).u16(kChildren / 2).u32(0);
    out.u64(0).u64(kUndefined).place(end_).u64(kUndefined);
    symbol(out, 0, laid_[0]);
  }
  // An entry of a list of names; a group's tree and heap are told here too.
  static void symbol(Put& out, int64_t name, const Laid& l) {
    out.place(name).place(l.header).u32(l.node->group).u32(0);
    if (l.node->group)
      out.place(l.tree_root).place(l.heap);
    else
      out.zeros(16);
  }
  void header(Put& out, const Laid& l) const {
    size_t count = (l.node->group ? 1 : 4) + l.attributes.size();
    out.u8(1).u8(0).u16(static_cast<uint16_t>(count)).u32(1);
    out.u32(static_cast<uint32_t>(l.header_bytes - 16)).u32(0).bytes(messages(l));
  }
  void group(Put& out, const Laid& l) const {
    out.bytes("HEAP").u32(0).place(l.heap_bytes).u64(1).place(l.heap + 32);
    out.zeros(8);
    std::vector<int64_t> names;
    int64_t at = 8;
    for (const auto& child : l.node->children) {
      names.push_back(at);
      out.padded(child.first);
      at += aligned(static_cast<int64_t>(child.first.size()) + 1);
    }
    // The lists, and of each its place and last name, which the tree's keys are.
    std::vector<std::pair<int64_t, int64_t>> below;
    for (size_t i = 0; i < names.size(); i += kNames) {
      size_t end = std::min(i + kNames, names.size());
      below.emplace_back(l.lists + static_cast<int64_t>(below.size()) * list_bytes(),
                         names[end - 1]);
      out.bytes("SNOD").u8(1).u8(0).u16(static_cast<uint16_t>(end - i));
      for (size_t k = i; k < end; ++k) symbol(out, names[k], laid_[l.children[k]]);
      out.zeros(40 * (kNames - (end - i)));
    }
    int64_t place = l.tree;
    for (size_t level = 0; level < l.levels.size(); ++level) {
      std::vector<std::pair<int64_t, int64_t>> here;
      for (size_t n = 0; n < l.levels[level]; ++n) {
        size_t begin = n * kChildren, end = std::min(begin + kChildren, below.size());
        size_t used = end - std::min(begin, end);
        bool last = n + 1 == l.levels[level];
        out.bytes("TREE").u8(0).u8(static_cast<uint8_t>(level)).u16(static_cast<uint16_t>(used));
        out.u64(n ? static_cast<uint64_t>(place - node_bytes()) : kUndefined);
        out.u64(last ? kUndefined : static_cast<uint64_t>(place + node_bytes()));
        out.place(begin && used ? below[begin - 1].second : 0);
        for (size_t k = begin; k < end; ++k) out.place(below[k].first).place(below[k].second);
        out.zeros(16 * (kChildren - used));
        here.emplace_back(place, used ? below[end - 1].second : 0);
        place += node_bytes();
      }
      below = std::move(here);
    }
  }
  void elements(const Laid& l, const Sink& to) const {
    if (l.texts.empty())
      return to({static_cast<const char*>(l.node->value.raw()), static_cast<size_t>(l.data_bytes)});
    std::string references;
    for (const TextHeap::Text& t : l.texts) references += texts_.reference(t);
    to(references);
  }

  std::vector<Laid> laid_;
  TextHeap texts_;
  int64_t heap_ = 0, data_ = 0, end_ = 0;
};

void check_storable(const Tensor& value, const std::string& what) {
  DType d = value.dtype();
  if (!kAll.has(d)) fail(Code::E1105, cat(what, " is ", name(d), ", which HDF5 does not store"));
  if (!value.has_value()) fail(Code::E1104, cat(what, " has no value yet"));
  if (value.rank() > 32)
    fail(Code::E1105, cat(what, " has ", value.rank(), " dimensions, and HDF5 takes 32"));
}

}  // namespace

H5Writer::H5Writer() : root_(std::make_unique<Node>()) {}
H5Writer::~H5Writer() = default;
H5Writer::H5Writer(H5Writer&&) noexcept = default;

Node& H5Writer::at(const std::string& path, bool make) {
  if (path.find('\0') != std::string::npos)
    fail(Code::E1104, cat("the path ", shown(path), " of an HDF5 file holds a zero byte"));
  Node* at = root_.get();
  std::string_view left = path;
  while (!left.empty()) {
    size_t slash = left.find('/');
    std::string name(left.substr(0, slash));
    left = slash == std::string_view::npos ? std::string_view() : left.substr(slash + 1);
    if (name.empty()) continue;
    if (name == ".")
      fail(Code::E1104, cat("the path ", shown(path), " of an HDF5 file holds the name `.`"));
    if (!at->group)
      fail(Code::E1104, cat("the path ", shown(path), " of an HDF5 file leads through a dataset"));
    std::unique_ptr<Node>& child = at->children[name];
    if (!child) {
      if (!make) {
        at->children.erase(name);
        fail(Code::E1104, cat("there is nothing at ", shown(path), " of an HDF5 file"));
      }
      child = std::make_unique<Node>();
    }
    at = child.get();
  }
  return *at;
}

void H5Writer::group(const std::string& path) {
  if (!at(path, true).group)
    fail(Code::E1104, cat("there is a dataset at ", shown(path), " already"));
}

void H5Writer::dataset(const std::string& path, const Tensor& value) {
  check_storable(value, cat("the dataset ", shown(path)));
  Node& node = at(path, true);
  if (!node.group || !node.children.empty() || &node == root_.get())
    fail(Code::E1104, cat("there is something at ", shown(path), " already"));
  node.group = false;
  node.value = copy_to(value, cpu());
  if (value.dtype() == bfloat16) attribute(path, "dtype", "bfloat16");
}

void H5Writer::attribute(const std::string& path, const std::string& name, const Tensor& value) {
  check_storable(value, cat("the attribute ", shown(name), " of ", shown(path)));
  if (value.dtype() == bfloat16)
    fail(Code::E1105, cat("the attribute ", shown(name), " of ", shown(path),
                          " is bfloat16, which attributes do not store"));
  if (name.empty() || name.find('\0') != std::string::npos)
    fail(Code::E1104, cat("an attribute can't be named ", shown(name)));
  at(path, false).attributes[name] = copy_to(value, cpu());
}

void H5Writer::attribute(const std::string& path, const std::string& name,
                         const std::string& text) {
  attribute(path, name, Tensor::of<std::string>(std::span(&text, 1), Shape{}));
}

void H5Writer::write(const Sink& to) const { Layout(*root_).write(to); }

std::string H5Writer::bytes() const {
  std::string out;
  write([&](std::string_view piece) { out += piece; });
  return out;
}

void H5Writer::save(const std::string& path) const {
  AtomicFile file(path);
  write([&](std::string_view piece) { file.write(piece.data(), piece.size()); });
  file.commit();
}

}  // namespace holdfast::io
