// The links of a group, in the three ways they are stored, and the attributes of an object.
#include <algorithm>

#include "holdfast/base/columns.h"
#include "holdfast/io/hdf5/file.h"
#include "holdfast/io/hdf5/heap.h"

namespace holdfast::io::hdf5 {
namespace {

[[noreturn]] void refuse_link(const File& file, const std::string& path, std::string_view name,
                              const char* kind, std::string_view target) {
  file.source.refuse(cat(shown(path.empty() ? std::string(name) : cat(path, "/", name)), " is ",
                         kind, " to ", shown(target)));
}

// -- symbol tables: a tree of nodes, whose leaves are lists of names and places

class SymbolTable {
 public:
  SymbolTable(const File& file, int64_t heap, const std::string& path)
      : file_(file), heap_(file, heap), path_(path) {}

  void tree(int64_t place, int above) {
    visits_.visit(file_, place, "a node of a group");
    std::string what = cat("the group's node at ", place);
    std::string head = file_.part(place, head_bytes());
    ByteCursor at(file_.source, head, what);
    at.expect("TREE");
    if (at.u8() != 0) file_.source.damaged(cat(what, " is no node of a group"));
    int level = at.u8();
    if (above >= 0 && level != above - 1)
      file_.source.damaged(cat(what, " is at level ", level, " below ", above));
    int64_t used = at.u16();
    auto entry = static_cast<int64_t>(file_.length_bytes + file_.offset_bytes);
    std::string entries = file_.part(place + head_bytes(), used * entry);
    ByteCursor children(file_.source, entries, what);
    for (int64_t i = 0; i < used; ++i) {
      children.skip(file_.length_bytes);
      int64_t child = file_.offset(children);
      if (level > 0)
        tree(child, level);
      else
        node(child);
    }
  }
  std::vector<Link> links;

 private:
  int64_t head_bytes() const { return static_cast<int64_t>(8 + 2 * file_.offset_bytes); }
  void node(int64_t place) {
    visits_.visit(file_, place, "a list of names");
    std::string what = cat("the list of names at ", place);
    std::string head = file_.part(place, 8);
    ByteCursor at(file_.source, head, what);
    at.expect("SNOD");
    at.version(1, 1);
    at.skip(1);
    int64_t used = at.u16();
    auto entry = static_cast<int64_t>(2 * file_.offset_bytes + 24);
    std::string entries = file_.part(place + 8, used * entry);
    ByteCursor symbols(file_.source, entries, what);
    for (int64_t i = 0; i < used; ++i) {
      std::string name = heap_.text(symbols.number(file_.offset_bytes));
      int64_t object = file_.offset(symbols);
      uint32_t cached = symbols.u32();
      symbols.skip(4);
      ByteCursor scratch(file_.source, symbols.take(16), what);
      if (cached == 2) refuse_link(file_, path_, name, "a soft link", heap_.text(scratch.u32()));
      links.push_back({std::move(name), object, 0});
    }
  }

  const File& file_;
  LocalHeap heap_;
  const std::string& path_;
  Visits visits_;
};

// -- link messages: in the header itself, or in a heap with a tree over it

Link parse_link(const File& file, std::string_view bytes, const std::string& path) {
  ByteCursor at(file.source, bytes, "a link");
  at.version(1, 1);
  uint8_t flags = at.u8();
  uint8_t type = flags & 8 ? at.u8() : 0;
  Link out;
  if (flags & 4) out.order = at.u64();
  if (flags & 0x10) at.skip(1);
  size_t length = at.number(size_t{1} << (flags & 3));
  out.name = std::string(at.take(length));
  if (type == 0) {
    out.place = file.offset(at);
    return out;
  }
  std::string_view target = at.take(at.u16());
  if (type == 1) refuse_link(file, path, out.name, "a soft link", target);
  if (type == 64) {
    // A byte of flags, the file's name and its end, the path in it.
    std::string shown_target(target.substr(std::min<size_t>(1, target.size())));
    std::replace(shown_target.begin(), shown_target.end(), '\0', ' ');
    refuse_link(file, path, out.name, "an external link", shown_target);
  }
  refuse_link(file, path, out.name, "a link of a kind that is not known", cat(type));
}

struct Dense {
  int64_t heap = kNowhere, names = kNowhere;
  bool ordered = false;
};
// What link info and attribute info messages say, which differ in the width of one number.
Dense parse_dense(const File& file, std::string_view bytes, size_t order_bytes,
                  std::string_view what) {
  ByteCursor at(file.source, bytes, what);
  at.version(0, 0);
  uint8_t flags = at.u8();
  if (flags & 1) at.skip(order_bytes);
  Dense out;
  out.ordered = flags & 1;
  out.heap = file.offset(at);
  out.names = file.offset(at);
  return out;
}

void check_names(const File& file, std::vector<Link>& links, const std::string& path) {
  std::vector<std::string_view> names;
  for (const Link& l : links) names.push_back(l.name);
  std::sort(names.begin(), names.end());
  auto twice = std::adjacent_find(names.begin(), names.end());
  if (twice != names.end())
    file.source.damaged(cat("the group ", shown(path), " holds ", shown(*twice), " twice"));
  for (const Link& l : links) {
    if (l.name.empty() || l.name == "." || l.name.find('/') != std::string::npos)
      file.source.damaged(cat("the group ", shown(path), " holds something named ", shown(l.name)));
    if (valid_utf8(l.name) != l.name)
      file.source.damaged(
          cat("the group ", shown(path), " holds a name that is not UTF-8: ", shown(l.name)));
    if (l.place == kNowhere)
      file.source.damaged(cat(shown(l.name), " of the group ", shown(path), " is nowhere"));
  }
}

}  // namespace

bool is_group(const Object& o) {
  return o.find(Kind::kSymbolTable) || o.find(Kind::kLinkInfo) || o.find(Kind::kLink) ||
         o.find(Kind::kGroupInfo);
}

std::vector<Link> read_links(const File& file, const Object& group, const std::string& path) {
  std::vector<Link> out;
  bool ordered = false;
  if (const Message* m = group.find(Kind::kSymbolTable)) {
    ByteCursor at(file.source, m->bytes, "a symbol table");
    int64_t tree = file.offset(at);
    SymbolTable table(file, file.offset(at), path);
    table.tree(tree, -1);
    out = std::move(table.links);
  } else {
    for (const Message& link : group.messages)
      if (link.kind == Kind::kLink) out.push_back(parse_link(file, link.bytes, path));
    if (const Message* info = group.find(Kind::kLinkInfo)) {
      Dense dense = parse_dense(file, info->bytes, 8, "the links' info");
      ordered = dense.ordered;
      if (dense.heap != kNowhere) {
        FractalHeap heap(file, dense.heap);
        for (const std::string& record : tree_records(file, dense.names, 5))
          out.push_back(parse_link(
              file,
              heap.object(std::string_view(record).substr(std::min<size_t>(4, record.size()))),
              path));
      }
    }
  }
  check_names(file, out, path);
  std::sort(out.begin(), out.end(), [&](const Link& a, const Link& b) {
    return ordered && a.order != b.order ? a.order < b.order : a.name < b.name;
  });
  return out;
}

std::vector<std::string> attribute_messages(const File& file, const Object& object) {
  std::vector<std::string> out;
  for (const Message& m : object.messages)
    if (m.kind == Kind::kAttribute) out.push_back(m.bytes);
  if (const Message* info = object.find(Kind::kAttributeInfo)) {
    Dense dense = parse_dense(file, info->bytes, 2, "the attributes' info");
    if (dense.heap != kNowhere) {
      FractalHeap heap(file, dense.heap);
      for (const std::string& record : tree_records(file, dense.names, 8))
        out.push_back(heap.object(record));
    }
  }
  return out;
}

}  // namespace holdfast::io::hdf5
