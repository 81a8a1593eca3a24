/// @file
/// The data model's rules for names and values.
#ifndef KUBEXX_METRICS_INTERNAL_NAMES_H_
#define KUBEXX_METRICS_INTERNAL_NAMES_H_

#include <string>
#include <string_view>

#include "kubexx/metrics/registry.h"

namespace kubexx::metrics::internal {

/// What is wrong with a metric name; empty when nothing is: [a-zA-Z_:][a-zA-Z0-9_:]*, not starting
/// with "__".
std::string CheckName(std::string_view name);

/// What is wrong with the label names; empty when nothing is: [a-zA-Z_][a-zA-Z0-9_]*, not starting
/// with "__", and not "le" for a histogram.
std::string CheckLabelNames(const Labels& labels, bool histogram);

}  // namespace kubexx::metrics::internal

#endif  // KUBEXX_METRICS_INTERNAL_NAMES_H_
