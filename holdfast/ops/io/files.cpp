// Files, whole: read, written, found by patterns.
#include <algorithm>

#include "holdfast/io/atomic_file.h"
#include "holdfast/io/byte_source.h"
#include "holdfast/io/matching.h"
#include "holdfast/op/op.h"
#include "holdfast/ops/io.h"

namespace holdfast {
namespace {

void infer_scalar(Infer& s) {
  s.need_rank(0, 0, 0);
  s.output(string, Shape{});
}

Status run_read(Call& c) {
  auto file = io::ByteSource::of_file(*c.in().raw<std::string>());
  *c.out().mutable_raw<std::string>() = file.read(0, file.size());
  return {};
}

void infer_write(Infer& s) {
  s.need_rank(0, 0, 0);
  s.need_rank(1, 0, 0);
}

Status run_write(Call& c) {
  const auto& path = *c.in(0).raw<std::string>();
  const auto& contents = *c.in(1).raw<std::string>();
  io::make_folders_for(path);
  io::AtomicFile file(path);
  file.write(contents.data(), contents.size());
  file.commit();
  return {};
}

void infer_matching(Infer& s) {
  s.need_rank(0, 0, 1);
  s.output(string, Shape{kUnknown});
}

Status run_matching(Call& c) {
  const Tensor& patterns = c.in();
  std::vector<std::string> found =
      io::matching({patterns.raw<std::string>(), static_cast<size_t>(patterns.size())});
  Tensor& out = c.out(0, Shape{static_cast<int64_t>(found.size())});
  std::move(found.begin(), found.end(), out.mutable_raw<std::string>());
  return {};
}

// What a file holds may be another thing at each call: none of these is computed beforehand.
const Op read_op = OP(ReadFile, &io::read_file)
                       .args("filename")
                       .python("io.read_file")
                       .doc("What a file holds, as a text.")
                       .dtypes(kStrings)
                       .infer(infer_scalar)
                       .kernel("reference", run_read)
                       .on_host()
                       .stateful()
                       .no_gradient();
const Op write_op = OP(WriteFile, &io::write_file)
                        .args("filename, contents")
                        .python("io.write_file")
                        .doc("Makes a file of a text, with the folders that lead to it.")
                        .dtypes(kStrings)
                        .outputs("")
                        .infer(infer_write)
                        .kernel("reference", run_write)
                        .on_host()
                        .stateful()
                        .no_gradient();
const Op matching_op = OP(MatchingFiles, &io::matching_files)
                           .args("pattern")
                           .python("io.matching_files")
                           .doc("The names of files that patterns stand for, sorted.")
                           .dtypes(kStrings)
                           .infer(infer_matching)
                           .kernel("reference", run_matching)
                           .on_host()
                           .stateful()
                           .no_gradient();

}  // namespace

Tensor io::read_file(const In& filename) { return read_op(filename); }
void io::write_file(const In& filename, const In& contents) { write_op.many({filename, contents}); }
Tensor io::matching_files(const In& pattern) { return matching_op(pattern); }

}  // namespace holdfast
