/// @file
/// How server-side apply and strategic merge patches merge lists and maps of the built-in types.
/// The tables are generated.
#ifndef KUBEXX_APISERVER_MANAGEDFIELDS_MERGE_RULES_H_
#define KUBEXX_APISERVER_MANAGEDFIELDS_MERGE_RULES_H_

#include <cstdint>
#include <span>
#include <string_view>

namespace kubexx::apiserver::managedfields {

/// How two values of a list or map are merged.
enum class Merge : std::uint8_t {
  kGranular,  ///< a map that is merged member by member
  kAtomic,    ///< a list or map that is replaced as a whole
  kSet,       ///< a list of scalars that is a set
  kKeys,      ///< a list of objects that are identified by some of their members
};

/// The rule for one field or, when `field` is "", for one type. Fields and types without a rule are
/// merged by default: lists are atomic, maps granular. Taken from x-kubernetes-list-type,
/// x-kubernetes-list-map-keys and x-kubernetes-map-type.
struct MergeRule {
  std::string_view type;   ///< the codec's name: "core.v1.PodSpec"
  std::string_view field;  ///< its JSON name
  Merge merge;
  std::string_view keys;  ///< for kKeys: the members that identify an element, separated by commas
};

/// The default of a key member, for elements that lack it.
struct KeyDefault {
  std::string_view type;   ///< the type of the element
  std::string_view field;  ///< the JSON name of the key member
  std::string_view json;
};

/// How a strategic merge patch changes one field. Fields without a rule are treated by default:
/// lists are replaced, maps are merged. Taken from the tags patchStrategy and patchMergeKey of the
/// Go types.
struct PatchRule {
  std::string_view type;      ///< the codec's name: "core.v1.PodSpec"
  std::string_view field;     ///< its JSON name
  std::string_view strategy;  ///< "merge", "retainKeys", "merge,retainKeys" or "replace"
  std::string_view key;       ///< the member that identifies an element of a merged list of objects

  /// Whether the patch's list is merged with the object's list.
  bool Merges() const { return strategy.starts_with("merge"); }
  /// Whether the patch's map replaces the object's map.
  bool Replaces() const { return strategy == "replace"; }
};

/// All rules in ascending order of type and field.
std::span<const MergeRule> MergeRules();
/// All rules in ascending order of type and field.
std::span<const PatchRule> PatchRules();
/// The defaults of all key members.
std::span<const KeyDefault> KeyDefaults();

/// The merge rule of one field, or of the type itself with `field` ""; null when there is none.
const MergeRule* MergeRuleOf(std::string_view type, std::string_view field);
/// The patch rule of one field; null when there is none.
const PatchRule* PatchRuleOf(std::string_view type, std::string_view field);

}  // namespace kubexx::apiserver::managedfields

#endif  // KUBEXX_APISERVER_MANAGEDFIELDS_MERGE_RULES_H_
