/// @file
/// The causes of one Status error.
#ifndef KUBEXX_APISERVER_SCHEMA_CAUSE_LIST_H_
#define KUBEXX_APISERVER_SCHEMA_CAUSE_LIST_H_

#include <cstddef>
#include <utility>
#include <vector>

#include "kubexx/apimachinery/status.h"

namespace kubexx::apiserver::schema {

/// The maximum number of causes in one error.
inline constexpr std::size_t kMaxCauses = 100;
/// No cause is added when the texts of the causes have this size. The path of each may be as long
/// as the object.
inline constexpr std::size_t kMaxCauseBytes = 1 << 20;

/// Adds causes up to the limits, where the search for them ends. FieldCauses of endpoints/checks is
/// for searches that go on: it counts what it leaves out.
class CauseList {
 public:
  /// `causes` must outlive it. The causes that it already has count.
  explicit CauseList(std::vector<apimachinery::StatusCause>& causes) : causes_(causes) {}

  /// Whether further causes are dropped, so that callers need not look for them.
  bool full() const { return causes_.size() >= kMaxCauses || bytes_ >= kMaxCauseBytes; }
  void Add(apimachinery::StatusCause cause) {
    if (!full()) {
      bytes_ += cause.field.size() + cause.message.size();
      causes_.push_back(std::move(cause));
    }
  }
  /// Adds a cause beyond the limits: the one that says that the list is incomplete.
  void AddLast(apimachinery::StatusCause cause) { causes_.push_back(std::move(cause)); }

 private:
  std::vector<apimachinery::StatusCause>& causes_;
  std::size_t bytes_ = 0;
};

}  // namespace kubexx::apiserver::schema

#endif  // KUBEXX_APISERVER_SCHEMA_CAUSE_LIST_H_
