/// @file
/// StormDigest: many notifications, counted for one message.
#ifndef KUBEXX_RELOADER_RECEIVERS_STORM_DIGEST_H_
#define KUBEXX_RELOADER_RECEIVERS_STORM_DIGEST_H_

#include <array>
#include <compare>
#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "kubexx/base/clock.h"
#include "kubexx/reloader/notify/severity.h"
#include "kubexx/reloader/receivers/notification.h"

namespace kubexx::reloader {

/// Counts notifications by severity, reason, namespace and source (or policy), and keeps a few
/// names of each group. Its size is bounded, however many are added. Not thread-safe.
class StormDigest {
 public:
  /// How many groups are kept; the notifications of further groups are only counted. A group of a
  /// worse severity takes the place of the smallest one of the least severity.
  static constexpr std::size_t kMaxGroups = 200;
  /// How many names of workloads a group keeps.
  static constexpr std::size_t kMaxNames = 5;

  /// What the notifications of a group have in common.
  struct Key {
    Severity severity = Severity::kInfo;
    std::string reason{};
    std::string namespace_{};
    std::string source{};  ///< "ConfigMap/ns/name" or a PolicyRef; may be empty
    auto operator<=>(const Key&) const = default;
  };
  struct Group {
    std::size_t count = 0;
    /// Different subjects in the order in which they came, at most kMaxNames.
    std::vector<std::string> names{};
  };

  /// `begin`: the time of the first notification. `id` as that of a Notification.
  StormDigest(std::string id, base::WallTime begin) : id_(std::move(id)), begin_(begin) {}

  void Add(const Notification& notification);

  const std::string& id() const { return id_; }
  base::WallTime begin() const { return begin_; }
  /// The time of the last notification.
  base::WallTime end() const { return end_; }
  std::size_t total() const { return counts_[0] + counts_[1] + counts_[2]; }
  std::size_t Count(Severity severity) const { return counts_[static_cast<std::size_t>(severity)]; }
  /// The worst severity.
  Severity severity() const;
  /// The groups: the worst first, and the largest first among these.
  std::vector<std::pair<Key, Group>> Groups() const;
  /// The number of notifications that belong to no group that is kept.
  std::size_t others() const { return others_; }

 private:
  /// Returns whether there is room for another group of this severity.
  bool MakeRoom(Severity severity);

  std::string id_;
  base::WallTime begin_;
  base::WallTime end_{};
  std::array<std::size_t, kSeverities.size()> counts_{};
  std::map<Key, Group> groups_;
  std::size_t others_ = 0;
};

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_RECEIVERS_STORM_DIGEST_H_
