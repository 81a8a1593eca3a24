/// @file
/// The history of a workload's rollouts, stored on the workload.
#ifndef KUBEXX_RELOADER_HISTORY_HISTORY_H_
#define KUBEXX_RELOADER_HISTORY_HISTORY_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kubexx/apimachinery/status.h"
#include "kubexx/apimachinery/time.h"
#include "kubexx/reloader/history/key_change.h"
#include "kubexx/reloader/history/rollout_ends.h"
#include "kubexx/reloader/model/source.h"
#include "kubexx/reloader/model/source_trace.h"
#include "kubexx/reloader/model/workload.h"

namespace kubexx::reloader {

/// How a rollout ended.
enum class RolloutOutcome : std::uint8_t {
  kRolling,     ///< it has not ended, as far as is recorded
  kDone,        ///< all pods were replaced and available
  kFailed,      ///< the workload's status said that it made no progress
  kSuperseded,  ///< the next rollout began before it had ended
};
/// "rolling", "done", "failed" or "superseded".
std::string_view ToString(RolloutOutcome outcome);

/// A source that a rollout was for. A value type.
struct HistorySource {
  SourceType type = SourceType::kConfigMap;
  std::string name{};
  /// The first 12 hexadecimal digits of the digest that the workload was rolled for, over the keys
  /// that count; empty: the source was deleted.
  std::string digest{};
  /// What became of the keys that count; std::nullopt: not known, as for a change that was made
  /// while no operator ran.
  std::optional<KeyChanges> keys{};
  std::int64_t more_keys = 0;  ///< for which there was no room
  std::optional<DataWriter> writer{};
  bool operator==(const HistorySource&) const = default;
};

/// A rollout. A value type.
struct HistoryEntry {
  apimachinery::Time at{};  ///< when the operator wrote it
  RolloutOutcome outcome = RolloutOutcome::kRolling;
  std::optional<std::int64_t> seconds{};  ///< how long it took; std::nullopt: not known
  std::vector<HistorySource> sources{};
  std::int64_t more_sources = 0;  ///< for which there was no room
  /// The sources whose kind this process does not know, each as its JSON. They are kept for others,
  /// and count as more sources where a history is shown.
  std::vector<std::string> unread{};
  /// The action by which the pods were reloaded in place; empty: new pods were made.
  std::string in_place{};
  /// The number of sources that are not in `sources`.
  std::int64_t Unshown() const { return more_sources + static_cast<std::int64_t>(unread.size()); }
  bool operator==(const HistoryEntry&) const = default;
};

/// The last rollouts of a workload that the operator made. Contains names of keys and digests, and
/// no values. A value type.
///
/// As text one line of JSON:
///   {"v":1,"of":OWNER,"rollouts":[{"at":TIME,"outcome":"done","seconds":12,"sources":[
///     {"source":"configmap/NAME","digest":"...","by":MANAGER,"written":TIME,
///      "keys":[{"key":NAME,"is":"changed","digest":"..."}],"moreKeys":2}],"moreSources":1,
///     "inPlace":ACTION}]}
/// What is not known is left out. OWNER is HistoryOwner: if the annotation was copied to another
/// object, it says nothing about that.
struct History {
  /// The longest text, and the most rollouts that may be kept. All annotations of an object
  /// together may have 256 KiB, and a Deployment's are copied to each of its ReplicaSets.
  static constexpr std::size_t kMaxBytes = std::size_t{8} * 1024;
  static constexpr std::size_t kMaxRollouts = 50;
  /// The most sources of a rollout, and the most keys of a source.
  static constexpr std::size_t kMaxSources = 5;
  static constexpr std::size_t kMaxKeys = 10;
  /// The longest action that is kept whole.
  static constexpr std::size_t kMaxActionBytes = 200;

  std::string owner{};
  std::vector<HistoryEntry> rollouts{};  ///< the newest first

  /// Parses a text. Fails with kMalformed, and a message that says what is wrong, when any part of
  /// it is not what ToString writes.
  static apimachinery::Result<History> Parse(std::string_view text);
  std::string ToString() const;
  /// Drops what is beyond `max_rollouts`, kMaxSources and kMaxKeys, and the earliest rollouts, or
  /// else keys, until the text is not longer than kMaxBytes.
  void Fit(std::size_t max_rollouts);
  bool operator==(const History&) const = default;
};

/// What History::owner has to be for this workload: its UID. Of a Job, which is deleted and created
/// again when it is rolled: "job/NAMESPACE/NAME".
std::string HistoryOwner(const Workload& workload);

/// Reads kHistoryAnnotation. The result is empty when there is none, or when it belongs to another
/// object. Fails as History::Parse does.
apimachinery::Result<History> HistoryOf(const Workload& workload);

/// The newest rollout of a history with its outcome and duration as the workload's status tells
/// them. `end`: how the rollout ended, if that is known otherwise. Where others have written the
/// pod template since, the status tells of their rollout, and only `end` counts: without it the
/// rollout is superseded.
void CompleteFrom(const Workload& workload, const std::optional<RolloutEnd>& end,
                  HistoryEntry& newest);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_HISTORY_HISTORY_H_
