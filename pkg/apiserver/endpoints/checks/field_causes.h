/// @file
/// The causes of an error 422, in the form of kube-apiserver's field errors.
#ifndef KUBEXX_APISERVER_ENDPOINTS_CHECKS_FIELD_CAUSES_H_
#define KUBEXX_APISERVER_ENDPOINTS_CHECKS_FIELD_CAUSES_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kubexx/apimachinery/status.h"
#include "kubexx/apiserver/schema/causes.h"

namespace kubexx::apiserver {

/// Collects causes in the wording of schema/causes.h. Because a request of 3 MiB may have millions
/// of faults, and each cause names a path and a value, there are limits; causes beyond them are
/// only counted. Not thread-safe.
class FieldCauses {
 public:
  static constexpr std::size_t kMaxCauses = 1'000;
  /// The maximum size of all fields and messages together. The text of the last cause is cut.
  static constexpr std::size_t kMaxBytes = 1 << 20;

  void Required(std::string field, std::string_view why = {}) {
    Add(schema::RequiredCause(std::move(field), why));
  }
  /// `value` is JSON.
  void Invalid(std::string field, const std::string& value, std::string_view why) {
    if (full()) {  // The value may be large, and be told of many times.
      ++more_;
      return;
    }
    Add(schema::InvalidJsonCause(std::move(field), value, why));
  }
  /// `value` and `supported` are JSON, the latter a list without brackets.
  void NotSupported(std::string field, const std::string& value, std::string_view supported) {
    Add(schema::NotSupportedJsonCause(std::move(field), value, supported));
  }
  void Forbidden(std::string field, std::string_view why) {
    Add(schema::ForbiddenCause(std::move(field), why));
  }
  /// `value` is JSON.
  void Duplicate(std::string field, const std::string& value) {
    Add(schema::DuplicateJsonCause(std::move(field), value));
  }
  /// `value` is JSON.
  void NotFound(std::string field, const std::string& value, std::string_view why) {
    Add(schema::NotFoundJsonCause(std::move(field), value, why));
  }
  void TooLong(std::string field, std::size_t bytes) {
    Add(schema::TooLongCause(std::move(field), static_cast<std::int64_t>(bytes)));
  }
  void TooMany(std::string field, std::size_t count, std::size_t most) {
    Add(schema::TooManyCause(std::move(field), count, static_cast<std::int64_t>(most)));
  }

  void Add(apimachinery::StatusCause cause);
  void AddAll(std::vector<apimachinery::StatusCause> causes);

  bool empty() const { return causes_.empty(); }
  /// Whether further causes are only counted, so that callers need not make long texts.
  bool full() const;
  /// The causes collected so far.
  const std::vector<apimachinery::StatusCause>& kept() const { return causes_; }
  /// Takes the collected causes. When causes were only counted, the last one says how many.
  std::vector<apimachinery::StatusCause> Take() &&;

 private:
  std::vector<apimachinery::StatusCause> causes_{};
  std::size_t bytes_ = 0;
  std::size_t more_ = 0;
};

/// The causes of `now` that `before` does not have. It ignores positions in lists, because elements
/// may have moved.
std::vector<apimachinery::StatusCause> NewCauses(std::vector<apimachinery::StatusCause> now,
                                                 std::span<const apimachinery::StatusCause> before);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_CHECKS_FIELD_CAUSES_H_
