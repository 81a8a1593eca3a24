/// @file
/// The names that definitions of custom resources want and have.
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
};

/// What a definition says about names.
struct DefinitionNames {
  std::string definition{};  ///< its metadata.name
  std::string group{};
  bool accepted = false;                ///< its condition NamesAccepted holds
  std::optional<CustomNames> wanted{};  ///< spec.names
  std::optional<CustomNames> taken{};   ///< status.acceptedNames
};

/// From a CustomResourceDefinition, which may lack any of it.
DefinitionNames NamesOfDefinition(const codec::JsonTree& definition);

/// Why a definition's names are not accepted.
struct NameConflict {
  const char* reason;  ///< of its condition
  std::string name;
};

/// Which definitions have which names, as kube-apiserver's controller of names sees it: resources
/// and kinds are apart, and so are groups. Not thread-safe.
class TakenNames {
 public:
  /// The names that it has; none before any were accepted.
  void Add(const DefinitionNames& definition);
  /// The first of the names wanted that another definition has.
  std::optional<NameConflict> ConflictOf(const DefinitionNames& definition) const;

 private:
  enum class Of : bool { kResource, kKind };
  /// Group, what it names, and name.
  using Key = std::tuple<std::string, Of, std::string>;

  void Take(const DefinitionNames& definition, Of of, const std::string& name);
  bool HasAnother(const DefinitionNames& definition, Of of, const std::string& name) const;

  std::map<Key, std::set<std::string>> definitions_{};  // by name
};

/// What all of them have together.
TakenNames TakenBy(const std::vector<std::shared_ptr<const DefinitionNames>>& definitions);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_REGISTRY_CUSTOM_NAMES_H_
