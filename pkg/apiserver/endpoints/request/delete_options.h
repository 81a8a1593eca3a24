/// @file
/// What a client says about a deletion.
#ifndef KUBEXX_APISERVER_ENDPOINTS_REQUEST_DELETE_OPTIONS_H_
#define KUBEXX_APISERVER_ENDPOINTS_REQUEST_DELETE_OPTIONS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "kubexx/apimachinery/status.h"
#include "kubexx/apiserver/object/resource_type.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// What a client says about a deletion, of meta/v1 DeleteOptions; "" and nothing for what it does
/// not say.
struct DeleteOptions {
  /// Preconditions.
  std::string uid{};
  std::string resource_version{};
  /// Orphan, Background or Foreground.
  std::string propagation{};
  std::optional<std::int64_t> grace_seconds{};
};

/// The fields of a DeleteOptions object. kInvalid for a propagation policy that does not exist, or
/// together with its predecessor orphanDependents.
apimachinery::Result<DeleteOptions> ReadDeleteOptions(const codec::JsonTree& options);

/// Whether the object is the one that a deletion is about; kConflict.
apimachinery::Result<void> CheckPreconditions(const ResourceType& type,
                                              const codec::JsonTree& object,
                                              const DeleteOptions& options);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_REQUEST_DELETE_OPTIONS_H_
