/// @file
/// How bad the news is that somebody is told.
#ifndef KUBEXX_RELOADER_NOTIFY_SEVERITY_H_
#define KUBEXX_RELOADER_NOTIFY_SEVERITY_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace kubexx::reloader {

/// Ascending. kInfo: a rollout or a reload was written. kWarning: rollouts wait for long, or a
/// workload needs attention. kError: a rollout has failed, cannot be written, or no more rollouts
/// begin.
enum class Severity : std::uint8_t { kInfo, kWarning, kError };

inline constexpr std::array kSeverities{Severity::kInfo, Severity::kWarning, Severity::kError};

/// The name in settings and messages: "Info", "Warning", "Error".
constexpr std::string_view SeverityName(Severity severity) {
  constexpr std::array<std::string_view, kSeverities.size()> kNames{"Info", "Warning", "Error"};
  return kNames[static_cast<std::size_t>(severity)];
}

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_NOTIFY_SEVERITY_H_
