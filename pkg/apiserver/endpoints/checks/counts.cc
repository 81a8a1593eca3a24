#include "kubexx/apiserver/endpoints/checks/counts.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "kubexx/base/ascii.h"

namespace kubexx::apiserver {
namespace {

using codec::JsonTree;

constexpr int kAll = 100;

/// Returns the number before "%", or nothing when it is not a percentage.
std::optional<std::int64_t> PercentOf(const JsonTree* value) {
  const std::string* const text = value == nullptr ? nullptr : value->AsString();
  if (text == nullptr || text->size() < 2 || !text->ends_with('%')) {
    return std::nullopt;
  }
  const std::string_view digits = std::string_view(*text).substr(0, text->size() - 1);
  std::int64_t percent = 0;
  const bool all_digits = std::ranges::all_of(digits, base::IsDigit);
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), percent);
  if (!all_digits || error != std::errc()) {
    return std::nullopt;
  }
  return percent;
}

}  // namespace

void CheckAtLeast(const JsonTree& object, std::string_view member, std::int64_t least,
                  const std::string& path, FieldCauses& causes) {
  const JsonTree* const number = object.Find(member);
  if (const auto value = number == nullptr ? std::nullopt : number->AsInt();
      value && *value < least) {
    causes.Invalid(path + "." + std::string(member), std::to_string(*value),
                   "must be greater than or equal to " + std::to_string(least));
  }
}

void CheckNotNegative(const JsonTree& object, std::string_view member, const std::string& path,
                      FieldCauses& causes) {
  CheckAtLeast(object, member, 0, path, causes);
}

void CheckCountOrPercent(const JsonTree* value, const std::string& field, FieldCauses& causes) {
  if (value == nullptr || value->IsNull()) {
    return;
  }
  if (value->AsString() != nullptr) {
    if (!PercentOf(value)) {
      causes.Invalid(field, value->ToJson(), "a string has to be a percentage such as \"25%\"");
    }
  } else if (value->AsInt().value_or(0) < 0) {
    causes.Invalid(field, value->ToJson(), "must be greater than or equal to 0");
  }
}

void CheckNotAboveAll(const JsonTree* value, const std::string& field, FieldCauses& causes) {
  if (PercentOf(value).value_or(0) > kAll) {
    causes.Invalid(field, value->ToJson(), "must not be greater than 100%");
  }
}

bool IsNone(const JsonTree* value) {
  const std::string* const text = value == nullptr ? nullptr : value->AsString();
  if (text == nullptr || PercentOf(value)) {
    return value == nullptr ||
           (value->AsInt().value_or(0) == 0 && PercentOf(value).value_or(0) == 0);
  }
  int number = 0;
  const char* const end = text->data() + text->size();
  return std::from_chars(text->data(), end, number).ptr != end || number == 0;
}

}  // namespace kubexx::apiserver
