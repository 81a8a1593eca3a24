/// @file
/// Options of writing requests, as in meta/v1.
#ifndef KUBEXX_KUBERNETES_OPTIONS_H_
#define KUBEXX_KUBERNETES_OPTIONS_H_

#include <cstdint>
#include <optional>
#include <string>

namespace kubexx::kubernetes {

/// Of creates and updates.
struct WriteOptions {
  /// Who is recorded as the manager of the written fields; empty: made from the user agent by the
  /// server.
  std::string field_manager{};
  /// "", "Ignore", "Warn" or "Strict": what the server does about unknown and duplicate fields.
  std::string field_validation{};
  /// Everything is checked, nothing is stored.
  bool dry_run = false;
};
/// Of creates.
using CreateOptions = WriteOptions;
/// Of updates.
using UpdateOptions = WriteOptions;

/// Of patches of every type.
struct PatchOptions {
  /// Required for PatchType::kApply.
  std::string field_manager{};
  std::string field_validation{};
  bool dry_run = false;
  /// kApply only: take over fields that other managers own instead of failing with kConflict.
  bool force = false;
  /// For example "status" or "scale"; the object that comes back is decoded as T all the same.
  std::string subresource{};
};

/// Of server-side apply.
struct ApplyOptions {
  /// Whose fields these are; required.
  std::string field_manager{};
  /// Take over fields that other managers own instead of failing with kConflict.
  bool force = false;
  bool dry_run = false;
  std::string field_validation{};
};

/// What happens to the objects that a deleted one owns.
enum class Propagation : std::uint8_t { kServerDefault, kOrphan, kBackground, kForeground };

/// Of deletes, of one object or of a collection.
struct DeleteOptions {
  Propagation propagation = Propagation::kServerDefault;
  std::optional<std::int64_t> grace_period_seconds{};
  /// Preconditions: kConflict unless the stored object has this uid and resource version. Empty:
  /// none.
  std::string uid{};
  std::string resource_version{};
  bool dry_run = false;
};

}  // namespace kubexx::kubernetes

#endif  // KUBEXX_KUBERNETES_OPTIONS_H_
