/// @file
/// Options of requests that write, as in meta/v1.
#ifndef KUBEXX_KUBERNETES_OPTIONS_H_
#define KUBEXX_KUBERNETES_OPTIONS_H_

#include <cstdint>
#include <optional>
#include <string>

namespace kubexx::kubernetes {

/// Options of creates and updates.
struct WriteOptions {
  /// The name that the server records as the manager of the written fields. When empty, the server
  /// makes one from the user agent.
  std::string field_manager{};
  /// "", "Ignore", "Warn" or "Strict": how the server handles unknown and duplicate fields.
  std::string field_validation{};
  /// Whether the server only checks the request and stores nothing.
  bool dry_run = false;
};
/// What a client fills in for all of its writes: a field manager and a field validation where the
/// options of the write have none, and a dry run for every write, deletes included. As
/// controller-runtime's WithFieldOwner, WithFieldValidation and NewDryRunClient.
using WriteDefaults = WriteOptions;
/// Options of creates.
using CreateOptions = WriteOptions;
/// Options of updates.
using UpdateOptions = WriteOptions;

/// Options of patches of every type.
struct PatchOptions {
  /// Required for PatchType::kApply.
  std::string field_manager{};
  std::string field_validation{};
  bool dry_run = false;
  /// For kApply only: whether to take over fields that other managers own instead of failing with
  /// kConflict.
  bool force = false;
  /// The subresource, for example "status" or "scale". The answer is decoded as T in any case.
  std::string subresource{};
};

/// Options of server-side apply.
struct ApplyOptions {
  /// The name of the fields' manager; required.
  std::string field_manager{};
  /// Whether to take over fields that other managers own instead of failing with kConflict.
  bool force = false;
  bool dry_run = false;
  std::string field_validation{};
};

/// What happens to the objects that a deleted one owns.
enum class Propagation : std::uint8_t { kServerDefault, kOrphan, kBackground, kForeground };

/// Options of deletes, of one object or of a collection.
struct DeleteOptions {
  Propagation propagation = Propagation::kServerDefault;
  std::optional<std::int64_t> grace_period_seconds{};
  /// Preconditions: the delete fails with kConflict unless the stored object has this uid and
  /// resourceVersion. Empty ones are not checked.
  std::string uid{};
  std::string resource_version{};
  bool dry_run = false;
};

}  // namespace kubexx::kubernetes

#endif  // KUBEXX_KUBERNETES_OPTIONS_H_
