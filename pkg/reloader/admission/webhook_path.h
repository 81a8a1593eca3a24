/// @file
/// The path under which API servers find the admission webhook.
#ifndef KUBEXX_RELOADER_ADMISSION_WEBHOOK_PATH_H_
#define KUBEXX_RELOADER_ADMISSION_WEBHOOK_PATH_H_

#include <string>
#include <string_view>

#include "kubexx/dynamic/unstructured.h"
#include "kubexx/reloader/admission/admission_settings.h"

namespace kubexx::reloader {

/// The path of the webhook, given the UID of the Secret with its certificate. Nobody can guess it
/// who may not read that Secret or the MutatingWebhookConfiguration: the webhook tells digests of
/// sources, and must not tell them to every pod that can reach its port.
std::string WebhookPath(std::string_view secret_uid);

/// The strategic merge patch that gives `path` to those webhooks of a MutatingWebhookConfiguration
/// that lead to the Service, or begin with the URL, of `settings`; empty when all of them have it.
std::string PathPatch(const dynamic::Unstructured& configuration, const AdmissionSettings& settings,
                      const std::string& path);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_ADMISSION_WEBHOOK_PATH_H_
