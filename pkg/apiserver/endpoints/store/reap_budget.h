/// @file
/// The limit of how many objects are deleted in one turn.
#ifndef KUBEXX_APISERVER_ENDPOINTS_STORE_REAP_BUDGET_H_
#define KUBEXX_APISERVER_ENDPOINTS_STORE_REAP_BUDGET_H_

#include <algorithm>
#include <cstddef>

namespace kubexx::apiserver {

/// The deletion of a namespace or a definition may have to delete any number of objects. It deletes
/// some at a time, so that others need not wait for all of them. Not thread-safe.
class ReapBudget {
 public:
  /// The budget of the request that asks for the deletion. It deletes up to 100 objects at once and
  /// waits for nothing.
  static ReapBudget OfRequest() { return {100, false}; }
  /// The budget of the server's own thread for one namespace or definition. Objects that have to
  /// wait or cannot be deleted do not count, so that a turn reaches the objects behind them.
  static ReapBudget OfTurn() { return {2'000, true}; }

  /// Whether to wait for running creates.
  bool patient() const { return patient_; }
  /// Must be called for each object. Returns false when the budget is spent.
  bool Take() {
    spent_ = spent_ || left_ == 0;
    left_ -= spent_ ? 0 : 1;
    return !spent_;
  }
  /// Must be called when the last object was not changed.
  void GiveBack() { left_ += patient_ ? 1 : 0; }
  /// Must be called when the last object could not be deleted, so that it is not tried again at
  /// once.
  void NoteFailure() {
    failed_ = true;
    GiveBack();
  }
  /// Whether the budget is spent, so that another turn is needed for further objects.
  bool spent() const { return spent_; }
  /// Whether that turn may follow at once.
  bool again() const { return spent_ && !failed_; }
  /// How many objects to read at a time. It is one more than may be deleted, which shows whether
  /// there are more.
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
