#include "kubexx/apiserver/endpoints/checks/field_causes.h"

#include <algorithm>
#include <set>

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
      // The text may be cut inside a character.
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

namespace {

/// The cause without the indexes of its field, in one text.
std::string WithoutIndexes(const StatusCause& cause) {
  std::string text;
  for (std::size_t i = 0; i < cause.field.size(); ++i) {
    text.push_back(cause.field[i]);
    if (cause.field[i] == '[') {
      i = std::min(cause.field.find_first_not_of("0123456789", i + 1), cause.field.size()) - 1;
    }
  }
  return text.append("\n").append(cause.message);
}

}  // namespace

std::vector<StatusCause> NewCauses(std::vector<StatusCause> now,
                                   std::span<const StatusCause> before) {
  std::set<std::string> known;
  for (const StatusCause& one : before) {
    known.insert(WithoutIndexes(one));
  }
  std::erase_if(now, [&](const StatusCause& one) { return known.contains(WithoutIndexes(one)); });
  return now;
}

std::vector<StatusCause> FieldCauses::Take() && {
  if (more_ > 0) {
    causes_.push_back({.reason = "FieldValueInvalid",
                       .message = "there are " + std::to_string(more_) + " more errors"});
  }
  return std::move(causes_);
}

}  // namespace kubexx::apiserver
