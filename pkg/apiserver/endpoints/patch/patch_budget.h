/// @file
/// What the patches of one request may cost.
#ifndef KUBEXX_APISERVER_ENDPOINTS_PATCH_PATCH_BUDGET_H_
#define KUBEXX_APISERVER_ENDPOINTS_PATCH_PATCH_BUDGET_H_

#include <cstddef>

#include "kubexx/apimachinery/status.h"

namespace kubexx::apiserver {

/// Members and elements that a patch has looked at or moved: a JsonTree finds a member by looking
/// at all before it, an array makes room by moving all behind, and a patch may name the same place
/// again and again. Not thread-safe.
class PatchBudget {
 public:
  /// A few tenths of a second.
  static constexpr std::size_t kMaxWork = 20'000'000;

  constexpr explicit PatchBudget(std::size_t work = kMaxWork) : max_(work) {}

  /// kRequestEntityTooLarge when there was no room for that, nor for what was taken before.
  apimachinery::Result<void> Spend(std::size_t work) {
    return Take(work) ? apimachinery::Result<void>()
                      : apimachinery::Fail(apimachinery::Reason::kRequestEntityTooLarge,
                                           "the patch names the same places too often", 413);
  }
  /// Whether there was room for that.
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
