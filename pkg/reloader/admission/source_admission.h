/// @file
/// Warns whoever changes a ConfigMap or Secret of what the change rolls.
#ifndef KUBEXX_RELOADER_ADMISSION_SOURCE_ADMISSION_H_
#define KUBEXX_RELOADER_ADMISSION_SOURCE_ADMISSION_H_

#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "kubexx/apimachinery/status.h"
#include "kubexx/base/clock.h"
#include "kubexx/metrics/registry.h"
#include "kubexx/reloader/model/annotations.h"
#include "kubexx/reloader/model/changed_sources.h"
#include "kubexx/reloader/observe/preview.h"
#include "kubexx/webhook/admission.h"

namespace kubexx::reloader {

/// The warnings for a change: which workloads it rolls, and which of them wait and for what. Two at
/// most, of less than 120 characters each, as API servers want them. Empty when it rolls nothing.
/// They name workloads of the source's own namespace, and no value.
std::vector<std::string> WarningsOf(const Preview& preview);

/// A validating webhook for updates of ConfigMaps and Secrets that refuses nothing: the answer
/// allows the request, and may have warnings, which kubectl shows. When something fails there are
/// none. Counts its answers in kubexx_reloader_admission_warnings_total by result. Thread-safe, as
/// far as Forecast is.
class SourceAdmission {
 public:
  /// Tells what becomes of the workloads when the source changes so. May block until `stop` is
  /// requested.
  using Forecast = std::function<apimachinery::Result<Preview>(const ChangedSource& changed,
                                                               const std::stop_token& stop)>;

  SourceAdmission(Forecast forecast, AnnotationKeys keys, base::Clock& clock,
                  metrics::Registry* registry);

  webhook::Response Answer(const webhook::Call& call) const;

 private:
  apimachinery::Result<std::vector<std::string>> Warnings(const webhook::Call& call) const;

  const Forecast forecast_;
  const AnnotationKeys keys_;
  base::Clock& clock_;
  metrics::Counter warned_;
  metrics::Counter silent_;
  metrics::Counter failed_;
};

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_ADMISSION_SOURCE_ADMISSION_H_
