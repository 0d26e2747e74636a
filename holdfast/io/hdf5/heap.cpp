#include "holdfast/io/hdf5/heap.h"

#include <algorithm>
#include <bit>

namespace holdfast::io::hdf5 {

LocalHeap::LocalHeap(const File& file, int64_t place) : file_(file) {
  std::string what = cat("the local heap at ", place);
  std::string head =
      file.part(place, static_cast<int64_t>(8 + 2 * file.length_bytes + file.offset_bytes));
  ByteCursor at(file.source, head, what);
  at.expect("HEAP");
  at.version(0, 0);
  at.skip(3);
  int64_t count = file.length(at);
  file.length(at);
  data_ = file.part(file.offset(at), count);
}

std::string LocalHeap::text(uint64_t offset) const {
  size_t end = offset < data_.size() ? data_.find('\0', offset) : std::string::npos;
  if (end == std::string::npos)
    file_.source.damaged(cat("a name lies at ", offset, " of a heap of ", data_.size(), " bytes"));
  return data_.substr(offset, end - offset);
}

const GlobalHeap::Collection& GlobalHeap::collection(int64_t place) {
  auto known = read_.find(place);
  if (known != read_.end()) return known->second;
  std::string what = cat("the heap collection at ", place);
  auto head_bytes = static_cast<int64_t>(8 + file_.length_bytes);
  int64_t count = 0;
  {
    std::string head = file_.source.read(place, head_bytes);
    ByteCursor at(file_.source, head, what);
    at.expect("GCOL");
    at.version(1, 1);
    at.skip(3);
    count = file_.length(at);
  }
  Collection out{file_.part(place, count), {}};
  ByteCursor at(file_.source, out.bytes, what);
  at.skip(static_cast<size_t>(head_bytes));
  while (at.left() >= 8 + file_.length_bytes) {
    uint32_t number = at.u16();
    at.skip(6);
    auto size = static_cast<size_t>(file_.length(at));
    if (number == 0) break;  // the rest is free
    size_t begin = at.at();
    at.skip(size);
    at.skip(std::min((8 - size % 8) % 8, at.left()));
    out.objects.emplace(number, std::pair(begin, size));
  }
  return read_.emplace(place, std::move(out)).first->second;
}

std::string_view GlobalHeap::object(int64_t place, uint32_t number) {
  const Collection& c = collection(place);
  auto found = c.objects.find(number);
  if (found == c.objects.end())
    file_.source.damaged(cat("the heap collection at ", place, " has no object ", number));
  return std::string_view(c.bytes).substr(found->second.first, found->second.second);
}

size_t width_of(uint64_t limit) {
  return limit ? (static_cast<size_t>(std::bit_width(limit)) - 1) / 8 + 1 : 1;
}

FractalHeap::FractalHeap(const File& file, int64_t place) : file_(file) {
  std::string what = cat("the fractal heap at ", place);
  size_t o = file.offset_bytes, l = file.length_bytes;
  size_t count = 4 + 1 + 2 + 2 + 1 + 4 + 12 * l + 3 * o + 2 + 2 + 2 + 2 + 4;
  std::string head = file.part(place, static_cast<int64_t>(count));
  ByteCursor at(file.source, head, what);
  at.expect("FRHP");
  at.version(0, 0);
  id_bytes_ = at.u16();
  if (at.u16() != 0) file.source.refuse(cat(what, " is compressed"));
  at.skip(1);
  uint64_t largest_managed = at.u32();
  file.length(at);
  huge_tree_ = file.offset(at);
  file.length(at);
  file.offset(at);
  for (int i = 0; i < 8; ++i) file.length(at);
  width_ = at.u16();
  first_size_ = file.length(at);
  largest_direct_ = file.length(at);
  size_t bits = at.u16();
  at.u16();
  root_ = file.offset(at);
  root_rows_ = at.u16();
  check_sum(file, head, at.at(), what);
  auto power = [](int64_t v) { return v > 0 && std::has_single_bit(static_cast<uint64_t>(v)); };
  if (width_ == 0 || !power(first_size_) || !power(largest_direct_) ||
      largest_direct_ < first_size_ || bits == 0 || bits > 64 || root_rows_ > 64)
    file.source.damaged(cat(what, " has blocks of sizes that can't be"));
  offset_bytes_ = (bits + 7) / 8;
  length_bytes_ =
      std::min(width_of(static_cast<uint64_t>(largest_direct_)), width_of(largest_managed));
}

int64_t FractalHeap::row_size(size_t row) const {
  size_t doublings = row < 2 ? 0 : row - 1;
  if (doublings > 40 || first_size_ > file_.source.size() + (int64_t{1} << 20))
    file_.source.damaged("a fractal heap is larger than the file");
  return first_size_ << doublings;
}

size_t FractalHeap::direct_rows() const {
  return static_cast<size_t>(std::bit_width(static_cast<uint64_t>(largest_direct_)) -
                             std::bit_width(static_cast<uint64_t>(first_size_))) +
         2;
}

// Goes down from the root to the block that holds `offset`.
std::string FractalHeap::managed(uint64_t offset, uint64_t length) const {
  if (offset >> 62 || length > static_cast<uint64_t>(file_.source.size()))
    file_.source.damaged("an object lies outside its fractal heap");
  auto wanted = static_cast<int64_t>(offset);
  int64_t place = root_;
  size_t rows = root_rows_;
  int64_t block_size = first_size_;
  while (rows > 0) {  // an indirect block
    std::string what = cat("the block of a fractal heap at ", place);
    size_t direct = std::min(rows, direct_rows());
    size_t children = rows * width_;
    size_t head = 5 + file_.offset_bytes + offset_bytes_;
    auto [known, fresh] = blocks_.try_emplace(place);
    std::string& block = known->second;
    if (fresh) {
      block = file_.part(place, static_cast<int64_t>(head + children * file_.offset_bytes + 4));
      check_sum(file_, block, block.size() - 4, what);
    }
    ByteCursor at(file_.source, block, what);
    at.expect("FHIB");
    at.version(0, 0);
    size_t row = 0;
    while (row < rows && wanted >= row_size(row) * static_cast<int64_t>(width_))
      wanted -= row_size(row++) * static_cast<int64_t>(width_);
    if (row == rows) file_.source.damaged("an object lies outside its fractal heap");
    block_size = row_size(row);
    auto column = static_cast<size_t>(wanted / block_size);
    wanted %= block_size;
    at.skip(head - 5 + (row * width_ + column) * file_.offset_bytes);
    place = file_.offset(at);
    if (row < direct) break;
    // A child of this size has the rows that make it up.
    size_t child_rows = 0;
    for (int64_t held = 0; held < block_size && child_rows < row; ++child_rows)
      held += row_size(child_rows) * static_cast<int64_t>(width_);
    rows = child_rows;
  }
  size_t head = 5 + file_.offset_bytes + offset_bytes_;
  if (wanted < static_cast<int64_t>(head) || wanted + static_cast<int64_t>(length) > block_size)
    file_.source.damaged("an object lies outside its block of a fractal heap");
  std::string signature = file_.source.read(place, 4);
  if (signature != "FHDB")
    file_.source.damaged(cat("the block at ", place, " does not begin with `FHDB`"));
  return file_.part(place + wanted, static_cast<int64_t>(length));
}

std::string FractalHeap::huge(uint64_t id) const {
  if (huge_tree_ == kNowhere) file_.source.damaged("a huge object is not in its heap's tree");
  for (const std::string& record : tree_records(file_, huge_tree_, 1)) {
    ByteCursor at(file_.source, record, "the record of a huge object");
    int64_t place = file_.offset(at), length = file_.length(at);
    if (at.number(file_.length_bytes) == id) return file_.part(place, length);
  }
  file_.source.damaged("a huge object is not in its heap's tree");
}

std::string FractalHeap::object(std::string_view id) const {
  ByteCursor at(file_.source, id.substr(0, id_bytes_), "the place of an object in a heap");
  uint8_t first = at.u8();
  if (first >> 6) file_.source.refuse("a heap's objects have places of another version");
  switch (first >> 4 & 3) {
    case 0: {
      uint64_t offset = at.number(offset_bytes_);
      return managed(offset, at.number(length_bytes_));
    }
    case 1: return huge(at.number(std::min(at.left(), file_.length_bytes)));
    case 2:
      if (id_bytes_ > 18) file_.source.refuse("a heap's tiny objects have long places");
      return std::string(at.take((first & 15) + size_t{1}));
    default: file_.source.damaged("the place of an object in a heap is of no kind");
  }
}

namespace {

// How many records the nodes of a tree hold, and how wide their counts are.
struct TreeShape {
  size_t node_bytes, record_bytes, offset_bytes;
  std::vector<uint64_t> most, most_below;  // by depth: in a node, and in it with all below

  TreeShape(const File& file, size_t node, size_t record, size_t depth, std::string_view what)
      : node_bytes(node), record_bytes(record), offset_bytes(file.offset_bytes) {
    constexpr size_t kFrame = 10;  // signature, version, type, checksum
    if (node < kFrame + record || record == 0 || depth > 16)
      file.source.damaged(cat(what, " has no room for records"));
    most.push_back((node - kFrame) / record);
    most_below.push_back(most[0]);
    for (size_t d = 1; d <= depth; ++d) {
      size_t pointer = pointer_bytes(d);
      if (node < kFrame + pointer + record)
        file.source.damaged(cat(what, " has no room for records"));
      most.push_back((node - kFrame - pointer) / (record + pointer));
      most_below.push_back((most[d] + 1) * most_below[d - 1] + most[d]);
    }
  }
  size_t count_bytes() const { return width_of(most[0]); }
  size_t total_bytes(size_t depth) const { return depth > 1 ? width_of(most_below[depth - 1]) : 0; }
  size_t pointer_bytes(size_t depth) const {
    return offset_bytes + count_bytes() + total_bytes(depth);
  }
};

class TreeWalk {
 public:
  TreeWalk(const File& file, const TreeShape& shape, uint8_t type)
      : file_(file), shape_(shape), type_(type) {}
  void walk(int64_t place, uint64_t count, size_t depth) {
    visits_.visit(file_, place, "a node of a tree");
    std::string what = cat("the node of a tree at ", place);
    if (count > shape_.most[depth]) file_.source.damaged(cat(what, " has ", count, " records"));
    size_t used =
        6 + count * shape_.record_bytes + (depth ? (count + 1) * shape_.pointer_bytes(depth) : 0);
    std::string block = file_.part(place, static_cast<int64_t>(used + 4));
    check_sum(file_, block, used, what);
    ByteCursor at(file_.source, block, what);
    at.expect(depth ? "BTIN" : "BTLF");
    at.version(0, 0);
    if (at.u8() != type_) file_.source.damaged(cat(what, " is of another type than its tree"));
    std::vector<std::string_view> own;
    for (uint64_t i = 0; i < count; ++i) own.push_back(at.take(shape_.record_bytes));
    for (uint64_t i = 0; i <= count; ++i) {
      if (depth) {
        int64_t child = file_.offset(at);
        uint64_t below = at.number(shape_.count_bytes());
        at.skip(shape_.total_bytes(depth));
        walk(child, below, depth - 1);
      }
      if (i < count) records.emplace_back(own[i]);
    }
  }
  std::vector<std::string> records;

 private:
  const File& file_;
  const TreeShape& shape_;
  uint8_t type_;
  Visits visits_;
};

}  // namespace

std::vector<std::string> tree_records(const File& file, int64_t place, uint8_t type) {
  std::string what = cat("the tree at ", place);
  std::string head =
      file.part(place, static_cast<int64_t>(4 + 1 + 1 + 4 + 2 + 2 + 1 + 1 + file.offset_bytes + 2 +
                                            file.length_bytes + 4));
  ByteCursor at(file.source, head, what);
  at.expect("BTHD");
  at.version(0, 0);
  uint8_t stored = at.u8();
  if (stored != type) file.source.damaged(cat(what, " is of type ", stored, ", not ", type));
  size_t node = at.u32(), record = at.u16(), depth = at.u16();
  at.skip(2);
  int64_t root = file.offset(at);
  uint64_t count = at.u16();
  file.length(at);
  check_sum(file, head, at.at(), what);
  if (root == kNowhere) return {};
  TreeShape shape(file, node, record, depth, what);
  TreeWalk walk(file, shape, type);
  walk.walk(root, count, depth);
  return std::move(walk.records);
}

}  // namespace holdfast::io::hdf5
