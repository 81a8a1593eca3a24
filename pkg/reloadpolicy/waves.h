/// @file
/// The setting by which workloads are rolled in waves, the first of which are canaries.
#ifndef KUBEXX_RELOADPOLICY_WAVES_H_
#define KUBEXX_RELOADPOLICY_WAVES_H_

#include <chrono>
#include <cstdint>
#include <optional>
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

/// What is done about the data with which a rollout in a wave has failed.
enum class OnWaveFailure : std::uint8_t {
  kHold,     ///< nobody else is rolled for them
  kRestore,  ///< likewise, and the last good data are put back into their source
};

/// Returns "Hold" or "Restore".
std::string_view ToString(OnWaveFailure on_failure);
/// The inverse of ToString. Returns std::nullopt for any other text.
std::optional<OnWaveFailure> ParseOnWaveFailure(std::string_view text);

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
  OnWaveFailure on_failure = OnWaveFailure::kHold;
  /// With kRestore: the names of the Secrets that are restored. ConfigMaps always are.
  std::vector<std::string> restore_secrets{};

  bool Restores() const { return on_failure == OnWaveFailure::kRestore; }
  /// A text for people, such as "canaries, 5, 20%, then the rest, each healthy for 1m0s", and
  /// with kRestore ", restores".
  std::string ToString() const;
  bool operator==(const Waves&) const = default;
};

}  // namespace kubexx::reloadpolicy

#endif  // KUBEXX_RELOADPOLICY_WAVES_H_
