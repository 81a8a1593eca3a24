/// @file
/// How a write changes the managers of an object, and how a config is applied to an object.
#ifndef KUBEXX_APISERVER_MANAGEDFIELDS_UPDATER_H_
#define KUBEXX_APISERVER_MANAGEDFIELDS_UPDATER_H_

#include <string>
#include <vector>

#include "kubexx/apimachinery/status.h"
#include "kubexx/apiserver/managedfields/managers.h"
#include "kubexx/apiserver/managedfields/typed.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver::managedfields {

/// The writer of an object, and the fields that it cannot own. Nobody owns metadata.managedFields
/// itself.
struct Writer {
  Type type{};
  std::string manager{};
  std::string api_version{};
  std::string subresource{};
  /// Fields, with all fields below them, that the write resets or does not change.
  FieldSet ignored{};
  std::string now{};  ///< RFC 3339
};

/// Updates `managers` for a create, update or patch that has changed the object from `before` to
/// `after`: the writer becomes the only owner of the changed fields.
Managers TrackUpdate(const Writer& writer, const codec::JsonTree& before,
                     const codec::JsonTree& after, Managers managers);

/// A field that another manager owns with a different value.
struct FieldConflict {
  ManagerId manager{};
  Path path{};
};

/// The result of applying a config.
struct Applied {
  /// The conflicts by manager. When there are any, nothing was applied. Conflicts after a megabyte
  /// of paths are left out.
  std::vector<FieldConflict> conflicts{};
  codec::JsonTree object{};
  Managers managers{};
};

/// Applies `config` to `live`. A field that the writer's last config had is removed when `config`
/// does not have it and no other manager owns it. The writer becomes the owner of the fields of its
/// config, together with the managers that own them with the same value. When managers own them
/// with another value, there is a conflict, unless `force` takes the fields from them. Returns
/// kMalformed for a config that does not fit the type.
apimachinery::Result<Applied> ApplyConfig(const Writer& writer, const codec::JsonTree& live,
                                          const codec::JsonTree& config, Managers managers,
                                          bool force);

}  // namespace kubexx::apiserver::managedfields

#endif  // KUBEXX_APISERVER_MANAGEDFIELDS_UPDATER_H_
