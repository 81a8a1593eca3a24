#include "kubexx/apiserver/schema/pattern.h"

#include <re2/re2.h>

#include <utility>

namespace kubexx::apiserver::schema {
namespace {

constexpr std::size_t kMaxBytes = 1 << 20;
constexpr std::size_t kBytesOfInstruction = 16;
constexpr std::size_t kMaxInstructions = 256 << 10;
/// The limit for the number of patterns, because each of them may need a megabyte to match.
constexpr std::size_t kMaxPatterns = 1024;

RE2::Options OptionsOf() {
  RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(kMaxBytes);
  return options;
}

}  // namespace

struct Pattern::Program {
  explicit Program(std::string_view text)
      : expression(re2::StringPiece(text.data(), text.size()), OptionsOf()) {}
  RE2 expression;
};

Pattern::Pattern(std::string_view text)
    : text_(text), program_(std::make_shared<const Program>(text)) {
  if (!program_->expression.ok()) {
    problem_ = program_->expression.error();
  }
}

std::size_t Pattern::size() const {
  if (problem_.empty()) {
    return static_cast<std::size_t>(program_->expression.ProgramSize());
  }
  const bool too_large = program_->expression.error_code() == RE2::ErrorPatternTooLarge;
  return too_large ? kMaxBytes / kBytesOfInstruction : 0;
}

bool Pattern::Matches(std::string_view value) const {
  return problem_.empty() &&
         RE2::PartialMatch(re2::StringPiece(value.data(), value.size()), program_->expression);
}

const Pattern* Patterns::Find(std::string_view text) {
  if (const auto found = compiled_.find(text); found != compiled_.end()) {
    return &found->second;
  }
  full_ = full_ || compiled_.size() == kMaxPatterns;
  if (full_) {
    return nullptr;
  }
  Pattern pattern(text);
  size_ += pattern.size();
  if (size_ > kMaxInstructions) {
    full_ = true;
    return nullptr;
  }
  return &compiled_.emplace(text, std::move(pattern)).first->second;
}

}  // namespace kubexx::apiserver::schema
