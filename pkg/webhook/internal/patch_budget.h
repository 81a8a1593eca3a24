/// @file
/// PatchBudget: limits the cost of making one patch.
#ifndef KUBEXX_WEBHOOK_INTERNAL_PATCH_BUDGET_H_
#define KUBEXX_WEBHOOK_INTERNAL_PATCH_BUDGET_H_

#include <cstdint>

namespace kubexx::webhook::internal {

/// Limits the work for one patch, apart from the work that grows only with the size of the
/// documents. The limit is needed because anybody who may create objects can choose those that a
/// webhook gets. Not thread-safe.
class PatchBudget {
 public:
  /// The default limit, in comparisons of two members, which take about 10 ns each.
  static constexpr std::uint64_t kSteps = std::uint64_t{4} << 20U;

  explicit PatchBudget(std::uint64_t steps = kSteps) : left_(steps) {}

  /// Takes the steps from the budget. Returns false, and takes nothing, if fewer are left.
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
