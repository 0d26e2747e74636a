#include "holdfast/base/diagnostic.h"

#include <mutex>
#include <string_view>

#include "holdfast/base/diagnostic_log.h"
#include "holdfast/base/text.h"

namespace holdfast {
namespace {

constexpr CodeInfo kCodes[] = {
#define HOLDFAST_CODE(id, number, severity, status, bases, headline) \
  {#id, Severity::severity, status, bases, headline},
#include "holdfast/base/codes.def"
#undef HOLDFAST_CODE
};

template <class E>
[[noreturn]] void throw_as(Diagnostic&& d) {
  throw E(std::move(d));
}

// The class that stands for each canonical status; a code with no status throws Error itself.
struct StatusClass {
  std::string_view status;
  void (*raise)(Diagnostic&&);
};
constexpr StatusClass kClasses[] = {
    {"InvalidArgumentError", throw_as<InvalidArgumentError>},
    {"ResourceExhaustedError", throw_as<ResourceExhaustedError>},
    {"DataLossError", throw_as<DataLossError>},
    {"OutOfRangeError", throw_as<OutOfRangeError>},
    {"UnimplementedError", throw_as<UnimplementedError>},
    {"FailedPreconditionError", throw_as<FailedPreconditionError>},
    {"NotFoundError", throw_as<NotFoundError>},
    {"CancelledError", throw_as<CancelledError>},
    {"InternalError", throw_as<InternalError>},
};

constexpr bool has_class(std::string_view status) {
  if (status.empty()) return true;
  for (const StatusClass& c : kClasses)
    if (c.status == status) return true;
  return false;
}
#define HOLDFAST_CODE(id, number, severity, status, bases, headline) \
  static_assert(has_class(status), #id " names a status that has no class");
#include "holdfast/base/codes.def"
#undef HOLDFAST_CODE

constexpr std::string_view kColon = ": ";

// The word that a headline begins with, where a colon follows; who speaks is said by one word.
std::string first_word(const std::string& headline) {
  size_t end = headline.find(kColon);
  if (end == headline.npos || headline.find_first_of(" `\"'") < end) return {};
  return headline.substr(0, end);
}

}  // namespace

Fix manual_fix(std::string title) { return {std::move(title), Applicability::kManual, {}}; }

const CodeInfo& info(Code code) {
  auto i = static_cast<size_t>(code);
  return i < std::size(kCodes) ? kCodes[i] : kCodes[static_cast<size_t>(Code::E1599)];
}

const std::vector<CodeInfo>& all_codes() {
  static const std::vector<CodeInfo> all(std::begin(kCodes), std::end(kCodes));
  return all;
}

Error::Error(Diagnostic d) : std::runtime_error(d.headline), said_(make_ref<Said>(std::move(d))) {}
Error::Error(const Error&) noexcept = default;
Error& Error::operator=(const Error&) noexcept = default;
Error::~Error() = default;

void Error::name_op(const std::string& op) {
  Diagnostic& d = said_->diagnostic;
  if (!d.op.empty()) return;
  d.op = op;
  // A value that is out of reach is the story, whichever op asked for it.
  bool lost = !d.subject.owner.name.empty();
  if (!lost && d.speaker.empty()) speak_as(d, op);
  refresh();
}

const char* Error::what() const noexcept {
  static std::mutex mutex;  // copies of one error share their text, also across threads
  try {
    std::lock_guard lock(mutex);
    if (said_->text.empty()) said_->text = render(said_->diagnostic);
    return said_->text.c_str();
  } catch (const std::exception&) {  // no memory to render in: the headline was stored at birth
    return std::runtime_error::what();
  }
}

std::string text_of(const Label& l) {
  return cat(l.text, l.op.empty() ? "" : " from ", l.op, l.place.empty() ? "" : ", ", l.place);
}

void speak_as(Diagnostic& d, const std::string& who) {
  if (!d.speaker.empty()) d.headline.erase(0, d.speaker.size() + kColon.size());
  d.speaker = who;
  if (!who.empty()) d.headline = cat(who, kColon, d.headline);
}

void raise(Diagnostic d) {
  if (d.speaker.empty()) d.speaker = first_word(d.headline);
  if (info(d.code).severity == Severity::kBug) d.severity = Severity::kBug;
  if (d.severity == Severity::kWarning) d.severity = Severity::kError;
  if (d.severity == Severity::kBug) {
    if (d.why.empty())
      d.why = "Holdfast broke a promise it makes to itself; your program is not at fault.";
    if (d.fixes.empty())
      d.fixes.push_back(
          manual_fix("report this with its JSON form (HOLDFAST_DIAG_JSON=path writes it)"));
  }
  if (log_at_raise()) log_json(d);
  auto* thrown = throw_as<Error>;
  for (const StatusClass& c : kClasses)
    if (c.status == info(d.code).status) thrown = c.raise;
  thrown(std::move(d));
  __builtin_unreachable();
}

Diagnostic::Diagnostic() = default;
Diagnostic::Diagnostic(const Diagnostic&) = default;
Diagnostic::Diagnostic(Diagnostic&&) noexcept = default;
Diagnostic& Diagnostic::operator=(const Diagnostic&) = default;
Diagnostic& Diagnostic::operator=(Diagnostic&&) noexcept = default;
Diagnostic::~Diagnostic() = default;

void fail(Code code, std::string headline, std::string why) {
  fail(code, std::move(headline), std::move(why), {});
}

void fail(Code code, std::string headline, std::string why, std::vector<Fix> fixes) {
  Diagnostic d;
  d.code = code;
  d.headline = std::move(headline);
  d.why = std::move(why);
  d.fixes = std::move(fixes);
  d.labels.push_back(used_here());
  raise(std::move(d));
}

void bug(std::string what) { fail(Code::E1599, std::move(what)); }

Label used_here(std::string text) { return {Role::kUsed, locate(here()), std::move(text), true}; }
Label used_here() {
  Label used = used_here("used here");
  used.place = kEagerCode;
  return used;
}

}  // namespace holdfast
