#include "kubexx/apiserver/endpoints/field_causes.h"

#include "kubexx/base/utf8.h"

namespace kubexx::apiserver {

using apimachinery::StatusCause;

bool FieldCauses::full() const { return causes_.size() >= kMaxCauses || bytes_ >= kMaxBytes; }

void FieldCauses::Add(StatusCause cause) {
  if (full()) {
    ++more_;
    return;
  }
  for (std::string* const text : {&cause.field, &cause.message}) {
    if (const std::size_t room = kMaxBytes - bytes_; text->size() > room) {
      // The cut may go through a character.
      *text = base::ToValidUtf8(std::string_view(*text).substr(0, room)) + "...";
      bytes_ = kMaxBytes;
    } else {
      bytes_ += text->size();
    }
  }
  causes_.push_back(std::move(cause));
}

void FieldCauses::AddAll(std::vector<StatusCause> causes) {
  for (StatusCause& cause : causes) {
    Add(std::move(cause));
  }
}

void FieldCauses::Add(const char* reason, std::string message, std::string_view rest,
                      std::string field) {
  Add({.reason = reason, .message = message.append(rest), .field = std::move(field)});
}

std::vector<StatusCause> FieldCauses::Take() && {
  if (more_ > 0) {
    causes_.push_back({.reason = "FieldValueInvalid",
                       .message = "there are " + std::to_string(more_) + " more errors"});
  }
  return std::move(causes_);
}

}  // namespace kubexx::apiserver
