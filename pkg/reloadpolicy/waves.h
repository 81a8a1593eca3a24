/// @file
/// The setting by which workloads are rolled in waves, the first of which are canaries.
#ifndef KUBEXX_RELOADPOLICY_WAVES_H_
#define KUBEXX_RELOADPOLICY_WAVES_H_

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "kubexx/base/clock.h"

namespace kubexx::reloadpolicy {

/// On a workload: with "true" it belongs to the first wave, as if Waves::canaries named it.
inline constexpr std::string_view kCanaryAnnotation = "reloader.kubexx.io/canary";

/// How many workloads a wave has: a number, or a part of all that the source concerns, of which
/// fractions are rounded up. One of the two is 0.
struct WaveSize {
  int count = 0;
  int percent = 0;
  bool operator==(const WaveSize&) const = default;
};

/// What a policy specifies about waves. The canaries that it names are the first wave. Then come
/// waves of the given sizes, and all others are the last wave. A wave begins when the rollouts of
/// the one before have been healthy for `healthy_for`. A value type.
struct Waves {
  /// Used when the policy specifies no time.
  static constexpr base::Duration kDefaultHealthyFor = std::chrono::minutes(1);

  std::vector<std::string> canaries{};  ///< patterns of names, or of "Kind/name"
  std::vector<WaveSize> sizes{};
  base::Duration healthy_for = kDefaultHealthyFor;
  /// A rollout that has not become available within this time has failed; 0: the health timeout
  /// applies.
  base::Duration timeout{};

  /// A text for people, such as "canaries, 5, 20%, then the rest, each healthy for 1m0s".
  std::string ToString() const;
  bool operator==(const Waves&) const = default;
};

}  // namespace kubexx::reloadpolicy

#endif  // KUBEXX_RELOADPOLICY_WAVES_H_
