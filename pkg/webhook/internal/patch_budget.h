/// @file
/// What making one patch may cost.
#ifndef KUBEXX_WEBHOOK_INTERNAL_PATCH_BUDGET_H_
#define KUBEXX_WEBHOOK_INTERNAL_PATCH_BUDGET_H_

#include <cstdint>

namespace kubexx::webhook::internal {

/// The work that one patch may take beyond what grows with the size of the documents alone. The
/// objects of a webhook come from anybody who may create one. Not thread-safe.
class PatchBudget {
 public:
  /// In comparisons of two members, each about 10 ns.
  static constexpr std::uint64_t kSteps = std::uint64_t{4} << 20U;

  explicit PatchBudget(std::uint64_t steps = kSteps) : left_(steps) {}

  /// Takes the steps, or nothing and returns false when there are not as many left.
  bool Spend(std::uint64_t steps) {
    if (steps > left_) {
      return false;
    }
    left_ -= steps;
    return true;
  }

 private:
  std::uint64_t left_;
};

}  // namespace kubexx::webhook::internal

#endif  // KUBEXX_WEBHOOK_INTERNAL_PATCH_BUDGET_H_
