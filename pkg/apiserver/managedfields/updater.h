/// @file
/// What a write does to the managers of an object, and what applying a config makes of the object.
#ifndef KUBEXX_APISERVER_MANAGEDFIELDS_UPDATER_H_
#define KUBEXX_APISERVER_MANAGEDFIELDS_UPDATER_H_

#include <string>
#include <vector>

#include "kubexx/apimachinery/status.h"
#include "kubexx/apiserver/managedfields/managers.h"
#include "kubexx/apiserver/managedfields/typed.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver::managedfields {

/// Who writes, and what of an object it cannot own. metadata.managedFields of the objects of a
/// write are nobody's.
struct Writer {
  Type type{};
  std::string manager{};
  std::string api_version{};
  std::string subresource{};
  /// Fields, with all below them, that the write resets or leaves alone.
  FieldSet ignored{};
  std::string now{};  ///< RFC 3339
};

/// `managers` after the object has become `after` by a create, update or patch: what has changed is
/// the writer's, and nobody else's.
Managers TrackUpdate(const Writer& writer, const codec::JsonTree& before,
                     const codec::JsonTree& after, Managers managers);

/// A field that somebody else owns with another value.
struct FieldConflict {
  ManagerId manager{};
  Path path{};
};

/// What came of applying a config.
struct Applied {
  /// Not empty: nothing came of it. By manager; those after a megabyte of paths are left out.
  std::vector<FieldConflict> conflicts{};
  codec::JsonTree object{};
  Managers managers{};
};

/// `live` with what `config` says, and without what the writer's last config said and this one does
/// not and nobody else owns. The writer owns what is in its config, together with those that own it
/// with the same value; `force` takes it from those with another. kMalformed for a config that does
/// not fit the type.
apimachinery::Result<Applied> ApplyConfig(const Writer& writer, const codec::JsonTree& live,
                                          const codec::JsonTree& config, Managers managers,
                                          bool force);

}  // namespace kubexx::apiserver::managedfields

#endif  // KUBEXX_APISERVER_MANAGEDFIELDS_UPDATER_H_
