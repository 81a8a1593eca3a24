/// @file
/// What the oracle reads in stored objects.
#ifndef KUBEXX_TEST_ORACLE_POD_TEMPLATE_H_
#define KUBEXX_TEST_ORACLE_POD_TEMPLATE_H_

#include <string>
#include <string_view>
#include <vector>

#include "kubexx/codec/json_tree.h"

namespace kubexx::oracle {

/// As JSON; "" when there is none.
std::string TextOf(const codec::JsonTree* tree);

/// Whether two texts are one JSON value: a patch may leave the members of an object in another
/// order.
bool IsSameJson(const std::string& a, const std::string& b);

/// The data of a ConfigMap or Secret.
std::string DataOf(const codec::JsonTree& source);

/// A pod template without what operators write there.
std::string OthersPartOf(codec::JsonTree pod_template);

/// What operators say in a pod template of the data that it was rolled for; empty: nothing.
std::string StampsIn(const codec::JsonTree& pod_template);

/// What a baseline says of data: without the version, and whose it is. Lives as long as `baseline`.
std::string_view DigestsIn(std::string_view baseline);

/// Begins the names of SecretProviderClasses as sources.
inline constexpr std::string_view kProviderClasses = "secretproviderclasses/";
inline bool IsProviderClass(std::string_view source) {
  return source.starts_with(kProviderClasses);
}

/// What the pods of a template in the namespace `space` take data from: "configmaps/ns/name" and
/// "secrets/ns/name", of what is in `envFrom`; and "secretproviderclasses/ns/name" of volumes.
std::vector<std::string> SourcesOf(const codec::JsonTree& pod_template, const std::string& space);

/// Whether `baseline`, of a workload in the namespace of the source, says anything of the source.
bool IsNamed(const std::string& baseline, const std::string& source);

/// Whether `baseline`, of a workload in the namespace of the source, says of the source that it has
/// these data, which are under "key" only; of a SecretProviderClass, this version of its only
/// object, whose id is kObjectId.
bool IsRecorded(const std::string& baseline, const std::string& source, const std::string& data);

/// What a SecretProviderClass names.
inline constexpr const char* kObjectId = "object";

}  // namespace kubexx::oracle

#endif  // KUBEXX_TEST_ORACLE_POD_TEMPLATE_H_
