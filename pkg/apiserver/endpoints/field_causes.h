/// @file
/// The forms of causes that kube-apiserver's field errors have.
#ifndef KUBEXX_APISERVER_ENDPOINTS_FIELD_CAUSES_H_
#define KUBEXX_APISERVER_ENDPOINTS_FIELD_CAUSES_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kubexx/apimachinery/status.h"

namespace kubexx::apiserver {

/// Collects causes of an error 422.
class FieldCauses {
 public:
  /// `causes` must outlive it.
  explicit FieldCauses(std::vector<apimachinery::StatusCause>& causes) : causes_(causes) {}

  /// "Required value".
  void Required(std::string field, std::string_view why = {}) {
    Add("FieldValueRequired", "Required value" + std::string(why.empty() ? "" : ": "), why,
        std::move(field));
  }
  /// `value` is JSON.
  void Invalid(std::string field, const std::string& value, std::string_view why) {
    Add("FieldValueInvalid", "Invalid value: " + value + ": ", why, std::move(field));
  }
  /// `value` and `supported` are JSON, the latter a list without brackets.
  void NotSupported(std::string field, const std::string& value, std::string_view supported) {
    Add("FieldValueNotSupported", "Unsupported value: " + value + ": supported values: ", supported,
        std::move(field));
  }
  void Forbidden(std::string field, std::string_view why) {
    Add("FieldValueForbidden", "Forbidden: ", why, std::move(field));
  }
  /// `value` is JSON.
  void Duplicate(std::string field, const std::string& value) {
    Add("FieldValueDuplicate", "Duplicate value: ", value, std::move(field));
  }
  void TooLong(std::string field, std::size_t bytes) {
    Add("FieldValueTooLong", "Too long: may not be more than ", std::to_string(bytes) + " bytes",
        std::move(field));
  }

 private:
  void Add(const char* reason, std::string message, std::string_view rest, std::string field) {
    causes_.push_back(
        {.reason = reason, .message = message.append(rest), .field = std::move(field)});
  }

  std::vector<apimachinery::StatusCause>& causes_;
};

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_FIELD_CAUSES_H_
