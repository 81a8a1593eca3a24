/// @file
/// Who owns which fields of an object: metadata.managedFields.
#ifndef KUBEXX_APISERVER_MANAGEDFIELDS_MANAGERS_H_
#define KUBEXX_APISERVER_MANAGEDFIELDS_MANAGERS_H_

#include <compare>
#include <cstdint>
#include <map>
#include <string>

#include "kubexx/apimachinery/status.h"
#include "kubexx/apiserver/managedfields/field_set.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver::managedfields {

/// How a manager writes.
enum class Operation : std::uint8_t { kApply, kUpdate };

/// What tells managers apart.
struct ManagerId {
  std::string name{};
  Operation operation = Operation::kUpdate;
  std::string api_version{};  ///< "" of those that apply: they are one in all versions
  std::string subresource{};

  std::strong_ordering operator<=>(const ManagerId&) const = default;
  /// As errors name it: `"kubectl" with subresource "status" using apps/v1`.
  std::string ToString() const;
};

/// What a manager owns.
struct Owned {
  std::string api_version{};  ///< of the paths
  std::string time{};         ///< of its last change, RFC 3339 in UTC; "" when it is not known
  FieldSet fields{};

  bool operator==(const Owned&) const = default;
};

/// All managers of an object, none without a field.
using Managers = std::map<ManagerId, Owned>;

/// From metadata.managedFields; null for none. kMalformed with what is wrong with which entry.
apimachinery::Result<Managers> ReadManagers(const codec::JsonTree* managed_fields);

/// As the API has them: those that apply first, then by time. An empty list for none.
codec::JsonTree WriteManagers(const Managers& managers);

/// Puts the oldest of those that update together, as "ancient-changes", until there are at most
/// ten.
void CapManagers(Managers& managers);

/// Whether a client asks with this metadata.managedFields to forget all managers: [] or [{}].
bool IsReset(const codec::JsonTree* managed_fields);

/// Whether two objects have managers and differ in the times of those only.
bool DifferInTimesOnly(const codec::JsonTree& a, const codec::JsonTree& b);

}  // namespace kubexx::apiserver::managedfields

#endif  // KUBEXX_APISERVER_MANAGEDFIELDS_MANAGERS_H_
