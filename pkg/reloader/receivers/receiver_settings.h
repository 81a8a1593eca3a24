/// @file
/// The file that says who is told of what.
#ifndef KUBEXX_RELOADER_RECEIVERS_RECEIVER_SETTINGS_H_
#define KUBEXX_RELOADER_RECEIVERS_RECEIVER_SETTINGS_H_

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kubexx/apimachinery/status.h"
#include "kubexx/base/clock.h"
#include "kubexx/reloader/notify/severity.h"
#include "kubexx/reloader/receivers/notification.h"

namespace kubexx::reloader {

/// The forms of messages.
enum class ReceiverType : std::uint8_t {
  kSlack,
  kTeams,
  kGoogleChat,
  kCloudEvents,
  kGrafana,
  kText
};

inline constexpr std::array kReceiverTypes{ReceiverType::kSlack,      ReceiverType::kTeams,
                                           ReceiverType::kGoogleChat, ReceiverType::kCloudEvents,
                                           ReceiverType::kGrafana,    ReceiverType::kText};

/// The name in the file: "Slack", "Teams", "GoogleChat", "CloudEvents", "Grafana", "Text".
std::string_view ReceiverTypeName(ReceiverType type);

/// When notifications are gathered in one message.
struct StormLimits {
  /// So many are sent by themselves within `every`; those that follow are gathered. std::nullopt:
  /// only those for which there is no room are gathered.
  std::optional<std::size_t> after{};
  base::Duration every = std::chrono::minutes(1);
  bool operator==(const StormLimits&) const = default;
};

/// One receiver. Contains credentials (url, headers, proxy): never log it.
struct ReceiverSettings {
  std::string name{};  ///< unique; in logs and metrics
  ReceiverType type = ReceiverType::kText;
  std::string url{};
  std::vector<std::pair<std::string, std::string>> headers{};
  std::string proxy{};    ///< empty: none, whatever the environment says
  std::string ca_file{};  ///< empty: the system's certificates
  std::set<Severity> severities{};
  /// Patterns; empty: all, and what belongs to no namespace.
  std::vector<std::string> namespaces{};
  /// Patterns of "namespace/name" and "name"; empty: all, and what no policy concerns.
  std::vector<std::string> policies{};
  StormLimits digest{};
  /// Only of kCloudEvents: several events that wait are sent as one batch.
  bool batches = true;

  /// Whether the receiver is to be told of it.
  bool Wants(const Notification& notification) const;
};

/// The whole file. Contains credentials: never log it.
struct NotificationSettings {
  std::string cluster{};  ///< the name of the cluster, in every message; empty: none
  std::vector<ReceiverSettings> receivers{};
};

/// Reads the settings from YAML. kInvalidConfig names the member that is wrong, such as
/// `receivers[1].type: "Slak" is none of Slack, …`, and never shows a URL or the value of a header.
/// A member that it does not know is an error.
apimachinery::Result<NotificationSettings> ParseNotificationSettings(std::string_view yaml);

/// Reads them from a file of at most 1 MiB. Errors name the file.
apimachinery::Result<NotificationSettings> LoadNotificationSettings(const std::string& path);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_RECEIVERS_RECEIVER_SETTINGS_H_
