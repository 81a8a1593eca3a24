/// @file
/// The options of a deletion that a client sends.
#ifndef KUBEXX_APISERVER_ENDPOINTS_REQUEST_DELETE_OPTIONS_H_
#define KUBEXX_APISERVER_ENDPOINTS_REQUEST_DELETE_OPTIONS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "kubexx/apimachinery/status.h"
#include "kubexx/apiserver/object/resource_type.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// The fields of meta/v1 DeleteOptions. Missing ones are "" or std::nullopt.
struct DeleteOptions {
  /// The preconditions of the deletion.
  std::string uid{};
  std::string resource_version{};
  /// The propagation policy: Orphan, Background or Foreground.
  std::string propagation{};
  std::optional<std::int64_t> grace_seconds{};
};

/// Reads a DeleteOptions object. Returns kInvalid for an unknown propagation policy, or for one
/// together with its predecessor orphanDependents.
apimachinery::Result<DeleteOptions> ReadDeleteOptions(const codec::JsonTree& options);

/// Checks the preconditions of a deletion. Returns kConflict when the object has another uid or
/// resourceVersion.
apimachinery::Result<void> CheckPreconditions(const ResourceType& type,
                                              const codec::JsonTree& object,
                                              const DeleteOptions& options);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_REQUEST_DELETE_OPTIONS_H_
