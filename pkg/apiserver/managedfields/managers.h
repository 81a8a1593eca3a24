/// @file
/// The managers of an object's fields: metadata.managedFields.
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

/// The kind of write with which a manager became the owner of fields.
enum class Operation : std::uint8_t { kApply, kUpdate };

/// The identity of a manager.
struct ManagerId {
  std::string name{};
  Operation operation = Operation::kUpdate;
  std::string api_version{};  ///< "" for kApply, as such a manager is the same in all versions
  std::string subresource{};

  std::strong_ordering operator<=>(const ManagerId&) const = default;
  /// The text that errors name the manager with: `"kubectl" with subresource "status" using
  /// apps/v1`.
  std::string ToString() const;
};

/// The fields that a manager owns.
struct Owned {
  std::string api_version{};  ///< the API version that the paths are of
  /// The time of the manager's last change, RFC 3339 in UTC; "" when it is unknown.
  std::string time{};
  FieldSet fields{};

  bool operator==(const Owned&) const = default;
};

/// All managers of an object. Each owns at least one field.
using Managers = std::map<ManagerId, Owned>;

/// Reads metadata.managedFields, which may be null. Returns kMalformed with the entry and its
/// fault.
apimachinery::Result<Managers> ReadManagers(const codec::JsonTree* managed_fields);

/// Writes metadata.managedFields in the order of the API: managers with kApply first, then by time.
/// An empty list when there are no managers.
codec::JsonTree WriteManagers(const Managers& managers);

/// Merges the oldest managers with kUpdate into one, "ancient-changes", until at most ten of them
/// are left.
void CapManagers(Managers& managers);

/// Whether this metadata.managedFields of a client, [] or [{}], asks to drop all managers.
bool IsReset(const codec::JsonTree* managed_fields);

/// Whether two objects have managers and differ only in the managers' times.
bool DifferInTimesOnly(const codec::JsonTree& a, const codec::JsonTree& b);

}  // namespace kubexx::apiserver::managedfields

#endif  // KUBEXX_APISERVER_MANAGEDFIELDS_MANAGERS_H_
