/// @file
/// TypeOptions: settings for the informer of one type.
#ifndef KUBEXX_INFORMERS_TYPE_OPTIONS_H_
#define KUBEXX_INFORMERS_TYPE_OPTIONS_H_

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kubexx/api/resource.h"
#include "kubexx/apimachinery/group_version.h"
#include "kubexx/apimachinery/status.h"
#include "kubexx/cache/object.h"

namespace kubexx::informers {

/// Settings of one type's informer, which replace those of FactoryOptions. Semantics:
/// controller-runtime's cache.ByObject.
struct TypeOptions {
  /// The namespaces to watch, each listed and watched separately; an empty list means all. If
  /// unset, the namespaces of the factory are watched. Has no effect on cluster-scoped types.
  std::optional<std::vector<std::string>> namespaces{};
  /// If not empty, only objects that match these selectors are cached.
  std::string label_selector{};
  std::string field_selector{};
  /// If set, changes objects before they are stored; see cache::InformerOptions::transform.
  std::function<apimachinery::Result<void>(cache::Object&)> transform{};
};

/// The settings of some types.
using TypeOptionsMap = std::map<apimachinery::GroupVersionResource, TypeOptions>;

/// Returns the key of a resource in a TypeOptionsMap.
inline apimachinery::GroupVersionResource NameOfType(const apimachinery::ResourceInfo& resource) {
  return {.group = std::string(resource.group),
          .version = std::string(resource.version),
          .resource = std::string(resource.plural)};
}

/// Returns an entry for FactoryOptions::by_type.
///
///     ManagerOptions options;
///     options.cache.by_type = {
///         informers::ForType<Secret>({.namespaces = {{"shop"}}, .label_selector = "app=shop"}),
///         informers::ForType<ConfigMap>({.field_selector = "metadata.name!=kube-root-ca.crt"})};
template <class T>
TypeOptionsMap::value_type ForType(TypeOptions options) {
  return {NameOfType(api::ResourceOf<T>()), std::move(options)};
}

}  // namespace kubexx::informers

#endif  // KUBEXX_INFORMERS_TYPE_OPTIONS_H_
