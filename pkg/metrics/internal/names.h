/// @file
/// The rules of Prometheus' data model for names.
#ifndef KUBEXX_METRICS_INTERNAL_NAMES_H_
#define KUBEXX_METRICS_INTERNAL_NAMES_H_

#include <string>
#include <string_view>

#include "kubexx/metrics/registry.h"

namespace kubexx::metrics::internal {

/// Returns what is wrong with a metric name, or an empty text. A name must match
/// [a-zA-Z_:][a-zA-Z0-9_:]* and must not start with "__".
std::string CheckName(std::string_view name);

/// Returns what is wrong with the label names, or an empty text. A label name must match
/// [a-zA-Z_][a-zA-Z0-9_]*, must not start with "__", and must not be "le" for a histogram.
std::string CheckLabelNames(const Labels& labels, bool histogram);

}  // namespace kubexx::metrics::internal

#endif  // KUBEXX_METRICS_INTERNAL_NAMES_H_
