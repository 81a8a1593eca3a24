/// @file
/// The limit for the work of checking something against a schema.
#ifndef KUBEXX_APISERVER_SCHEMA_BUDGET_H_
#define KUBEXX_APISERVER_SCHEMA_BUDGET_H_

#include <cstddef>
#include <stop_token>
#include <string_view>
#include <utility>

namespace kubexx::apiserver::schema {

/// Counts the work of a check, which can be much more than the size of the input suggests: each of
/// many elements may have to be compared with each of many schemas. The check ends early when the
/// budget is spent or stopped; its result is incomplete then. Not thread-safe.
class Budget {
 public:
  /// A step takes up to a hundred nanoseconds, so that this many take seconds. It is enough to
  /// check an object of a hundred thousand values, each in dozens of ways.
  static constexpr std::size_t kMaxSteps = 30'000'000;

  explicit Budget(std::stop_token stop = {}, std::size_t steps = kMaxSteps)
      : stop_(std::move(stop)), max_steps_(steps), stopped_(stop_.stop_requested()) {}

  /// Counts `steps`. From time to time it also looks whether the check was stopped.
  void Spend(std::size_t steps) {
    const bool looks = steps_ / kStepsPerLook != (steps_ + steps) / kStepsPerLook;
    steps_ += steps;
    stopped_ = stopped_ || (looks && stop_.stop_requested());
  }

  std::size_t max_steps() const { return max_steps_; }
  /// Whether the check has to end. Stays true.
  bool ended() const { return stopped_ || spent(); }
  /// Whether the check has taken too much work.
  bool spent() const { return steps_ > max_steps_; }
  /// Whether the check was stopped, because nobody waits for its result.
  bool stopped() const { return stopped_; }

 private:
  static constexpr std::size_t kStepsPerLook = 1 << 16;

  const std::stop_token stop_;
  const std::size_t max_steps_;
  std::size_t steps_ = 0;
  bool stopped_;
};

/// The error text for a check that took too much work.
inline constexpr std::string_view kTooMuchWork =
    "it would take too much work to check all of it: use fewer elements or a simpler schema";

}  // namespace kubexx::apiserver::schema

#endif  // KUBEXX_APISERVER_SCHEMA_BUDGET_H_
