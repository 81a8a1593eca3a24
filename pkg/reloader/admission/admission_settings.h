/// @file
/// The settings of the operator's admission webhook.
#ifndef KUBEXX_RELOADER_ADMISSION_ADMISSION_SETTINGS_H_
#define KUBEXX_RELOADER_ADMISSION_ADMISSION_SETTINGS_H_

#include <string>

namespace kubexx::reloader {

/// Where the webhook is served, and what leads to it.
struct AdmissionSettings {
  bool enabled = false;
  /// The name of the Service that leads to the webhook. The Secret with its certificate is called
  /// NAME-tls, and the MutatingWebhookConfiguration NAMESPACE.NAME.
  std::string name{};
  std::string namespace_{};  ///< of the Service and of the Secret
  std::string address = ":9443";
  /// Also serve the webhook that warns of rollouts; its ValidatingWebhookConfiguration is called
  /// NAMESPACE.NAME, too.
  bool warnings = false;
  /// For an operator outside of the cluster: the URL, such as "https://192.0.2.7:9443", where API
  /// servers find the webhook. Empty: they find it by the Service.
  std::string url{};
};

/// The host in AdmissionSettings::url; empty when the text is not such a URL.
std::string HostOfAdmission(const std::string& url);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_ADMISSION_ADMISSION_SETTINGS_H_
