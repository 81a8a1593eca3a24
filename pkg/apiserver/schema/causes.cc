#include "kubexx/apiserver/schema/causes.h"

#include <utility>

namespace kubexx::apiserver::schema {
namespace {

using apimachinery::StatusCause;
using codec::JsonTree;

std::string WithColon(std::string_view text) {
  return text.empty() ? "" : ": " + std::string(text);
}

/// Returns the word in quotes, whatever its type is.
std::string Quoted(const JsonTree& value) {
  const std::string* const text = value.AsString();
  return text != nullptr ? value.ToJson() : JsonTree(value.ToJson()).ToJson();
}

}  // namespace

StatusCause InvalidJsonCause(std::string field, std::string_view json, std::string_view what) {
  return {.reason = "FieldValueInvalid",
          .message = "Invalid value: " + std::string(json) + WithColon(what),
          .field = std::move(field)};
}

StatusCause InvalidCause(std::string field, const JsonTree& value, std::string_view what) {
  return InvalidJsonCause(std::move(field), value.ToJson(), what);
}

StatusCause TypeCause(std::string field, const JsonTree& value, std::string_view what) {
  StatusCause cause = InvalidCause(std::move(field), value, what);
  cause.reason = "FieldValueTypeInvalid";
  return cause;
}

StatusCause RequiredCause(std::string field, std::string_view what) {
  return {.reason = "FieldValueRequired",
          .message = "Required value" + WithColon(what),
          .field = std::move(field)};
}

StatusCause ForbiddenCause(std::string field, std::string_view what) {
  return {.reason = "FieldValueForbidden",
          .message = "Forbidden" + WithColon(what),
          .field = std::move(field)};
}

StatusCause DuplicateJsonCause(std::string field, std::string_view json) {
  return {.reason = "FieldValueDuplicate",
          .message = "Duplicate value: " + std::string(json),
          .field = std::move(field)};
}

StatusCause DuplicateCause(std::string field, const JsonTree& value) {
  return DuplicateJsonCause(std::move(field), value.ToJson());
}

StatusCause NotFoundJsonCause(std::string field, std::string_view json, std::string_view what) {
  return {.reason = "FieldValueNotFound",
          .message = "Not found: " + std::string(json) + WithColon(what),
          .field = std::move(field)};
}

StatusCause NotSupportedJsonCause(std::string field, std::string_view json,
                                  std::string_view supported) {
  return {.reason = "FieldValueNotSupported",
          .message = "Unsupported value: " + std::string(json) +
                     ": supported values: " + std::string(supported),
          .field = std::move(field)};
}

StatusCause NotSupportedCause(std::string field, const JsonTree& value,
                              const std::vector<JsonTree>& supported) {
  std::string list;
  for (const JsonTree& one : supported) {
    list += (list.empty() ? "" : ", ") + Quoted(one);
  }
  return NotSupportedJsonCause(std::move(field), value.ToJson(), list);
}

StatusCause TooLongCause(std::string field, std::int64_t max) {
  return {.reason = "FieldValueTooLong",
          .message = "Too long: may not be more than " + std::to_string(max) + " bytes",
          .field = std::move(field)};
}

StatusCause TooManyCause(std::string field, std::size_t count, std::int64_t max) {
  return {.reason = "FieldValueTooMany",
          .message = "Too many: " + std::to_string(count) + ": must have at most " +
                     std::to_string(max) + (max == 1 ? " item" : " items"),
          .field = std::move(field)};
}

}  // namespace kubexx::apiserver::schema
