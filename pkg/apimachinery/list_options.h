/// @file
/// Options of list and watch requests.
#ifndef KUBEXX_APIMACHINERY_LIST_OPTIONS_H_
#define KUBEXX_APIMACHINERY_LIST_OPTIONS_H_

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace kubexx::apimachinery {

/// meta/v1 ListOptions. An empty field is not sent.
struct ListOptions {
  std::string label_selector{};
  std::string field_selector{};
  /// "" = most recent, "0" = any, otherwise at least this version (or exactly this one, see
  /// resource_version_match).
  std::string resource_version{};
  /// "", "NotOlderThan" or "Exact".
  std::string resource_version_match{};
  std::int64_t limit = 0;
  std::string continue_{};
  /// How long the server keeps a watch open.
  std::chrono::seconds timeout{0};
  bool allow_watch_bookmarks = false;
  /// WatchList: whether the watch begins with the current state as synthetic ADDED events.
  std::optional<bool> send_initial_events{};
};

}  // namespace kubexx::apimachinery

#endif  // KUBEXX_APIMACHINERY_LIST_OPTIONS_H_
