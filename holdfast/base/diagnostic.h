// What we say when a program cannot go on. A Diagnostic is data; text and JSON are renderings.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "holdfast/base/api.h"
#include "holdfast/base/refcount.h"
#include "holdfast/base/where.h"

namespace holdfast {

/// Every code we can raise, in `base/codes.def`.
enum class Code : uint16_t {
#define HOLDFAST_CODE(id, number, severity, status, bases, headline) id,
#include "holdfast/base/codes.def"
#undef HOLDFAST_CODE
};

enum class Severity : uint8_t { kError, kWarning, kBug };
enum class Applicability : uint8_t { kTested, kMaybe, kManual };
enum class Role : uint8_t {
  kBorn,
  kStored,
  kClosed,
  kUsed,
  kFirstUse,
  kFreed,
  kRebound,
  kCut,
  kPlaced
};

struct ScopeInfo {
  std::string kind = "eager";
  std::string name;
  Loc defined;
  int trace_no = 0;
  std::string state = "open";
  Loc closed_at;
};

struct TensorInfo {
  std::string name;  // what the user typed for it, if known
  std::string op, dtype, shape, device;
  Loc born;
  ScopeInfo owner;
  std::string holder_path;
};

struct Label {
  Role role = Role::kUsed;
  Loc loc;
  std::string text;
  bool primary = false;
  std::string value = {};  // of a birth: what the value is called in the text
  std::string op = {};     // what it is from; told behind the text
  std::string place = {};  // where its line runs, such as `kEagerCode`; told last
};
/// Of a line that runs as the program does: nothing is being traced.
inline constexpr const char* kEagerCode = "in eager code";
/// All that a label says.
HOLDFAST_API std::string text_of(const Label&);

/// One change to one line. Lines count from 1, columns from 0 in bytes, as in Loc. `new_text`
/// stands in for `old_text`; with an empty `old_text` it goes before the whole line.
struct Edit {
  std::string file;
  int line = 0, col = 0;
  std::string old_text, new_text;
};

struct Fix {
  std::string title;
  Applicability applicability = Applicability::kManual;
  std::vector<Edit> edits;
  std::string argument = {};  // which the call that was refused is to be given
};

// Out of line: what makes and destroys one is large, and stands in every file that refuses
// anything.
struct HOLDFAST_API Diagnostic {
  Diagnostic();
  Diagnostic(const Diagnostic&);
  Diagnostic(Diagnostic&&) noexcept;
  Diagnostic& operator=(const Diagnostic&);
  Diagnostic& operator=(Diagnostic&&) noexcept;
  ~Diagnostic();

  Code code{};
  Severity severity = Severity::kError;
  std::string headline;  // whole, `speaker` and all
  std::string speaker;   // whose words they are: of "Conv2D: ..." what stands before the colon
  std::string op;        // the op, layer or function that refused
  TensorInfo subject;
  std::vector<TensorInfo> others;
  std::vector<Label> labels;
  std::vector<TensorInfo> path;
  std::string why;
  std::vector<Fix> fixes;
  int hidden_frames = 0;
  std::string thread;
};

/// What `base/codes.def` says of a code.
struct CodeInfo {
  const char* name;  // "E1101"
  Severity severity;
  const char* status;    // canonical status, also the class under tf.errors, or "" for none
  const char* bases;     // Python classes, comma-separated, most specific first
  const char* headline;  // one line for the index
};
HOLDFAST_API const CodeInfo& info(Code);
HOLDFAST_API const std::vector<CodeInfo>& all_codes();

/// The text, laid out as in docs/diagnostics.md: at most 25 lines, the first one complete alone.
HOLDFAST_API std::string render(const Diagnostic&);
/// One line of JSON, schema 1.
HOLDFAST_API std::string to_json(const Diagnostic&);

/// Every error of ours.
class HOLDFAST_API Error : public std::runtime_error {
 public:
  explicit Error(Diagnostic d);
  Error(const Error&) noexcept;
  Error& operator=(const Error&) noexcept;
  ~Error() override;
  const Diagnostic& diagnostic() const { return said_->diagnostic; }
  Diagnostic& diagnostic() { return said_->diagnostic; }
  Code code() const { return said_->diagnostic.code; }
  const char* what() const noexcept override;
  /// Says which op, layer or function refused, unless the diagnostic says so already.
  void name_op(const std::string& op);
  /// Renders again after the diagnostic was added to; pointers from what() end here.
  void refresh() { said_->text.clear(); }

 private:
  // What copies share.
  struct Said final : RefCounted {
    explicit Said(Diagnostic d) : diagnostic(std::move(d)) {}
    Diagnostic diagnostic;
    std::string text;  // rendered when first asked for
  };
  Ref<Said> said_;
};

/// One class per canonical status, so that C++ code can catch what it means.
#define HOLDFAST_STATUS(Name)              \
  class HOLDFAST_API Name : public Error { \
   public:                                 \
    using Error::Error;                    \
  };
HOLDFAST_STATUS(InvalidArgumentError)
HOLDFAST_STATUS(ResourceExhaustedError)
HOLDFAST_STATUS(DataLossError)
HOLDFAST_STATUS(OutOfRangeError)
HOLDFAST_STATUS(UnimplementedError)
HOLDFAST_STATUS(FailedPreconditionError)
HOLDFAST_STATUS(NotFoundError)
HOLDFAST_STATUS(CancelledError)
HOLDFAST_STATUS(InternalError)
#undef HOLDFAST_STATUS

/// Appends `d` as one line to the file that HOLDFAST_DIAG_JSON names, if it does. Never throws.
HOLDFAST_API void log_json(const Diagnostic&) noexcept;
/// Whether HOLDFAST_DIAG holds `word`: "full" shows everything, "error" raises warnings.
HOLDFAST_API bool diag_mode(const char* word) noexcept;

/// Lets `who` say the headline, in place of whoever says it; nobody does where it is empty.
HOLDFAST_API void speak_as(Diagnostic&, const std::string& who);

/// Throws `d` as the class its code names. A headline that begins with one word and a colon has
/// that for its speaker, if none is named.
[[noreturn]] HOLDFAST_API void raise(Diagnostic d);
/// Throws `code` with a headline and a why, used at the current site.
[[noreturn]] HOLDFAST_API void fail(Code code, std::string headline, std::string why = {});
[[noreturn]] HOLDFAST_API void fail(Code code, std::string headline, std::string why,
                                    std::vector<Fix> fixes);
/// A broken invariant of our own.
[[noreturn]] HOLDFAST_API void bug(std::string what);

/// Hands a warning to the sink: stderr, once per code and site; HOLDFAST_DIAG=error raises it.
HOLDFAST_API void warn(Diagnostic d);
/// Replaces where warnings' text goes (Python's stderr); null restores the C++ stderr.
HOLDFAST_API void set_warning_sink(void (*sink)(const Diagnostic&, const std::string& text));

/// The label "used here" for the line of the user that is executing, in eager code.
HOLDFAST_API Label used_here();
/// The same in other words, wherever the line runs.
HOLDFAST_API Label used_here(std::string text);
/// A fix in words only.
HOLDFAST_API Fix manual_fix(std::string title);

}  // namespace holdfast
