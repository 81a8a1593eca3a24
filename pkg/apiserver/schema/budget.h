/// @file
/// What checking something against a schema may cost.
#ifndef KUBEXX_APISERVER_SCHEMA_BUDGET_H_
#define KUBEXX_APISERVER_SCHEMA_BUDGET_H_

#include <cstddef>
#include <stop_token>
#include <string_view>
#include <utility>

namespace kubexx::apiserver::schema {

/// Counts the work of a check, which is more than what is checked has bytes: each of many elements
/// may have to be compared with each of many schemas. The check ends when there is no more to
/// spend, or when it is stopped; what it has said by then is not all there is to say. Not
/// thread-safe.
class Budget {
 public:
  /// A step takes up to a hundred nanoseconds: these take seconds. An object of a hundred thousand
  /// values may have each checked in dozens of ways.
  static constexpr std::size_t kMaxSteps = 30'000'000;

  explicit Budget(std::stop_token stop = {}, std::size_t steps = kMaxSteps)
      : stop_(std::move(stop)), max_steps_(steps), stopped_(stop_.stop_requested()) {}

  /// Now and then also looks whether to stop.
  void Spend(std::size_t steps) {
    const bool looks = steps_ / kStepsPerLook != (steps_ + steps) / kStepsPerLook;
    steps_ += steps;
    stopped_ = stopped_ || (looks && stop_.stop_requested());
  }

  std::size_t max_steps() const { return max_steps_; }
  /// Whether to go no further; stays so.
  bool ended() const { return stopped_ || spent(); }
  /// Too much work.
  bool spent() const { return steps_ > max_steps_; }
  /// Nobody waits for what the check says.
  bool stopped() const { return stopped_; }

 private:
  static constexpr std::size_t kStepsPerLook = 1 << 16;

  const std::stop_token stop_;
  const std::size_t max_steps_;
  std::size_t steps_ = 0;
  bool stopped_;
};

/// What to say where a budget was too small.
inline constexpr std::string_view kTooMuchWork =
    "it would take too much work to check all of it: use fewer elements or a simpler schema";

}  // namespace kubexx::apiserver::schema

#endif  // KUBEXX_APISERVER_SCHEMA_BUDGET_H_
