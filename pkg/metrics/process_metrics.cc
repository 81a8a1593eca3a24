#include "kubexx/metrics/process_metrics.h"

#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <iterator>
#include <string>
#include <system_error>

#include "kubexx/apimachinery/read_file.h"
#include "kubexx/metrics/internal/proc_stat.h"

namespace kubexx::metrics {
namespace {

/// The number of open file descriptors, without the one that is needed to count; -1 when unknown.
std::ptrdiff_t CountFds() {
  std::error_code error;
  const std::filesystem::directory_iterator fds("/proc/self/fd", error);
  return error ? -1 : std::distance(begin(fds), end(fds)) - 1;
}

struct ProcessMetrics {
  Counter cpu_seconds;
  Gauge resident_bytes;
  Gauge virtual_bytes;
  Gauge start_time;
  Gauge open_fds;
  Gauge max_fds;
  Gauge threads;
  double ticks_per_second = static_cast<double>(::sysconf(_SC_CLK_TCK));
  double page_bytes = static_cast<double>(::sysconf(_SC_PAGESIZE));

  explicit ProcessMetrics(Registry& registry)
      : cpu_seconds(registry.Counter("process_cpu_seconds_total",
                                     "User and system CPU time spent, in seconds.")),
        resident_bytes(
            registry.Gauge("process_resident_memory_bytes", "Resident memory, in bytes.")),
        virtual_bytes(registry.Gauge("process_virtual_memory_bytes", "Virtual memory, in bytes.")),
        start_time(registry.Gauge("process_start_time_seconds",
                                  "When the process started, in seconds since 1970.")),
        open_fds(registry.Gauge("process_open_fds", "Open file descriptors.")),
        max_fds(registry.Gauge("process_max_fds", "The limit of open file descriptors.")),
        threads(registry.Gauge("process_threads", "Threads of the process.")) {}

  void Update() const {
    if (const auto stat =
            internal::ParseProcStat(apimachinery::ReadFile("/proc/self/stat").value_or(""))) {
      const double cpu =
          static_cast<double>(stat->user_ticks + stat->system_ticks) / ticks_per_second;
      cpu_seconds.Increment(cpu - cpu_seconds.Value());
      resident_bytes.Set(static_cast<double>(stat->resident_pages) * page_bytes);
      virtual_bytes.Set(static_cast<double>(stat->virtual_bytes));
      threads.Set(static_cast<double>(stat->threads));
      if (start_time.Value() == 0) {
        if (const auto boot =
                internal::ParseBootTime(apimachinery::ReadFile("/proc/stat").value_or(""))) {
          start_time.Set(static_cast<double>(*boot) +
                         static_cast<double>(stat->start_ticks) / ticks_per_second);
        }
      }
    }
    if (const std::ptrdiff_t fds = CountFds(); fds >= 0) {
      open_fds.Set(static_cast<double>(fds));
    }
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) == 0) {
      max_fds.Set(static_cast<double>(limit.rlim_cur));
    }
  }
};

}  // namespace

base::Subscription RegisterProcessMetrics(Registry& registry) {
  return registry.OnScrape([metrics = ProcessMetrics(registry)] { metrics.Update(); });
}

}  // namespace kubexx::metrics
