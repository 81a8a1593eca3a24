#include "kubexx/apiserver/schema/pattern.h"

#include <re2/re2.h>

namespace kubexx::apiserver::schema {
namespace {

RE2::Options OptionsOf() {
  RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(1 << 20);
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
  return problem_.empty() ? static_cast<std::size_t>(program_->expression.ProgramSize()) : 0;
}

bool Pattern::Matches(std::string_view value) const {
  return problem_.empty() &&
         RE2::PartialMatch(re2::StringPiece(value.data(), value.size()), program_->expression);
}

}  // namespace kubexx::apiserver::schema
