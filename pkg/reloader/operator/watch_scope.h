/// @file
/// Which workloads a configuration concerns at all.
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

/// The kinds that an operator so configured watches.
std::set<WorkloadKind> WatchedKinds(const Config& config);

/// Asks for the labels of a namespace.
using NamespaceLabels = std::function<apimachinery::Result<apimachinery::LabelMap>()>;

/// Why an operator so configured never rolls workloads of a kind in a namespace, naming the flag;
/// empty when it may. `labels` is called when --namespace-selector asks for it, and its error is
/// passed on.
apimachinery::Result<std::string> WhyNotWatched(WorkloadKind kind, const std::string& namespace_,
                                                const Config& config,
                                                const NamespaceLabels& labels);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_OPERATOR_WATCH_SCOPE_H_
