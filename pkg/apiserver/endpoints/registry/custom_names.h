/// @file
/// The names of custom resources that definitions want and have.
#ifndef KUBEXX_APISERVER_ENDPOINTS_REGISTRY_CUSTOM_NAMES_H_
#define KUBEXX_APISERVER_ENDPOINTS_REGISTRY_CUSTOM_NAMES_H_

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// One set of names, as `spec.names` of a definition has them.
struct CustomNames {
  std::string plural{};
  std::string singular{};
  std::vector<std::string> short_names{};
  std::string kind{};
  std::string list_kind{};
  bool operator==(const CustomNames&) const = default;
};

/// Why a definition's names are not accepted.
struct NameConflict {
  std::string reason{};   ///< of the condition NamesAccepted
  std::string message{};  ///< of that condition; it has the name
  bool operator==(const NameConflict&) const = default;
};

/// The names in a definition.
struct DefinitionNames {
  std::string definition{};  ///< its metadata.name
  std::string group{};
  bool accepted = false;                ///< its condition NamesAccepted holds
  std::optional<CustomNames> wanted{};  ///< spec.names
  std::optional<CustomNames> taken{};   ///< status.acceptedNames
  NameConflict conflict{};              ///< what the condition says when it does not hold
};

/// Reads the names of a CustomResourceDefinition, in which any of them may be missing.
DefinitionNames NamesOfDefinition(const codec::JsonTree& definition);

/// Which of the names that it wants a definition may have.
struct NameDecision {
  /// The names that it has from now on: those that it wants and that are free, and in place of the
  /// others those that it had, which may be none.
  CustomNames names{};
  /// std::nullopt when it has all that it wants. Of several, the last kind of name counts.
  std::optional<NameConflict> conflict{};
};

/// Which definitions have which names, as in kube-apiserver's naming controller. Names of resources
/// and of kinds do not conflict with each other, nor do names in different groups. Not thread-safe.
class TakenNames {
 public:
  /// Adds the names that a definition has. It may have some although it may not have all that it
  /// wants.
  void Add(const DefinitionNames& definition);
  NameDecision Decide(const DefinitionNames& definition) const;

 private:
  enum class Of : bool { kResource, kKind };
  /// The group, what the name is for, and the name.
  using Key = std::tuple<std::string, Of, std::string>;

  void Take(const DefinitionNames& definition, Of of, const std::string& name);
  bool HasAnother(const DefinitionNames& definition, Of of, const std::string& name) const;

  std::map<Key, std::set<std::string>> definitions_{};  // by name
};

/// The names that all definitions have together.
TakenNames TakenBy(const std::vector<std::shared_ptr<const DefinitionNames>>& definitions);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_REGISTRY_CUSTOM_NAMES_H_
