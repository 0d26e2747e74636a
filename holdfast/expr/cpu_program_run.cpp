// The block interpreter: every action over a block before the next block begins.
#include "holdfast/base/diagnostic.h"
#include "holdfast/base/parallel.h"
#include "holdfast/base/text.h"
#include "holdfast/expr/blocks.h"
#include "holdfast/expr/cpu/fold_table.h"
#include "holdfast/expr/cpu_program.h"
#include "holdfast/expr/jit/code.h"

namespace holdfast {
namespace {

constexpr int64_t kScratch = 64 << 10;  // bytes on the stack of each thread
constexpr int64_t kRowScratch =
    256 << 10;  // the same where rows are long: what is between stays in the second cache
constexpr int64_t kComfortable =
    24 << 10;                  // what leaves room for inputs and outputs in the first cache
constexpr int64_t kLine = 64;  // bytes that come from memory together
constexpr int64_t kFar =
    512 << 10;  // bytes of an operand that the second cache does not hold beside others
// What code takes at once of rows.
constexpr int64_t kManyElements = 16 << 10, kManyRows = 512;
constexpr int64_t kLeast = 64;  // elements a block: loops and streamed stores need whole lines

int64_t in_lines(int64_t bytes) { return (bytes + kLeast - 1) / kLeast * kLeast; }

// Elements a block, where each takes so many bytes of scratch memory; whole rows where there are
// some.
int64_t block_of(int64_t per_element, int64_t row) {
  int64_t block = std::clamp(kComfortable / std::max<int64_t>(per_element, 1), kLeast, kBlock) /
                  kLeast * kLeast;
  return row ? std::max<int64_t>(1, block / row) * row : block;
}

void fold_rows(const FoldLoops& f, const char* from, int64_t rows, int64_t row, int64_t cell,
               char* to) {
  constexpr int64_t kCells = 64;
  alignas(64) char cells[kCells * 16];
  for (int64_t r = 0; r < rows; r += kCells) {
    int64_t some = std::min(kCells, rows - r);
    f.rows(from + r * row * cell, some, row, row, cells);
    f.finish(cells, some, row, to + r * cell);
  }
}

}  // namespace

// How one value is found while a block is computed.
struct CpuProgram::Source {
  const char* data = nullptr;  // of an input that lies in order
  int reader = -1;             // of an input that repeats
  char* to = nullptr;          // where an output goes
  int64_t cell = 0, scratch = 0;
  bool per_row = false;
  bool once = false;  // the same in every block: read when the piece begins
  bool streamed = false;
  bool by_code = false;  // machine code reads or writes it where it lies
};

bool holds_rows(const Expr& e, int64_t row) {
  int64_t per_element = 0;  // as if no two values shared
  for (const Expr::Value& v : e.values())
    if (!v.aside && !v.per_row) per_element += size_of(v.dtype);
  return row * per_element + static_cast<int64_t>(e.values().size()) * kLeast <= kScratch;
}

bool CpuProgram::keeps_rows(int64_t row) const {
  InlineVector<Slot, 32> slots(slots_.begin(), slots_.end());
  for (const Value& v : values_)
    if (v.input >= 0) slots.push_back({size_of(v.dtype), v.per_row});  // as if all repeated
  int64_t per_element = 0, used = 0;
  for (const Slot& s : slots)
    if (!s.per_row) per_element += s.cell;
  int64_t block = whole_ ? row : block_of(per_element, row);
  for (const Slot& s : slots) used += in_lines(s.cell * (s.per_row ? block / row : block));
  return used <= kRowScratch;
}

/// One call: where everything is, worked out before the first block.
class CpuProgram::Run {
 public:
  Run(const CpuProgram& p, std::span<const Tensor> in, std::span<const Tensor> out,
      const Shape& shape, MadeInput made)
      : p_(p),
        made_(made),
        n_(shape.size()),
        row_(p.row_),
        sources_(p.values_.size()),
        slots_(p.slots_.begin(), p.slots_.end()) {
    for (size_t i = 0; i < sources_.size(); ++i) {
      const Value& v = p.values_[i];
      if (made_.by && v.input == made_.input)
        find_made(v, static_cast<int>(i));
      else
        find(v, in, shape, sources_[i]);
    }
    for (size_t k = 0; k < p.stores_.size(); ++k) {
      Source& s = sources_[static_cast<size_t>(p.stores_[k])];
      s.to = static_cast<char*>(out[k].mutable_raw());
      s.streamed = !s.per_row && n_ * s.cell >= stream_from() &&
                   reinterpret_cast<uintptr_t>(s.to) % (s.by_code ? kLine : 16) == 0;
      // What is read again is not sent away, and the rest of a piece goes with it.
      if (s.by_code && (row_ || p.values_[static_cast<size_t>(p.stores_[k])].last >= 0))
        s.streamed = false;
      streams_ = streams_ || s.streamed;
    }
    for (size_t k = 0; k < p.pieces_.size(); ++k) streaming_.push_back(streaming(p.pieces_[k]));
    lay_out();
    for (size_t i = 0; i < sources_.size(); ++i)
      if (sources_[i].to || (sources_[i].data && !sources_[i].once)) move(static_cast<int>(i));
  }

  void all() {
    // Code takes a fraction of the loops' time, and starting threads takes what it takes.
    int64_t instructions = static_cast<int64_t>(p_.code_);
    int64_t grain =
        p_.has_code() ? kGrain / std::max<int64_t>(instructions / 8, 1) : kGrain / instructions * 2;
    // Whole blocks, which begin on a boundary; whole rows where code takes any number of them.
    int64_t unit = p_.whole_ ? row_ : block_;
    grain = std::max(8 * unit, grain);
    grain = (grain + unit - 1) / unit * unit;
    if (used_ > kRowScratch) bug(cat("an expression wants ", used_, " bytes of scratch memory"));
    bool few = used_ <= kScratch;
    parallel_for(n_, grain, [&](int64_t begin, int64_t end) {
      few ? piece_in<kScratch>(begin, end) : piece_in<kRowScratch>(begin, end);
    });
  }

 private:
  void find(const Value& v, std::span<const Tensor> in, const Shape& shape, Source& s) {
    s.cell = size_of(v.dtype);
    s.per_row = v.per_row;
    s.scratch = v.slot;
    s.by_code = v.by_code;
    if (v.input < 0 && !v.number.defined()) return;
    const Tensor& t = v.number.defined() ? v.number : in[static_cast<size_t>(v.input)];
    s.data = static_cast<const char*>(t.raw());
    s.once = v.number.defined() && v.by_code;
    if (s.once) return;
    bool dense = v.per_row ? t.size() != 1 : t.shape() == shape && !v.number.defined();
    if (dense) return;
    s.once = t.size() == 1 || repeats_each_row(t, shape);
    s.reader = static_cast<int>(readers_.size());
    readers_.push_back(Reader(t, shape));
    if (s.scratch >= 0) return;
    s.scratch = static_cast<int64_t>(slots_.size());
    slots_.push_back({s.cell, v.per_row, p_.whole_ && s.once && !v.per_row});
  }

  void find_made(const Value& v, int i) {
    Source& s = sources_[static_cast<size_t>(i)];
    s.cell = size_of(v.dtype);
    s.by_code = v.by_code;
    s.scratch = static_cast<int64_t>(slots_.size());
    slots_.push_back({s.cell, false});
    making_.push_back(i);
  }

  // The code of a piece that writes past the caches: all that it writes goes there, or nothing.
  Ref<jit::Code> streaming(const Piece& piece) {
    bool all = !piece.out.empty();
    for (int o : piece.out) {
      const Source& s = sources_[static_cast<size_t>(o)];
      all = all && s.streamed && s.by_code;
    }
    Ref<jit::Code> code = all ? jit::code_for(piece.function, true) : Ref<jit::Code>();
    if (!code)
      for (int o : piece.out) sources_[static_cast<size_t>(o)].streamed = false;
    return code;
  }

  // Whether an operand is the same in every row.
  bool repeats_each_row(const Tensor& t, const Shape& shape) const {
    if (!row_) return false;
    int64_t inside = 1;
    for (int i = 1; i <= t.rank(); ++i) {
      if (inside >= row_ && t.dim(-i) != 1) return false;
      inside *= shape[-i];
    }
    return true;
  }

  static void spread(const Source& s, char* to, int64_t n) {
    const void* one = s.data;
    row_table().spreads[s.cell](&one, to, 1, n);
  }

  void move(int i) {
    const Source& s = sources_[static_cast<size_t>(i)];
    moving_.push_back(i);
    bool far = row_ && !s.per_row && !s.streamed && s.reader < 0 && n_ * s.cell >= kFar;
    if (far && p_.actions_.size() > 1) far_.push_back(i);
  }

  // Memory brings the next block while loops work on this one: before each of them but the first,
  // which waits for its own, a share of it is asked for. Always inline: GCC takes a function that
  // only asks for one without effect, and drops its calls.
  __attribute__((always_inline)) inline void ask_ahead(char* const* at, int64_t count,
                                                       size_t action, bool own) const {
    auto shares = static_cast<int64_t>(p_.actions_.size()) - 1,
         share = static_cast<int64_t>(action) - 1;
    for (int i : far_) {
      const Source& s = sources_[static_cast<size_t>(i)];
      int64_t bytes = count * s.cell, step = in_lines((bytes + shares - 1) / shares);
      const char *from = at[i] + bytes + share * step,
                 *to = at[i] + bytes + std::min(bytes, (share + 1) * step);
      if (s.to && !own) continue;  // another thread may be writing there
      if (s.to)
        for (; from < to; from += kLine) __builtin_prefetch(from, 1, 3);
      else
        for (; from < to; from += kLine) __builtin_prefetch(from, 0, 3);
    }
  }

  int64_t bytes_of(const Slot& s) const {
    return in_lines(s.cell * (s.one_row ? row_ : s.per_row ? block_ / row_ : block_));
  }
  int64_t scratch_bytes() const {
    int64_t out = 0;
    for (const Slot& s : slots_) out += bytes_of(s);
    return out;
  }

  void lay_out() {
    int64_t per_element = 0;
    for (const Slot& s : slots_)
      if (!s.per_row && !s.one_row) per_element += s.cell;
    block_ = block_of(per_element, row_);
    if (p_.whole_ && per_element == 0)
      block_ = std::clamp<int64_t>(kManyElements / row_, 1, kManyRows) * row_;
    while (p_.whole_ && block_ > row_ && scratch_bytes() > kScratch)
      block_ = block_ / row_ / 2 * row_;
    InlineVector<int64_t, 16> offsets;
    for (const Slot& s : slots_) {
      offsets.push_back(used_);
      used_ += bytes_of(s);
    }
    if (block_ % kLeast)
      for (Source& s : sources_) s.streamed = false;  // blocks would not begin on a boundary
    for (Source& s : sources_)
      s.scratch = s.scratch >= 0 ? offsets[static_cast<size_t>(s.scratch)] : -1;
  }

  // Bytes from a row to the next.
  int64_t step_of(const Source& s) const {
    bool stays = s.once && (p_.whole_ || s.by_code);
    bool scratch = p_.whole_ && !s.data && !s.to && !s.per_row;
    return stays || scratch ? 0 : s.per_row ? s.cell : row_ * s.cell;
  }

  // Apart from its callers: compilers touch every page of a large frame, and small calls would pay
  // for it.
  template <int64_t kBytes>
  __attribute__((noinline)) void piece_in(int64_t begin, int64_t end) const {
    alignas(64) char scratch[kBytes];
    piece(begin, end, scratch);
  }

  void piece(int64_t begin, int64_t end, char* scratch) const {
    InlineVector<char*, 32> at(sources_.size(), nullptr);
    int64_t most = std::min(block_, end - begin);
    for (size_t i = 0; i < sources_.size(); ++i) {
      const Source& s = sources_[i];
      if (s.scratch >= 0) at[i] = scratch + s.scratch;
      if (!s.once) continue;
      if (s.by_code || (p_.whole_ && s.per_row)) {
        at[i] = const_cast<char*>(s.data);
        continue;
      }
      const Reader& r = readers_[static_cast<size_t>(s.reader)];
      int64_t some = p_.whole_ ? row_ : most;
      if (r.constant)
        spread(s, at[i], s.per_row ? most / row_ : some);
      else
        at[i] = const_cast<char*>(static_cast<const char*>(r.block(0, some, at[i])));
    }
    for (int64_t b = begin; b < end; b += block_)
      block(b, std::min(block_, end - b), end, scratch, at.data());
    if (streams_) end_stream();
  }

  void block(int64_t b, int64_t count, int64_t end, char* scratch, char** at) const {
    int64_t first = row_ ? b / row_ : 0, rows = row_ ? count / row_ : 0;
    bool whole = count % kLeast == 0;
    for (int i : moving_) {
      const Source& s = sources_[static_cast<size_t>(i)];
      int64_t begin = (s.per_row ? first : b) * s.cell;
      if (s.to)
        at[i] = s.streamed && whole && !s.by_code ? scratch + s.scratch : s.to + begin;
      else if (s.reader < 0)
        at[i] = const_cast<char*>(s.data) + begin;
      else
        at[i] = const_cast<char*>(static_cast<const char*>(
            readers_[static_cast<size_t>(s.reader)].block(b, count, scratch + s.scratch)));
    }
    for (int i : making_) made_.by->make(b, count, at[i]);
    bool more = !far_.empty() && b + 2 * count <= n_, own = b + 2 * count <= end;
    for (size_t k = 0; k < p_.actions_.size(); ++k) {
      const Action& a = p_.actions_[k];
      if (more && k > 0) ask_ahead(at, count, k, own);
      int64_t n = a.per_row ? rows : count;
      const void* in[kMostOperands] = {at[a.in[0]], at[a.in[1]], at[a.in[2]]};
      char* to = at[a.result];
      switch (a.kind) {
        case Action::kLoop: a.loop(in, to, n); break;
        case Action::kRowLoop: a.rows(in, to, rows, row_); break;
        case Action::kFold:
          fold_rows(*a.fold, at[a.in[0]], rows, row_, sources_[static_cast<size_t>(a.result)].cell,
                    to);
          break;
        case Action::kCopy:
          std::memmove(to, in[0],
                       static_cast<size_t>(n * sources_[static_cast<size_t>(a.result)].cell));
          break;
        case Action::kCode: run_code(static_cast<size_t>(a.piece), at, n, rows, whole); continue;
      }
      if (!streams_ || !whole) continue;
      const Source& s = sources_[static_cast<size_t>(a.result)];
      if (s.streamed) stream(s.to + b * s.cell, to, n * s.cell);
    }
  }

  void run_code(size_t k, char* const* at, int64_t n, int64_t rows, bool whole) const {
    const Piece& piece = p_.pieces_[k];
    InlineVector<char*, 32> arrays;
    InlineVector<int64_t, 32> steps;
    for (const auto* values : {&piece.in, &piece.out})
      for (int i : *values) {
        arrays.push_back(at[i]);
        if (piece.by_rows) steps.push_back(step_of(sources_[static_cast<size_t>(i)]));
      }
    const jit::Code& code = streaming_[k] && whole ? *streaming_[k] : *piece.code;
    if (piece.by_rows)
      code.entry()(arrays.data(), row_, rows, steps.data());
    else
      code.entry()(arrays.data(), n, 1, nullptr);
  }

  const CpuProgram& p_;
  MadeInput made_;
  int64_t n_, row_, block_ = 0, used_ = 0;
  InlineVector<Source, 32> sources_;
  InlineVector<Reader, 8> readers_;
  InlineVector<Slot, 16> slots_;
  InlineVector<int, 32> moving_;  // inputs and outputs, which lie elsewhere for each block
  InlineVector<int, 8> far_;      // those that come from memory
  InlineVector<int, 1> making_;   // the input that is made
  InlineVector<Ref<jit::Code>, 4> streaming_;  // of each piece, where it is
  bool streams_ = false;
};

void CpuProgram::run(std::span<const Tensor> in, std::span<const Tensor> out, const Shape& shape,
                     MadeInput made) const {
  if (shape.size() == 0) return;
  const CpuProgram* code = has_code() ? this : emitted(shape.size());
  if (!code || !code->collides(in, out))
    return Run(code ? *code : *this, in, out, shape, made).all();
  Run(has_code() ? cpu_program(list_) : *this, in, out, shape, made).all();
}

}  // namespace holdfast
