/// @file
/// Metrics of the resources that the process uses.
#ifndef KUBEXX_METRICS_PROCESS_METRICS_H_
#define KUBEXX_METRICS_PROCESS_METRICS_H_

#include "kubexx/base/subscription.h"
#include "kubexx/metrics/registry.h"

namespace kubexx::metrics {

/// Adds the standard process_* metrics to `registry` and reads them from /proc at each scrape:
/// cpu_seconds_total, resident_memory_bytes, virtual_memory_bytes, start_time_seconds, open_fds,
/// max_fds and threads. A metric that cannot be read keeps its value. The subscription must end
/// before the registry.
base::Subscription RegisterProcessMetrics(Registry& registry);

}  // namespace kubexx::metrics

#endif  // KUBEXX_METRICS_PROCESS_METRICS_H_
