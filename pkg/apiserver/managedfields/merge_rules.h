/// @file
/// How lists and maps of the built-in types are merged, by server-side apply and by strategic merge
/// patches; the tables are generated.
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

/// How a strategic merge patch changes one field, where that is not the rule: lists are replaced,
/// maps are merged. From the tags patchStrategy and patchMergeKey of the Go types.
struct PatchRule {
  std::string_view type;      ///< the codec's name: "core.v1.PodSpec"
  std::string_view field;     ///< its JSON name
  std::string_view strategy;  ///< "merge", "retainKeys", "merge,retainKeys" or "replace"
  std::string_view key;  ///< the member that tells the elements of a merged list of objects apart

  /// Whether a list is merged with that of the patch.
  bool Merges() const { return strategy.starts_with("merge"); }
  /// Whether a map is replaced by that of the patch.
  bool Replaces() const { return strategy == "replace"; }
};

/// Ascending by type and field.
std::span<const MergeRule> MergeRules();
/// Ascending by type and field.
std::span<const PatchRule> PatchRules();
/// Of all types; few.
std::span<const KeyDefault> KeyDefaults();

/// That of one field; null where there is none. A type has one for itself, whose field is "".
const MergeRule* MergeRuleOf(std::string_view type, std::string_view field);
/// That of one field; null where there is none.
const PatchRule* PatchRuleOf(std::string_view type, std::string_view field);

}  // namespace kubexx::apiserver::managedfields

#endif  // KUBEXX_APISERVER_MANAGEDFIELDS_MERGE_RULES_H_
