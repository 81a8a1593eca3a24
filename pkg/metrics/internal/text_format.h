/// @file
/// Writes metrics as text.
#ifndef KUBEXX_METRICS_INTERNAL_TEXT_FORMAT_H_
#define KUBEXX_METRICS_INTERNAL_TEXT_FORMAT_H_

#include <string>
#include <vector>

namespace prometheus {
struct MetricFamily;
}  // namespace prometheus

namespace kubexx::metrics::internal {

/// Returns counters, gauges and histograms in Prometheus' text format, byte by byte as
/// prometheus-cpp's TextSerializer does, which puts each of some thousand pieces through a stream,
/// and takes four times as long. Other types, of which a Registry has none, are left out.
/// Thread-safe.
std::string TextOf(const std::vector<prometheus::MetricFamily>& families);

}  // namespace kubexx::metrics::internal

#endif  // KUBEXX_METRICS_INTERNAL_TEXT_FORMAT_H_
