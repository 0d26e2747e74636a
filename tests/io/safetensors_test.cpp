// Files of named tensors: what comes back, what is refused, and what a refusal leaves alone.
#include <gtest/gtest.h>
#include <holdfast/holdfast.h>
#include <holdfast/io/safetensors.h>
#include <holdfast/tensor/complex.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace holdfast {
namespace {

namespace fs = std::filesystem;

// A folder of this test's own, gone with it.
struct Saving : testing::Test {
  Saving() {
    std::string pattern = testing::TempDir() + "holdfast_io_XXXXXX";
    folder = mkdtemp(pattern.data());
  }
  ~Saving() override { fs::remove_all(folder); }
  std::string path(const std::string& name) const { return folder + "/" + name; }
  std::string raw(const std::string& bytes) const {
    std::ofstream(path("raw"), std::ios::binary) << bytes;
    return path("raw");
  }
  // A file with this header and so many bytes of data.
  std::string file(const std::string& header, size_t data) const {
    uint64_t n = header.size();
    return raw(std::string(reinterpret_cast<const char*>(&n), 8) + header +
               std::string(data, '\1'));
  }
  std::string refusal(const std::string& of) const {
    try {
      load(of);
    } catch (const Error& e) {
      return e.diagnostic().headline + ": " + e.diagnostic().why;
    }
    return "nothing was refused";
  }
  size_t files() const {
    return static_cast<size_t>(
        std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
  }
  std::string folder;
};

#define EXPECT_SAYS(text, part) EXPECT_NE(std::string(text).find(part), std::string::npos) << (text)

TEST_F(Saving, TensorsComeBackAsTheyWere) {
  std::map<std::string, Tensor> out = {
      {"floats", constant({{1.f, -2.5f}, {3.f, 1e30f}})},
      {"doubles", constant({0.1, 0.2}, float64)},
      {"scalar", constant(7)},
      {"none", zeros({0, 3}, int64)},
      {"bools", constant({true, false, true})},
      {"halves", cast(constant({1.5f, -0.f}), float16)},
      {"bf", cast(constant({1.5f}), bfloat16)},
      {"bytes", cast(constant({250, 3}), uint8)},
      {"complex", constant(complex64(1, -2))},
      {"a \"quoted\"\n n\xc3\xa4me", constant({1, 2, 3})},
  };
  save(path("all"), out);
  ByName<Tensor> in = load(path("all"));
  ASSERT_EQ(in.size(), out.size());
  for (const auto& [name, t] : out) {
    ASSERT_EQ(in.count(name), 1u) << name;
    EXPECT_EQ(in[name].dtype(), t.dtype()) << name;
    EXPECT_EQ(in[name].shape(), t.shape()) << name;
    ASSERT_EQ(in[name].bytes(), t.bytes()) << name;
    auto bytes = [](const Tensor& x) {
      return std::string(static_cast<const char*>(x.raw()), static_cast<size_t>(x.bytes()));
    };
    EXPECT_EQ(bytes(in[name]), bytes(t)) << name;
  }
  EXPECT_EQ(files(), 1u) << "no temporary file stays";
}

TEST_F(Saving, NothingIsAFileToo) {
  save(path("empty"), std::map<std::string, Tensor>{});
  EXPECT_TRUE(load(path("empty")).empty());
}

TEST_F(Saving, ElementsLieWhereTheirSizeDividesTheOffset) {
  save(path("f"),
       {{"a", constant({true})}, {"b", constant({1., 2.}, float64)}, {"c", constant(1)}});
  uint64_t header = 0;
  std::ifstream(path("f"), std::ios::binary).read(reinterpret_cast<char*>(&header), 8);
  EXPECT_EQ(header % 8, 0u);
  for (const io::StoredTensor& t : io::safetensors_header(path("f")))
    EXPECT_EQ(t.begin % size_of(t.dtype), 0) << t.name;
}

TEST_F(Saving, FilesOfOthersAreRead) {
  auto in = load(file(R"({"__metadata__":{"format":"pt","class_name":"x"},
      "w" : {"shape":[2],"data_offsets":[4,8],"dtype":"U16"},
      "\u00e4\ud83d\ude00":{"dtype":"F32","shape":[],"data_offsets":[0,4]}}   )",
                      8));
  ASSERT_EQ(in.size(), 2u);
  EXPECT_EQ(in.at("w").to_vector<uint16_t>(), (std::vector<uint16_t>{257, 257}));
  EXPECT_EQ(in.count("\xc3\xa4\xf0\x9f\x98\x80"), 1u);
}

TEST_F(Saving, LengthsThatDoNotFitAreRefused) {
  EXPECT_SAYS(refusal(path("absent")), "No such file");
  EXPECT_SAYS(refusal(folder), "is not a file");
  EXPECT_SAYS(refusal(""), "empty");
  EXPECT_SAYS(refusal(std::string("a\0b", 3)), "zero byte");
  EXPECT_SAYS(refusal(raw("1234567")), "7 bytes");
  EXPECT_SAYS(refusal(raw(std::string(8, '\xff'))), "18446744073709551615 bytes");
  EXPECT_SAYS(refusal(raw(std::string("\x10\0\0\0\0\0\0\0{}", 10))), "cut short");
  mkfifo(path("pipe").c_str(), 0600);
  EXPECT_SAYS(refusal(path("pipe")), "is not a file");
}

TEST_F(Saving, OffsetsThatLieAreRefused) {
  auto one = [](const char* offsets, const char* shape = "[2]", const char* dtype = "F32") {
    return std::string(R"({"w":{"dtype":")") + dtype + R"(","shape":)" + shape +
           R"(,"data_offsets":)" + offsets + "}}";
  };
  EXPECT_EQ(load(file(one("[0,8]"), 8)).size(), 1u);
  EXPECT_SAYS(refusal(file(one("[0,8]"), 7)), "cut short");
  EXPECT_SAYS(refusal(file(one("[0,8]"), 9)), "9 are there");
  EXPECT_SAYS(refusal(file(one("[4,12]"), 12)), "begins at 4");
  EXPECT_SAYS(refusal(file(one("[8,0]"), 8)), "from 8 to 0");
  EXPECT_SAYS(refusal(file(one("[0,4]"), 4)), "takes 8 bytes");
  EXPECT_SAYS(refusal(file(one("[0]"), 8)), "two offsets");
  EXPECT_SAYS(refusal(file(one("[0,4,8]"), 8)), "at most 2 numbers");
  EXPECT_SAYS(refusal(file(one("[-8,0]"), 8)), "not negative");
  EXPECT_SAYS(refusal(file(one("[0,8.0]"), 8)), "expected `,` or `]`");
  EXPECT_SAYS(refusal(file(one("[0,99999999999999999999]"), 8)), "below 2^63");
  EXPECT_SAYS(refusal(file(one("[0,8]", "[4611686018427387904,4]"), 8)), "no memory holds");
  EXPECT_SAYS(refusal(file(one("[0,8]", "[4611686018427387904]"), 8)), "no memory holds");
  EXPECT_SAYS(refusal(file(one("[0,9223372036854775804]", "[2305843009213693951]"), 8)),
              "cut short");
  EXPECT_SAYS(refusal(file(one("[0,8]", "[-2]"), 8)), "not negative");
  EXPECT_SAYS(refusal(file(one("[0,8]", "[2]", "F4"), 8)), "`F4`");
  EXPECT_SAYS(refusal(file(one("[0,2]", "[2]", "BOOL"), 1)), "cut short");
  std::string many = "[1";
  for (int i = 0; i < 300; ++i) many += ",1";
  EXPECT_SAYS(refusal(file(one("[0,4]", (many + "]").c_str()), 4)), "at most 254 numbers");
}

TEST_F(Saving, OverlapsAndHolesAreRefused) {
  auto two = [](const char* first, const char* second) {
    return std::string(R"({"a":{"dtype":"I8","shape":[4],"data_offsets":)") + first +
           R"(},"b":{"dtype":"I8","shape":[4],"data_offsets":)" + second + "}}";
  };
  EXPECT_EQ(load(file(two("[4,8]", "[0,4]"), 8)).size(), 2u);
  EXPECT_SAYS(refusal(file(two("[0,4]", "[0,4]"), 4)), "inside the one before it");
  EXPECT_SAYS(refusal(file(two("[0,4]", "[2,6]"), 6)), "inside the one before it");
  EXPECT_SAYS(refusal(file(two("[0,4]", "[5,9]"), 9)), "nothing lies before it since 4");
}

TEST_F(Saving, HeadersThatAreNotOnesAreRefused) {
  std::string tensor = R"("w":{"dtype":"U8","shape":[1],"data_offsets":[0,1]})";
  EXPECT_SAYS(refusal(file("{" + tensor + "," + tensor + "}", 1)), "no second key `w`");
  EXPECT_SAYS(refusal(file(R"({"w":{"dtype":"U8","dtype":"U8"}})", 1)), "no second key `dtype`");
  EXPECT_SAYS(refusal(file(R"({"w":{"shape":[1],"data_offsets":[0,1]}})", 1)), "no `dtype`");
  EXPECT_SAYS(refusal(file(R"({"w":{"dtype":"U8","more":1}})", 1)), "`more`");
  EXPECT_SAYS(refusal(file(R"({"w":1})", 1)), "expected `{`");
  EXPECT_SAYS(refusal(file("[]", 0)), "expected `{`");
  EXPECT_SAYS(refusal(file("", 0)), "the text ends");
  EXPECT_SAYS(refusal(file("{} {}", 0)), "the end of the header");
  EXPECT_SAYS(refusal(file("{\"\xff\":1}", 0)), "not UTF-8");
  EXPECT_SAYS(refusal(file(R"({"__metadata__":{"a":{}}})", 0)), "a text in double quotes");
  for (char deep : {'{', '['})
    EXPECT_SAYS(refusal(file(std::string(1'000'000, deep), 0)), "expected");
  EXPECT_SAYS(refusal(file("{\"" + std::string(10'000, 'x') + "\":{}}", 0)), "xxx...");
}

TEST_F(Saving, ABoolIsZeroOrOne) {
  std::string good = file(R"({"w":{"dtype":"BOOL","shape":[2],"data_offsets":[0,2]}})", 2);
  EXPECT_EQ(load(good).at("w").to_vector<bool>(), (std::vector<bool>{true, true}));
  std::fstream(good, std::ios::in | std::ios::out | std::ios::binary).seekp(-1, std::ios::end)
      << '\7';
  EXPECT_SAYS(refusal(good), "the byte 7 as a bool");
}

TEST_F(Saving, ARefusalLeavesTheOldFile) {
  save(path("f"), {{"w", constant(1)}});
  EXPECT_THROW(save(path("f"), {{"w", constant("text")}}), Error);
  EXPECT_THROW(save(path("f"), {{"w", Tensor()}}), Error);
  EXPECT_THROW(save(path("f"), {{"__metadata__", constant(1)}}), Error);
  EXPECT_THROW(save(path("f"), {{"\xff", constant(1)}}), Error);
  EXPECT_THROW(save(path("f"), {{"w", constant(complex128(1, 1))}}), Error);
  EXPECT_EQ(load(path("f")).at("w").item<int>(), 1);
  EXPECT_EQ(files(), 1u);
}

TEST_F(Saving, WritesWhereAFileCanBeOnly) {
  Tensor t = constant(1);
  EXPECT_THROW(save(folder, {{"w", t}}), Error);
  EXPECT_THROW(save(path("no/such/folder"), {{"w", t}}), Error);
  EXPECT_THROW(save("/dev/null", {{"w", t}}), Error);
  EXPECT_THROW(save("", {{"w", t}}), Error);
  EXPECT_EQ(files(), 0u);
}

TEST_F(Saving, KeepsWhoMayReadTheFile) {
  save(path("f"), {{"w", constant(1)}});
  chmod(path("f").c_str(), 0640);
  save(path("f"), {{"w", constant(2)}});
  struct stat now{};
  stat(path("f").c_str(), &now);
  EXPECT_EQ(now.st_mode & 07777, 0640u);
  EXPECT_EQ(load(path("f")).at("w").item<int>(), 2);
}

TEST_F(Saving, ASymbolIsRefusedByItsName) {
  auto f = function([&](const Tensor& x) {
    save(path("f"), {{"w", x * 2.f}});
    return x;
  });
  EXPECT_THROW(f(constant(1.f)), Error);
  EXPECT_EQ(files(), 0u);
}

struct Dense : Module {
  Dense(int64_t in, int64_t out)
      : Module("dense"),
        w(variable("w", random::normal({in, out}))),
        b(variable("b", zeros({out}))) {}
  Tensor operator()(const Tensor& x) const { return matmul(x, w) + b; }
  Variable w, b;
};
struct Net : Module {
  explicit Net(int64_t units = 4) : Module("net"), hidden(units) {}
  int64_t hidden;
  Dense first = module(Dense(3, hidden)), second = module(Dense(hidden, 2));
  Tensor operator()(const Tensor& x) const { return second(first(x)); }
};

TEST_F(Saving, AModuleComesBackWithItsVariables) {
  Net saved, loaded;
  save(saved, path("net"));
  EXPECT_EQ(load(path("net")).size(), 4u) << "two layers of one name keep their own weights";
  load(loaded, path("net"));
  Tensor x = random::normal({5, 3});
  EXPECT_EQ(saved(x).to_vector<float>(), loaded(x).to_vector<float>());
}

TEST_F(Saving, AModuleThatDoesNotFitStaysAsItIs) {
  Net net(4);
  save(net, path("net"));
  Net wider(5);
  std::vector<std::vector<float>> before;
  for (const Variable& v : wider.variables()) before.push_back(v.read().to_vector<float>());
  auto says = [&](const Module& m, const char* part) {
    try {
      load(m, path("net"));
      FAIL() << "expected a refusal";
    } catch (const Error& e) {
      EXPECT_SAYS(e.diagnostic().headline, part);
    }
  };
  says(wider, "as float32[4], and the module's variable is float32[5]");
  says(net.first, "the module has no");
  auto stored = load(path("net"));
  std::string first = stored.begin()->first;
  stored[first] = cast(stored[first], float64);
  save(path("net"), stored);
  says(net, "float64");
  stored.erase(first);
  save(path("net"), stored);
  says(net, ("it has no `" + first).c_str());
  size_t i = 0;
  for (const Variable& v : wider.variables()) EXPECT_EQ(v.read().to_vector<float>(), before[i++]);
}

}  // namespace
}  // namespace holdfast
