/// @file
/// How lists and maps of the built-in types are merged; the tables are generated.
#ifndef KUBEXX_APISERVER_MANAGEDFIELDS_MERGE_RULES_H_
#define KUBEXX_APISERVER_MANAGEDFIELDS_MERGE_RULES_H_

#include <cstdint>
#include <span>
#include <string_view>

namespace kubexx::apiserver::managedfields {

/// How two values of a list or map become one.
enum class Merge : std::uint8_t {
  kGranular,  ///< a map, member by member
  kAtomic,    ///< a list or map as a whole
  kSet,       ///< a list of scalars, each of which is there or not
  kKeys,      ///< a list of objects that some of their members tell apart
};

/// One field or, when `field` is "", one type that is not merged as most are: lists atomic, maps
/// granular. From x-kubernetes-list-type, x-kubernetes-list-map-keys and x-kubernetes-map-type.
struct MergeRule {
  std::string_view type;   ///< the codec's name: "core.v1.PodSpec"
  std::string_view field;  ///< its JSON name
  Merge merge;
  std::string_view keys;  ///< of kKeys, with commas between them
};

/// What a key of an element is that the element does not have.
struct KeyDefault {
  std::string_view type;   ///< of the element
  std::string_view field;  ///< the key
  std::string_view json;
};

/// Ascending by type and field.
std::span<const MergeRule> MergeRules();
/// Of all types; few.
std::span<const KeyDefault> KeyDefaults();

}  // namespace kubexx::apiserver::managedfields

#endif  // KUBEXX_APISERVER_MANAGEDFIELDS_MERGE_RULES_H_
