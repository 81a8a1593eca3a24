/// @file
/// Parses files of /proc.
#ifndef KUBEXX_METRICS_INTERNAL_PROC_STAT_H_
#define KUBEXX_METRICS_INTERNAL_PROC_STAT_H_

#include <cstdint>
#include <optional>
#include <string_view>

namespace kubexx::metrics::internal {

/// Some fields of /proc/<pid>/stat, in the kernel's units.
struct ProcStat {
  std::uint64_t user_ticks = 0;
  std::uint64_t system_ticks = 0;
  std::uint64_t threads = 0;
  std::uint64_t start_ticks = 0;  ///< since boot
  std::uint64_t virtual_bytes = 0;
  std::uint64_t resident_pages = 0;
};

/// Parses the line of /proc/<pid>/stat. The command name in it may contain any character, including
/// parentheses and spaces.
std::optional<ProcStat> ParseProcStat(std::string_view line);

/// Returns the value of "btime" in /proc/stat: the time when the system was booted, in seconds
/// since 1970.
std::optional<std::uint64_t> ParseBootTime(std::string_view stat);

}  // namespace kubexx::metrics::internal

#endif  // KUBEXX_METRICS_INTERNAL_PROC_STAT_H_
