/// @file
/// The limit for the work of the patches of one request.
#ifndef KUBEXX_APISERVER_ENDPOINTS_PATCH_PATCH_BUDGET_H_
#define KUBEXX_APISERVER_ENDPOINTS_PATCH_PATCH_BUDGET_H_

#include <cstddef>

#include "kubexx/apimachinery/status.h"

namespace kubexx::apiserver {

/// Counts the members and elements that a patch has examined or moved. There is a limit because a
/// JsonTree examines all members before the one that it looks for, an insertion into an array moves
/// all elements behind it, and a patch may name the same place many times. Not thread-safe.
class PatchBudget {
 public:
  /// The default limit, which takes a few tenths of a second.
  static constexpr std::size_t kMaxWork = 20'000'000;

  constexpr explicit PatchBudget(std::size_t work = kMaxWork) : max_(work) {}

  /// Counts `work`. Returns kRequestEntityTooLarge when the budget is exceeded.
  apimachinery::Result<void> Spend(std::size_t work) {
    return Take(work) ? apimachinery::Result<void>()
                      : apimachinery::Fail(apimachinery::Reason::kRequestEntityTooLarge,
                                           "the patch names the same places too often", 413);
  }
  /// Counts `work`. Returns whether the budget is not exceeded.
  bool Take(std::size_t work) {
    taken_ += work;
    return !exceeded();
  }
  /// The same for reading, comparing or copying a text.
  bool TakeBytes(std::size_t bytes) { return Take(bytes / kBytesOfWork); }
  bool exceeded() const { return taken_ > max_; }

 private:
  static constexpr std::size_t kBytesOfWork = 8;

  std::size_t max_;
  std::size_t taken_ = 0;
};

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_PATCH_PATCH_BUDGET_H_
