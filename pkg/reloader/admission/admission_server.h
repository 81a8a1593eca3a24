/// @file
/// Serves the operator's admission webhook.
#ifndef KUBEXX_RELOADER_ADMISSION_ADMISSION_SERVER_H_
#define KUBEXX_RELOADER_ADMISSION_ADMISSION_SERVER_H_

#include <memory>
#include <stop_token>

#include "kubexx/base/clock.h"
#include "kubexx/metrics/registry.h"
#include "kubexx/reloader/admission/admission_settings.h"
#include "kubexx/reloader/admission/source_admission.h"
#include "kubexx/reloader/admission/template_admission.h"

namespace kubexx::rest {
class RESTClient;
}

namespace kubexx::reloader {

/// What answers the webhooks.
struct Admissions {
  const TemplateAdmission& templates;
  const SourceAdmission& sources;  ///< used with AdmissionSettings::warnings
};

/// Serves the webhooks until `stop` is requested: keeps their certificate (see
/// certrotator::CertRotator), and their paths (see WebhookPath) in their configurations. What does
/// not work, such as a port that is taken or a Secret that may not be written, is logged and tried
/// again: the operator rolls meanwhile, and API servers do without the webhook. Blocks.
void ServeAdmission(const std::shared_ptr<rest::RESTClient>& client,
                    const AdmissionSettings& settings, const Admissions& admissions,
                    metrics::Registry* registry, base::Clock& clock, const std::stop_token& stop);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_ADMISSION_ADMISSION_SERVER_H_
