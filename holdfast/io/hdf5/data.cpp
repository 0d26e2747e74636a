#include "holdfast/io/hdf5/data.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "holdfast/base/checked.h"
#include "holdfast/io/inflate.h"

namespace holdfast::io::hdf5 {
namespace {

// What was never written is small, or no honest file.
constexpr int64_t kMostUnwritten = int64_t{1} << 20;

struct Chunk {
  int64_t place = kNowhere, count = 0;
  uint32_t skipped = 0;  // filters that were not used for it
};

struct Chunks {
  const File& file;
  const std::string& of;
  Dims shape, chunk, grid;  // in elements; how many chunks there are along each axis
  int64_t element = 0, chunk_bytes = 0;
  std::vector<Chunk> list;  // row by row
  std::vector<uint16_t> filters;

  size_t number_of(const Dims& corner) const {
    int64_t out = 0;
    for (size_t i = 0; i < grid.size(); ++i) out = out * grid[i] + corner[i];
    return static_cast<size_t>(out);
  }
};

// -- which filters

std::vector<uint16_t> parse_filters(const File& file, const Object& o, const std::string& of) {
  std::vector<uint16_t> out;
  const Message* m = o.find(Kind::kFilters);
  if (!m) return out;
  ByteCursor at(file.source, m->bytes, "the filters");
  uint8_t version = at.version(1, 2);
  size_t count = at.u8();
  if (version == 1) at.skip(6);
  for (size_t i = 0; i < count; ++i) {
    uint16_t id = at.u16();
    size_t name_bytes = version == 1 || id >= 256 ? at.u16() : 0;
    at.skip(2);
    size_t values = at.u16();
    std::string name(at.take(name_bytes));
    at.skip(4 * values);
    if (version == 1 && values % 2) at.skip(4);
    if (id != 1 && id != 2) {
      name.resize(std::min(name.size(), name.find('\0')));
      file.source.refuse(cat(of, " is compressed with the filter ", id, name.empty() ? "" : " ",
                             name.empty() ? "" : shown(name), "; deflate and shuffle are read"));
    }
    out.push_back(id);
  }
  return out;
}

// -- which chunks

void check_chunk(const Chunks& c, const Chunk& chunk, size_t number) {
  if (number >= c.list.size() || c.list[number].place != kNowhere)
    c.file.source.damaged(cat(c.of, " has a chunk at a place that is no other's"));
  if (chunk.place == kNowhere || chunk.count > c.file.source.size() - chunk.place)
    c.file.source.damaged(cat(c.of, " has a chunk outside the file"));
}

class ChunkTree {
 public:
  explicit ChunkTree(Chunks& c) : c_(c) {}
  void node(int64_t place, int above) {
    const File& file = c_.file;
    visits_.visit(file, place, "a node of chunks");
    std::string what = cat("the node of chunks at ", place);
    auto head_bytes = static_cast<int64_t>(8 + 2 * file.offset_bytes);
    std::string head = file.part(place, head_bytes);
    ByteCursor at(file.source, head, what);
    at.expect("TREE");
    if (at.u8() != 1) file.source.damaged(cat(what, " is no node of chunks"));
    int level = at.u8();
    if (above >= 0 && level != above - 1)
      file.source.damaged(cat(what, " is at level ", level, " below ", above));
    int64_t used = at.u16();
    auto entry = static_cast<int64_t>(8 + 8 * (c_.chunk.size() + 1) + file.offset_bytes);
    std::string entries = file.part(place + head_bytes, used * entry);
    ByteCursor children(file.source, entries, what);
    for (int64_t i = 0; i < used; ++i) {
      Chunk chunk;
      chunk.count = children.u32();
      chunk.skipped = children.u32();
      Dims corner;
      for (int64_t width : c_.chunk) {
        int64_t begin = children.size();
        if (begin % width)
          file.source.damaged(
              cat(c_.of, " has a chunk that begins at ", begin, " of chunks of ", width));
        corner.push_back(begin / width);
      }
      children.skip(8);
      chunk.place = file.offset(children);
      if (level > 0) {
        node(chunk.place, level);
        continue;
      }
      bool inside = true;
      for (size_t k = 0; k < corner.size(); ++k) inside &= corner[k] < c_.grid[k];
      if (!inside) continue;  // left over from when the dataset was larger
      size_t number = c_.number_of(corner);
      check_chunk(c_, chunk, number);
      c_.list[number] = chunk;
    }
  }

 private:
  Chunks& c_;
  Visits visits_;
};

// The chunk with a number in the grid of the largest shape that a dataset may have; none where it
// is outside the shape that it has.
std::optional<size_t> number_in(const Chunks& c, const Dims& largest, int64_t number) {
  Dims corner = largest;
  for (size_t i = largest.size(); i-- > 0;) {
    corner[i] = number % largest[i];
    number /= largest[i];
    if (corner[i] >= c.grid[i]) return std::nullopt;
  }
  return c.number_of(corner);
}

// An array with an element for each chunk, in pages if it is long.
void fixed_array(Chunks& c, int64_t place, const Shape& most) {
  const File& file = c.file;
  std::string what = cat("the array of chunks at ", place);
  std::string head =
      file.part(place, static_cast<int64_t>(8 + file.length_bytes + file.offset_bytes + 4));
  ByteCursor at(file.source, head, what);
  at.expect("FAHD");
  at.version(0, 0);
  bool filtered = at.u8() == 1;
  size_t entry = at.u8(), page_bits = at.u8();
  int64_t entries = file.length(at);
  int64_t block = file.offset(at);
  check_sum(file, head, at.at(), what);
  size_t least = file.offset_bytes + (filtered ? 5 : 0);
  Dims largest;
  std::optional<int64_t> count = 1;
  for (int i = 0; i < most.rank(); ++i) {
    int64_t width = c.chunk[static_cast<size_t>(i)];
    largest.push_back(most[i] > 0 ? (most[i] - 1) / width + 1 : 0);
    if (count) count = checked_mul(*count, largest.back());
    if (largest.back() < c.grid[static_cast<size_t>(i)]) count.reset();
  }
  if (entry < least || entry > file.offset_bytes + 12 || page_bits > 30 || !count ||
      entries != *count || filtered == c.filters.empty())
    file.source.damaged(cat(what, " does not fit its dataset"));
  if (block == kNowhere) return;
  auto page = int64_t{1} << page_bits;
  bool paged = entries > page;
  int64_t pages = paged ? (entries + page - 1) / page : 0;
  auto prefix = static_cast<int64_t>(6 + file.offset_bytes) + (pages + 7) / 8;
  auto entry_bytes = static_cast<int64_t>(entry);
  int64_t number = 0;
  auto take = [&](std::string_view bytes, int64_t held) {
    ByteCursor elements(file.source, bytes, what);
    for (int64_t i = 0; i < held; ++i, ++number) {
      Chunk chunk;
      chunk.place = file.offset(elements);
      chunk.count = filtered ? elements.size(entry - file.offset_bytes - 4) : c.chunk_bytes;
      if (filtered) chunk.skipped = elements.u32();
      std::optional<size_t> here = number_in(c, largest, number);
      if (chunk.place == kNowhere || !here) continue;
      check_chunk(c, chunk, *here);
      c.list[*here] = chunk;
    }
  };
  std::string first = file.part(block, prefix + (paged ? 0 : entries * entry_bytes) + 4);
  check_sum(file, first, first.size() - 4, what);
  ByteCursor inside(file.source, first, what);
  inside.expect("FADB");
  if (!paged) return take(std::string_view(first).substr(static_cast<size_t>(prefix)), entries);
  for (int64_t p = 0; p < pages; ++p) {
    int64_t here = std::min(page, entries - p * page);
    auto used = static_cast<uint8_t>(
        first[static_cast<size_t>(6 + static_cast<int64_t>(file.offset_bytes) + p / 8)]);
    int64_t at_page = block + prefix + 4 + p * (page * entry_bytes + 4);
    if (!(used >> (7 - p % 8) & 1)) {
      number += here;
      continue;
    }
    std::string bytes = file.part(at_page, here * entry_bytes + 4);
    check_sum(file, bytes, bytes.size() - 4, what);
    take(bytes, here);
  }
}

// -- elements

std::string fill_value(const File& file, const Object& o, int64_t element) {
  std::string none(static_cast<size_t>(element), '\0');
  std::string out;
  if (const Message* m = o.find(Kind::kFill)) {
    ByteCursor at(file.source, m->bytes, "the fill value");
    uint8_t version = at.version(1, 3);
    bool given = true;
    if (version < 3) {
      at.skip(2);
      given = at.u8() != 0 || version == 1;
    } else {
      given = at.u8() & 0x20;
    }
    if (given && at.left() >= 4) out = std::string(at.take(at.u32()));
  } else if (const Message* old = o.find(Kind::kOldFill)) {
    ByteCursor at(file.source, old->bytes, "the fill value");
    out = std::string(at.take(at.u32()));
  }
  return static_cast<int64_t>(out.size()) == element ? out : none;
}

std::string filled(const std::string& value, int64_t count) {
  std::string out;
  out.reserve(static_cast<size_t>(count) * value.size());
  for (int64_t i = 0; i < count; ++i) out += value;
  return out;
}

std::string unshuffled(const std::string& in, size_t element) {
  size_t n = in.size() / element;
  std::string out(in);
  for (size_t b = 0; b < element; ++b)
    for (size_t i = 0; i < n; ++i) out[i * element + b] = in[b * n + i];
  return out;
}

std::string chunk_bytes(const Chunks& c, const Chunk& chunk) {
  std::string raw = c.file.source.read(chunk.place, chunk.count);
  for (size_t i = c.filters.size(); i-- > 0;) {
    if (chunk.skipped >> i & 1) continue;
    if (c.filters[i] == 2) {
      raw = unshuffled(raw, static_cast<size_t>(c.element));
      continue;
    }
    std::string out(static_cast<size_t>(c.chunk_bytes), '\0');
    if (!inflate_into(Deflated::kWithHeader, raw, out.data(), c.chunk_bytes))
      c.file.source.damaged(cat(c.of, " has a chunk at ", chunk.place, " that does not inflate to ",
                                c.chunk_bytes, " bytes"));
    raw = std::move(out);
  }
  if (static_cast<int64_t>(raw.size()) != c.chunk_bytes)
    c.file.source.damaged(cat(c.of, " has a chunk of ", raw.size(), " bytes, not ", c.chunk_bytes));
  return raw;
}

// Copies one chunk to its place; at the far edges a chunk reaches beyond the dataset.
void place_chunk(const Chunks& c, size_t number, const std::string& from, std::string& to) {
  size_t rank = c.shape.size();
  Dims corner(rank, 0), row(rank, 0), extent(rank, 0);
  for (size_t i = rank; i-- > 0;) {
    auto along = static_cast<size_t>(c.grid[i]);
    corner[i] = static_cast<int64_t>(number % along) * c.chunk[i];
    number /= along;
    extent[i] = std::min(c.chunk[i], c.shape[i] - corner[i]);
  }
  auto run = static_cast<size_t>(extent[rank - 1] * c.element);
  for (;;) {
    int64_t source = 0, target = 0;
    for (size_t i = 0; i < rank; ++i) {
      source = source * c.chunk[i] + row[i];
      target = target * c.shape[i] + corner[i] + row[i];
    }
    std::memcpy(to.data() + target * c.element, from.data() + source * c.element, run);
    size_t axis = rank - 1;
    for (;;) {  // the next row of the chunk
      if (axis == 0) return;
      --axis;
      if (++row[axis] < extent[axis]) break;
      row[axis] = 0;
    }
  }
}

// The chunks are known; what they and the holes between them come to is checked before it is read.
std::string read_chunks(const Chunks& c, const Object& o, int64_t bytes) {
  int64_t present = 0, stored = 0;
  for (const Chunk& chunk : c.list)
    if (chunk.place != kNowhere) ++present, stored += chunk.count;
  bool deflated = std::find(c.filters.begin(), c.filters.end(), 1) != c.filters.end();
  if (stored > c.file.source.size())
    c.file.source.damaged(cat(c.of, " has chunks that lie on one another"));
  auto most = checked_mul(stored, deflated ? kMostInflated : 1);
  auto whole = checked_mul(present, c.chunk_bytes);
  if (!most || !whole || *whole > *most + kMostUnwritten || bytes - *whole > kMostUnwritten)
    c.file.source.refuse(
        cat(c.of, " would take ", bytes, " bytes, and ", stored, " are stored of it"));
  std::string out = present == static_cast<int64_t>(c.list.size())
                        ? std::string(static_cast<size_t>(bytes), '\0')
                        : filled(fill_value(c.file, o, c.element), bytes / c.element);
  for (size_t i = 0; i < c.list.size(); ++i)
    if (c.list[i].place != kNowhere) place_chunk(c, i, chunk_bytes(c, c.list[i]), out);
  return out;
}

// Fills in chunk sizes and the grid. So many chunks as there are must have been written down.
void set_grid(Chunks& c, const Shape& shape) {
  c.shape = shape.dims();
  std::optional<int64_t> count = 1;
  std::optional<int64_t> bytes = c.element;
  if (c.chunk.size() != c.shape.size())
    c.file.source.damaged(cat(c.of, " has chunks of another rank than its own"));
  for (size_t i = 0; i < c.chunk.size(); ++i) {
    if (c.chunk[i] <= 0) c.file.source.damaged(cat(c.of, " has chunks of size ", c.chunk[i]));
    c.grid.push_back((c.shape[i] - 1) / c.chunk[i] + 1);
    if (count) count = checked_mul(*count, c.grid[i]);
    if (bytes) bytes = checked_mul(*bytes, c.chunk[i]);
  }
  if (!bytes) c.file.source.refuse(cat(c.of, " has chunks that no memory holds"));
  c.chunk_bytes = *bytes;
  if (!count || *count > c.file.source.size() + kMostUnwritten)
    c.file.source.refuse(cat(c.of, " has more chunks than the file has bytes"));
  c.list.resize(static_cast<size_t>(*count));
}

std::string chunked(const File& file, ByteCursor& at, uint8_t version, const Object& o,
                    const StoredType& type, const Shape& shape, int64_t bytes,
                    const std::string& of) {
  Chunks c{file, of, {}, {}, {}, type.size, 0, {}, parse_filters(file, o, of)};
  if (shape.rank() == 0) file.source.damaged(cat(of, " is a scalar in chunks"));
  if (version <= 3) {
    size_t dims = at.u8();
    int64_t tree = file.offset(at);
    for (size_t i = 0; i + 1 < dims; ++i) c.chunk.push_back(at.u32());
    set_grid(c, shape);
    if (tree != kNowhere) ChunkTree(c).node(tree, -1);
    return read_chunks(c, o, bytes);
  }
  uint8_t flags = at.u8();
  size_t dims = at.u8(), width = at.u8();
  if (width == 0 || width > 8)
    file.source.damaged(cat(of, " has chunk sizes in ", width, " bytes"));
  for (size_t i = 0; i < dims; ++i) {
    int64_t d = at.size(width);
    if (i + 1 < dims) c.chunk.push_back(d);
  }
  set_grid(c, shape);
  uint8_t index = at.u8();
  if (index == 1) {
    Chunk chunk;
    chunk.count = c.chunk_bytes;
    if (flags & 2) {
      chunk.count = file.length(at);
      chunk.skipped = at.u32();
    }
    chunk.place = file.offset(at);
    if (chunk.place != kNowhere) {
      check_chunk(c, chunk, 0);
      c.list[0] = chunk;
    }
  } else if (index == 2) {
    int64_t place = file.offset(at);
    for (size_t i = 0; place != kNowhere && i < c.list.size(); ++i) {
      Chunk chunk{place + static_cast<int64_t>(i) * c.chunk_bytes, c.chunk_bytes, 0};
      if (chunk.place > file.source.size())
        file.source.damaged(cat(of, " has a chunk outside the file"));
      check_chunk(c, chunk, i);
      c.list[i] = chunk;
    }
  } else if (index == 3) {
    at.skip(1);
    int64_t place = file.offset(at);
    const Message* space = o.find(Kind::kDataspace);
    if (place != kNowhere && space) fixed_array(c, place, parse_most(file, space->bytes, of));
  } else {
    file.source.refuse(cat(of, " finds its chunks by ",
                           index == 4 ? "an extensible array" : "a tree of version 2",
                           ", which is not read"));
  }
  return read_chunks(c, o, bytes);
}

// The layout message, up to where the kinds differ.
struct Layout {
  Layout(const File& file, const Object& o, const std::string& of)
      : at(file.source, message(file, o, of), "the layout") {
    version = at.version(1, 5);
    if (version < 3)
      file.source.refuse(
          cat(of, " has a layout of version ", version, "; those from 3 on are read"));
    kind = at.u8();
    if (kind > 2)
      file.source.refuse(cat(of, kind == 3 ? " is a virtual dataset" : " has an unknown layout"));
  }
  static std::string_view message(const File& file, const Object& o, const std::string& of) {
    if (o.find(Kind::kExternalFiles))
      file.source.refuse(cat(of, " keeps its elements in other files"));
    const Message* m = o.find(Kind::kLayout);
    if (!m) file.source.damaged(cat(of, " does not say where its elements are"));
    return m->bytes;
  }
  ByteCursor at;
  uint8_t version = 0, kind = 0;
};

}  // namespace

int64_t whole_place(const File& file, const Object& o, int64_t bytes, const std::string& of) {
  Layout layout(file, o, of);
  if (layout.kind != 1 || bytes == 0) return kNowhere;
  int64_t place = file.offset(layout.at), count = file.length(layout.at);
  if (place != kNowhere && count != bytes)
    file.source.damaged(cat(of, " takes ", bytes, " bytes, and ", count, " are there"));
  if (place != kNowhere && bytes > file.source.size() - place)
    file.source.damaged(cat(of, " takes ", bytes, " bytes from ", place, " on, and the file has ",
                            file.source.size()));
  return place;
}

std::string read_elements(const File& file, const Object& o, const StoredType& type,
                          const Shape& shape, const std::string& of) {
  Layout layout(file, o, of);
  int64_t bytes = stored_bytes(file, type, shape, of);
  if (bytes == 0) return {};
  if (layout.kind == 2) return chunked(file, layout.at, layout.version, o, type, shape, bytes, of);
  if (layout.kind == 0) {
    size_t count = layout.at.u16();
    if (static_cast<int64_t>(count) != bytes)
      file.source.damaged(cat(of, " takes ", bytes, " bytes, and ", count, " are there"));
    return std::string(layout.at.take(count));
  }
  int64_t place = whole_place(file, o, bytes, of);
  if (place != kNowhere) return file.source.read(place, bytes);
  if (bytes > kMostUnwritten)
    file.source.refuse(cat(of, " takes ", bytes, " bytes, and was never written"));
  return filled(fill_value(file, o, type.size), bytes / type.size);
}

}  // namespace holdfast::io::hdf5
