/// @file
/// The path under which API servers find the admission webhook.
#ifndef KUBEXX_RELOADER_ADMISSION_WEBHOOK_PATH_H_
#define KUBEXX_RELOADER_ADMISSION_WEBHOOK_PATH_H_

#include <string>
#include <string_view>

#include "kubexx/dynamic/unstructured.h"
#include "kubexx/reloader/admission/admission_settings.h"

namespace kubexx::reloader {

/// The path of the webhook that is called `name`, given the UID of the Secret with the certificate.
/// Nobody can guess it who may not read that Secret or the webhook's configuration: webhooks tell
/// digests of sources and names of workloads, and must not tell them to every pod that can reach
/// their port.
std::string WebhookPath(std::string_view name, std::string_view secret_uid);

/// The strategic merge patch that gives `path` to those webhooks of a MutatingWebhookConfiguration
/// or ValidatingWebhookConfiguration that lead to the Service, or begin with the URL, of
/// `settings`; empty when all of them have it.
std::string PathPatch(const dynamic::Unstructured& configuration, const AdmissionSettings& settings,
                      const std::string& path);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_ADMISSION_WEBHOOK_PATH_H_
