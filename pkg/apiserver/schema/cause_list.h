/// @file
/// The causes of one refusal.
#ifndef KUBEXX_APISERVER_SCHEMA_CAUSE_LIST_H_
#define KUBEXX_APISERVER_SCHEMA_CAUSE_LIST_H_

#include <cstddef>
#include <utility>
#include <vector>

#include "kubexx/apimachinery/status.h"

namespace kubexx::apiserver::schema {

/// A refusal names no more than these.
inline constexpr std::size_t kMaxCauses = 100;
/// And no more once they are so long: the path of each may be as long as the object.
inline constexpr std::size_t kMaxCauseBytes = 1 << 20;

/// Adds causes until one more would not help anybody.
class CauseList {
 public:
  /// `causes` must outlive it; those that are in it already count.
  explicit CauseList(std::vector<apimachinery::StatusCause>& causes) : causes_(causes) {}

  /// Whether what is added gets lost: there is no need to look for it.
  bool full() const { return causes_.size() >= kMaxCauses || bytes_ >= kMaxCauseBytes; }
  void Add(apimachinery::StatusCause cause) {
    if (!full()) {
      bytes_ += cause.field.size() + cause.message.size();
      causes_.push_back(std::move(cause));
    }
  }
  /// Also where there are enough others: for what says that they are not all.
  void AddLast(apimachinery::StatusCause cause) { causes_.push_back(std::move(cause)); }

 private:
  std::vector<apimachinery::StatusCause>& causes_;
  std::size_t bytes_ = 0;
};

}  // namespace kubexx::apiserver::schema

#endif  // KUBEXX_APISERVER_SCHEMA_CAUSE_LIST_H_
