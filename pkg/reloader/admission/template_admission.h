/// @file
/// Answers the API server about workloads that are created, or whose pod template changes.
#ifndef KUBEXX_RELOADER_ADMISSION_TEMPLATE_ADMISSION_H_
#define KUBEXX_RELOADER_ADMISSION_TEMPLATE_ADMISSION_H_

#include <functional>
#include <stop_token>

#include "kubexx/apimachinery/status.h"
#include "kubexx/codec/json_tree.h"
#include "kubexx/metrics/registry.h"
#include "kubexx/reloader/model/workload_kind.h"
#include "kubexx/webhook/admission.h"

namespace kubexx::reloader {

/// A mutating webhook for Deployments, StatefulSets and DaemonSets: writes into an object what
/// Stamp returns. It allows every request. When something fails it leaves the object as it is, as
/// if it were not there: the operator makes up for it. Counts its answers in
/// kubexx_reloader_admission_total by result. Thread-safe, as far as Stamp is.
class TemplateAdmission {
 public:
  /// Returns the workload with the digests of its sources; see StampedObject. The object has its
  /// namespace. May block until `stop` is requested.
  using Stamp = std::function<apimachinery::Result<codec::JsonTree>(
      WorkloadKind kind, const codec::JsonTree& object, const std::stop_token& stop)>;

  TemplateAdmission(Stamp stamp, metrics::Registry* registry);

  /// The answer to one request. It does nothing outside of the object, so a dry run is like any
  /// other request.
  webhook::Response Answer(const webhook::Call& call) const;

 private:
  /// The patch, empty when nothing changes.
  apimachinery::Result<std::string> PatchFor(const webhook::Call& call) const;

  const Stamp stamp_;
  metrics::Counter stamped_;
  metrics::Counter unchanged_;
  metrics::Counter failed_;
};

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_ADMISSION_TEMPLATE_ADMISSION_H_
