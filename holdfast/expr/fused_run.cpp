// The block interpreter: every instruction over a block before the next block begins.
#include "holdfast/base/parallel.h"
#include "holdfast/expr/blocks.h"
#include "holdfast/expr/fused.h"

namespace holdfast {
namespace {

constexpr int64_t kScratch = 64 << 10;     // bytes on the stack of each thread
constexpr int64_t kComfortable = 24 << 10; // what leaves room for inputs and outputs in the first cache
constexpr int64_t kLeast = 64;             // elements a block: loops and streamed stores need whole lines

// How one value is found while a block is computed.
struct Source {
  const char* data = nullptr;   // of an input that lies in order
  int reader = -1;              // of an input that repeats
  char* to = nullptr;           // where an output goes
  int64_t cell = 0, scratch = 0;
  bool repeated = false;        // one element, spread over its scratch when the piece begins
  bool streamed = false;
};

}  // namespace

// The folds of one block, which holds whole rows.
void Expr::fold_rows(int64_t begin, int64_t count, std::span<const void* const> at, std::span<const Tensor> out) const {
  constexpr int64_t kCells = 64;
  alignas(64) char cells[kCells * 16];
  for (size_t k = 0; k < stores_.size(); ++k) {
    if (!folds_[k].op) continue;
    int64_t first = begin / row_, rows = count / row_, size = size_of(out[k].dtype()), cell = size_of(dtype(stores_[k]));
    auto* from = static_cast<const char*>(at[static_cast<size_t>(stores_[k])]);
    auto* to = static_cast<char*>(out[k].mutable_raw());
    for (int64_t r = 0; r < rows; r += kCells) {
      int64_t some = std::min(kCells, rows - r);
      folds_[k].loops.rows(from + r * row_ * cell, some, row_, row_, cells);
      folds_[k].loops.finish(cells, some, row_, to + (first + r) * size);
    }
  }
}

bool Expr::holds_rows(int64_t row) const {
  int64_t per_element = 0;  // as if no two values shared
  for (const Value& v : values_) per_element += size_of(v.dtype);
  return row * per_element + static_cast<int64_t>(values_.size()) * kLeast <= kScratch;
}

void Expr::run(std::span<const Tensor> in, std::span<const Tensor> out, const Shape& shape) const {
  int64_t n = shape.size();
  if (n == 0) return;
  InlineVector<Source, 32> sources(values_.size());
  InlineVector<Reader, 8> readers;
  InlineVector<int64_t, 16> cells(slots_.begin(), slots_.end());
  bool streams = false;
  for (size_t i = 0; i < values_.size(); ++i) {
    Source& s = sources[i];
    s.cell = size_of(values_[i].dtype);
    int slot = values_[i].slot;
    if (values_[i].input >= 0 || values_[i].number) {
      const Tensor& t = values_[i].number ? values_[i].number : in[static_cast<size_t>(values_[i].input)];
      s.data = static_cast<const char*>(t.raw());
      if (values_[i].number || t.shape() != shape) {
        s.repeated = t.size() == 1;
        s.reader = static_cast<int>(readers.size());
        readers.push_back(Reader(t, shape));
        if (slot < 0) {
          slot = static_cast<int>(cells.size());
          cells.push_back(s.cell);
        }
      }
    }
    s.scratch = slot;
  }
  for (size_t k = 0; k < stores_.size(); ++k) {
    if (folds_[k].op) continue;
    Source& s = sources[static_cast<size_t>(stores_[k])];
    s.to = static_cast<char*>(out[k].mutable_raw());
    s.streamed = n * s.cell >= kStreamFrom && reinterpret_cast<uintptr_t>(s.to) % 16 == 0;
    streams = streams || s.streamed;
  }
  int64_t per_element = 0;
  for (int64_t c : cells) per_element += c;
  int64_t block = std::clamp(kComfortable / std::max<int64_t>(per_element, 1), kLeast, kBlock) / kLeast * kLeast;
  if (row_) block = std::max<int64_t>(1, block / row_) * row_;  // whole rows
  InlineVector<int64_t, 16> offsets;
  int64_t used = 0;
  for (int64_t c : cells) {
    offsets.push_back(used);
    used += (c * block + kLeast - 1) / kLeast * kLeast;
  }
  if (block % kLeast) for (Source& s : sources) s.streamed = false;  // blocks would not begin on a boundary
  for (Source& s : sources) s.scratch = s.scratch >= 0 ? offsets[static_cast<size_t>(s.scratch)] : -1;
  int64_t grain = std::max(8 * block, kGrain / static_cast<int64_t>(code_.size()) * 2);
  if (row_) grain = (grain + block - 1) / block * block;
  parallel_for(n, grain, [&](int64_t begin, int64_t end) {
    alignas(64) char scratch[kScratch];
    InlineVector<const void*, 32> at(values_.size(), nullptr);
    for (size_t i = 0; i < sources.size(); ++i) {
      const Source& s = sources[i];
      if (!s.repeated) continue;
      readers[static_cast<size_t>(s.reader)].repeat(scratch + s.scratch, s.data, std::min(block, end - begin));
      at[i] = scratch + s.scratch;
    }
    for (int64_t b = begin; b < end; b += block) {
      int64_t count = std::min(block, end - b);
      for (size_t i = 0; i < sources.size(); ++i) {
        const Source& s = sources[i];
        if (!s.data || s.repeated) continue;
        at[i] = s.reader < 0 ? s.data + b * s.cell : readers[static_cast<size_t>(s.reader)].block(b, count, scratch + s.scratch);
      }
      for (const Instruction& k : code_) {
        const void* operands[3];
        for (size_t o = 0; o < k.operands.size(); ++o) operands[o] = at[static_cast<size_t>(k.operands[o])];
        const Source& s = sources[static_cast<size_t>(k.result)];
        bool past_caches = s.streamed && count % 64 == 0;
        char* to = s.to && !past_caches ? s.to + b * s.cell : scratch + s.scratch;
        k.loop(operands, to, count);
        at[static_cast<size_t>(k.result)] = to;
        if (past_caches) stream(s.to + b * s.cell, to, count * s.cell);
      }
      if (row_) fold_rows(b, count, at, out);
    }
    if (streams) end_stream();
  });
}

}  // namespace holdfast
