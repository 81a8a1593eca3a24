/// @file
/// How far a deletion of many objects goes in one turn.
#ifndef KUBEXX_APISERVER_ENDPOINTS_STORE_REAP_BUDGET_H_
#define KUBEXX_APISERVER_ENDPOINTS_STORE_REAP_BUDGET_H_

#include <algorithm>
#include <cstddef>

namespace kubexx::apiserver {

/// What goes with a namespace or a definition may be any number of objects: they are deleted some
/// at a time, so that nobody else waits for all of them. Not thread-safe.
class ReapBudget {
 public:
  /// Of whoever has asked for the deletion: what is little goes at once, and nothing is waited for.
  static ReapBudget OfRequest() { return {100, false}; }
  /// Of the server's own thread, for one namespace or definition. What waits anyway, or cannot be
  /// deleted, does not count, so that a turn comes to what is behind it.
  static ReapBudget OfTurn() { return {2'000, true}; }

  /// Whether to wait for creates that are under way.
  bool patient() const { return patient_; }
  /// Called for each object. False when there have been as many as may be.
  bool Take() {
    spent_ = spent_ || left_ == 0;
    left_ -= spent_ ? 0 : 1;
    return !spent_;
  }
  /// The last one has not been changed.
  void GiveBack() { left_ += patient_ ? 1 : 0; }
  /// The last one could not be deleted: it is not tried again at once.
  void NoteFailure() {
    failed_ = true;
    GiveBack();
  }
  /// There may be more: that has another turn.
  bool spent() const { return spent_; }
  /// Whether that may be at once.
  bool again() const { return spent_ && !failed_; }
  /// How many objects to read at a time: one more than may be deleted tells that there are more.
  std::size_t page() const { return std::min<std::size_t>(left_ + 1, 500); }

 private:
  ReapBudget(std::size_t objects, bool patient) : left_(objects), patient_(patient) {}

  std::size_t left_;
  bool patient_;
  bool spent_ = false;
  bool failed_ = false;
};

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_STORE_REAP_BUDGET_H_
