/// @file
/// Defaults, checks and warnings for configurations of admission webhooks.
#ifndef KUBEXX_APISERVER_ENDPOINTS_VALIDATION_CLUSTER_WEBHOOK_CONFIGURATION_H_
#define KUBEXX_APISERVER_ENDPOINTS_VALIDATION_CLUSTER_WEBHOOK_CONFIGURATION_H_

#include <string>
#include <vector>

#include "kubexx/apiserver/endpoints/checks/field_causes.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// Sets the missing fields of a ValidatingWebhookConfiguration, with the same defaults as
/// kube-apiserver.
void SetValidatingWebhookDefaults(codec::JsonTree& configuration);
/// The same for a MutatingWebhookConfiguration, whose webhooks have a policy of reinvocation, too.
void SetMutatingWebhookDefaults(codec::JsonTree& configuration);

/// Adds what is wrong with the webhooks of a configuration, as in kube-apiserver's validation:
/// their names, rules, addresses, side effects, versions, timeouts and policies.
void CheckWebhooks(const codec::JsonTree& configuration, FieldCauses& causes);

/// Adds what is wrong with a WebhookClientConfig at the path `field`.
void CheckClientConfig(const codec::JsonTree& config, const std::string& field,
                       FieldCauses& causes);

/// Warnings about the parts of a configuration that this server does not implement.
std::vector<std::string> WebhookWarnings(const codec::JsonTree& configuration);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_VALIDATION_CLUSTER_WEBHOOK_CONFIGURATION_H_
