// Whoever writes a file and is killed leaves the old one, or the new one.
#include <gtest/gtest.h>
#include <holdfast/holdfast.h>
#include <holdfast/io/hdf5.h>
#include <holdfast/io/tensor_bundle.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <random>

namespace holdfast {
namespace {

// Runs `write(1)`, `write(2)` ... in a process of its own, which is killed at some moment; 200
// times. `number()` reads what is there then.
template <class Write, class Number>
void killed_at_200_moments(Write write, Number number) {
  write(0);
  std::mt19937 random(11);
  int seen = 0, changed = 0;
  for (int i = 0; i < 200; ++i) {
    pid_t child = fork();
    if (child == 0) {
      for (int n = seen + 1;; ++n) write(n);
    }
    ASSERT_GT(child, 0);
    ::usleep(std::uniform_int_distribution<useconds_t>(0, 12000)(random));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    int now = number();
    EXPECT_GE(now, seen);
    changed += now > seen;
    seen = now;
  }
  EXPECT_GT(changed, 0);
}

struct Killed : testing::Test {
  Killed() {
    std::string pattern = testing::TempDir() + "holdfast_killed_XXXXXX";
    folder = mkdtemp(pattern.data());
  }
  ~Killed() override { std::filesystem::remove_all(folder); }
  std::string folder;
};

// Every element is `n`, so that half of a file would be seen.
Tensor all(int n, int64_t size) {
  std::vector<int> values(static_cast<size_t>(size), n);
  return Tensor::of<int>(values, {size});
}
int only(const Tensor& t) {
  std::vector<int> values = t.to_vector<int>();
  for (int v : values) EXPECT_EQ(v, values[0]);
  return values[0];
}

TEST_F(Killed, Hdf5) {
  std::string path = folder + "/w.h5";
  killed_at_200_moments(
      [&](int n) {
        io::H5Writer w;
        w.dataset("a/0", all(n, 30000));
        w.dataset("b/0", all(n, 3));
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
      [&](int n) { io::write_bundle(prefix, {{"a", all(n, 30000)}, {"b", all(n, 3)}}); },
      [&] {
        io::BundleReader r(prefix);
        int n = only(r.read("a"));
        EXPECT_EQ(only(r.read("b")), n);
        return n;
      });
}

}  // namespace
}  // namespace holdfast
