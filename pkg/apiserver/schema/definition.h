/// @file
/// Checks of CustomResourceDefinitions.
#ifndef KUBEXX_APISERVER_SCHEMA_DEFINITION_H_
#define KUBEXX_APISERVER_SCHEMA_DEFINITION_H_

#include <string>
#include <vector>

#include "kubexx/apimachinery/status.h"
#include "kubexx/apiserver/schema/budget.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver::schema {

/// Appends what is wrong with a definition: its names, versions, schemas, columns, subresources.
/// `definition` must have the types and the defaults of a CustomResourceDefinition. When the budget
/// is spent, the function appends that the check takes too much work. When the budget was stopped,
/// the definition may have more faults.
void CheckDefinition(const codec::JsonTree& definition, Budget& budget,
                     std::vector<apimachinery::StatusCause>& causes);

/// Appends which immutable fields of an accepted definition have changed: group, scope, kind and
/// plural.
void CheckDefinitionChange(const codec::JsonTree& before, const codec::JsonTree& definition,
                           std::vector<apimachinery::StatusCause>& causes);

/// Appends a cause when a definition in one of Kubernetes' own groups (k8s.io, kubernetes.io and
/// their subdomains) has no valid annotation api-approved.kubernetes.io. `before` is null for a new
/// definition; a fault that `before` has too is accepted.
void CheckApproval(const codec::JsonTree* before, const codec::JsonTree& definition,
                   std::vector<apimachinery::StatusCause>& causes);

/// Warnings for the client about parts of the definition that the server accepts but does not
/// implement.
std::vector<std::string> DefinitionWarnings(const codec::JsonTree& definition);

}  // namespace kubexx::apiserver::schema

#endif  // KUBEXX_APISERVER_SCHEMA_DEFINITION_H_
