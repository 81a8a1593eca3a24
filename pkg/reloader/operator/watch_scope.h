/// @file
/// Determines which workloads a configuration covers.
#ifndef KUBEXX_RELOADER_OPERATOR_WATCH_SCOPE_H_
#define KUBEXX_RELOADER_OPERATOR_WATCH_SCOPE_H_

#include <functional>
#include <set>
#include <string>

#include "kubexx/apimachinery/labels.h"
#include "kubexx/apimachinery/status.h"
#include "kubexx/reloader/model/workload_kind.h"
#include "kubexx/reloader/operator/config.h"

namespace kubexx::reloader {

/// The kinds of workloads that an operator with this configuration watches.
std::set<WorkloadKind> WatchedKinds(const Config& config);

/// Reads the labels of a namespace.
using NamespaceLabels = std::function<apimachinery::Result<apimachinery::LabelMap>()>;

/// Says why an operator with this configuration never rolls workloads of this kind in this
/// namespace, naming the flag; empty when it may roll them. Calls `labels` only if
/// --namespace-selector requires it, and passes its error on.
apimachinery::Result<std::string> WhyNotWatched(WorkloadKind kind, const std::string& namespace_,
                                                const Config& config,
                                                const NamespaceLabels& labels);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_OPERATOR_WATCH_SCOPE_H_
