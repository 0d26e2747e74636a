// Whoever writes a file and is killed leaves the old one, or the new one.
#include "tests/io/killed.h"

#include <holdfast/io/hdf5.h>
#include <holdfast/io/tensor_bundle.h>

namespace holdfast {
namespace {

TEST_F(Killed, Hdf5) {
  std::string path = folder + "/w.h5";
  killed_at_200_moments(
      [&](int n) {
        io::H5Writer w;
        w.dataset("a/0", filled(n, 30000));
        w.dataset("b/0", filled(n, 3));
        w.save(path);
      },
      [&] {
        io::H5Reader r(io::ByteSource::of_file(path));
        int n = only(r.read("a/0"));
        EXPECT_EQ(only(r.read("b/0")), n);
        return n;
      });
}

TEST_F(Killed, Checkpoint) {
  std::string prefix = folder + "/ckpt";
  killed_at_200_moments(
      [&](int n) { io::write_bundle(prefix, {{"a", filled(n, 30000)}, {"b", filled(n, 3)}}); },
      [&] {
        io::BundleReader r(prefix);
        int n = only(r.read("a"));
        EXPECT_EQ(only(r.read("b")), n);
        return n;
      });
}

}  // namespace
}  // namespace holdfast
