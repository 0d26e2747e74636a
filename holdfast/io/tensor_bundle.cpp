#include "holdfast/io/tensor_bundle.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "holdfast/base/checked.h"
#include "holdfast/base/columns.h"
#include "holdfast/base/diagnostic.h"
#include "holdfast/base/wire.h"
#include "holdfast/device/device.h"
#include "holdfast/io/atomic_file.h"
#include "holdfast/io/byte_cursor.h"
#include "holdfast/io/byte_put.h"
#include "holdfast/io/checksums.h"
#include "holdfast/io/sink.h"
#include "holdfast/io/table.h"

namespace holdfast::io {
namespace {

constexpr int kProducer = 1;  // the version of the format that we write

std::string index_path(const std::string& prefix) { return prefix + ".index"; }
std::string data_path(const std::string& prefix, int64_t shard, int64_t shards) {
  auto five = [](int64_t n) {
    std::string digits = cat(n);
    return std::string(digits.size() < 5 ? 5 - digits.size() : 0, '0') + digits;
  };
  return cat(prefix, ".data-", five(shard), "-of-", five(shards));
}

DType dtype_numbered(uint64_t number) {
  for (int i = 1; i < kNumDTypes; ++i)
    if (info(static_cast<DType>(i)).tensorflow == number) return static_cast<DType>(i);
  return DType::kInvalid;
}

bool storable(DType d) { return kAll.has(d); }

Shape parse_shape(std::string_view bytes, const ByteSource& index, const std::string& of) {
  Dims dims;
  WireReader in(bytes);
  for (WireField f; in.next(f);) {
    if (f.number == 3 && f.value) index.refuse(cat(of, " has an unknown rank"));
    if (f.number != 2 || f.kind != 2) continue;
    int64_t size = 0;
    WireReader dim(f.bytes);
    for (WireField d; dim.next(d);)
      if (d.number == 1) size = static_cast<int64_t>(d.value);
    if (!dim.good() || size < 0) index.damaged(cat(of, " has a dimension of ", size));
    if (dims.size() == static_cast<size_t>(kMaxRank))
      index.damaged(cat(of, " has too many dimensions"));
    dims.push_back(size);
  }
  if (!in.good()) index.damaged(cat(of, " has a shape that can't be read"));
  return Shape(std::move(dims));
}

BundleEntry parse_entry(std::string key, std::string_view bytes, const ByteSource& index) {
  BundleEntry e;
  e.key = std::move(key);
  std::string of = cat("the tensor ", shown(e.key));
  // Names of slices begin so, and stand before all others.
  if (!e.key.empty() && e.key[0] == 0) index.refuse("a variable of it is stored in slices");
  if (valid_utf8(e.key) != e.key) index.damaged(cat("the key ", shown(e.key), " is not UTF-8"));
  WireReader in(bytes);
  for (WireField f; in.next(f);) {
    auto value = static_cast<int64_t>(f.value);
    if (f.number == 1) e.number = value;
    if (f.number == 2) e.shape = parse_shape(f.bytes, index, of);
    if (f.number == 3) e.shard = value;
    if (f.number == 4) e.offset = value;
    if (f.number == 5) e.size = value;
    if (f.number == 6) e.crc = static_cast<uint32_t>(f.value);
    if (f.number == 7) index.refuse(cat(of, " is stored in slices"));
  }
  if (!in.good() || e.shard < 0 || e.offset < 0 || e.size < 0)
    index.damaged(cat("what it says of ", shown(e.key), " can't be read"));
  e.dtype = dtype_numbered(static_cast<uint64_t>(e.number));
  if (!storable(e.dtype)) {  // it may be there, and is refused when it is asked for
    e.dtype = DType::kInvalid;
    return e;
  }
  auto elements = e.shape.elements();
  auto bytes_taken = elements
                         ? checked_mul(*elements, e.dtype == DType::kString ? 1 : size_of(e.dtype))
                         : std::nullopt;
  // A text takes a byte at least, for its length.
  bool fits =
      bytes_taken && (e.dtype == DType::kString ? *bytes_taken <= e.size : *bytes_taken == e.size);
  if (!fits) index.damaged(cat(of, " has shape ", e.shape.text(), " and ", e.size, " bytes"));
  return e;
}

// A text's length goes into the sum as a number of four bytes, or of eight if it needs them.
uint32_t add_length(uint32_t crc, uint64_t length) {
  return crc32c(Put().number(length, length > UINT32_MAX ? 8 : 4).text(), crc);
}

// Lengths, their checksum, the texts. Returns the sum over all of them.
uint32_t put_texts(const Tensor& t, int64_t& size, const Sink& to) {
  const std::string* texts = t.size() ? t.raw<std::string>() : nullptr;
  Put head;
  uint32_t crc = 0;
  for (int64_t i = 0; i < t.size(); ++i) {
    head.varint(texts[i].size());
    crc = add_length(crc, texts[i].size());
  }
  std::string sum = Put().u32(masked_crc32c(crc)).take();
  crc = crc32c(sum, crc);
  to(head.bytes(sum).text());
  size = static_cast<int64_t>(head.size());
  for (int64_t i = 0; i < t.size(); ++i) {
    to(texts[i]);
    size += static_cast<int64_t>(texts[i].size());
    crc = crc32c(texts[i], crc);
  }
  return crc;
}

Tensor read_texts(const ByteSource& data, const BundleEntry& e, const std::string& of) {
  std::string raw = data.read(e.offset, e.size);
  Tensor out = empty(DType::kString, e.shape, cpu());
  int64_t n = out.size();
  std::vector<uint64_t> lengths;
  ByteCursor at(data, raw, of);
  uint32_t crc = 0;
  for (int64_t i = 0; i < n; ++i) {
    lengths.push_back(at.varint());
    crc = add_length(crc, lengths.back());
  }
  if (at.u32() != masked_crc32c(crc))
    data.damaged(cat(of, " has another checksum than its lengths"));
  crc = crc32c(std::string_view(raw).substr(at.at() - 4), crc);
  if (e.crc != masked_crc32c(crc)) data.damaged(cat(of, " has another checksum than its bytes"));
  for (int64_t i = 0; i < n; ++i)
    out.mutable_raw<std::string>()[i] = std::string(at.take(lengths[static_cast<size_t>(i)]));
  if (at.left()) data.damaged(cat(of, " has ", at.left(), " bytes too many"));
  return out;
}

std::string entry_text(const BundleEntry& e) {
  Message shape;
  for (int64_t d : e.shape) {
    Message dim;
    if (d) dim.number(1, d);
    shape.message(2, dim);
  }
  Message out;
  out.number(1, uint64_t{info(e.dtype).tensorflow}).message(2, shape);
  if (e.offset) out.number(4, e.offset);
  if (e.size) out.number(5, e.size);
  std::string text = out.text();
  // The only field of four bytes: key 6, kind 5.
  return text + Put().u8(6 << 3 | 5).u32(e.crc).take();
}

std::string header_text(int64_t shards) {
  Message version;
  version.number(1, int64_t{kProducer});
  Message out;
  out.number(1, shards).message(3, version);
  return out.text();
}

// How many shards the checkpoint says it has that is there now; none if there is none.
int64_t shards_now(const std::string& prefix) {
  if (::access(index_path(prefix).c_str(), F_OK) != 0) return 0;
  try {
    ByteSource index = ByteSource::of_file(index_path(prefix));
    TableRows rows = read_table(index);
    if (rows.empty() || !rows[0].first.empty()) return 0;
    WireReader in(rows[0].second);
    for (WireField f; in.next(f);)
      if (f.number == 1) return static_cast<int64_t>(f.value);
  } catch (const Error&) {
    return 0;  // what is there is no checkpoint, and nothing of it is lost
  }
  return 0;
}

}  // namespace

BundleReader::BundleReader(std::string prefix) : prefix_(std::move(prefix)) {
  ByteSource index = ByteSource::of_file(index_path(prefix_));
  TableRows rows = read_table(index);
  if (rows.empty() || !rows[0].first.empty()) index.damaged("it has no header");
  read_header(rows[0].second, index);
  for (size_t i = 1; i < rows.size(); ++i) {
    entries_.push_back(parse_entry(std::move(rows[i].first), rows[i].second, index));
    if (entries_.back().shard >= shards_)
      index.damaged(cat("the tensor ", shown(entries_.back().key), " is in shard ",
                        entries_.back().shard, " of ", shards_));
  }
}

void BundleReader::read_header(std::string_view bytes, const ByteSource& index) {
  WireReader in(bytes);
  for (WireField f; in.next(f);) {
    if (f.number == 1) shards_ = static_cast<int64_t>(f.value);
    if (f.number == 2 && f.value != 0) index.refuse("its numbers are big-endian");
    if (f.number != 3) continue;
    WireReader version(f.bytes);
    for (WireField v; version.next(v);)
      if (v.number == 2 && v.value > kProducer)
        index.refuse(
            cat("its format is of version ", v.value, " or later; ", kProducer, " is read"));
  }
  if (!in.good() || shards_ < 1 || shards_ > 99999) index.damaged("its header can't be read");
}

const BundleEntry* BundleReader::find(std::string_view key) const {
  auto at = std::lower_bound(entries_.begin(), entries_.end(), key,
                             [](const BundleEntry& e, std::string_view k) { return e.key < k; });
  return at != entries_.end() && at->key == key ? &*at : nullptr;
}

Tensor BundleReader::read(const std::string& key) const {
  const BundleEntry* e = find(key);
  if (!e)
    fail(Code::E1301, cat("the checkpoint ", shown(prefix_), " is refused"),
         cat("it holds no tensor ", shown(key)));
  if (e->dtype == DType::kInvalid)
    fail(Code::E1301, cat("the checkpoint ", shown(prefix_), " is refused"),
         cat("the tensor ", shown(key), " has TensorFlow's dtype ", e->number,
             ", which there is none for here"));
  ByteSource data = ByteSource::of_file(data_path(prefix_, e->shard, shards_));
  std::string of = cat("the tensor ", shown(key));
  // Before memory is taken: the bytes must be there.
  if (e->offset > data.size() || e->size > data.size() - e->offset)
    data.damaged(cat(of, " takes ", e->size, " bytes from ", e->offset, " on, and the file has ",
                     data.size()));
  Tensor out;
  if (e->dtype == DType::kString) {
    out = read_texts(data, *e, of);
  } else {
    out = empty(e->dtype, e->shape, cpu());
    uint32_t crc = 0;
    if (e->size) {
      data.read(e->offset, out.mutable_raw(), e->size);
      crc = crc32c({static_cast<const char*>(out.raw()), static_cast<size_t>(e->size)});
    }
    if (e->crc != masked_crc32c(crc)) data.damaged(cat(of, " has another checksum than its bytes"));
    if (is_bool(e->dtype))
      for (int64_t i = 0; i < e->size; ++i)
        if (out.raw<uint8_t>()[i] > 1)
          data.damaged(cat(of, " holds the byte ", out.raw<uint8_t>()[i], " as a bool"));
  }
  out.rep()->born = here();
  out.rep()->op = "Const";
  return out;
}

void write_bundle(const std::string& prefix,
                  const std::vector<std::pair<std::string, Tensor>>& tensors) {
  std::vector<std::pair<std::string, Tensor>> sorted = tensors;
  std::sort(sorted.begin(), sorted.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  for (size_t i = 0; i < sorted.size(); ++i) {
    const auto& [key, t] = sorted[i];
    if (key.empty() || key.size() > 60000)
      fail(Code::E1104, cat("a tensor can't be stored under the key ", shown(key)));
    if (i && sorted[i - 1].first == key)
      fail(Code::E1104, cat("two tensors are stored under the key ", shown(key)));
    if (!storable(t.dtype()))
      fail(Code::E1105, cat("the tensor ", shown(key), " is ", name(t.dtype()),
                            ", which checkpoints do not store"));
    if (!t.has_value()) fail(Code::E1104, cat("the tensor ", shown(key), " has no value yet"));
  }
  // A checkpoint that is there keeps its data until the new index stands in its place: the new data
  // go to the file of another number of shards, which the new index names.
  int64_t before = shards_now(prefix);
  int64_t shards = before == 1 ? 2 : 1;
  TableRows rows = {{"", header_text(shards)}};
  AtomicFile data(data_path(prefix, 0, shards));
  int64_t at = 0;
  for (const auto& [key, value] : sorted) {
    Tensor t = copy_to(value, cpu());
    BundleEntry e{key, t.dtype(), t.shape(), 0, at, 0, 0};
    uint32_t crc = 0;
    if (e.dtype == DType::kString) {
      crc = put_texts(t, e.size,
                      [&](std::string_view piece) { data.write(piece.data(), piece.size()); });
    } else if ((e.size = t.bytes())) {
      data.write(t.raw(), static_cast<size_t>(e.size));
      crc = crc32c({static_cast<const char*>(t.raw()), static_cast<size_t>(e.size)});
    }
    e.crc = masked_crc32c(crc);
    rows.emplace_back(key, entry_text(e));
    at += e.size;
  }
  data.commit();
  std::string table = table_bytes(rows);
  AtomicFile index(index_path(prefix));
  index.write(table.data(), table.size());
  index.commit();
  for (int64_t i = 0; i < before; ++i) ::unlink(data_path(prefix, i, before).c_str());
}

}  // namespace holdfast::io
