// What the table says of some types, as kube-apiserver 1.36 has it.
#include "kubexx/apiserver/resources/builtin_types.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace kubexx::apiserver {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// By its qualified plural, in the version that is preferred.
const ResourceType& Builtin(std::string_view name) {
  static const std::vector<ResourceTypeRef> kTypes = BuiltinTypes();
  static const ResourceType kNone;
  const auto found = std::ranges::find_if(
      kTypes, [name](const ResourceTypeRef& type) { return type->QualifiedPlural() == name; });
  return found == kTypes.end() ? kNone : **found;
}

std::vector<std::string> SubresourcesOf(std::string_view name) {
  std::vector<std::string> names;
  for (const Subresource& sub : Builtin(name).subresources) {
    names.emplace_back(sub.name);
  }
  return names;
}

/// Those that have the rule.
std::set<std::string> TypesWith(bool TypeRules::* rule) {
  std::set<std::string> names;
  for (const ResourceTypeRef& type : BuiltinTypes()) {
    if (type->rules.*rule) {
      names.insert(type->QualifiedPlural());
    }
  }
  return names;
}

TEST(BuiltinTypesTest, TheServerLooksAtWhatItGoesBy) {
  std::map<ServerDuty, std::set<std::string>> types;
  for (const ResourceTypeRef& type : BuiltinTypes()) {
    types[type->rules.duty].insert(type->QualifiedPlural());
  }
  EXPECT_THAT(types[ServerDuty::kServeCustomTypes],
              ElementsAre("customresourcedefinitions.apiextensions.k8s.io"));
  EXPECT_THAT(types[ServerDuty::kCallWebhooks],
              ElementsAre("mutatingwebhookconfigurations.admissionregistration.k8s.io",
                          "validatingwebhookconfigurations.admissionregistration.k8s.io"));
  EXPECT_THAT(types[ServerDuty::kEmptyNamespaces], ElementsAre("namespaces"));
}

TEST(BuiltinTypesTest, SubresourcesAreInTheOrderOfDiscovery) {
  EXPECT_THAT(SubresourcesOf("pods"),
              ElementsAre("binding", "ephemeralcontainers", "eviction", "resize", "status"));
  EXPECT_THAT(SubresourcesOf("deployments.apps"), ElementsAre("scale", "status"));
  EXPECT_THAT(SubresourcesOf("serviceaccounts"), ElementsAre("token"));
  EXPECT_THAT(SubresourcesOf("namespaces"), ElementsAre("finalize", "status"));
  EXPECT_THAT(SubresourcesOf("certificatesigningrequests.certificates.k8s.io"),
              ElementsAre("approval", "status"));
  EXPECT_THAT(SubresourcesOf("configmaps"), IsEmpty());
}

TEST(BuiltinTypesTest, VerbsAreThoseThatTheTypeAllows) {
  EXPECT_EQ(Builtin("pods").verbs, kAllVerbs);
  EXPECT_FALSE(Builtin("namespaces").verbs.Has(Verb::kDeleteCollection));
  EXPECT_THAT(Builtin("componentstatuses").verbs.Names(), ElementsAre("get", "list"));
  EXPECT_THAT(Builtin("tokenreviews.authentication.k8s.io").verbs.Names(), ElementsAre("create"));
  EXPECT_EQ(Builtin("pods").FindSubresource("binding")->verbs, kPosted);
  EXPECT_THAT(Builtin("namespaces").FindSubresource("finalize")->verbs.Names(),
              ElementsAre("update"));
  EXPECT_EQ(Builtin("pods").FindSubresource("scale"), nullptr);
}

TEST(BuiltinTypesTest, RulesAreThoseOfTheStrategies) {
  EXPECT_THAT(TypesWith(&TypeRules::counts_annotations), ElementsAre("deployments.apps"));
  EXPECT_THAT(TypesWith(&TypeRules::deleted_gracefully), ElementsAre("pods"));
  EXPECT_THAT(TypesWith(&TypeRules::holds_objects), ElementsAre("namespaces"));
  EXPECT_THAT(TypesWith(&TypeRules::keeps_new_status), ElementsAre("nodes"));
  EXPECT_THAT(TypesWith(&TypeRules::orphans_by_default),
              ElementsAre("jobs.batch", "replicationcontrollers"));
  EXPECT_THAT(TypesWith(&TypeRules::uncollected), ElementsAre("events", "events.events.k8s.io"));
  EXPECT_THAT(
      TypesWith(&TypeRules::created_by_update),
      ElementsAre("clusterrolebindings.rbac.authorization.k8s.io",
                  "clusterroles.rbac.authorization.k8s.io", "endpoints", "events",
                  "events.events.k8s.io", "leases.coordination.k8s.io", "limitranges",
                  "rolebindings.rbac.authorization.k8s.io", "roles.rbac.authorization.k8s.io",
                  "runtimeclasses.node.k8s.io", "services"));
  EXPECT_THAT(
      TypesWith(&TypeRules::answers_with_deleted),
      ElementsAre("csidrivers.storage.k8s.io", "csinodes.storage.k8s.io", "persistentvolumeclaims",
                  "persistentvolumes", "pods", "podtemplates", "resourcequotas", "serviceaccounts",
                  "services", "storageclasses.storage.k8s.io", "volumeattachments.storage.k8s.io"));
  EXPECT_EQ(Builtin("pods").rules.status_metadata, StatusMetadata::kOwnersKept);
  EXPECT_EQ(Builtin("configmaps").rules.status_metadata, StatusMetadata::kWritten);
}

TEST(BuiltinTypesTest, EachTypeHasASchemaAndAPlaceOfItsOwn) {
  std::set<std::string> prefixes;
  for (const ResourceTypeRef& type : BuiltinTypes()) {
    EXPECT_NE(type->schema, nullptr) << type->QualifiedPlural();
    EXPECT_EQ(prefixes.insert(type->prefix).second, type->stored_as == nullptr) << type->prefix;
  }
}

// What is never shown has no columns, nor what is shown by its name and time alone.
TEST(BuiltinTypesTest, WhatIsKeptHasColumns) {
  std::vector<std::string> without;
  for (const ResourceTypeRef& type : BuiltinTypes()) {
    if (!type->is_review && type->columns == nullptr) {
      without.push_back(type->QualifiedPlural());
    }
  }
  EXPECT_THAT(without, ElementsAre("limitranges", "customresourcedefinitions.apiextensions.k8s.io",
                                   "clusterroles.rbac.authorization.k8s.io",
                                   "roles.rbac.authorization.k8s.io",
                                   "csistoragecapacities.storage.k8s.io"));
}

}  // namespace
}  // namespace kubexx::apiserver
