/// @file
/// What the server makes of configurations of admission webhooks when they are written.
#ifndef KUBEXX_APISERVER_ENDPOINTS_VALIDATION_CLUSTER_WEBHOOK_CONFIGURATION_H_
#define KUBEXX_APISERVER_ENDPOINTS_VALIDATION_CLUSTER_WEBHOOK_CONFIGURATION_H_

#include <string>
#include <vector>

#include "kubexx/apiserver/endpoints/checks/field_causes.h"
#include "kubexx/apiserver/object/resource_type.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// Whether objects of the type are MutatingWebhookConfigurations or
/// ValidatingWebhookConfigurations.
bool IsWebhookConfiguration(const ResourceType& type);

/// Fills in what a configuration leaves out, as upstream's defaulting does.
void SetWebhookDefaults(const ResourceType& type, codec::JsonTree& configuration);

/// Adds what is wrong with the webhooks of a configuration, as kube-apiserver's validation has it:
/// names, rules, where they are, side effects, versions, timeouts, policies.
void CheckWebhooks(const codec::JsonTree& configuration, FieldCauses& causes);

/// Adds what is wrong with a WebhookClientConfig at the path `field`.
void CheckClientConfig(const codec::JsonTree& config, const std::string& field,
                       FieldCauses& causes);

/// What this server does not do of a configuration.
std::vector<std::string> WebhookWarnings(const codec::JsonTree& configuration);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_VALIDATION_CLUSTER_WEBHOOK_CONFIGURATION_H_
