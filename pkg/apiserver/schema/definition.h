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
/// `definition` has the types of a CustomResourceDefinition and its defaults. That it takes too
/// much work is wrong with it; when the budget is stopped, more may be.
void CheckDefinition(const codec::JsonTree& definition, Budget& budget,
                     std::vector<apimachinery::StatusCause>& causes);

/// Appends which of the fields that cannot change once a definition is accepted did: group, scope,
/// kind and plural.
void CheckDefinitionChange(const codec::JsonTree& before, const codec::JsonTree& definition,
                           std::vector<apimachinery::StatusCause>& causes);

/// Appends that a definition in one of Kubernetes' own groups (k8s.io, kubernetes.io and below)
/// does not say why it may be there, in the annotation api-approved.kubernetes.io. `before` is null
/// for a new one; what is wrong with it, too, is let in.
void CheckApproval(const codec::JsonTree* before, const codec::JsonTree& definition,
                   std::vector<apimachinery::StatusCause>& causes);

/// Sentences for the client about what is accepted but not done.
std::vector<std::string> DefinitionWarnings(const codec::JsonTree& definition);

}  // namespace kubexx::apiserver::schema

#endif  // KUBEXX_APISERVER_SCHEMA_DEFINITION_H_
