// What a message looks like, word for word: these texts are the layout's specification.
#include "holdfast/base/diagnostic.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <set>

#include "holdfast/base/diagnostic_log.h"

namespace holdfast {
namespace {

Loc at(std::string file, int line, std::string source, std::string part = "") {
  Loc loc;
  loc.file = std::move(file);
  loc.line = line;
  loc.source = std::move(source);
  if (size_t begin = loc.source.find(part); !part.empty() && begin != std::string::npos) {
    loc.col_begin = static_cast<int>(begin);
    loc.col_end = static_cast<int>(begin + part.size());
  }
  return loc;
}

Diagnostic plain(std::vector<Label> labels = {}) {
  Diagnostic d;
  d.code = Code::E1101;
  d.headline = "`add` got float32 and int32";
  d.labels = std::move(labels);
  d.why = "no conversion is made between dtypes.";
  return d;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> out(1);
  for (char c : text) {
    if (c == '\n')
      out.emplace_back();
    else
      out.back() += c;
  }
  return out;
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// Sets an environment variable for one test.
class Environment {
 public:
  Environment(const char* name, const std::string& value) : name_(name) {
    setenv(name, value.c_str(), 1);
  }
  ~Environment() { unsetenv(name_); }

 private:
  const char* name_;
};

TEST(Render, ShowsEveryPartInItsPlace) {
  std::string store = "        self.h = self.dense(x)";
  Diagnostic d;
  d.code = Code::E1101;
  d.headline = "`net.h` belongs to the finished graph `train_step`; it has no value here";
  d.labels = {
      {Role::kUsed, at("train.py", 15, "print(tf.reduce_mean(net.h))", "tf.reduce_mean(net.h)"),
       "used here, in eager code", true},
      {Role::kBorn, at("train.py", 9, store, "self.dense(x)"),
       "born here: float32[?,2] from Dense, in Net.call", false},
      {Role::kStored, at("train.py", 9, store, "self.h"),
       "stored here, still held by `__main__.net.h`", false},
      {Role::kClosed, at("train.py", 14, "net.fit(xs, ys)"),
       "traced here (trace 1); the graph closed when this call returned", false},
  };
  d.why =
      "during tracing `self.h` held a recipe, not a number, and `train_step` never returned it.";
  d.fixes = {{"let the graph hand it out; each call refreshes it",
              Applicability::kTested,
              {{"train.py", 9, 17, "self.dense(x)", "tf.keep(self.dense(x))"}}},
             manual_fix("or return it from `Net.call` next to the prediction")};
  d.hidden_frames = 23;
  EXPECT_EQ(
      render(d),
      R"(error[E1101]: `net.h` belongs to the finished graph `train_step`; it has no value here
  --> train.py:15
   |
 9 |         self.h = self.dense(x)
   |         ------   ------------- born here: float32[?,2] from Dense, in Net.call
   |         stored here, still held by `__main__.net.h`
14 | net.fit(xs, ys)
   | --------------- traced here (trace 1); the graph closed when this call returned
15 | print(tf.reduce_mean(net.h))
   |       ^^^^^^^^^^^^^^^^^^^^^ used here, in eager code
   |
 why: during tracing `self.h` held a recipe, not a number, and `train_step` never returned it.
 fix: let the graph hand it out; each call refreshes it                        [tested]
    |  9 -         self.h = self.dense(x)
    |  9 +         self.h = tf.keep(self.dense(x))
 fix: or return it from `Net.call` next to the prediction                      [manual]
 note: 23 framework frames hidden (HOLDFAST_DIAG=full shows them)
 docs: E1101  (offline: holdfast explain E1101))");
}

TEST(Render, GivesEachFileABlockAndThePrimaryOneComesFirst) {
  Diagnostic d = plain({
      {Role::kBorn, at("model.py", 7, "w = tf.ones(3)", "tf.ones(3)"), "born here", false},
      {Role::kUsed, at("train.py", 120, "y = w + n", "w + n"), "used here", true},
      {Role::kBorn, at("data.py", 2, "n = 1"), "born here too", false},
  });
  EXPECT_EQ(render(d), R"(error[E1101]: `add` got float32 and int32
   --> train.py:120
    |
120 | y = w + n
    |     ^^^^^ used here
    |
   --> model.py:7
    |
  7 | w = tf.ones(3)
    |     ---------- born here
    |
   --> data.py:2
    |
  2 | n = 1
    | ----- born here too
    |
 why: no conversion is made between dtypes.
 docs: E1101  (offline: holdfast explain E1101))");
}

TEST(Render, PutsOverlappingLabelsOfALineOnRowsOfTheirOwn) {
  std::string source = "total = f(a) + g(b)";
  std::string text = render(plain({
      {Role::kBorn, at("a.py", 3, source, "f(a)"), "float32", false},
      {Role::kBorn, at("a.py", 3, source, "g(b)"), "int32", false},
      {Role::kStored, at("a.py", 3, source, "total"), "kept as `total`", false},
      {Role::kUsed, at("a.py", 3, source, "f(a) + g(b)"), "added here", true},
  }));
  EXPECT_TRUE(has(text, R"(
3 | total = f(a) + g(b)
  | -----   ^^^^^^^^^^^ added here
  | kept as `total`
  |         ----   ---- int32
  |         float32
  |
)")) << text;
}

TEST(Render, HangsThreeTextsBelowOneRowOfMarkers) {
  std::string source = "aa bb cc";
  std::string text = render(plain({{Role::kBorn, at("a.py", 1, source, "aa"), "one", false},
                                   {Role::kBorn, at("a.py", 1, source, "bb"), "two", false},
                                   {Role::kUsed, at("a.py", 1, source, "cc"), "three", true}}));
  EXPECT_TRUE(has(text, "  | -- -- ^^ three\n  | |  two\n  | one\n")) << text;
}

TEST(Render, SaysARepeatedLabelOnce) {
  Label born{Role::kBorn, at("a.py", 1, "x = f()", "f()"), "born here", false};
  std::string text =
      render(plain({born, born, {Role::kUsed, at("a.py", 2, "x + y"), "used here", true}}));
  EXPECT_EQ(text.find("born here"), text.rfind("born here"));
}

TEST(Render, SaysTheLineWhereTheSourceIsMissing) {
  std::string text = render(plain({{Role::kUsed, at("<stdin>", 4, ""), "used here", true}}));
  EXPECT_TRUE(has(text, " --> <stdin>:4\n  |\n  | line 4: used here\n  |\n")) << text;
}

TEST(Render, NeedsNoLabelAtAll) {
  EXPECT_EQ(render(plain({{Role::kUsed, {}, "used here", true}})),
            "error[E1101]: `add` got float32 and int32\n"
            " why: no conversion is made between dtypes.\n"
            " docs: E1101  (offline: holdfast explain E1101)");
}

TEST(Render, UnderlinesTheStatementWhenColumnsAreUnknown) {
  std::string py =
      render(plain({{Role::kUsed, at("a.py", 1, "    y = x['#'] + 1  # why"), "here", true}}));
  EXPECT_TRUE(has(py, "  |     ^^^^^^^^^^^^^^ here\n")) << py;
  std::string cpp =
      render(plain({{Role::kUsed, at("a.cpp", 1, "  f(\"//\");  // x"), "here", true}}));
  EXPECT_TRUE(has(cpp, "  |   ^^^^^^^^ here\n")) << cpp;
}

TEST(Render, ExpandsTabsUnderTheMarkersToo) {
  std::string text =
      render(plain({{Role::kUsed, at("a.py", 1, "\tif x:\ty = a + b", "a + b"), "here", true}}));
  EXPECT_TRUE(has(text, "1 |     if x:   y = a + b\n  |                 ^^^^^ here\n")) << text;
}

TEST(Render, CountsColumnsNotBytes) {
  std::string wide =
      render(plain({{Role::kUsed, at("a.py", 1, "größe, 重み = α + β", "α + β"), "здесь", true}}));
  EXPECT_TRUE(has(wide, "1 | größe, 重み = α + β\n  |               ^^^^^ здесь\n")) << wide;
  std::string accent =
      render(plain({{Role::kUsed, at("a.py", 1, "e\xCC\x81 = x", "x"), "here", true}}));
  EXPECT_TRUE(has(accent, "  |     ^ here\n")) << accent;
}

TEST(Render, StaysOnItsLinesWhateverTheTextHolds) {
  Diagnostic d = plain({{Role::kUsed, at("a.py", 1, "x = '\xFF\x1B[2J'", "x"), "one\ntwo", true}});
  d.headline = "name `a\nb\x1B` \xC3";
  std::string text = render(d);
  EXPECT_EQ(lines_of(text)[0], "error[E1101]: name `a b\xEF\xBF\xBD` \xEF\xBF\xBD");
  EXPECT_TRUE(has(text, "^ one two\n")) << text;
  EXPECT_FALSE(has(text, "\x1B"));
}

TEST(Render, CutsALongSourceLineAroundTheLabel) {
  std::string left(150, 'a'), right(150, 'b');
  std::string text = render(
      plain({{Role::kUsed, at("a.py", 1, left + " + USED + " + right, "USED"), "here", true},
             {Role::kBorn, at("a.py", 1, left + " + USED + " + right, "a"), "far left", false}}));
  std::vector<std::string> lines = lines_of(text);
  EXPECT_TRUE(has(lines[3], "…aaa")) << text;
  EXPECT_TRUE(has(lines[3], " + USED + bbb")) << text;
  EXPECT_TRUE(lines[3].ends_with("bbb…")) << text;
  EXPECT_TRUE(has(lines[4], "  | -")) << text;
  // "…" is three bytes and one column.
  EXPECT_EQ(lines[3].find("USED") - 2, lines[4].find("^^^^ here")) << text;
  EXPECT_LE(lines[3].size() - 4, 100u);
}

TEST(Render, CutsTheHeadlineAtAWord) {
  Diagnostic d = plain();
  for (int words = 1; words < 60; ++words) {
    d.headline += words % 3 ? " wörter" : " `x y z`";
    std::string first = lines_of(render(d))[0];
    size_t points = 0, ticks = 0;
    for (char c : first) points += (c & 0xC0) != 0x80, ticks += c == '`';
    EXPECT_LE(points, 100u) << first;
    EXPECT_EQ(ticks % 2, 0u) << first;
    EXPECT_TRUE(first.ends_with("…") || !has(first, "…")) << first;
  }
  d.headline = std::string(300, 'x');
  EXPECT_EQ(lines_of(render(d))[0], "error[E1101]: " + std::string(85, 'x') + "…");
}

TEST(Render, BreaksLongSentencesBetweenWordsAndKeepsTheirIndent) {
  Diagnostic d = plain({{Role::kUsed, at("a.py", 7, std::string(70, ' ') + "x.use()", "x.use()"),
                         "used here, where nothing of what was said before holds any more", true}});
  std::string code = "`a call(with, many, arguments, that, stand, together)`";
  d.why =
      "these words go on for longer than " + code + " leaves room for, and so do the last ones.";
  d.fixes = {manual_fix("write " + code + " where the line above has words that are never cut")};
  std::string text = render(d);
  EXPECT_TRUE(has(text, "\n why: these words go on for longer than " + code +
                            "\n      leaves room for, and so do the last ones.\n"))
      << text;
  EXPECT_TRUE(has(text, "\n fix: write " + code + " where the line above\n" +
                            "      has words that are never cut"))
      << text;
  EXPECT_TRUE(has(text, "[manual]\n docs:")) << text;
  EXPECT_TRUE(has(text, "^^^^^^^\n  |")) << text;  // no room beside the marks
  for (const std::string& line : lines_of(text)) EXPECT_LE(line.size(), 100u) << line;
  d.why = "`" + std::string(200, 'x') + "` is one name";
  EXPECT_TRUE(has(render(d), "\n why: `" + std::string(200, 'x') + "`\n      is one name\n"))
      << render(d);
}

TEST(Render, HasAtMost25LinesAndKeepsTheBirthAndTheUse) {
  std::vector<Label> labels;
  for (int i = 1; i <= 40; ++i)
    labels.push_back({Role::kPlaced, at("a.py", i, "x = 1"), "placed", false});
  labels.push_back({Role::kBorn, at("a.py", 50, "x = born()"), "BORN", false});
  labels.push_back({Role::kUsed, at("a.py", 60, "x.use()"), "USED", true});
  Diagnostic d = plain(labels);
  d.fixes = {manual_fix("the first"), manual_fix("the second"), manual_fix("the third")};
  d.hidden_frames = 3;
  std::string text = render(d);
  EXPECT_LE(lines_of(text).size(), 25u);
  for (const char* kept : {"BORN", "USED", "why:", "the first", "3 framework frames", "docs:"})
    EXPECT_TRUE(has(text, kept)) << kept << "\n" << text;
  EXPECT_FALSE(has(text, "the second"));
  EXPECT_TRUE(has(text, " labels left out (HOLDFAST_DIAG=full shows all)")) << text;

  Environment full("HOLDFAST_DIAG", "full");
  EXPECT_GT(lines_of(render(d)).size(), 80u);
  EXPECT_TRUE(has(render(d), "the third"));
  EXPECT_FALSE(has(render(d), "hidden"));
}

TEST(Render, KeepsThePrimaryLabelWhenAFixIsHuge) {
  Diagnostic d = plain({{Role::kUsed, at("a.py", 1, "x.use()"), "USED", true}});
  std::string lines;
  for (int i = 0; i < 30; ++i) lines += "y\n";
  d.fixes = {{"add lines", Applicability::kMaybe, {{"a.py", 1, 0, "", lines}}}};
  std::string text = render(d);
  EXPECT_LE(lines_of(text).size(), 25u);
  EXPECT_TRUE(has(text, "USED"));
  EXPECT_TRUE(has(text, " fix: add lines")) << text;
}

TEST(Render, ShowsInsertedReplacedAndRemovedLines) {
  Diagnostic d = plain({{Role::kUsed, at("a.py", 12, "    y = f(x) + f(x)"), "used here", true}});
  d.fixes = {{"cast both",
              Applicability::kTested,
              {{"a.py", 12, 8, "f(x)", "c(f(x))"},
               {"a.py", 12, 15, "f(x)", "d(f(x))"},
               {"a.py", 12, 0, "", "    x = g(x)\n"}}}};
  std::string text = render(d);
  EXPECT_TRUE(has(text,
                  "[tested]\n"
                  "    | 12 +     x = g(x)\n"
                  "    | 12 -     y = f(x) + f(x)\n"
                  "    | 12 +     y = c(f(x)) + d(f(x))\n"))
      << text;
  d.fixes = {{"leave it out", Applicability::kMaybe, {{"a.py", 12, 0, "    y = f(x) + f(x)", ""}}}};
  EXPECT_TRUE(has(render(d), "[maybe]\n    | 12 -     y = f(x) + f(x)\n docs")) << render(d);
  d.fixes = {
      {"split it", Applicability::kMaybe, {{"a.py", 12, 4, "y = f(x)", "z = f(x)\n    y = z"}}}};
  EXPECT_TRUE(has(render(d), "    | 12 +     z = f(x)\n    | 12 +     y = z + f(x)\n"))
      << render(d);
}

TEST(Render, ReadsALineThatNoLabelHolds) {
  std::string path = testing::TempDir() + "holdfast_fix.py";
  std::ofstream(path) << "import a\nx = 1\n";
  Diagnostic d = plain({{Role::kUsed, at("a.py", 12, "y = x"), "used here", true}});
  d.fixes = {{"use a float", Applicability::kMaybe, {{path, 2, 4, "1", "1.0"}}}};
  std::string text = render(d);
  EXPECT_TRUE(has(text, "holdfast_fix.py\n    |  2 - x = 1\n    |  2 + x = 1.0\n")) << text;
  std::remove(path.c_str());
  EXPECT_TRUE(has(render(d), "    |  2 - 1\n    |  2 + 1.0\n")) << render(d);
}

TEST(Render, ShowsThePathOnOneRowOrARowPerStep) {
  Diagnostic d = plain();
  auto step = [](std::string name, std::string op, int line) {
    return TensorInfo{name, op, {}, {}, {}, at("app.py", line, ""), {}, {}};
  };
  d.path = {step("loss", "Mean", 9), step("", "MatMul", 7), step("x", "", 3)};
  EXPECT_TRUE(
      has(render(d), " path: `loss` (Mean, app.py:9) → MatMul, app.py:7 → `x` (app.py:3)\n"))
      << render(d);
  for (int i = 0; i < 20; ++i) d.path.push_back(step("long_name", "Relu", i));
  EXPECT_TRUE(has(render(d), "\n     → … 16 more …\n")) << render(d);
}

TEST(Json, HasTheSchemaAndEscapesEverything) {
  Diagnostic d = plain(
      {{Role::kUsed, at("train.py", 15, "print(tf.mean(h))", "tf.mean(h)"), "\"used\"\there", true},
       {Role::kBorn, at("b.py", 2, ""), "born", false}});
  d.headline = "a\\b\n\x01 \xFF ünï";
  d.op = "AddV2";
  d.subject = {"h", "Relu", "float32", "[?,3]", {}, {}, {}, {}};
  d.fixes = {{"cast", Applicability::kTested, {{"train.py", 9, 17, "x", "tf.cast(x)"}}}};
  d.hidden_frames = 2;
  std::string json = to_json(d);
  EXPECT_EQ(json.find('\n'), std::string::npos);
  EXPECT_TRUE(
      json.starts_with("{\"schema\": 1, \"code\": \"E1101\", \"level\": \"error\", "
                       "\"message\": \"a\\\\b\\n\\u0001 \xEF\xBF\xBD ünï\", \"op\": \"AddV2\""))
      << json;
  for (
      const char* part :
      {R"json({"file": "train.py", "line": 15, "col": [7, 16], "is_primary": true, )json"
       R"json("role": "used", "label": "\"used\"\there"})json",
       R"json({"file": "b.py", "line": 2, "col": null, "is_primary": false, )json",
       R"json("subject": {"py_name": "h", "op": "Relu", "dtype": "float32", "shape": "[?,3]", )json"
       R"json("device": null, "born": null)json",
       R"json("owner": {"kind": "eager", "name": null, "defined": null, "trace_no": 0, )json"
       R"json("state": "open", "closed_at": null})json",
       R"json("fixes": [{"title": "cast", "applicability": "tested", "edits": [{"file": )json"
       R"json("train.py", "line": 9, "col": 18, "old": "x", "new": "tf.cast(x)"}]}])json",
       R"json("children": [], "hidden_frames": 2, "thread": null, "docs": "E1101", )json"
       R"json("rendered": "error[E1101]: )json"})
    EXPECT_TRUE(has(json, part)) << part << "\n" << json;
}

TEST(Codes, AreUniqueAndTheirWordsFit) {
  std::set<std::string> names;
  for (const CodeInfo& c : all_codes()) {
    EXPECT_TRUE(names.insert(c.name).second) << c.name;
    EXPECT_EQ(c.name[0] == 'W', c.severity == Severity::kWarning) << c.name;
    EXPECT_LE(std::string(c.headline).size(), 85u) << c.name;
  }
  EXPECT_STREQ(info(Code::E1101).name, "E1101");
}

TEST(Raise, ThrowsTheClassOfTheCodesStatus) {
  site() = {};
  EXPECT_THROW(fail(Code::E1101, "x"), InvalidArgumentError);
  EXPECT_THROW(fail(Code::E0702, "x"), ResourceExhaustedError);
  EXPECT_THROW(fail(Code::E1105, "x"), UnimplementedError);
  EXPECT_THROW(fail(Code::E1501, "x"), CancelledError);
  EXPECT_THROW(fail(Code::E1302, "x"), DataLossError);
  EXPECT_THROW(bug("x"), InternalError);
  try {
    fail(Code::E1104, "no status", "because.");
  } catch (const InvalidArgumentError&) {
    ADD_FAILURE() << "E1104 has no status";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Code::E1104);
    EXPECT_STREQ(
        e.what(),
        "error[E1104]: no status\n why: because.\n docs: E1104  (offline: holdfast explain E1104)");
  }
}

TEST(Raise, ABugSaysSoAndAsksForTheJson) {
  try {
    bug("a node has no owner");
  } catch (const Error& e) {
    std::string text = e.what();
    EXPECT_EQ(lines_of(text)[0], "bug[E1599]: a node has no owner");
    EXPECT_TRUE(has(text, "your program is not at fault")) << text;
    EXPECT_TRUE(has(text, "HOLDFAST_DIAG_JSON=path")) << text;
  }
}

TEST(Raise, FailNamesTheLineThatIsExecuting) {
  mark_site(std::source_location::current());
  int line = __LINE__ - 1;
  try {
    fail(Code::E1102, "shapes differ");
  } catch (const Error& e) {
    std::string text = e.what();
    EXPECT_TRUE(has(text, "diagnostic_test.cpp:" + std::to_string(line) + "\n")) << text;
    EXPECT_TRUE(has(text, "used here, in eager code")) << text;
  }
  set_site(nullptr);
}

Diagnostic raised(std::string headline) {
  try {
    fail(Code::E1102, std::move(headline));
  } catch (const Error& e) {
    return e.diagnostic();
  }
  return {};
}

TEST(Speaker, IsTheWordBeforeTheColon) {
  EXPECT_EQ(raised("Conv2D: `strides` is 0").speaker, "Conv2D");
  EXPECT_EQ(raised("nn.conv2d: `strides` is 0").speaker, "nn.conv2d");
  EXPECT_EQ(raised("no gradient: the path is cut").speaker, "") << "a sentence, not a name";
  EXPECT_EQ(raised("`x`: index 3").speaker, "") << "a value of the program's";
  EXPECT_EQ(raised("the shapes differ").speaker, "");
}

TEST(Speaker, GivesTheWordToAnother) {
  Diagnostic d = raised("Conv2D: `strides` is 0");
  speak_as(d, "depthwise");
  EXPECT_EQ(d.headline, "depthwise: `strides` is 0");
  EXPECT_EQ(d.speaker, "depthwise");
  speak_as(d, "");
  EXPECT_EQ(d.headline, "`strides` is 0");
  speak_as(d, "Pool");
  EXPECT_EQ(d.headline, "Pool: `strides` is 0");
}

TEST(Speaker, IsTheOpOnlyWhereNobodySpeaks) {
  Error named(raised("nn.conv2d: `strides` is 0")), unnamed(raised("`strides` is 0"));
  named.name_op("Conv2D");
  unnamed.name_op("Conv2D");
  EXPECT_EQ(named.diagnostic().headline, "nn.conv2d: `strides` is 0");
  EXPECT_EQ(unnamed.diagnostic().headline, "Conv2D: `strides` is 0");
  EXPECT_EQ(named.diagnostic().op, "Conv2D");
}

TEST(LabelText, IsWhatItSaysAndWhatItKnows) {
  Label born{.role = Role::kBorn,
             .loc = {},
             .text = "`x` born here: float32[2]",
             .value = "x",
             .op = "Const"};
  EXPECT_EQ(text_of(born), "`x` born here: float32[2] from Const");
  Label used = used_here();
  EXPECT_EQ(text_of(used), "used here, in eager code");
  used.place = "in step";
  EXPECT_EQ(text_of(used), "used here, in step");
}

TEST(ErrorText, IsRenderedAgainAfterRefresh) {
  Error e(plain());
  EXPECT_TRUE(has(e.what(), "`add` got"));
  Error copy = e;
  e.diagnostic().headline = "`total` got";
  e.refresh();
  EXPECT_TRUE(has(e.what(), "`total` got"));
  EXPECT_TRUE(has(copy.what(), "`total` got")) << "copies are the same error";
}

std::vector<std::string> g_said;
void keep(const Diagnostic&, const std::string& text) { g_said.push_back(text); }

Diagnostic warning(Code code, int line) {
  Diagnostic d = plain({{Role::kUsed, at("warn.py", line, "y = a + b"), "copied here", true}});
  d.code = code;
  return d;
}

TEST(Warn, ComesOncePerCodeAndSite) {
  g_said.clear();
  set_warning_sink(keep);
  for (int i = 0; i < 3; ++i) {
    warn(warning(Code::W0701, 1));
    warn(warning(Code::W0701, 2));
    warn(warning(Code::W0703, 1));
  }
  set_warning_sink(nullptr);
  ASSERT_EQ(g_said.size(), 3u);
  EXPECT_TRUE(g_said[0].starts_with("warning[W0701]: "));
}

TEST(Warn, RaisesEveryTimeWhenAsked) {
  Environment error("HOLDFAST_DIAG", "full,error");
  for (int i = 0; i < 2; ++i) {
    try {
      warn(warning(Code::W0701, 77));
      ADD_FAILURE() << "nothing was raised";
    } catch (const Error& e) {
      EXPECT_TRUE(std::string(e.what()).starts_with("error[W0701]: "));
    }
  }
}

TEST(JsonLog, GetsALineForEachErrorAndWarning) {
  std::string path = testing::TempDir() + "holdfast_log.jsonl";
  std::remove(path.c_str());
  Environment log("HOLDFAST_DIAG_JSON", path);
  set_warning_sink(keep);
  EXPECT_THROW(fail(Code::E1101, "first"), Error);
  warn(warning(Code::W0701, 300));
  warn(warning(Code::W0701, 300));
  set_warning_sink(nullptr);
  std::ifstream in(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_TRUE(has(lines[0], "\"message\": \"first\""));
  EXPECT_TRUE(has(lines[1], "\"level\": \"warning\""));
  std::remove(path.c_str());
}

TEST(JsonLog, IsLeftToALanguageThatAddsToErrors) {
  std::string path = testing::TempDir() + "holdfast_log_later.jsonl";
  std::remove(path.c_str());
  Environment log("HOLDFAST_DIAG_JSON", path);
  set_log_at_raise(false);
  EXPECT_THROW(fail(Code::E1101, "unfinished"), Error);
  set_log_at_raise(true);
  EXPECT_FALSE(std::ifstream(path).good());
  EXPECT_THROW(fail(Code::E1101, "whole"), Error);
  EXPECT_TRUE(std::ifstream(path).good());
  std::remove(path.c_str());
}

TEST(JsonLog, ThatCannotBeWrittenChangesNothing) {
  Environment log("HOLDFAST_DIAG_JSON", "/nonexistent/folder/log");
  EXPECT_THROW(fail(Code::E1101, "first"), InvalidArgumentError);
}

}  // namespace
}  // namespace holdfast
