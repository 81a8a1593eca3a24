/// @file
/// The steps of a rotation, without the requests.
#ifndef KUBEXX_CERTROTATOR_INTERNAL_ROTATION_H_
#define KUBEXX_CERTROTATOR_INTERNAL_ROTATION_H_

#include <optional>
#include <string>
#include <vector>

#include "kubexx/api/core/v1/types.gen.h"
#include "kubexx/apimachinery/status.h"
#include "kubexx/base/clock.h"
#include "kubexx/http/certificate.h"

namespace kubexx::certrotator::internal {

/// What the Secret holds. A value type.
struct Held {
  http::KeyPair current{};
  /// The one that will be served when the configurations trust it.
  std::optional<http::KeyPair> next{};
  /// The certificate that was served before; other replicas may still serve it.
  std::string previous{};
  /// Since when all configurations have trusted `next`.
  std::optional<base::WallTime> trusted_since{};
  bool operator==(const Held&) const = default;
};

/// Returns what the Secret holds. Parts that it lacks are empty.
Held Read(const api::core::v1::Secret& secret);
/// Replaces the parts in the Secret, and keeps everything else that it holds.
void Write(const Held& held, api::core::v1::Secret& secret);

/// The certificates that API servers have to trust, as PEM: those of `held`, without `previous`
/// when that has expired at `now`.
std::string Bundle(const Held& held, base::WallTime now);

/// The times and names of a rotation.
struct Plan {
  /// The first one is that of the Service. A certificate without it is of no use; one that lacks
  /// another name is served until the next one is trusted.
  std::vector<std::string> names{};
  base::Duration lifetime{};
  base::Duration renew_before{};
  base::Duration trust_delay{};
};

/// Makes the step of `held` that is due at `now`, if any, and returns what it was, for the log;
/// std::nullopt when nothing is due. `trusts_next` says whether every configuration has the next
/// certificate; std::nullopt when that is not known. Fails only when no certificate can be made.
apimachinery::Result<std::optional<std::string>> Advance(Held& held, const Plan& plan,
                                                         base::WallTime now,
                                                         std::optional<bool> trusts_next);

}  // namespace kubexx::certrotator::internal

#endif  // KUBEXX_CERTROTATOR_INTERNAL_ROTATION_H_
