/// @file
/// The webhooks of a MutatingWebhookConfiguration or ValidatingWebhookConfiguration.
#ifndef KUBEXX_APISERVER_ADMISSION_WEBHOOK_H_
#define KUBEXX_APISERVER_ADMISSION_WEBHOOK_H_

#include <chrono>
#include <string>
#include <vector>

#include "kubexx/apiserver/admission/endpoint.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver::admission {

/// Which requests a webhook is asked about. "*" in a list matches everything. As
/// admissionregistration/v1 RuleWithOperations.
struct Rule {
  std::vector<std::string> operations{};
  std::vector<std::string> groups{};
  std::vector<std::string> versions{};
  std::vector<std::string> resources{};  ///< "pods", "pods/status", "*", "*/scale", "*/*"
  std::string scope = "*";               ///< Cluster, Namespaced or "*"
};

/// One webhook of a configuration, with its defaults. Immutable once it is in use.
struct Webhook {
  std::string configuration{};  ///< the name of its configuration
  std::string name{};
  ClientConfig client{};
  std::vector<Rule> rules{};
  bool takes_v1 = true;           ///< admissionReviewVersions has "v1"
  bool ignores_failures = false;  ///< failurePolicy: Ignore
  bool equivalent = true;         ///< matchPolicy: Equivalent
  /// A meta/v1 LabelSelector, as is the next member.
  codec::JsonTree namespace_selector{};
  codec::JsonTree object_selector{};
  bool selects = true;  ///< both selectors are valid; see IsSelector
  /// The webhook has side effects, so it must not be asked about dry runs.
  bool has_side_effects = true;
  std::chrono::seconds timeout{10};
  bool reinvoked = false;  ///< reinvocationPolicy: IfNeeded, of a mutating webhook
};

/// Reads the webhooks of a configuration that the server has accepted, in its order.
std::vector<Webhook> ReadWebhooks(const codec::JsonTree& configuration);

}  // namespace kubexx::apiserver::admission

#endif  // KUBEXX_APISERVER_ADMISSION_WEBHOOK_H_
